//! An event that came in over a channel.

use crate::domain::Scope;
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
    /// Who simulates it, where nothing has come in: an operator, or a session.
    pub simulated: Option<Scope>,
}
