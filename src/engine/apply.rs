//! The fold: one fact changes the state, always in the same way, and cannot fail.
//!
//! Running, replaying and simulating are this function. What lives elsewhere: every rule about *whether* a fact may be
//! (`step`). A fact about something unknown, which only a damaged log can hold, changes nothing but the cursor.

use super::record::{ScheduleRecord, SessionRecord};
use super::slab::Key;
use super::state::{Mode, State};
use super::timers::Timer;
use crate::domain::{
    BootTime, Cause, Decision, Fact, Failure, HandOver, HostFact, HostId, Moment, Now, Phase, Reason, Run,
    RunFact, RunState, Schedule, SessionFact, SessionId, Span, Status,
};
use crate::limits;

impl State {
    /// Applies one fact, decided at `now`, and says what the feed shows of it.
    pub fn apply(&mut self, now: Now, fact: Fact) -> Decision {
        self.cursor = self.cursor.next();
        let (kind, reason, detail) = (fact.kind(), fact.reason(), fact.detail());
        let origin = fact.origin().cloned();
        let (schedule, session) = match fact {
            Fact::Session(session, fact) => {
                let schedule = fact.schedule().cloned();
                self.apply_to_session(now, &session, fact);
                (schedule, Some(session))
            }
            Fact::Created { schedule, due } => {
                let (id, owner) = (schedule.id.clone(), schedule.owner.clone());
                self.create(schedule, due);
                (Some(id), Some(owner))
            }
            Fact::Run(schedule, fact) => {
                let key = self.schedule_key_in_turn(&schedule);
                self.at_hand = key;
                let owner =
                    key.and_then(|key| self.schedules.get(key)).map(|record| record.schedule.owner.clone());
                if let Some(key) = key {
                    self.apply_to_run(key, now, fact);
                }
                (Some(schedule), owner)
            }
            Fact::Host(host, HostFact::Attached) => {
                self.hosts.entry(host).or_default();
                (None, None)
            }
            Fact::Host(host, HostFact::Lost) => {
                self.hosts.remove(&host);
                (None, None)
            }
            Fact::Stopping { abandon } => {
                let given_up = abandon || self.mode == Mode::Abandoning;
                self.mode = if given_up { Mode::Abandoning } else { Mode::Stopping };
                (None, None)
            }
        };
        Decision { cursor: self.cursor, at: now.wall, kind, reason, schedule, session, origin, detail }
    }

    fn apply_to_session(&mut self, now: Now, session: &SessionId, fact: SessionFact) {
        if let SessionFact::Opened { host, config, provenance } = fact {
            self.open(SessionRecord::new(session.clone(), (now.wall, self.cursor), host, config, provenance));
            return;
        }
        let Some(key) = self.session_key(session) else {
            return;
        };
        let Some(record) = self.sessions.get_mut(key) else {
            return;
        };
        match fact {
            SessionFact::Opened { .. } => {}
            SessionFact::Closed => self.close(key),
            SessionFact::UserSpoke => record.last_user_activity = Some(now.wall),
            SessionFact::Hosted { host } => {
                let former = std::mem::replace(&mut record.host, host);
                record.hosted = true;
                record.busy = false;
                record.turn_ended = false;
                self.end_presumption(key);
                self.leave_host(former, key);
                self.enter_host(host, key);
            }
            SessionFact::Unhosted => {
                record.hosted = false;
                let host = record.host;
                self.end_presumption(key);
                self.leave_host(host, key);
            }
            SessionFact::Busy => {
                record.busy = true;
                self.end_presumption(key);
            }
            SessionFact::Idle => {
                record.busy = false;
                record.turn_ended = record.in_flight.is_some();
                self.end_presumption(key);
            }
            SessionFact::TurnUnreported => self.end_presumption(key),
        }
    }

    fn open(&mut self, record: SessionRecord) {
        let (session, host) = (record.id.clone(), record.host);
        let key = self.sessions.insert(record);
        self.session_ids.insert(session, key);
        self.enter_host(host, key);
    }

    fn close(&mut self, key: Key) {
        let Some(record) = self.sessions.remove(key) else {
            return;
        };
        debug_assert!(record.live.is_empty(), "{} closes with live schedules {:?}", record.id, record.live);
        self.session_ids.remove(&record.id);
        self.timers.clear(Timer::Turn(key));
        self.leave_host(record.host, key);
        for schedule in record.finished {
            self.forget(schedule);
        }
    }

