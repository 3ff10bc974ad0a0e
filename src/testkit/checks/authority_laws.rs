//! Laws about authority: nothing is dispatched that the switches, the grants or the rules of that moment forbid.
//!
//! Each is a second reading of its rule, from the facts alone. What lives elsewhere: the budgets (`budget_laws.rs`).

use crate::domain::{
    Actor, Dialect, Gate, Grant, Moment, Right, Rule, Ruling, RunFact, RunState, Schedule, Scope,
    SessionConfig, SessionId, Target, TimeOfDay, TimeWindow, Via, Weekday, Zone,
};
use crate::testkit::checks::law::{LawResult, hold};
use crate::testkit::history::Observation;
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_key::key_of;

/// No run is dispatched unless the grants of its owner, its author and its editors all cover it, with the grants of the
/// sessions that each comes from. What goes elsewhere with a session's rights alone has to be open to it now.
pub(in crate::testkit) fn nothing_ungranted_goes_out(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Some((run, RunFact::Dispatched(_))) = seen.run_fact() else { return Ok(()) };
    let Some(life) = model.runs.get(&key_of(run)) else { return Ok(()) };
    let schedule = &*life.definition;
    let owner =
        Actor { scope: Scope::Session(schedule.owner.clone()), via: None, tool: None, as_model: false };
    let creation = schedule.creation.as_deref();
    let authors = creation.and_then(|it| it.by.as_ref()).into_iter();
    let authors = authors.chain(creation.and_then(|it| it.edited_by.as_ref()));
    let authors = authors.chain(creation.into_iter().flat_map(|it| &it.editors)).chain([&owner]);
    for author in authors {
        let Some(session) = author.scope.session() else { continue };
        let gives = |grant: &Grant| {
            let has_family = grant.dialects.as_ref().is_none_or(|all| all.contains(&schedule.dialect));
            grant.right == Some(Right::Change) && has_family
        };
        let covers = |one: &SessionId| model.grants.get(one).is_none_or(gives);
        let covered = line_of(model, session).iter().all(covers);
        hold(covered, || format!("{run} went out, and {session} may not do that"))?;
        let is_bound = author.as_model || matches!(author.via, Some(Via::Session | Via::Host(_)));
        if is_bound {
            let may = may_reach(model, schedule, session);
            hold(may, || format!("{run} of {author} went to {:?}", schedule.target()))?;
        }
    }
    Ok(())
}

/// No run is dispatched of a family of tools that is switched off, whenever its schedule was made.
pub(in crate::testkit) fn nothing_switched_off_goes_out(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Some((run, RunFact::Dispatched(_))) = seen.run_fact() else { return Ok(()) };
    let Some(life) = model.runs.get(&key_of(run)) else { return Ok(()) };
    let needs = match life.definition.dialect {
        Dialect::Watch => Gate::Watchers,
        Dialect::Scheduler => Gate::Scheduler,
        // These make no schedules, or need no switch.
        Dialect::Channels | Dialect::Memory | Dialect::Primitives | Dialect::Native => return Ok(()),
        Dialect::Psi | Dialect::Cron | Dialect::Reminder => return Ok(()),
        Dialect::SessionAction | Dialect::ClaudeCron => return Ok(()),
    };
    hold(model.switched_on.contains(&needs), || {
        let family = life.definition.dialect.name();
        format!("{run} of {family} went out, and switched on are {:?}", model.switched_on)
    })
}

/// The sessions whose grants count for a session: itself, and those that it comes from.
fn line_of(model: &ReferenceModel, session: &SessionId) -> Vec<SessionId> {
    let mut line = vec![session.clone()];
    // The line grows by the opener and the root of each session on it.
    let mut at = 0;
    while let Some(session) = line.get(at).cloned() {
        let provenance = model.sessions.get(&session).and_then(|lane| lane.provenance.as_ref());
        // Of the first one, what was known while it was open: closing a fresh session does not free its schedules.
        let provenance = provenance.or_else(|| model.fresh.get(&session).filter(|_| at == 0));
        for opener in provenance.into_iter().flat_map(|it| [&it.origin, &it.root]) {
            if !line.contains(opener) {
                line.push(opener.clone());
            }
        }
        at += 1;
    }
    line
}

/// Whether the token of a session may send something where this schedule goes, into whose session it goes.
fn may_reach(model: &ReferenceModel, schedule: &Schedule, session: &SessionId) -> bool {
    // A session without a restricted grant has the full one, which does not reach beyond it.
    let reaches = |one: &SessionId| model.grants.get(one).is_some_and(|grant| grant.cron_others);
    let may_others = line_of(model, session).iter().all(reaches);
    let of_another = schedule.owner != *session;
    match schedule.target() {
        Target::Session(into) => (into == session && !of_another) || may_others,
        Target::Route(route) => {
            let is_open = model.channels.get(&route.channel).is_none_or(|channel| channel.agents);
            is_open && (!of_another || may_others)
        }
        Target::Owner | Target::Fresh => !of_another || may_others,
    }
}

