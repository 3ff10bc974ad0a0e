//! Prints the answers to calls that succeeded. What is said in the sentence is not said again as data.
//!
//! Errors are in `error.rs`, the shape of a reminder in `view.rs`. Source of the sentences: SEED-003, "Reminder
//! tools".

use super::call::ReminderKind;
use super::view::Reminder;
use super::words;
use crate::dialect::{Answer, PageRequest, brief};
use crate::edn::{Map, Value};

/// The answer to a successful `reminderadd`.
pub fn added(reminder: &Reminder) -> Answer {
    let message = format!("Reminder set: {}", reminder.timed(&brief::text(&reminder.description)));
    let told = Map::new().with("id", reminder.id.to_string());
    let told = told.with_some("next_execution", reminder.next.map(brief::instant));
    Answer::done(head("created", message).with("reminder", told))
}

/// The answer to a `reminderlist`: one page.
pub fn listed(reminders: &[Reminder], page: &PageRequest) -> Answer {
    let message = match reminders.len() {
        0 => "No active reminders in this session.".to_owned(),
        1 => "1 active reminder".to_owned(),
        several => format!("{several} active reminders"),
    };
    let row = |reminder: &Reminder| reminder.to_map().into();
    let id = |reminder: &Reminder| reminder.id.to_string();
    page.put(head("ok", message), "reminders", reminders, (id, row))
        .map_or_else(|answer| answer, Answer::done)
}

/// The answer to a `reminderremove` that cancelled these reminders.
pub fn removed(reminders: &[Reminder]) -> Answer {
    let message = match reminders {
        [only] => format!("Reminder cancelled: {}", gone(only)),
        several => {
            let lines: Vec<String> = several.iter().map(|one| format!("- {}", gone(one))).collect();
            format!("{} reminders cancelled:\n{}", several.len(), lines.join("\n"))
        }
    };
    Answer::done(head("cancelled", message))
}

/// What will not be done again.
fn gone(reminder: &Reminder) -> String {
    let description = brief::text(&reminder.description);
    let stopped = words::stopped(&description).map(|doing| format!("No longer {doing}"));
    match (stopped, reminder.kind) {
        (Some(sentence), ReminderKind::OneTime) => sentence,
        (Some(sentence), ReminderKind::Recurring) => reminder.timed(&sentence),
        // A description of another form is quoted: it would make no sentence.
        (None, ReminderKind::OneTime) => format!("\"{description}\""),
        (None, ReminderKind::Recurring) if reminder.timed(&description) == description => {
            format!("\"{description}\"")
        }
        (None, ReminderKind::Recurring) => format!("\"{description}\" {}", reminder.pace),
    }
}

fn head(status: &str, message: String) -> Map {
    Map::new().with("status", Value::keyword(status)).with("message", message)
}
