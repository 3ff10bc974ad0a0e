//! The attributes of a schedule beyond psi's thirteen: its settings, progress and counts.

use super::forecast_explain::SLOTS_LISTED;
use super::{Read, instant, integer, maybe, of_schedule, own};
use crate::calendar;
use crate::domain::{Envelope, Moment, Payload, Reason, Scope, Target, Trigger, Zone};
use crate::edn::{Map, Value};
use crate::engine::{Key, Pause, ScheduleRecord};
use crate::graph::mutation::{LIFETIME, POLICY, UNDERSTOOD, print_lifetime, print_policy};
use crate::graph::params::{CheckedParams, IdText, field, params, refused};
use crate::graph::psi_terms;
use crate::graph::registry::{Datum, Entity, Param, Record, ResolverError, Type, ViewOf};
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
    let entity = entity
        .reads(
            own("psi.scheduler/when", Type::String)
                .doc("The trigger as a phrase, which the parameter when accepts."),
            |view, key, _| {
                read(view, key, |record| Datum::shown(calendar::print(&record.schedule().trigger)))
            },
        )
        .reads(
            own("psi.scheduler/zone", Type::String)
                .nullable()
                .doc("The time zone of the slots. Nil if the trigger does not depend on a time zone."),
            |view, key, _| read(view, key, |record| maybe(zone(&record.schedule().trigger), Datum::shown)),
        )
        .reads(
            own("psi.scheduler/policy", Type::Record(&POLICY))
                .doc("What happens when a slot is late, the session is busy, runs overlap, or a run fails."),
            |view, key, _| read(view, key, |record| print_policy(record.schedule().policy()).into()),
        )
        .reads(
            own("psi.scheduler/lifetime", Type::Record(&LIFETIME))
                .doc("What ends the schedule besides its trigger: runs, an instant, a user's message, or its session."),
            |view, key, _| {
                read(view, key, |record| print_lifetime(record.schedule().lifetime()).into())
            },
        );
    entity
        .reads(
            own("psi.scheduler/description", Type::String).nullable().doc("What the schedule is for. Nil if not given."),
            |view, key, _| {
                read(view, key, |record| {
                    maybe(record.schedule().settings().description.as_deref(), Datum::Text)
                })
            },
        )
        .reads(
            own("psi.scheduler/idempotency-key", Type::String)
                .nullable()
                .doc("The idempotency key: identifies repetitions of the same request. Nil if not given."),
            |view, key, _| {
                read(view, key, |record| maybe(record.schedule().settings().key.as_deref(), Datum::Text))
            },
        )
        .reads(
            own("psi.scheduler/shared?", Type::Boolean).doc("Whether every session may see and change the schedule."),
            |view, key, _| read(view, key, |record| Datum::Bool(record.schedule().settings().shared)),
        )
        .reads(
            own("psi.scheduler/target", Type::Record(&TARGET)).doc(
                "Where its runs are delivered: the owner's session, another session, a fresh one, or a channel.",
            ),
            |view, key, _| read(view, key, |record| target(record.schedule().target()).into()),
        )
        .reads(
            own("psi.scheduler/notice", Type::Record(&psi_terms::NOTICE))
                .nullable()
                .doc("For a notice: its subject and the attached file. Nil for other kinds."),
            |view, key, _| {
                read(view, key, |record| match &record.schedule().payload {
                    Payload::Turn { .. } | Payload::NewSession(_) => Datum::Nil,
                    Payload::Notice(notice) => Value::from(psi_terms::notice(notice)).into(),
                })
            },
        )
        .reads(
            own("psi.scheduler/envelope", Type::Enum(Envelope::NAMES)).doc("How the prompt is presented to the model."),
            |view, key, _| read(view, key, |record| Datum::Name(record.schedule().envelope().name())),
        )
}

