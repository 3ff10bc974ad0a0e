//! The entities `memory` and `task-note`: what a session remembers. The number of a memory is that of its session.

use super::{Read, attributes, halves, instant, integer, joined, maybe, own, text};
use crate::domain::{KnownFact, Memory, Moment, SessionId, TaskNote, TaskStatus};
use crate::edn::{Map, Value};
use crate::engine::{Key, SessionRecord, recall_block};
use crate::graph::params::field;
use crate::graph::psi_terms;
use crate::graph::registry::{Datum, Entity, Record, RowKey, Type, ViewOf};
use crate::graph::view::Scheduler;

/// The place of a task: its session, and its index there.
#[derive(Clone, Copy)]
pub(super) struct TaskPlace {
    session: Key,
    at: u32,
}

impl RowKey for TaskPlace {
    fn number(self) -> u64 {
        joined(self.session.number(), self.at)
    }

    fn numbered(number: u64) -> TaskPlace {
        let (session, at) = halves(number);
        TaskPlace { session: Key::numbered(session), at }
    }
}

/// Declares what a session remembers.
pub(super) fn of_session(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity;
        /// What it remembers: facts, a goal and tasks.
        own "psi.agent-session/memory": Type::Reference("memory") =>
            |_, key, _| Ok(Datum::Entity(key.number().into()));
        /// What its model is shown of that below each delivery that begins a turn. Nil if nothing is remembered.
        own "psi.agent-session/memory-block": Type::String, nullable => |view, key, _| {
            let block = view.session(key).and_then(|record| recall_block(&record.memory()));
            Ok(maybe(block, Datum::shown))
        };
        /// In the answer of a change of its memory: the id of the fact or the task.
        own "psi.agent-session/noted-id": Type::String;
    }
}

pub(super) fn memory() -> Entity<Scheduler, Key> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<Key> =
        |view, key| view.session_key(&SessionId::new(text(key)?).ok()?);
    let entity = Entity::<Scheduler, Key>::new("memory", "reveille.memory/session-id", find)
        .doc("What a session remembers: facts, one goal, and tasks.")
        .whole(WHOLE);
    attributes! { entity, by read;
        /// The id of the session that remembers.
        own "reveille.memory/session-id": Type::String => |_, record| Datum::Text(record.id().as_str());
        /// What the session is about. Nil until a goal was set.
        own "reveille.memory/goal": Type::String, nullable =>
            |memory, _| maybe(memory.goal.as_ref(), |goal| Datum::shown(&goal.content));
        /// The facts, newest first.
        own "reveille.memory/facts": Type::Record(&FACT), many =>
            // Numbered before the order is reversed, because the id of a fact is its place from the oldest on.
            |memory, _| memory.facts.iter().enumerate().rev().map(fact).collect::<Vec<Value>>().into();
        /// The number of facts.
        own "reveille.memory/fact-count": Type::Integer, unit("facts") =>
            |memory, _| integer(memory.facts.len() as u64);
        /// The tasks, oldest first.
        own "reveille.memory/tasks": Type::Reference("task-note"), many => |view, key, _| {
            let count = view.session(key).map_or(0, |record| record.memory().tasks.len());
            let places = (0..u32::try_from(count).unwrap_or(u32::MAX)).map(|at| TaskPlace { session: key, at });
            Ok(Datum::Entities(places.map(RowKey::number).collect()))
        };
        /// The number of tasks.
        own "reveille.memory/task-count": Type::Integer, unit("tasks") =>
            |memory, _| integer(memory.tasks.len() as u64);
        /// The number of tasks that are done.
        own "reveille.memory/done-count": Type::Integer, unit("tasks") => |memory, _| {
            integer(memory.tasks.iter().filter(|task| task.status == TaskStatus::Done).count() as u64)
        };
    }
}

