//! The attributes of a schedule beyond psi's thirteen: its settings, progress and counts.

use super::forecast_explain::SLOTS_LISTED;
use super::{Read, attributes, instant, integer, maybe, of_schedule, own};
use crate::calendar;
use crate::domain::{Envelope, Moment, Payload, Reason, RunState, Scope, Target};
use crate::edn::{Map, Value};
use crate::engine::{Key, Pause, ScheduleRecord, Task, retry_waits};
use crate::graph::mutation::{LIFETIME, POLICY, UNDERSTOOD, print_lifetime, print_policy};
use crate::graph::params::{CheckedParams, IdText, field, params, refused};
use crate::graph::psi_terms;
use crate::graph::registry::{Datum, Entity, Param, Record, ResolverError, RowKey, Type, ViewOf};
use crate::graph::view::Scheduler;

/// Reads an attribute of a schedule.
fn read<'a>(
    view: ViewOf<'a, Scheduler>,
    key: Key,
    attribute: impl FnOnce(&'a ScheduleRecord) -> Datum<'a>,
) -> Read<'a> {
    of_schedule(view, key, attribute)
}

/// Declares the settings, which creation or a change gives.
pub(super) fn settings(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// The trigger as a phrase, which the parameter when accepts.
        own "psi.scheduler/when": Type::String =>
            |record| Datum::shown(calendar::print(&record.schedule().trigger));
        /// The time zone of the slots. Nil if the trigger does not depend on a time zone.
        own "psi.scheduler/zone": Type::String, nullable =>
            |record| maybe(record.schedule().trigger.zone(), Datum::shown);
        /// What happens when a slot is late, the session is busy, runs overlap, or a run fails.
        own "psi.scheduler/policy": Type::Record(&POLICY) =>
            |record| print_policy(record.schedule().policy()).into();
        /// The waits before further attempts of a delivery that fails: those of the policy, or for a channel without any those of
        /// Standard Webhooks. Empty if there is no further attempt.
        own "psi.scheduler/retry-waits": Type::Integer, many, unit("ms") => |record| {
            let waits = retry_waits(record.schedule()).into_iter();
            waits.map(|wait| Value::Int(i64::try_from(wait.millis()).unwrap_or(i64::MAX))).collect::<Vec<Value>>().into()
        };
        /// What ends the schedule besides its trigger: runs, an instant, a user's message, or its session.
        own "psi.scheduler/lifetime": Type::Record(&LIFETIME) =>
            |record| print_lifetime(record.schedule().lifetime()).into();
        /// What the schedule is for. Nil if not given.
        own "psi.scheduler/description": Type::String, nullable => |record| {
            maybe(record.schedule().settings().description.as_deref(), Datum::Text)
        };
        /// The idempotency key: identifies repetitions of the same request. Nil if not given.
        own "psi.scheduler/idempotency-key": Type::String, nullable => |view, key, _| {
            read(view, key, |record| maybe(record.schedule().settings().key.as_deref(), Datum::Text))
        };
        /// Whether every session may see the schedule, and change it with the grant `cron-others`.
        own "psi.scheduler/shared?": Type::Boolean =>
            |record| Datum::Bool(record.schedule().settings().shared);
        /// Where its runs are delivered: the owner's session, another session, a fresh one, or a channel.
        own "psi.scheduler/target": Type::Record(&TARGET) =>
            |record| target(record.schedule().target()).into();
        /// For a notice: its subject and the attached file. Nil for other kinds.
        own "psi.scheduler/notice": Type::Record(&psi_terms::NOTICE), nullable => |record| {
            match &record.schedule().payload {
                Payload::Turn { .. } | Payload::NewSession(_) | Payload::Call(_) => Datum::Nil,
                Payload::Notice(notice) => Value::from(psi_terms::notice(notice)).into(),
            }
        };
        /// For a call: the tool, its arguments, and who is told what it came to. Nil for other kinds.
        own "psi.scheduler/call": Type::Record(&psi_terms::CALL), nullable => |record| {
            maybe(record.schedule().payload.call(), |call| Value::from(psi_terms::call(call)).into())
        };
        /// The watch that it is, with what it remembers. Nil if it is none.
        own "psi.scheduler/watch": Type::Reference("watch"), nullable => |view, key, _| {
            let record = view.schedule(key).filter(|record| record.watch().is_some());
            Ok(maybe(record, |_| Datum::Entity(RowKey::number(key))))
        };
        /// The task in the background that it is. Nil if it is none.
        own "psi.scheduler/task": Type::Reference("task"), nullable => |view, key, _| {
            let task = view.schedule(key).and_then(|record| Task::of(view.state, record));
            Ok(maybe(task, |_| Datum::Entity(RowKey::number(key))))
        };
        /// How the prompt is presented to the model.
        own "psi.scheduler/envelope": Type::Enum(Envelope::NAMES) =>
            |record| Datum::Name(record.schedule().envelope().name());
    }
}

