//! The engine's records as reminders, in the seed's words.
//!
//! The other direction is in `command.rs`. Invariant: nothing is cached here; reminders that have ended are not
//! shown.

use super::call::ReminderKind;
use crate::calendar;
use crate::domain::{Dialect, Moment, RunState, ScheduleId, SessionId, Span, Status, Trigger, names};
use crate::edn::{Map, Value};
use crate::engine::{ScheduleRecord, State};

/// An active reminder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reminder {
    /// The reminder's id.
    pub id: ScheduleId,
    /// The purpose, in the user's words.
    pub description: Box<str>,
    /// One-time or recurring.
    pub kind: ReminderKind,
    /// When the reminder is due, in words: `in 1 hour`, `every 5 minutes`.
    pub pace: String,
    /// The interval; `None` if another interface gave the schedule a trigger without one.
    pub interval: Option<Span>,
    /// The prompt for the agent.
    pub prompt: Box<str>,
    /// The next slot, if it is known.
    pub next: Option<Moment>,
    /// The state of the reminder.
    pub standing: Standing,
}

names! {
    /// The state of an active reminder.
    Standing {
        /// The next slot is in the future.
        Scheduled = "scheduled",
        /// The slot is due, and about to be processed.
        Overdue = "overdue",
        /// The run waits for its session.
        Waiting = "waiting",
        /// The agent works on it.
        Running = "running",
        /// Another interface paused the schedule.
        Paused = "paused",
    }
}

impl Reminder {
    /// Converts a schedule to a reminder as of `now`; `None` if it has ended or belongs to another dialect.
    pub fn of(state: &State, record: &ScheduleRecord, now: Moment) -> Option<Reminder> {
        let schedule = record.schedule();
        if schedule.dialect != Dialect::Reminder || record.status().is_terminal() {
            return None;
        }
        let (kind, interval) = match &schedule.trigger {
            Trigger::At(at) => (ReminderKind::OneTime, Some(at.since(schedule.created_at))),
            Trigger::Every(every) => (ReminderKind::Recurring, Some(every.period())),
            // Other interfaces can give a reminder any trigger.
            Trigger::Event(_) => (ReminderKind::OneTime, None),
            Trigger::Calendar(_) | Trigger::Cron(..) => (ReminderKind::Recurring, None),
        };
        let pace = match (kind, interval.map(calendar::print_duration)) {
            (ReminderKind::OneTime, Some(length)) => format!("in {length}"),
            // "every hour", but "every 5 minutes".
            (ReminderKind::Recurring, Some(length)) => {
                format!("every {}", length.strip_prefix("1 ").unwrap_or(&length))
            }
            (ReminderKind::OneTime | ReminderKind::Recurring, None) => calendar::print(&schedule.trigger),
        };
        Some(Reminder {
            id: schedule.id.clone(),
            description: schedule.label.clone().unwrap_or_default(),
            kind,
            pace,
            interval,
            prompt: schedule.payload.text().into(),
            next: record.next_run(),
            standing: standing(state, record, now),
        })
    }

    /// Prints the reminder as data.
    pub(super) fn to_map(&self) -> Map {
        let map = Map::new()
            .with("id", self.id.to_string())
            .with("description", &*self.description)
            .with("type", self.kind.name());
        let map = match self.interval {
            Some(interval) => {
                let seconds = i64::try_from(interval.millis() / 1_000).unwrap_or(i64::MAX);
                map.with("interval_seconds", seconds)
            }
            None => map,
        };
        let map = map.with("pace", self.pace.as_str()).with("action_prompt", &*self.prompt);
        let map = match self.next {
            Some(next) => map.with("next_execution", next.to_string()),
            None => map,
        };
        map.with("status", Value::keyword(self.standing.name()))
    }

    /// Prints the reminder in one line.
    pub(super) fn line(&self) -> String {
        let when = match (self.standing, self.next) {
            (Standing::Scheduled, Some(next)) => format!("next on {next}"),
            (Standing::Overdue, Some(next)) => format!("overdue since {next}"),
            (standing, _) => standing.name().to_owned(),
        };
        format!("- {} ({}, {}, {when})", self.description, self.kind.name(), self.pace)
    }

    /// True if the description or the prompt contains the pattern, which is in lower case.
    fn has(&self, pattern: &str) -> bool {
        // The prompt counts as well, because a model may name the task instead. Source: SEED-003's code.
        [&self.description, &self.prompt].into_iter().any(|text| text.to_lowercase().contains(pattern))
    }
}

/// The active reminders of a session, the next one first.
pub fn active(state: &State, session: &SessionId, now: Moment) -> Vec<Reminder> {
    let records = state.live_schedules_of(session).into_iter();
    records.filter_map(|record| Reminder::of(state, record, now)).collect()
}

/// The reminders whose description or prompt contains the pattern, in upper or lower case.
pub fn matching(reminders: &[Reminder], pattern: &str) -> Vec<Reminder> {
    // Lowered once for all reminders.
    let pattern = pattern.to_lowercase();
    reminders.iter().filter(|reminder| reminder.has(&pattern)).cloned().collect()
}

fn standing(state: &State, record: &ScheduleRecord, now: Moment) -> Standing {
    let live = state.runs_of(record).map(|(_, run)| run.run().state).find(|state| !state.is_terminal());
    match live {
        // A pause also hides a run that waits.
        _ if record.status() == Status::Paused => Standing::Paused,
        Some(RunState::Queued) => Standing::Waiting,
        Some(_) => Standing::Running,
        None if record.next_slot().is_some_and(|next| next <= now) => Standing::Overdue,
        None => Standing::Scheduled,
    }
}
