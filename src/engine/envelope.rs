//! How the prompt of a run is put to the model.
//!
//! A plain prompt stands alone. One under a head says which task it is, which run of it, for which slot, and how late that
//! is. Source of the head's lines: SEED-004.

use std::fmt::Write;

use crate::domain::{Cause, Envelope, RunId, Schedule, Span};

/// The circumstances of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occasion<'a> {
    pub(super) run: &'a RunId,
    /// From the slot to the hand-over.
    pub(super) late: Span,
    /// How many earlier slots it stands for.
    pub(super) folded: u64,
    pub(super) cause: Cause,
}

/// The text that is delivered.
pub(super) fn put(schedule: &Schedule, occasion: &Occasion<'_>) -> Box<str> {
    match schedule.envelope() {
        Envelope::Plain => schedule.payload.text().into(),
        Envelope::TaskEvent => task_event(schedule, occasion).into(),
    }
}

fn task_event(schedule: &Schedule, occasion: &Occasion<'_>) -> String {
    let mut text = String::from("[Scheduled Task Event]\n");
    let mut line = |key: &str, value: &dyn std::fmt::Display| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{key}: {value}");
    };
    line("job_id", &schedule.id);
    line("job_name", &one_line(schedule.label.as_deref().unwrap_or_default()));
    line("run_id", occasion.run);
    line("scheduled_for", &occasion.run.slot);
    if occasion.cause == Cause::Missed || occasion.late.millis() >= WORTH_TELLING_MS {
        line("late_by", &format!("{} seconds", occasion.late.millis() / 1_000));
    }
    if occasion.folded > 0 {
        line("missed_slots_folded", &occasion.folded);
    }
    let _ = write!(text, "\nTask:\n{}\n\nInstructions:\n{INSTRUCTIONS}", schedule.payload.text().trim());
    text
}

/// A name must not look like a line of the head.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

const INSTRUCTIONS: &str = "Nobody typed this: the schedule above started it. Do the task now, \
and close with a short result that its owner can read without further context.";

/// Less is not worth a model's attention.
const WORTH_TELLING_MS: u64 = 60_000;
