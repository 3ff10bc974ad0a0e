//! Calls that wait until something comes into an inbox: the tool server asks the daemon again until it does.
//!
//! The daemon itself answers at once, so that no thread of its own waits for minutes. Invariant: a call that was cancelled, or
//! whose agent is gone, takes nothing more out of an inbox.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::app::client::Answered;
use crate::app::fault::AppFault;
use crate::edn::Value;
use crate::surface::mcp::Origin;

/// The calls that wait, by their ids.
#[derive(Default)]
pub(in crate::app) struct Waits {
    waiting: Mutex<BTreeMap<String, SyncSender<()>>>,
}

/// One call that waits.
pub(in crate::app) struct Wait {
    over: Receiver<()>,
    looks: u64,
}

impl Waits {
    /// Begins the wait of a call.
    pub(in crate::app) fn begin(&self, id: &Value, seconds: u64) -> Wait {
        let (end, over) = sync_channel(1);
        self.waiting().insert(id.to_string(), end);
        Wait { over, looks: seconds * LOOKS_PER_SECOND }
    }

    /// Ends the wait of a call that its agent cancels.
    pub(in crate::app) fn cancel(&self, id: &Value) {
        self.waiting().remove(&id.to_string());
    }

    /// Ends all waits.
    pub(in crate::app) fn end(&self) {
        self.waiting().clear();
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<String, SyncSender<()>>> {
        // A panic elsewhere cannot leave it inconsistent: each change is one insert or removal.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wait {
    /// Asks again until there is something; the last answer when the time is over, and `None` if the call was cancelled.
    pub(in crate::app) fn until(&self, again: impl Fn() -> Result<Answered, AppFault>) -> Option<Answered> {
        let mut last = None;
        for _ in 0..self.looks {
            // Nothing is ever sent: the sender is dropped when the wait is over.
            if self.over.recv_timeout(BETWEEN) == Err(RecvTimeoutError::Disconnected) {
                return None;
            }
            // A daemon that is started again meanwhile is asked again.
            let Ok(answered) = again() else { continue };
            let is_empty = Origin::is_empty_inbox(answered.text.as_bytes());
            last = Some(answered);
            if !is_empty {
                break;
            }
        }
        last
    }
}

const LOOKS_PER_SECOND: u64 = 2;
const BETWEEN: Duration = Duration::from_millis(1_000 / LOOKS_PER_SECOND);