/// Declares the progress of a schedule.
pub(super) fn progress(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    let entity = attributes! { entity, by read;
        /// By whom the schedule was paused, why and since when. Nil while it is not paused.
        own "psi.scheduler/pause": Type::Record(&PAUSE), nullable => |view, key, _| {
            read(view, key, |record| {
                maybe(record.progress().paused.as_ref(), |it| Value::from(pause(view, it)).into())
            })
        };
        /// Whether the schedule is paused: its slots get no runs until it is resumed.
        own "psi.scheduler/paused?": Type::Boolean =>
            |record| Datum::Bool(record.progress().paused.is_some());
        /// The number of the current trigger: 1 for the first, one more for each replacement. It is part of run ids.
        own "psi.scheduler/incarnation": Type::Integer =>
            |record| Datum::Int(record.progress().incarnation.into());
        /// When the schedule was last changed, paused or resumed. Nil if never.
        own "psi.scheduler/updated-at": Type::Instant, nullable =>
            |record| maybe(record.progress().updated_at, instant);
        /// The last slot that was skipped, and why. Nil if none was.
        own "psi.scheduler/last-skip": Type::Record(&SKIP), nullable => |record| {
            maybe(record.progress().last_skip, |(at, reason)| {
                let skip = Map::new()
                    .with("at", psi_terms::instant(at))
                    .with("reason", Value::keyword(reason.name()));
                Value::from(skip).into()
            })
        };
    };
    ends(counts(entity))
}

fn counts(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// The number of runs that were delivered.
        own "psi.scheduler/delivered-count": Type::Integer, unit("runs") =>
            |view, key, _| read(view, key, |record| integer(ended(view, record, RunState::Delivered)));
        /// The number of runs that failed.
        own "psi.scheduler/failed-count": Type::Integer, unit("runs") =>
            |view, key, _| read(view, key, |record| integer(ended(view, record, RunState::Failed)));
        /// The number of slots that passed without a run of their own.
        own "psi.scheduler/skipped-count": Type::Integer, unit("slots") =>
            |record| integer(record.progress().skipped);
        /// The number of runs that have failed in a row, up to now.
        own "psi.scheduler/failures-in-row": Type::Integer, unit("runs") =>
            |record| integer(record.progress().failures_in_row);
    }
}

/// Returns how many runs ended in a state. What has one slot keeps no count, but all its runs.
fn ended(view: ViewOf<'_, Scheduler>, record: &ScheduleRecord, state: RunState) -> u64 {
    if !record.schedule().recurs() {
        return view.state.runs_of(record).filter(|(_, run)| run.run().state == state).count() as u64;
    }
    match state {
        RunState::Delivered => record.progress().delivered,
        RunState::Failed => record.progress().failed,
        // Not asked for: the attributes count only deliveries and failures.
        RunState::Queued | RunState::InFlight | RunState::Running | RunState::Left | RunState::Cancelled => 0,
    }
}

