//! A way out of this process, by the name that an operator gave it.

use super::names;

names! {
    /// What a channel hands a delivery to.
    ChannelKind {
        /// An endpoint, by a signed post.
        Webhook = "webhook",
        /// A program, on its input.
        Command = "command",
    }
}

/// A way out of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its name.
    pub name: Box<str>,
    /// What it hands a delivery to.
    pub kind: ChannelKind,
    /// Where that is, without anything secret: scheme and host of an endpoint, the name of a program.
    pub goes_to: Box<str>,
    /// Whether sessions may let their schedules go there; operators always may.
    pub agents: bool,
}

/// What can happen to a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelFact {
    /// An operator named it.
    Opened(Channel),
    /// Whoever is behind it wants nothing more.
    Disabled,
}
