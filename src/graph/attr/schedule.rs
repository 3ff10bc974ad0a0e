//! The entity `schedule`: psi's thirteen attributes first, then ours.

use super::{attributes, entities, instant, integer, maybe, of_schedule, own, text};
use crate::calendar;
use crate::domain::{Dialect, Durability, PayloadKind, Phase, Reason, ScheduleId, Status, excerpt};
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
    attributes! { entity, by of_schedule;
        /// The id of the schedule.
        own "psi.scheduler/schedule-id": Type::String => |record| Datum::Shown(&record.schedule().id);
        /// What is delivered: a prompt into a session, a fresh session with a prompt, or a notice.
        own "psi.scheduler/kind": Type::Enum(PayloadKind::NAMES) =>
            |record| Datum::Name(record.schedule().payload.kind().name());
        /// A name for people. Nil if not given.
        own "psi.scheduler/label": Type::String, nullable =>
            |record| maybe(record.schedule().label.as_deref(), Datum::Text);
        /// The prompt, or the text of a notice.
        own "psi.scheduler/message": Type::String => |record| Datum::Text(record.schedule().payload.text());
        /// The beginning of the message, for lists: a longer message is cut after 80 characters,
        /// followed by its full length.
        own "psi.scheduler/message-excerpt": Type::String => |record| {
            Datum::shown(excerpt(record.schedule().payload.text()))
        };
        /// The source of the delivered messages: always scheduled.
        own "psi.scheduler/source": Type::Enum(SOURCES) => |_, _, _| Ok(Datum::Name(SOURCES[0]));
        /// When the schedule was created.
        own "psi.scheduler/created-at": Type::Instant => |record| instant(record.schedule().created_at);
        /// The current or last slot. If the schedule waits for an event, the time of its creation.
        own "psi.scheduler/fire-at": Type::Instant => |record| instant(record.fire_at());
        /// The id of the session that owns the schedule.
        own "psi.scheduler/origin-session-id": Type::String =>
            |record| Datum::Text(record.schedule().owner.as_str());
        /// The configuration of the fresh session; prompts and tools are only counted. Nil if there is none.
        own "psi.scheduler/session-config-summary": Type::Record(&psi_terms::CONFIG_SUMMARY), nullable =>
            |view, key, _| of_schedule(view, key, config_summary);
        /// The dialect of the tool that created the schedule.
        own "psi.scheduler/dialect": Type::Enum(Dialect::NAMES) =>
            |record| Datum::Name(record.schedule().dialect.name());
        /// Whether the schedule survives a restart: durable ones do, volatile ones do not. Bound ones, which watches are, do as
        /// well, but what their checks of the last minute came to may be lost, unless it was told.
        own "psi.scheduler/durability": Type::Enum(Durability::NAMES) =>
            |record| Datum::Name(record.schedule().durability.name());
        /// The trigger, which determines the slots.
        own "psi.scheduler/trigger": Type::Record(&TRIGGER), stability(Stability::Experimental) =>
            |record| trigger(record).into();
        /// The revision of the definition: 1 at creation, one more for each change.
        own "psi.scheduler/revision": Type::Integer, unit("revisions") =>
            |record| Datum::Int(record.progress().revision.into());
    }
}

fn config_summary(record: &ScheduleRecord) -> Datum<'_> {
    maybe(record.schedule().payload.config(), |config| psi_terms::config_summary(config).into())
}