fn ends(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// Why the schedule ended other than by delivery, or why it has no further slot. Nil otherwise.
        own "psi.scheduler/ended-reason": Type::Enum(Reason::NAMES), nullable => |record| {
            // While its last run goes on, a schedule has not ended, but it already has no further slot.
            let reason = record.ended_for().or(record.progress().never);
            maybe(reason, |reason| Datum::Name(reason.name()))
        };
        /// Why it fired at an instant, did not, or when it will. Parameter: at, now if omitted.
        own "psi.scheduler/explain": Type::Reference("explanation"), params(super::forecast_explain::OF_OWN), read_from_log =>
            |view, key, params| {
                match view.schedule(key) {
                    Some(record) => super::forecast_explain::explain_own(view, &record.schedule().id, params),
                    None => Ok(Datum::Nil),
                }
            };
        /// In the answer of a creation: false if the request was a repetition and the schedule existed already.
        own "psi.scheduler/created?": Type::Boolean;
        /// In the answer of a creation or change: the time as understood, with zone, next instants and warnings.
        own "psi.scheduler/understood": Type::Record(&UNDERSTOOD), nullable;
    }
}

/// The fields of [`pause`](fn@pause).
pub(super) const PAUSE: Record = Record {
    name: "pause",
    doc: "A pause of a schedule, or a hold on all.",
    params: &[
        field::<Box<str>>("by", "The actor: operator, a session's id, or another session."),
        field::<Box<str>>("reason", "The reason that the actor gave. Nil if none.").or_nil(),
        field::<Moment>("since", "When it began."),
    ],
};

/// The fields of the last skip.
const SKIP: Record = Record {
    name: "skipped-slot",
    doc: "A slot that was skipped.",
    params: &[
        field::<Moment>("at", "The instant of the slot."),
        field::<Reason>("reason", "Why it was skipped."),
    ],
};

/// Prints a pause or a hold. The id of the session that asked for it is shown to that session and to operators only.
pub(super) fn pause(view: ViewOf<'_, Scheduler>, pause: &Pause) -> Map {
    let by = match &pause.by.scope {
        Scope::Operator => "operator",
        Scope::Session(session) if view.scope.covers(session) => session.as_str(),
        // Shared schedules can be paused by a session whose id is not for this caller.
        Scope::Session(_) => "another session",
    };
    Map::new()
        .with("by", by)
        .with("reason", pause.reason.as_deref())
        .with("since", psi_terms::instant(pause.since))
}

params! {
    /// How many upcoming slots to list.
    pub(super) Upcoming {
        /// The largest number of slots to return.
        optional first: u32 = "first" bounded(0, SLOTS_LISTED),
    }
}

/// Reads the parameter `first`.
pub(super) fn first(params: &Map, default: usize) -> Result<usize, ResolverError> {
    let of = ":psi.scheduler/upcoming";
    let given = CheckedParams::of(params);
    let first = Upcoming::read(&given).map_err(refused(of))?.first;
    Ok(first.and_then(|first| usize::try_from(first).ok()).unwrap_or(default))
}

/// The fields of [`target`](fn@target).
const TARGET: Record = Record {
    name: "target",
    doc: "Where the runs of a schedule are delivered.",
    params: &[
        Param::shown("kind", psi_terms::TARGET_KIND, "The kind of target."),
        field::<IdText>("session-id", "For session: the id of the session.").or_nil(),
        field::<Box<str>>("channel", "For route: the name of the channel.").or_nil(),
        field::<Box<str>>("conversation", "For route: the conversation in the channel.").or_nil(),
        field::<Box<str>>("thread", "For route: the thread of the conversation. Nil if it has no threads.")
            .or_nil(),
    ],
};

fn target(target: &Target) -> Value {
    let kind = |kind: &str| Map::new().with("kind", Value::keyword(kind));
    match target {
        Target::Owner => kind("owner"),
        Target::Session(session) => kind("session").with("session-id", session.as_str()),
        Target::Fresh => kind("fresh"),
        Target::Route(route) => kind("route")
            .with("channel", &*route.channel)
            .with("conversation", &*route.conversation)
            .with("thread", route.thread.as_deref()),
    }
    .into()
}
