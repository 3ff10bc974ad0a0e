//! The codec of the guard's data: policies, grants, and the checks of a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::form::Form;
use super::parts::{
    boot, check_version, flag, instant, map, maybe, number, one, own_text, part, session_id, text, wrong,
};
use super::printed::{Instant, Part, Printed, Word};
use super::{FactError, VERSION};
use crate::domain::{
    Awaits, Checks, Dialect, Digest, Grant, GuardPolicy, Hold, PayloadKind, Right, Rule, RuleScope, Ruling,
    SessionId, Span, TimeOfDay, TimeWindow, Weekday, Weekdays, Zone,
};

pub(super) fn of_policy(policy: &GuardPolicy) -> Printed {
    let rules: Vec<Printed> = policy.rules.iter().map(of_rule).collect();
    Printed::new()
        .with("rules", rules)
        .with("approval-ms", policy.approval.map(Span::millis))
        .with("asks-ms", policy.asks.map(Span::millis))
}

pub(super) fn policy(form: &Form<'_>) -> Result<GuardPolicy, FactError> {
    let millis = |form: &Form<'_>, key: &'static str| number(form, key).map(Span::from_millis);
    Ok(GuardPolicy {
        // `each` reports `None` as the wrong item of the list.
        rules: each(form, "rules", |form| if form.is_map() { rule(form).map(Some) } else { Ok(None) })?,
        approval: maybe(form, "approval-ms", millis)?,
        asks: maybe(form, "asks-ms", millis)?,
    })
}

fn of_rule(rule: &Rule) -> Printed {
    let Rule { name, of, then, why } = rule;
    let texts = |texts: &[Box<str>]| texts.iter().map(ToString::to_string).collect::<Vec<String>>();
    let sessions: Vec<String> = of.sessions.iter().map(ToString::to_string).collect();
    Printed::new()
        .with("name", &**name)
        .with("sessions", sessions)
        .with("dialects", words(&of.dialects, Dialect::name))
        .with("kinds", words(&of.kinds, PayloadKind::name))
        .with("tools", texts(&of.tools))
        .with("window", of.window.as_ref().map(of_window))
        .with("then", Word(then.name()))
        .with("why", why.as_deref())
}

fn rule(form: &Form<'_>) -> Result<Rule, FactError> {
    let word = |form: &Form<'_>| form.as_keyword().map(str::to_owned);
    let of = RuleScope {
        sessions: each(form, "sessions", |it| Ok(it.as_str().and_then(|text| SessionId::new(text).ok())))?,
        dialects: each(form, "dialects", |it| Ok(word(it).and_then(|word| Dialect::parse(&word))))?,
        kinds: each(form, "kinds", |it| Ok(word(it).and_then(|word| PayloadKind::parse(&word))))?,
        tools: each(form, "tools", |it| Ok(it.as_str().map(Into::into)))?,
        window: maybe(form, "window", |form, key| window(map(form, key)?))?,
    };
    let then = one(form, "then", Ruling::parse)?;
    Ok(Rule { name: text(form, "name")?.into(), of, then, why: own_text(form, "why")? })
}

fn of_window(window: &TimeWindow) -> Printed {
    let days: Vec<Weekday> = window.days.days().collect();
    Printed::new()
        .with("days", words(&days, Weekday::name))
        .with("from", window.from.to_string())
        .with("until", window.until.to_string())
        .with("zone", window.zone.to_string())
}

fn window(form: &Form<'_>) -> Result<TimeWindow, FactError> {
    let days: Vec<Weekday> = each(form, "days", |it| Ok(it.as_keyword().and_then(Weekday::parse)))?;
    let time = |key: &'static str| {
        let time = TimeOfDay::parse(text(form, key)?);
        time.ok_or_else(|| wrong(key, "a time of day", part(form, key)))
    };
    let zone = Zone::parse(text(form, "zone")?);
    Ok(TimeWindow {
        days: Weekdays::new(days).ok_or_else(|| wrong("days", "at least one day", part(form, "days")))?,
        from: time("from")?,
        until: time("until")?,
        zone: zone.map_err(|_| wrong("zone", "a zone", part(form, "zone")))?,
    })
}

pub(super) fn of_grant(grant: &Grant) -> Printed {
    Printed::new()
        .with("right", grant.right.map(|right| Word(right.name())))
        .with("dialects", grant.dialects.as_ref().map(|dialects| words(dialects, Dialect::name)))
        .with("depth", (grant.depth != Grant::FULL.depth).then_some(grant.depth))
        .with("cron-others?", grant.cron_others.then_some(true))
}

