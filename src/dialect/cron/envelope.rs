//! The text with which a run enters a session.
//!
//! Does not live here: who delivers it. Invariant: everything above the first blank line is ours: a name cannot add a line
//! to it. Source: SEED-004 (a scheduled event is injected) and its code, for the names of the lines.

use std::fmt::Write as _;

use crate::domain::{Moment, Span};

/// One run, as its session is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The job's id.
    pub job_id: &'a str,
    /// The job's name.
    pub job_name: &'a str,
    /// The run's id.
    pub run_id: &'a str,
    /// The slot.
    pub scheduled_for: Moment,
    /// How late it is, if it missed its moment.
    pub late_by: Option<Span>,
    /// How many other slots passed without a run of their own, for all of which this run stands.
    pub missed_slots_folded: u64,
    /// What the job says.
    pub prompt: &'a str,
}

/// The text of the input.
pub fn envelope(event: &Event<'_>) -> String {
    let mut text = format!(
        "[Scheduled Task Event]\njob_id: {}\njob_name: {}\nrun_id: {}\nscheduled_for: {}\n",
        one_line(event.job_id),
        one_line(event.job_name),
        one_line(event.run_id),
        event.scheduled_for,
    );
    // Writing to a string cannot fail.
    if let Some(late_by) = event.late_by {
        let _ = writeln!(text, "late_by: {} ({} s)", humanised(late_by), late_by.millis() / 1_000);
    }
    if event.missed_slots_folded > 0 {
        let _ = writeln!(text, "missed_slots_folded: {}", event.missed_slots_folded);
    }
    let _ = write!(text, "\nTask:\n{}\n\nInstructions:\n{INSTRUCTIONS}", event.prompt.trim());
    text
}

/// Line breaks and other control characters become blanks.
fn one_line(text: &str) -> String {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars().map(|c| if is_break(c) { ' ' } else { c }).collect()
}

/// The two largest units: what is smaller does not matter to a reader. The seconds stand beside it.
fn humanised(span: Span) -> String {
    let seconds = span.millis() / 1_000;
    let units = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let mut parts = Vec::new();
    let mut rest = seconds;
    for (size, unit) in units {
        if rest >= size {
            parts.push(format!("{} {unit}", rest / size));
            rest %= size;
        }
    }
    parts.truncate(2);
    if parts.is_empty() { "less than 1 s".to_owned() } else { parts.join(" ") }
}

const INSTRUCTIONS: &str = "A schedule started this turn, nobody is waiting at the keyboard: carry out the task with the \
                            tools you have, and close with a short result that the user can read on its own.";
