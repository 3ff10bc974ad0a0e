//! What a model reads of a task that ended, a check of a watch, a scheduled call, a reminder.
//!
//! The heads and their fields are SEED-001's, to the letter; the lines below a result are ours. Invariant: whatever a tool
//! answered stands on one line behind a word of ours, as JSON, so that no result can pose as a head.

use std::fmt::Write as _;

use super::json_text::{beginning, flat, json_line, quoted};
use crate::domain::{
    Collected, Entry, Glimpse, Lasted, NotifyWhen, Outcome, Show, Span, TaskEnd, ToolName, Why,
};
use crate::edn::Value;
use crate::limits;

/// What a model is told about.
#[derive(Clone, Copy, Debug)]
pub enum Headline<'a> {
    /// A task that ended.
    Task {
        /// Its id.
        id: &'a str,
        /// The tool that was called.
        tool: &'a ToolName,
        /// How it ended.
        end: TaskEnd,
        /// From its start to its end.
        elapsed: Span,
    },
    /// A check of a watch.
    Watch {
        /// The watch's id.
        id: &'a str,
        /// What it is for; empty if nobody said so.
        label: &'a str,
        /// The tool that is called.
        tool: &'a ToolName,
        /// The number of the check.
        check: u64,
        /// The interval of the watch.
        interval: Span,
        /// How many checks have been told, this one included.
        told: u64,
        /// The strategy.
        when: NotifyWhen,
    },
    /// A scheduled call.
    Job {
        /// The job's id.
        id: &'a str,
        /// Its name.
        name: &'a str,
        /// The number of the run.
        run: u64,
        /// How it ended.
        end: TaskEnd,
    },
}

/// What is told of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Details<'a> {
    /// The lines that say what the call came to ([`result_line`]); empty if nobody knows.
    pub lines: &'a str,
    /// The checks of a summary; `None` if it is none.
    pub batch: Option<&'a Collected>,
    /// How the result differs from what was shown last.
    pub change: Option<&'a str>,
    /// What of the two is shown; `None` for both if the difference is short.
    pub show: Option<Show>,
    /// Why it is told.
    pub why: Option<Why>,
    /// How many earlier ones this one stands for as well.
    pub folded: u64,
    /// How much later than it was due, if that is worth saying.
    pub late: Option<Span>,
    /// A sentence of ours that the model should know.
    pub warning: Option<&'a str>,
    /// The channel that was to be told, and is not open.
    pub instead_of: Option<&'a str>,
}

/// The text of one bulletin, without a line break at the end.
pub fn bulletin_text(headline: &Headline<'_>, details: &Details<'_>) -> String {
    let mut text = head(headline);
    let mut line = |line: &str| {
        text.push('\n');
        text.push_str(line);
    };
    let shown = shown(details);
    // Of a summary, its last check alone would say nothing.
    if let Some(batch) = details.batch {
        summary(batch).iter().for_each(|words| line(words));
    } else if shown != Show::Diff && !details.lines.is_empty() {
        line(details.lines);
        // Only a result that is cut here has more to fetch.
        if CUT.iter().any(|label| details.lines.lines().any(|words| words.starts_with(label))) {
            where_whole(headline).iter().for_each(|words| line(words));
        }
    }
    if let Some(change) = details.change.filter(|_| shown != Show::Result) {
        line(&format!("Changed: {}", flat(change)));
    }
    if let Some(why) = details.why {
        reasons(why, headline).iter().for_each(|words| line(words));
    }
    match details.folded {
        0 => {}
        1 => line("1 earlier update is folded into this one."),
        several => line(&format!("{several} earlier updates are folded into this one.")),
    }
    if let Some(late) = details.late {
        line(&format!("Late by {}.", length(late)));
    }
    if let Some(warning) = details.warning {
        line(warning);
    }
    if let Some(channel) = details.instead_of {
        line(&format!("The channel {} is not open; it was to be told.", quoted(channel)));
    }
    text
}

/// The text of a reminder that a session has set for itself, and that somebody else may have edited since. Source: SEED-001; the
/// sentences are ours.
pub fn reminder_text(editor: Option<&str>, message: &str) -> String {
    let whose = match editor {
        None => "You set this reminder yourself".to_owned(),
        Some(editor) => format!("You set this reminder, and another has edited it since ({editor})"),
    };
    format!("[REMINDER from cron] {whose}; now is the time to act on it.\nMessage: {message}")
}

fn head(headline: &Headline<'_>) -> String {
    match *headline {
        Headline::Task { id, tool, end, elapsed } => {
            let end = match end {
                TaskEnd::Completed => "COMPLETED",
                TaskEnd::Failed => "FAILED",
                TaskEnd::Cancelled => "CANCELLED",
            };
            let tenths = elapsed.millis() / 100;
            let (seconds, tenth) = (tenths / 10, tenths % 10);
            format!("[BACKGROUND TASK {end}] task_id={id} tool={tool} elapsed={seconds}.{tenth}s")
        }
        Headline::Watch { id, label, tool, check, interval, told, when } => {
            let label = if label.is_empty() { format!("Watch {tool}") } else { label.to_owned() };
            // SEED-001 spells its strategies with underscores.
            let strategy = when.name().replace('-', "_");
            format!(
                "[WATCHER UPDATE] watcher_id={id}, label={}, tool={tool}\n\
                 Check #{check} (interval: {}s, {told} notification(s) so far, strategy: {strategy})",
                quoted(&label),
                seconds(interval)
            )
        }
        Headline::Job { id, name, run, end } => {
            let status = if end == TaskEnd::Completed { "ok" } else { "error" };
            format!("[SCHEDULED JOB] job_id={id} name={} run={run} status={status}", quoted(name))
        }
    }
}

