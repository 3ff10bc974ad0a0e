//! Executor of the tools that a connected harness offers. Calls are pushed to it, and their outcomes come back as its
//! requests.
//!
//! What lives elsewhere: the wire format (`surface/edn_stream`), time-outs and lost connections (`runtime`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Push, PushSink};
use crate::domain::{Outcome, Reason, SessionId, Span, ToolSpec};
use crate::engine::Invocation;
use crate::port::{Executor, Returned};

/// The tools of a connected harness.
pub struct HostTools<S> {
    sink: S,
    desk: Mutex<Desk>,
}

struct Desk {
    specs: Arc<[ToolSpec]>,
    /// The calls that are with the harness.
    open: BTreeMap<Box<str>, Returned>,
}

impl<S: PushSink> HostTools<S> {
    /// Makes an executor that pushes calls into `sink`, without tools.
    pub fn new(sink: S) -> HostTools<S> {
        HostTools { sink, desk: Mutex::new(Desk { specs: Arc::default(), open: BTreeMap::new() }) }
    }

    /// Offers these tools, and none of those before.
    pub fn offer(&self, specs: Vec<ToolSpec>) {
        self.desk().specs = specs.into();
    }

    /// Passes an outcome on that the harness sends; `false` if no call of this id is with it.
    pub fn returned(&self, id: &str, outcome: Outcome) -> bool {
        let returned = self.desk().open.remove(id);
        // Unlocked first: the next call may follow at once.
        let is_open = returned.is_some();
        if let Some(returned) = returned {
            returned.give(outcome);
        }
        is_open
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        // A panic elsewhere cannot leave it inconsistent: each change is one insert or removal.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: PushSink> Executor for HostTools<S> {
    fn specs(&self, _session: &SessionId) -> Arc<[ToolSpec]> {
        Arc::clone(&self.desk().specs)
    }

    fn call(&self, invocation: Invocation, returned: Returned) {
        let id = invocation.id.clone();
        // First, because the outcome may come before `push` returns.
        self.desk().open.insert(id.clone(), returned);
        if !self.sink.push(Push::ToolCall(Box::new(invocation))) {
            let text = "host-lost: the harness takes no more calls";
            self.returned(&id, Outcome::of_failure(Reason::HostLost, text, Span::ZERO));
        }
    }

    fn cancel(&self, id: &str) {
        let open = self.desk().open.remove(id);
        if let Some(returned) = open {
            // Dropped without this, it would report that the call has failed.
            returned.discard();
            self.sink.push(Push::ToolCancelled { id: id.into() });
        }
    }
}
