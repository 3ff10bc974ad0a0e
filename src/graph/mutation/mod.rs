//! What can be changed through the graph: each mutation once, with its parameters.
//!
//! Lives here: the declarations, as an enum of typed calls. Does not live here: carrying them out (`service`).
//!
//! Adding a parameter is one line in the group that it belongs to; EQL's check, Pathom's index, GraphQL's arguments, the flags
//! of the command line and the table in docs/ATTRIBUTES.md are walks over these groups.

mod conditions;
mod run;
mod schedule;
mod session;
mod when;

pub use conditions::{
    Conditions, LIFETIME, LifetimeParams, POLICY, PolicyParams, print_lifetime, print_policy,
};
pub use run::{Approve, Deny, DigestParams, RunParams};
pub use schedule::{
    ChangeParams, ChangeRequest, CreateSchedule, NewScheduleParams, ParsedChange, PauseRequest, ReasonParams,
    Reschedule, WhichParams,
};
pub use session::{
    BusyParams, BusyReport, GrantParams, GrantRight, JobParams, JobReady, OpenSession, PauseAll, SaidParams,
    SessionParams, UserMessage,
};
pub use when::{IfPast, ParsedWhen, TRIGGER, TriggerKind, TriggerParams, UNDERSTOOD, WhenParams};

use super::params::CheckedParams;
use super::registry::{self, ParamFault, ParamGroups, Visibility};
use super::view::Scheduler;
use crate::domain::names;
use crate::edn::Map;

/// The parameters of one mutation.
pub trait MutationParams: Sized {
    /// The table of them.
    const GROUPS: ParamGroups;

    /// Reads them.
    ///
    /// # Errors
    /// The first one that is not what it must be.
    fn read(given: &CheckedParams<'_>) -> Result<Self, ParamFault>;
}

/// A call of several groups.
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

/// A call of one group.
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
    PauseRequest { which: WhichParams, why: ReasonParams }
    UserMessage { of: SessionParams, said: SaidParams }
    BusyReport { of: SessionParams, busy: BusyParams }
    JobReady { of: SessionParams, job: JobParams }
    PauseAll { of: SessionParams, why: ReasonParams }
    Approve { which: RunParams, shown: DigestParams }
    Deny { which: RunParams, why: ReasonParams }
}

call!(WhichParams, ReasonParams, SessionParams, OpenSession, GrantParams);

