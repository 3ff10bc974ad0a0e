//! The configuration of a world: its length, its limits, its actions and its faults.

use std::sync::Arc;

use super::sim::behaviour::Behaviour;
use crate::port::Host;

/// A random action in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Opens a session on the built-in host or a connected one, sometimes under an id that is open.
    OpenSession,
    /// Closes a session.
    CloseSession,
    /// Opens a session under the id under which a run is creating one.
    OpenFreshSession,
    /// Creates a schedule of either kind: soon, far, past or now.
    CreateSchedule,
    /// Creates several schedules for one instant.
    CreateBunch,
    /// Cancels a schedule: as its owner, as the operator, as a stranger, or one that does not
    /// exist.
    CancelSchedule,
    /// Reports that a turn began or ended, sometimes twice.
    ReportTurn,
    /// Reports a user message.
    UserMessage,
    /// Reports that a job is ready.
    JobReady,
    /// Pings a session under one of a few names.
    Ping,
    /// Submits one of the hosts' outstanding receipts, in no order.
    AnswerReceipt,
    /// Submits a receipt that no host owes: repeated, too late, of the wrong phase or for an
    /// unknown run.
    FalseReceipt,
    /// Takes some messages out of an inbox, sometimes ones that are not there.
    TakeLeft,
    /// Disconnects a host.
    LoseHost,
    /// Connects a host that takes over sessions: built-in ones, orphans, sometimes one that it may
    /// not have.
    ConnectHost,
    /// Advances the clocks to the next deadline.
    AdvanceToWake,
    /// Advances the clocks to one nanosecond before the next deadline.
    AdvanceNearWake,
    /// Advances the clocks by a random span, past several deadlines or none.
    Advance,
    /// Sets the wall clock forward or back.
    StepWall,
    /// Changes the definition of a schedule.
    Change,
    /// Pauses or resumes a schedule.
    Pause,
    /// Requests a manual run.
    RunNow,
    /// Skips the next slot.
    SkipNext,
    /// Starts or ends the global pause.
    Hold,
    /// Lets a crowd go outside at once, by one channel; only where the configuration adds it.
    CrowdOutside,
    /// Pauses or resumes a channel, one way or both; only where the configuration adds it.
    PauseChannel,
    /// Changes the guard policy.
    ChangeGuard,
    /// Changes the grant of a session.
    ChangeGrant,
    /// Switches families of tools on or off; only where the configuration adds it.
    SwitchFamilies,
    /// Approves or denies a held run.
    SayWord,
    /// Lets the external guard answer, or die.
    GuardSpeaks,
    /// Makes the disk slow for a few actions; only in worlds with a store.
    SlowDisk,
    /// Makes the disk fail from now on: broken, full, busy for a while, with a failing flush, or
    /// with a queue that is full soon; only in worlds with a store.
    FailDisk,
    /// Retries the disk, mostly after repairing it.
    MendDisk,
    /// Calls a tool of one of the dialects as an agent or an operator, and waits for its answer.
    CallTool,
    /// Lets the receiver of a channel answer for a parcel.
    CourierAnswers,
    /// Lets the executor of tools answer a call; only in worlds of calls.
    ExecutorAnswers,
    /// Cancels a call, as its owner or as the operator; only in worlds of calls.
    CancelCall,
    /// Waits for the end of a task, or stops waiting for one; only in worlds of calls.
    AwaitCall,
    /// Makes the wall clock drift against the boot clock from now on, or stops the drift.
    Drift,
    /// Kills the process, loses what is not committed, and starts another one; only in worlds with
    /// a store.
    Crash,
}

/// The configuration of a world. Every field has a sensible default.
#[derive(Clone)]
pub struct WorldConfig {
    /// The number of steps before the faults stop and everything has to end.
    pub steps: u32,
    /// The maximum of open sessions.
    pub sessions_max: usize,
    /// The maximum of connected hosts.
    pub hosts_max: usize,
    /// The maximum of live schedules per session.
    pub session_live_max: u32,
    /// The number of steps between checks of the laws that print the whole state. They are always
    /// checked at the end.
    pub deep_every: u32,
    /// The actions, each as likely as its weight.
    pub actions: Vec<(Action, u32)>,
    /// The behaviours of hosts, each as likely as its weight.
    pub behaviours: Vec<(Behaviour, u32)>,
    /// A real host behind the simulated built-in one, to store transcripts.
    pub local: Option<Arc<dyn Host>>,
    /// One in this many schedules opens a fresh session.
    pub fresh_one_in: u64,
    /// One in this many schedules calls a tool; 0 for none.
    pub calls_one_in: u64,
    /// One in this many schedules is a watch with a condition, with silence, or on disk; 0 for none.
    pub watches_one_in: u64,
    /// Sessions ask for runs of operators' schedules, report jobs themselves, and pause and resume what they own.
    pub sessions_ask: bool,
    /// Schedules are of several families of tools, which are switched on and off, and which grants and rules name.
    pub families: bool,
    /// Prompts are long and come in crowds, so that a few of them use up what a family may have written.
    pub long_prompts: bool,
    /// The courier has places as the real one, and what has one is on its way for a while.
    pub places_outside: bool,
    /// One in this many worlds has a store, with crashes and disk failures.
    pub stored_one_in: u64,
    /// One in this many worlds ends with a shutdown.
    pub shutdown_one_in: u64,
}

