//! A new life begins on what was restored of an earlier one.
//!
//! Slots before this moment count as missed. A run that was with its host goes on as its schedule's policy says: handed over
//! again, or left to count as active until its time is up. What the built-in host had not answered has not happened, because
//! its transcripts and the answer are kept together.

use super::failed::{fail, failure_in_flight};
use super::hold::fill_lanes;
use super::occurrence::Occurrence;
use crate::domain::{Fact, HostId, Reason, Recovery, RunFact, RunState};
use crate::engine::draft::Draft;
use crate::engine::record::RunRecord;

pub(in crate::engine) fn awake(draft: &mut Draft<'_>, lost: u64) {
    let state = draft.state;
    draft.fact(Fact::Awoke { lost });
    let with_host = state
        .runs
        .iter()
        .map(|(_, run)| run)
        .filter(|run| matches!(run.run.state, RunState::InFlight | RunState::Running));
    for run in with_host {
        recover(draft, run);
    }
    fill_lanes(draft);
}

fn recover(draft: &mut Draft<'_>, run: &RunRecord) {
    let Some(occurrence) = Occurrence::of(draft.state, run) else { return };
    let policy = occurrence.schedule.policy();
    let may_be_active = run.run.host.is_some_and(HostId::is_attached);
    if may_be_active && policy.recovery == Recovery::Fail && policy.timeout.is_some() {
        return;
    }
    let text = "the process ended while the run was with its host";
    let failure = failure_in_flight(run, Reason::Crashed, text);
    // A fresh session that exists is not created a second time.
    if may_be_active || run.run.session_created {
        fail(draft, &occurrence, failure);
    } else {
        let (at, due) = (draft.now.wall, draft.now.boot);
        draft.run_fact(&occurrence.id, RunFact::Retrying { failure: Box::new(failure), at, due });
    }
}
