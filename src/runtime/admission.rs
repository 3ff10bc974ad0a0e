//! Whether a caller may make a call at all, before its tool looks at it.
//!
//! What lives elsewhere: whether what it names exists for the caller (`engine`), what is wrong with it (`dialect`).
//! Invariant: a call that is not known to read counts as one that changes.

use super::handle::Handle;
use super::toolbox::TOOLBOX;
use crate::dialect::{cron, native, psi, reminder, session_action};
use crate::domain::{Caller, Dialect, Scope, Span};
use crate::edn::{Keyword, Value};

/// Why a call is not even looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// The caller may look, and the call would change something.
    #[error("this token may read only")]
    ReadOnly,
    /// The caller holds a session's token, and the call is for hosts and operators.
    #[error("a session's token may not do this: it is for hosts and operators")]
    HostsOnly,
    /// The caller's session may not do that any more.
    #[error("this session may not change anything by the tools of {}", dialect.name())]
    NotGranted {
        /// Whose tool it is.
        dialect: Dialect,
    },
    /// The caller's session creates schedules too fast.
    #[error("this session creates schedules too fast")]
    TooFast {
        /// When the next one would be taken.
        wait: Span,
    },
}

impl Handle {
    /// Admits what only a host or an operator may say: that a session opens or closes, that a turn began or ended, that a
    /// person spoke, that a connection hosts a session.
    ///
    /// # Errors
    /// [`Denial`]; nothing must be done then.
    pub fn admit_host(&self, caller: &Caller) -> Result<(), Denial> {
        if !caller.may_change() {
            return Err(Denial::ReadOnly);
        }
        if caller.is_host() { Ok(()) } else { Err(Denial::HostsOnly) }
    }

    /// Admits a call of a tool, or says why not.
    ///
    /// # Errors
    /// [`Denial`]; the call must not be made then.
    pub fn admit_call(&self, caller: &Caller, tool: &str, args: &Value) -> Result<(), Denial> {
        let deed = Deed::of(tool, args);
        if deed != Deed::Read && !caller.may_change() {
            return Err(Denial::ReadOnly);
        }
        if let (Scope::Session(session), true) = (&caller.scope, deed != Deed::Read)
            && let Some(dialect) = dialect_of(tool)
            && !self.view(|state| state.grants().is_empty() || state.grant(session).covers(dialect))
        {
            return Err(Denial::NotGranted { dialect });
        }
        if deed == Deed::Create { self.admit_creation(caller) } else { Ok(()) }
    }

    /// Admits one more schedule of a caller who may create some, or says that there are too many at once.
    ///
    /// # Errors
    /// [`Denial::TooFast`].
    pub fn admit_creation(&self, caller: &Caller) -> Result<(), Denial> {
        match &caller.scope {
            Scope::Session(session) if caller.metered => {
                let taken = self.shared.pace.take(session, self.now().boot);
                taken.map_err(|wait| Denial::TooFast { wait })
            }
            Scope::Session(_) | Scope::Operator => Ok(()),
        }
    }
}

/// What a call would do if its tool takes it.
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

    /// The graph's mutation keeps the pace of a creation itself; it must not count twice.
    fn of_native(tool: native::Tool) -> Deed {
        if tool.only_reads() { Deed::Read } else { Deed::Change }
    }

    fn of_action(tool: session_action::Tool, args: &Value) -> Deed {
        if tool == session_action::Tool::ReportReady {
            return Deed::Change;
        }
        let operation = word(args, "operation").map(|word| word.trim().to_lowercase().replace('-', "_"));
        match operation.as_deref() {
            // Nothing said is a creation.
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
            // Mutations in a query have a wall of their own (`hands.rs`).
            (Some("query"), _) | (Some("scheduler"), Some("list")) => Deed::Read,
            (None, _) if given(args, "query").is_some() => Deed::Read,
            (Some("scheduler"), Some("create")) => Deed::Create,
            _ => Deed::Change,
        }
    }
}

/// Whose tool it is.
fn dialect_of(tool: &str) -> Option<Dialect> {
    TOOLBOX.iter().find(|known| known.name == tool).map(|known| known.dialect)
}

/// A name given as a string or a keyword, under a key that is either.
fn word<'a>(args: &'a Value, key: &str) -> Option<&'a str> {
    let value = given(args, key)?;
    value.as_keyword().map(Keyword::as_str).or_else(|| value.as_str())
}

fn given<'a>(args: &'a Value, key: &str) -> Option<&'a Value> {
    let map = args.as_map()?;
    map.keyword(key).or_else(|| map.text(key)).filter(|value| !value.is_nil())
}
