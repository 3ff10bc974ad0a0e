//! The engine's records as reminders, in the seed's words.
//!
//! The other direction is in `command.rs`. Invariant: nothing is cached here; reminders that have ended are not
//! shown.

use std::collections::BTreeSet;

use super::call::ReminderKind;
use super::words;
use crate::calendar;
use crate::dialect::brief;
use crate::domain::{Dialect, Moment, RunState, ScheduleId, SessionId, Span, Status, Trigger, names};
use crate::edn::{Map, Value};
use crate::engine::{ScheduleRecord, State};

/// An active reminder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reminder {
    /// The reminder's id.
    pub(crate) id: ScheduleId,
    /// The purpose, in the user's words.
    pub(crate) description: Box<str>,
    /// One-time or recurring.
    pub(crate) kind: ReminderKind,
    /// When the reminder was to be due as it was set, in words: `in 1 hour`, `every 5 minutes`.
    pub(crate) pace: String,
    /// As `pace`, but as of now: `in 48 seconds`, or `due`.
    pub(crate) left: String,
    /// The interval; `None` if another interface gave the schedule a trigger without one.
    pub(crate) interval: Option<Span>,
    /// The prompt for the agent.
    pub(crate) prompt: Box<str>,
    /// The next slot, if it is known.
    pub(crate) next: Option<Moment>,
    /// The state of the reminder.
    pub(crate) standing: Standing,
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
    pub(crate) fn of(state: &State, record: &ScheduleRecord, now: Moment) -> Option<Reminder> {
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
        let (next, standing) = (record.next_run(), standing(state, record, now));
        let is_counted_down = kind == ReminderKind::OneTime && interval.is_some();
        let left = match (next, standing) {
            (Some(next), _) if is_counted_down && next > now => {
                format!("in {}", calendar::print_duration(rounded(next.since(now))))
            }
            (_, Standing::Overdue | Standing::Waiting | Standing::Running) if is_counted_down => {
                "due".to_owned()
            }
            (
                _,
                Standing::Scheduled
                | Standing::Overdue
                | Standing::Waiting
                | Standing::Running
                | Standing::Paused,
            ) => pace.clone(),
        };
        Some(Reminder {
            id: schedule.id.clone(),
            description: schedule.label.clone().unwrap_or_default(),
            kind,
            pace,
            left,
            interval,
            prompt: schedule.payload.text().into(),
            next,
            standing,
        })
    }

    /// A sentence about the task with its pace, unless the sentence ends with that already: a model may describe the task as
    /// "I'll check your email in 1 hour".
    pub(super) fn timed(&self, sentence: &str) -> String {
        let lower = sentence.trim_end_matches('.').to_lowercase();
        let of_kind = match self.kind {
            ReminderKind::OneTime => " in ",
            ReminderKind::Recurring => " every ",
        };
        // In other words, such as "in sixty minutes" or "every hour".
        let said = lower.rsplit_once(of_kind).and_then(|(_, time)| {
            calendar::delay_in_words(time).or_else(|| calendar::delay_in_words(&format!("1 {time}")))
        });
        // Tested with `is_some`, because an absent time must not equal an absent interval.
        let is_said = lower.ends_with(&format!(" {}", self.pace)) || said.is_some() && said == self.interval;
        if is_said { sentence.to_owned() } else { format!("{sentence} {}", self.pace) }
    }

    /// Prints the reminder as a row of a list. Its prompt is the model's own text, and its id is no argument of these tools.
    pub(super) fn to_map(&self) -> Map {
        let map = Map::new()
            .with("description", brief::text(&self.description))
            .with("pace", brief::words(&self.left));
        let map = map.with_some("next_execution", self.next.map(brief::instant));
        match self.standing {
            Standing::Scheduled => map,
            Standing::Overdue | Standing::Waiting | Standing::Running | Standing::Paused => {
                map.with("status", Value::keyword(self.standing.name()))
            }
        }
    }

    /// Whether the description or the prompt contains the pattern, which is in lower case; and whether it stands there in whole
    /// words.
    fn has(&self, pattern: &str) -> (bool, bool) {
        // The prompt counts as well, because a model may name the task instead. Source: SEED-003's code.
        let texts = [&self.description, &self.prompt].map(|text| text.to_lowercase());
        let ends = |at: Option<char>| !at.is_some_and(char::is_alphanumeric);
        let is_whole = |text: &String| {
            text.match_indices(pattern).any(|(at, found)| {
                let (before, after) = (&text[..at], &text[at + found.len()..]);
                ends(before.chars().next_back()) && ends(after.chars().next())
            })
        };
        (texts.iter().any(|text| text.contains(pattern)), texts.iter().any(is_whole))
    }

    /// How many of these words name the task of this reminder.
    fn shares(&self, words: &BTreeSet<String>) -> usize {
        let own: BTreeSet<String> =
            [&*self.description, &*self.prompt, &self.pace].into_iter().flat_map(words::content).collect();
        words.intersection(&own).count()
    }
}

