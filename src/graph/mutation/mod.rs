//! The mutations of the graph, each declared once with its parameters.
//!
//! Lives here: the declarations, as an enum of typed calls. Does not live here: executing them (`service`).
//!
//! A new parameter is one line in its group. EQL's check, Pathom's index, GraphQL's arguments, the flags of the command line
//! and the table in docs/ATTRIBUTES.md are walks over these groups.

mod bulk;
mod conditions;
mod memory;
mod run;
mod schedule;
mod session;
mod when;

pub use bulk::{BulkAction, BulkParams, ChangeMany};
pub use conditions::{Conditions, LifetimeParams, PolicyParams};
pub(crate) use conditions::{LIFETIME, POLICY, print_lifetime, print_policy};
pub use memory::{
    FactParams, GoalParams, GoalRequest, NewTask, RememberRequest, StatusParams, TaskChange, TaskParams,
};
pub use run::{Approve, DeniedParams, Deny, DigestParams, RunParams};
pub use schedule::{
    ChangeParams, ChangeRequest, CreateSchedule, NewScheduleParams, ParsedChange, PauseRequest, ReasonParams,
    Reschedule, RunRequest, SlotParams, WhichParams,
};
pub use session::{
    BusyParams, BusyReport, CountParams, GrantParams, GrantRight, JobParams, JobReady, OpenSession, PauseAll,
    PingParams, PingRequest, SaidParams, SessionParams, TakeRequest, UserMessage,
};
#[cfg(feature = "embed")]
pub(crate) use when::unknown_zone;
pub use when::{IfPast, ParsedWhen, TRIGGER, TriggerKind, TriggerParams, UNDERSTOOD, WhenParams};

use super::params::CheckedParams;
use super::registry::{self, ParamFault, ParamGroups, Visibility};
use super::schedule_filter::ScheduleFilter;
use super::view::Scheduler;
use crate::domain::{CallerRole, Op, names};
use crate::edn::Map;

/// The parameters of one mutation.
pub(crate) trait MutationParams: Sized {
    /// The table of the parameters.
    const GROUPS: ParamGroups;

    /// Reads the parameters.
    ///
    /// # Errors
    /// Returns the first one that is invalid.
    fn read(given: &CheckedParams<'_>) -> Result<Self, ParamFault>;
}

/// Implements [`MutationParams`] for calls that consist of several groups.
macro_rules! calls {
    ($($call:ident { $($field:ident: $group:ty),+ $(,)? })+) => {
        $(impl MutationParams for $call {
            const GROUPS: ParamGroups = &[$(<$group>::GROUP),+];

            fn read(given: &CheckedParams<'_>) -> Result<Self, ParamFault> {
                Ok($call { $($field: <$group>::read(given)?),+ })
            }
        })+
    };
}

/// Implements [`MutationParams`] for calls that consist of one group.
macro_rules! call {
    ($($group:ty),+ $(,)?) => {
        $(impl MutationParams for $group {
            const GROUPS: ParamGroups = &[<$group>::GROUP];

            fn read(given: &CheckedParams<'_>) -> Result<Self, ParamFault> {
                <$group>::read(given)
            }
        })+
    };
}

calls! {
    CreateSchedule { new: NewScheduleParams, when: WhenParams, conditions: Conditions }
    RunRequest { which: WhichParams, slot: SlotParams }
    PauseRequest { which: WhichParams, why: ReasonParams }
    ChangeMany { which: ScheduleFilter, how: BulkParams }
    TakeRequest { of: SessionParams, count: CountParams }
    UserMessage { of: SessionParams, said: SaidParams }
    BusyReport { of: SessionParams, busy: BusyParams }
    JobReady { of: SessionParams, job: JobParams }
    PauseAll { of: SessionParams, why: ReasonParams }
    PingRequest { of: SessionParams, ping: PingParams }
    RememberRequest { of: SessionParams, fact: FactParams }
    GoalRequest { of: SessionParams, goal: GoalParams }
    NewTask { of: SessionParams, task: TaskParams }
    TaskChange { of: SessionParams, to: StatusParams }
    Approve { which: RunParams, shown: DigestParams }
    Deny { which: RunParams, what: DeniedParams, why: ReasonParams }
}

call!(WhichParams, ReasonParams, SessionParams, OpenSession, GrantParams);

// Not a mutation of its own: a what-if query takes a change too, and executes nothing.
impl ChangeRequest {
    /// Reads the change.
    ///
    /// # Errors
    /// Returns the first parameter that is invalid.
    pub(crate) fn read(given: &CheckedParams<'_>) -> Result<ChangeRequest, ParamFault> {
        Ok(ChangeRequest {
            texts: ChangeParams::read(given)?,
            when: WhenParams::read(given)?,
            conditions: Conditions::read(given)?,
        })
    }
}

impl MutationParams for Reschedule {
    const GROUPS: ParamGroups =
        &[WhichParams::GROUP, WhenParams::GROUP, ChangeParams::GROUP, Conditions::GROUP];

