//! What a fact about a session changes.

use crate::domain::{Grant, HostId, Now, SessionFact, SessionId};
use crate::engine::record::SessionRecord;
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::engine::timers::Timer;

impl State {
    pub(super) fn apply_to_session(&mut self, now: Now, session: &SessionId, fact: SessionFact) {
        if let SessionFact::Opened { host, config, provenance } = fact {
            self.open(SessionRecord::new(session.clone(), (now.wall, self.cursor), host, config, provenance));
            return;
        }
        if let SessionFact::Granted { grant, by: _ } = fact {
            if grant == Grant::FULL {
                self.grants.remove(session);
            } else {
                self.grants.insert(session.clone(), grant);
            }
            return;
        }
        let Some(key) = self.session_key(session) else {
            return;
        };
        let Some(record) = self.sessions.get_mut(key) else {
            return;
        };
        match fact {
            SessionFact::Opened { .. } | SessionFact::Granted { .. } => {}
            SessionFact::Closed => self.close(key),
            SessionFact::UserSpoke => {
                record.last_user_activity = Some(now.wall);
                record.woken = None;
            }
            SessionFact::Hosted { host } => {
                let former = std::mem::replace(&mut record.host, host);
                record.hosted = true;
                record.busy = false;
                record.woken = None;
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
                record.woken = None;
                record.turn_ended = record.in_flight.is_some();
                self.end_presumption(key);
            }
            SessionFact::TurnUnreported => {
                if !record.busy {
                    record.woken = None;
                }
                self.end_presumption(key);
            }
            // What waited for it has facts of its own.
            SessionFact::JobReady { job } => record.ready_jobs.note(job, now.wall),
        }
    }

    pub(super) fn open(&mut self, record: SessionRecord) {
        let (session, host) = (record.id.clone(), record.host);
        let key = self.sessions.insert(record);
        self.session_ids.insert(session.clone(), key);
        self.enter_host(host, key);
        // What outlived an earlier session of this id is its again.
        for schedule in self.ownerless.remove(&session).unwrap_or_default() {
            self.give_owner(schedule, key);
        }
    }

    fn close(&mut self, key: Key) {
        let Some(record) = self.sessions.remove(key) else {
            return;
        };
        debug_assert!(record.unstarted == 0, "{} closes with {} to come", record.id, record.unstarted);
        self.session_ids.remove(&record.id);
        self.timers.clear(Timer::Turn(key));
        self.leave_host(record.host, key);
        for schedule in record.finished {
            if self.schedules.get(schedule).is_some_and(|it| it.schedule.is_durable()) {
                self.keep_ownerless_finished(schedule);
            } else {
                self.forget(schedule);
            }
        }
        for schedule in record.live {
            if let Some(left) = self.schedules.get_mut(schedule) {
                left.owner = None;
                self.ownerless.entry(record.id.clone()).or_default().insert(schedule);
            }
        }
    }

    fn give_owner(&mut self, schedule: Key, session: Key) {
        let Some(record) = self.schedules.get_mut(schedule) else { return };
        record.owner = Some(session);
        if let Some(session) = self.sessions.get_mut(session) {
            session.live.push(schedule);
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
}