    /// Whatever is said of a session's turns ends the presumption that one is about to start.
    fn end_presumption(&mut self, session: Key) {
        self.timers.clear(Timer::Turn(session));
        if let Some(record) = self.sessions.get_mut(session) {
            record.turn_starting = false;
        }
    }

    fn enter_host(&mut self, host: HostId, session: Key) {
        if let Some(sessions) = self.hosts.get_mut(&host) {
            sessions.insert(session);
        }
    }

    fn leave_host(&mut self, host: HostId, session: Key) {
        if let Some(sessions) = self.hosts.get_mut(&host) {
            sessions.remove(&session);
        }
    }

    fn create(&mut self, schedule: Schedule, due: BootTime) {
        let Some(owner) = self.session_key(&schedule.owner) else {
            return;
        };
        let id = schedule.id.clone();
        let key = self.schedules.insert(ScheduleRecord {
            schedule,
            owner,
            status: Status::Pending,
            run: None,
            ended_for: None,
        });
        self.schedule_ids.insert(&id, key);
        self.timers.set(Timer::Slot(key), due);
        self.ledger.expect();
        if let Some(session) = self.sessions.get_mut(owner) {
            session.live.push(key);
            session.unstarted += 1;
            if session.unstarted == 1 {
                self.unstarted.insert(owner);
            }
        }
    }

    fn forget(&mut self, key: Key) {
        if let Some(record) = self.schedules.remove(key) {
            self.schedule_ids.remove(&record.schedule.id, key);
        }
    }

    fn apply_to_run(&mut self, key: Key, now: Now, fact: RunFact) {
        match fact {
            RunFact::Claimed { cause, .. } => self.claim(key, now, cause),
            RunFact::Queued { .. } => self.queue(key),
            RunFact::Dispatched(to) => self.dispatch(key, now, to),
            RunFact::Delivered => self.end(key, now, Ending::Delivered),
            RunFact::Failed(failure) => {
                if self.schedules.get(key).is_some_and(|record| record.status != Status::InFlight) {
                    self.leave_unstarted(key);
                }
                self.end(key, now, Ending::Failed(failure));
            }
            RunFact::Cancelled { reason } => {
                self.leave_unstarted(key);
                self.end(key, now, Ending::Cancelled(reason));
            }
        }
    }

    fn claim(&mut self, key: Key, now: Now, cause: Cause) {
        self.timers.clear(Timer::Slot(key));
        if let Some(record) = self.schedules.get_mut(key) {
            record.run = Some(Box::new(Run {
                cause,
                state: RunState::Queued,
                attempt: 1,
                claimed_at: now.wall,
                started_at: None,
                ended_at: None,
                phase: None,
                reason: None,
                host: None,
                session: None,
                session_created: false,
                failure: None,
            }));
        }
    }

    fn queue(&mut self, key: Key) {
        let Some(record) = self.schedules.get_mut(key) else { return };
        record.status = Status::Queued;
        if let Some(session) = self.sessions.get_mut(record.owner) {
            session.waiting.push(key);
        }
    }

    /// Notes that a run is with its host, and that it occupies the lane of the session it delivers into.
    fn dispatch(&mut self, key: Key, now: Now, to: HandOver) {
        let HandOver { host, phase, session, overdue } = to;
        self.timers.set(Timer::Receipt(key), overdue);
        let Some(record) = self.schedules.get(key) else {
            return;
        };
        let lane = match phase {
            Phase::CreateSession => None,
            Phase::PromptSubmit if session == record.schedule.owner => Some(record.owner),
            Phase::PromptSubmit => self.session_key(&session),
        };
        match phase {
            Phase::CreateSession => _ = self.creating.insert(session.clone()),
            Phase::PromptSubmit => _ = self.creating.remove(&session),
        }
        let Some(record) = self.schedules.get_mut(key) else {
            return;
        };
        let was_unstarted = record.status != Status::InFlight;
        record.status = Status::InFlight;
        let fresh = record.schedule.payload.config().is_some();
        if let Some(run) = &mut record.run {
            run.state = RunState::InFlight;
            run.started_at.get_or_insert(now.wall);
            run.host = Some(host);
            run.phase = Some(phase);
            run.session_created = fresh && phase == Phase::PromptSubmit;
            run.session = Some(session);
        }
        if was_unstarted {
            self.leave_unstarted(key);
        }
        if let Some(lane) = lane.and_then(|lane| self.sessions.get_mut(lane)) {
            lane.in_flight = Some(key);
            lane.turn_ended = false;
        }
    }

