//! What the checker says.

use std::fmt;

use super::event::Missed;
use super::expected::TriggerError;
use crate::domain::{Moment, Span};

/// One thing wrong with a history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// A slot had to be received, and was not; nor did the scheduler say anything about it.
    #[error("missing: {schedule} {slot} was never received")]
    Missing {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
    },
    /// A slot need not have been received, but then the scheduler had to say why, and did not.
    #[error("unaccounted for: {schedule} {slot} was neither received nor reported")]
    Unaccounted {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
    },
    /// The scheduler says that it skipped a slot, and nothing in the history explains it.
    #[error("skip without cause: {schedule} {slot}, and {more} more, skipped with the reason {reason:?}")]
    SkipWithoutCause {
        /// Whose.
        schedule: String,
        /// The first of them.
        slot: Moment,
        /// How many more there are in the same report.
        more: u64,
        /// What the scheduler says.
        reason: String,
    },
    /// The scheduler's count of what it skipped is not the number of slots in that stretch.
    #[error("wrong count: {schedule} {from} to {until} are {found} slots, not {said}")]
    WrongCount {
        /// Whose.
        schedule: String,
        /// The first, as reported.
        from: Moment,
        /// The last, as reported.
        until: Moment,
        /// The count that was reported.
        said: u64,
        /// The slots that there are.
        found: u64,
    },
    /// The scheduler says that it skipped a slot which was received.
    #[error("contradicted: {schedule} {slot} was reported as skipped, and received")]
    Contradicted {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
    },
    /// A delivery that names no slot, and nothing was due that it could be for.
    #[error("extra: {schedule} run {run} at {at} is for no slot")]
    Extra {
        /// Whose.
        schedule: String,
        /// The run.
        run: String,
        /// When it was received.
        at: Moment,
    },
    /// A delivery for a slot that the trigger does not have.
    #[error("misplaced: {schedule} has no slot {slot}")]
    Misplaced {
        /// Whose.
        schedule: String,
        /// What it named.
        slot: Moment,
    },
    /// A delivery for a slot of a trigger that had been replaced.
    #[error("old trigger: {schedule} {slot} is a slot of the trigger before the change")]
    OldTrigger {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
    },
    /// Received before its time.
    #[error("early: {schedule} {slot} was received {} ns early", by.nanos())]
    Early {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
        /// By how much.
        by: Span,
    },
    /// Received, though nothing stood in its way for longer than a delivery takes.
    #[error("late: {schedule} {slot} was received {} ms after it could have been", by.millis())]
    Late {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
        /// Since it could have been.
        by: Span,
    },
    /// Received later than its policy allows it to be made.
    #[error("too late: {schedule} {slot} was received {} ms late, by its policy it may be {max_late_ms} ms", by.millis())]
    TooLate {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
        /// After its slot.
        by: Span,
        /// What the policy allows.
        max_late_ms: u64,
    },
    /// The same run was received twice, and no kill with redelivery explains it.
    #[error("twice: {schedule} run {run} for {slot} was received again")]
    Twice {
        /// Whose.
        schedule: String,
        /// Which slot.
        slot: Moment,
        /// Which run.
        run: String,
    },
    /// One slot was received under two run ids.
    #[error("two runs: {schedule} {slot} was received as {first} and as {second}")]
    TwoRuns {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
        /// The run that was received first.
        first: String,
        /// The other.
        second: String,
    },
    /// One run id stands for two slots.
    #[error("two slots: {schedule} run {run} was received for {first} and for {second}")]
    TwoSlots {
        /// Whose.
        schedule: String,
        /// Which run.
        run: String,
        /// The slot that was received first.
        first: Moment,
        /// The other.
        second: Moment,
    },
    /// Received after the scheduler had said that the schedule is cancelled.
    #[error("after cancel: {schedule} {slot}")]
    AfterCancel {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
    },
    /// Received while the schedule was paused.
    #[error("after pause: {schedule} {slot}")]
    AfterPause {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
    },
    /// Received while deliveries were held back.
    #[error("during hold: {schedule} {slot}")]
    DuringHold {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
    },
    /// Received while the process was down.
    #[error("while down: {schedule} {slot}")]
    WhileDown {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
    },
    /// A slot at or after the schedule's end of life was received.
    #[error("expired: {schedule} {slot}")]
    Expired {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
    },
    /// More runs than the schedule was given.
    #[error("beyond max runs: {schedule} {slot}")]
    BeyondMaxRuns {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
    },
    /// A missed slot was delivered, though by its policy it is skipped or folded into a later one.
    #[error("caught up: {schedule} {slot} was missed and delivered, its policy is {missed:?}")]
    CaughtUp {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
        /// Its policy.
        missed: Missed,
    },
    /// A slot was delivered that came while a run of its schedule was not over, though its policy is to skip it.
    #[error("overlapped: {schedule} {slot} came before the run before was over")]
    Overlapped {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
    },
    /// A slot was delivered that came while its session was at work, though its policy is to skip it.
    #[error("waited: {schedule} {slot} came while its session was at work")]
    Waited {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
    },
    /// A delivery reached a session while another of ours was not finished there.
    #[error("two at once: {schedule} {slot} reached {session}, where another delivery was not finished")]
    TwoAtOnce {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
        /// Where.
        session: String,
    },
    /// Within a session, a slot was received before one that comes before it, by slot and then by creation.
    #[error("out of order: in {session}, {schedule} {slot} came after {other} {other_slot}")]
    OutOfOrder {
        /// Where.
        session: String,
        /// Whose came too late.
        schedule: String,
        /// Which.
        slot: Moment,
        /// Whose came before it.
        other: String,
        /// Which.
        other_slot: Moment,
    },
    /// Received by another session than the schedule's.
    #[error("wrong session: {schedule} {slot} reached {found}, not {expected}")]
    WrongSession {
        /// Whose.
        schedule: String,
        /// Which.
        slot: Moment,
        /// The schedule's.
        expected: String,
        /// The one that it reached.
        found: String,
    },
    /// An event names a schedule that was never created.
    #[error("unknown schedule: {schedule}")]
    UnknownSchedule {
        /// What it names.
        schedule: String,
    },
    /// A trigger that this checker cannot work out.
    #[error("no verdict: the trigger of {schedule}: {why}")]
    BadTrigger {
        /// Whose.
        schedule: String,
        /// Why.
        why: TriggerError,
    },
}

/// How much was looked at, so that silence can be told from approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Schedules.
    pub schedules: u64,
    /// Slots before the end of the observation.
    pub slots: u64,
    /// Slots that were received.
    pub received: u64,
    /// Slots that were not received and had not to be: folded, skipped, cancelled before they were due to arrive.
    pub excused: u64,
    /// Slots that were not received and on which there is no verdict, because the observation ended first.
    pub open: u64,
}

/// The checker's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What is wrong, schedule by schedule.
    pub findings: Vec<Finding>,
    /// How much was looked at.
    pub figures: Figures,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        let Figures { schedules, slots, received, excused, open } = self.figures;
        let count = self.findings.len();
        write!(f, "{schedules} schedules, {slots} slots: {received} received, {excused} excused, ")?;
        write!(f, "{open} open, {count} findings")
    }
}
