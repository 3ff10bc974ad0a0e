//! The checker's report: findings, and counts of what was checked.

use std::fmt;

use super::event::Missed;
use super::expected::TriggerError;
use super::moment::{Moment, Span};

/// One violation in a history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// A slot had to be received but was not, and the scheduler did not report it.
    #[error("missing: {schedule} {slot} was never received")]
    Missing {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
    },
    /// A slot was not received, and the scheduler had to report why but did not.
    #[error("unaccounted for: {schedule} {slot} was neither received nor reported")]
    Unaccounted {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
    },
    /// The scheduler reported a skip that nothing in the history explains.
    #[error("skip without cause: {schedule} {slot}, and {more} more, skipped with the reason {reason:?}")]
    SkipWithoutCause {
        /// The schedule.
        schedule: String,
        /// The first of them.
        slot: Moment,
        /// The number of further slots in this report.
        more: u64,
        /// The reported reason.
        reason: String,
    },
    /// The scheduler's count of skipped slots is not the number of slots in that stretch.
    #[error("wrong count: {schedule} {from} to {until} are {found} slots, not {said}")]
    WrongCount {
        /// The schedule.
        schedule: String,
        /// The first, as reported.
        from: Moment,
        /// The last, as reported.
        until: Moment,
        /// The count that was reported.
        said: u64,
        /// The actual number of slots.
        found: u64,
    },
    /// The scheduler reported a skip of a slot that was received.
    #[error("contradicted: {schedule} {slot} was reported as skipped, and received")]
    Contradicted {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
    },
    /// A delivery names no slot, and no slot was due that it could be for.
    #[error("extra: {schedule} run {run} at {at} is for no slot")]
    Extra {
        /// The schedule.
        schedule: String,
        /// The run.
        run: String,
        /// When it was received.
        at: Moment,
    },
    /// A delivery names a slot that the trigger does not have.
    #[error("misplaced: {schedule} has no slot {slot}")]
    Misplaced {
        /// The schedule.
        schedule: String,
        /// The slot that the delivery named.
        slot: Moment,
    },
    /// A delivery names a slot of a trigger that had been replaced.
    #[error("old trigger: {schedule} {slot} is a slot of the trigger before the change")]
    OldTrigger {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
    },
    /// A slot was received before its time.
    #[error("early: {schedule} {slot} was received {} ns early", by.nanos())]
    Early {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
        /// The earliness.
        by: Span,
    },
    /// A slot was received late, though nothing blocked it for longer than a delivery takes.
    #[error("late: {schedule} {slot} was received {} ms after it could have been", by.millis())]
    Late {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
        /// The time since it could have been received.
        by: Span,
    },
    /// A slot was received later than its policy allows.
    #[error("too late: {schedule} {slot} was received {} ms late, by its policy it may be {max_late_ms} ms", by.millis())]
    TooLate {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
        /// The lateness.
        by: Span,
        /// What the policy allows.
        max_late_ms: u64,
    },
    /// A run was received twice, and no crash with redelivery explains it.
    #[error("twice: {schedule} run {run} for {slot} was received again")]
    Twice {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
        /// The run.
        run: String,
    },
    /// One slot was received under two run ids.
    #[error("two runs: {schedule} {slot} was received as {first} and as {second}")]
    TwoRuns {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
        /// The run that was received first.
        first: String,
        /// The other one.
        second: String,
    },
    /// One run id was received for two slots.
    #[error("two slots: {schedule} run {run} was received for {first} and for {second}")]
    TwoSlots {
        /// The schedule.
        schedule: String,
        /// The run.
        run: String,
        /// The slot that was received first.
        first: Moment,
        /// The other one.
        second: Moment,
    },
    /// A slot was received after its schedule's cancel was acknowledged.
    #[error("after cancel: {schedule} {slot}")]
    AfterCancel {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
    },
    /// A slot was received while its schedule was paused.
    #[error("after pause: {schedule} {slot}")]
    AfterPause {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
    },
    /// A slot was received while deliveries were held back.
    #[error("during hold: {schedule} {slot}")]
    DuringHold {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
    },
    /// A slot was received while the process was down.
    #[error("while down: {schedule} {slot}")]
    WhileDown {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
    },
    /// A slot at or after the schedule's expiry was received.
    #[error("expired: {schedule} {slot}")]
    Expired {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
    },
    /// A slot was received beyond the schedule's maximum of runs.
    #[error("beyond max runs: {schedule} {slot}")]
    BeyondMaxRuns {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
    },
    /// A missed slot was delivered, though its policy is to skip or coalesce it.
    #[error("caught up: {schedule} {slot} was missed and delivered, its policy is {missed:?}")]
    CaughtUp {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
        /// The policy.
        missed: Missed,
    },
    /// A slot that came during an unfinished run of its schedule was delivered, though its policy
    /// is to skip it.
    #[error("overlapped: {schedule} {slot} came before the run before was over")]
    Overlapped {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
    },
    /// A slot that came while its session was busy was delivered, though its policy is to skip it.
    #[error("waited: {schedule} {slot} came while its session was at work")]
    Waited {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
    },
    /// A delivery reached a session while another one was unfinished there.
    #[error("two at once: {schedule} {slot} reached {session}, where another delivery was not finished")]
    TwoAtOnce {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
        /// The session.
        session: String,
    },
    /// Within a session, a slot was received after one that it should precede, by slot and then by
    /// creation.
    #[error("out of order: in {session}, {schedule} {slot} came after {other} {other_slot}")]
    OutOfOrder {
        /// The session.
        session: String,
        /// The schedule of the slot that came too late.
        schedule: String,
        /// The slot.
        slot: Moment,
        /// The schedule of the slot that came first.
        other: String,
        /// The slot.
        other_slot: Moment,
    },
    /// A slot was received by another session than the schedule's.
    #[error("wrong session: {schedule} {slot} reached {found}, not {expected}")]
    WrongSession {
        /// The schedule.
        schedule: String,
        /// The slot.
        slot: Moment,
        /// The schedule's session.
        expected: String,
        /// The session that received it.
        found: String,
    },
    /// An event names a schedule that was never created.
    #[error("unknown schedule: {schedule}")]
    UnknownSchedule {
        /// The id that it names.
        schedule: String,
    },
    /// A trigger that the checker cannot compute.
    #[error("no verdict: the trigger of {schedule}: {why}")]
    BadTrigger {
        /// The schedule.
        schedule: String,
        /// The reason.
        why: TriggerError,
    },
}

/// Counts of what was checked, so that an empty report can be told from an empty history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// The number of schedules.
    pub schedules: u64,
    /// Slots before the end of the observation.
    pub slots: u64,
    /// Slots that were received.
    pub received: u64,
    /// Slots that were rightly not received: coalesced, skipped, or cancelled before they were due
    /// to arrive.
    pub excused: u64,
    /// Slots without a verdict, because the observation ended first.
    pub open: u64,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The violations, schedule by schedule.
    pub findings: Vec<Finding>,
    /// The counts of what was checked.
    pub figures: Figures,
}

impl Report {
    /// Whether there are no findings.
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
