//! Channels: named ways out of this process and into it, configured by operators.

use super::{Actor, Moment, SessionId, names};

names! {
    /// What kind of receiver a channel delivers to.
    ChannelKind {
        /// An HTTP endpoint, by a signed post.
        Webhook = "webhook",
        /// A program, on its standard input.
        Command = "command",
        /// A mail server, by SMTP.
        Email = "email",
    }
}

/// A named way out of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The channel's name, chosen by an operator.
    pub name: Box<str>,
    /// What kind of receiver the channel delivers to.
    pub kind: ChannelKind,
    /// The receiver, without secrets: scheme and host of an endpoint, or the name of a program.
    pub goes_to: Box<str>,
    /// Whether schedules of sessions may use the channel; operators always may.
    pub agents: bool,
    /// Whether sessions that may use the channel may also pause, resume and try it.
    pub agents_manage: bool,
}

/// What can happen to a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelFact {
    /// An operator opened it.
    Opened(Channel),
    /// The receiver behind the channel asked for no more deliveries.
    Disabled,
    /// Nothing goes this way any more, until the channel is resumed.
    Paused {
        /// The way that is closed.
        direction: Direction,
        /// The actor who paused it.
        by: Actor,
    },
    /// Messages go this way again.
    Resumed {
        /// The way that is open.
        direction: Direction,
        /// The actor who resumed it.
        by: Actor,
    },
}

names! {
    /// Which way a message goes.
    Direction {
        /// It came into the process.
        Inbound = "inbound",
        /// It left the process.
        Outbound = "outbound",
    }
}

names! {
    /// Which ways of a channel are meant.
    Ways {
        /// What comes into the process.
        Inbound = "inbound",
        /// What leaves the process.
        Outbound = "outbound",
        /// Both.
        Both = "both",
    }
}

impl Ways {
    /// Returns each way that is meant.
    pub const fn directions(self) -> &'static [Direction] {
        match self {
            Ways::Inbound => &[Direction::Inbound],
            Ways::Outbound => &[Direction::Outbound],
            Ways::Both => Direction::ALL,
        }
    }
}

/// A message that went through a channel, or did not get through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelEvent {
    /// The id of its run.
    pub id: Box<str>,
    /// Which way it went.
    pub direction: Direction,
    /// The session whose message it was.
    pub session: SessionId,
    /// When it arrived, or was given up.
    pub at: Moment,
    /// Why it did not arrive; `None` if it did.
    pub error: Option<Box<str>>,
}
