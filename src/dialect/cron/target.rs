//! Where a job's prompt goes.
//!
//! Does not live here: whether the session or the channel exists, which is a question of the moment of the run.
//! Source: SEED-004, "Service Runtime".

use super::fault::{Fault, Problem};
use super::fields::{Fields, with_some};
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

/// Reads the target that a field of `outer` holds. The current session, where none is given, is for the caller to add.
pub(super) fn parse(
    outer: &Fields<'_>,
    name: &str,
    current: Option<&SessionId>,
) -> Result<Option<Target>, Problem> {
    let Some(value) = outer.get(name) else { return Ok(None) };
    let path = outer.path(name);
    let kind = Fields::kind_of(value, &path, outer.notation())?;
    let kind = kind
        .word("kind", TargetKind::NAMES, TargetKind::parse)?
        .ok_or_else(|| Problem::new(&format!("{path}.kind"), Fault::Missing))?;
    let fields = |names| Fields::new(value, &path, outer.notation(), names);
    match kind {
        TargetKind::CurrentSession => {
            fields(&["kind"])?;
            self::current(&path, current)
        }
        TargetKind::Session => session(&fields(&["kind", "session_id"])?),
        TargetKind::Gateway => gateway(&fields(&["kind", "channel", "conversation_id", "thread_id"])?),
    }
    .map(Some)
}

/// The session that calls.
pub(super) fn current(path: &str, session: Option<&SessionId>) -> Result<Target, Problem> {
    let session = session.cloned().ok_or_else(|| Problem::new(path, Fault::NoSession))?;
    Ok(Target::Session(session))
}

fn session(fields: &Fields<'_>) -> Result<Target, Problem> {
    let text = fields.required_text("session_id", limits::ID_BYTES)?;
    let not_an_id = |_| fields.problem("session_id", Fault::NotAnId).with(&text.into());
    SessionId::new(text).map(Target::Session).map_err(not_an_id)
}

fn gateway(fields: &Fields<'_>) -> Result<Target, Problem> {
    let thread_id = fields.text("thread_id", limits::ID_BYTES)?.filter(|text| !text.is_empty());
    Ok(Target::Gateway {
        channel: fields.required_text("channel", limits::ID_BYTES)?.into(),
        conversation_id: fields.required_text("conversation_id", limits::ID_BYTES)?.into(),
        thread_id: thread_id.map(Into::into),
    })
}
