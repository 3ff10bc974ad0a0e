//! What is kept of a schedule and of a session beside the log, and how a later life takes it up.
//!
//! A row is all that the state knows of one thing that outlives the process. What does not is left out: hosts, turns,
//! deadlines on the boot clock; those are reckoned anew. Invariant: a state restored from rows behaves like the one that
//! wrote them, but for what was with a host, which `step/awake.rs` decides on.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::place::Place;
use super::record::{Course, Pause, RunRecord, ScheduleRecord, SessionRecord};
use super::slab::Key;
use super::state::State;
use super::timers::Timer;
use crate::domain::{
    Awaits, BootTime, Checks, Cursor, Grant, GuardPolicy, HostId, Moment, Now, Reason, Run, RunId, RunState,
    Schedule, ScheduleId, SessionConfig, SessionId, SessionProvenance, Status,
};

/// A schedule as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleRow {
    /// What was asked for.
    pub schedule: Schedule,
    /// Where it stands.
    pub status: Status,
    /// Why it ended otherwise than by delivery.
    pub ended_for: Option<Reason>,
    /// The slot that comes next.
    pub next: Option<Moment>,
    /// What it has been through; `None` while that says nothing.
    pub course: Option<Box<Course>>,
    /// Its runs that are kept, oldest first.
    pub runs: Vec<Run>,
}

/// A session as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// What it is.
    pub config: Arc<SessionConfig>,
    /// The schedule it came from, if one opened it.
    pub provenance: Option<Box<SessionProvenance>>,
    /// When it was opened.
    pub opened_at: Moment,
    /// Whether its turns are run by the built-in host; a connected one has to come back for it.
    pub built_in: bool,
    /// When a person last spoke in it.
    pub last_user_activity: Option<Moment>,
}

impl State {
    /// What is to be kept of a schedule.
    pub fn schedule_row(&self, id: &ScheduleId) -> Option<ScheduleRow> {
        let record = self.schedule(id)?;
        let mut runs: Vec<Run> = self.runs_of(record).map(|(_, run)| kept(&run.run)).collect();
        runs.reverse();
        Some(ScheduleRow {
            schedule: record.schedule.clone(),
            status: record.status,
            ended_for: record.ended_for,
            next: record.next,
            course: record.course.clone(),
            runs,
        })
    }

    /// What is to be kept of a session.
    pub fn session_row(&self, id: &SessionId) -> Option<SessionRow> {
        let record = self.session(id)?;
        Some(SessionRow {
            id: record.id.clone(),
            config: record.config.clone(),
            provenance: record.provenance.clone(),
            opened_at: record.opened_at,
            built_in: !record.host.is_attached(),
            last_user_activity: record.last_user_activity,
        })
    }

    /// Takes up a session of an earlier life. One of that id that is open already stays as it is.
    pub fn restore_session(&mut self, row: SessionRow) {
        if self.session_key(&row.id).is_some() {
            return;
        }
        let SessionRow { id, config, provenance, opened_at, built_in, last_user_activity } = row;
        let mut record = SessionRecord::new(id, (opened_at, self.cursor), HostId::LOCAL, config, provenance);
        record.last_user_activity = last_user_activity;
        if !built_in {
            // Nobody has it until its harness comes back and takes it over.
            record.host = GONE;
            record.hosted = false;
        }
        self.open(record);
    }

