//! A new life begins on what was restored of an earlier one.
//!
//! Slots before this moment count as missed. A run that was with its host goes on as its schedule's policy says: handed over
//! again, or left to count as active until its time is up. What the built-in host had not answered has not happened, because
//! its transcripts and the answer are kept together. What is in memory only has not been restored: where there is some, the
//! process goes on, and so does that.

use std::collections::BTreeSet;

use super::failed::{fail_unanswered, failure_in_flight};
use super::hand_over::{call_off_stale, hand_over};
use super::hold::fill_lanes;
use super::occurrence::Occurrence;
use crate::domain::{Fact, HostId, Phase, Reason, Recovery, RunFact, RunState, Schedule, Status};
use crate::engine::draft::Draft;
use crate::engine::place::Place;
use crate::engine::record::RunRecord;
use crate::engine::slab::Key;
use crate::engine::timers::Timer;

pub(in crate::engine) fn awake(draft: &mut Draft<'_>, lost: u64) {
    let state = draft.state;
    draft.fact(Fact::Awoke { lost });
    let is_restored = |run: &RunRecord| state.asked(run).is_some_and(Schedule::is_durable);
    let is_with_host = |run: &RunRecord| matches!(run.run.state, RunState::InFlight | RunState::Running);
    // That a fresh session is there, said again by its host, has let the prompt go: it is out, and waited for.
    let is_out = |key: Key, run: &RunRecord| {
        run.run.session_created && state.timers.deadline(Timer::Receipt(key)).is_some()
    };
    let with_host = state.runs.iter().filter(|(_, run)| is_with_host(run) && is_restored(run));
    let with_host = with_host.filter(|(key, run)| !is_out(*key, run));
    // What is handed over in this step is not in the state yet: its lane is taken all the same.
    let mut taken = BTreeSet::new();
    for (key, run) in with_host {
        recover(draft, key, run, &mut taken);
    }
    fill_lanes(draft, &taken);
}

fn recover(draft: &mut Draft<'_>, key: Key, run: &RunRecord, taken: &mut BTreeSet<Key>) {
    let Some(occurrence) = Occurrence::of(draft.state, run) else { return };
    let policy = occurrence.schedule.policy();
    let may_be_active = run.run.host.is_some_and(HostId::is_attached);
    if may_be_active && policy.recovery == Recovery::Fail && policy.timeout.is_some() {
        return;
    }
    let text = "the process ended while the run was with its host";
    let failure = failure_in_flight(run, Reason::Crashed, text);
    let is_cancelled = occurrence.record.status == Status::Cancelled;
    // A fresh session that exists is not created a second time; what was on its way out may have arrived; and nobody wants again
    // what was cancelled while it was out.
    if may_be_active || run.run.session_created || run.run.phase == Some(Phase::Outside) || is_cancelled {
        fail_unanswered(draft, run, failure, None);
        return;
    }
    let (at, due) = (draft.now.wall, draft.now.boot);
    draft.run_fact(&occurrence.id, RunFact::Retrying { failure: Box::new(failure), at, due });
    // It had its session, and keeps it: nothing that is due by now comes before it. Unless its time is up, too.
    let time_up = draft.state.timers.deadline(Timer::TimeUp(key)).is_some_and(|end| end <= due);
    let waits = time_up || draft.held || occurrence.is_paused() || occurrence.is_frozen(draft.state);
    let place = occurrence.place(draft.state);
    // Where the process goes on, something in memory may have its lane by now.
    let waits = waits || place.blocks().is_some();
    let lane = match place {
        Place::Lane(lane, _) => Some(lane),
        Place::Fresh(..) | Place::Outside(_) | Place::Nowhere(_) => None,
    };
    let is_free = lane.is_none_or(|lane| !taken.contains(&lane));
    if !waits && is_free && !call_off_stale(draft, &occurrence) && hand_over(draft, &occurrence) {
        taken.extend(lane);
    }
}