    /// Takes a schedule off its session's list of those that were not handed to a host.
    fn leave_unstarted(&mut self, key: Key) {
        let Some(owner) = self.schedules.get(key).map(|record| record.owner) else {
            return;
        };
        let Some(session) = self.sessions.get_mut(owner) else {
            return;
        };
        session.waiting.retain(|waiting| *waiting != key);
        session.unstarted -= 1;
        if session.unstarted == 0 {
            self.unstarted.remove(&owner);
        }
    }

    /// Ends a schedule and its run, books it, frees its lane, and keeps the record within bounds.
    fn end(&mut self, key: Key, now: Now, ending: Ending) {
        let status = ending.status();
        self.timers.clear(Timer::Slot(key));
        self.timers.clear(Timer::Receipt(key));
        self.ledger.settle(status);
        let Some(record) = self.schedules.get_mut(key) else { return };
        record.status = status;
        record.ended_for = ending.reason();
        let owner = record.owner;
        let mut lane = None;
        if let Some(run) = &mut record.run {
            if let Some(session) = &run.session {
                self.creating.remove(session);
            }
            ending.close(run, now.wall);
            lane = run.session.clone().filter(|session| *session != record.schedule.owner);
        }
        // Most runs are delivered into the session that owns them: no look-up then.
        let lane = lane.map_or(Some(owner), |lane| self.session_key(&lane));
        if let Some(lane) = lane {
            self.free_lane(key, now, lane, status);
        }
        self.keep_finished(key, owner);
    }

    fn free_lane(&mut self, key: Key, now: Now, lane_key: Key, status: Status) {
        let Some(lane) = self.sessions.get_mut(lane_key) else {
            return;
        };
        if lane.in_flight != Some(key) {
            return;
        }
        lane.in_flight = None;
        // A connected host begins a turn for each prompt that it accepts, and says so a little later.
        let in_turn = lane.busy || lane.turn_ended;
        if status == Status::Delivered && lane.host.is_attached() && lane.hosted && !in_turn {
            lane.turn_starting = true;
            let grace = Span::from_millis(limits::TURN_START_MS.value);
            self.timers.set(Timer::Turn(lane_key), now.boot.after(grace));
        }
    }

    fn keep_finished(&mut self, key: Key, owner: Key) {
        let Some(session) = self.sessions.get_mut(owner) else {
            return;
        };
        if let Some(place) = session.live.iter().position(|live| *live == key) {
            session.live.swap_remove(place);
        }
        session.finished.push_back(key);
        if session.finished.len() as u64 > limits::FINISHED_KEPT.value
            && let Some(oldest) = session.finished.pop_front()
        {
            self.forget(oldest);
        }
    }
}

/// How a schedule ends.
enum Ending {
    Delivered,
    Cancelled(Reason),
    Failed(Box<Failure>),
}

impl Ending {
    fn status(&self) -> Status {
        match self {
            Ending::Delivered => Status::Delivered,
            Ending::Cancelled(_) => Status::Cancelled,
            Ending::Failed(_) => Status::Failed,
        }
    }

    fn reason(&self) -> Option<Reason> {
        match self {
            Ending::Delivered => None,
            Ending::Cancelled(reason) => Some(*reason),
            Ending::Failed(failure) => Some(failure.reason),
        }
    }

    fn close(self, run: &mut Run, at: Moment) {
        run.ended_at = Some(at);
        match self {
            Ending::Delivered => run.state = RunState::Delivered,
            Ending::Cancelled(reason) => {
                run.state = RunState::Cancelled;
                run.reason = Some(reason);
            }
            Ending::Failed(failure) => {
                run.state = RunState::Failed;
                run.phase = Some(failure.phase);
                run.reason = Some(failure.reason);
                run.session_created |= failure.session_exists;
                run.failure = Some(failure);
            }
        }
    }
}