    /// Takes up a schedule of an earlier life, its sessions first; deadlines are reckoned from `now`.
    pub fn restore_schedule(&mut self, row: ScheduleRow, now: Now) {
        let ScheduleRow { mut schedule, status, ended_for, next, course, runs } = row;
        if self.schedule_key(&schedule.id).is_some() {
            return;
        }
        let (owner, created_at) = (self.session_key(&schedule.owner), schedule.created_at);
        // One text for all schedules of a session.
        if let Some(session) = owner.and_then(|owner| self.sessions.get(owner)) {
            schedule.owner = session.id.clone();
        }
        let mut record = ScheduleRecord::new(schedule, owner);
        record.status = status;
        record.ended_for = ended_for;
        record.next = next;
        record.course = course;
        let key = self.enter(record);
        let ended = status.is_terminal();
        if !ended {
            self.live += 1;
            self.count_in_line(key, true);
            self.enter_owner(key);
        }
        for run in runs {
            self.restore_run(key, run, now);
        }
        if let Some(slot) = next {
            self.ledger.expect();
            let paused = self.schedules.get(key).is_some_and(|record| record.course().paused.is_some());
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
        // As asked when it was claimed, whatever its schedule has become since.
        let timeout = run.asked.as_deref().unwrap_or(&record.schedule).policy().timeout;
        let time_up = timeout.and_then(|timeout| run.claimed_at.checked_add(timeout));
        let key = self.runs.insert(RunRecord { schedule, older: record.newest_run, lane: None, run });
        record.newest_run = Some(key);
        if state.is_terminal() {
            return;
        }
        self.ledger.expect();
        if let Some(at) = time_up {
            self.timers.set(Timer::TimeUp(key), boot_time_of(at, now));
        }
        match state {
            RunState::Queued => match (held_until, retry_at) {
                (Some(at), _) => self.timers.set(Timer::Word(key), boot_time_of(at, now)),
                (None, Some(at)) => self.timers.set(Timer::Retry(key), boot_time_of(at, now)),
                (None, None) => self.wait_again(key),
            },
            RunState::Running => {
                let lane = session.and_then(|session| self.session_key(&session));
                if let Some(record) = self.runs.get_mut(key) {
                    record.lane = lane;
                }
                if let Some(session) = lane.and_then(|lane| self.sessions.get_mut(lane)) {
                    session.turn_of = Some(key);
                }
            }
            // The step that wakes the engine decides on those.
            RunState::InFlight | RunState::Delivered | RunState::Cancelled | RunState::Failed => {}
        }
    }

    /// Lets a run wait where it goes to; one that goes nowhere any more is tried at once, and fails visibly.
    fn wait_again(&mut self, run: Key) {
        let Some(record) = self.runs.get(run) else { return };
        let owner = self.schedules.get(record.schedule).and_then(|schedule| schedule.owner);
        let place = self.asked(record).map(|asked| self.place(asked, owner));
        let lane = match place {
            Some(Place::Lane(lane, _) | Place::Fresh(lane, _)) => Some(lane),
            Some(Place::Outside(_)) => None,
            Some(Place::Nowhere(_)) | None => {
                self.timers.set(Timer::Retry(run), BootTime::ZERO);
                return;
            }
        };
        if let Some(record) = self.runs.get_mut(run) {
            record.lane = lane;
        }
        self.enter_waiting(run, lane);
    }

    /// Takes up what runs are measured by, and what sessions may do.
    pub fn restore_guard(&mut self, guard: Option<Arc<GuardPolicy>>, grants: BTreeMap<SessionId, Grant>) {
        self.guard = guard;
        self.grants = grants;
    }

    /// Takes up who held everything.
    pub fn restore_hold(&mut self, hold: Option<Pause>) {
        self.held = hold;
    }

    /// Counts facts on from where an earlier life ended.
    pub fn resume_at(&mut self, cursor: Cursor) {
        self.cursor = self.cursor.max(cursor);
    }

    /// Lets all go that is on disk, to be taken up again from there: what is in memory of it may not be what is kept.
    pub fn let_durable_go(&mut self) {
        self.frozen = false;
        let durable = self.schedules.iter().filter(|(_, record)| record.schedule.is_durable());
        let keys: Vec<Key> = durable.map(|(key, _)| key).collect();
        for key in keys {
            self.let_go(key);
        }
    }

    /// Takes a hand-over back that never took place: the run waits again, for whoever takes up what is kept.
    pub fn recall(&mut self, run: &RunId) {
        let Some(key) = self.run_key(run) else { return };
        self.leave_everything(key);
        if let Some(record) = self.runs.get_mut(key) {
            record.run.state = RunState::Queued;
        }
        if let Some(schedule) = self.schedule_key(&run.schedule) {
            self.refresh(schedule);
        }
    }

    /// Stops waiting for anything of what is on disk, as long as nothing can be kept.
    pub fn freeze_durable(&mut self) {
        self.frozen = true;
        let durable = self.schedules.iter().filter(|(_, record)| record.schedule.is_durable());
        let keys: Vec<(Key, Vec<Key>)> =
            durable.map(|(key, record)| (key, self.runs_of(record).map(|(run, _)| run).collect())).collect();
        for (key, runs) in keys {
            self.timers.clear(Timer::Slot(key));
            for run in runs {
                for timer in [Timer::Receipt(run), Timer::Retry(run), Timer::Word(run), Timer::TimeUp(run)] {
                    self.timers.clear(timer);
                }
            }
        }
    }

    /// Every session that is open, by number: for whoever keeps them.
    pub fn session_ids(&self) -> impl Iterator<Item = &SessionId> {
        self.sessions.iter().map(|(_, session)| &session.id)
    }
}

/// A run as it is kept. What a guard outside was asked, or has said, is not: it is asked again.
fn kept(run: &Run) -> Run {
    let mut run = run.clone();
    if let Some(checks) = &mut run.checks {
        checks.allowed = None;
        checks.waits = checks.waits.take().filter(|hold| hold.awaits == Awaits::Operator);
        if let Some(hold) = &mut checks.waits {
            hold.due = BootTime::ZERO;
        }
    }
    run.checks = run.checks.filter(|checks| **checks != Checks::default());
    run
}

/// Where an instant of the wall clock stands on the boot clock; what has passed is due at once.
fn boot_time_of(at: Moment, now: Now) -> BootTime {
    now.boot.after(at.since(now.wall))
}

/// A host that is not connected and never will be: the number that comes last.
const GONE: HostId = HostId::new(u32::MAX);
