//! Applies facts about schedules and their slots, and computes a schedule's status.

use std::collections::VecDeque;
use std::sync::Arc;

use super::supersede::is_anew;
use crate::domain::{
    Actor, Cause, Next, Now, Reason, Redefinition, RunState, Schedule, ScheduleFact, Skip, Status,
};
use crate::engine::pause::Pause;
use crate::engine::record::{RunRecord, ScheduleRecord, SessionRecord};
use crate::engine::slab::Key;
use crate::engine::state::{RequestKey, State, request_key};
use crate::engine::timers::Timer;
use crate::limits;

impl State {
    pub(super) fn create(&mut self, schedule: Schedule, next: Next) {
        let owner = self.session_key(&schedule.owner);
        let key = self.enter(ScheduleRecord::new(schedule, owner));
        self.count_unfinished(key, true);
        self.enter_owner(key);
        self.weigh(key, true);
        self.arm(key, next);
        self.refresh(key);
    }

    /// Adds a schedule to the state, and to the indexes by id and by idempotency key.
    pub(super) fn enter(&mut self, record: ScheduleRecord) -> Key {
        let (id, request) = (record.schedule.id.clone(), request_key(&record.schedule));
        self.watches += u64::from(record.schedule.is_watch());
        let key = self.schedules.insert(record);
        self.schedule_ids.insert(&id, key);
        if let Some(request) = request {
            self.enter_request(request, key);
        }
        key
    }

    /// Indexes a schedule by its idempotency key. Of several schedules with one key the index names the live one,
    /// else the one created last. The result does not depend on the order of loading.
    fn enter_request(&mut self, request: RequestKey, key: Key) {
        let rank = |key: Key| {
            let record = self.schedules.get(key)?;
            Some((!record.status.is_terminal(), record.schedule.created_at))
        };
        let known = self.keys.get(&request).copied();
        if known.is_none_or(|known| rank(known) <= rank(key)) {
            self.keys.insert(request, key);
        }
    }

    /// Adds an unfinished schedule to its session, or to those without an open session.
    pub(super) fn enter_owner(&mut self, key: Key) {
        let Some(record) = self.schedules.get(key) else { return };
        let unstarted = !record.schedule.is_durable() && record.is_unstarted();
        let Some(owner) = record.owner else {
            self.ownerless.entry(record.schedule.owner.clone()).or_default().insert(key);
            return;
        };
        if let Some(session) = self.sessions.get_mut(owner) {
            session.live.push(key);
        }
        if unstarted {
            self.count_unstarted(owner, 1);
        }
    }

    pub(super) fn apply_to_schedule(&mut self, key: Key, now: Now, fact: ScheduleFact) {
        match fact {
            ScheduleFact::Changed(change) => self.change(key, now, *change),
            ScheduleFact::Paused { by, reason } => self.pause(key, Pause { by, reason, since: now.wall }),
            ScheduleFact::Resumed { by, next } => self.resume(key, now, next, by.is_of_session()),
            ScheduleFact::Skipped(skip) => self.skip(key, now, &skip),
            ScheduleFact::Armed { next, by } => {
                self.rearm(key, now, next, by.as_deref().is_some_and(Actor::is_of_session));
            }
            ScheduleFact::Cancelled { reason, by: _ } => self.cancel(key, now, reason),
        }
        self.refresh(key);
    }

    fn change(&mut self, key: Key, now: Now, change: Redefinition) {
        let Redefinition { schedule, by: _, retriggered, revises } = change;
        // Before the definition is replaced.
        self.keep_asked(key);
        let is_live = self.schedules.get(key).is_some_and(|record| !record.status.is_terminal());
        // The new definition may be in another line, so the schedule leaves its line and joins again.
        if is_live {
            self.count_unfinished(key, false);
        }
        self.weigh(key, false);
        let Some(record) = self.schedules.get_mut(key) else { return };
        if let Some(approved) = record.progress.as_mut().and_then(|progress| progress.approved.as_mut()) {
            approved.outlive(&record.schedule);
        }
        let former = std::mem::replace(&mut record.schedule, schedule);
        self.watches += u64::from(record.schedule.is_watch());
        self.watches -= u64::from(former.is_watch());
        let present = request_key(&record.schedule);
        let progress = record.progress_mut();
        progress.revision += u32::from(revises);
        progress.updated_at = Some(now.wall);
        let mut withdrawn = false;
        if retriggered.is_some() {
            progress.incarnation += 1;
            progress.consumed = None;
            progress.withdrawn = None;
            progress.never = None;
            // Slots of the new trigger that have passed already count as missed.
            progress.armed_since = Some(now.wall);
            // Ends in the accounts as cancelled; the new trigger's slot is expected anew.
            withdrawn = record.next.take().is_some();
        }
        if is_anew(&former, &record.schedule) {
            record.progress_mut().begin_again();
            record.ended_for = None;
            self.move_to_owner(key, &former.owner);
        }
        self.weigh(key, true);
        let former = request_key(&former);
        if former != present {
            former.map(|request| self.keys.remove(&request));
            present.map(|request| self.keys.insert(request, key));
        }
        if withdrawn {
            self.ledger.cancel();
        }
        if is_live {
            self.count_unfinished(key, true);
        }
        if let Some(next) = retriggered {
            self.revive(key);
            self.arm(key, next);
        }
    }

