//! The entity `schedule`: psi's thirteen attributes first, then ours.

use super::{entities, instant, integer, maybe, of_schedule, own, text};
use crate::calendar::{self, Slots};
use crate::domain::{Dialect, Durability, Moment, PayloadKind, Phase, Reason, ScheduleId, Status};
use crate::edn::Value;
use crate::engine::{Key, ScheduleRecord};
use crate::graph::listing;
use crate::graph::mutation::TRIGGER;
use crate::graph::psi_terms;
use crate::graph::registry::{Datum, Entity, Stability, Type, ViewOf};
use crate::graph::view::Scheduler;

/// The attributes of a schedule that is asked for as a whole: psi's thirteen.
const WHOLE: &[&str] = &[
    "psi.scheduler/schedule-id",
    "psi.scheduler/kind",
    "psi.scheduler/label",
    "psi.scheduler/message",
    "psi.scheduler/status",
    "psi.scheduler/source",
    "psi.scheduler/created-at",
    "psi.scheduler/fire-at",
    "psi.scheduler/origin-session-id",
    "psi.scheduler/created-session-id",
    "psi.scheduler/delivery-phase",
    "psi.scheduler/error-summary",
    "psi.scheduler/session-config-summary",
];

pub(super) fn schedule() -> Entity<Scheduler, Key> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<Key> = |view, key| {
        let key = view.state.schedule_key(&ScheduleId::new(text(key)?).ok()?)?;
        view.schedule(key).map(|_| key)
    };
    let entity = Entity::<Scheduler, Key>::new("schedule", "psi.scheduler/schedule-id", find)
        .doc("A schedule: what is to happen, when, and its progress.")
        .whole(WHOLE);
    super::guard::of_schedule(super::schedule_details::progress(super::schedule_details::settings(around(
        standing(asked(entity)),
    ))))
}

/// Declares the definition of a schedule.
fn asked(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(own("psi.scheduler/schedule-id", Type::String).doc("The id of the schedule."), |view, key, _| {
            of_schedule(view, key, |record| Datum::Shown(&record.schedule().id))
        })
        .reads(
            own("psi.scheduler/kind", Type::Enum(PayloadKind::NAMES))
                .doc("What is delivered: a prompt into a session, a fresh session with a prompt, or a notice."),
            |view, key, _| {
                of_schedule(view, key, |record| Datum::Name(record.schedule().payload.kind().name()))
            },
        )
        .reads(
            own("psi.scheduler/label", Type::String).nullable().doc("A name for people. Nil if not given."),
            |view, key, _| {
                of_schedule(view, key, |record| maybe(record.schedule().label.as_deref(), Datum::Text))
            },
        )
        .reads(own("psi.scheduler/message", Type::String).doc("The prompt, or the text of a notice."), |view, key, _| {
            of_schedule(view, key, |record| Datum::Text(record.schedule().payload.text()))
        })
        .reads(
            own("psi.scheduler/source", Type::Enum(SOURCES)).doc("The source of the delivered messages: always scheduled."),
            |_, _, _| Ok(Datum::Name(SOURCES[0])),
        )
        .reads(own("psi.scheduler/created-at", Type::Instant).doc("When the schedule was created."), |view, key, _| {
            of_schedule(view, key, |record| instant(record.schedule().created_at))
        })
        .reads(
            own("psi.scheduler/fire-at", Type::Instant)
                .doc("The current or last slot. If the schedule waits for an event, the time of its creation."),
            |view, key, _| of_schedule(view, key, |record| instant(record.fire_at())),
        )
        .reads(
            own("psi.scheduler/origin-session-id", Type::String).doc("The id of the session that owns the schedule."),
            |view, key, _| of_schedule(view, key, |record| Datum::Text(record.schedule().owner.as_str())),
        )
        .reads(
            own("psi.scheduler/session-config-summary", Type::Record(&psi_terms::CONFIG_SUMMARY))
                .nullable()
                .doc("The configuration of the fresh session; prompts and tools are only counted. Nil if there is none."),
            |view, key, _| of_schedule(view, key, config_summary),
        )
        .reads(
            own("psi.scheduler/dialect", Type::Enum(Dialect::NAMES)).doc("The dialect of the tool that created the schedule."),
            |view, key, _| of_schedule(view, key, |record| Datum::Name(record.schedule().dialect.name())),
        )
        .reads(
            own("psi.scheduler/durability", Type::Enum(Durability::NAMES))
                .doc("Whether the schedule survives a restart: durable ones do, volatile ones do not."),
            |view, key, _| of_schedule(view, key, |record| Datum::Name(record.schedule().durability.name())),
        )
        .reads(
            own("psi.scheduler/trigger", Type::Record(&TRIGGER))
                .stability(Stability::Experimental)
                .doc("The trigger, which determines the slots."),
            |view, key, _| of_schedule(view, key, |record| trigger(record).into()),
        )
        .reads(
            own("psi.scheduler/revision", Type::Integer)
                .unit("revisions")
                .doc("The revision of the definition: 1 at creation, one more for each change."),
            |view, key, _| of_schedule(view, key, |record| Datum::Int(record.progress().revision.into())),
        )
}

fn config_summary(record: &ScheduleRecord) -> Datum<'_> {
    maybe(record.schedule().payload.config(), |config| psi_terms::config_summary(config).into())
}

