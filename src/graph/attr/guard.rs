//! The guard: by what runs are measured, which of them wait for an operator's word, and what sessions may do.

use super::{entities, maybe, own};
use crate::domain::{Awaits, Grant, GuardPolicy, Hold, Lineage, Rule, RuleScope, SessionId, Span};
use crate::edn::{Map, Value};
use crate::engine::{Key, RunRecord, SessionRecord};
use crate::graph::registry::{Attribute, Datum, Entity, Seen, Type, Visibility};
use crate::graph::shown;
use crate::graph::view::Scheduler;

/// What runs are measured by, and which wait.
pub(super) fn of_engine(entity: Entity<Scheduler, ()>) -> Entity<Scheduler, ()> {
    entity
        .reads(
            Attribute::new("reveille.engine/guard", Type::Map)
                .visible_to(Visibility::Operator)
                .nullable()
                .doc(
                    "What runs are measured by when they are about to be handed over: rules, approval-ms, asks-ms; nil \
                     for nothing.",
                ),
            |view, (), _| Ok(maybe(view.state.guard(), |guard| policy(guard).into())),
        )
        .reads(
            own("reveille.engine/held-runs", Type::Reference("run")).many().doc(
                "The runs that wait for an operator to say yes or no, the one first whose time is up first.",
            ),
            |view, (), _| Ok(entities(held(view))),
        )
}

/// What a word on a run would be about.
pub(super) fn of_run(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("reveille.run/approval", Type::Map).nullable().doc(
                "What an operator is asked about a run that is held: the digest to approve, the rule and why, until when, \
                 and what would be handed over; nil unless it waits for that.",
            ),
            |view, key, _| Ok(maybe(approval(view, key), |shown| Value::from(shown).into())),
        )
        .reads(
            own("reveille.run/approval-digest", Type::String)
                .nullable()
                .doc("The digest to approve, by itself; it changes with whatever would be handed over."),
            |view, key, _| {
                let digest = view.run(key).and_then(|(_, run)| view.state.approval_digest(run));
                Ok(maybe(digest, Datum::shown))
            },
        )
}

/// What a session may do.
pub(super) fn of_session(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity.reads(
        own("psi.agent-session/grant", Type::Map)
            .doc("What it may do: the right to look or to change, nil for neither; dialects, nil for all; depth, how deep \
                  in a line of turns that schedules began it may schedule more."),
        |view, key, _| {
            let session = view.session(key).map(SessionRecord::id);
            Ok(maybe(session, |session| grant(view.state.grant(session)).into()))
        },
    )
}

/// Who made a schedule.
pub(super) fn of_schedule(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    let entity = entity.reads(
        own("psi.scheduler/lineage", Type::Map)
            .nullable()
            .doc("The line that it was made in, or given its time: the run that began that turn, how deep, and the root."),
        |view, key, _| {
            let line = view.schedule(key).and_then(|record| record.schedule().lineage());
            Ok(maybe(line, |line| Value::from(lineage(line)).into()))
        },
    );
    entity.reads(
        own("psi.scheduler/made-by", Type::String)
            .doc("Who created it: its owner, unless somebody else did, and by what."),
        |view, key, _| {
            let made = view.schedule(key).map(|record| {
                let schedule = record.schedule();
                let by = schedule.made_by().and_then(|by| by.seen_by(view.scope));
                by.map_or_else(|| format!("session {}", schedule.owner), |by| by.to_string())
            });
            Ok(maybe(made, Datum::shown))
        },
    )
}

/// The runs that wait for an operator and exist for the caller.
fn held(view: Seen<'_, Scheduler>) -> Vec<Key> {
    let schedules = view.state.schedule_keys().filter_map(|key| view.schedule(key));
    let runs = schedules.flat_map(|record| view.state.runs_of(record));
    let mut held: Vec<(&Hold, Key)> = runs.filter_map(|(key, run)| Some((hold(run)?, key))).collect();
    held.sort_by_key(|(hold, key)| (hold.until, key.number()));
    held.into_iter().map(|(_, key)| key).collect()
}

fn hold(run: &RunRecord) -> Option<&Hold> {
    let waits = run.run().checks.as_ref()?.waits.as_ref();
    waits.filter(|hold| hold.awaits == Awaits::Operator)
}

fn approval(view: Seen<'_, Scheduler>, key: Key) -> Option<Map> {
    let (record, run) = view.run(key)?;
    let (hold, asked) = (hold(run)?, view.state.asked(run)?);
    let digest = view.state.approval_digest(run)?;
    Some(
        Map::new()
            .with("digest", digest.to_string())
            .with("rule", &*hold.rule)
            .with("why", hold.why.as_deref())
            .with("until", shown::instant(hold.until))
            .with("kind", Value::keyword(asked.payload.kind().name()))
            .with("message", asked.payload.text())
            .with("target", asked.target().name())
            .with("session-config", asked.payload.config().map(|config| shown::config_summary(config)))
            .with("revision", record.course().revision),
    )
}

fn policy(policy: &GuardPolicy) -> Value {
    let millis = |span: Option<Span>| span.map(|span| i64::try_from(span.millis()).unwrap_or(i64::MAX));
    Map::new()
        .with("rules", policy.rules.iter().map(rule).collect::<Vec<Value>>())
        .with("approval-ms", millis(policy.approval))
        .with("asks-ms", millis(policy.asks))
        .into()
}

fn rule(rule: &Rule) -> Value {
    let RuleScope { sessions, dialects, kinds, tools, window } = &rule.of;
    let texts = |texts: Vec<&str>| texts.into_iter().map(Value::string).collect::<Vec<Value>>();
    let window = window.as_ref().map(|window| {
        let days: Vec<Value> = window.days.days().map(|day| Value::keyword(day.name())).collect();
        Map::new()
            .with("days", days)
            .with("from", window.from.to_string())
            .with("until", window.until.to_string())
            .with("zone", window.zone.to_string())
    });
    Map::new()
        .with("name", &*rule.name)
        .with("then", Value::keyword(rule.then.name()))
        .with("why", rule.why.as_deref())
        .with("sessions", texts(sessions.iter().map(SessionId::as_str).collect()))
        .with("dialects", dialects.iter().map(|it| Value::keyword(it.name())).collect::<Vec<Value>>())
        .with("kinds", kinds.iter().map(|it| Value::keyword(it.name())).collect::<Vec<Value>>())
        .with("tools", texts(tools.iter().map(|tool| &**tool).collect()))
        .with("window", window)
        .into()
}

fn lineage(line: &Lineage) -> Map {
    Map::new()
        .with("run-id", line.run.to_string())
        .with("depth", line.depth)
        .with("root-schedule-id", line.root.to_string())
}

fn grant(grant: &Grant) -> Value {
    let dialects = grant.dialects.as_ref().map(|dialects| {
        let names = dialects.iter().map(|dialect| Value::keyword(dialect.name()));
        names.collect::<Vec<Value>>()
    });
    Map::new()
        .with("right", grant.right.map(|right| Value::keyword(right.name())))
        .with("dialects", dialects)
        .with("depth", grant.depth)
        .into()
}
