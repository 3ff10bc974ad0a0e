//! Policy of a schedule: what happens to late or overlapping slots, with a busy session, after a
//! crash, and after a failure.

use crate::domain::{Span, names};

names! {
    /// What happens to a slot that is due while an earlier run of the same schedule has not ended.
    Overlap {
        /// The new slot is skipped, with a reason.
        Skip = "skip",
        /// The slot gets a run of its own, unless `limits::RUNS_LIVE` runs have not ended. Turns in one session still run one
        /// after the other.
        Parallel = "parallel",
    }
}

names! {
    /// What happens to slots that passed while they could not be claimed: the process was down, the
    /// schedule paused, or everything held.
    Missed {
        /// The latest of them gets a run; the others are folded into it, and counted.
        RunOnce = "run-once",
        /// None of them gets a run.
        Skip = "skip",
        /// Each gets a run, oldest first; of more than `limits::CATCH_UP` slots, the oldest are
        /// skipped.
        All = "all",
    }
}

names! {
    /// What happens to a slot that is due while the target session is busy.
    WhenBusy {
        /// The run waits for the session, in order.
        Queue = "queue",
        /// The slot is skipped.
        Skip = "skip",
        /// The slot is folded into a run of the same schedule that already waits; if there is none,
        /// its run waits.
        Coalesce = "coalesce",
    }
}

names! {
    /// What happens to a run that was with its host when the process ended or the host was lost.
    Recovery {
        /// A run of a connected host is not repeated, because it may have happened. It fails at once, unless the host may still
        /// end it within its timeout.
        Fail = "fail",
        /// A durable run is handed over again, with the same id; a volatile one fails.
        Redeliver = "redeliver",
    }
}

names! {
    /// The event that ends a run.
    EndsWith {
        /// The host's receipt: the prompt was accepted.
        Receipt = "receipt",
        /// The end of the turn that the prompt began.
        Turn = "turn",
    }
}

/// How a schedule handles late, overlapping, failed and interrupted runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What happens to a slot that is due while an earlier run has not ended.
    pub overlap: Overlap,
    /// What happens to slots that passed while they could not be claimed.
    pub missed: Missed,
    /// A slot that is noticed later than this is skipped; `None` for no such bound.
    pub max_late: Option<Span>,
    /// What happens to a slot that is due while the session is busy.
    pub when_busy: WhenBusy,
    /// What happens to a run whose process or host was lost.
    pub recovery: Recovery,
    /// The event that ends a run.
    pub ends_with: EndsWith,
    /// Time limit of a run from its claim to its end, waiting included; after it the run fails.
    /// `None` for no limit.
    pub timeout: Option<Span>,
    /// The wait before each further attempt; there are as many further attempts as entries.
    pub backoff: Vec<Span>,
}

impl Policy {
    /// The default: psi's policy.
    pub const PLAIN: Policy = Policy {
        overlap: Overlap::Skip,
        missed: Missed::RunOnce,
        max_late: None,
        when_busy: WhenBusy::Queue,
        recovery: Recovery::Redeliver,
        ends_with: EndsWith::Receipt,
        timeout: None,
        backoff: Vec::new(),
    };
}
