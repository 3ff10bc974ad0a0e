//! Applies facts about runs: their state, lane, timers, and the accounts.

use crate::domain::{
    Cause, Claim, Dispatch, Failure, Lineage, Moment, Now, Phase, Reason, Run, RunFact, RunId, RunState,
    Span, Trigger,
};
use crate::engine::destination::Destination;
use crate::engine::record::RunRecord;
use crate::engine::slab::Key;
use crate::engine::state::State;

use crate::engine::timers::Timer;
use crate::limits;

impl State {
    pub(super) fn apply_to_run(&mut self, schedule: Key, id: &RunId, now: Now, fact: RunFact) {
        if let RunFact::Claimed(claim) = fact {
            self.claim(schedule, id, now, &claim);
            self.refresh(schedule);
            return;
        }
        let Some(run) = self.run_key(id) else { return };
        self.at_hand = Some(run);
        match fact {
            RunFact::Claimed(_) => {}
            RunFact::Queued { .. } => {
                if !self.recall(run) {
                    self.hand_back(run, now);
                    self.queue(run);
                }
            }
            RunFact::Guard(fact) => self.apply_guard(run, now, fact),
            RunFact::Dispatched(to) => self.dispatch(run, now, to),
            RunFact::Accepted => self.accept(run, now),
            RunFact::Delivered => self.end_run(run, now, Ending::Delivered),
            RunFact::Returned { outcome, check } => self.end_call(run, now, outcome, check),
            RunFact::Folded(telling) => self.fold_bulletin(run, &telling),
            RunFact::Joined { lead } => self.join(run, now, *lead),
            RunFact::Postponed { reason: _, at, due } => self.postpone(run, at, due),
            RunFact::Left => self.leave_in_inbox(run, now),
            RunFact::Taken { by: _ } => self.take(run, now),
            RunFact::Retrying { failure, at, due } => {
                self.leave_lane(run, now, false);
                self.timers.clear(Timer::Receipt(run));
                self.timers.set(Timer::Retry(run), due);
                self.count_failed_attempt(run);
                if failure.reason == Reason::OverBudget {
                    self.note_booked(run, failure.phase, now.boot);
                }
                self.retry(run, now, failure, at);
            }
            RunFact::Failed(failure) => self.end_run(run, now, Ending::Failed(failure)),
            RunFact::Cancelled { reason } => self.end_run(run, now, Ending::Cancelled(reason)),
        }
        self.refresh(schedule);
    }

    fn claim(&mut self, schedule: Key, id: &RunId, now: Now, claim: &Claim) {
        debug_assert!(self.run_key(id).is_none(), "{id} is claimed twice");
        let Claim { cause, folded, next, time_up, by: _, telling: _ } = *claim;
        let Some(record) = self.schedules.get_mut(schedule) else { return };
        let mut run = Run::claimed(id.incarnation, id.slot, cause, folded, now.wall);
        // The actor who asks for the run counts, or without one the actor who armed its slot.
        let has_armed = next.is_some() && record.progress().by_session;
        run.by_session = claim.is_by_session() || has_armed && claim.by.is_none();
        let record_of_run = RunRecord { schedule, older: record.newest_run, lane: None, run };
        let key = self.runs.insert(record_of_run);
        record.newest_run = Some(key);
        self.at_hand = Some(key);
        if let Some(due) = time_up {
            self.timers.set(Timer::TimeUp(key), due);
        }
        match next {
            // A manual run or a bulletin: no slot was expected for it.
            None => self.ledger.expect(),
            Some(next) => {
                // The slot itself was expected when it was armed. Only the folded ones are new to
                // the accounts.
                self.ledger.pass(folded);
                // Most one-shots have no progress. One that was brought forward has to record that its slot was another one.
                if matches!(record.schedule.trigger, Trigger::At(slot) if slot != id.slot) {
                    record.progress_mut();
                }
                if let Some(progress) = &mut record.progress {
                    progress.consumed = Some(id.slot);
                    progress.runs += 1;
                    progress.skipped += folded;
                }
                self.arm_after(schedule, next, now);
            }
        }
        if let Some(telling) = &claim.telling {
            self.begin_bulletin(key, now, telling);
        }
    }

    /// Takes a run back from its host, which has not put its prompt anywhere. A fresh session that exists stays its place.
    fn hand_back(&mut self, run: Key, now: Now) {
        let is_out = |record: &RunRecord| record.run.state == RunState::InFlight;
        if !self.runs.get(run).is_some_and(is_out) {
            return;
        }
        self.leave_lane(run, now, false);
        self.timers.clear(Timer::Receipt(run));
        let Some(record) = self.runs.get_mut(run) else { return };
        let it = &mut record.run;
        it.host = None;
        it.phase = it.phase.filter(|_| it.session_created);
        it.take_hand_over_back();
    }

