//! Where a job's prompt goes.
//!
//! Does not live here: whether the session or the channel exists, which is a question of the moment of the run.
//! Source: SEED-004, "Service Runtime".

use super::shape::with_some;
use super::words::NO_SESSION;
use crate::dialect::args::{Arg, ArgError};
use crate::domain::{SessionId, names};
use crate::edn::{Map, Value};
use crate::limits;

/// Where a job's prompt goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Into a session.
    Session(SessionId),
    /// Into a conversation on a channel of the gateway; none of the texts is blank.
    Gateway {
        /// The channel.
        channel: Box<str>,
        /// The conversation on it.
        conversation_id: Box<str>,
        /// The thread in that, if it has threads.
        thread_id: Option<Box<str>>,
    },
}

names! {
    /// A kind of target, as a call names it. A job never holds the first one, but the session that it stood for.
    TargetKind {
        /// The session that calls.
        CurrentSession = "current_session",
        /// A session by its id.
        Session = "session",
        /// A conversation on a channel.
        Gateway = "gateway",
    }
}

impl Target {
    /// Who owns a job with this target: the session that calls, or for callers that are none the session that it goes to.
    pub fn owner<'a>(&'a self, caller: Option<&'a SessionId>) -> Option<&'a SessionId> {
        caller.or(match self {
            Target::Session(session) => Some(session),
            Target::Gateway { .. } => None,
        })
    }

    /// In the seed's shape.
    pub(super) fn to_map(&self) -> Map {
        let kind = |kind: TargetKind| Map::new().with("kind", Value::keyword(kind.name()));
        match self {
            Target::Session(id) => kind(TargetKind::Session).with("session_id", id.as_str()),
            Target::Gateway { channel, conversation_id, thread_id } => {
                let map = kind(TargetKind::Gateway)
                    .with("channel", &**channel)
                    .with("conversation_id", &**conversation_id);
                with_some(map, "thread_id", thread_id.as_deref())
            }
        }
    }
}

/// Reads a target. The current session, where none is given, is for the caller to add.
pub(super) fn parse(arg: Arg<'_>, current: Option<&SessionId>) -> Result<Target, ArgError> {
    let kind =
        arg.open_map(&["kind"])?.required("kind", |kind| kind.one_of(TargetKind::NAMES, TargetKind::ALL))?;
    match kind {
        TargetKind::CurrentSession => {
            arg.map(&["kind"])?;
            self::current(current)
        }
        TargetKind::Session => {
            let id = |arg: Arg<'_>| arg.id(limits::ID_BYTES, |text| SessionId::new(text).ok());
            arg.map(&["kind", "session_id"])?.required("session_id", id).map(Target::Session)
        }
        TargetKind::Gateway => {
            let args = arg.map(&["kind", "channel", "conversation_id", "thread_id"])?;
            let thread_id = args.opt_text("thread_id", limits::ID_BYTES)?.map(Into::into);
            Ok(Target::Gateway {
                channel: args.required_text("channel", limits::ID_BYTES)?.into(),
                conversation_id: args.required_text("conversation_id", limits::ID_BYTES)?.into(),
                thread_id,
            })
        }
    }
}

/// The session that calls.
pub(super) fn current(session: Option<&SessionId>) -> Result<Target, ArgError> {
    session.cloned().map(Target::Session).ok_or_else(|| ArgError::own("", NO_SESSION, ""))
}
