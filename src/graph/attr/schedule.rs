//! A schedule: psi's thirteen attributes first, then ours.

use super::{entities, instant, integer, maybe, of_schedule, own, text};
use crate::calendar::{self, Slots};
use crate::domain::{Dialect, Durability, Kind, Moment, Phase, Reason, ScheduleId, Status};
use crate::edn::Value;
use crate::engine::{Key, ScheduleRecord};
use crate::graph::listing;
use crate::graph::registry::{Datum, Entity, Seen, Stability, Type};
use crate::graph::shown;
use crate::graph::view::Scheduler;

/// What a schedule's map has when it is asked for as a whole, as psi has it.
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
    let find: fn(Seen<'_, Scheduler>, &Value) -> Option<Key> = |view, key| {
        let key = view.state.schedule_key(&ScheduleId::new(text(key)?).ok()?)?;
        view.schedule(key).map(|_| key)
    };
    let entity = Entity::<Scheduler, Key>::new("schedule", "psi.scheduler/schedule-id", find)
        .doc("What was asked to happen later, and where that stands.")
        .whole(WHOLE);
    super::guard::of_schedule(super::terms::course(super::terms::terms(around(standing(asked(entity))))))
}

/// What was asked for, fixed at creation.
fn asked(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(own("psi.scheduler/schedule-id", Type::String).doc("The schedule's id."), |view, key, _| {
            of_schedule(view, key, |record| Datum::Shown(&record.schedule().id))
        })
        .reads(
            own("psi.scheduler/kind", Type::Enum(Kind::NAMES))
                .doc("Whether it is a prompt into its session or a fresh session."),
            |view, key, _| {
                of_schedule(view, key, |record| Datum::Name(record.schedule().payload.kind().name()))
            },
        )
        .reads(
            own("psi.scheduler/label", Type::String).nullable().doc("A name for people."),
            |view, key, _| {
                of_schedule(view, key, |record| maybe(record.schedule().label.as_deref(), Datum::Text))
            },
        )
        .reads(own("psi.scheduler/message", Type::String).doc("The prompt."), |view, key, _| {
            of_schedule(view, key, |record| Datum::Text(record.schedule().payload.text()))
        })
        .reads(
            own("psi.scheduler/source", Type::Enum(SOURCES)).doc("What puts the prompt into the session."),
            |_, _, _| Ok(Datum::Name(SOURCES[0])),
        )
        .reads(own("psi.scheduler/created-at", Type::Instant).doc("When it was created."), |view, key, _| {
            of_schedule(view, key, |record| instant(record.schedule().created_at))
        })
        .reads(
            own("psi.scheduler/fire-at", Type::Instant)
                .doc("When its slot comes, or came; of one that waits for an event, when it was created."),
            |view, key, _| of_schedule(view, key, |record| instant(record.slot())),
        )
        .reads(
            own("psi.scheduler/origin-session-id", Type::String).doc("The session that asked for it."),
            |view, key, _| of_schedule(view, key, |record| Datum::Text(record.schedule().owner.as_str())),
        )
        .reads(
            own("psi.scheduler/session-config-summary", Type::Map)
                .nullable()
                .doc("What was asked of the fresh session, in short; prompts and tools are counted."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    maybe(record.schedule().payload.config(), |config| shown::config_summary(config).into())
                })
            },
        )
        .reads(
            own("psi.scheduler/dialect", Type::Enum(Dialect::NAMES)).doc("Whose tools made it."),
            |view, key, _| of_schedule(view, key, |record| Datum::Name(record.schedule().dialect.name())),
        )
        .reads(
            own("psi.scheduler/durability", Type::Enum(Durability::NAMES))
                .doc("What a restart leaves of it."),
            |view, key, _| of_schedule(view, key, |record| Datum::Name(record.schedule().durability.name())),
        )
        .reads(
            own("psi.scheduler/trigger", Type::Map)
                .stability(Stability::Experimental)
                .doc("The rule that yields its slots."),
            |view, key, _| of_schedule(view, key, |record| trigger(record).into()),
        )
        .reads(
            own("psi.scheduler/revision", Type::Integer)
                .unit("revisions")
                .doc("How often it was defined: 1 until it is changed."),
            |view, key, _| of_schedule(view, key, |record| Datum::Int(record.course().revision.into())),
        )
}