/// A time that is left, in a unit in which it is a short number: to the second below two minutes, to the minute below three
/// hours, to the hour below three days.
fn rounded(left: Span) -> Span {
    const UNITS: [(u64, u64); 3] = [(120_000, 1_000), (3 * 3_600_000, 60_000), (3 * 86_400_000, 3_600_000)];
    let millis = left.millis();
    let unit = UNITS.iter().find(|(below, _)| millis < *below).map_or(86_400_000, |(_, unit)| *unit);
    Span::from_millis(millis.saturating_add(unit / 2) / unit * unit).max(Span::from_millis(1_000))
}

/// What a pattern of a removal means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// These reminders.
    These(Vec<Reminder>),
    /// Several in other words, of which one may be meant; the next one first.
    Several(Vec<Reminder>),
    /// None; these are the likeliest, best first.
    Perhaps(Vec<Reminder>),
}

/// The active reminders of a session, the next one first.
pub fn active(state: &State, session: &SessionId, now: Moment) -> Vec<Reminder> {
    let records = state.live_schedules_of(session).into_iter();
    records.filter_map(|record| Reminder::of(state, record, now)).collect()
}

/// The reminder whose id the pattern is, else those whose description or prompt contains it, in upper or lower case, as whole
/// words: `item 4` is not `item 40`. Else the only one that contains it at all. If there is none, or if the pattern names no
/// task, the only one that has all words of the pattern that name a task or its pace, whatever their endings.
pub fn matching(reminders: &[Reminder], pattern: &str) -> Match {
    if let Some(named) = reminders.iter().find(|reminder| *reminder.id.to_string() == *pattern.trim()) {
        return Match::These(vec![named.clone()]);
    }
    // Lowered once for all reminders.
    let lower = pattern.to_lowercase();
    let words = words::content(pattern);
    let mut literal: Vec<(&Reminder, bool)> = reminders
        .iter()
        .map(|it| (it, it.has(&lower)))
        .filter_map(|(it, (has, whole))| has.then_some((it, whole)))
        .collect();
    let is_whole = literal.iter().any(|(_, whole)| *whole);
    // If the pattern is a whole word anywhere, the reminders that only contain it in other words do not match.
    literal.retain(|(_, whole)| *whole == is_whole);
    if !literal.is_empty() && !words.is_empty() {
        // Parts of words are what a word of the pattern happens to be in: of several, nobody knows which is meant.
        let is_clear = is_whole || literal.len() == 1;
        let found = literal.into_iter().map(|(reminder, _)| reminder.clone()).collect();
        return if is_clear { Match::These(found) } else { Match::Several(found) };
    }
    let mut likely: Vec<(usize, &Reminder)> = reminders.iter().map(|it| (it.shares(&words), it)).collect();
    likely.retain(|(shared, _)| *shared > 0);
    // A stable sort: of equally likely ones, the next one stays first.
    likely.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    let of_all: Vec<&Reminder> =
        likely.iter().filter(|(shared, _)| *shared == words.len()).map(|(_, reminder)| *reminder).collect();
    match of_all[..] {
        [only] => Match::These(vec![only.clone()]),
        [_, _, ..] => Match::Several(of_all.into_iter().cloned().collect()),
        [] if likely.is_empty() => Match::Perhaps(reminders.to_vec()),
        [] => Match::Perhaps(likely.into_iter().map(|(_, reminder)| reminder.clone()).collect()),
    }
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
