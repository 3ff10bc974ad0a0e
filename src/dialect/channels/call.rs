//! Parses one call of a tool, with all checks that need no access to the channels.

use super::error::GIVEN_TWICE;
use super::tool::{DIRECTIONS, Tool};
use crate::dialect::args::{ArgError, ArgErrorKind, Args, Choices, Keys, Repair, Style, TOOL_WORDS};
use crate::dialect::{Answer, Notation};
use crate::domain::{Direction, SessionId, Ways};
use crate::edn::Value;
use crate::limits::{self, Limit};

/// A parsed and checked call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Send through one channel.
    Send {
        /// The channel.
        channel: Box<str>,
        /// The message.
        message: OutMessage,
        /// The session that an operator sends for.
        session: Option<SessionId>,
    },
    /// Answer the event that began this turn.
    Reply {
        /// The text, verbatim.
        text: Box<str>,
    },
    /// Have an event come in.
    Simulate {
        /// The channel.
        channel: Box<str>,
        /// Who sends it.
        source: Box<str>,
        /// What it says.
        message: Option<Box<str>>,
        /// The whole event.
        payload: Value,
    },
    /// Send through several channels.
    Broadcast {
        /// The channels.
        channels: Vec<Box<str>>,
        /// The message.
        message: OutMessage,
    },
    /// List the channels.
    List {
        /// Whether to say how each is.
        with_status: bool,
    },
    /// Look at one channel.
    Status {
        /// The channel.
        channel: Box<str>,
    },
    /// Let nothing through.
    Pause {
        /// The channel.
        channel: Box<str>,
        /// Which ways.
        ways: Ways,
    },
    /// Let messages through again.
    Resume {
        /// The channel.
        channel: Box<str>,
        /// Which ways.
        ways: Ways,
    },
    /// List what went through.
    History(HistoryRequest),
    /// Count what went through.
    Stats {
        /// Of this channel; `None` for all.
        channel: Option<Box<str>>,
    },
}

/// A message to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutMessage {
    /// The text, verbatim.
    pub text: Box<str>,
    /// Its subject.
    pub subject: Option<Box<str>>,
    /// Whom it is for, within what the channel reaches.
    pub recipient: Option<Box<str>>,
    /// The thread that it belongs to.
    pub thread: Option<Box<str>>,
}

/// Which events to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRequest {
    /// Of this channel; `None` for all.
    pub channel: Option<Box<str>>,
    /// How many, the newest.
    pub limit: usize,
    /// Only this way; `None` for both.
    pub direction: Option<Direction>,
}

/// Parses the arguments of one call of a tool.
///
/// # Errors
/// The complete error answer to an invalid call.
pub fn parse(tool: Tool, args: &Value, notation: Notation) -> Result<Call, Answer> {
    let style = Style { notation, keys: Keys::Snake, choices: Choices::AnyCase, short_times: true };
    let call = || -> Result<Call, ArgError> {
        let args = Args::of_call(args, style, names(tool))?;
        Ok(match tool {
            Tool::SendMessage => Call::Send {
                channel: either(&args, "channel", "provider")?,
                message: message(&args, true)?,
                session: None,
            },
            Tool::TestSend => {
                let (text, channel) = (text(&args, "text")?, name(&args, "provider")?);
                let message = OutMessage { text, subject: None, recipient: None, thread: None };
                let session = |arg: crate::dialect::args::Arg<'_>| {
                    arg.id(limits::ID_BYTES, |text| SessionId::new(text).ok())
                };
                Call::Send { channel, message, session: args.opt("session_id", session)? }
            }
            Tool::Broadcast => {
                let channel =
                    |arg: crate::dialect::args::Arg<'_>| arg.filled_text(limits::ID_BYTES).map(Box::from);
                let channels = args.required("providers", |arg| arg.items(limits::BROADCAST, channel))?;
                if channels.is_empty() {
                    return Err(ArgError::new("providers", ArgErrorKind::Missing));
                }
                Call::Broadcast { channels, message: message(&args, false)? }
            }
            Tool::Reply => {
                // Checked and not sent, as in `message`.
                args.opt("metadata", |arg| arg.parse("an object", |value| value.as_map().map(|_| ())))?;
                Call::Reply { text: text(&args, "text")? }
            }
            Tool::SimulateEvent => Call::Simulate {
                channel: name(&args, "provider")?,
                source: args.opt_text("source", limits::CHANNEL_EVENT_BYTES)?.unwrap_or("test").into(),
                message: args.opt_text("message", limits::TEXT_BYTES)?.map(Into::into),
                payload: args
                    .opt("payload", |arg| {
                        arg.parse("an object", |value| value.as_map().map(|_| value.clone()))
                    })?
                    .unwrap_or_else(|| Value::Map(crate::edn::Map::new())),
            },
            Tool::ListProviders => Call::List { with_status: args.flag("include_status")?.unwrap_or(true) },
            Tool::ProviderStatus => Call::Status { channel: name(&args, "provider")? },
            Tool::PauseProvider => Call::Pause { channel: name(&args, "provider")?, ways: ways(&args)? },
            Tool::ResumeProvider => Call::Resume { channel: name(&args, "provider")?, ways: ways(&args)? },
            Tool::ProviderHistory => Call::History(HistoryRequest {
                channel: args.opt_text("provider", limits::ID_BYTES)?.map(Into::into),
                limit: usize::try_from(args.int_in("limit", 1, HISTORY_MAX)?.unwrap_or(HISTORY))
                    .unwrap_or(usize::MAX),
                direction: args.one_of("direction", DIRECTIONS, WAYS)?.flatten(),
            }),
            Tool::Stats => {
                Call::Stats { channel: args.opt_text("provider", limits::ID_BYTES)?.map(Into::into) }
            }
        })
    };
    call().map_err(|error| error.answer(&TOOL_WORDS, Repair::new(args, style).without(&error)))
}

