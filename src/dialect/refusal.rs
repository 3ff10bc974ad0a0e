//! The data of an engine refusal, for EDN errors.

use crate::domain::{Refusal, RunId};
use crate::edn::{Map, Value};
use crate::limits;

/// The fields of a refusal; the id of a run gets the key `run_key`. Empty for refusals without fields.
pub(crate) fn refusal_data(refusal: &Refusal, run_key: &str) -> Map {
    let of_run = |run: &RunId| Map::new().with(run_key, run.to_string());
    match refusal {
        Refusal::UnknownSession { session }
        | Refusal::SessionExists { session }
        | Refusal::HostedElsewhere { session, .. } => Map::new().with("session-id", session.as_str()),
        Refusal::UnknownHost { host } => Map::new().with("host", host.to_string()),
        Refusal::UnknownSchedule { schedule }
        | Refusal::ScheduleLost { schedule, .. }
        | Refusal::ScheduleExists { schedule }
        | Refusal::NotCancellable { schedule, .. }
        | Refusal::KeyTaken { schedule } => Map::new().with("schedule-id", schedule.to_string()),
        Refusal::UnknownRun { run }
        | Refusal::NotInFlight { run }
        | Refusal::NotLeft { run }
        | Refusal::NotHeld { run }
        | Refusal::NotAsked { run }
        | Refusal::ApprovalConflict { run, .. } => of_run(run),
        // A dialect may have a cap of its own; psi's is not named.
        Refusal::SessionFull { max } if u64::from(*max) == limits::SESSION_SCHEDULES.value => {
            Map::new().with("cap", *max).with("limit", limits::SESSION_SCHEDULES.name)
        }
        Refusal::SessionFull { max } => Map::new().with("cap", *max),
        Refusal::LimitReached { limit } => {
            let max = i64::try_from(limit.value).unwrap_or(i64::MAX);
            Map::new().with("limit", limit.name).with("max", max)
        }
        Refusal::RevisionConflict { schedule, base, revision } => Map::new()
            .with("schedule-id", schedule.to_string())
            .with("base-revision", *base)
            .with("revision", *revision),
        Refusal::WrongStatus { schedule, status } => {
            Map::new().with("schedule-id", schedule.to_string()).with("status", Value::keyword(status.name()))
        }
        Refusal::Overlapping { run } => Map::new().with("run-id", run.to_string()),
        Refusal::NoSlot { reason } => Map::new().with("reason", Value::keyword(reason.name())),
        Refusal::StoreUnavailable { detail } => Map::new().with("detail", &**detail),
        Refusal::ChannelNotAllowed { channel } | Refusal::ChannelPaused { channel } => {
            Map::new().with("channel", &**channel)
        }
        Refusal::UnknownTask { task, .. } => Map::new().with("task-id", format!("t{task}")),
        Refusal::TooDeep { depth, max } => Map::new().with("depth", *depth).with("max", *max),
        Refusal::BeyondCalendar | Refusal::NoStore | Refusal::NothingSaid => Map::new(),
        Refusal::WokenTurn | Refusal::Stopping => Map::new(),
    }
}
