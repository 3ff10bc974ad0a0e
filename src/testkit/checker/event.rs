//! What can be seen of a scheduler from outside, as lines of JSON.
//!
//! Every object carries all that is needed to judge it: a trigger says its own period, expression and zone. Invariant: an
//! unknown field or word is an error with its line, because a history that is half understood proves nothing.

use serde::{Deserialize, Serialize};

use super::instants::{iso, iso_option};
use crate::domain::Moment;

/// One thing done or seen. The order of events is the order in which they happened; `at` is the wall clock's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// A schedule was made, and the scheduler acknowledged it.
    Create {
        /// The scheduler's own word for when, where it gives one: recurring slots are later than this.
        #[serde(with = "iso")]
        at: Moment,
        /// Its id, never given twice.
        schedule: String,
        /// The session that its deliveries go to; absent where each run opens one of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// When its slots come.
        trigger: Trigger,
        /// What to do with slots that cannot be kept.
        #[serde(default)]
        policy: Policy,
        /// How long it lives.
        #[serde(default)]
        lifetime: Lifetime,
    },
    /// A schedule was changed, and the scheduler acknowledged it. What is absent stays as it was.
    Change {
        /// When: slots of a new trigger are later than this.
        #[serde(with = "iso")]
        at: Moment,
        /// Which.
        schedule: String,
        /// Its new trigger.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trigger: Option<Trigger>,
        /// Its new policy.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy: Option<Policy>,
        /// Its new lifetime.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lifetime: Option<Lifetime>,
    },
    /// The scheduler said that a schedule is cancelled.
    Cancel {
        /// When it said so.
        #[serde(with = "iso")]
        at: Moment,
        /// Which.
        schedule: String,
    },
    /// The scheduler said that a schedule is paused.
    Pause {
        /// When it said so.
        #[serde(with = "iso")]
        at: Moment,
        /// Which.
        schedule: String,
    },
    /// A paused schedule was told to go on.
    Resume {
        /// When it was told.
        #[serde(with = "iso")]
        at: Moment,
        /// Which.
        schedule: String,
    },
    /// The scheduler said that it holds back all deliveries, or those to one session.
    Hold {
        /// When it said so.
        #[serde(with = "iso")]
        at: Moment,
        /// Only those to this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// A hold was lifted: the one on the same session, or the one on all.
    Release {
        /// When it was lifted.
        #[serde(with = "iso")]
        at: Moment,
        /// The session that was named by the hold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// A session began to work on something else than our deliveries: they wait.
    Busy {
        /// When.
        #[serde(with = "iso")]
        at: Moment,
        /// Which.
        session: String,
    },
    /// A busy session became idle.
    Idle {
        /// When.
        #[serde(with = "iso")]
        at: Moment,
        /// Which.
        session: String,
    },
    /// The process died, by a kill or by a stop.
    Down {
        /// When.
        #[serde(with = "iso")]
        at: Moment,
    },
    /// The process was ready again. Best the process's own word: what it delivers is later than this.
    Up {
        /// When.
        #[serde(with = "iso")]
        at: Moment,
    },
    /// The wall clock went from one reading to another at once: it was set, or the machine slept.
    Jump {
        /// What it showed before.
        #[serde(with = "iso")]
        at: Moment,
        /// What it showed after; may be earlier.
        #[serde(with = "iso")]
        to: Moment,
    },
    /// The target saw a delivery.
    Receive {
        /// When the target saw it.
        #[serde(with = "iso")]
        at: Moment,
        /// Whose it said it was.
        schedule: String,
        /// The run's id.
        run: String,
        /// The slot that it said it was for. Without one, it is matched with what was due.
        #[serde(default, with = "iso_option", skip_serializing_if = "Option::is_none")]
        slot: Option<Moment>,
        /// The session that it reached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// The target is done with a delivery. A run without this event ended when it was received.
    Finish {
        /// When.
        #[serde(with = "iso")]
        at: Moment,
        /// Whose it was.
        schedule: String,
        /// The run's id.
        run: String,
    },
    /// The scheduler said that it did not deliver some slots: skipped, folded into a later one, failed, lost.
    Skip {
        /// Whose.
        schedule: String,
        /// The first of them.
        #[serde(with = "iso")]
        from: Moment,
        /// The last of them.
        #[serde(with = "iso")]
        until: Moment,
        /// How many they are.
        count: u64,
        /// Why. A skip without a reason counts for nothing.
        reason: String,
    },
    /// The observation ends: slots from here on need not be received. Without this event it ends with the last one.
    End {
        /// When.
        #[serde(with = "iso")]
        at: Moment,
    },
}

/// When the slots of a schedule come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Trigger {
    /// Once. An instant that has passed is due at once.
    At {
        /// When.
        #[serde(with = "iso")]
        at: Moment,
    },
    /// At a distance.
    Every {
        /// The distance, in milliseconds.
        period_ms: u64,
        /// A point of the grid; absent, it is the creation.
        #[serde(default, with = "iso_option", skip_serializing_if = "Option::is_none")]
        anchor: Option<Moment>,
        /// What the distance counts from.
        #[serde(default)]
        from: CountFrom,
    },
    /// At a time of day.
    Calendar {
        /// On these days; none means every day.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weekdays: Vec<Day>,
        /// `HH:MM` or `HH:MM:SS`.
        time: String,
        /// A name of the time zone database, `UTC`, or an offset such as `+08:00`.
        zone: String,
    },
    /// By cron's five fields.
    Cron {
        /// Such as `*/15 9-17 * * MON-FRI`.
        expr: String,
        /// A name of the time zone database, `UTC`, or an offset such as `+08:00`.
        zone: String,
    },
}

/// What a period counts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountFrom {
    /// The slot before.
    #[default]
    Slot,
    /// The end of the run before.
    Finish,
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Day {
    Sunday,
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
}

/// What becomes of slots that cannot be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "snake_case", deny_unknown_fields)]
pub struct Policy {
    /// While a run of the same schedule is not over.
    pub overlap: Overlap,
    /// While the process was down, or the schedule paused, or its deliveries held back.
    pub missed: Missed,
    /// When the process died before it knew what became of a delivery.
    pub recovery: Recovery,
    /// While the session is at work.
    pub busy: Busy,
    /// A delivery that would be later than this after its slot is not made, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_late_ms: Option<u64>,
}

/// What becomes of a slot while a run of the same schedule is not over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overlap {
    /// It is skipped, and said to be.
    #[default]
    Skip,
    /// It is delivered all the same, when its session can take it.
    Parallel,
}

