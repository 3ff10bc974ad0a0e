//! Prints the answers to calls that succeeded: the seed's fields.
//!
//! Errors are in `error.rs`.

use crate::dialect::{Answer, brief};
use crate::domain::{ScheduleId, SessionId, ToolName, Trigger};
use crate::edn::{Map, Value};
use crate::engine::ScheduleRecord;

/// The answer to a `schedule`.
pub fn scheduled(record: &ScheduleRecord, warnings: Vec<String>) -> Answer {
    let warnings: Vec<Value> = warnings.into_iter().map(Value::from).collect();
    let answer = job(record);
    Answer::done(if warnings.is_empty() { answer } else { answer.with("warnings", warnings) })
}

/// The warning that nobody calls a tool before an operator has approved the call.
pub fn needs_approval(tool: &ToolName) -> String {
    format!(
        "an operator must approve each call of {tool} before it is made; the session is told if nobody does in time"
    )
}

/// The answer to a `remind`.
pub fn reminded(record: &ScheduleRecord, session: &SessionId) -> Answer {
    Answer::done(job(record).with("session_id", session.to_string()))
}

/// The answer to a `cancel_schedule` of a job that has run so often.
pub fn cancelled(job: &ScheduleId, ran: u64) -> Answer {
    let ran = i64::try_from(ran).unwrap_or(i64::MAX);
    Answer::done(Map::new().with("job_id", job.to_string()).with("cancelled", true).with("ran_count", ran))
}

fn job(record: &ScheduleRecord) -> Map {
    let schedule = record.schedule();
    let cron = if let Trigger::Cron(cron, zone) = &schedule.trigger { Some((cron, zone)) } else { None };
    let next = record.next_run().map(brief::instant);
    let answer = Map::new()
        .with("job_id", schedule.id.to_string())
        .with("schedule_type", if cron.is_some() { "cron" } else { "once" })
        .with("next_run", next.clone())
        .with("next_run_at", next)
        .with("label", schedule.label.as_deref().unwrap_or_default());
    match cron {
        Some((cron, zone)) => answer.with("cron_expr", cron.to_string()).with("zone", zone.to_string()),
        None => answer,
    }
}
