//! What a fact about a run changes: its state, its lane, its timers, and the accounts.

use crate::domain::{
    Awaits, Checks, Claim, Failure, HandOver, Hold, Lineage, Moment, Now, Phase, Reason, Run, RunFact, RunId,
    RunState, Span,
};
use crate::engine::place::Place;
use crate::engine::record::RunRecord;
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::engine::step::approved;
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
            RunFact::Queued { .. } => self.queue(run),
            RunFact::Asked { digest, due, until } => {
                let rule = "guard".into();
                let hold = Hold { awaits: Awaits::Guard, rule, why: None, digest, until, due };
                self.wait_for_word(run, now, hold);
            }
            RunFact::Held(hold) => self.wait_for_word(run, now, *hold),
            RunFact::Allowed { digest, until } => {
                self.note_word(run, |checks| {
                    checks.waits = None;
                    checks.allowed = Some((digest, until));
                });
            }
            RunFact::Approved { digest, by: _ } => self.note_word(run, |checks| approved(checks, digest)),
            // What follows from that has a fact of its own.
            RunFact::Denied { .. } => {}
            RunFact::Dispatched(to) => self.dispatch(run, now, to),
            RunFact::Accepted => self.accept(run, now),
            RunFact::Delivered => self.end_run(run, now, Ending::Delivered),
            RunFact::Retrying { failure, at, due } => {
                self.leave_lane(run, now, false);
                self.timers.clear(Timer::Receipt(run));
                self.timers.set(Timer::Retry(run), due);
                self.retry(run, failure, at);
            }
            RunFact::Failed(failure) => self.end_run(run, now, Ending::Failed(failure)),
            RunFact::Cancelled { reason } => self.end_run(run, now, Ending::Cancelled(reason)),
        }
        self.refresh(schedule);
    }

    fn claim(&mut self, schedule: Key, id: &RunId, now: Now, claim: &Claim) {
        let Claim { cause, folded, next, time_up, by: _ } = *claim;
        let Some(record) = self.schedules.get_mut(schedule) else { return };
        let run = Run::claimed(id.incarnation, id.slot, cause, folded, now.wall);
        let record_of_run = RunRecord { schedule, older: record.newest_run, lane: None, run };
        let key = self.runs.insert(record_of_run);
        record.newest_run = Some(key);
        self.at_hand = Some(key);
        if let Some(due) = time_up {
            self.timers.set(Timer::TimeUp(key), due);
        }
        match next {
            // A run by hand: nobody had been told to expect it.
            None => self.ledger.expect(),
            Some(next) => {
                self.ledger.pass(folded);
                if let Some(course) = &mut record.course {
                    course.consumed = Some(id.slot);
                    course.runs += 1;
                    course.skipped += folded;
                }
                self.arm(schedule, next);
            }
        }
    }

    /// Lets a run wait where it goes to.
    fn queue(&mut self, run: Key) {
        let Some(record) = self.runs.get(run) else { return };
        let owner = self.schedules.get(record.schedule).and_then(|schedule| schedule.owner);
        let place = self.asked(record).map(|asked| self.place(asked, owner));
        let lane = match place {
            Some(Place::Lane(lane, _) | Place::Fresh(lane, _)) => Some(lane),
            Some(Place::Outside(_)) => None,
            Some(Place::Nowhere(_)) | None => return,
        };
        if let Some(record) = self.runs.get_mut(run) {
            record.lane = lane;
            record.run.state = RunState::Queued;
            record.run.retry_at = None;
        }
        self.timers.clear(Timer::Retry(run));
        self.enter_waiting(run, lane);
    }

    /// Lets a run wait in a lane, or to go outside.
    pub(super) fn enter_waiting(&mut self, run: Key, lane: Option<Key>) {
        match lane.map(|lane| self.sessions.get_mut(lane)) {
            Some(Some(session)) => session.waiting.push(run),
            Some(None) => {}
            None => _ = self.outside.insert(run),
        }
    }

    /// Lets a run wait for somebody's word, with nobody, and in no lane.
    fn wait_for_word(&mut self, run: Key, now: Now, hold: Hold) {
        self.leave_lane(run, now, false);
        self.timers.clear(Timer::Retry(run));
        self.timers.set(Timer::Word(run), hold.due);
        let Some(record) = self.runs.get_mut(run) else { return };
        record.run.state = RunState::Queued;
        record.run.retry_at = None;
        record.run.checks.get_or_insert_default().waits = Some(hold);
    }

    fn note_word(&mut self, run: Key, note: impl FnOnce(&mut Checks)) {
        self.timers.clear(Timer::Word(run));
        if let Some(record) = self.runs.get_mut(run) {
            note(record.run.checks.get_or_insert_default());
        }
    }

    /// Notes that a run is with its host, and that it occupies the lane of the session it delivers into.
    fn dispatch(&mut self, run: Key, now: Now, to: HandOver) {
        let HandOver { host, phase, session, overdue } = to;
        self.timers.clear(Timer::Retry(run));
        self.timers.set(Timer::Receipt(run), overdue);
        self.leave_waiting(run);
        let Some(record) = self.runs.get(run) else { return };
        let fresh = self.asked(record).is_some_and(|asked| asked.payload.config().is_some());
        let lane = match phase {
            Phase::CreateSession => {
                self.creating.insert(session.clone());
                self.schedules.get(record.schedule).and_then(|schedule| schedule.owner)
            }
            Phase::Outside => None,
            Phase::PromptSubmit => {
                self.creating.remove(&session);
                let is_it = |lane: &Key| self.sessions.get(*lane).is_some_and(|record| record.id == session);
                // Nearly always it goes where it waited, or to its owner: those are at hand, and the table of ids is not.
                let owner = || self.schedules.get(record.schedule)?.owner.filter(is_it);
                record.lane.filter(is_it).or_else(owner).or_else(|| self.session_key(&session))
            }
        };
        let Some(record) = self.runs.get_mut(run) else { return };
        record.lane = lane;
        let it = &mut record.run;
        it.state = RunState::InFlight;
        it.retry_at = None;
        it.started_at.get_or_insert(now.wall);
        it.host = Some(host);
        it.phase = Some(phase);
        it.session_created = fresh && phase == Phase::PromptSubmit;
        it.session = Some(session);
        if phase == Phase::PromptSubmit
            && let Some(lane) = lane.and_then(|lane| self.sessions.get_mut(lane))
        {
            lane.in_flight = Some(run);
            lane.turn_ended = false;
        }
    }

    /// The host has the prompt; the lane is as after any receipt, and the run goes on with the turn.
    fn accept(&mut self, run: Key, now: Now) {
        self.timers.clear(Timer::Receipt(run));
        let lane = self.runs.get(run).and_then(|record| record.lane);
        self.leave_lane(run, now, true);
        let Some(record) = self.runs.get_mut(run) else { return };
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

    /// A failed attempt: the run waits, with nobody, for the next.
    fn retry(&mut self, run: Key, failure: Box<Failure>, at: Moment) {
        let Some(record) = self.runs.get_mut(run) else { return };
        let it = &mut record.run;
        it.state = RunState::Queued;
        if let Some(checks) = &mut it.checks {
            // Each attempt is asked about anew.
            checks.allowed = None;
        }
        it.attempt = it.attempt.saturating_add(1);
        it.retry_at = Some(at);
        it.phase = None;
        it.host = None;
        it.session_created |= failure.session_exists;
        it.failure = Some(failure);
    }

    /// Ends a run, books it, and frees its lane.
    pub(super) fn end_run(&mut self, run: Key, now: Now, ending: Ending) {
        let state = ending.state();
        for timer in [Timer::Receipt(run), Timer::Retry(run), Timer::TimeUp(run)] {
            self.timers.clear(timer);
        }
        if self.runs.get(run).is_some_and(|record| record.run.checks.is_some()) {
            // Most runs wait for nobody's word, and take no place in that table.
            self.timers.clear(Timer::Word(run));
        }
        self.turns.remove(&run);
        self.ledger.settle(state);
        self.leave_lane(run, now, state == RunState::Delivered);
        let Some(record) = self.runs.get_mut(run) else { return };
        let schedule = record.schedule;
        record.run.asked = None;
        record.run.checks = None;
        ending.close(&mut record.run, now.wall);
        if let Some(course) = self.schedules.get_mut(schedule).and_then(|record| record.course.as_mut()) {
            match state {
                RunState::Delivered => {
                    course.delivered += 1;
                    course.failures_in_row = 0;
                }
                RunState::Failed => {
                    course.failed += 1;
                    course.failures_in_row += 1;
                }
                RunState::Cancelled | RunState::Queued | RunState::InFlight | RunState::Running => {}
            }
        }
        self.let_old_runs_go(schedule);
    }

    /// Takes a run out of its lane, its queue and its timers, without a word about how it ended.
    pub(super) fn leave_everything(&mut self, run: Key) {
        for timer in [Timer::Receipt(run), Timer::Retry(run), Timer::Word(run), Timer::TimeUp(run)] {
            self.timers.clear(timer);
        }
        self.leave_waiting(run);
        let Some(record) = self.runs.get_mut(run) else { return };
        if let Some(session) = &record.run.session {
            self.creating.remove(session);
        }
        if let Some(lane) = record.lane.take().and_then(|lane| self.sessions.get_mut(lane)) {
            lane.in_flight = lane.in_flight.filter(|other| *other != run);
            lane.turn_of = lane.turn_of.filter(|other| *other != run);
        }
    }

    /// Takes a run out of the lane or the queue that it is in; `taken` if the host took its prompt.
    fn leave_lane(&mut self, run: Key, now: Now, taken: bool) {
        self.leave_waiting(run);
        let begins_turn = self.runs.get(run).and_then(|record| self.asked(record));
        let begins_turn = begins_turn.is_some_and(|asked| asked.payload.begins_turn());
        let Some(record) = self.runs.get_mut(run) else { return };
        let lane = record.lane.take();
        if let Some(session) = &record.run.session {
            self.creating.remove(session);
        }
        let Some(lane_key) = lane else { return };
        // The built-in host has no turns.
        let has_turns = self.sessions.get(lane_key).is_some_and(|lane| lane.host.is_attached());
        let line = (taken && begins_turn && has_turns).then(|| self.line_of_run(run)).flatten();
        let Some(lane) = self.sessions.get_mut(lane_key) else { return };
        if lane.turn_of == Some(run) {
            lane.turn_of = None;
        }
        if lane.in_flight != Some(run) {
            return;
        }
        lane.in_flight = None;
        if line.is_some() {
            lane.woken = line;
        }
        // A connected host begins a turn for each prompt that it accepts, and says so a little later.
        let in_turn = lane.busy || lane.turn_ended;
        if taken && begins_turn && lane.host.is_attached() && lane.hosted && !in_turn {
            lane.turn_starting = true;
            let grace = Span::from_millis(limits::TURN_START_MS.value);
            self.timers.set(Timer::Turn(lane_key), now.boot.after(grace));
        }
    }

    /// The line of a turn that a run begins.
    fn line_of_run(&self, run: Key) -> Option<Box<Lineage>> {
        let record = self.runs.get(run)?;
        let id = self.run_id(record)?;
        Some(Box::new(Lineage::of_turn(id, self.asked(record)?)))
    }

    fn leave_waiting(&mut self, run: Key) {
        self.outside.remove(&run);
        let Some(record) = self.runs.get(run).filter(|record| record.run.state == RunState::Queued) else {
            return;
        };
        if let Some(session) = record.lane.and_then(|lane| self.sessions.get_mut(lane)) {
            session.waiting.retain(|waiting| *waiting != run);
        }
    }

    /// Keeps the last runs of a schedule, and all that have not ended.
    fn let_old_runs_go(&mut self, schedule: Key) {
        let Some(record) = self.schedules.get(schedule) else { return };
        let most = usize::try_from(limits::RUNS_KEPT.value).unwrap_or(usize::MAX);
        let mut newer = None;
        let mut kept = 0;
        let mut at = record.newest_run;
        while let Some(key) = at {
            let Some(run) = self.runs.get(key) else { return };
            let older = run.older;
            kept += 1;
            if kept > most && !run.is_live() {
                self.runs.remove(key);
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
    Cancelled(Reason),
    Failed(Box<Failure>),
}

impl Ending {
    fn state(&self) -> RunState {
        match self {
            Ending::Delivered => RunState::Delivered,
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
            Ending::Cancelled(reason) => run.reason = Some(reason),
            Ending::Failed(failure) => {
                run.phase = Some(failure.phase);
                run.reason = Some(failure.reason);
                run.session_created |= failure.session_exists;
                run.failure = Some(failure);
            }
        }
    }
}
