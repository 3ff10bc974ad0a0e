//! A session, as far as the engine knows it.

use super::{Read, entities, instant, integer, maybe, own, text};
use crate::domain::{ScheduleId, SessionId, ThinkingLevel};
use crate::edn::Value;
use crate::engine::{Key, SessionRecord};
use crate::graph::listing::{self, Whose};
use crate::graph::registry::{Datum, Entity, Seen, Type};
use crate::graph::shown;
use crate::graph::view::Scheduler;

pub(super) fn session() -> Entity<Scheduler, Key> {
    let find: fn(Seen<'_, Scheduler>, &Value) -> Option<Key> =
        |view, key| view.session_key(&SessionId::new(text(key)?).ok()?);
    let entity = Entity::<Scheduler, Key>::new("session", "psi.agent-session/session-id", find)
        .doc("A place where a model runs, with its transcript and its schedules.")
        .whole(WHOLE);
    super::guard::of_session(contents(standing(provenance(identity(entity)))))
}

/// What a session's map has when it is asked for as a whole.
const WHOLE: &[&str] = &[
    "psi.agent-session/session-id",
    "psi.agent-session/session-name",
    "psi.agent-session/model",
    "psi.agent-session/thinking-level",
    "psi.agent-session/busy?",
    "psi.agent-session/host",
    "psi.agent-session/pending-count",
    "psi.agent-session/opened-at",
    "psi.agent-session/last-user-activity",
    "psi.agent-session/scheduled-origin-session-id",
    "psi.agent-session/scheduled-from-schedule-id",
    "psi.agent-session/scheduled-from-label",
];

/// What it is.
fn identity(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("psi.agent-session/session-id", Type::String).seed().doc("The session's id."),
            |view, key, _| read(view, key, |record| Datum::Text(record.id().as_str())),
        )
        .reads(
            own("psi.agent-session/session-name", Type::String).nullable().doc("A name for people."),
            |view, key, _| {
                read(view, key, |record| maybe(record.config().session_name.as_deref(), Datum::Text))
            },
        )
        .reads(
            own("psi.agent-session/model", Type::Map)
                .nullable()
                .doc("The model: provider, id, and whether it can think."),
            |view, key, _| {
                read(view, key, |record| {
                    maybe(record.config().model.as_ref(), |model| shown::model(model).into())
                })
            },
        )
        .reads(
            own("psi.agent-session/thinking-level", Type::Enum(ThinkingLevel::NAMES))
                .nullable()
                .doc("How hard the model is to think."),
            |view, key, _| {
                read(view, key, |record| {
                    maybe(record.config().thinking_level, |level| Datum::Name(level.name()))
                })
            },
        )
        .reads(
            own("psi.agent-session/tool-ids", Type::String).many().doc("Its tools, by name."),
            |view, key, _| {
                read(view, key, |record| {
                    let tools = record.config().tool_ids.iter().flatten().map(|id| Value::from(&**id));
                    tools.collect::<Vec<Value>>().into()
                })
            },
        )
        .attribute(
            own("psi.agent-session/token", Type::String).doc(
                "What stands for the session, wherever it calls: given once, in the answer to its opening.",
            ),
        )
        .attribute(
            own("psi.agent-session/changed-count", Type::Integer)
                .unit("schedules")
                .doc("Of a change of all schedules of the session: how many were changed."),
        )
        .attribute(
            own("psi.agent-session/left-count", Type::Integer).unit("schedules").doc(
                "Of the same: how many could not be, because they had ended by then or are with a host.",
            ),
        )
        .reads(
            own("psi.agent-session/opened-at", Type::Instant).doc("When it was opened."),
            |view, key, _| read(view, key, |record| instant(record.opened_at())),
        )
}

/// Where it comes from.
fn provenance(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("psi.agent-session/scheduled-origin-session-id", Type::String)
                .nullable()
                .doc("The session whose schedule opened it; nil where no schedule did."),
            |view, key, _| {
                read(view, key, |record| {
                    maybe(record.provenance(), |provenance| Datum::Text(provenance.origin.as_str()))
                })
            },
        )
        .reads(
            own("psi.agent-session/scheduled-from-schedule-id", Type::String)
                .nullable()
                .doc("The schedule that opened it."),
            |view, key, _| {
                read(view, key, |record| {
                    let schedule: Option<&ScheduleId> = record.provenance().map(|it| &it.schedule);
                    maybe(schedule, |id| Datum::Shown(id))
                })
            },
        )
        .reads(
            own("psi.agent-session/scheduled-from-label", Type::String)
                .nullable()
                .doc("The label of the schedule that opened it."),
            |view, key, _| {
                read(view, key, |record| {
                    let label = record.provenance().and_then(|provenance| provenance.label.as_deref());
                    maybe(label, Datum::Text)
                })
            },
        )
}

