//! The attributes of the guard: its policy, the runs that wait for an operator's approval, and the grants of
//! sessions.

use super::{attributes, entities, maybe, operators, own};
use crate::domain::{
    Awaits, Dialect, Digest, Grant, GuardPolicy, Hold, Lineage, Moment, PayloadKind, Right, Rule, RuleScope,
    Ruling, RunId, SessionId, Span, Target, Weekday,
};
use crate::edn::{Map, Value};
use crate::engine::{Key, RunRecord, SessionRecord};
use crate::graph::params::{IdText, OneOrMany, field};
use crate::graph::psi_terms;
use crate::graph::registry::{Datum, Entity, Param, ParamType, Record, Type, ViewOf};
use crate::graph::session_config;
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
            |view, key, _| Ok(maybe(approval(view, key), |shown| Value::from(shown).into()));
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

fn hold(run: &RunRecord) -> Option<&Hold> {
    let waits = run.run().checks.as_ref()?.waits.as_ref();
    waits.filter(|hold| hold.awaits == Awaits::Operator)
}

/// The fields of [`approval`](fn@approval).
const APPROVAL: Record = Record {
    name: "approval",
    doc: "The approval that a held run waits for.",
    params: &[
        field::<Digest>("digest", "The digest to approve."),
        field::<Box<str>>("rule", "The name of the rule that holds the run."),
        field::<Box<str>>("why", "The reason that the rule gives. Nil if none.").or_nil(),
        field::<Moment>("until", "When the approval expires."),
        field::<PayloadKind>("kind", "The kind of the schedule."),
        field::<Box<str>>("message", "The prompt, or the text of the notice."),
        Param::shown(
            "target",
            psi_terms::TARGET_KIND,
            "The kind of target that the run would be delivered to.",
        ),
        Param::shown(
            "session-config",
            ParamType::Record(&psi_terms::CONFIG_SUMMARY),
            "For a fresh session: its configuration, in summary.",
        )
        .or_nil(),
        Param::shown("revision", ParamType::COUNT, "The revision of the schedule."),
        field::<Box<str>>("label", "The name of the schedule. Nil if none.").or_nil(),
        field::<IdText>("owner", "The id of the session that owns the schedule."),
        field::<Box<str>>(
            "made-by",
            "The actor that created the schedule. The owner if no other is recorded.",
        ),
        field::<Box<str>>(
            "edited-by",
            "The actor other than the owner that changed the schedule last. Nil if nobody did.",
        )
        .or_nil(),
        field::<IdText>(
            "session-id",
            "The id of the session that the run would be delivered into. Nil if none.",
        )
        .or_nil(),
        field::<Box<str>>("channel", "The channel that the run would be delivered to. Nil if none.").or_nil(),
        field::<Box<str>>("conversation", "The recipient on that channel. Nil if none.").or_nil(),
        field::<Box<str>>("thread", "The thread of that conversation. Nil if none.").or_nil(),
        field::<Map>(
            "config",
            "For a fresh session: its whole configuration, with what it inherits. Nil for other runs.",
        )
        .or_nil(),
        Param::shown(
            "lineage",
            ParamType::Record(&LINEAGE),
            "The chain of turns in which it was made. Nil if none.",
        )
        .or_nil(),
    ],
};

fn approval(view: ViewOf<'_, Scheduler>, key: Key) -> Option<Map> {
    let (record, run) = view.run(key)?;
    // The definition of the run, not of the schedule: a change after the claim does not apply to the run.
    let (hold, asked) = (hold(run)?, view.state.definition_of(run)?);
    // Computed from what would be delivered now, so an approval of anything else is refused.
    let digest = view.state.approval_digest(run)?;
    let route = if let Target::Route(route) = asked.target() { Some(&**route) } else { None };
    let into = match asked.target() {
        Target::Owner => Some(&asked.owner),
        Target::Session(session) => Some(session),
        Target::Route(_) | Target::Fresh => None,
    };
    let made_by = asked.created_by().map_or_else(|| format!("session {}", asked.owner), ToString::to_string);
    let config = view.state.effective_config(asked);
    Some(
        Map::new()
            .with("digest", digest.to_string())
            .with("rule", &*hold.rule)
            .with("why", hold.why.as_deref())
            .with("until", psi_terms::instant(hold.until))
            .with("kind", Value::keyword(asked.payload.kind().name()))
            .with("message", asked.payload.text())
            .with("target", asked.target().name())
            .with("session-config", asked.payload.config().map(|config| psi_terms::config_summary(config)))
            .with("revision", record.progress().revision)
            .with("label", asked.label.as_deref())
            .with("owner", asked.owner.as_str())
            .with("made-by", made_by)
            .with("edited-by", asked.edited_by().map(ToString::to_string))
            .with("session-id", into.map(SessionId::as_str))
            .with("channel", route.map(|route| &*route.channel))
            .with("conversation", route.map(|route| &*route.conversation))
            .with("thread", route.and_then(|route| route.thread.as_deref()))
            .with("config", config.as_ref().map(session_config::whole))
            .with("lineage", asked.lineage().map(lineage)),
    )
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
        field::<OneOrMany<IdText>>("sessions", "Matches runs of these sessions. All if empty."),
        field::<OneOrMany<Dialect>>(
            "dialects",
            "Matches schedules made by tools of these dialects. All if empty.",
        ),
        field::<OneOrMany<PayloadKind>>("kinds", "Matches schedules of these kinds. All if empty."),
        field::<OneOrMany<Box<str>>>(
            "tools",
            "Matches schedules whose fresh session would or might have one of these tools, its own or inherited. All if empty.",
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

/// The fields of [`lineage`](fn@lineage).
const LINEAGE: Record = Record {
    name: "lineage",
    doc: "The chain of turns in which a schedule was created.",
    params: &[
        field::<RunId>("run-id", "The id of the run that began the turn."),
        Param::shown("depth", ParamType::COUNT, "The number of such turns back to the root."),
        field::<IdText>("root-schedule-id", "The id of the schedule that a person or an operator asked for."),
    ],
};

fn lineage(line: &Lineage) -> Map {
    Map::new()
        .with("run-id", line.run.to_string())
        .with("depth", line.depth)
        .with("root-schedule-id", line.root.to_string())
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