pub(super) fn task_note() -> Entity<Scheduler, TaskPlace> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<TaskPlace> = |view, key| {
        // Split at the last #, because the id of a session may contain one.
        let (session, id) = text(key)?.rsplit_once('#')?;
        let number: u32 = id.strip_prefix('t')?.parse().ok()?;
        let place = TaskPlace {
            session: view.session_key(&SessionId::new(session).ok()?)?,
            at: number.checked_sub(1)?,
        };
        look_up(view, place).map(|_| place)
    };
    let entity = Entity::<Scheduler, TaskPlace>::new("task-note", "reveille.task-note/id", find)
        .doc("A task that a session has noted down. Nothing runs because of it.")
        .whole(TASK_WHOLE);
    attributes! { entity, by read_task;
        /// The session's id, a # and the id of the task in the session.
        own "reveille.task-note/id": Type::String => |view, place, _| {
            let number = u64::from(place.at) + 1;
            let id = |record: &SessionRecord| Datum::shown(format_args!("{}#t{number}", record.id()));
            Ok(maybe(view.session(place.session), id))
        };
        /// What is to be done.
        own "reveille.task-note/subject": Type::String => |task| Datum::shown(&task.subject);
        /// More about it. Nil if not given.
        own "reveille.task-note/description": Type::String, nullable =>
            |task| maybe(task.description.as_deref(), Datum::shown);
        /// How far it is.
        own "reveille.task-note/status": Type::Enum(TaskStatus::NAMES) => |task| Datum::Name(task.status.name());
        /// When it was noted down.
        own "reveille.task-note/created-at": Type::Instant => |task| instant(task.created_at);
        /// When its status last changed. Nil if it never did.
        own "reveille.task-note/changed-at": Type::Instant, nullable => |task| maybe(task.changed_at, instant);
    }
}

/// The attributes of a memory that is asked for as a whole.
const WHOLE: &[&str] = &[
    "reveille.memory/session-id",
    "reveille.memory/goal",
    "reveille.memory/facts",
    "reveille.memory/fact-count",
    "reveille.memory/task-count",
    "reveille.memory/done-count",
];

/// The attributes of a task that is asked for as a whole.
const TASK_WHOLE: &[&str] = &[
    "reveille.task-note/id",
    "reveille.task-note/subject",
    "reveille.task-note/description",
    "reveille.task-note/status",
    "reveille.task-note/created-at",
    "reveille.task-note/changed-at",
];

/// The fields of [`fact`].
const FACT: Record = Record {
    name: "known-fact",
    doc: "A fact that a session remembers.",
    params: &[
        field::<Box<str>>("id", "The id of the fact in its session: f and its number, from 1."),
        field::<Box<str>>("content", "The fact."),
        field::<Moment>("at", "When it was remembered."),
    ],
};

fn fact((at, fact): (usize, &KnownFact)) -> Value {
    Map::new()
        .with("id", format!("f{}", at + 1))
        .with("content", &*fact.content)
        .with("at", psi_terms::instant(fact.at))
        .into()
}

/// Reads an attribute of a memory; nil if the session does not exist for the caller.
fn read<'a>(
    view: ViewOf<'a, Scheduler>,
    key: Key,
    attribute: impl FnOnce(&Memory, &'a SessionRecord) -> Datum<'a>,
) -> Read<'a> {
    Ok(view.session(key).map_or(Datum::Nil, |record| attribute(&record.memory(), record)))
}

fn read_task<'a>(
    view: ViewOf<'a, Scheduler>,
    place: TaskPlace,
    attribute: impl FnOnce(&TaskNote) -> Datum<'a>,
) -> Read<'a> {
    Ok(look_up(view, place).map_or(Datum::Nil, |task| attribute(&task)))
}

fn look_up(view: ViewOf<'_, Scheduler>, place: TaskPlace) -> Option<TaskNote> {
    let record = view.session(place.session)?;
    record.memory().tasks.get(usize::try_from(place.at).ok()?).cloned()
}
