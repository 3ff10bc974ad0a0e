//! Applies facts about sessions.

use std::sync::Arc;

use crate::domain::{
    Actor, AgentSchedules, Grant, HostId, Now, SessionConfig, SessionFact, SessionId, SessionProvenance,
    TokenName,
};
use crate::engine::record::SessionRecord;
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::engine::timers::Timer;

impl State {
    pub(super) fn apply_to_session(
        &mut self,
        now: Now,
        session: &SessionId,
        fact: SessionFact,
        by: Option<&Actor>,
    ) {
        if let SessionFact::Opened { host, config, provenance } = fact {
            let host_token = self.host_token_of(by, provenance.as_deref());
            let opened = (now.wall, self.cursor);
            let record = SessionRecord::new(session.clone(), opened, host, config, provenance);
            self.open(SessionRecord { host_token, ..record });
            return;
        }
        // Grants are independent of the session: they hold whether it is open or not.
        if let SessionFact::Granted { grant } = fact {
            return self.regrant(session, grant);
        }
        let Some(key) = self.session_key(session) else { return };
        let Some(record) = self.sessions.get_mut(key) else { return };
        match fact {
            SessionFact::Opened { .. } | SessionFact::Granted { .. } => {}
            SessionFact::Closed => self.close(key),
            SessionFact::UserMessage => {
                // A person has taken over: what the turn schedules no longer belongs to a
                // schedule's line.
                record.last_user_activity = Some(now.wall);
                record.woken = None;
            }
            SessionFact::HostAttached { host } => self.change_host(key, host),
            SessionFact::HostDetached { why } => {
                record.hosted = false;
                record.away = why;
                let host = record.host;
                self.end_presumption(key);
                self.leave_host(host, key);
            }
            SessionFact::Addressed { address } => {
                let config =
                    SessionConfig { address: Some(*address), ..SessionConfig::clone(&record.config) };
                record.config = Arc::new(config);
            }
            SessionFact::Busy => {
                record.busy = true;
                self.end_presumption(key);
            }
            SessionFact::Idle => {
                record.busy = false;
                record.woken = None;
                // From a host that acknowledges a prompt after its turn: remembered for the
                // receipt.
                record.turn_ended = record.in_flight.is_some();
                self.end_presumption(key);
            }
            SessionFact::TurnUnreported => {
                // A turn that the host did report may still belong to the delivery.
                if !record.busy {
                    record.woken = None;
                }
                self.end_presumption(key);
            }
            // The schedules that wait for the job are armed by facts of their own.
            SessionFact::JobReady { job } => record.ready_jobs.note(job, now.wall),
            SessionFact::Memory(change) => record.memory.get_or_insert_default().apply(*change, now.wall),
            SessionFact::Pinged { name, at } => record.pings.note(name, at),
            // For the log alone.
            SessionFact::ToolsCalled { .. } => {}
        }
    }

    pub(super) fn note_agent_schedules(
        &mut self,
        now: Now,
        session: &SessionId,
        said: Option<AgentSchedules>,
    ) {
        let record = self.session_key(session).and_then(|key| self.sessions.get_mut(key));
        if let Some(record) = record {
            record.agent_schedules = said.map(|said| Box::new((now.wall, said)));
        }
    }

    fn change_host(&mut self, key: Key, host: HostId) {
        let Some(record) = self.sessions.get_mut(key) else { return };
        // The new host knows nothing of a turn of the former one.
        let former = std::mem::replace(&mut record.host, host);
        record.hosted = true;
        record.away = None;
        record.busy = false;
        record.woken = None;
        record.turn_ended = false;
        self.end_presumption(key);
        self.leave_host(former, key);
        self.enter_host(host, key);
    }

    fn regrant(&mut self, session: &SessionId, grant: Grant) {
        if grant == Grant::FULL {
            self.grants.remove(session);
        } else {
            self.grants.insert(session.clone(), grant);
        }
    }

    /// Returns the host token that a session belongs to: the one that has opened it, or the one whose its origin is.
    fn host_token_of(&self, by: Option<&Actor>, provenance: Option<&SessionProvenance>) -> Option<TokenName> {
        let inherited = provenance.and_then(|from| self.session(&from.origin)?.host_token.clone());
        // A fresh session is its origin's, whichever host created it.
        let opener = by.filter(|_| provenance.is_none());
        opener.and_then(|by| by.via.as_ref()?.host().cloned()).or(inherited)
    }

    pub(super) fn open(&mut self, record: SessionRecord) {
        let (session, host) = (record.id.clone(), record.host);
        let key = self.sessions.insert(record);
        self.session_ids.insert(session.clone(), key);
        self.enter_host(host, key);
        self.enter_family(key);
        // Durable schedules outlive their session, and belong to a later one of the same id.
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
        for left in &record.left {
            self.volatile_left.remove(left);
            // It stays counted as left: nobody can take it any more.
            if let Some(run) = self.runs.get_mut(*left) {
                run.lane = None;
            }
        }
        self.leave_family(&record);
        self.timers.clear(Timer::Turn(key));
        self.leave_host(record.host, key);
        for schedule in record.finished {
            if self.schedules.get(schedule).is_some_and(|it| it.schedule.is_durable()) {
                self.keep_ownerless_finished(schedule);
            } else {
                debug_assert!(
                    self.schedules.get(schedule).is_none_or(|it| !self.has_live_run(it)),
                    "{} closes, and a run of its schedules goes on",
                    record.id
                );
                self.forget(schedule);
            }
        }
        // Volatile schedules were cancelled before; these are the durable ones that outlive it.
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
        self.weigh(schedule, true);
    }

    /// Any report on a session's turns ends the presumption that one is about to start.
    fn end_presumption(&mut self, session: Key) {
        self.timers.clear(Timer::Turn(session));
        if let Some(record) = self.sessions.get_mut(session) {
            record.turn_starting = false;
        }
    }

    fn enter_host(&mut self, host: HostId, session: Key) {
        if let Some(record) = self.hosts.get_mut(&host) {
            record.sessions.insert(session);
        }
    }

    fn leave_host(&mut self, host: HostId, session: Key) {
        if let Some(record) = self.hosts.get_mut(&host) {
            record.sessions.remove(&session);
        }
    }
}