impl Default for WorldConfig {
    fn default() -> WorldConfig {
        WorldConfig {
            // Long enough for queues, retries and restarts to meet; short enough for thousands of
            // seeds.
            steps: 150,
            sessions_max: 8,
            hosts_max: 3,
            // Low enough that worlds reach it.
            session_live_max: 12,
            deep_every: 8,
            actions: ACTIONS.to_vec(),
            behaviours: Behaviour::MIXED.to_vec(),
            local: None,
            fresh_one_in: 4,
            calls_one_in: 0,
            watches_one_in: 0,
            sessions_ask: false,
            families: false,
            long_prompts: false,
            places_outside: false,
            stored_one_in: 2,
            shutdown_one_in: 4,
        }
    }
}

impl WorldConfig {
    /// Makes it a world of calls: every second schedule calls a tool, and its session is told what came of it, unless somebody
    /// waits for that. Some of them are watches.
    #[must_use]
    pub fn of_calls(mut self) -> WorldConfig {
        self.calls_one_in = 2;
        self.actions.extend([(Action::ExecutorAnswers, 14), (Action::CancelCall, 3), (Action::AwaitCall, 8)]);
        self
    }

    /// Makes most schedules watches whose results are worth telling, and pings come now and then. The wall clock keeps time, so
    /// that it says how long ago a ping was.
    #[must_use]
    pub fn of_watches(mut self) -> WorldConfig {
        self.watches_one_in = 2;
        (self.sessions_max, self.steps) = (3, 220);
        self.actions.extend([
            (Action::ExecutorAnswers, 12),
            (Action::CancelCall, 2),
            (Action::AdvanceToWake, 70),
            (Action::Ping, 16),
            (Action::Crash, 2),
        ]);
        self.without(Action::StepWall).without(Action::Drift).without(Action::CallTool)
    }

    /// Lets sessions cause runs of what operators have made for them.
    #[must_use]
    pub fn of_asks(self) -> WorldConfig {
        let mut config = self.of_calls();
        config.sessions_ask = true;
        config.actions.extend([(Action::JobReady, 8), (Action::RunNow, 10), (Action::Pause, 8)]);
        config
    }

    /// Lets channels be paused and resumed.
    #[must_use]
    pub fn of_pauses(mut self) -> WorldConfig {
        self.actions.push((Action::PauseChannel, 5));
        self
    }

    /// Makes schedules of several families of tools, which are switched on and off.
    #[must_use]
    pub fn of_families(mut self) -> WorldConfig {
        self.families = true;
        self.actions.push((Action::SwitchFamilies, 6));
        // Tools have arguments of their own for each family, and here the families of schedules are drawn.
        self.without(Action::CallTool)
    }

    /// Lets few sessions have much written at once.
    #[must_use]
    pub fn of_budgets(mut self) -> WorldConfig {
        self.long_prompts = true;
        (self.sessions_max, self.session_live_max, self.fresh_one_in) = (3, 40, 2);
        // The whole state is megabytes of text here.
        self.deep_every = 75;
        self.actions.push((Action::CreateBunch, 12));
        self.without(Action::CallTool)
    }

    /// Lets crowds go outside, so that the places there are used up.
    #[must_use]
    pub fn of_crowds(mut self) -> WorldConfig {
        self.places_outside = true;
        (self.sessions_max, self.session_live_max) = (8, 60);
        self.deep_every = 40;
        self.actions.extend([(Action::CrowdOutside, 30), (Action::CourierAnswers, 20)]);
        self.without(Action::CallTool)
    }

    /// Removes an action from the configuration.
    #[must_use]
    pub fn without(mut self, action: Action) -> WorldConfig {
        self.actions.retain(|(other, _)| *other != action);
        self
    }

    /// Whether this action can happen.
    pub(super) fn has(&self, action: Action) -> bool {
        self.actions.iter().any(|(other, weight)| *other == action && *weight > 0)
    }
}

/// The default weights: work and time in balance, so that queues form and drain.
const ACTIONS: &[(Action, u32)] = &[
    (Action::OpenSession, 6),
    (Action::TakeLeft, 3),
    (Action::CloseSession, 2),
    (Action::OpenFreshSession, 1),
    (Action::CreateSchedule, 24),
    (Action::CreateBunch, 3),
    (Action::CancelSchedule, 7),
    (Action::ReportTurn, 14),
    (Action::UserMessage, 2),
    (Action::JobReady, 2),
    (Action::Ping, 2),
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
