//! How a schedule is carried out where the plain course of things does not say: late, too often, into a busy session,
//! after a crash, after a failure.

use super::{Span, names};

names! {
    /// A slot comes while an earlier run of the same schedule has not ended.
    Overlap {
        /// The new slot is skipped, and says so.
        Skip = "skip",
        /// It gets a run of its own. Turns in one session still come one after the other.
        Parallel = "parallel",
    }
}

names! {
    /// Slots passed while nobody was there to see them: the process was down, the schedule paused, the engine held.
    Missed {
        /// The latest of them gets a run; the others are folded into it, and counted.
        RunOnce = "run-once",
        /// None of them gets a run.
        Skip = "skip",
        /// Each gets a run, oldest first; of more than `limits::CATCH_UP` the oldest are skipped.
        All = "all",
    }
}

names! {
    /// A slot comes while the session it goes to is busy.
    WhenBusy {
        /// The run waits for the session, in order.
        Queue = "queue",
        /// The slot is skipped.
        Skip = "skip",
        /// It is folded into a run of the same schedule that waits already; without one it waits.
        Coalesce = "coalesce",
    }
}

names! {
    /// The process ended, or the host was lost, while a run was with its host.
    Recovery {
        /// The run counts as active until its time is up, then as failed: it may have happened, and is not repeated.
        Fail = "fail",
        /// It is handed over again, with the same id.
        Redeliver = "redeliver",
    }
}

names! {
    /// What a run ends with.
    EndsWith {
        /// The host's receipt: the prompt was accepted.
        Receipt = "receipt",
        /// The end of the turn that the prompt began.
        Turn = "turn",
    }
}

/// What applies where the plain course of things does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// An earlier run has not ended.
    pub overlap: Overlap,
    /// Slots passed unseen.
    pub missed: Missed,
    /// A slot that is later than this is skipped; `None` for however late.
    pub max_late: Option<Span>,
    /// The session is busy.
    pub when_busy: WhenBusy,
    /// Process or host were lost in the middle.
    pub recovery: Recovery,
    /// What a run ends with.
    pub ends_with: EndsWith,
    /// How long a run may take from its claim to its end, waiting included; it has failed then. `None` for however long.
    pub timeout: Option<Span>,
    /// How long to wait before each further attempt; as many attempts more as there are entries.
    pub backoff: Vec<Span>,
}

impl Policy {
    /// What applies to a schedule about which nothing is said: psi's.
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
