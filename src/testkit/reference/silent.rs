//! Which facts the feed does not show: those of a check of a watch that tells nobody anything.
//!
//! What lives elsewhere: which checks tell something (`watch_verdict.rs`).

use crate::domain::{Fact, Now, Phase, RunFact, ScheduleFact, ScheduleId};
use crate::testkit::history::{Observation, Seen};
use crate::testkit::laws::Laws;
use crate::testkit::reference::model::ReferenceModel;

impl Laws {
    /// Whether the feed shows the fact of an observation. Must be called before the observation is added to the model.
    pub(in crate::testkit) fn is_shown(&self, observation: &Observation) -> bool {
        let Seen::Fact(fact) = &observation.seen else { return false };
        self.model.is_shown(observation.now, fact)
    }
}

impl ReferenceModel {
    fn is_shown(&self, now: Now, fact: &Fact) -> bool {
        if let Fact::Schedule(id, ScheduleFact::Armed { by: None, .. }) = fact {
            return !self.is_watch(id);
        }
        let Fact::Run(run, fact, _) = fact else { return true };
        if !self.is_watch(&run.schedule) {
            return true;
        }
        if let RunFact::Claimed(claim) = fact {
            return claim.telling.is_some();
        }
        if let RunFact::Dispatched(to) = fact {
            return to.phase != Phase::Call;
        }
        let RunFact::Returned { check: Some(check), .. } = fact else { return true };
        let Some(plan) = self.schedules.get(&run.schedule) else { return true };
        plan.judged(now, check).is_none_or(|(made, verdict)| plan.watch.is_news(&made, &verdict, check))
    }

    fn is_watch(&self, id: &ScheduleId) -> bool {
        self.schedules.get(id).is_some_and(|plan| plan.schedule.is_watch())
    }
}
