//! Which facts the feed does not show: those of a check of a watch that tells nobody anything.
//!
//! A second reading of the rule, from the fact alone: whether a check is the first of its kind is in what it has counted.

use crate::domain::{Fact, Phase, RunFact, ScheduleFact, ScheduleId, WatchCheck};
use crate::testkit::history::{Observation, Seen};
use crate::testkit::laws::Laws;
use crate::testkit::reference::model::ReferenceModel;

impl Laws {
    /// Whether the feed shows the fact of an observation. Must be called before the observation is added to the model.
    pub(in crate::testkit) fn is_shown(&self, observation: &Observation) -> bool {
        if let Seen::Fact(fact) = &observation.seen { self.model.is_shown(fact) } else { false }
    }
}

impl ReferenceModel {
    fn is_shown(&self, fact: &Fact) -> bool {
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
        is_news(check)
    }

    fn is_watch(&self, id: &ScheduleId) -> bool {
        self.schedules.get(id).is_some_and(|plan| plan.schedule.is_watch())
    }
}

/// Whether a check is told, or the first one, or the first that fails or works again. The watches of worlds have no condition and
/// no silence, by which more would be news.
fn is_news(check: &WatchCheck) -> bool {
    let tally = &check.weighed.tally;
    let in_row = if check.reading.outcome.ok { tally.oks.checks } else { tally.errors.checks };
    check.weighed.told.is_some() || in_row == 1
}