/// Where it stands.
fn standing(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("psi.scheduler/status", Type::Enum(shown::STATUSES))
                .doc("Where it stands, in psi's five words; a delivery under way is still pending."),
            |view, key, _| {
                of_schedule(view, key, |record| Datum::Name(shown::status(record.status()).name()))
            },
        )
        .reads(
            own("psi.scheduler/in-flight?", Type::Boolean).doc(
                "Whether it was handed to its host, whose receipt is still out: it cannot be cancelled then.",
            ),
            |view, key, _| of_schedule(view, key, |record| Datum::Bool(record.status() == Status::InFlight)),
        )
        .reads(
            own("psi.scheduler/reason", Type::Enum(Reason::NAMES))
                .nullable()
                .doc("Why it waits, or why it ended otherwise than by delivery."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    maybe(shown::reason(view.state, record), |reason| Datum::Name(reason.name()))
                })
            },
        )
        .reads(
            own("psi.scheduler/created-session-id", Type::String)
                .nullable()
                .doc("The fresh session that it opened."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    maybe(shown::created_session(view.state, record), |id| Datum::Text(id.as_str()))
                })
            },
        )
        .reads(
            own("psi.scheduler/delivery-phase", Type::Enum(Phase::NAMES)).nullable().doc(
                "How far its delivery came: of a fresh session that has its prompt, and of what failed.",
            ),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    maybe(shown::delivery_phase(view.state, record), |it| Datum::Name(it.name()))
                })
            },
        )
        .reads(
            own("psi.scheduler/error-summary", Type::Map)
                .nullable()
                .doc("The error it ended in: message, class, data with the reason."),
            |view, key, _| {
                of_schedule(view, key, |record| maybe(shown::error_summary(view.state, record), Datum::Value))
            },
        )
}

/// What is around it: slots to come, runs, sessions.
fn around(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("psi.scheduler/next-fire-at", Type::Instant)
                .nullable()
                .doc("When its next slot comes; nil once its last one has come."),
            |view, key, _| of_schedule(view, key, |record| maybe(record.next_slot(), instant)),
        )
        .reads(
            own("psi.scheduler/upcoming", Type::Instant).params(&[super::terms::Upcoming::GROUP]).many().doc(
                "The next slots by its trigger alone: 3, or as many as the parameter first says. A forecast knows more.",
            ),
            |view, key, params| {
                let first = super::terms::first(params, UPCOMING)?;
                of_schedule(view, key, |record| {
                    upcoming(view, record, first).into_iter().map(shown::instant).collect::<Vec<Value>>().into()
                })
            },
        )
        .reads(
            own("psi.scheduler/runs", Type::Reference("run"))
                .many()
                .doc("Its last runs, oldest first; the log has the others."),
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
                .doc("The session that asked for it; nil once it is closed."),
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
                .doc("The fresh session that it opened, if the caller may see that one."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    let fresh =
                        shown::created_session(view.state, record).and_then(|id| view.session_key(id));
                    maybe(fresh, |key| Datum::Entity(key.number().into()))
                })
            },
        )
        .reads(
            own("psi.scheduler/cursor", Type::String)
                .stability(Stability::Experimental)
                .doc("Its place in lists of schedules, for the parameters after and before."),
            |view, key, _| of_schedule(view, key, |record| Datum::shown(listing::schedule_cursor(record))),
        )
        .reads(
            own("psi.scheduler/run-count", Type::Integer).unit("runs").doc("How many runs it has had."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    let runs = || view.state.runs_of(record).count() as u64;
                    integer(if record.schedule().recurs() { record.course().runs } else { runs() })
                })
            },
        )
}

/// What puts prompts into sessions. Source: psi's record.
const SOURCES: &[&str] = &["scheduled"];

/// The next slots by the trigger and the lifetime's end; pauses, holds and limits are a forecast's affair.
fn upcoming(view: Seen<'_, Scheduler>, record: &ScheduleRecord, first: usize) -> Vec<Moment> {
    let Some(next) = record.next_slot() else { return Vec::new() };
    let later = Slots::new(&record.schedule().trigger, view.zones);
    let end = record.schedule().lifetime().expires_at;
    let lives = move |slot: &Moment| end.is_none_or(|end| *slot < end);
    std::iter::once(next).chain(later.after(next)).take_while(lives).take(first).collect()
}

fn trigger(record: &ScheduleRecord) -> Value {
    calendar::to_edn(&record.schedule().trigger)
}

/// How many slots are shown ahead.
const UPCOMING: usize = 3;
