//! How a row of the store is loaded into the state: a session, a schedule with its runs, or the
//! settings.
//!
//! What lives elsewhere: the content of a row (`row`).

use crate::domain::{
    Awaits, BootTime, HostId, Memory, Moment, Now, Phase, Pings, Run, RunState, SessionId, Span,
};
use crate::engine::destination::Destination;
use crate::engine::ready_jobs::ReadyJobs;
use crate::engine::record::{RunRecord, ScheduleRecord, SessionRecord};
use crate::engine::row::{ScheduleRow, SessionRow, StoredRow};
use crate::engine::slab::Key;
use crate::engine::state::{Mode, State};
use crate::engine::timers::Timer;
use crate::limits;

impl State {
    pub(super) fn restore(&mut self, row: StoredRow, now: Now) {
        match row {
            StoredRow::Session(row) => self.restore_session(*row),
            StoredRow::Schedule(row) => self.restore_schedule(*row, now),
            StoredRow::Holds(holds) => self.holds = holds,
            StoredRow::ChannelPauses(pauses) => self.channel_pauses = pauses,
            StoredRow::Guard { policy, grants } => {
                self.guard = policy;
                self.grants = grants;
            }
        }
    }

    /// Adds a session from its row. A session of that id that is open already stays as it is.
    fn restore_session(&mut self, row: SessionRow) {
        if self.session_key(&row.id).is_some() {
            return;
        }
        let SessionRow {
            id,
            config,
            provenance,
            host_token,
            opened_at,
            opened,
            built_in,
            listens,
            last_user_activity,
            ready_jobs,
            memory,
            pings,
        } = row;
        let host = if listens { HostId::LOCAL } else { HostId::INBOX };
        let mut record = SessionRecord::new(id, (opened_at, opened), host, config, provenance);
        record.host_token = host_token;
        record.last_user_activity = last_user_activity;
        record.ready_jobs = ReadyJobs::of_row(ready_jobs);
        record.memory = memory;
        record.pings = pings;
        if !built_in {
            // It has no host until its harness reconnects and takes it over.
            record.host = GONE;
            record.hosted = false;
        }
        self.open(record);
    }

    /// Replaces what an open session remembers, and its pings.
    pub(super) fn restore_memory(&mut self, session: &SessionId, memory: Option<Box<Memory>>, pings: Pings) {
        let key = self.session_key(session);
        if let Some(record) = key.and_then(|key| self.sessions.get_mut(key)) {
            record.memory = memory;
            record.pings = pings;
        }
    }

    /// Adds a schedule from its row, with deadlines computed from `now`. A schedule of that id that
    /// exists already stays as it is.
    fn restore_schedule(&mut self, row: ScheduleRow, now: Now) {
        let ScheduleRow { mut schedule, status, ended_for, next, progress, watch, runs } = row;
        if self.schedule_key(&schedule.id).is_some() {
            return;
        }
        let (owner, created_at) = (self.session_key(&schedule.owner), schedule.created_at);
        // All schedules of a session share one allocation of its id.
        if let Some(session) = owner.and_then(|owner| self.sessions.get(owner)) {
            schedule.owner = session.id.clone();
        }
        let mut record = ScheduleRecord::new(schedule, owner);
        record.status = status;
        record.ended_for = ended_for;
        record.next = next;
        record.progress = progress;
        record.remembered = watch;
        let key = self.enter(record);
        self.weigh(key, true);
        // A schedule that has ended is listed at the end, once its runs exist: making room for it
        // asks which schedules still have live runs.
        let ended = status.is_terminal();
        if !ended {
            self.count_unfinished(key, true);
            self.enter_owner(key);
        }
        for run in runs {
            self.restore_run(key, run, now);
        }
        if let Some(slot) = next {
            // A slot counts as expected during a pause too: a resume adds nothing to the accounts.
            self.ledger.expect();
            let paused = self.schedules.get(key).is_some_and(|record| record.progress().paused.is_some());
            if !paused && !ended {
                self.timers.set_slot_on_wall(key, slot, created_at);
            }
        }
        if ended {
            self.list_finished(key);
        }
    }

    fn restore_run(&mut self, schedule: Key, run: Run, now: Now) {
        let held = run.checks.as_ref().and_then(|checks| checks.waits.as_ref());
        let held_until = held.map(|hold| hold.until);
        let Some(record) = self.schedules.get_mut(schedule) else { return };
        let (state, retry_at, session) = (run.state, run.retry_at, run.session.clone());
        // The definition of its claim applies. The schedule may have another one since.
        let asked = run.definition.as_deref().unwrap_or(&record.schedule);
        let waits_for_operator = held.is_some_and(|hold| hold.awaits == Awaits::Operator);
        let approved = record.progress().approved.as_deref().filter(|it| it.is_of(&run)).map(|it| it.at);
        // The time of a call begins when it is approved.
        let begun = match asked.payload.call() {
            Some(_) if waits_for_operator => None,
            Some(_) => Some(approved.unwrap_or(run.claimed_at)),
            None => Some(run.claimed_at),
        };
        let timeout = asked.policy().timeout.zip(begun);
        let time_up = timeout.and_then(|(timeout, begun)| time_up_of(&run, timeout, begun));
        let key = self.runs.insert(RunRecord { schedule, older: record.newest_run, lane: None, run });
        record.newest_run = Some(key);
        if state == RunState::Left {
            self.restore_left(key, session.as_ref());
        }
        if state.is_terminal() {
            return;
        }
        // Ended runs are in the accounts of the process that ended them.
        self.ledger.expect();
        if let Some(at) = time_up {
            self.timers.set_again(Timer::TimeUp(key), at, now);
        }
        match state {
            RunState::Queued => match (held_until, retry_at) {
                (Some(at), _) => self.timers.set_again(Timer::Approval(key), at, now),
                (None, Some(at)) => self.timers.set_again(Timer::Retry(key), at, now),
                (None, None) => self.wait_again(key),
            },
            // Its host may come back and report the end of the turn.
            RunState::Running => {
                let lane = session.and_then(|session| self.session_key(&session));
                if let Some(record) = self.runs.get_mut(key) {
                    record.lane = lane;
                }
                if let Some(session) = lane.and_then(|lane| self.sessions.get_mut(lane)) {
                    // In a process that goes on, another turn may have begun since.
                    session.turn_of.get_or_insert(key);
                }
            }
            // `step/whole/restart.rs` decides what becomes of a run that was in flight, unless it is out still.
            RunState::InFlight => {
                self.leave_out(key, now);
                if let Some(lead) = self.runs.get(key).and_then(|record| record.run.lead.as_deref().cloned())
                {
                    self.joined.entry(lead).or_default().push(key);
                }
            }
            RunState::Left | RunState::Delivered | RunState::Cancelled | RunState::Failed => {}
        }
    }

