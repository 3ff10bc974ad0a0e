//! Applies facts about calls that ended, and about the bulletins that tell of them.

use std::sync::Arc;

use super::run::Ending;
use crate::domain::{
    BootTime, CallPurpose, Moment, Now, Outcome, Phase, RunId, RunState, Telling, Trigger, Watch, WatchCheck,
};
use crate::engine::destination::Destination;
use crate::engine::record::SessionRecord;
use crate::engine::slab::Key;
use crate::engine::state::State;
use crate::engine::timers::Timer;
use crate::engine::watching::remember_check;

impl State {
    /// Ends the run of a call with what it came to.
    pub(super) fn end_call(
        &mut self,
        run: Key,
        now: Now,
        outcome: Arc<Outcome>,
        check: Option<Box<WatchCheck>>,
    ) {
        if let Some(check) = check {
            self.remember(run, now, &check);
        }
        let ending = match outcome.failure() {
            None => Ending::Delivered,
            Some(failure) => Ending::Failed(Box::new(failure)),
        };
        self.end_run(run, now, ending);
        if let Some(record) = self.runs.get_mut(run) {
            record.run.outcome = Some(outcome);
        }
        self.keep_outcome(run);
    }

    /// Counts the outcome of a task, and drops the oldest ones beyond the bounds.
    fn keep_outcome(&mut self, run: Key) {
        let Some(record) = self.runs.get(run) else { return };
        let Some(schedule) = self.schedules.get(record.schedule) else { return };
        let is_task = schedule.schedule.payload.call().is_some_and(|call| call.purpose == CallPurpose::Task);
        let bytes = record.run.outcome.as_ref().map_or(0, |outcome| outcome.kept_bytes());
        // An outcome without a value takes no room, so there is nothing to drop later.
        if !is_task || bytes == 0 {
            return;
        }
        let owner = schedule.owner.and_then(|owner| self.sessions.get(owner));
        // A session that is not open counts for itself: its family is not known.
        let root = owner.map_or(&schedule.schedule.owner, SessionRecord::root).clone();
        self.task_outcomes.add(run, root.clone(), bytes);
        // One outcome may be larger than several old ones together, so dropping one may not be enough.
        while let Some(oldest) = self.task_outcomes.beyond(&root) {
            self.task_outcomes.remove(oldest);
            if let Some(outcome) = self.runs.get_mut(oldest).and_then(|record| record.run.outcome.as_mut()) {
                *outcome = Arc::new(outcome.dropped());
            }
        }
    }

    /// Lets the watch of a run remember a check.
    fn remember(&mut self, run: Key, now: Now, check: &WatchCheck) {
        let Some(key) = self.runs.get(run).map(|record| record.schedule) else { return };
        let Some(record) = self.schedules.get_mut(key) else { return };
        // The pointer is copied, because the record is changed below.
        let filter = record.schedule.payload.call().and_then(|call| call.filter.clone());
        debug_assert!(filter.is_some(), "{} was checked, and is no watch", record.schedule.id);
        if let Some(filter) = filter {
            let watch = record.remembered.get_or_insert_with(|| Box::new(Watch::FRESH));
            remember_check(watch, &filter, &check.reading, &check.weighed, now.wall);
        }
    }

    /// Lets the watch of a bulletin know that it goes out.
    pub(super) fn note_bulletin_sent(&mut self, run: Key) {
        let record = self.runs.get(run);
        if let Some((key, check)) = record.and_then(|record| Some((record.schedule, record.run.told_check?)))
            && let Some(watch) = self.schedules.get_mut(key).and_then(|record| record.remembered.as_mut())
        {
            watch.goes_out(check.get().into());
        }
    }

    /// Lets the watch of a bulletin know that its session has read it.
    pub(super) fn note_bulletin_read(&mut self, run: Key) {
        let record = self.runs.get_mut(run);
        let told = record.and_then(|record| Some((record.schedule, record.run.told_check.take()?)));
        if let Some((key, check)) = told
            && let Some(watch) = self.schedules.get_mut(key).and_then(|record| record.remembered.as_mut())
        {
            watch.has_arrived(check.get().into());
        }
    }

