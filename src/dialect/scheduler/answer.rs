//! Prints the answers to calls that succeeded: the seed's fields.
//!
//! Errors are in `error.rs`.

use crate::dialect::{Answer, brief};
use crate::domain::{ScheduleId, SessionId, ToolName, Trigger, Zone};
use crate::edn::{Map, Value};
use crate::engine::ScheduleRecord;

/// The answer to a `schedule`. `zone` is the one whose clock counts.
pub fn scheduled(record: &ScheduleRecord, zone: &Zone, warnings: Vec<String>) -> Answer {
    warned(job(record, zone), warnings)
}

/// The warning that nobody calls a tool before an operator has approved the call.
pub fn needs_approval(tool: &ToolName) -> String {
    format!(
        "an operator must approve each call of {tool} before it is made; the session is told if nobody does in time"
    )
}

/// The answer to a `remind`. `zone` is the one whose clock counts.
pub fn reminded(record: &ScheduleRecord, zone: &Zone, session: &SessionId, warnings: Vec<String>) -> Answer {
    warned(job(record, zone).with("session_id", session.to_string()), warnings)
}

fn warned(answer: Map, warnings: Vec<String>) -> Answer {
    let warnings: Vec<Value> = warnings.into_iter().map(Value::from).collect();
    Answer::done(if warnings.is_empty() { answer } else { answer.with("warnings", warnings) })
}

/// The answer to a `cancel_schedule` of a job that has run so often.
pub fn cancelled(job: &ScheduleId, ran: u64) -> Answer {
    let ran = i64::try_from(ran).unwrap_or(i64::MAX);
    Answer::done(Map::new().with("job_id", job.to_string()).with("cancelled", true).with("ran_count", ran))
}

fn job(record: &ScheduleRecord, zone: &Zone) -> Map {
    let schedule = record.schedule();
    let cron = if let Trigger::Cron(cron, _) = &schedule.trigger { Some(cron) } else { None };
    let next = record.next_run().map(brief::instant);
    let answer = Map::new()
        .with("job_id", schedule.id.to_string())
        .with("schedule_type", if cron.is_some() { "cron" } else { "once" })
        .with("next_run", next.clone())
        .with("next_run_at", next)
        .with("label", schedule.label.as_deref().unwrap_or_default());
    let answer = match cron {
        Some(cron) => answer.with("cron_expr", cron.to_string()),
        None => answer,
    };
    // Also of a time that reads no clock: here it is not the session's zone that counts if none is named.
    answer.with("zone", zone.to_string())
}
