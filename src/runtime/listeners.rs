//! Watches that hear of changes between their checks, as far as the executor of their tool can tell.
//!
//! What lives elsewhere: what a change does to a watch (`engine`), how changes are heard of (the executors). Invariants: there
//! are at most `limits::LISTENING_WATCHES`; of many changes between two checks the engine is told once in a while; a watch
//! whose executor tells nothing is checked at its interval, as without this.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::kit::KnownTool;
use super::shared::Shared;
use super::sync::{Mutex, UNPOISONED};
use crate::domain::{BootTime, Refusal, ScheduleId, Span};
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
    changes: Arc<Changes>,
}

/// What a watch has heard of.
#[derive(Default)]
struct Changes {
    /// Whether something has changed since the last check began.
    has_stirred: AtomicBool,
    /// When the engine was told of a change last, in nanoseconds of the boot clock.
    told_at: AtomicU64,
}

impl Changes {
    /// Notes a change. Returns whether the engine has to be told: of the first one since the last check began, and of a later one
    /// if that check does not come. The watch was paused when the engine was told, or the check was refused before its call.
    fn note(&self, now: BootTime) -> bool {
        let is_first = !self.has_stirred.swap(true, Ordering::SeqCst);
        let wait = Span::from_millis(limits::STIRRED_MS.value).nanos();
        let is_told = is_first || now.nanos() >= self.told_at.load(Ordering::SeqCst).saturating_add(wait);
        if is_told {
            self.told_at.store(now.nanos(), Ordering::SeqCst);
        }
        is_told
    }
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
        let changes = Arc::<Changes>::default();
        let (engine, id, heard) = (Arc::downgrade(self), watch.clone(), Arc::clone(&changes));
        let stirred: Stirred = Arc::new(move || {
            if let Some(shared) = engine.upgrade()
                && heard.note(shared.now().boot)
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
        let former = table.insert(watch.clone(), Listener { listening, changes });
        // The executor is not called under the lock.
        drop(table);
        drop(former);
        Ok(())
    }

    /// Reports what has changed while a check was under way, which the check may not have seen.
    pub(super) fn report_stirred_meanwhile(self: &Arc<Self>, watch: &ScheduleId) {
        let has_stirred = {
            let table = self.listeners.table.lock().expect(UNPOISONED);
            table.get(watch).is_some_and(|listener| listener.changes.has_stirred.load(Ordering::SeqCst))
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
            listener.changes.has_stirred.store(false, Ordering::SeqCst);
            return true;
        }
        let former = table.remove(watch);
        drop(table);
        drop(former);
        false
    }
}
