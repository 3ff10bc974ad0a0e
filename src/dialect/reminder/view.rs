//! Reminders as the engine has them: its records, in the seed's words.
//!
//! What lives elsewhere: the way there (`command.rs`). Invariant: nothing is kept here; what has ended is not shown.

use super::call::ReminderKind;
use crate::calendar;
use crate::domain::{Dialect, Moment, RunState, ScheduleId, SessionId, Span, Status, Trigger, names};
use crate::edn::{Map, Value};
use crate::engine::{ScheduleRecord, State};

/// A reminder that is active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reminder {
    /// Its id.
    pub id: ScheduleId,
    /// What it is for.
    pub description: Box<str>,
    /// Whether it comes back.
    pub kind: ReminderKind,
    /// When it comes, in words: `in 1 hour`, `every 5 minutes`.
    pub pace: String,
    /// Its interval; `None` where it was given another trigger by other means.
    pub interval: Option<Span>,
    /// What the agent is told.
    pub prompt: Box<str>,
    /// When it comes next, where that is known.
    pub next: Option<Moment>,
    /// How it stands.
    pub standing: Standing,
}

names! {
    /// How an active reminder stands.
    Standing {
        /// Its time is still to come.
        Scheduled = "scheduled",
        /// Its time has come, and it is about to be looked at.
        Overdue = "overdue",
        /// Its time has come, and it waits for its session.
        Waiting = "waiting",
        /// The agent is at it.
        Running = "running",
        /// It was paused by other means.
        Paused = "paused",
    }
}

impl Reminder {
    /// A schedule as a reminder, as it stands at that moment; `None` if it has ended or is none.
    pub fn of(state: &State, record: &ScheduleRecord, now: Moment) -> Option<Reminder> {
        let schedule = record.schedule();
        if schedule.dialect != Dialect::Reminder || record.status().is_terminal() {
            return None;
        }
        let (kind, interval) = match &schedule.trigger {
            Trigger::At(at) => (ReminderKind::OneTime, Some(at.since(schedule.created_at))),
            Trigger::Every(every) => (ReminderKind::Recurring, Some(every.period())),
            Trigger::Event(_) => (ReminderKind::OneTime, None),
            Trigger::Calendar(_) | Trigger::Cron(..) => (ReminderKind::Recurring, None),
        };
        let pace = match (kind, interval.map(calendar::print_duration)) {
            (ReminderKind::OneTime, Some(length)) => format!("in {length}"),
            // "Every hour", but "every 5 minutes".
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
            next: record.next_slot(),
            standing: standing(state, record, now),
        })
    }

    /// As data.
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

    /// In one line.
    pub(super) fn line(&self) -> String {
        let when = match (self.standing, self.next) {
            (Standing::Scheduled, Some(next)) => format!("next on {next}"),
            (Standing::Overdue, Some(next)) => format!("overdue since {next}"),
            (standing, _) => standing.name().to_owned(),
        };
        format!("- {} ({}, {}, {when})", self.description, self.kind.name(), self.pace)
    }

    /// Whether the pattern is anywhere in its description or prompt, in whatever case.
    fn has(&self, pattern: &str) -> bool {
        [&self.description, &self.prompt].into_iter().any(|text| text.to_lowercase().contains(pattern))
    }
}

/// The active reminders of a session, the next first.
pub fn active(state: &State, session: &SessionId, now: Moment) -> Vec<Reminder> {
    let records = state.live_schedules_of(session).into_iter();
    records.filter_map(|record| Reminder::of(state, record, now)).collect()
}

/// Those of them that have the pattern in their description or prompt.
pub fn matching(reminders: &[Reminder], pattern: &str) -> Vec<Reminder> {
    let pattern = pattern.to_lowercase();
    reminders.iter().filter(|reminder| reminder.has(&pattern)).cloned().collect()
}

fn standing(state: &State, record: &ScheduleRecord, now: Moment) -> Standing {
    let live = state.runs_of(record).map(|(_, run)| run.run().state).find(|state| !state.is_terminal());
    match live {
        _ if record.status() == Status::Paused => Standing::Paused,
        Some(RunState::Queued) => Standing::Waiting,
        Some(_) => Standing::Running,
        None if record.next_slot().is_some_and(|next| next <= now) => Standing::Overdue,
        None => Standing::Scheduled,
    }
}
