//! How a world is made: how long, how wide, how faulty.

use std::sync::Arc;

use super::behaviour::Behaviour;
use crate::port::Host;

/// One thing that can happen to a world in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Somebody opens a session, on the built-in host or a connected one, at times under an id that is taken.
    OpenSession,
    /// Somebody closes a session.
    CloseSession,
    /// Somebody opens a session under the very id that a run is creating one under.
    OpenFreshSession,
    /// A schedule is created: either kind, soon, far, past or at this instant.
    CreateSchedule,
    /// Several schedules for one instant are created.
    CreateBunch,
    /// A schedule is cancelled: by its owner, the operator, a stranger, or one that does not exist.
    CancelSchedule,
    /// A host reports that a turn began or ended, at times twice.
    ReportTurn,
    /// A person speaks.
    UserMessage,
    /// A job reports that it is ready.
    JobReady,
    /// A host submits one of the receipts that it owes, in no order.
    AnswerReceipt,
    /// A receipt comes that nobody owes: repeated, too late, of the wrong phase or for an unknown run.
    FalseReceipt,
    /// A connected host is lost.
    LoseHost,
    /// A host connects, and takes over sessions: built-in ones, orphans, at times one that it may not have.
    ConnectHost,
    /// Time passes until the next deadline.
    AdvanceToWake,
    /// Time passes until just before the next deadline.
    AdvanceNearWake,
    /// Time passes, past several deadlines or none.
    Advance,
    /// The wall clock is stepped, either way.
    StepWall,
    /// A schedule is given another definition.
    Change,
    /// A schedule is paused, or resumed.
    Pause,
    /// Somebody wants a run at once.
    RunNow,
    /// Somebody wants the next slot skipped.
    SkipNext,
    /// Everything is held, or released.
    Hold,
    /// What runs are measured by when they are about to be handed over is changed.
    ChangeGuard,
    /// What a session may do is changed.
    ChangeGrant,
    /// An operator approves a run that is held, or denies it.
    SayWord,
    /// The guard outside answers, or dies.
    GuardSpeaks,
    /// The disk is slow, and things happen before it answers; only where something is kept.
    SlowDisk,
    /// The disk fails from here on: gone, full, locked for a while, with a flush that fails, or with a queue that is full soon;
    /// only where something is kept.
    FailDisk,
    /// The disk is tried again, mostly after it was mended.
    MendDisk,
    /// An agent or an operator calls a tool of one of the dialects, and waits for its answer.
    CallTool,
    /// Somebody outside says what became of a parcel, or nobody ever will.
    CourierAnswers,
    /// The wall clock runs faster or slower than the boot clock from here on, or as fast again.
    Drift,
    /// The process dies, with what is not written, and another takes up what is; only where something is kept.
    Crash,
}

/// How a world is made. Every field has a sensible default.
#[derive(Clone)]
pub struct WorldConfig {
    /// How many steps it lives, before the faults stop and everything has to end.
    pub steps: u32,
    /// How many sessions it opens at most.
    pub sessions_max: usize,
    /// How many hosts are connected at most.
    pub hosts_max: usize,
    /// How many unfinished schedules a session may have.
    pub session_live_max: u32,
    /// After how many steps the laws that read the whole state as text are asked; they are always asked at the end.
    pub deep_every: u32,
    /// What happens, each as often as its weight.
    pub actions: Vec<(Action, u32)>,
    /// How hosts behave, each as often as its weight.
    pub behaviours: Vec<(Behaviour, u32)>,
    /// A real host behind the simulated built-in one, to keep transcripts.
    pub local: Option<Arc<dyn Host>>,
    /// How many such worlds keep what is to be kept, through crashes: one in so many.
    pub stored_one_in: u64,
    /// How many such worlds end with a shutdown instead: one in so many.
    pub shutdown_one_in: u64,
}

impl Default for WorldConfig {
    fn default() -> WorldConfig {
        WorldConfig {
            steps: 150,
            sessions_max: 8,
            hosts_max: 3,
            session_live_max: 12,
            deep_every: 8,
            actions: ACTIONS.to_vec(),
            behaviours: Behaviour::MIXED.to_vec(),
            local: None,
            stored_one_in: 2,
            shutdown_one_in: 4,
        }
    }
}

impl WorldConfig {
    /// The same world without one action.
    #[must_use]
    pub fn without(mut self, action: Action) -> WorldConfig {
        self.actions.retain(|(other, _)| *other != action);
        self
    }

    /// Whether this can happen.
    pub(super) fn has(&self, action: Action) -> bool {
        self.actions.iter().any(|(other, weight)| *other == action && *weight > 0)
    }
}

/// Work and time in balance, so that queues form and drain.
const ACTIONS: &[(Action, u32)] = &[
    (Action::OpenSession, 6),
    (Action::CloseSession, 2),
    (Action::OpenFreshSession, 1),
    (Action::CreateSchedule, 24),
    (Action::CreateBunch, 3),
    (Action::CancelSchedule, 7),
    (Action::ReportTurn, 14),
    (Action::UserMessage, 2),
    (Action::JobReady, 2),
    (Action::AnswerReceipt, 18),
    (Action::FalseReceipt, 3),
    (Action::LoseHost, 1),
    (Action::ConnectHost, 2),
    (Action::AdvanceToWake, 14),
    (Action::AdvanceNearWake, 5),
    (Action::Advance, 5),
    (Action::StepWall, 2),
    (Action::Change, 4),
    (Action::Pause, 4),
    (Action::RunNow, 3),
    (Action::SkipNext, 2),
    (Action::Hold, 2),
    (Action::ChangeGuard, 2),
    (Action::ChangeGrant, 1),
    (Action::SayWord, 4),
    (Action::GuardSpeaks, 4),
    (Action::SlowDisk, 2),
    (Action::FailDisk, 2),
    (Action::MendDisk, 4),
    (Action::CallTool, 10),
    (Action::CourierAnswers, 5),
    (Action::Drift, 1),
    (Action::Crash, 2),
];