    /// Makes a schedule that had ended unfinished again.
    fn revive(&mut self, key: Key) {
        let Some(record) = self.schedules.get_mut(key).filter(|record| record.status.is_terminal()) else {
            return;
        };
        record.status = Status::Pending;
        record.ended_for = None;
        let (owner, session) = (record.owner, record.schedule.owner.clone());
        match owner.and_then(|owner| self.sessions.get_mut(owner)) {
            Some(session) => session.finished.retain(|finished| *finished != key),
            None => {
                self.ownerless_finished.retain(|finished| *finished != key);
                // Its session may have been opened again meanwhile.
                let owner = self.session_key(&session);
                if let Some(record) = self.schedules.get_mut(key) {
                    record.owner = owner;
                }
                self.weigh(key, true);
            }
        }
        self.count_unfinished(key, true);
        self.enter_owner(key);
    }

    /// Attaches the present definition to runs that can still be handed over, because it is about to be replaced.
    fn keep_asked(&mut self, key: Key) {
        let Some(record) = self.schedules.get(key) else { return };
        // A message that was left may still go to a host.
        let may_go = |run: &RunRecord| run.is_live() || run.run.state == RunState::Left;
        let live = self.runs_of(record).filter(|(_, run)| may_go(run) && run.run.definition.is_none());
        let live: Vec<Key> = live.map(|(run, _)| run).collect();
        if live.is_empty() {
            return;
        }
        let asked = Arc::new(record.schedule.clone());
        for run in live {
            if let Some(run) = self.runs.get_mut(run) {
                run.run.definition = Some(Arc::clone(&asked));
            }
        }
    }

    fn pause(&mut self, key: Key, pause: Pause) {
        self.timers.clear(Timer::Slot(key));
        if let Some(record) = self.schedules.get_mut(key) {
            let progress = record.progress_mut();
            progress.revision += 1;
            progress.updated_at = Some(pause.since);
            progress.paused = Some(Box::new(pause));
        }
    }

    fn resume(&mut self, key: Key, now: Now, next: Next, by_session: bool) {
        let Some(record) = self.schedules.get_mut(key) else { return };
        let progress = record.progress_mut();
        progress.revision += 1;
        progress.updated_at = Some(now.wall);
        // Slots that passed during the pause count as missed.
        let was_paused = progress.paused.take().is_some();
        if was_paused {
            progress.armed_since = Some(now.wall);
            progress.by_session = by_session;
        }
        // The slot was expected before the pause, and is in the accounts already. That of a watch may have moved, also beyond the
        // end of its lifetime.
        match next {
            // It was not paused, and its deadline stays.
            Next::Slot { slot, .. } if !was_paused && record.next == Some(slot) => {}
            Next::Slot { slot, due } => {
                record.next = Some(slot);
                self.set_slot_timer(key, slot, due);
            }
            Next::Never { .. } if record.next.is_some() => self.rearm(key, now, next, false),
            Next::Never { .. } | Next::AfterFinish | Next::AtEvent => {}
        }
        if was_paused && by_session {
            self.note_let_go(key);
        }
    }

