//! Prints the answers to calls that succeeded: a sentence, and its content as data.
//!
//! Errors are in `error.rs`, the shape of a reminder in `view.rs`. Source of the sentences: SEED-003, "Reminder
//! tools".

use super::call::ReminderKind;
use super::view::Reminder;
use crate::dialect::Answer;
use crate::edn::{Map, Value};

/// The answer to a successful `reminderadd`.
pub fn added(reminder: &Reminder) -> Answer {
    let message = format!("Reminder set: {} {}", reminder.description, reminder.pace);
    Answer::done(head("created", message).with("reminder", reminder.to_map()))
}

/// The answer to a `reminderlist`.
pub fn listed(reminders: &[Reminder]) -> Answer {
    let message = match reminders {
        [] => "No active reminders in this session.".to_owned(),
        [only] => format!("1 active reminder:\n{}", only.line()),
        several => format!("{} active reminders:\n{}", several.len(), lines(several)),
    };
    Answer::done(head("ok", message).with("reminders", maps(reminders)))
}

/// The answer to a `reminderremove` that cancelled these reminders.
pub fn removed(reminders: &[Reminder]) -> Answer {
    let no_longer = |reminder: &Reminder| match reminder.kind {
        ReminderKind::OneTime => format!("No longer {}", reminder.description),
        ReminderKind::Recurring => format!("No longer {} {}", reminder.description, reminder.pace),
    };
    let message = match reminders {
        [only] => format!("Reminder cancelled: {}", no_longer(only)),
        several => {
            let lines: Vec<String> = several.iter().map(|one| format!("- {}", no_longer(one))).collect();
            format!("{} reminders cancelled:\n{}", several.len(), lines.join("\n"))
        }
    };
    Answer::done(head("cancelled", message).with("cancelled", maps(reminders)))
}

pub(super) fn lines(reminders: &[Reminder]) -> String {
    reminders.iter().map(Reminder::line).collect::<Vec<_>>().join("\n")
}

pub(super) fn maps(reminders: &[Reminder]) -> Vec<Value> {
    reminders.iter().map(|reminder| reminder.to_map().into()).collect()
}

fn head(status: &str, message: String) -> Map {
    Map::new().with("status", Value::keyword(status)).with("message", message)
}