    fn read(given: &CheckedParams<'_>) -> Result<Self, ParamFault> {
        Ok(Reschedule { which: WhichParams::read(given)?, change: ChangeRequest::read(given)? })
    }
}

/// The parameters of a mutation that takes none.
#[derive(Clone, Debug, PartialEq)]
pub struct Nothing;

impl MutationParams for Nothing {
    const GROUPS: ParamGroups = &[];

    fn read(_given: &CheckedParams<'_>) -> Result<Self, ParamFault> {
        Ok(Nothing)
    }
}

/// Declares the mutations: documentation, parameters, name, output in EQL, and the operation, by which callers are admitted.
macro_rules! mutations {
    ($($(#[doc = $doc:literal])+ $variant:ident($params:ty) = $name:literal -> $output:expr, $op:ident;)+) => {
        names! {
            /// The name of a mutation.
            MutationName {
                $($(#[doc = $doc])+ $variant = $name,)+
            }
        }

        /// A call of a mutation, with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Mutation {
            // Boxed, because the parameters of a creation are many times larger than those of most calls.
            $($(#[doc = $doc])+ $variant(Box<$params>),)+
        }

        impl MutationName {
            /// Returns the table of its parameters.
            pub const fn params(self) -> ParamGroups {
                match self { $(MutationName::$variant => <$params as MutationParams>::GROUPS,)+ }
            }

            /// Returns the operation that it is.
            pub const fn op(self) -> Op {
                match self { $(MutationName::$variant => Op::$op,)+ }
            }

            /// Reads the parameters of a call.
            ///
            /// # Errors
            /// Returns a parameter that is not declared, is given twice, is missing, or is invalid.
            pub(crate) fn read(self, params: &Map) -> Result<Mutation, ParamFault> {
                let given = CheckedParams::checked(params, self.params())?;
                Ok(match self {
                    $(MutationName::$variant => {
                        Mutation::$variant(Box::new(<$params as MutationParams>::read(&given)?))
                    })+
                })
            }
        }

        /// Returns the mutations as the registry declares them.
        pub(super) fn all() -> Vec<registry::Mutation<Scheduler>> {
            vec![$(
                registry::Mutation::<Scheduler>::new(
                    $name,
                    $output,
                    |params| MutationName::$variant.read(params),
                    // Admitted before the fault of a parameter is looked at, so that a caller without the right learns
                    // nothing of it.
                    |hand, mutation| hand.admit(MutationName::$variant)?.carry_out(mutation?),
                )
                .doc(MutationName::$variant.doc())
                .params(MutationName::$variant.params())
                .open_to(visibility(Op::$op)),
            )+]
        }
    };
}

/// Who sees a mutation. What is beyond every session does not exist for sessions: the whole, and new sessions.
fn visibility(op: Op) -> Visibility {
    if op == Op::OpenSession {
        return Visibility::Host;
    }
    if op.rule().roles.contains(&CallerRole::Host) { Visibility::Owner } else { Visibility::Operator }
}

const CREATED: &[&str] = &["psi.scheduler/schedule-id", "psi.scheduler/created?", "psi.scheduler/understood"];
const CHANGED: &[&str] = &["psi.scheduler/schedule-id", "psi.scheduler/understood"];
const SCHEDULE: &[&str] = &["psi.scheduler/schedule-id"];
const RAN: &[&str] = &["psi.scheduler/schedule-id", "psi.scheduler/next-fire-at"];
const SESSION: &[&str] = &["psi.agent-session/session-id"];
const OPENED: &[&str] = &["psi.agent-session/session-id", "psi.agent-session/token"];
const COUNTS: &[&str] =
    &["psi.agent-session/session-id", "psi.agent-session/changed-count", "psi.agent-session/left-count"];
const TAKEN: &[&str] =
    &["psi.agent-session/session-id", "psi.agent-session/taken", "psi.agent-session/inbox-count"];
const MANY: &[&str] =
    &["psi.scheduler/matched-count", "psi.scheduler/changed-count", "psi.scheduler/unchanged-count"];
const NOTED: &[&str] = &["psi.agent-session/session-id", "psi.agent-session/noted-id"];
const PINGED: &[&str] = &["psi.agent-session/session-id", "psi.agent-session/pinged-at"];
const PAUSED: &[&str] = &["reveille.engine/held"];
const RUN: &[&str] = &["reveille.run/id"];

mutations! {
    /// Creates a schedule. Exactly one of when, trigger, cron, every-ms, delay-ms and at gives its time.
    Create(CreateSchedule) = "psi.scheduler/create" -> CREATED, Create;
    /// Cancels a schedule that is pending, paused or queued. For any other, the request is refused with the status.
    Cancel(WhichParams) = "psi.scheduler/cancel" -> SCHEDULE, Cancel;
    /// Changes the definition of a schedule. Omitted parts stay unchanged.
    Reschedule(Reschedule) = "psi.scheduler/reschedule" -> CHANGED, Change;
    /// Starts a run immediately. Of a schedule with a single slot it is the only run, unless keep-slot is true; the slots of
    /// others stay unchanged. Answers the slot that is still to come, if there is one.
    RunNow(RunRequest) = "psi.scheduler/run-now" -> RAN, Change;
    /// Pauses a schedule: its slots get no runs until it is resumed.
    Pause(PauseRequest) = "psi.scheduler/pause" -> SCHEDULE, Change;
    /// Resumes a paused schedule. Slots that passed meanwhile count as missed.
    Resume(WhichParams) = "psi.scheduler/resume" -> SCHEDULE, Change;
    /// Skips the next slot: it passes without a run.
    SkipNext(WhichParams) = "psi.scheduler/skip-next" -> SCHEDULE, Change;
    /// Tries again what failed: a schedule with a single slot becomes due now, under a new run; one that recurs gets a run at
    /// once. Refused unless its last run failed.
    Retry(WhichParams) = "psi.scheduler/retry" -> RAN, Change;
    /// Cancels, pauses or resumes all unfinished schedules that a filter admits. The number of them has to be given, as a
    /// list or a dry run showed it; if it is another one by now, nothing is changed.
    ChangeMany(ChangeMany) = "psi.scheduler/change-many" -> MANY, Change;
    /// Cancels all schedules of a session, except those whose runs are with a host.
    CancelAll(SessionParams) = "psi.agent-session/cancel-all" -> COUNTS, Cancel;
    /// Pauses all schedules of a session.
    PauseAll(PauseAll) = "psi.agent-session/pause-all" -> COUNTS, Change;
    /// Resumes all paused schedules of a session.
    ResumeAll(SessionParams) = "psi.agent-session/resume-all" -> COUNTS, Change;
    /// Holds all schedules: no slot gets a run, and no run is handed over, until the hold is released.
    HoldAll(ReasonParams) = "psi.scheduler/hold-all" -> PAUSED, Hold;
    /// Releases the hold on all schedules. Schedules that are paused individually stay paused.
    ReleaseAll(Nothing) = "psi.scheduler/release-all" -> PAUSED, Hold;
    /// Approves a held run with the content that the digest stands for. If that has changed, the request is a conflict. With the
    /// digest of a question that waits in the run's turn, lets the agent do what it asks for, this once.
    Approve(Approve) = "reveille.run/approve" -> RUN, Approve;
    /// Denies a held run, which then fails; or what the agent asks for in the run's turn, which then goes on without it.
    Deny(Deny) = "reveille.run/deny" -> RUN, Approve;
    /// Changes what a session may do. This takes effect immediately, also for the runs of its existing schedules.
    SetGrant(GrantParams) = "psi.agent-session/set-grant" -> SESSION, SetGrant;
    /// Opens a session of the built-in host. Its token is shown only in this answer.
    Open(OpenSession) = "psi.agent-session/open" -> OPENED, OpenSession;
    /// Closes a session and cancels its schedules. For hosts and operators.
    Close(SessionParams) = "psi.agent-session/close" -> SESSION, CloseSession;
    /// Takes messages out of the inbox of a session in which nobody listens: they count as delivered from then on.
    TakeMessages(TakeRequest) = "psi.agent-session/take-messages" -> TAKEN, Take;
    /// Has a session remember a fact. One that it knows already, in any case of its letters, is not stored again. Secrets in it
    /// are replaced.
    Remember(RememberRequest) = "psi.agent-session/remember" -> NOTED, Remember;
    /// Sets the goal of a session, in place of an earlier one.
    SetGoal(GoalRequest) = "psi.agent-session/set-goal" -> SESSION, Remember;
    /// Notes down a task of a session. Nothing runs because of it.
    CreateTask(NewTask) = "psi.agent-session/create-task" -> NOTED, Remember;
    /// Changes how far a task of a session is.
    UpdateTask(TaskChange) = "psi.agent-session/update-task" -> NOTED, Remember;
    /// Pings a session: notes that a job that should run regularly has run. The tool ping.age says how long ago that was, so that
    /// a watch of it tells when a ping is overdue.
    Ping(PingRequest) = "psi.agent-session/ping" -> PINGED, Ping;
    /// Sends a person's message to a session. For hosts and operators.
    UserMessage(UserMessage) = "psi.agent-session/send-user-message" -> SESSION, UserMessage;
    /// Reports that a turn began or ended. For hosts and operators.
    Busy(BusyReport) = "psi.agent-session/set-busy" -> SESSION, Busy;
    /// Reports that a job is ready. Schedules that wait for it become due. For hosts and operators.
    JobReady(JobReady) = "psi.agent-session/job-ready" -> SESSION, JobReady;
}