    /// Leaves a run where it is, if a host, a courier or an executor of this process has it still: it occupies what it occupied,
    /// and an answer is expected. The time for it begins anew, because no deadline counted while the store failed.
    fn leave_out(&mut self, run: Key, now: Now) {
        let Some(record) = self.runs.get(run) else { return };
        let Some(at) = self.still_at(record) else { return };
        let (it, owner) = (&record.run, self.schedules.get(record.schedule).and_then(|it| it.owner));
        let is_lead = it.lead.is_none();
        let overdue = now.boot.after(self.time_to_answer(record));
        let creates = it.session.clone().filter(|_| it.phase == Some(Phase::CreateSession));
        // Its row may say that its fresh session is being created, although that is there by now: its report is repeated.
        let is_there = at.phase == it.phase;
        let (lane, occupies) = if is_there { (at.lane, at.occupies) } else { (owner, false) };
        if let Some(session) = creates.filter(|session| self.session_key(session).is_none()) {
            self.begin_creating(&session, owner);
        }
        if let Some(lane) = lane.filter(|_| occupies).and_then(|lane| self.sessions.get_mut(lane)) {
            lane.in_flight.get_or_insert(run);
        }
        if let Some(record) = self.runs.get_mut(run) {
            record.lane = lane;
        }
        // A member of a delivery ends with its lead; and an engine that gives receipts up expects none.
        if is_lead && self.mode != Mode::Abandoning {
            self.timers.set(Timer::Receipt(run), overdue);
        }
    }

    /// How long a host, courier or executor may take to answer for a run. A call is also bounded by its run's own time.
    fn time_to_answer(&self, record: &RunRecord) -> Span {
        let timeout = || self.definition_of(record)?.policy().timeout;
        match (record.run.phase, record.run.host) {
            (Some(Phase::Call), _) => timeout().unwrap_or(Span::from_millis(limits::CALL_MS.value)),
            (_, Some(HostId::AGENTS)) => Span::from_millis(limits::AGENT_RECEIPT_MS.value),
            (_, _) => Span::from_millis(limits::RECEIPT_MS.value),
        }
    }

    /// Puts the message of an earlier process back into the inbox, unless its session was closed: one that was opened under the
    /// id since is another. If a host has the session by now, `step/whole/restart.rs` hands the message over.
    fn restore_left(&mut self, run: Key, session: Option<&SessionId>) {
        let key = session.and_then(|session| self.session_key(session));
        let left_at = self.runs.get(run).and_then(|record| record.run.ended_at);
        let is_its = |key: &Key| self.sessions.get(*key).is_some_and(|it| left_at >= Some(it.opened_at));
        if let Some(key) = key.filter(is_its) {
            self.enter_inbox(run, key);
            self.ledger.restore_left();
        }
    }

    /// Queues a run at its place. If its target is gone, the run is retried at once, so that it
    /// fails visibly.
    fn wait_again(&mut self, run: Key) {
        let Some(record) = self.runs.get(run) else { return };
        let lane = match self.destination_of(record) {
            Some(Destination::Unreachable(_)) | None => {
                // Overdue on any clock, so that the next wake-up tries it.
                self.timers.set(Timer::Retry(run), BootTime::ZERO);
                return;
            }
            Some(place) => place.queue(),
        };
        if let Some(record) = self.runs.get_mut(run) {
            record.lane = lane;
        }
        self.enter_waiting(run, lane);
    }
}

/// When the time of a run is over that began at this moment. That of a message that came out of an inbox counts from its
/// acceptance, which may come long after the claim; no other run is accepted after its time.
fn time_up_of(run: &Run, timeout: Span, begun: Moment) -> Option<Moment> {
    let waits_for_host = run.state == RunState::Queued && run.host == Some(HostId::INBOX);
    let end = begun.checked_add(timeout).filter(|_| !waits_for_host)?;
    run.delivered_at
        .filter(|accepted| *accepted > end)
        .map_or(Some(end), |accepted| accepted.checked_add(timeout))
}

/// The host of sessions whose host is gone: the last number, which is never connected.
const GONE: HostId = HostId::new(u32::MAX);