    /// Notes of the runs that waited for the end of a pause that a session ended it.
    fn note_let_go(&mut self, key: Key) {
        let Some(record) = self.schedules.get(key) else { return };
        let waited = |run: &RunRecord| run.run.state == RunState::Queued && !run.run.cause.is_beside_slots();
        let waiting: Vec<Key> =
            self.runs_of(record).filter(|(_, run)| waited(run)).map(|(run, _)| run).collect();
        for run in waiting {
            if let Some(run) = self.runs.get_mut(run) {
                run.run.by_session = true;
            }
        }
    }

    fn skip(&mut self, key: Key, now: Now, skip: &Skip) {
        self.ledger.skip();
        // Only the armed slot was expected; the others are new to the accounts.
        self.ledger.pass(skip.count.saturating_sub(1));
        let Some(record) = self.schedules.get_mut(key) else { return };
        let progress = record.progress_mut();
        progress.consumed = Some(skip.until);
        progress.skipped += skip.count;
        progress.last_skip = Some((skip.until, skip.reason));
        // The queued run stands for these slots, too.
        if skip.reason == Reason::Coalesced {
            self.fold(key, skip.count);
        }
        self.arm_after(key, skip.next, now);
    }

    /// Folds more slots into the newest queued run.
    fn fold(&mut self, key: Key, count: u64) {
        let Some(record) = self.schedules.get(key) else { return };
        let is_it = |run: &RunRecord| run.run.state == RunState::Queued && run.run.cause != Cause::Bulletin;
        let waiting = self.runs_of(record).find(|(_, run)| is_it(run)).map(|(run, _)| run);
        if let Some(run) = waiting.and_then(|run| self.runs.get_mut(run)) {
            run.run.folded += count;
        }
    }

    /// Cancels a schedule, with its next slot and its queued runs. A run that is with a host goes on to its own end.
    /// A durable schedule may have ended before: it is deleted then.
    fn cancel(&mut self, key: Key, now: Now, reason: Reason) {
        let Some(record) = self.schedules.get_mut(key) else { return };
        let withdrawn = record.next.take();
        if withdrawn.is_some() {
            self.ledger.cancel();
        }
        self.timers.clear(Timer::Slot(key));
        record.ended_for = Some(reason);
        if record.schedule.is_durable() {
            // Tells a schedule that was cancelled from one whose last run was, which can still be changed.
            let progress = record.progress_mut();
            progress.never = Some(reason);
            progress.cancelled_at = Some(now.wall);
        }
        if withdrawn.is_some_and(|slot| record.fire_at() != slot) {
            record.progress_mut();
        }
        if let Some(progress) = &mut record.progress {
            progress.withdrawn = withdrawn;
            progress.awaits_finish = false;
            progress.awaits_event = false;
            progress.paused = None;
        }
        let Some(record) = self.schedules.get(key) else { return };
        let waiting = self.runs_of(record).filter(|(_, run)| run.run.state == RunState::Queued);
        let waiting: Vec<Key> = waiting.map(|(run, _)| run).collect();
        for run in waiting {
            self.end_run(run, now, super::run::Ending::Cancelled(reason));
        }
        self.set_status(key, Status::Cancelled);
    }

    /// Moves a schedule that has ended from the unfinished to the finished ones.
    pub(super) fn finish(&mut self, key: Key) {
        self.timers.clear(Timer::Slot(key));
        self.count_unfinished(key, false);
        let Some(record) = self.schedules.get(key) else { return };
        let Some(owner) = record.owner else {
            let session = record.schedule.owner.clone();
            if let Some(left) = self.ownerless.get_mut(&session) {
                left.remove(&key);
                if left.is_empty() {
                    self.ownerless.remove(&session);
                }
            }
            self.keep_ownerless_finished(key);
            return;
        };
        let Some(session) = self.sessions.get_mut(owner) else { return };
        if let Some(place) = session.live.iter().position(|live| *live == key) {
            session.live.swap_remove(place);
        }
        self.list_finished(key);
    }

    /// Adds a schedule that has ended to the finished ones of its session, or to those without a session, and drops
    /// the oldest beyond the bound.
    pub(super) fn list_finished(&mut self, key: Key) {
        let owner = self.schedules.get(key).and_then(|record| record.owner);
        let Some(owner) = owner else {
            self.keep_ownerless_finished(key);
            return;
        };
        let Some(session) = self.sessions.get_mut(owner) else { return };
        session.finished.push_back(key);
        while self.sessions.get(owner).is_some_and(SessionRecord::has_too_much_finished)
            && let Some(place) = self.sessions.get(owner).and_then(|it| self.oldest_ended(&it.finished))
            && let Some(oldest) = self.sessions.get_mut(owner).and_then(|it| it.finished.remove(place))
        {
            self.forget(oldest);
        }
    }