    /// Queues a run at its place.
    fn queue(&mut self, run: Key) {
        // A bulletin that waited for its time has its place in the queue already.
        self.leave_waiting(run);
        let Some(record) = self.runs.get(run) else { return };
        let lane = match self.destination_of(record) {
            // A step never queues such a run; it fails.
            Some(Destination::Unreachable(_)) | None => return,
            Some(place) => place.queue(),
        };
        if let Some(record) = self.runs.get_mut(run) {
            record.lane = lane;
            record.run.state = RunState::Queued;
            record.run.retry_at = None;
        }
        self.timers.clear(Timer::Retry(run));
        self.enter_waiting(run, lane);
    }

    /// Adds a run to the queue of a lane, or without a lane to the queue of what needs none.
    pub(super) fn enter_waiting(&mut self, run: Key, lane: Option<Key>) {
        match lane.map(|lane| self.sessions.get_mut(lane)) {
            Some(Some(session)) => session.waiting.push(run),
            Some(None) => {}
            None => _ = self.outside.insert(run),
        }
    }

    /// Marks a run as handed over. A submitted prompt occupies the lane of its session.
    fn dispatch(&mut self, run: Key, now: Now, to: Dispatch) {
        let Dispatch { host, phase, session, overdue } = to;
        self.timers.clear(Timer::Retry(run));
        self.timers.set(Timer::Receipt(run), overdue);
        // Before the state changes: only queued runs are in a queue.
        self.leave_waiting(run);
        if phase == Phase::PromptSubmit {
            self.end_creating(&session);
        }
        self.note_written(run, phase, now.boot);
        self.note_bulletin_sent(run);
        let Some(record) = self.runs.get(run) else { return };
        // Only a payload with a configuration opens a fresh session, and its prompt goes there.
        let fresh = self.definition_of(record).is_some_and(|asked| asked.payload.config().is_some());
        let lane = match phase {
            Phase::CreateSession => {
                let owner = self.schedules.get(record.schedule).and_then(|schedule| schedule.owner);
                self.begin_creating(&session, owner);
                owner
            }
            Phase::Outside => None,
            // A call that needs the session's host is with that host, and ends with it.
            Phase::Call => record.lane,
            Phase::PromptSubmit => {
                let is_it = |lane: &Key| self.sessions.get(*lane).is_some_and(|record| record.id == session);
                // Nearly always it goes where it waited, or to its owner. Their records are at
                // hand, unlike the table of ids.
                let owner = || self.schedules.get(record.schedule)?.owner.filter(is_it);
                record.lane.filter(is_it).or_else(owner).or_else(|| self.session_key(&session))
            }
        };
        let Some(record) = self.runs.get_mut(run) else { return };
        record.lane = lane;
        let it = &mut record.run;
        it.state = RunState::InFlight;
        it.retry_at = None;
        it.note_handed_over(now.wall);
        it.host = Some(host);
        it.phase = Some(phase);
        it.session_created = fresh && phase == Phase::PromptSubmit;
        it.session = Some(session);
        if let Some(checks) = &mut it.checks {
            // The guard's permission is for one hand-over.
            checks.allowed = None;
        }
        let (is_bulletin, per_hour) = (it.cause == Cause::Bulletin, self.primitives.wakes_per_hour);
        if phase == Phase::PromptSubmit
            && let Some(lane) = lane.and_then(|lane| self.sessions.get_mut(lane))
        {
            if is_bulletin {
                lane.wakes.take(per_hour, now.boot);
            }
            lane.in_flight = Some(run);
            lane.turn_ended = false;
        }
    }

    /// The host has accepted the prompt, and the run ends with the turn. The lane is freed as by
    /// any receipt.
    fn accept(&mut self, run: Key, now: Now) {
        self.timers.clear(Timer::Receipt(run));
        // Leaving the lane clears the link, which the run needs until the turn ends.
        let lane = self.runs.get(run).and_then(|record| record.lane);
        self.leave_lane(run, now, true);
        let asked = self.runs.get(run).and_then(|record| self.definition_of(record));
        // The time of a message that came out of an inbox was over when it was left there: that of its turn begins now.
        if let Some(timeout) = asked.and_then(|asked| asked.policy().timeout)
            && self.timers.deadline(Timer::TimeUp(run)).is_none()
        {
            self.timers.set(Timer::TimeUp(run), now.boot.after(timeout));
        }
        let Some(record) = self.runs.get_mut(run) else { return };
        let state = record.run.state;
        debug_assert!(state == RunState::InFlight, "a run that is {state:?} is accepted");
        record.run.state = RunState::Running;
        record.run.delivered_at = Some(now.wall);
        record.lane = lane;
        let schedule = record.schedule;
        if self.schedules.get(schedule).is_some_and(|schedule| !schedule.schedule.is_durable()) {
            self.turns.insert(run);
        }
        if let Some(session) = lane.and_then(|lane| self.sessions.get_mut(lane)) {
            session.turn_of = Some(run);
        }
    }

