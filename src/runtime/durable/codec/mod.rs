//! Facts and rows as text: each is one EDN map, on one line of text.
//!
//! ```text
//! {:fact :schedule/paused :by {:scope :session :session "s"} :why "noisy" :schedule "sch-1"}
//! {:v 1 :schedule {:id "sch-1" :trigger {:kind :at :at #inst "..."} ...} :status :pending :next #inst "..." :runs [...]}
//! ```
//!
//! [`print`](fn@print) and [`parse`](fn@parse) are each other's inverse for every fact that the engine can decide.
//! The format is versioned by `VERSION`; `schema/facts/v1.edn` has one fact of each kind. What lives elsewhere: the
//! log (`adapter`), the fold (`engine`).
//!
//! Invariant: a form that is not understood is an error, never a fact that means something else.

mod actor;
mod approval;
mod attachment;
mod attempts;
mod call;
mod channel;
mod definition;
mod form;
mod guard;
mod memory;
mod message;
mod parse;
mod parts;
mod pings;
mod print;
mod printed;
mod provenance;
mod row;
mod session_config;
#[cfg(test)]
mod tests;
mod watch;

pub(super) use channel::parse_channel_pauses;
pub(crate) use channel::print_channel_pauses;
pub(crate) use form::{Form, show};
pub(super) use guard::parse_guard;
pub use guard::print_guard;
pub(super) use message::parse_message;
pub(crate) use message::print_message;
pub use parse::parse;
pub(crate) use parse::parse_form;
pub use print::print;
pub use printed::Printed;
pub(crate) use row::{
    RowRest, has_definition, parse_definition, parse_holds, parse_row_rest, parse_schedule, parse_session,
    print_definition, print_row_rest,
};
pub use row::{print_holds, print_schedule, print_session};

use crate::domain::{Decision, Fact, SessionId};
use crate::edn::Value;
use crate::port::FactRecord;

/// Why a form is not a fact or a row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactError {
    /// There is no fact of this name in this version of the form.
    #[error("there is no fact {name}")]
    Unknown {
        /// The value under `:fact`.
        name: Value,
    },
    /// A part is missing or wrong.
    #[error(":{part} must be {expected}, not {found}")]
    Part {
        /// The key.
        part: &'static str,
        /// The values that are valid there, in words.
        expected: &'static str,
        /// The value that was found, shortened.
        found: Value,
    },
}

/// Parses a fact from its payload in a log.
///
/// # Errors
/// A description of the first fault, in words.
pub fn read(payload: &[u8]) -> Result<Fact, String> {
    show(payload, |form| parse_form(form).map_err(|error| error.to_string()))
}

/// Reads a record of the log as the decision that the feed would show.
///
/// # Errors
/// A description of the first fault, in words.
pub(crate) fn decision(record: &FactRecord) -> Result<Decision, String> {
    let fact = read(&record.payload)?;
    let session = record.session.as_deref().and_then(|id| SessionId::new(id).ok());
    Ok(Decision { session, ..Decision::of(record.cursor, record.at, &fact) })
}

/// The key under which a fact may carry its schedule's row, as it is after the fact.
pub(crate) const ROW: &str = "row";

/// The version of the format.
pub(crate) const VERSION: u32 = 1;

/// The names of facts, as they stand under `:fact`.
mod names {
    // Logs contain these names. They stay even if the code renames a fact: `engine/awoke` is `Fact::Restarted`.
    pub(super) const OPENED: &str = "session/opened";
    pub(super) const CLOSED: &str = "session/closed";
    pub(super) const HOSTED: &str = "session/hosted";
    pub(super) const UNHOSTED: &str = "session/unhosted";
    pub(super) const ADDRESSED: &str = "session/addressed";
    pub(super) const BUSY: &str = "session/busy";
    pub(super) const IDLE: &str = "session/idle";
    pub(super) const USER_SPOKE: &str = "session/user-spoke";
    pub(super) const TURN_UNREPORTED: &str = "session/turn-unreported";
    pub(super) const JOB_READY: &str = "session/job-ready";
    pub(super) const GRANTED: &str = "session/granted";
    pub(super) const REMEMBERED: &str = "session/remembered";
    pub(super) const GOAL_SET: &str = "session/goal-set";
    pub(super) const TASK_CREATED: &str = "session/task-created";
    pub(super) const TASK_UPDATED: &str = "session/task-updated";
    pub(super) const PINGED: &str = "session/pinged";
    pub(super) const TOOLS_CALLED: &str = "session/tools-called";
    pub(super) const CREATED: &str = "schedule/created";
    pub(super) const CHANGED: &str = "schedule/changed";
    pub(super) const PAUSED: &str = "schedule/paused";
    pub(super) const RESUMED: &str = "schedule/resumed";
    pub(super) const SKIPPED: &str = "schedule/skipped";
    pub(super) const ARMED: &str = "schedule/armed";
    pub(super) const CALLED_OFF: &str = "schedule/cancelled";
    pub(super) const CLAIMED: &str = "run/claimed";
    pub(super) const QUEUED: &str = "run/queued";
    pub(super) const ASKED: &str = "run/asked";
    pub(super) const ALLOWED: &str = "run/allowed";
    pub(super) const HELD_BACK: &str = "run/held";
    pub(super) const APPROVED: &str = "run/approved";
    pub(super) const DENIED: &str = "run/denied";
    pub(super) const ANSWERED: &str = "run/question-answered";
    pub(super) const DISPATCHED: &str = "run/dispatched";
    pub(super) const ACCEPTED: &str = "run/accepted";
    pub(super) const DELIVERED: &str = "run/delivered";
    pub(super) const RETURNED: &str = "run/returned";
    pub(super) const FOLDED: &str = "run/folded";
    pub(super) const JOINED: &str = "run/joined";
    pub(super) const POSTPONED: &str = "run/postponed";
    pub(super) const LEFT: &str = "run/left";
    pub(super) const TAKEN: &str = "run/taken";
    pub(super) const RETRYING: &str = "run/retrying";
    pub(super) const FAILED: &str = "run/failed";
    pub(super) const CANCELLED: &str = "run/cancelled";
    pub(super) const ATTACHED: &str = "host/attached";
    pub(super) const LOST: &str = "host/lost";
    pub(super) const CHANNEL_OPENED: &str = "channel/opened";
    pub(super) const CHANNEL_DISABLED: &str = "channel/disabled";
    pub(super) const CHANNEL_PAUSED: &str = "channel/paused";
    pub(super) const CHANNEL_RESUMED: &str = "channel/resumed";
    pub(super) const HELD: &str = "engine/held";
    pub(super) const RELEASED: &str = "engine/released";
    pub(super) const GUARDED: &str = "engine/guarded";
    pub(super) const AWOKE: &str = "engine/awoke";
    pub(super) const STOPPING: &str = "engine/stopping";
    pub(super) const REFUSED: &str = "operation/refused";
}
