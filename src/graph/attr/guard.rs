//! The attributes of the guard: its policy, the runs that wait for an operator's approval, and the grants of
//! sessions.

use super::approval::{APPROVAL, Asked, LINEAGE, lineage};
use super::last_approved::{LAST_APPROVED, last_approved};
use super::{attributes, entities, maybe, operators, own};
use crate::domain::{
    Awaits, Dialect, Grant, GuardPolicy, Hold, PayloadKind, Right, Rule, RuleScope, Ruling, SessionId, Span,
    Weekday,
};
use crate::edn::{Map, Value};
use crate::engine::guard::Additions;
use crate::engine::{Key, RunRecord, SessionRecord};
use crate::graph::params::{IdText, OneOrMany, field};
use crate::graph::registry::{Datum, Entity, Param, ParamType, Record, Type, ViewOf};
use crate::graph::view::Scheduler;

/// Declares the guard's policy and the runs that it holds.
pub(super) fn of_engine(entity: Entity<Scheduler, ()>) -> Entity<Scheduler, ()> {
    attributes! { entity;
        /// The policy by which runs are checked before they are handed over: rules, approval-ms, asks-ms. Nil if runs
        /// are not checked.
        operators "reveille.engine/guard": Type::Record(&GUARD), nullable =>
            |view, (), _| Ok(maybe(view.state.guard(), |guard| policy(guard).into()));
        /// The runs that wait for an operator's approval, the one that expires first in front.
        own "reveille.engine/held-runs": Type::Reference("run"), many =>
            |view, (), _| Ok(entities(held(view)));
    }
}

/// Declares what an operator approves or denies about a run.
pub(super) fn of_run(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity;
        /// The approval that a held run waits for: the digest to approve, the rule, its reason, when it expires, and
        /// what would be delivered. Nil unless the run waits for an approval.
        own "reveille.run/approval": Type::Record(&APPROVAL), nullable =>
            |view, key, _| Ok(maybe(asked(view, key), |asked| Value::from(asked.shown()).into()));
        /// The last approval of a run of the schedule: run-id, at, by, when the schedule was changed after that, and the parts in
        /// which what is asked now differs. Nil if the run waits for no approval, or none before it is retained.
        own "reveille.run/last-approved": Type::Record(&LAST_APPROVED), nullable =>
            |view, key, _| {
                let held = view.run(key).zip(asked(view, key));
                let approved = held.and_then(|((record, _), asked)| last_approved(view, record, &asked));
                Ok(maybe(approved, |approved| Value::from(approved).into()))
            };
        /// The digest to approve. It changes with anything that would be delivered. Nil if there is none.
        own "reveille.run/approval-digest": Type::String, nullable => |view, key, _| {
            let digest = view.run(key).and_then(|(_, run)| view.state.approval_digest(run));
            Ok(maybe(digest, Datum::shown))
        };
    }
}

/// Declares the grant of a session.
pub(super) fn of_session(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity;
        /// What the session may do: right, to read or change, nil for neither; dialects, nil for all; depth, how deep
        /// in a chain of turns that schedules began it may create further schedules; cron-others, whether its jobs may
        /// reach other sessions.
        own "psi.agent-session/grant": Type::Record(&GRANT) => |view, key, _| {
            let session = view.session(key).map(SessionRecord::id);
            Ok(maybe(session, |session| grant(&view.state.effective_grant(session)).into()))
        };
    }
}

/// Declares the origin of a schedule.
pub(super) fn of_schedule(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity;
        /// The chain of turns in which it was created or retimed: the turn's run, the depth, and the root. Nil if none.
        own "psi.scheduler/lineage": Type::Record(&LINEAGE), nullable => |view, key, _| {
            let line = view.schedule(key).and_then(|record| record.schedule().lineage());
            Ok(maybe(line, |line| Value::from(lineage(line)).into()))
        };
        /// The actor that created it, with token and tool. The owner if no other actor is recorded.
        own "psi.scheduler/made-by": Type::String => |view, key, _| {
            let made = view.schedule(key).map(|record| {
                let schedule = record.schedule();
                // A session that may not know the actor gets the owner, as if no actor was recorded.
                let by = schedule.created_by().and_then(|by| by.seen_by(view.scope));
                by.map_or_else(|| format!("session {}", schedule.owner), |by| by.to_string())
            });
            Ok(maybe(made, Datum::shown))
        };
        /// The actor other than the owner that changed it last. Nil if nobody did.
        own "psi.scheduler/edited-by": Type::String, nullable => |view, key, _| {
            let editor = view.schedule(key).and_then(|record| record.schedule().edited_by()?.seen_by(view.scope));
            Ok(maybe(editor.map(|by| by.to_string()), Datum::shown))
        };
    }
}