/// Where it stands.
fn standing(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("psi.agent-session/busy?", Type::Boolean)
                .doc("Whether its host reported a turn, or compaction, that has not ended."),
            |view, key, _| read(view, key, |record| Datum::Bool(record.is_busy())),
        )
        .reads(
            own("psi.agent-session/host", Type::String)
                .doc("Who runs its turns: built-in, or a connected host."),
            |view, key, _| read(view, key, |record| Datum::shown(record.host())),
        )
        .reads(
            own("psi.agent-session/hosted?", Type::Boolean)
                .doc("Whether its host is connected; what is due waits until one is."),
            |view, key, _| read(view, key, |record| Datum::Bool(record.is_hosted())),
        )
        .reads(
            own("psi.agent-session/last-user-activity", Type::Instant)
                .nullable()
                .doc("When a person last spoke in it."),
            |view, key, _| read(view, key, |record| maybe(record.last_user_activity(), instant)),
        )
        .reads(
            own("psi.agent-session/pending-count", Type::Integer)
                .unit("schedules")
                .doc("How many of its schedules have not ended."),
            |view, key, _| read(view, key, |record| integer(record.live_count() as u64)),
        )
        .reads(
            own("psi.agent-session/delivery-in-flight", Type::Reference("schedule"))
                .nullable()
                .doc("The schedule whose prompt was handed over and has no receipt yet."),
            |view, key, _| {
                read(view, key, |record| {
                    let run = record.in_flight_key().and_then(|key| view.run(key));
                    maybe(run, |(_, run)| Datum::Entity(run.schedule_key().number().into()))
                })
            },
        )
        .reads(
            own("psi.agent-session/waiting", Type::Reference("schedule"))
                .many()
                .doc("The schedules whose runs wait for it, in the order in which they will be delivered."),
            |view, key, _| {
                read(view, key, |record| {
                    let waiting = view.state.waiting(record).into_iter();
                    let keys = waiting.map(crate::engine::RunRecord::schedule_key);
                    entities(keys.filter(|key| view.schedule(*key).is_some()))
                })
            },
        )
}

/// What is in it.
fn contents(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    entity
        .reads(
            own("psi.agent-session/schedules", Type::Reference("schedule")).params(listing::OF_SCHEDULES)
                .many()
                .doc("Its schedules, as :psi.scheduler/schedules has them for everybody."),
            |view, key, params| {
                Ok(Datum::Entities(listing::schedules(view, Whose::Session(key), params)?.numbers))
            },
        )
        .reads(
            own("psi.agent-session/schedule-page", Type::Reference("schedule-page")).params(listing::OF_SCHEDULES)
                .doc("A page of its schedules, with cursors and the count of the whole list."),
            |view, key, params| {
                Ok(Datum::Entity(view.keep(listing::schedules(view, Whose::Session(key), params)?)))
            },
        )
        .reads(
            own("psi.agent-session/messages", Type::Reference("message")).params(listing::OF_WINDOWS)
                .many()
                .doc("Its transcript, oldest message first, where the built-in host keeps it. Parameters: first, last, after."),
            |view, key, params| super::message::of_session(view, key, params),
        )
        .reads(
            own("psi.agent-session/background-jobs", Type::Reference("job"))
                .many()
                .doc("Its schedules as psi's background jobs, by creation and id."),
            |view, key, _| super::job::of_session(view, key),
        )
        .reads(
            own("psi.agent-session/background-job-count", Type::Integer)
                .unit("jobs")
                .doc("How many background jobs it has."),
            |view, key, _| read(view, key, |record| integer(record.schedule_keys().count() as u64)),
        )
}

fn read<'a>(
    view: Seen<'a, Scheduler>,
    key: Key,
    attribute: impl FnOnce(&'a SessionRecord) -> Datum<'a>,
) -> Read<'a> {
    Ok(view.session(key).map_or(Datum::Nil, attribute))
}