impl ChangeRequest {
    /// The table of what can be otherwise.
    pub const GROUPS: [&'static registry::ParamGroup; 3] =
        [WhenParams::GROUP, ChangeParams::GROUP, Conditions::GROUP];

    /// Reads it.
    ///
    /// # Errors
    /// The first parameter that is not what it must be.
    pub fn read(given: &CheckedParams<'_>) -> Result<ChangeRequest, ParamFault> {
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

/// Declares the mutations: documentation, parameters, name, output in EQL, and who may call it.
macro_rules! mutations {
    ($($(#[doc = $doc:literal])+ $variant:ident($params:ty) = $name:literal -> $output:expr, $visibility:ident;)+) => {
        names! {
            /// The name of a mutation.
            MutationName {
                $($(#[doc = $doc])+ $variant = $name,)+
            }
        }

        /// A call of a mutation, with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Mutation {
            $($(#[doc = $doc])+ $variant(Box<$params>),)+
        }

        impl MutationName {
            /// The table of its parameters.
            pub const fn params(self) -> ParamGroups {
                match self { $(MutationName::$variant => <$params as MutationParams>::GROUPS,)+ }
            }

            /// Reads the parameters of a call.
            ///
            /// # Errors
            /// A parameter that is not declared, is given twice, is missing, or is not what it must be.
            pub fn read(self, params: &Map) -> Result<Mutation, ParamFault> {
                let given = CheckedParams::checked(params, self.params())?;
                Ok(match self {
                    $(MutationName::$variant => {
                        Mutation::$variant(Box::new(<$params as MutationParams>::read(&given)?))
                    })+
                })
            }
        }

        /// What the registry is told of them.
        pub(super) fn all() -> Vec<registry::Mutation<Scheduler>> {
            vec![$(
                registry::Mutation::<Scheduler>::new(
                    $name,
                    $output,
                    |params| MutationName::$variant.read(params),
                    |hand, mutation| hand.execute(mutation),
                )
                .doc(MutationName::$variant.doc())
                .params(MutationName::$variant.params())
                .open_to(Visibility::$visibility),
            )+]
        }
    };
}

const CREATED: &[&str] = &["psi.scheduler/schedule-id", "psi.scheduler/created?", "psi.scheduler/understood"];
const CHANGED: &[&str] = &["psi.scheduler/schedule-id", "psi.scheduler/understood"];
const SCHEDULE: &[&str] = &["psi.scheduler/schedule-id"];
const SESSION: &[&str] = &["psi.agent-session/session-id"];
const OPENED: &[&str] = &["psi.agent-session/session-id", "psi.agent-session/token"];
const COUNTS: &[&str] =
    &["psi.agent-session/session-id", "psi.agent-session/changed-count", "psi.agent-session/left-count"];
const PAUSED: &[&str] = &["reveille.engine/held"];
const RUN: &[&str] = &["reveille.run/id"];

mutations! {
    /// Creates a schedule. One of when, trigger, cron, every-ms, delay-ms and at says when it happens.
    Create(CreateSchedule) = "psi.scheduler/create" -> CREATED, Owner;
    /// Cancels a schedule that is pending or queued. Others are refused with their status.
    Cancel(WhichParams) = "psi.scheduler/cancel" -> SCHEDULE, Owner;
    /// Gives a schedule another definition. What is left out stays as it is.
    Reschedule(Reschedule) = "psi.scheduler/reschedule" -> CHANGED, Owner;
    /// Begins a run at once and leaves the slots as they are.
    RunNow(WhichParams) = "psi.scheduler/run-now" -> SCHEDULE, Owner;
    /// Gives no slot of a schedule a run until it is resumed.
    Pause(PauseRequest) = "psi.scheduler/pause" -> SCHEDULE, Owner;
    /// Lets a paused schedule continue. Slots that passed meanwhile were missed.
    Resume(WhichParams) = "psi.scheduler/resume" -> SCHEDULE, Owner;
    /// Lets the next slot pass without a run.
    SkipNext(WhichParams) = "psi.scheduler/skip-next" -> SCHEDULE, Owner;
    /// Cancels all schedules of a session that are not with a host.
    CancelAll(SessionParams) = "psi.agent-session/cancel-all" -> COUNTS, Owner;
    /// Pauses all schedules of a session.
    PauseAll(PauseAll) = "psi.agent-session/pause-all" -> COUNTS, Owner;
    /// Lets all paused schedules of a session continue.
    ResumeAll(SessionParams) = "psi.agent-session/resume-all" -> COUNTS, Owner;
    /// Claims nothing and hands nothing over until everything is released.
    HoldAll(ReasonParams) = "psi.scheduler/hold-all" -> PAUSED, Operator;
    /// Lets everything continue. A schedule that was paused by itself stays paused.
    ReleaseAll(Nothing) = "psi.scheduler/release-all" -> PAUSED, Operator;
    /// Approves a run that is held, as it was shown. An edit since then is a conflict.
    Approve(Approve) = "reveille.run/approve" -> RUN, Operator;
    /// Denies a run that is held, which fails.
    Deny(Deny) = "reveille.run/deny" -> RUN, Operator;
    /// Changes what a session may do, at once, the runs of its schedules included.
    SetGrant(GrantParams) = "psi.agent-session/set-grant" -> SESSION, Operator;
    /// Opens a session of the built-in host. The token is in the answer, once.
    Open(OpenSession) = "psi.agent-session/open" -> OPENED, Operator;
    /// Closes a session and cancels its schedules. For hosts and operators.
    Close(SessionParams) = "psi.agent-session/close" -> SESSION, Owner;
    /// Puts a person's message into a session. For hosts and operators.
    UserMessage(UserMessage) = "psi.agent-session/send-user-message" -> SESSION, Owner;
    /// Reports that a turn began or ended. For hosts and operators.
    Busy(BusyReport) = "psi.agent-session/set-busy" -> SESSION, Owner;
    /// Reports that a job is ready, so that what waits for it happens now. For hosts and operators.
    JobReady(JobReady) = "psi.agent-session/job-ready" -> SESSION, Owner;
}