/// Declares the status of a schedule.
fn standing(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("psi.scheduler/status", Type::Enum(psi_terms::STATUSES))
                .doc("The status, by psi's names where psi has one. A delivery in progress counts as pending."),
            |view, key, _| {
                of_schedule(view, key, |record| Datum::Name(psi_terms::status(record.status()).name()))
            },
        )
        .reads(
            own("psi.scheduler/in-flight?", Type::Boolean).doc(
                "Whether a run was handed to its host and the receipt is outstanding. It cannot be cancelled then.",
            ),
            |view, key, _| of_schedule(view, key, |record| Datum::Bool(record.status() == Status::InFlight)),
        )
        .reads(
            own("psi.scheduler/reason", Type::Enum(Reason::NAMES))
                .nullable()
                .doc("Why the schedule waits, or why it ended other than by delivery. Nil otherwise."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    maybe(psi_terms::reason(view.state, record), |reason| Datum::Name(reason.name()))
                })
            },
        )
        .reads(
            own("psi.scheduler/created-session-id", Type::String)
                .nullable()
                .doc("The id of the fresh session that its last run opened. Nil if it opened none."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    maybe(psi_terms::created_session(view.state, record), |id| Datum::Text(id.as_str()))
                })
            },
        )
        .reads(
            own("psi.scheduler/delivery-phase", Type::Enum(Phase::NAMES)).nullable().doc(
                "How far the delivery came, of a delivered fresh session or a failure. Nil otherwise.",
            ),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    maybe(psi_terms::delivery_phase(view.state, record), |it| Datum::Name(it.name()))
                })
            },
        )
        .reads(
            own("psi.scheduler/error-summary", Type::Record(&psi_terms::ERROR_SUMMARY))
                .nullable()
                .doc("The error of the last run, if it failed: message, class, and data with the reason. Nil otherwise."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    maybe(psi_terms::error_summary(view.state, record), Datum::Value)
                })
            },
        )
}

/// Declares the slots, runs and sessions of a schedule.
fn around(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("psi.scheduler/next-fire-at", Type::Instant)
                .nullable()
                .doc("The next slot. Nil if there is none."),
            |view, key, _| of_schedule(view, key, |record| maybe(record.next_slot(), instant)),
        )
        .reads(
            own("psi.scheduler/upcoming", Type::Instant).params(&[super::schedule_details::Upcoming::GROUP]).many().doc(
                "The next slots by the trigger alone: 3, or as many as the parameter first says. A forecast considers more.",
            ),
            |view, key, params| {
                let first = super::schedule_details::first(params, UPCOMING)?;
                of_schedule(view, key, |record| {
                    upcoming(view, record, first).into_iter().map(psi_terms::instant).collect::<Vec<Value>>().into()
                })
            },
        )
        .reads(
            own("psi.scheduler/runs", Type::Reference("run"))
                .many()
                .doc("The most recent runs, oldest first. Older ones are in the log."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    let mut runs: Vec<Key> = view.state.runs_of(record).map(|(key, _)| key).collect();
                    runs.reverse();
                    entities(runs)
                })
            },
        )
        .reads(
            own("psi.scheduler/origin-session", Type::Reference("session"))
                .nullable()
                .doc("The session that owns the schedule. Nil once it is closed."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    let owner = record.owner_key().filter(|key| view.session(*key).is_some());
                    maybe(owner, |key| Datum::Entity(key.number().into()))
                })
            },
        )
        .reads(
            own("psi.scheduler/created-session", Type::Reference("session"))
                .nullable()
                .doc("The fresh session that its last run opened. Nil if it opened none or the caller may not see it."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    let fresh =
                        psi_terms::created_session(view.state, record).and_then(|id| view.session_key(id));
                    maybe(fresh, |key| Datum::Entity(key.number().into()))
                })
            },
        )
        .reads(
            own("psi.scheduler/cursor", Type::String)
                .stability(Stability::Experimental)
                .doc("The cursor of the schedule in lists, for the parameters after and before."),
            |view, key, _| of_schedule(view, key, |record| Datum::shown(listing::schedule_cursor(record))),
        )
        .reads(
            own("psi.scheduler/run-count", Type::Integer).unit("runs").doc("The number of runs so far."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    let runs = || view.state.runs_of(record).count() as u64;
                    integer(if record.schedule().recurs() { record.progress().runs } else { runs() })
                })
            },
        )
}

/// The sources of delivered messages. Source: psi's record.
const SOURCES: &[&str] = &["scheduled"];

/// Returns the next slots by the trigger, up to the lifetime's end. Pauses, holds and limits are left to the
/// forecast.
fn upcoming(view: ViewOf<'_, Scheduler>, record: &ScheduleRecord, first: usize) -> Vec<Moment> {
    // The engine has decided the next slot, which may differ from the trigger's, for example after a skip. Only later ones
    // are computed.
    let Some(next) = record.next_slot() else { return Vec::new() };
    let later = Slots::new(&record.schedule().trigger, view.zones);
    let end = record.schedule().lifetime().expires_at;
    let lives = move |slot: &Moment| end.is_none_or(|end| *slot < end);
    std::iter::once(next).chain(later.after(next)).take_while(lives).take(first).collect()
}

fn trigger(record: &ScheduleRecord) -> Value {
    calendar::to_edn(&record.schedule().trigger)
}

/// How many upcoming slots are listed by default.
const UPCOMING: usize = 3;
