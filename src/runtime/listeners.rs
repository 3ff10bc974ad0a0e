//! Watches that hear of changes between their checks, as far as the executor of their tool can tell.
//!
//! What lives elsewhere: what a change does to a watch (`engine`), how changes are heard of (the executors). Invariants: there
//! are at most `limits::LISTENING_WATCHES`; of many changes between two checks the engine is told once; a watch whose
//! executor tells nothing is checked at its interval, as without this.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::kit::KnownTool;
use super::shared::Shared;
use super::sync::{Mutex, UNPOISONED};
use crate::domain::{Refusal, ScheduleId};
use crate::edn::Value;
use crate::engine::{Input, Report};
use crate::limits;
use crate::port::{Listening, Stirred};

/// The watches that hear of changes.
#[derive(Default)]
pub(super) struct Listeners {
    table: Mutex<BTreeMap<ScheduleId, Listener>>,
}

struct Listener {
    listening: Box<dyn Listening>,
    /// Whether something has changed since the last check began.
    has_stirred: Arc<AtomicBool>,
}

impl Shared {
    /// Lets a watch that is about to look hear of what changes from now on.
    pub(super) fn listen(
        self: &Arc<Self>,
        watch: &ScheduleId,
        tool: &KnownTool,
        args: &Value,
    ) -> Result<(), &'static str> {
        // It listens already. The check that begins now sees what has changed until now.
        if self.listeners.forget_changes(watch) {
            return Ok(());
        }
        let has_stirred = Arc::<AtomicBool>::default();
        let (engine, id, flag) = (Arc::downgrade(self), watch.clone(), Arc::clone(&has_stirred));
        let stirred: Stirred = Arc::new(move || {
            // One report is enough until the next check has begun.
            if !flag.swap(true, Ordering::SeqCst)
                && let Some(shared) = engine.upgrade()
            {
                shared.report_stirred(&id);
            }
        });
        // Unwind safe: the executor is behind a port. One that panics tells nothing.
        let executor = &tool.offerer.executor;
        let listening = catch_unwind(AssertUnwindSafe(|| executor.listen(&tool.spec.name, args, stirred)));
        let Some(listening) = listening.unwrap_or(Ok(None))? else { return Ok(()) };
        // The table grows only here, so this is the place to make room.
        self.drop_idle_listeners();
        let mut table = self.listeners.table.lock().expect(UNPOISONED);
        if table.len() as u64 >= limits::LISTENING_WATCHES.value && !table.contains_key(watch) {
            return Err("too many watches hear of changes already");
        }
        let former = table.insert(watch.clone(), Listener { listening, has_stirred });
        // The executor is not called under the lock.
        drop(table);
        drop(former);
        Ok(())
    }

    /// Reports what has changed while a check was under way, which the check may not have seen.
    pub(super) fn report_stirred_meanwhile(self: &Arc<Self>, watch: &ScheduleId) {
        let has_stirred = {
            let table = self.listeners.table.lock().expect(UNPOISONED);
            table.get(watch).is_some_and(|listener| listener.has_stirred.load(Ordering::SeqCst))
        };
        if has_stirred {
            self.report_stirred(watch);
        }
    }

    fn report_stirred(self: &Arc<Self>, watch: &ScheduleId) {
        let report = Report::Stirred { schedule: watch.clone() };
        let reported = self.submit_raw(Input::Report(report), |_| (), |_| ());
        // The watch has ended, so nothing has to hear of changes for it.
        if let Err(Refusal::UnknownSchedule { .. }) = reported {
            self.stop_listening(watch);
        }
    }

    /// Lets a watch hear of nothing any more.
    pub(super) fn stop_listening(&self, watch: &ScheduleId) {
        let former = self.listeners.table.lock().expect(UNPOISONED).remove(watch);
        drop(former);
    }

    /// Drops what is left of watches that have ended in another way than by being stopped.
    fn drop_idle_listeners(&self) {
        let mut idle: Vec<ScheduleId> =
            self.listeners.table.lock().expect(UNPOISONED).keys().cloned().collect();
        {
            // In a block of its own: no listener may be dropped under the lock, because that calls its executor.
            let core = self.core();
            let is_over =
                |id: &ScheduleId| core.state.schedule(id).is_none_or(|record| record.status().is_terminal());
            idle.retain(|id| is_over(id));
        }
        idle.iter().for_each(|id| self.stop_listening(id));
    }
}

impl Listeners {
    /// Forgets what a watch has heard of; `false` if it hears of nothing.
    fn forget_changes(&self, watch: &ScheduleId) -> bool {
        let mut table = self.table.lock().expect(UNPOISONED);
        let Some(listener) = table.get(watch) else { return false };
        if listener.listening.is_live() {
            listener.has_stirred.store(false, Ordering::SeqCst);
            return true;
        }
        let former = table.remove(watch);
        drop(table);
        drop(former);
        false
    }
}
