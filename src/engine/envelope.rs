//! The text that is delivered for a run: the prompt alone, or the prompt below a header.
//!
//! A header names the task, the run and its slot, and says how late it is. Invariant: a label
//! cannot add a line to the header. Source of the header lines: SEED-004.

use std::fmt::Write;

use crate::domain::{Cause, Envelope, RunId, Schedule, Span};

/// The circumstances of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occasion<'a> {
    pub(super) run: &'a RunId,
    /// The time from the slot to the hand-over.
    pub(super) late: Span,
    /// How many earlier slots it stands for.
    pub(super) folded: u64,
    pub(super) cause: Cause,
}

/// Returns the text to deliver.
pub(super) fn put(schedule: &Schedule, occasion: &Occasion<'_>) -> Box<str> {
    match schedule.envelope() {
        Envelope::Plain => schedule.payload.text().into(),
        Envelope::TaskEvent => task_event(schedule, occasion).into(),
        Envelope::DelayedAction => delayed_action(schedule, occasion).into(),
    }
}

/// Formats a delayed action. The instruction is part of the header, and may have several lines;
/// only the note at the end is always the engine's.
fn delayed_action(schedule: &Schedule, occasion: &Occasion<'_>) -> String {
    let mut text = format!("[DELAYED ACTION]\nKind: RUN_LATER\nScheduled at: {}\n", occasion.run.slot);
    if let Some(summary) = &schedule.settings().description {
        let _ = writeln!(text, "Original request summary: {}", one_line(summary));
    }
    let _ = write!(text, "Instruction: {}\n\n{DELAYED_NOTE}", schedule.payload.text().trim());
    text
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
    // A run for a missed slot is marked as late, however short the delay.
    if occasion.cause == Cause::Missed || occasion.late.millis() >= WORTH_TELLING_MS {
        line("late_by", &format!("{} ({} s)", humanised(occasion.late), occasion.late.millis() / 1_000));
    }
    if occasion.folded > 0 {
        line("missed_slots_folded", &occasion.folded);
    }
    let _ = write!(text, "\nTask:\n{}\n\nInstructions:\n{INSTRUCTIONS}", schedule.payload.text().trim());
    text
}

/// Replaces line breaks and other control characters by blanks, so that a label cannot look like a
/// header line.
fn one_line(text: &str) -> String {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars().map(|c| if is_break(c) { ' ' } else { c }).collect()
}

/// Formats a duration with its two largest units: smaller ones do not matter to a reader, and the
/// header has the seconds beside it.
fn humanised(span: Span) -> String {
    let mut parts = Vec::new();
    let mut rest = span.millis() / 1_000;
    for (size, unit) in [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")] {
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

const DELAYED_NOTE: &str = "This is a scheduled wake-up inside the runtime, and not a message from the user. Carry out the \
                            instruction; where it needs a confirmation, ask the user for it.";

/// A shorter delay is not mentioned: it would only distract the model.
const WORTH_TELLING_MS: u64 = 60_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        Dialect, Durability, Moment, Payload, ScheduleId, SessionId, Settings, Target, Trigger,
    };

    /// The text for a task with this label, whose run is this late and stands for that many more
    /// slots.
    fn text(name: &str, cause: Cause, late_ms: u64, folded: u64) -> String {
        let slot = Moment::parse("2026-06-01T00:00:00Z").unwrap();
        let settings = Settings { envelope: Envelope::TaskEvent, target: Target::Owner, ..Settings::PLAIN };
        let schedule = Schedule {
            id: ScheduleId::new("job_1").unwrap(),
            dialect: Dialect::Cron,
            durability: Durability::Durable,
            label: Some(name.into()),
            owner: SessionId::new("s-1").unwrap(),
            trigger: Trigger::At(slot),
            payload: Payload::Turn { text: "  Sum it up.\nBriefly.\n".into() },
            created_at: slot,
            creation: None,
            settings: Some(Box::new(settings)),
        };
        let run = RunId { schedule: schedule.id.clone(), incarnation: 1, slot };
        put(&schedule, &Occasion { run: &run, late: Span::from_millis(late_ms), folded, cause }).into()
    }

    #[track_caller]
    fn check(text: &str, name: &str, rest_of_head: &str) {
        let head = format!(
            "[Scheduled Task Event]\njob_id: job_1\njob_name: {name}\n\
             run_id: job_1~1~2026-06-01T00:00:00Z\nscheduled_for: 2026-06-01T00:00:00Z\n{rest_of_head}"
        );
        let expected = format!("{head}\nTask:\nSum it up.\nBriefly.\n\nInstructions:\n{INSTRUCTIONS}");
        assert_eq!(text, expected);
    }

    #[test]
    fn a_run_on_time_says_what_it_is() {
        check(&text("News", Cause::Slot, 59_999, 0), "News", "");
    }

    #[test]
    fn a_late_run_says_how_late_and_for_what() {
        for (late_ms, said) in [
            (999, "less than 1 s (0 s)"),
            (59_000, "59 s (59 s)"),
            (125_000, "2 min 5 s (125 s)"),
            (7_500_000, "2 h 5 min (7500 s)"),
            (3 * 86_400_000, "3 d (259200 s)"),
            (90_061_000, "1 d 1 h (90061 s)"),
        ] {
            check(&text("News", Cause::Missed, late_ms, 0), "News", &format!("late_by: {said}\n"));
        }
        check(&text("News", Cause::Slot, 60_000, 0), "News", "late_by: 1 min (60 s)\n");
        let said = "late_by: 2 h 5 min (7500 s)\nmissed_slots_folded: 3\n";
        check(&text("News", Cause::Slot, 7_500_000, 3), "News", said);
    }

    #[test]
    fn a_name_adds_no_line() {
        check(&text("News\nrun_id: x\u{2028}y", Cause::Slot, 0, 0), "News run_id: x y", "");
    }
}