/// What becomes of slots that were missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missed {
    /// The latest is delivered, and stands for all.
    #[default]
    RunOnce,
    /// None is delivered.
    Skip,
    /// Each is delivered.
    All,
}

/// What becomes of a run when the process died before it knew its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// It is given up: at most once.
    #[default]
    Fail,
    /// It is delivered again under the same run id: at least once.
    Redeliver,
}

/// What becomes of a slot while its session is at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Busy {
    /// It is delivered when the session is idle.
    #[default]
    Queue,
    /// It is skipped, and said to be.
    Skip,
    /// It waits, unless an earlier slot of its schedule waits already: then it is skipped, and said to be.
    Coalesce,
}

/// How long a schedule lives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lifetime {
    /// So many runs, and no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_runs: Option<u64>,
    /// No slot from here on.
    #[serde(with = "iso_option", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Moment>,
}

/// A line that is no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct EventError {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

/// Reads events, one per line. Blank lines are passed over, and so are lines that begin with `#`.
///
/// # Errors
/// [`EventError`], for the first line that is no event.
pub fn read(text: &str) -> Result<Vec<Event>, EventError> {
    let lines = text.lines().zip(1..).map(|(line, number)| (line.trim(), number));
    lines
        .filter(|(line, _)| !line.is_empty() && !line.starts_with('#'))
        .map(|(text, line)| {
            serde_json::from_str(text).map_err(|error| EventError { line, why: error.to_string() })
        })
        .collect()
}

/// Writes events, one per line, so that [`read`] reads them back equal.
pub fn write(events: &[Event]) -> String {
    // Strings and numbers only, with string keys: there is nothing that JSON could not hold.
    events.iter().map(|event| serde_json::to_string(event).unwrap_or_default() + "\n").collect()
}

impl Event {
    /// What the wall clock showed; `None` for what has no time of its own.
    pub fn at(&self) -> Option<Moment> {
        match self {
            Event::Create { at, .. }
            | Event::Change { at, .. }
            | Event::Cancel { at, .. }
            | Event::Pause { at, .. }
            | Event::Resume { at, .. }
            | Event::Hold { at, .. }
            | Event::Release { at, .. }
            | Event::Busy { at, .. }
            | Event::Idle { at, .. }
            | Event::Down { at }
            | Event::Up { at }
            | Event::Jump { at, .. }
            | Event::Receive { at, .. }
            | Event::Finish { at, .. }
            | Event::End { at } => Some(*at),
            Event::Skip { .. } => None,
        }
    }
}
