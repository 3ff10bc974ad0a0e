//! The words by which a session's model is told what a call came to.
//!
//! Invariant: each line that a stranger has a part in begins with a word of ours, and a result stands on one line as JSON, so
//! that nothing in it can pose as a line of ours. Source of the lines: SEED-001.

use std::fmt::Write;

use super::json_line;
use crate::domain::{CallPurpose, Outcome, ScheduleId, Span, ToolName};
use crate::limits;

/// What a bulletin is about.
#[derive(Clone, Debug)]
pub(super) struct Bulletin<'a> {
    /// What the call was made for.
    pub(super) purpose: CallPurpose,
    /// The schedule.
    pub(super) schedule: &'a ScheduleId,
    /// Its display name.
    pub(super) label: Option<&'a str>,
    /// The tool.
    pub(super) tool: &'a ToolName,
    /// The number of the call, from 1.
    pub(super) number: u64,
    /// How the call ended.
    pub(super) end: BulletinEnd,
    /// The time from the claim of its run to its end.
    pub(super) elapsed: Span,
    /// The line that says what the call came to ([`result_line`]).
    pub(super) line: &'a str,
    /// How many earlier updates this one stands for.
    pub(super) folded: u64,
    /// A channel that was to be told, and is not there.
    pub(super) instead_of: Option<&'a str>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BulletinEnd {
    /// The tool did what was asked.
    Completed,
    /// It did not.
    Failed,
    /// Somebody cancelled the call.
    Cancelled,
}

/// Returns the words of a bulletin.
pub(super) fn text(bulletin: &Bulletin<'_>) -> String {
    let mut text = head(bulletin);
    let mut line = |words: &dyn std::fmt::Display| {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{words}");
    };
    if !bulletin.line.is_empty() {
        line(&bulletin.line);
    }
    match bulletin.folded {
        0 => {}
        1 => line(&"1 earlier update is folded into this one."),
        folded => line(&format_args!("{folded} earlier updates are folded into this one.")),
    }
    if let Some(channel) = bulletin.instead_of {
        line(&format_args!("The channel {} is not open; it was to be told.", json_line::quoted(channel)));
    }
    text
}

fn head(bulletin: &Bulletin<'_>) -> String {
    let Bulletin { schedule, tool, .. } = bulletin;
    match bulletin.purpose {
        CallPurpose::Job => {
            let name = json_line::quoted(bulletin.label.unwrap_or_default());
            let status = if bulletin.end == BulletinEnd::Completed { "ok" } else { "error" };
            format!("[SCHEDULED JOB] job_id={schedule} name={name} run={} status={status}", bulletin.number)
        }
        CallPurpose::Watch => {
            let label = json_line::quoted(bulletin.label.unwrap_or_default());
            format!("[WATCHER UPDATE] watcher_id={schedule}, label={label}, tool={tool}")
        }
        CallPurpose::Task | CallPurpose::Parallel => {
            let end = match bulletin.end {
                BulletinEnd::Completed => "COMPLETED",
                BulletinEnd::Failed => "FAILED",
                BulletinEnd::Cancelled => "CANCELLED",
            };
            let tenths = bulletin.elapsed.millis() / 100;
            let elapsed = format!("{}.{}", tenths / 10, tenths % 10);
            format!("[BACKGROUND TASK {end}] task_id={schedule} tool={tool} elapsed={elapsed}s")
        }
    }
}

/// Returns the line that says what a call came to. It reads the whole result, so it is made outside the engine's lock.
pub(super) fn result_line(outcome: &Outcome) -> String {
    if let Some(error) = &outcome.error {
        return error_line(error);
    }
    let mut text = String::new();
    match &outcome.value {
        Some(value) => json_line::write(value, &mut text),
        None => text.push_str("null"),
    }
    let most = usize::try_from(limits::BULLETIN_CHARS.value).unwrap_or(usize::MAX);
    let count = text.chars().count();
    if count <= most && !outcome.cut {
        return format!("Result: {text}");
    }
    let shown: String = text.chars().take(most).collect();
    format!("Result (truncated): {shown}... ({} chars)", outcome.bytes.max(count as u64))
}

/// Returns the line of an error. It is one line, whatever the error says.
pub(super) fn error_line(error: &str) -> String {
    let most = usize::try_from(limits::BULLETIN_CHARS.value).unwrap_or(usize::MAX);
    let shown = |character: char| if character.is_control() { ' ' } else { character };
    format!("Error: {}", error.chars().take(most).map(shown).collect::<String>())
}
