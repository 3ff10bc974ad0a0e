//! psi's background jobs: the same schedules, in the words of psi's list of jobs.
//!
//! Source: psi §6, background-job projection; a schedule is a job with the id `schedule/<schedule-id>`.

use super::{Read, entities, instant, of_schedule, own, text};
use crate::domain::{Kind, ScheduleId, Status};
use crate::edn::Value;
use crate::engine::{Key, ScheduleRecord};
use crate::graph::registry::{Datum, Entity, Seen, Type};
use crate::graph::view::Scheduler;

const PREFIX: &str = "schedule/";
const KINDS: &[&str] = &["scheduled-prompt", "scheduled-session"];
const STATUSES: &[&str] = &["running", "completed", "cancelled", "failed"];

pub(super) fn job() -> Entity<Scheduler, Key> {
    let find: fn(Seen<'_, Scheduler>, &Value) -> Option<Key> = |view, key| {
        let id = ScheduleId::new(text(key)?.strip_prefix(PREFIX)?).ok()?;
        view.state.schedule_key(&id).filter(|key| view.schedule(*key).is_some())
    };
    Entity::<Scheduler, Key>::new("job", "psi.background-job/id", find)
        .doc("A schedule as a background job.")
        .whole(WHOLE)
        .reads(
            own("psi.background-job/id", Type::String).doc("schedule/ and the schedule's id."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    Datum::shown(format_args!("{PREFIX}{}", record.schedule().id))
                })
            },
        )
        .reads(
            own("psi.background-job/thread-id", Type::String).doc("The session that asked for it."),
            |view, key, _| of_schedule(view, key, |record| Datum::Text(record.schedule().owner.as_str())),
        )
        .reads(
            own("psi.background-job/tool-name", Type::String).doc("The schedule's label, or scheduler."),
            |view, key, _| {
                of_schedule(view, key, |record| {
                    Datum::Text(record.schedule().label.as_deref().unwrap_or("scheduler"))
                })
            },
        )
        .reads(
            own("psi.background-job/job-kind", Type::Enum(KINDS)).doc("What the schedule brings about."),
            |view, key, _| {
                of_schedule(view, key, |record| match record.schedule().payload.kind() {
                    Kind::Message | Kind::Notice => Datum::Name(KINDS[0]),
                    Kind::Session => Datum::Name(KINDS[1]),
                })
            },
        )
        .reads(
            own("psi.background-job/status", Type::Enum(STATUSES)).doc("Where it stands, as a job."),
            |view, key, _| of_schedule(view, key, |record| Datum::Name(status(record.status()))),
        )
        .reads(
            own("psi.background-job/started-at", Type::Instant).doc("When the schedule was created."),
            |view, key, _| of_schedule(view, key, |record| instant(record.schedule().created_at)),
        )
        .reads(
            own("psi.background-job/is-terminal", Type::Boolean)
                .doc("Whether nothing can happen to it any more."),
            |view, key, _| of_schedule(view, key, |record| Datum::Bool(record.status().is_terminal())),
        )
        .reads(
            own("psi.background-job/is-non-terminal", Type::Boolean).doc("The opposite."),
            |view, key, _| of_schedule(view, key, |record| Datum::Bool(!record.status().is_terminal())),
        )
}

/// What a job's map has when it is asked for as a whole.
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

/// The jobs of a session, by creation and id.
pub(super) fn of_session<'a>(view: Seen<'a, Scheduler>, session: Key) -> Read<'a> {
    let owner = view.session(session).into_iter();
    let keys = owner.flat_map(crate::engine::SessionRecord::schedule_keys);
    let mut jobs: Vec<(&ScheduleRecord, Key)> =
        keys.filter_map(|key| Some((view.schedule(key)?, key))).collect();
    let order = |record: &ScheduleRecord| (record.schedule().created_at, record.schedule().id.clone());
    jobs.sort_by_cached_key(|(record, _)| order(record));
    Ok(entities(jobs.into_iter().map(|(_, key)| key)))
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Pending | Status::Paused | Status::Queued | Status::InFlight => STATUSES[0],
        Status::Delivered | Status::Finished => STATUSES[1],
        Status::Cancelled | Status::Skipped => STATUSES[2],
        Status::Failed => STATUSES[3],
    }
}