/// Returns the held runs that exist for the caller, the one that expires first in front.
fn held(view: ViewOf<'_, Scheduler>) -> Vec<Key> {
    let schedules = view.state.schedule_keys().filter_map(|key| view.schedule(key));
    let runs = schedules.flat_map(|record| view.state.runs_of(record));
    let mut held: Vec<(&Hold, Key)> = runs.filter_map(|(key, run)| Some((hold(run)?, key))).collect();
    // Two approvals may expire at one instant; the number makes the order total.
    held.sort_by_key(|(hold, key)| (hold.until, key.number()));
    held.into_iter().map(|(_, key)| key).collect()
}

/// Returns what an operator is asked about a run that waits.
fn asked(view: ViewOf<'_, Scheduler>, key: Key) -> Option<Asked<'_>> {
    let (record, run) = view.run(key)?;
    // The definition of the run, not of the schedule: a change after the claim does not apply to the run.
    let schedule = view.state.definition_of(run)?;
    let Additions { config, memory } = view.state.additions(schedule);
    Some(Asked {
        hold: hold(run)?,
        // Computed from what would be delivered now, so an approval of anything else is refused.
        digest: view.state.approval_digest(run)?,
        cause: run.run().cause,
        revision: record.progress().revision,
        schedule,
        config,
        memory,
        viewer: view.scope,
    })
}

fn hold(run: &RunRecord) -> Option<&Hold> {
    let waits = run.run().checks.as_ref()?.waits.as_ref();
    // A run may also wait for an external guard, which is not for an operator to answer.
    waits.filter(|hold| hold.awaits == Awaits::Operator)
}

/// The fields of [`policy`](fn@policy).
const GUARD: Record = Record {
    name: "guard",
    doc: "The policy by which runs are checked before they are handed over.",
    params: &[
        Param::shown(
            "rules",
            ParamType::List(&ParamType::Record(&RULE)),
            "The rules in order of precedence: the first that matches decides.",
        ),
        field::<Span>(
            "approval-ms",
            "How long a run waits for an operator's approval, in milliseconds. Nil if there is no operator.",
        )
        .or_nil(),
        field::<Span>(
            "asks-ms",
            "How long an external guard has to answer, in milliseconds. Nil if there is none.",
        )
        .or_nil(),
    ],
};

/// The fields of a [`rule`](fn@rule). An empty list matches everything.
const RULE: Record = Record {
    name: "rule",
    doc: "One rule of the guard.",
    params: &[
        field::<Box<str>>("name", "The name of the rule."),
        field::<Ruling>("then", "What happens to a run that the rule matches."),
        field::<Box<str>>("why", "The reason that is shown to operators. Nil if none.").or_nil(),
        field::<OneOrMany<IdText>>(
            "sessions",
            "Matches runs that one of these sessions, or a fresh session that comes from one, owns, made, edited or gets. A rule \
             that allows matches if owner, maker and editor are all named. All if empty.",
        ),
        field::<OneOrMany<Dialect>>(
            "dialects",
            "Matches schedules made by tools of these dialects. All if empty.",
        ),
        field::<OneOrMany<PayloadKind>>("kinds", "Matches schedules of these kinds. All if empty."),
        field::<OneOrMany<Box<str>>>(
            "tools",
            "Matches schedules whose fresh session would or might have one of these tools, its own or inherited. A rule that \
             allows matches if it has no others. All if empty.",
        ),
        Param::shown("window", ParamType::Record(&WINDOW), "Matches at these times only. Always if nil.")
            .or_nil(),
    ],
};

const WINDOW: Record = Record {
    name: "time-window",
    doc: "A range of times of day on some weekdays.",
    params: &[
        field::<OneOrMany<Weekday>>("days", "The weekdays."),
        field::<Box<str>>("from", "The start of the range, such as 08:30."),
        field::<Box<str>>("until", "The end of the range, such as 17:00."),
        field::<Box<str>>("zone", "The time zone of both times."),
    ],
};

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
    // Conditions that match everything are printed as empty lists, so that a rule always has all keys.
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

/// The fields of [`grant`](fn@grant).
const GRANT: Record = Record {
    name: "grant",
    doc: "What a session may do.",
    params: &[
        field::<Right>("right", "The right to read or change. Nil for neither.").or_nil(),
        field::<OneOrMany<Dialect>>("dialects", "The dialects that the session may use. Nil for all.")
            .or_nil(),
        Param::shown(
            "depth",
            ParamType::NATURAL,
            "How deep in a chain of turns that schedules began it may create further schedules.",
        ),
        field::<bool>(
            "cron-others",
            "Whether the session's token may have jobs delivered into other sessions, and change the shared jobs of others.",
        ),
    ],
};

fn grant(grant: &Grant) -> Value {
    let dialects = grant.dialects.as_ref().map(|dialects| {
        let names = dialects.iter().map(|dialect| Value::keyword(dialect.name()));
        names.collect::<Vec<Value>>()
    });
    Map::new()
        .with("right", grant.right.map(|right| Value::keyword(right.name())))
        .with("dialects", dialects)
        .with("depth", grant.depth)
        .with("cron-others", grant.cron_others)
        .into()
}