/// No run is dispatched that a rule forbids, that needs an approval and has none, or that the external guard has not allowed.
/// A change of the schedule revokes the approval.
pub(in crate::testkit) fn nothing_refused_or_unapproved_goes_out(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Some((run, RunFact::Dispatched(_))) = seen.run_fact() else { return Ok(()) };
    let Some(life) = model.runs.get(&key_of(run)) else { return Ok(()) };
    // The prompt for a session that was created already still goes out, unless it is forbidden by
    // now.
    let goes_on = life.state == RunState::InFlight;
    let Some(policy) = &model.policy else { return Ok(()) };
    let rule = policy.rules.iter().find(|rule| matches(model, rule, &life.definition, seen.now.wall));
    let may = match rule.map(|rule| rule.then) {
        None | Some(Ruling::Allow) => true,
        Some(Ruling::Hold) => (goes_on || life.approved) && policy.approval.is_some(),
        Some(Ruling::Refuse) => false,
    };
    hold(may, || format!("{run} went out against {rule:?}"))?;
    hold(policy.asks.is_none() || life.allowed || goes_on, || format!("{run} went out unasked"))
}

fn matches(model: &ReferenceModel, rule: &Rule, schedule: &Schedule, at: Moment) -> bool {
    let of = &rule.of;
    (of.sessions.is_empty() || is_by(model, rule, schedule))
        && (of.dialects.is_empty() || of.dialects.contains(&schedule.dialect))
        && (of.kinds.is_empty() || of.kinds.contains(&schedule.payload.kind()))
        && (of.tools.is_empty() || has_tools(model, rule, schedule))
        && of.window.as_ref().is_none_or(|window| is_within(window, at))
}

/// Whether somebody whom the rule names has a hand in the run, or gets it; for a rule that allows, whether nobody else has.
fn is_by(model: &ReferenceModel, rule: &Rule, schedule: &Schedule) -> bool {
    let is_named = |one: &SessionId| line_of(model, one).iter().any(|it| rule.of.sessions.contains(it));
    let mut hands = vec![schedule.owner.clone()];
    let others = schedule.created_by().into_iter().chain(schedule.editors());
    hands.extend(others.filter_map(|other| other.scope.session().cloned()));
    if rule.then == Ruling::Allow {
        return hands.iter().all(is_named);
    }
    if let Target::Session(into) = schedule.target() {
        hands.push(into.clone());
    }
    hands.iter().any(is_named)
}

/// Whether the run calls one of the tools, or its fresh session may have one: it names one, by itself or by its origin, or
/// nothing says which it has. For a rule that allows, whether the session has no others for sure.
fn has_tools(model: &ReferenceModel, rule: &Rule, schedule: &Schedule) -> bool {
    if let Some(call) = schedule.payload.call() {
        return rule.of.tools.iter().any(|pattern| is_meant(pattern, call.tool.as_str()));
    }
    let Some(asked) = schedule.payload.config() else { return false };
    let origin = model.sessions.get(&schedule.owner).map(|lane| &*lane.config);
    let named = |of: fn(&SessionConfig) -> Option<&Vec<Box<str>>>| of(asked).or_else(|| of(origin?));
    let ids = named(|config| config.tool_ids.as_ref());
    let selected =
        named(|config| config.prompt_component_selection.as_ref().and_then(|it| it.tool_names.as_ref()));
    let mut all = ids.into_iter().chain(selected).flatten();
    if rule.then == Ruling::Allow {
        return ids.is_some() && all.all(|name| rule.of.tools.contains(name));
    }
    ids.is_none() || all.any(|name| rule.of.tools.contains(name))
}

/// Whether a rule's name of a tool means this one: by its whole name, or by a beginning before a star.
fn is_meant(pattern: &str, tool: &str) -> bool {
    match pattern.split_once('*') {
        Some((beginning, "")) => tool.get(..beginning.len()) == Some(beginning),
        Some(_) | None => pattern == tool,
    }
}

/// Whether a wall clock in the window's zone shows a time within it. Worlds have windows in zones of a fixed offset only.
fn is_within(window: &TimeWindow, at: Moment) -> bool {
    let minutes = match &window.zone {
        Zone::Offset(offset) => i64::from(offset.minutes()),
        Zone::Utc | Zone::Local | Zone::Named(_) => 0,
    };
    let clock = at.seconds() + minutes * 60;
    let second = clock.rem_euclid(DAY);
    let of_day = |time: TimeOfDay| {
        i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second())
    };
    let (from, until) = (of_day(window.from), of_day(window.until));
    // The window began on this day, or on the one before if it spans midnight.
    let begins_on = |days_ago: i64| {
        let day = (clock.div_euclid(DAY) - days_ago + 4).rem_euclid(7);
        Weekday::ALL
            .iter()
            .any(|weekday| i64::from(weekday.number()) == day && window.days.contains(*weekday))
    };
    if from < until {
        begins_on(0) && (from..until).contains(&second)
    } else {
        begins_on(0) && second >= from || begins_on(1) && second < until
    }
}

/// The seconds of a day.
const DAY: i64 = 86_400;