/// Declares the status of a schedule.
fn standing(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by of_schedule;
        /// The status, by psi's names where psi has one. A delivery in progress counts as pending.
        own "psi.scheduler/status": Type::Enum(psi_terms::STATUSES) =>
            |record| Datum::Name(psi_terms::status(record.status()).name());
        /// Whether a run was handed to its host and the receipt is outstanding. It cannot be cancelled then.
        own "psi.scheduler/in-flight?": Type::Boolean =>
            |record| Datum::Bool(record.status() == Status::InFlight);
        /// Why the schedule waits, or why it ended other than by delivery. Nil otherwise.
        own "psi.scheduler/reason": Type::Enum(Reason::NAMES), nullable => |view, key, _| {
            of_schedule(view, key, |record| {
                maybe(psi_terms::reason(view.state, record), |reason| Datum::Name(reason.name()))
            })
        };
        /// The id of the fresh session that its last run opened. Nil if it opened none.
        own "psi.scheduler/created-session-id": Type::String, nullable => |view, key, _| {
            of_schedule(view, key, |record| {
                maybe(psi_terms::created_session(view.state, record), |id| Datum::Text(id.as_str()))
            })
        };
        /// How far the delivery came, of a delivered fresh session or a failure. Nil otherwise.
        own "psi.scheduler/delivery-phase": Type::Enum(Phase::NAMES), nullable => |view, key, _| {
            of_schedule(view, key, |record| {
                maybe(psi_terms::delivery_phase(view.state, record), |it| Datum::Name(it.name()))
            })
        };
        /// The error of the last run, if it failed: message, class, and data with the reason. Nil otherwise.
        own "psi.scheduler/error-summary": Type::Record(&psi_terms::ERROR_SUMMARY), nullable =>
            |view, key, _| {
                of_schedule(view, key, |record| {
                    maybe(psi_terms::error_summary(view.state, record), Datum::Value)
                })
            };
    }
}

/// Declares the slots, runs and sessions of a schedule.
fn around(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by of_schedule;
        /// The next slot that gets a run. Nil if there is none, as while the schedule is paused.
        own "psi.scheduler/next-fire-at": Type::Instant, nullable =>
            |record| maybe(record.next_run(), instant);
        /// The next slots that get runs, by trigger, lifetime and pause: 3, or as many as the parameter first says. A forecast
        /// considers more.
        own "psi.scheduler/upcoming": Type::Instant, params(&[super::schedule_details::Upcoming::GROUP]), many =>
            |view, key, params| {
                let first = super::schedule_details::first(params, ScheduleRecord::UPCOMING)?;
                of_schedule(view, key, |record| {
                    let slots = record.upcoming(view.zones, view.now.wall, first);
                    slots.into_iter().map(psi_terms::instant).collect::<Vec<Value>>().into()
                })
            };
        /// The most recent runs, oldest first. Older ones are in the log.
        own "psi.scheduler/runs": Type::Reference("run"), many => |view, key, _| {
            of_schedule(view, key, |record| {
                let mut runs: Vec<Key> = view.state.runs_of(record).map(|(key, _)| key).collect();
                // The engine has the newest run first.
                runs.reverse();
                entities(runs)
            })
        };
        /// The oldest run that has not ended. Nil if there is none.
        own "psi.scheduler/open-run": Type::Reference("run"), nullable => |view, key, _| {
            of_schedule(view, key, |record| {
                // The newest run comes first, so the last one that is open is the oldest.
                let open = view.state.runs_of(record).filter(|(_, run)| !run.run().state.is_terminal()).last();
                maybe(open, |(key, _)| Datum::Entity(key.number().into()))
            })
        };
        /// The session that owns the schedule. Nil once it is closed.
        own "psi.scheduler/origin-session": Type::Reference("session"), nullable => |view, key, _| {
            of_schedule(view, key, |record| {
                let owner = record.owner_key().filter(|key| view.session(*key).is_some());
                maybe(owner, |key| Datum::Entity(key.number().into()))
            })
        };
        /// The fresh session that its last run opened. Nil if it opened none or the caller may not see it.
        own "psi.scheduler/created-session": Type::Reference("session"), nullable => |view, key, _| {
            of_schedule(view, key, |record| {
                let fresh =
                    psi_terms::created_session(view.state, record).and_then(|id| view.session_key(id));
                maybe(fresh, |key| Datum::Entity(key.number().into()))
            })
        };
        /// The cursor of the schedule in lists, for the parameters after and before.
        own "psi.scheduler/cursor": Type::String, stability(Stability::Experimental) =>
            |record| Datum::shown(listing::schedule_cursor(record));
        /// The number of runs so far.
        own "psi.scheduler/run-count": Type::Integer, unit("runs") => |view, key, _| {
            of_schedule(view, key, |record| {
                let runs = || view.state.runs_of(record).count() as u64;
                // A schedule with one slot keeps no count. All of its runs are retained, and are counted here.
                integer(if record.schedule().recurs() { record.progress().runs } else { runs() })
            })
        };
    }
}

/// The sources of delivered messages. Source: psi's record.
const SOURCES: &[&str] = &["scheduled"];

fn trigger(record: &ScheduleRecord) -> Value {
    calendar::to_edn(&record.schedule().trigger)
}
