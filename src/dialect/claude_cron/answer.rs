//! Prints the answers to calls that succeeded: Claude Code's fields, and a sentence about what differs here.
//!
//! Errors are in `error.rs`, the shape of a job in `view.rs`.

use super::call::WakeupDraft;
use super::monitor::MonitorDraft;
use super::view::{Job, millis};
use crate::dialect::watch::name_of;
use crate::dialect::{Answer, PageRequest, brief};
use crate::domain::{NotifyWhen, Span};
use crate::edn::{Map, Value};
use crate::limits;

/// The answer to a `CronCreate`. `others` are the session's other jobs; `wanted` is the durability that was asked for.
pub fn created(job: &Job, others: &[Job], wanted: Option<bool>) -> Answer {
    let next = job.next.map(|next| format!("It runs next at {}", next.brief()));
    let until = job.expires.filter(|_| job.recurring);
    let until = until.map(|until| format!(", then on every match until {}", until.brief()));
    let next = next.unwrap_or_default() + &until.unwrap_or_default();
    let kept = match (job.durable, wanted) {
        (true, _) => ON_DISK,
        (false, Some(true)) => NO_STORE,
        (false, _) => IN_MEMORY,
    };
    let answer = Map::new()
        .with("id", job.id.to_string())
        .with("message", format!("{next}. {kept}"))
        .with("humanSchedule", job.human.as_str())
        .with("recurring", job.recurring)
        .with("durable", job.durable);
    let answer = answer.with_some("nextFireAt", job.next.map(millis));
    let answer = answer.with_some("zone", job.zone.as_ref().map(ToString::to_string));
    let answer =
        if job.recurring { answer.with("maxAgeMs", number(limits::CRON_JOB_MS.value)) } else { answer };
    let other = |job: &&Job| !job.recurring && !job.durable && job.cron.is_some();
    let others: Vec<Value> = others.iter().filter(other).take(OTHERS).map(one_shot).collect();
    Answer::done(if others.is_empty() { answer } else { answer.with("otherOneShots", others) })
}

fn one_shot(job: &Job) -> Value {
    Map::new()
        .with("id", job.id.to_string())
        .with("humanSchedule", job.human.as_str())
        .with("prompt", brief::text(&job.prompt))
        .into()
}

/// The answer to a `CronList`: one page.
pub fn listed(jobs: &[Job], page: &PageRequest) -> Answer {
    let id = |job: &Job| job.id.to_string();
    let put = page.put(Map::new(), "jobs", jobs, (id, |job: &Job| job.to_map().into()));
    put.map_or_else(|answer| answer, Answer::done)
}

/// The answer to a `CronDelete` of this job.
pub fn deleted(job: &Job) -> Answer {
    let answer = Map::new().with("id", job.id.to_string());
    Answer::done(match (job.is_monitor(), job.is_wakeup()) {
        (true, _) => answer.with("endedMonitor", true),
        (false, true) => answer.with("endedLoopWakeup", true),
        (false, false) => answer,
    })
}

/// The answer to a `Monitor` that started this one. A time-out of 0 is none, as in Claude Code's answer.
pub fn monitored(job: &Job, draft: &MonitorDraft, warnings: &[String]) -> Answer {
    let MonitorDraft { watch, lasts } = draft;
    let end = match job.expires {
        Some(end) => format!("It ends at {}, and its last check tells you so", end.brief()),
        None => "It runs until this conversation ends".to_owned(),
    };
    let told = told(watch.filter.when);
    let kept = if job.durable { WATCH_ON_DISK } else { "" };
    let message = format!("You are told {told}. {end}; CronDelete with this id ends it earlier. {kept}");
    let answer = Map::new()
        .with("taskId", job.id.to_string())
        .with("timeoutMs", number(lasts.map_or(0, Span::millis)))
        .with("persistent", lasts.is_none())
        .with("tool", watch.tool.as_str())
        .with("intervalMs", number(watch.interval.millis()))
        .with("notify_when", name_of(watch.filter.when))
        .with("durable", job.durable);
    let answer = answer.with_some("nextFireAt", job.next.map(millis));
    let answer = answer.with_some("expiresAt", job.expires.map(millis));
    let answer = answer.with("message", message.trim_end());
    let warnings: Vec<Value> = warnings.iter().map(|warning| Value::from(warning.as_str())).collect();
    Answer::done(if warnings.is_empty() { answer } else { answer.with("warnings", warnings) })
}

/// Which checks are told, in words.
const fn told(when: NotifyWhen) -> &'static str {
    match when {
        NotifyWhen::OnChange => "when the result changes (the first check is silent)",
        NotifyWhen::OnError => "when a call fails, and when it works again",
        NotifyWhen::OnThreshold => "at each check at which the expression holds",
        NotifyWhen::Summary => "of ten checks at a time",
        NotifyWhen::Always => "of each check",
    }
}

/// The answer to a `ScheduleWakeup` that made this job.
pub fn woken(job: &Job, draft: &WakeupDraft) -> Answer {
    let answer = Map::new().with("id", job.id.to_string());
    let answer = answer.with_some("scheduledFor", job.next.map(millis));
    let answer = answer
        .with("clampedDelaySeconds", number(draft.delay.millis() / 1_000))
        .with("wasClamped", draft.was_clamped)
        .with("durable", job.durable);
    Answer::done(
        answer.with("message", "End your turn. If somebody is to know how it stands, say so before."),
    )
}

/// The answer to a `ScheduleWakeup` that ended the loop.
pub fn stopped(count: usize) -> Answer {
    let message = match count {
        0 => "No wake-up was waiting. A recurring job goes on until CronDelete.",
        _ => "The loop has ended. A recurring job goes on until CronDelete.",
    };
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Answer::done(Map::new().with("stopped", true).with("cancelledWakeups", count).with("message", message))
}

fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Other jobs that the answer to a creation names.
const OTHERS: usize = 5;
const ON_DISK: &str = "It is on disk: it survives restarts, and what is missed meanwhile runs once, afterwards. `reveille \
                       explain ID` says why it has run, or has not.";
const IN_MEMORY: &str = "It is in memory: it survives this program, and is lost when the server stops.";
const WATCH_ON_DISK: &str = "It is on disk with what you were told last: a restart is no change. What comes while you are busy \
                             is told once. `reveille explain ID` says why a check was told, or was not.";
const NO_STORE: &str =
    "This server has no store: against durable: true it is in memory, and lost when the server stops.";