    /// Returns the position of the oldest of these finished schedules that has no live run: the report on such a run is still to
    /// come.
    fn oldest_ended(&self, finished: &VecDeque<Key>) -> Option<usize> {
        finished
            .iter()
            .position(|key| self.schedules.get(*key).is_none_or(|record| !self.has_live_run(record)))
    }

    /// Returns whether a schedule has a run that has not ended.
    pub(super) fn has_live_run(&self, record: &ScheduleRecord) -> bool {
        self.runs_of(record).any(|(_, run)| run.is_live())
    }

    pub(super) fn keep_ownerless_finished(&mut self, key: Key) {
        if let Some(record) = self.schedules.get_mut(key) {
            record.owner = None;
        }
        self.ownerless_finished.push_back(key);
        if self.ownerless_finished.len() as u64 > limits::FINISHED_KEPT.value
            && let Some(place) = self.oldest_ended(&self.ownerless_finished)
            && let Some(oldest) = self.ownerless_finished.remove(place)
        {
            self.forget(oldest);
        }
    }

    /// Removes a schedule as if it had never existed, so that its row can be loaded again.
    pub(super) fn evict_schedule(&mut self, key: Key) {
        let Some(record) = self.schedules.get(key) else { return };
        let (owner, session) = (record.owner, record.schedule.owner.clone());
        let (armed, ended) = (record.next.is_some(), record.status.is_terminal());
        let runs: Vec<(Key, bool)> = self.runs_of(record).map(|(run, it)| (run, it.is_live())).collect();
        self.timers.clear(Timer::Slot(key));
        for (run, live) in &runs {
            // First the inbox: leaving everything clears the link to its session.
            if self.leave_inbox(*run).is_some() {
                self.ledger.unexpect_left();
            }
            self.leave_everything(*run);
            if *live {
                self.ledger.unexpect();
            }
        }
        if armed {
            self.ledger.unexpect();
        }
        if !ended {
            self.count_unfinished(key, false);
        }
        match owner.and_then(|owner| self.sessions.get_mut(owner)) {
            Some(owner) => {
                owner.live.retain(|live| *live != key);
                owner.finished.retain(|finished| *finished != key);
            }
            None => {
                if let Some(left) = self.ownerless.get_mut(&session) {
                    left.remove(&key);
                    if left.is_empty() {
                        self.ownerless.remove(&session);
                    }
                }
                self.ownerless_finished.retain(|finished| *finished != key);
            }
        }
        self.forget(key);
        // Only the memory of it is dropped. Its row stays in the store.
        self.forgotten.pop();
    }

    /// Adds the size of a schedule's texts to its session, or takes it away.
    pub(super) fn weigh(&mut self, key: Key, is_there: bool) {
        let Some(record) = self.schedules.get(key) else { return };
        let approved = record.progress().approved.as_ref().map_or(0, |approved| approved.bytes());
        let (owner, bytes) = (record.owner, record.schedule.bytes() + approved);
        let Some(session) = owner.and_then(|owner| self.sessions.get_mut(owner)) else { return };
        debug_assert!(
            is_there || session.bytes >= bytes,
            "{} has {} bytes left of {bytes}",
            session.id,
            session.bytes
        );
        session.bytes = if is_there { session.bytes + bytes } else { session.bytes.saturating_sub(bytes) };
    }

    /// Drops the records of a schedule and its runs.
    pub(super) fn forget(&mut self, key: Key) {
        let Some(record) = self.schedules.get(key) else { return };
        let runs: Vec<Key> = self.runs_of(record).map(|(run, _)| run).collect();
        for run in runs {
            self.forget_run(run);
        }
        self.weigh(key, false);
        if let Some(record) = self.schedules.remove(key) {
            self.watches -= u64::from(record.schedule.is_watch());
            self.schedule_ids.remove(&record.schedule.id, key);
            if record.schedule.is_durable() {
                self.forgotten.push(record.schedule.id.clone());
            }
            // A later schedule may have taken the key over.
            if let Some(request) = request_key(&record.schedule)
                && self.keys.get(&request) == Some(&key)
            {
                self.keys.remove(&request);
            }
        }
    }
}