    /// Gives a bulletin that was just claimed its words. The wake-up that follows hands it over.
    pub(super) fn begin_bulletin(&mut self, run: Key, now: Now, telling: &Telling) {
        self.put_words(run, telling);
        // A retry that is due now: the step in which a call ends hands nothing over itself.
        self.timers.set(Timer::Retry(run), now.boot);
        if let Some(record) = self.runs.get_mut(run) {
            record.run.retry_at = Some(now.wall);
        }
    }

    /// Gives a bulletin that waits newer words.
    pub(super) fn fold_bulletin(&mut self, run: Key, telling: &Telling) {
        self.put_words(run, telling);
        if let Some(record) = self.runs.get_mut(run) {
            debug_assert!(record.is_live(), "the bulletin at {} has ended, and gets more", record.run.slot);
            record.run.folded += 1;
            record.run.by_session |= telling.by_session;
        }
    }

    fn put_words(&mut self, run: Key, telling: &Telling) {
        let Some(record) = self.runs.get_mut(run) else { return };
        let Some(schedule) = self.schedules.get(record.schedule) else { return };
        record.run.told_check = telling.check;
        // A run goes by the definition that is attached to it, so a bulletin takes the way of a prompt.
        record.run.definition = Some(Arc::new(schedule.schedule.bulletin(telling)));
    }

    /// Lets a bulletin wait until a certain time. It stays at its place in the queue of its session, so that it can go with
    /// another one before.
    pub(super) fn postpone(&mut self, run: Key, at: Moment, due: BootTime) {
        // Its destination may have changed since it was queued, so it leaves its queue and enters one anew.
        self.leave_waiting(run);
        let lane = match self.runs.get(run).and_then(|record| self.destination_of(record)) {
            Some(Destination::Session(lane, _)) => Some(lane),
            Some(
                Destination::Fresh(..)
                | Destination::Channel(..)
                | Destination::Tool(_)
                | Destination::Unreachable(_),
            )
            | None => None,
        };
        self.timers.set(Timer::Retry(run), due);
        let Some(record) = self.runs.get_mut(run) else { return };
        record.lane = lane;
        record.run.state = RunState::Queued;
        record.run.retry_at = Some(at);
        if lane.is_some() {
            self.enter_waiting(run, lane);
        }
    }

    /// Puts a bulletin into the delivery of another one, which is out.
    pub(super) fn join(&mut self, run: Key, now: Now, lead: RunId) {
        self.leave_waiting(run);
        self.timers.clear(Timer::Retry(run));
        let Some(out) = self.run(&lead) else { return };
        let (host, session) = (out.run.host, out.run.session.clone());
        let Some(record) = self.runs.get_mut(run) else { return };
        // The delivery of its lead occupies the lane.
        record.lane = None;
        let it = &mut record.run;
        it.state = RunState::InFlight;
        it.retry_at = None;
        it.note_handed_over(now.wall);
        it.phase = Some(Phase::PromptSubmit);
        (it.host, it.session) = (host, session);
        it.lead = Some(Box::new(lead.clone()));
        self.joined.entry(lead).or_default().push(run);
        self.note_bulletin_sent(run);
    }

    /// Takes a bulletin out of the delivery of another one, if it is in one.
    pub(super) fn leave_delivery(&mut self, run: Key) {
        let Some(lead) = self.runs.get_mut(run).and_then(|record| record.run.lead.take()) else { return };
        if let Some(members) = self.joined.get_mut(&lead) {
            members.retain(|member| *member != run);
            if members.is_empty() {
                self.joined.remove(&lead);
            }
        }
    }

    /// At times no process was there: watches count what has lasted until then as unseen, or anew. One that was loaded again
    /// after a failure of the store has forgotten what it had counted since its row was written.
    pub(super) fn was_down(&mut self) {
        if self.downs.is_empty() {
            return;
        }
        let watches = self.schedules.iter().filter(|(_, record)| record.remembered.is_some());
        let keys: Vec<Key> = watches.map(|(key, _)| key).collect();
        for key in keys {
            let Some(record) = self.schedules.get_mut(key) else { continue };
            if let (Trigger::Every(every), Some(watch)) = (&record.schedule.trigger, &mut record.remembered) {
                watch.was_down(&self.downs, record.schedule.created_at, every.period());
            }
        }
    }
}