    /// Records a failed attempt. The run waits for the next one, in no lane and no queue.
    fn retry(&mut self, run: Key, now: Now, failure: Box<Failure>, at: Moment) {
        let Some(record) = self.runs.get_mut(run) else { return };
        let it = &mut record.run;
        it.state = RunState::Queued;
        if let Some(checks) = &mut it.checks {
            // The guard is asked again for each attempt.
            checks.allowed = None;
        }
        it.fail_attempt(&failure, now.wall, at);
        it.retry_at = Some(at);
        it.phase = None;
        it.host = None;
        it.session_created = exists_after(it.session_created, &failure);
        it.failure = Some(failure);
    }

    /// Ends a run: updates the accounts, clears its timers, frees its lane.
    pub(super) fn end_run(&mut self, run: Key, now: Now, ending: Ending) {
        let state = ending.state();
        for timer in [Timer::Receipt(run), Timer::Retry(run), Timer::TimeUp(run)] {
            self.timers.clear(timer);
        }
        if self.runs.get(run).is_some_and(|record| record.run.checks.is_some()) {
            // Most runs have never waited for a guard, and so have no place in that table. The
            // check saves the look-up.
            self.timers.clear(Timer::Approval(run));
        }
        self.turns.remove(&run);
        self.ledger.settle(state);
        if state == RunState::Delivered {
            self.note_bulletin_read(run);
        }
        // While the record still has its former state, which tells whether the run is in a queue.
        self.leave_lane(run, now, state == RunState::Delivered);
        let Some(record) = self.runs.get_mut(run) else { return };
        let schedule = record.schedule;
        // What was left in an inbox may still be taken.
        let is_open = record.is_live() || record.run.state == RunState::Left;
        debug_assert!(is_open, "the run of {} ends a second time, as {state:?}", record.run.slot);
        // Needed only while the run can still be handed over: a host may get what was left.
        record.run.definition = record.run.definition.take().filter(|_| state == RunState::Left);
        record.run.checks = None;
        ending.close(&mut record.run, now.wall);
        // A bulletin is no run of the schedule's own, nor is one of a definition that was replaced: it counts neither as
        // delivered nor as failed there.
        let counted = self.schedules.get_mut(schedule).filter(|schedule| schedule.is_own(&record.run));
        if let Some(progress) = counted.and_then(|schedule| schedule.progress.as_mut()) {
            match state {
                RunState::Delivered => {
                    progress.delivered += 1;
                    progress.failures_in_row = 0;
                }
                RunState::Failed => {
                    progress.failed += 1;
                    progress.failures_in_row += 1;
                }
                RunState::Left
                | RunState::Cancelled
                | RunState::Queued
                | RunState::InFlight
                | RunState::Running => {}
            }
        }
        self.note_channel_outcome(run, now.wall);
        self.drop_old_runs(schedule, now.wall);
    }

    /// Removes a run from its lane, its queue and all timers, without ending it.
    pub(super) fn leave_everything(&mut self, run: Key) {
        for timer in [Timer::Receipt(run), Timer::Retry(run), Timer::Approval(run), Timer::TimeUp(run)] {
            self.timers.clear(timer);
        }
        self.leave_waiting(run);
        self.leave_delivery(run);
        if let Some(session) = self.runs.get(run).and_then(|record| record.run.session.clone()) {
            self.end_creating(&session);
        }
        let Some(record) = self.runs.get_mut(run) else { return };
        if let Some(lane) = record.lane.take().and_then(|lane| self.sessions.get_mut(lane)) {
            lane.in_flight = lane.in_flight.filter(|other| *other != run);
            lane.turn_of = lane.turn_of.filter(|other| *other != run);
        }
    }

