//! The entity `job`: schedules as psi's background jobs, with the attribute names of psi's job list.
//!
//! Source: psi §6, background-job projection; a schedule is a job with the id `schedule/<schedule-id>`.

use super::{Read, attributes, entities, instant, of_schedule, own, text};
use crate::domain::{PayloadKind, ScheduleId, Status};
use crate::edn::Value;
use crate::engine::{Key, ScheduleRecord};
use crate::graph::registry::{Datum, Entity, Type, ViewOf};
use crate::graph::view::Scheduler;

const PREFIX: &str = "schedule/";
const KINDS: &[&str] = &["scheduled-prompt", "scheduled-session"];
pub(super) const STATUSES: &[&str] = &["running", "completed", "cancelled", "failed"];

pub(super) fn job() -> Entity<Scheduler, Key> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<Key> = |view, key| {
        // The id of the schedule alone is not an id of a job, as in psi.
        let id = ScheduleId::new(text(key)?.strip_prefix(PREFIX)?).ok()?;
        view.state.schedule_key(&id).filter(|key| view.schedule(*key).is_some())
    };
    let entity = Entity::<Scheduler, Key>::new("job", "psi.background-job/id", find)
        .doc("A schedule, as psi lists its background jobs.")
        .whole(WHOLE);
    attributes! { entity, by of_schedule;
        /// The job's id: schedule/ followed by the schedule's id.
        own "psi.background-job/id": Type::String => |record| {
            Datum::shown(format_args!("{PREFIX}{}", record.schedule().id))
        };
        /// The id of the session that owns the schedule.
        own "psi.background-job/thread-id": Type::String =>
            |record| Datum::Text(record.schedule().owner.as_str());
        /// The schedule's label, or scheduler if it has none.
        own "psi.background-job/tool-name": Type::String => |record| {
            Datum::Text(record.schedule().label.as_deref().unwrap_or("scheduler"))
        };
        /// Whether the schedule delivers a prompt or opens a session.
        own "psi.background-job/job-kind": Type::Enum(KINDS) => |record| {
            match record.schedule().payload.kind() {
                // psi has no notices and no calls. Like a prompt, they open no session.
                PayloadKind::Message | PayloadKind::Notice | PayloadKind::Call => Datum::Name(KINDS[0]),
                PayloadKind::Session => Datum::Name(KINDS[1]),
            }
        };
        /// The status of the job. A message that is left in an inbox keeps its job running until somebody takes it.
        own "psi.background-job/status": Type::Enum(STATUSES) =>
            |record| Datum::Name(status(record.status()));
        /// When the schedule was created.
        own "psi.background-job/started-at": Type::Instant => |record| instant(record.schedule().created_at);
        /// Whether the job has ended.
        own "psi.background-job/is-terminal": Type::Boolean =>
            |record| Datum::Bool(has_ended(record.status()));
        /// Whether the job has not ended.
        own "psi.background-job/is-non-terminal": Type::Boolean =>
            |record| Datum::Bool(!has_ended(record.status()));
    }
}

/// The attributes of a job that is asked for as a whole.
const WHOLE: &[&str] = &[
    "psi.background-job/id",
    "psi.background-job/thread-id",
    "psi.background-job/tool-name",
    "psi.background-job/job-kind",
    "psi.background-job/status",
    "psi.background-job/started-at",
    "psi.background-job/is-terminal",
    "psi.background-job/is-non-terminal",
];

/// Lists the jobs of a session, by creation and id.
pub(super) fn of_session<'a>(view: ViewOf<'a, Scheduler>, session: Key) -> Read<'a> {
    let owner = view.session(session).into_iter();
    let keys = owner.flat_map(crate::engine::SessionRecord::schedule_keys);
    let mut jobs: Vec<(&ScheduleRecord, Key)> =
        keys.filter_map(|key| Some((view.schedule(key)?, key))).collect();
    // psi's order of jobs: by start, then by id.
    let order = |record: &ScheduleRecord| (record.schedule().created_at, record.schedule().id.clone());
    jobs.sort_by_cached_key(|(record, _)| order(record));
    Ok(entities(jobs.into_iter().map(|(_, key)| key)))
}

/// The statuses that a job can have.
pub(super) fn statuses() -> Value {
    STATUSES.iter().map(|status| Value::keyword(status)).collect::<Vec<Value>>().into()
}

fn has_ended(of: Status) -> bool {
    status(of) != STATUSES[0]
}

fn status(status: Status) -> &'static str {
    match status {
        // psi's jobs have four statuses. A schedule whose only slot was skipped had no run, so it counts as cancelled.
        Status::Pending | Status::Paused | Status::Queued | Status::InFlight => STATUSES[0],
        // The schedule has ended, but nobody has its message yet.
        Status::Left => STATUSES[0],
        Status::Delivered | Status::Finished => STATUSES[1],
        Status::Cancelled | Status::Skipped => STATUSES[2],
        Status::Failed => STATUSES[3],
    }
}
