//! The target of a job: where its prompt goes.
//!
//! Whether the session or the channel exists is only checked when a run is due. Source: SEED-004, "Service Runtime".

use super::words::NO_SESSION;
use crate::dialect::args::{Arg, ArgError};
use crate::domain::{SessionId, names};
use crate::edn::{Map, Value};
use crate::limits;

/// Where a job's prompt goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobTarget {
    /// A session.
    Session(SessionId),
    /// A conversation on a channel of the gateway; none of the texts is blank.
    Gateway {
        /// The channel.
        channel: Box<str>,
        /// The conversation on the channel.
        conversation_id: Box<str>,
        /// The thread in the conversation, if it has threads.
        thread_id: Option<Box<str>>,
    },
}

names! {
    /// A kind of target in a call. `CurrentSession` is resolved while parsing, so a job never holds it.
    TargetKind {
        /// The calling session.
        CurrentSession = "current_session",
        /// A session given by its id.
        Session = "session",
        /// A conversation on a channel.
        Gateway = "gateway",
    }
}

impl JobTarget {
    /// The owner of a job with this target: the calling session, or the target session if the caller is not a
    /// session.
    pub(crate) fn owner<'a>(&'a self, caller: Option<&'a SessionId>) -> Option<&'a SessionId> {
        // The caller comes first: a job for another session belongs to its creator.
        caller.or(match self {
            JobTarget::Session(session) => Some(session),
            JobTarget::Gateway { .. } => None,
        })
    }

    /// Prints the target in the seed's shape.
    pub(super) fn to_map(&self) -> Map {
        let kind = |kind: TargetKind| Map::new().with("kind", Value::keyword(kind.name()));
        match self {
            JobTarget::Session(id) => kind(TargetKind::Session).with("session_id", id.as_str()),
            JobTarget::Gateway { channel, conversation_id, thread_id } => {
                let map = kind(TargetKind::Gateway)
                    .with("channel", &**channel)
                    .with("conversation_id", &**conversation_id);
                map.with_some("thread_id", thread_id.as_deref())
            }
        }
    }
}

/// Reads a target. The default for an absent target is up to the caller.
pub(super) fn parse(arg: Arg<'_>, current: Option<&SessionId>) -> Result<JobTarget, ArgError> {
    // The kind decides which other fields are allowed, so those are checked in its branch.
    let kind =
        arg.open_map(&["kind"])?.required("kind", |kind| kind.one_of(TargetKind::NAMES, TargetKind::ALL))?;
    match kind {
        TargetKind::CurrentSession => {
            // This kind has no other fields.
            arg.map(&["kind"])?;
            self::current(current)
        }
        TargetKind::Session => {
            let id = |arg: Arg<'_>| arg.id(limits::ID_BYTES, |text| SessionId::new(text).ok());
            arg.map(&["kind", "session_id"])?.required("session_id", id).map(JobTarget::Session)
        }
        TargetKind::Gateway => {
            let args = arg.map(&["kind", "channel", "conversation_id", "thread_id"])?;
            // A blank thread counts as none. Source: SEED-004's code.
            let thread_id = args.opt_text("thread_id", limits::ID_BYTES)?.map(Into::into);
            Ok(JobTarget::Gateway {
                channel: args.required_text("channel", limits::ID_BYTES)?.into(),
                conversation_id: args.required_text("conversation_id", limits::ID_BYTES)?.into(),
                thread_id,
            })
        }
    }
}

/// The calling session as a target; an error if there is none.
pub(super) fn current(session: Option<&SessionId>) -> Result<JobTarget, ArgError> {
    session.cloned().map(JobTarget::Session).ok_or_else(|| ArgError::own("", NO_SESSION, ""))
}