    /// Removes a run from its lane or queue. `taken` means that the host accepted its prompt.
    pub(super) fn leave_lane(&mut self, run: Key, now: Now, taken: bool) {
        self.leave_waiting(run);
        self.leave_delivery(run);
        let begins_turn = self.runs.get(run).and_then(|record| self.definition_of(record));
        let begins_turn = begins_turn.is_some_and(|asked| asked.payload.begins_turn());
        let Some(record) = self.runs.get_mut(run) else { return };
        let lane = record.lane.take();
        // Nearly always nothing is being created, and the id need not be copied.
        let session = record.run.session.as_ref().filter(|_| !self.creating.is_empty()).cloned();
        if let Some(session) = session {
            self.end_creating(&session);
        }
        let Some(lane_key) = lane else { return };
        // The built-in host has no turns.
        let has_turns = self.sessions.get(lane_key).is_some_and(|lane| lane.host.is_attached());
        let lineage = (taken && begins_turn && has_turns).then(|| self.lineage_of_run(run)).flatten();
        let Some(lane) = self.sessions.get_mut(lane_key) else { return };
        if lane.turn_of == Some(run) {
            lane.turn_of = None;
        }
        // A run that waited, or whose turn was going on, did not occupy the lane.
        if lane.in_flight != Some(run) {
            return;
        }
        lane.in_flight = None;
        if lineage.is_some() {
            lane.woken = lineage;
        }
        // An attached host begins a turn for each prompt that it accepts, and reports it a little
        // later. Until then, or until the grace period is over, the session is presumed busy:
        // otherwise the next prompt would go out in between.
        let in_turn = lane.busy || lane.turn_ended;
        if taken && begins_turn && lane.host.is_attached() && lane.hosted && !in_turn {
            lane.turn_starting = true;
            let grace = Span::from_millis(limits::TURN_START_MS.value);
            self.timers.set(Timer::Turn(lane_key), now.boot.after(grace));
        }
    }

    /// Returns the line of the turn that a run begins.
    fn lineage_of_run(&self, run: Key) -> Option<Box<Lineage>> {
        let record = self.runs.get(run)?;
        let id = self.run_id(record)?;
        Some(Box::new(self.definition_of(record)?.lineage_of_turn(id)))
    }

    pub(super) fn leave_waiting(&mut self, run: Key) {
        self.outside.remove(&run);
        let Some(record) = self.runs.get(run).filter(|record| record.run.state == RunState::Queued) else {
            return;
        };
        if let Some(session) = record.lane.and_then(|lane| self.sessions.get_mut(lane)) {
            session.waiting.retain(|waiting| *waiting != run);
        }
    }

    /// Drops the oldest runs of a schedule beyond the bound. Runs that have not ended are always
    /// retained, and those of this very moment too: what a bulletin or a manual run is to be called
    /// now is sought among them.
    fn drop_old_runs(&mut self, schedule: Key, now: Moment) {
        let Some(record) = self.schedules.get(schedule) else { return };
        let is_watch = record.schedule.is_watch();
        let mut newer = None;
        let (mut kept, mut checks) = (0, 0);
        let mut at = record.newest_run;
        while let Some(key) = at {
            let Some(run) = self.runs.get(key) else { return };
            let older = run.older;
            // The newest ones are needed: what is due next, for instance, counts from their ends.
            let is_check = is_watch && run.run.cause == Cause::Slot && run.run.state == RunState::Delivered;
            kept += 1;
            checks += u64::from(is_check);
            let is_beyond = kept > limits::RUNS_KEPT.value || is_check && checks > limits::CHECKS_KEPT.value;
            if is_beyond && !run.is_live() && run.run.slot < now {
                self.forget_run(key);
                // Runs form a linked list from new to old; this unlinks one.
                if let Some(newer) = newer.and_then(|newer| self.runs.get_mut(newer)) {
                    newer.older = older;
                }
            } else {
                newer = Some(key);
            }
            at = older;
        }
    }
}

/// How a run ends.
pub(super) enum Ending {
    Delivered,
    Left,
    Cancelled(Reason),
    Failed(Box<Failure>),
}

impl Ending {
    fn state(&self) -> RunState {
        match self {
            Ending::Delivered => RunState::Delivered,
            Ending::Left => RunState::Left,
            Ending::Cancelled(_) => RunState::Cancelled,
            Ending::Failed(_) => RunState::Failed,
        }
    }

    fn close(self, run: &mut Run, at: Moment) {
        run.state = self.state();
        run.ended_at = Some(at);
        run.retry_at = None;
        match self {
            Ending::Delivered => {
                run.delivered_at.get_or_insert(at);
                run.failure = None;
            }
            Ending::Left => {
                run.reason = Some(Reason::NobodyListens);
                run.failure = None;
            }
            Ending::Cancelled(reason) => run.reason = Some(reason),
            Ending::Failed(failure) => {
                run.phase = Some(failure.phase);
                run.reason = Some(failure.reason);
                run.session_created = exists_after(run.session_created, &failure);
                run.failure = Some(failure);
            }
        }
    }
}

/// Returns whether the fresh session of a run exists after a failure. It may exist although the attempt failed; and a host may
/// say, when it gets the prompt, that it could not create the session.
fn exists_after(created: bool, failure: &Failure) -> bool {
    failure.session_exists || created && failure.phase != Phase::CreateSession
}