pub(super) fn grant(form: &Form<'_>) -> Result<Grant, FactError> {
    let dialects = |form: &Form<'_>, key: &'static str| {
        each(form, key, |it| Ok(it.as_keyword().and_then(Dialect::parse)))
    };
    Ok(Grant {
        right: maybe(form, "right", |form, key| one(form, key, Right::parse))?,
        dialects: maybe(form, "dialects", dialects)?,
        depth: maybe(form, "depth", number)?.unwrap_or(Grant::FULL.depth),
        cron_others: maybe(form, "cron-others?", flag)?.unwrap_or(false),
    })
}

pub(super) fn of_hold(hold: &Hold) -> Printed {
    Printed::new()
        .with("awaits", Word(hold.awaits.name()))
        .with("rule", &*hold.rule)
        .with("why", hold.why.as_deref())
        .with("digest", hold.digest.to_string())
        .with("until", Instant(hold.until))
        .with("due-ns", hold.due.nanos())
}

pub(super) fn hold(form: &Form<'_>) -> Result<Hold, FactError> {
    Ok(Hold {
        awaits: one(form, "awaits", Awaits::parse)?,
        rule: text(form, "rule")?.into(),
        why: own_text(form, "why")?,
        digest: digest(form, "digest")?,
        until: instant(form, "until")?,
        due: boot(form, "due-ns")?,
    })
}

pub(super) fn of_checks(checks: &Checks) -> Printed {
    let approved: Vec<String> = checks.approved.iter().map(ToString::to_string).collect();
    Printed::new().with("waits", checks.waits.as_ref().map(of_hold)).with("approved", approved)
}

pub(super) fn checks(form: &Form<'_>) -> Result<Checks, FactError> {
    Ok(Checks {
        waits: maybe(form, "waits", |form, key| hold(map(form, key)?))?,
        approved: each(form, "approved", |it| Ok(it.as_str().and_then(Digest::parse)))?,
        // The permission of a guard outside does not outlive the process.
        allowed: None,
    })
}

pub(super) fn digest(form: &Form<'_>, key: &'static str) -> Result<Digest, FactError> {
    Digest::parse(text(form, key)?).ok_or_else(|| wrong(key, "64 hexadecimal digits", part(form, key)))
}

/// Prints the guard's row: the policy, and the grants of sessions.
pub fn print_guard(policy: Option<&GuardPolicy>, grants: &BTreeMap<SessionId, Grant>) -> Printed {
    let grants: Vec<Printed> = grants
        .iter()
        .map(|(session, grant)| {
            Printed::new().with("session", session.as_str()).with("grant", of_grant(grant))
        })
        .collect();
    Printed::new().with("v", VERSION).with("policy", policy.map(of_policy)).with("grants", grants)
}

/// The guard's policy, and the grants of sessions.
pub(in crate::runtime) type Guarding = (Option<Arc<GuardPolicy>>, BTreeMap<SessionId, Grant>);

/// Parses the guard's row.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub(in crate::runtime) fn parse_guard(form: &Form<'_>) -> Result<Guarding, FactError> {
    check_version(form)?;
    let policy = maybe(form, "policy", |form, key| policy(map(form, key)?))?;
    let entry = |form: &Form<'_>| {
        let grant = grant(map(form, "grant")?)?;
        Ok(Some((session_id(form, "session")?, grant)))
    };
    let grants: Vec<(SessionId, Grant)> = each(form, "grants", entry)?;
    Ok((policy.map(Arc::new), grants.into_iter().collect()))
}

fn words<T: Copy>(items: &[T], name: impl Fn(T) -> &'static str) -> Vec<Word<'static>> {
    items.iter().map(|item| Word(name(*item))).collect()
}

/// The items of a vector. An item for which `read` returns `None` is an error.
fn each<T>(
    form: &Form<'_>,
    key: &'static str,
    read: impl Fn(&Form<'_>) -> Result<Option<T>, FactError>,
) -> Result<Vec<T>, FactError> {
    let found = part(form, key);
    let items = found.as_items().ok_or_else(|| wrong(key, "a vector", found))?;
    let entry = |item| read(item)?.ok_or_else(|| wrong(key, "a vector of what belongs there", item));
    items.iter().map(entry).collect()
}

impl Part for &Grant {
    fn print(self, out: &mut String) {
        of_grant(self).print(out);
    }
}
