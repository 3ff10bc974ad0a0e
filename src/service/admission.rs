//! Decides whether a caller may make a call at all, before the tool sees the call.
//!
//! What lives elsewhere: whether what the call names exists for the caller (`engine`), what is wrong with it
//! (`dialect`). Invariant: a call counts as a change unless it is known to only read.

use super::Service;
use super::tools::TOOLBOX;
use crate::dialect::{cron, native, psi, reminder, session_action};
use crate::domain::{Caller, Dialect, Refusal, Scope, Span, Target};
use crate::edn::{Keyword, Value};
use crate::runtime::Handle;

/// Why a call is denied before its tool sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// The caller may only read, and the call would change something.
    #[error("this token may read only")]
    ReadOnly,
    /// The caller holds a session's token, and the call is for hosts and operators.
    #[error("a session's token may not do this: it is for hosts and operators")]
    HostsOnly,
    /// The session's grant does not cover the dialect.
    #[error("this session may not change anything by the tools of {}", dialect.name())]
    NotGranted {
        /// The dialect of the tool.
        dialect: Dialect,
    },
    /// The caller's session creates schedules too fast.
    #[error("this session creates schedules too fast")]
    TooFast {
        /// How long to wait until the next one is admitted.
        wait: Span,
    },
}

impl Service {
    /// Admits what only a host or an operator may report: that a session opens or closes, that a turn begins or ends, that a
    /// person spoke, that a connection hosts a session.
    ///
    /// # Errors
    /// [`Denial`]; the report must not be made then.
    pub(crate) fn admit_host(&self, caller: &Caller) -> Result<(), Denial> {
        if !caller.may_change() {
            return Err(Denial::ReadOnly);
        }
        if caller.is_host() { Ok(()) } else { Err(Denial::HostsOnly) }
    }

    /// Admits a call of a tool.
    ///
    /// # Errors
    /// [`Denial`]; the call must not be made then.
    pub(crate) fn admit_call(&self, caller: &Caller, tool: &str, args: &Value) -> Result<(), Denial> {
        let deed = Deed::of(tool, args);
        if deed != Deed::Read && !caller.may_change() {
            return Err(Denial::ReadOnly);
        }
        // A grant restricts changes only. Without any grants, every session may use every dialect.
        if let (Scope::Session(session), true) = (&caller.scope, deed != Deed::Read)
            && let Some(dialect) = dialect_of(tool)
            && !self.handle().view(|state| state.grants().is_empty() || state.grant(session).covers(dialect))
        {
            return Err(Denial::NotGranted { dialect });
        }
        if deed == Deed::Create { self.admit_creation(caller) } else { Ok(()) }
    }

    /// Admits one more schedule of a caller who may create some, unless its rate limit is reached.
    pub(super) fn admit_creation(&self, caller: &Caller) -> Result<(), Denial> {
        match &caller.scope {
            Scope::Session(session) if caller.rate_limited => {
                let taken = self.shared.rates.take(session, self.handle().now().boot);
                taken.map_err(|wait| Denial::TooFast { wait })
            }
            Scope::Session(_) | Scope::Operator => Ok(()),
        }
    }
}

/// Admits a target: a session's token may use only channels that are open to agents. Other channels do not exist for it.
pub(super) fn admit_target(handle: &Handle, caller: &Caller, target: Option<&Target>) -> Result<(), Refusal> {
    // An operator may use any channel, also on behalf of a session. Only a session's own token is metered.
    let (true, Some(Target::Route(route))) = (caller.rate_limited, target) else { return Ok(()) };
    let is_open = handle.view(|state| state.channel(&route.channel).is_some_and(|it| it.channel.agents));
    if is_open { Ok(()) } else { Err(Refusal::ChannelNotAllowed { channel: route.channel.clone() }) }
}

/// What a call would do if its tool accepted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Read,
    Create,
    Change,
}

impl Deed {
    fn of_cron(tool: cron::Tool) -> Deed {
        match tool {
            cron::Tool::List | cron::Tool::Get => Deed::Read,
            cron::Tool::Create => Deed::Create,
            cron::Tool::Update | cron::Tool::Delete | cron::Tool::Pause | cron::Tool::Resume => Deed::Change,
        }
    }

    fn of_reminder(tool: reminder::Tool) -> Deed {
        match tool {
            reminder::Tool::Add => Deed::Create,
            reminder::Tool::List => Deed::Read,
            reminder::Tool::Remove => Deed::Change,
        }
    }

    /// A creation is no `Create` here: the graph's mutation that carries it out applies the rate
    /// limit, and it must count once.
    fn of_native(tool: native::Tool) -> Deed {
        if tool.only_reads() { Deed::Read } else { Deed::Change }
    }

    fn of_action(tool: session_action::Tool, args: &Value) -> Deed {
        if tool == session_action::Tool::ReportReady {
            return Deed::Change;
        }
        // As lenient as the tool itself: what it would accept must not pass as something else here.
        let operation = word(args, "operation").map(|word| word.trim().to_lowercase().replace('-', "_"));
        match operation.as_deref() {
            // Without an operation, the tool creates.
            None => Deed::Create,
            Some(word) => match session_action::Operation::parse(word) {
                Some(session_action::Operation::Create) => Deed::Create,
                Some(session_action::Operation::List) => Deed::Read,
                Some(session_action::Operation::Cancel | session_action::Operation::RunNow) | None => {
                    Deed::Change
                }
            },
        }
    }

    fn of(tool: &str, args: &Value) -> Deed {
        if tool != psi::TOOL {
            let of_reminder = || reminder::Tool::parse(tool).map(Deed::of_reminder);
            let of_action = || session_action::Tool::parse(tool).map(|tool| Deed::of_action(tool, args));
            let of_native = || native::Tool::parse(tool).map(Deed::of_native);
            let deed = cron::Tool::parse(tool).map(Deed::of_cron).or_else(of_reminder).or_else(of_action);
            let deed = deed.or_else(of_native);
            return deed.unwrap_or(Deed::Change);
        }
        match (word(args, "action"), word(args, "op")) {
            // A mutation within a query is admitted on its own (`mutations`).
            (Some("query"), _) | (Some("scheduler"), Some("list")) => Deed::Read,
            (None, _) if given(args, "query").is_some() => Deed::Read,
            (Some("scheduler"), Some("create")) => Deed::Create,
            _ => Deed::Change,
        }
    }
}

/// The dialect that a tool belongs to.
fn dialect_of(tool: &str) -> Option<Dialect> {
    TOOLBOX.iter().find(|known| known.name == tool).map(|known| known.dialect)
}

/// A name, given as a string or a keyword, under a key that is a string or a keyword.
fn word<'a>(args: &'a Value, key: &str) -> Option<&'a str> {
    let value = given(args, key)?;
    value.as_keyword().map(Keyword::as_str).or_else(|| value.as_str())
}

fn given<'a>(args: &'a Value, key: &str) -> Option<&'a Value> {
    let map = args.as_map()?;
    map.keyword(key).or_else(|| map.text(key)).filter(|value| !value.is_nil())
}
