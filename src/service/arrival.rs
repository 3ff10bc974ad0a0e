//! An event that came in over a channel.

use crate::edn::Value;

/// An event that came in.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// The sender's id of the event.
    pub event: Box<str>,
    /// Who or what sent it, and where an answer goes in that channel.
    pub source: Box<str>,
    /// What it says, if it says something.
    pub message: Option<Box<str>>,
    /// The whole event.
    pub payload: Value,
    /// Whether it is a try of an operator.
    pub simulated: bool,
}
