//! The events of a history: what can be observed of a scheduler from outside, as lines of JSON.
//!
//! Every event contains everything needed to judge it: a trigger has its own period, expression and
//! zone. Invariant: an unknown field or value is an error with its line, because a history that is
//! half understood proves nothing.

use serde::{Deserialize, Serialize};

use super::instants::{iso, iso_option};
use super::moment::Moment;

/// One action or observation. Events are listed in the order in which they happened; `at` is the
/// reading of the wall clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// A schedule was created, and the scheduler acknowledged it.
    Create {
        /// The time of creation, the scheduler's own if it reports one: recurring slots are later
        /// than this.
        #[serde(with = "iso")]
        at: Moment,
        /// The schedule's id, never reused.
        schedule: String,
        /// The session of its deliveries; absent if each run opens a session of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// The trigger of its slots.
        trigger: Trigger,
        /// The policy for slots that cannot be delivered in time.
        #[serde(default)]
        policy: Policy,
        /// The limits of its lifetime.
        #[serde(default)]
        lifetime: Lifetime,
    },
    /// A schedule was changed, and the scheduler acknowledged it. Absent fields are unchanged.
    Change {
        /// The time of the change: slots of a new trigger are later than this.
        #[serde(with = "iso")]
        at: Moment,
        /// The schedule.
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
    /// The scheduler acknowledged a cancel.
    Cancel {
        /// The time of the acknowledgement.
        #[serde(with = "iso")]
        at: Moment,
        /// The schedule.
        schedule: String,
    },
    /// The scheduler acknowledged a pause.
    Pause {
        /// The time of the acknowledgement.
        #[serde(with = "iso")]
        at: Moment,
        /// The schedule.
        schedule: String,
    },
    /// A paused schedule was resumed.
    Resume {
        /// The time of the request.
        #[serde(with = "iso")]
        at: Moment,
        /// The schedule.
        schedule: String,
    },
    /// The scheduler acknowledged that it holds back all deliveries, or those to one session.
    Hold {
        /// The time of the acknowledgement.
        #[serde(with = "iso")]
        at: Moment,
        /// The session; absent for a hold on all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// A hold was lifted: the one on this session, or the one on all.
    Release {
        /// The time of the release.
        #[serde(with = "iso")]
        at: Moment,
        /// The session that the hold named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// A session began other work than our deliveries: they wait.
    Busy {
        /// The reading of the wall clock.
        #[serde(with = "iso")]
        at: Moment,
        /// The session.
        session: String,
    },
    /// A busy session became idle.
    Idle {
        /// The reading of the wall clock.
        #[serde(with = "iso")]
        at: Moment,
        /// The session.
        session: String,
    },
    /// The process ended, by a kill or a stop.
    Down {
        /// The reading of the wall clock.
        #[serde(with = "iso")]
        at: Moment,
    },
    /// The process was ready again, preferably by its own report: its deliveries are later than
    /// this.
    Up {
        /// The reading of the wall clock.
        #[serde(with = "iso")]
        at: Moment,
    },
    /// The wall clock jumped: it was set, or the machine slept.
    Jump {
        /// The reading before the jump.
        #[serde(with = "iso")]
        at: Moment,
        /// The reading after the jump; may be earlier.
        #[serde(with = "iso")]
        to: Moment,
    },
    /// The target received a delivery.
    Receive {
        /// The time at which the target received it.
        #[serde(with = "iso")]
        at: Moment,
        /// The schedule that the delivery named.
        schedule: String,
        /// The run's id.
        run: String,
        /// The slot that the delivery named. Without one, it is matched with a slot that was due.
        #[serde(default, with = "iso_option", skip_serializing_if = "Option::is_none")]
        slot: Option<Moment>,
        /// The session that received it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// The target finished a delivery. A run without this event ended when it was received.
    Finish {
        /// The reading of the wall clock.
        #[serde(with = "iso")]
        at: Moment,
        /// The schedule.
        schedule: String,
        /// The run's id.
        run: String,
    },
    /// The scheduler reported slots that it did not deliver: skipped, coalesced, failed or lost.
    Skip {
        /// The schedule.
        schedule: String,
        /// The first slot.
        #[serde(with = "iso")]
        from: Moment,
        /// The last slot.
        #[serde(with = "iso")]
        until: Moment,
        /// The number of slots.
        count: u64,
        /// The reason. A skip without a reason is ignored.
        reason: String,
    },
    /// The observation ended: later slots need not be received. Without this event it ends with the
    /// last one.
    End {
        /// The reading of the wall clock.
        #[serde(with = "iso")]
        at: Moment,
    },
}

/// The rule that determines the slots of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Trigger {
    /// One slot. A time in the past is due at once.
    At {
        /// The reading of the wall clock.
        #[serde(with = "iso")]
        at: Moment,
    },
    /// Slots at equal intervals.
    Every {
        /// The interval in milliseconds.
        period_ms: u64,
        /// A point of the grid; if absent, the time of creation.
        #[serde(default, with = "iso_option", skip_serializing_if = "Option::is_none")]
        anchor: Option<Moment>,
        /// The point from which the interval counts.
        #[serde(default)]
        from: CountFrom,
    },
    /// Slots at a time of day.
    Calendar {
        /// The weekdays; empty means every day.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weekdays: Vec<Day>,
        /// `HH:MM` or `HH:MM:SS`.
        time: String,
        /// A name of the time zone database, `UTC`, or an offset such as `+08:00`.
        zone: String,
    },
    /// Slots by cron's five fields.
    Cron {
        /// The expression, such as `*/15 9-17 * * MON-FRI`.
        expr: String,
        /// A name of the time zone database, `UTC`, or an offset such as `+08:00`.
        zone: String,
    },
}

/// The point from which an interval counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountFrom {
    /// The previous slot.
    #[default]
    Slot,
    /// The end of the previous run.
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

/// The policy for slots that cannot be delivered in time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "snake_case", deny_unknown_fields)]
pub struct Policy {
    /// For slots while a run of the schedule is unfinished.
    pub overlap: Overlap,
    /// For slots while the process was down, the schedule paused, or deliveries held back.
    pub missed: Missed,
    /// For runs whose outcome was unknown when the process died.
    pub recovery: Recovery,
    /// For slots while the session is busy.
    pub busy: Busy,
    /// The maximum lateness in milliseconds: a later delivery is not made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_late_ms: Option<u64>,
}

/// The policy for a slot that comes while a run of its schedule is unfinished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overlap {
    /// The slot is skipped and reported.
    #[default]
    Skip,
    /// The slot is delivered as soon as its session can take it.
    Parallel,
}

/// The policy for missed slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missed {
    /// The latest is delivered and stands for all.
    #[default]
    RunOnce,
    /// None is delivered.
    Skip,
    /// Each is delivered.
    All,
}

/// The policy for a run whose outcome was unknown when the process died.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// The run is given up: at most once.
    #[default]
    Fail,
    /// The run is delivered again under its id: at least once.
    Redeliver,
}

/// The policy for a slot that comes while its session is busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Busy {
    /// The slot is delivered when the session is idle.
    #[default]
    Queue,
    /// The slot is skipped and reported.
    Skip,
    /// The slot waits, unless an earlier slot of its schedule already waits: then it is skipped and
    /// reported.
    Coalesce,
}

/// The limits of a schedule's lifetime.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lifetime {
    /// The maximum number of runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_runs: Option<u64>,
    /// The end: no slot at or after this time.
    #[serde(with = "iso_option", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Moment>,
}

/// A line that is not a valid event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct EventError {
    /// The line number, from 1.
    pub line: usize,
    /// The reason.
    pub why: String,
}

/// Parses events, one per line. Blank lines and lines that begin with `#` are ignored.
///
/// # Errors
/// [`EventError`], for the first invalid line.
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
    // Cannot fail: events consist of strings and numbers with string keys.
    events.iter().map(|event| serde_json::to_string(event).unwrap_or_default() + "\n").collect()
}

impl Event {
    /// The reading of the wall clock; `None` for events without a time.
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
