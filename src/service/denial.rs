//! Why a caller may not ask for an operation, in words that name the operation and the token.

use std::borrow::Cow;
use std::fmt;

use crate::domain::{Caller, CallerRole, Code, Dialect, Gate, Op, Scope, Span, Via};
use crate::edn::{Map, Value};
use crate::limits::{self, Limit};

/// The refusal of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// Why it is refused.
    pub reason: DenialReason,
    /// What was asked for, by the name that the caller used.
    asked: &'static str,
    /// The token by its name, as its bearer may know it.
    bearer: Box<str>,
}

/// Why an operation is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DenialReason {
    /// The caller may only read, and the operation would change something.
    ReadOnly,
    /// The operation is for hosts and operators.
    HostsOnly,
    /// The operation is for operators.
    OperatorsOnly,
    /// The session's grant does not cover the dialect.
    NotGranted {
        /// The dialect of the tool.
        dialect: Dialect,
    },
    /// The caller is a host that acts for no session.
    NoSession,
    /// There is no such operation for the caller: its family of tools is switched off, which only operators are told.
    Absent,
    /// The family of tools is switched off.
    SwitchedOff {
        /// The switch.
        gate: Gate,
    },
    /// The caller's session creates or changes schedules too fast.
    TooFast {
        /// The rate that is exceeded.
        rate: Limit,
        /// How long to wait until the next one is admitted.
        wait: Span,
    },
}

impl Denial {
    pub(super) fn new(reason: DenialReason, caller: &Caller, op: Op) -> Denial {
        Denial { reason, asked: op.name(), bearer: bearer(caller).into() }
    }

    /// Names what was asked for as the caller did: a mutation has another name than its operation.
    pub(super) fn asked_as(self, asked: &'static str) -> Denial {
        Denial { asked, ..self }
    }

    /// The code of the denial.
    pub(crate) fn code(&self) -> Code {
        match self.reason {
            DenialReason::ReadOnly
            | DenialReason::HostsOnly
            | DenialReason::OperatorsOnly
            | DenialReason::NotGranted { .. }
            | DenialReason::SwitchedOff { .. } => Code::Forbidden,
            DenialReason::Absent => Code::NotFound,
            DenialReason::NoSession => Code::Validation,
            DenialReason::TooFast { .. } => Code::Limit,
        }
    }

    /// What the caller can do about it.
    pub(crate) fn hint(&self) -> Cow<'static, str> {
        let hint = match self.reason {
            DenialReason::ReadOnly => {
                "a query only reads, with any token: change things by the other tools, with a token that may"
            }
            DenialReason::HostsOnly => "use a host's or an operator's token, or connect as a host",
            DenialReason::OperatorsOnly => "ask an operator to do it",
            DenialReason::NotGranted { .. } => "ask an operator to grant it again",
            DenialReason::Absent => "use the tools that you are offered",
            DenialReason::NoSession => NO_SESSION,
            DenialReason::SwitchedOff { .. } => "ask an operator to switch it on",
            DenialReason::TooFast { wait, .. } => return format!("wait {} ms", wait.millis()).into(),
        };
        hint.into()
    }

    /// The dialect or the limit of the denial, under the keys of EDN.
    pub(crate) fn data(&self) -> Map {
        match self.reason {
            DenialReason::ReadOnly
            | DenialReason::HostsOnly
            | DenialReason::OperatorsOnly
            | DenialReason::Absent
            | DenialReason::NoSession => Map::new(),
            DenialReason::SwitchedOff { gate } => Map::new().with("gate", Value::keyword(gate.name())),
            DenialReason::NotGranted { dialect } => {
                Map::new().with("dialect", Value::keyword(dialect.name()))
            }
            DenialReason::TooFast { rate, wait } => {
                let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
                let data = Map::new().with("limit", rate.name).with("max", number(rate.value));
                data.with("wait-ms", number(wait.millis()))
            }
        }
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (op, bearer) = (self.asked, &self.bearer);
        match self.reason {
            DenialReason::ReadOnly => write!(f, "{bearer} may only read here, and {op} is a change"),
            DenialReason::HostsOnly => write!(f, "{op} is for hosts and operators, and not for {bearer}"),
            DenialReason::OperatorsOnly => write!(f, "{op} is for operators, and not for {bearer}"),
            DenialReason::NotGranted { dialect } => {
                let tools = dialect.name();
                write!(f, "{bearer} may not change anything by the tools of {tools}, so {op} is refused")
            }
            DenialReason::NoSession => write!(f, "{op} is for a session, and {bearer} speaks for none here"),
            DenialReason::Absent => write!(f, "there is no {op} here"),
            DenialReason::SwitchedOff { gate } => {
                write!(f, "{} is switched off, so {op} is refused", gate.name())
            }
            DenialReason::TooFast { rate, .. } => {
                // A limit is a value and no enum, so the last arm stands for the rate of changes.
                let does = match rate {
                    limits::QUERY_MS_PER_MINUTE => "queries too much",
                    limits::CREATES_PER_MINUTE => "creates schedules too fast",
                    _ => "changes schedules too fast",
                };
                write!(f, "{bearer} {does} for another {op}")
            }
        }
    }
}

impl std::error::Error for Denial {}

/// How a host says for which session it speaks.
pub(super) const NO_SESSION: &str =
    "name it: in the header Reveille-Session over HTTP, or as session-id beside op on the stream";

/// The caller in words. It knows its own token, so nothing is told that is not its own.
fn bearer(caller: &Caller) -> String {
    match (&caller.via, &caller.scope) {
        // A model that speaks through a program with another token.
        (Via::Operator(_) | Via::Host(_) | Via::Peer | Via::Embedder, Scope::Session(session))
            if caller.role == CallerRole::Session =>
        {
            format!("the model of session {session}")
        }
        (Via::Session, Scope::Session(session)) => format!("the token of session {session}"),
        (Via::Operator(name), _) => format!("the token {}", name.as_str()),
        (Via::Host(name), _) => format!("the host token {}", name.as_str()),
        (Via::Channel(name), _) => format!("the channel {}", name.as_str()),
        (Via::Peer, Scope::Session(session)) => format!("the connection of session {session}"),
        (Via::Embedder, Scope::Session(session)) => format!("the program of session {session}"),
        (Via::Peer | Via::Session, _) => "this connection".to_owned(),
        (Via::Embedder, _) => "this program".to_owned(),
    }
}
