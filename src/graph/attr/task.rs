//! The entity `task`: a call that was begun in the background. Its number is that of its schedule.

use super::{Read, attributes, instant, integer, maybe, own, text};
use crate::domain::{Outcome, ScheduleId, TaskState};
use crate::edn::{Map, Value};
use crate::engine::{Key, ScheduleRecord, Task};
use crate::graph::listing::{self, Whose};
use crate::graph::registry::{Datum, Entity, ResolverError, RowKey, Type, ViewOf};
use crate::graph::view::Scheduler;

/// Lists tasks: their numbers.
///
/// # Errors
/// Returns a parameter that is invalid.
pub(super) fn list(
    view: ViewOf<'_, Scheduler>,
    whose: Whose,
    params: &Map,
) -> Result<Vec<u64>, ResolverError> {
    let is_task = |record: &ScheduleRecord| Task::of(view.state, record).is_some();
    Ok(listing::schedules_that(view, whose, params, is_task)?.numbers)
}

pub(super) fn task() -> Entity<Scheduler, Key> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<Key> = |view, key| {
        let key = view.state.schedule_key(&ScheduleId::new(text(key)?).ok()?)?;
        Task::of(view.state, view.schedule(key)?).map(|_| key)
    };
    let entity = Entity::<Scheduler, Key>::new("task", "reveille.task/id", find)
        .doc("A task: a call of a tool that was begun in the background, and that tells its session when it ends.")
        .whole(WHOLE);
    attributes! { entity, by read;
        /// The id of the task, which is that of its schedule.
        own "reveille.task/id": Type::String => |task| Datum::Shown(&task.record.schedule().id);
        /// Its schedule, with its run.
        own "reveille.task/schedule": Type::Reference("schedule") =>
            |_, key, _| Ok(Datum::Entity(RowKey::number(key)));
        /// The id of the session that is told.
        own "reveille.task/session-id": Type::String =>
            |task| Datum::Text(task.record.schedule().owner.as_str());
        /// The tool that was called.
        own "reveille.task/tool": Type::String => |task| Datum::Text(task.call.tool.as_str());
        /// The arguments, by name.
        own "reveille.task/args": Type::Map => |task| (*task.call.args).clone().into();
        /// How it stands.
        own "reveille.task/state": Type::Enum(TaskState::NAMES) => |task| Datum::Name(task.state().name());
        /// When it was begun.
        own "reveille.task/started-at": Type::Instant => |task| instant(task.record.schedule().created_at);
        /// When it ended. Nil until then.
        own "reveille.task/ended-at": Type::Instant, nullable =>
            |task| maybe(task.run.and_then(|run| run.ended_at), instant);
        /// How long the call took. Nil until it has ended.
        own "reveille.task/took-ms": Type::Integer, nullable, unit("ms") => |task| {
            let outcome = task.run.and_then(|run| run.outcome.as_deref());
            maybe(outcome, |outcome| integer(outcome.took.millis()))
        };
        /// Why it failed. Nil if it did not.
        own "reveille.task/error": Type::String, nullable => |task| maybe(task.error(), Datum::Text);
        /// What the tool answered, if that was kept. Nil otherwise.
        own "reveille.task/value": Type::Any, nullable => |task| {
            let outcome = task.run.and_then(|run| run.outcome.as_deref());
            maybe(outcome.and_then(|outcome| outcome.value.as_deref()), |value| value.clone().into())
        };
        /// Whether what the tool answered was dropped to make room for what newer tasks came to.
        own "reveille.task/dropped?": Type::Boolean => |task| {
            let outcome = task.run.and_then(|run| run.outcome.as_deref());
            Datum::Bool(outcome.is_some_and(Outcome::is_dropped))
        };
    }
}

/// The attributes of a task that is asked for as a whole.
const WHOLE: &[&str] = &[
    "reveille.task/id",
    "reveille.task/session-id",
    "reveille.task/tool",
    "reveille.task/state",
    "reveille.task/started-at",
    "reveille.task/ended-at",
    "reveille.task/error",
];

/// Reads an attribute of a task; nil if it does not exist for the caller.
fn read<'a>(
    view: ViewOf<'a, Scheduler>,
    key: Key,
    attribute: impl FnOnce(Task<'a>) -> Datum<'a>,
) -> Read<'a> {
    let task = view.schedule(key).and_then(|record| Task::of(view.state, record));
    Ok(task.map_or(Datum::Nil, attribute))
}
