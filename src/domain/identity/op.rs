//! Operations: everything that a caller can ask for, and who may ask for it.
//!
//! Each surface says by an operation what it was asked for, and `service::admission` decides by the rule of that operation.
//! What lives elsewhere: which operation a mutation, a tool, a route or a request is (beside each of them).
//!
//! Invariant: every operation has one rule. What has no operation cannot be asked for: it does not compile.

use crate::domain::{CallerRole, Dialect, Gate, names};
use crate::limits::{self, Limit};

/// Declares the operations: documentation, name, whether they read or change, who may, and what else is checked.
macro_rules! ops {
    ($($(#[doc = $doc:literal])+ $op:ident = $name:literal: $verb:ident by $roles:ident $($check:ident $(($of:ident))?)*;)+) => {
        names! {
            /// Something that a caller can ask for.
            Op {
                $($(#[doc = $doc])+ $op = $name,)+
            }
        }

        impl Op {
            /// Returns the rule of the operation.
            pub const fn rule(self) -> OpRule {
                match self {
                    $(Op::$op => OpRule::$verb($roles)
                        $(.$check($(Dialect::$of)?))*,)+
                }
            }
        }
    };
}

/// Who may ask for an operation, and what else is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpRule {
    /// Whether it changes anything.
    pub changes: bool,
    /// The roles that may ask for it.
    pub roles: &'static [CallerRole],
    /// Whether the grant of the caller's session has to cover it.
    pub is_granted: bool,
    /// The family of tools that the grant has to cover, whether the caller asks by a tool, a mutation or a route; `None` for that
    /// of the tool, and of the crate's own tools where there is none.
    pub family: Option<Dialect>,
    /// The rate limit of the caller's session that it counts against, per minute. Each limit has a budget of its own.
    pub rate: Option<Limit>,
    /// The time per minute of the caller's session that it takes from. How much is known only afterwards.
    pub time: Option<Limit>,
    /// The switch that has to be on.
    pub gate: Option<Gate>,
}

impl OpRule {
    const fn reads(roles: &'static [CallerRole]) -> OpRule {
        OpRule { changes: false, roles, is_granted: false, family: None, rate: None, time: None, gate: None }
    }

    const fn changes(roles: &'static [CallerRole]) -> OpRule {
        OpRule { changes: true, ..OpRule::reads(roles) }
    }

    const fn granted(self) -> OpRule {
        OpRule { is_granted: true, ..self }
    }

    const fn granted_with(self, family: Dialect) -> OpRule {
        OpRule { is_granted: true, family: Some(family), ..self }
    }

    const fn counted_as_creation(self) -> OpRule {
        OpRule { rate: Some(limits::CREATES_PER_MINUTE), ..self }
    }

    const fn behind_memory(self) -> OpRule {
        OpRule { gate: Some(Gate::Memory), ..self }
    }

    const fn behind_watchers(self) -> OpRule {
        OpRule { gate: Some(Gate::Watchers), ..self }
    }

    const fn counted_as_change(self) -> OpRule {
        OpRule { rate: Some(limits::CHANGES_PER_MINUTE), ..self }
    }

    const fn taking_query_time(self) -> OpRule {
        OpRule { time: Some(limits::QUERY_MS_PER_MINUTE), ..self }
    }
}

/// Those who may see something; what it is depends on their scope.
const READERS: &[CallerRole] =
    &[CallerRole::Operator, CallerRole::Observer, CallerRole::Host, CallerRole::Session];
/// The roles that see the whole.
const OVERSEERS: &[CallerRole] = &[CallerRole::Operator, CallerRole::Observer];
const OPERATORS: &[CallerRole] = &[CallerRole::Operator];
/// Those who run sessions: what they report about a session is never a model's to say.
const HOSTS: &[CallerRole] = &[CallerRole::Operator, CallerRole::Host];
/// Those who have schedules.
const OWNERS: &[CallerRole] = &[CallerRole::Operator, CallerRole::Host, CallerRole::Session];
/// Those who tell a session what happened outside.
const SENDERS: &[CallerRole] = &[CallerRole::Operator, CallerRole::Channel];

ops! {
    /// Reads schedules, runs and sessions, as a tool or a route lists them.
    Query = "query": reads by READERS;
    /// Queries the graph, in any language: schedules, runs, sessions, decisions, forecasts and explanations.
    Graph = "graph/query": reads by READERS taking_query_time;
    /// Queries the graph as of an instant in the past.
    AsOf = "graph/as-of": reads by READERS taking_query_time;
    /// Follows decisions, schedules or messages as they change.
    Follow = "follow": reads by READERS;
    /// Reads the whole schema by introspection.
    Introspect = "introspect": reads by OVERSEERS;
    /// Reads the counters of the process.
    Metrics = "metrics": reads by OVERSEERS;
    /// Creates a schedule.
    Create = "schedule/create": changes by OWNERS granted counted_as_creation;
    /// Changes, pauses, resumes or starts schedules, or skips a slot.
    Change = "schedule/change": changes by OWNERS granted counted_as_change;
    /// Cancels or deletes schedules.
    Cancel = "schedule/cancel": changes by OWNERS granted counted_as_change;
    /// Calls tools of executors, at once or as a task.
    Call = "tool/call": changes by OWNERS granted counted_as_change;
    /// Takes messages out of a session's inbox.
    Take = "inbox/take": changes by OWNERS granted counted_as_change;
    /// Changes what a session remembers.
    Remember = "memory/change": changes by OWNERS granted_with(Memory) counted_as_change behind_memory;
    /// Pings a session.
    Ping = "session/ping": changes by OWNERS granted_with(Watch) counted_as_change behind_watchers;
    /// Reports that a job of the caller's own session is ready.
    ReportJob = "job/report": changes by OWNERS granted_with(SessionAction) counted_as_change;
    /// Opens a session.
    OpenSession = "session/open": changes by HOSTS;
    /// Closes a session.
    CloseSession = "session/close": changes by HOSTS;
    /// Reports what a person said in a session.
    UserMessage = "session/user-message": changes by HOSTS;
    /// Reports that a turn of a session began or ended.
    Busy = "session/busy": changes by HOSTS;
    /// Reports that a job of a session is ready.
    JobReady = "session/job-ready": changes by HOSTS;
    /// Attaches a connection as the host of sessions.
    AttachHost = "host/attach": changes by HOSTS;
    /// Says which conversation a process of an agent is in and what it shows, or asks.
    BindAgent = "agent/bind": changes by OPERATORS;
    /// Acknowledges or refuses a delivery.
    Receipt = "delivery/receipt": changes by HOSTS;
    /// Holds all schedules, or releases the hold.
    Hold = "hold": changes by OPERATORS;
    /// Approves or denies a held run.
    Approve = "run/approve": changes by OPERATORS;
    /// Lets browsers in at the dashboard, or logs them out.
    Dashboard = "dashboard": changes by OPERATORS;
    /// Ends the login of the caller's own browser, and nothing else.
    Leave = "dashboard/leave": reads by READERS;
    /// Makes links to calendars, or ends them.
    Calendar = "calendar": changes by OPERATORS;
    /// Changes what a session may do.
    SetGrant = "session/set-grant": changes by OPERATORS;
    /// Begins a turn with an event that came in by a channel.
    Arrive = "channel/arrive": changes by SENDERS;
}