/// The names of each tool's arguments.
const fn names(tool: Tool) -> &'static [&'static str] {
    match tool {
        Tool::SendMessage => {
            &["channel", "provider", "message", "text", "recipient", "subject", "thread_id", "metadata"]
        }
        Tool::Broadcast => &["providers", "message", "text", "subject", "metadata"],
        Tool::ListProviders => &["include_status"],
        Tool::ProviderStatus | Tool::Stats => &["provider"],
        Tool::PauseProvider | Tool::ResumeProvider => &["provider", "direction"],
        Tool::ProviderHistory => &["provider", "limit", "direction"],
        Tool::Reply => &["text", "metadata"],
        Tool::SimulateEvent => &["provider", "payload", "source", "message"],
        Tool::TestSend => &["provider", "text", "session_id"],
    }
}

fn message(args: &Args<'_>, is_single: bool) -> Result<OutMessage, ArgError> {
    let own = |name, limit| Ok::<_, ArgError>(args.opt_text(name, limit)?.map(Box::from));
    let words = match (args.get("message").is_some(), args.get("text").is_some()) {
        (true, true) => return Err(ArgError::own("text", GIVEN_TWICE, "message")),
        (false, true) => "text",
        (true | false, false) => "message",
    };
    // Only the seed's own adapters read them; they are taken, so that a call of its documentation works, and not sent.
    args.opt("metadata", |arg| arg.parse("an object", |value| value.as_map().map(|_| ())))?;
    Ok(OutMessage {
        text: text(args, words)?,
        subject: own("subject", limits::LABEL_BYTES)?,
        recipient: if is_single { own("recipient", limits::ID_BYTES)? } else { None },
        thread: if is_single { own("thread_id", limits::ID_BYTES)? } else { None },
    })
}

/// A text, verbatim.
fn text(args: &Args<'_>, name: &str) -> Result<Box<str>, ArgError> {
    let text = args.required_raw_text(name, limits::TEXT_BYTES)?;
    within(text, limits::CHANNEL_TEXT)
        .map_err(|limit| ArgError::new(name, ArgErrorKind::TooLong { limit }))?;
    Ok(text.into())
}

fn within(text: &str, limit: Limit) -> Result<(), Limit> {
    if text.chars().count() as u64 > limit.value { Err(limit) } else { Ok(()) }
}

fn name(args: &Args<'_>, name: &str) -> Result<Box<str>, ArgError> {
    args.required_text(name, limits::ID_BYTES).map(Into::into)
}

/// The ways that a call is about. Source: in SEED-001, a pause is of what comes in.
fn ways(args: &Args<'_>) -> Result<Ways, ArgError> {
    Ok(args.one_of("direction", Ways::NAMES, Ways::ALL)?.unwrap_or(Ways::Inbound))
}

/// A required name in either of two spellings.
fn either(args: &Args<'_>, one: &'static str, other: &'static str) -> Result<Box<str>, ArgError> {
    match (args.get(one).is_some(), args.get(other).is_some()) {
        (true, true) => Err(ArgError::own(other, GIVEN_TWICE, one)),
        (false, true) => name(args, other),
        (true | false, false) => name(args, one),
    }
}

/// What [`DIRECTIONS`] mean, in their order.
const WAYS: &[Option<Direction>] = &[None, Some(Direction::Inbound), Some(Direction::Outbound)];
/// How many events are listed unless the caller says how many.
const HISTORY: u64 = 20;
const HISTORY_MAX: u64 = 100;
