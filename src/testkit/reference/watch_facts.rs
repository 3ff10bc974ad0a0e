//! How the model follows the checks of watches, restarts between them, and loads from the store.
//!
//! What lives elsewhere: what the model notes of a check (`watch_model.rs`), and what follows from it (`watch_verdict.rs`).

use std::sync::Arc;

use crate::domain::{Downtime, Filter, Missed, Now, Overlap, ScheduleId, Trigger, WatchCheck};
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::schedule_model::ScheduleModel;
use crate::testkit::reference::watch_model::PastCheck;
use crate::testkit::reference::watch_standing::Verdict;
use crate::testkit::reference::watch_verdict::verdict;

impl ScheduleModel {
    /// What decides which of its checks are told, if it is a watch.
    pub(in crate::testkit) fn filter(&self) -> Option<&Arc<Filter>> {
        self.schedule.payload.call()?.filter.as_ref()
    }

    /// A check that ends now, and what it has to lead to.
    pub(in crate::testkit) fn judged(&self, now: Now, check: &WatchCheck) -> Option<(PastCheck, Verdict)> {
        let filter = self.filter()?;
        let made = self.watch.check(filter, &check.reading, now.wall);
        let verdict = verdict(&self.watch, filter, self.schedule.created_at, &made);
        Some((made, verdict))
    }
}

impl ReferenceModel {
    pub(in crate::testkit) fn enter_check(&mut self, now: Now, id: &ScheduleId, check: &WatchCheck) {
        let Some(plan) = self.schedules.get_mut(id) else { return };
        if let Some((made, verdict)) = plan.judged(now, check) {
            plan.watch.enter(made, &verdict, check);
        }
    }

    /// Notes whether the checks of a watch may overlap, so that one is weighed by what another one did not know.
    pub(in crate::testkit) fn note_policy(&mut self, id: &ScheduleId) {
        let Some(plan) = self.schedules.get_mut(id) else { return };
        let policy = plan.schedule.policy();
        if policy.overlap == Overlap::Parallel || policy.missed == Missed::All {
            plan.watch.may_overlap();
        }
    }

    /// Notes when no process was there, so that nobody looked.
    pub(in crate::testkit) fn note_downs(&mut self, downs: &[Downtime]) {
        for plan in self.schedules.values_mut().filter(|plan| plan.filter().is_some()) {
            let Trigger::Every(every) = &plan.schedule.trigger else { continue };
            let since_then = downs.iter().filter(|down| down.until > plan.schedule.created_at);
            since_then.for_each(|down| plan.watch.was_down(down, every.period()));
        }
    }

    /// Notes that everything durable was loaded from the store.
    pub(in crate::testkit) fn note_loaded(&mut self) {
        let durable = self.schedules.values_mut().filter(|plan| plan.is_durable());
        durable.for_each(|plan| plan.watch.was_loaded());
    }
}