/// What of result and difference is shown.
fn shown(details: &Details<'_>) -> Show {
    let Some(change) = details.change.filter(|_| details.batch.is_none()) else { return Show::Result };
    let is_short = change.chars().count() as u64 <= limits::DIFFERENCE_CHARS.value;
    details.show.unwrap_or(if is_short { Show::Both } else { Show::Result })
}

/// The lines that say what a call came to. They read the whole result, so they are made outside the engine's lock.
pub fn result_line(outcome: &Outcome) -> String {
    if outcome.ok {
        return labelled("Result", outcome.value.as_deref().unwrap_or(&Value::Nil), outcome);
    }
    let error = error_line(outcome.error.as_deref().unwrap_or("unknown"));
    match outcome.value.as_deref() {
        Some(output) => format!("{error}\n{}", labelled("Output", output, outcome)),
        None => error,
    }
}

/// The line of an error. It is one line, whatever the error says.
pub(super) fn error_line(error: &str) -> String {
    let error = flat(error);
    match beginning(&error, limits::BULLETIN_CHARS.value) {
        Some((cut, chars)) => format!("Error: {cut}... ({chars} chars)"),
        None => format!("Error: {error}"),
    }
}

/// A value on one line behind its label, cut if it is long.
fn labelled(label: &str, value: &Value, of: &Outcome) -> String {
    let line = json_line(value);
    let chars = line.chars().count();
    let shown = beginning(&line, limits::BULLETIN_CHARS.value).map(|(beginning, _)| beginning);
    match shown.or_else(|| of.cut.then_some(&*line)) {
        // The size that the executor gave counts if the value was cut before it came here.
        Some(shown) => format!("{label} (truncated): {shown}... ({} chars)", of.bytes.max(chars as u64)),
        None => format!("{label}: {line}"),
    }
}

/// How a session gets the whole of a result that is cut here.
fn where_whole(headline: &Headline<'_>) -> Option<String> {
    match headline {
        Headline::Task { id, .. } => Some(format!("All of it: background_run(task_id={})", quoted(id))),
        Headline::Watch { id, .. } => Some(format!("All of it: watch_status(watcher_id={})", quoted(id))),
        // Its tools show no job; operators see the run.
        Headline::Job { .. } => None,
    }
}

fn summary(batch: &Collected) -> Vec<String> {
    let unlisted = batch.checks.saturating_sub(batch.newest.len() as u64);
    let mut list = String::new();
    for Entry { check, glimpse } in &batch.newest {
        let (key, value) = match &**glimpse {
            Glimpse::Result(value) => ("result", json_line(value)),
            Glimpse::Preview(preview) => ("result_preview", quoted(preview)),
            Glimpse::Error(error) => ("error", quoted(error)),
        };
        let comma = if list.is_empty() { "" } else { ", " };
        // Writing to a string does not fail.
        write!(list, "{comma}{{\"check\": {check}, \"{key}\": {value}}}").unwrap_or_default();
    }
    let mut lines = vec![format!("Summary ({} checks): [{list}]", batch.checks)];
    if unlisted > 0 {
        lines.push(format!("The first {unlisted} of them are not listed."));
    }
    lines
}

fn reasons(why: Why, headline: &Headline<'_>) -> Vec<String> {
    let lasting = |lasted: Option<Lasted>| lasted.map(held);
    let lines = match why {
        Why::Every | Why::Batch => [None, None],
        Why::Changed(lasted) | Why::Failed(lasted) | Why::Holds(lasted) => [lasting(lasted), None],
        Why::Ceased(lasted) => [Some("The condition no longer holds.".to_owned()), lasting(lasted)],
        Why::Recovered { errors: 1, lasted } => {
            [Some("Recovered after 1 error.".to_owned()), lasting(lasted)]
        }
        Why::Recovered { errors, lasted } => {
            [Some(format!("Recovered after {errors} errors.")), lasting(lasted)]
        }
        Why::Silent(span) => {
            let is_by_change = matches!(headline, Headline::Watch { when: NotifyWhen::OnChange, .. });
            let what = if is_by_change { "Nothing has changed" } else { "No check has worked" };
            [Some(format!("{what} for {}.", length(span))), None]
        }
        Why::Heard => [Some("Checks work again.".to_owned()), None],
    };
    lines.into_iter().flatten().collect()
}

fn held(lasted: Lasted) -> String {
    let Lasted { checks, span, unseen } = lasted;
    let unseen =
        if unseen == Span::ZERO { String::new() } else { format!(", of which {} unseen", length(unseen)) };
    let checks = if checks == 1 { "1 check".to_owned() } else { format!("{checks} checks") };
    format!("Held for {} ({checks}{unseen}).", length(span))
}

/// A length of time in its two largest units: `5m`, `1h 30m`, `40s`.
fn length(span: Span) -> String {
    let seconds = span.millis() / 1_000;
    let units =
        [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let Some(first) = units.iter().position(|(count, _)| *count > 0) else { return "0s".to_owned() };
    let shown = units[first..].iter().take(2).filter(|(count, _)| *count > 0);
    shown.map(|(count, unit)| format!("{count}{unit}")).collect::<Vec<_>>().join(" ")
}

/// Seconds, without a fraction if they are whole.
fn seconds(span: Span) -> String {
    let millis = span.millis();
    let text = format!("{}.{:03}", millis / 1_000, millis % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// How the line of a result begins that is cut.
const CUT: [&str; 2] = ["Result (truncated)", "Output (truncated)"];
