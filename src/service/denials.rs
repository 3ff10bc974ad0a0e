//! Records refusals of authority in the log, at most one for each caller and operation per minute: a caller that keeps trying
//! must not fill the log.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::Service;
use crate::domain::{Actor, BootTime, Caller, Dialect, Op, Span};
use crate::engine::{Input, Report};

/// When each refusal was last recorded, by caller and operation.
#[derive(Default)]
pub(super) struct Denials {
    recorded: Mutex<BTreeMap<(Box<str>, Op), BootTime>>,
}

impl Denials {
    /// Returns whether a refusal is to be recorded now.
    fn is_due(&self, by: &Actor, op: Op, now: BootTime) -> bool {
        // A panic elsewhere leaves the table whole: each change is one insert or one sweep.
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |at: &BootTime| now.since(*at) < MINUTE;
        // Swept only when it is full, so that a refusal usually costs one look-up.
        if recorded.len() >= MOST {
            recorded.retain(|_, at| is_recent(at));
        }
        let key = (by.to_string().into(), op);
        // Still full: so many were refused within the last minute that no further one is recorded.
        if recorded.len() >= MOST || recorded.get(&key).is_some_and(is_recent) {
            return false;
        }
        recorded.insert(key, now);
        true
    }
}

impl Service {
    /// Records that a caller was refused an operation.
    pub(super) fn record_denial(&self, caller: &Caller, op: Op, tool: Option<Dialect>) {
        // Nobody has asked for what is rehearsed, and the next one that asks is recorded.
        if self.handle().is_rehearsal() {
            return;
        }
        let by = Actor { tool, ..caller.actor() };
        if self.shared.denials.is_due(&by, op, self.handle().now().boot) {
            // The caller is refused in any case. If the store cannot be written, the health of the store says so.
            let _ = self.handle().submit(Input::Report(Report::Refused { by, op }));
        }
    }
}

const MINUTE: Span = Span::from_millis(60_000);
/// Refusals that are remembered at a time; beyond, none is recorded for the rest of the minute.
const MOST: usize = 4_096;