/// Declares the progress of a schedule.
pub(super) fn progress(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    let entity = entity
        .reads(
            own("psi.scheduler/pause", Type::Record(&PAUSE))
                .nullable()
                .doc("By whom the schedule was paused, why and since when. Nil while it is not paused."),
            |view, key, _| {
                read(view, key, |record| {
                    maybe(record.progress().paused.as_ref(), |it| pause(view, it).into())
                })
            },
        )
        .reads(
            own("psi.scheduler/paused?", Type::Boolean)
                .doc("Whether the schedule is paused: its slots get no runs until it is resumed."),
            |view, key, _| read(view, key, |record| Datum::Bool(record.progress().paused.is_some())),
        )
        .reads(
            own("psi.scheduler/incarnation", Type::Integer)
                .doc("The number of the current trigger: 1 for the first, one more for each replacement. It is part of run ids."),
            |view, key, _| read(view, key, |record| Datum::Int(record.progress().incarnation.into())),
        )
        .reads(
            own("psi.scheduler/updated-at", Type::Instant)
                .nullable()
                .doc("When the schedule was last changed, paused or resumed. Nil if never."),
            |view, key, _| read(view, key, |record| maybe(record.progress().updated_at, instant)),
        )
        .reads(
            own("psi.scheduler/last-skip", Type::Record(&SKIP))
                .nullable()
                .doc("The last slot that was skipped, and why. Nil if none was."),
            |view, key, _| {
                read(view, key, |record| {
                    maybe(record.progress().last_skip, |(at, reason)| {
                        let skip = Map::new()
                            .with("at", psi_terms::instant(at))
                            .with("reason", Value::keyword(reason.name()));
                        Value::from(skip).into()
                    })
                })
            },
        );
    ends(counts(entity))
}

fn counts(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("psi.scheduler/delivered-count", Type::Integer)
                .unit("runs")
                .doc("The number of runs that were delivered."),
            |view, key, _| read(view, key, |record| integer(record.progress().delivered)),
        )
        .reads(
            own("psi.scheduler/failed-count", Type::Integer)
                .unit("runs")
                .doc("The number of runs that failed."),
            |view, key, _| read(view, key, |record| integer(record.progress().failed)),
        )
        .reads(
            own("psi.scheduler/skipped-count", Type::Integer)
                .unit("slots")
                .doc("The number of slots that passed without a run of their own."),
            |view, key, _| read(view, key, |record| integer(record.progress().skipped)),
        )
        .reads(
            own("psi.scheduler/failures-in-row", Type::Integer)
                .unit("runs")
                .doc("The number of runs that have failed in a row, up to now."),
            |view, key, _| read(view, key, |record| integer(record.progress().failures_in_row)),
        )
}

fn ends(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("psi.scheduler/ended-reason", Type::Enum(Reason::NAMES))
                .nullable()
                .doc("Why the schedule ended other than by delivery, or why it has no further slot. Nil otherwise."),
            |view, key, _| {
                read(view, key, |record| {
                    // While its last run goes on, a schedule has not ended, but it already has no further slot.
                    let reason = record.ended_for().or(record.progress().never);
                    maybe(reason, |reason| Datum::Name(reason.name()))
                })
            },
        )
        .reads(
            own("psi.scheduler/explain", Type::Reference("explanation")).params(super::forecast_explain::OF_OWN)
                .doc("Why it fired at an instant, did not, or when it will. Parameter: at, now if omitted."),
            |view, key, params| match view.schedule(key) {
                Some(record) => super::forecast_explain::explain_own(view, &record.schedule().id, params),
                None => Ok(Datum::Nil),
            },
        )
        .attribute(
            own("psi.scheduler/created?", Type::Boolean)
                .doc("In the answer of a creation: false if the request was a repetition and the schedule existed already."),
        )
        .attribute(
            own("psi.scheduler/understood", Type::Record(&UNDERSTOOD))
                .nullable()
                .doc("In the answer of a creation or change: the time as understood, with zone, next instants and warnings."),
        )
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
pub(super) fn pause(view: ViewOf<'_, Scheduler>, pause: &Pause) -> Value {
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
        .into()
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

fn zone(trigger: &Trigger) -> Option<&Zone> {
    match trigger {
        // An instant, a period and an event name no zone: their slots do not move when clocks change.
        Trigger::At(_) | Trigger::Every(_) | Trigger::Event(_) => None,
        Trigger::Calendar(calendar) => Some(&calendar.zone),
        Trigger::Cron(_, zone) => Some(zone),
    }
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
