//! Worlds with a store: slow disks, crashes, and restarts from what was committed.

use std::sync::Arc;

use crate::domain::{Cursor, Downtime, Fact, Moment, Span};
use crate::engine::Input;
use crate::port::{Clock, Store, Ticket};
use crate::runtime::{AttachOptions, Handle, StoreReplies};
use crate::testkit::disk::{Disk, UnpublishedFact};
use crate::testkit::history::Seen;
use crate::testkit::laws::Broken;
use crate::testkit::sim::sim_courier;
use crate::testkit::world::World;
use crate::testkit::world_config::Action;
use crate::testkit::{StoreMemory, Torn};

type Outcome = Result<(), Broken>;

impl World {
    /// Passes the store's answers on to the engine; returns whether there were any.
    pub(in crate::testkit) fn publish(&mut self) -> bool {
        let mut moved = false;
        loop {
            // Each time: what one answer sets off may be the next that the store refuses.
            self.note_failures();
            if !self.disk.as_mut().is_some_and(|disk| disk.answers.publish()) {
                return moved;
            }
            moved = true;
        }
    }

    /// Records that the store has failed or refused something, before the engine learns of it.
    fn note_failures(&mut self) {
        let Some(disk) = &mut self.disk else { return };
        let health = disk.store.health();
        let has_failed = std::mem::replace(&mut disk.failures, health.failures) < health.failures;
        let refusals = disk.store.refusals();
        let has_refused = std::mem::replace(&mut disk.refusals, refusals) < refusals;
        disk.is_refused |= has_refused;
        // A refusal loses nothing that was accepted before it; a failure loses all that is not
        // committed.
        let kept = if has_failed { health.head } else { disk.store.taken() };
        if has_failed || has_refused {
            self.stage.history.note(self.stage.clock.now(), Seen::DiskFailed { kept });
        }
    }

    /// Whether the disk answers at once.
    pub(in crate::testkit) fn is_all_kept(&self) -> bool {
        self.disk.as_ref().is_none_or(|disk| !disk.is_slow)
    }

    /// Waits for the commit; returns `false` if the caller is not told that it succeeded.
    pub(in crate::testkit) fn await_kept(&mut self, ticket: Option<Ticket>) -> Result<bool, Broken> {
        if !self.is_all_kept() {
            return Ok(false);
        }
        let Some(ticket) = ticket else { return Ok(true) };
        // An idempotent repeat waits for the original's commit, whose answer only `publish`
        // delivers here.
        self.publish();
        match ticket.wait() {
            Ok(cursor) => self.laws.tell_kept(cursor),
            // The caller gets a storage error.
            Err(_) if self.disk.as_ref().is_some_and(|disk| disk.is_ill) => return Ok(false),
            Err(fault) => {
                let detail = format!("the store is well, and says {fault}");
                return Err(Broken { law: "a_sound_store_keeps", detail });
            }
        }
        Ok(true)
    }

    /// Makes the disk slow: a few actions happen before it answers.
    pub(in crate::testkit) fn wait_for_disk(&mut self) -> Outcome {
        if self.is_ending {
            return Ok(());
        }
        self.live_unkept()?;
        let Some(disk) = &mut self.disk else { return Ok(()) };
        disk.is_slow = false;
        disk.store.release();
        self.publish();
        Ok(())
    }

    /// Ends the process and starts another one. A random prefix of the waiting batches is
    /// committed.
    pub(in crate::testkit) fn crash(&mut self) -> Outcome {
        if self.is_ending {
            return Ok(());
        }
        // Judge first: everything so far belongs to the process that ends, even if nothing was
        // submitted.
        self.judge(false)?;
        self.live_unkept()?;
        let Some(disk) = &mut self.disk else { return Ok(()) };
        let store = disk.store.clone();
        let waiting = store.waiting() as u64;
        let kept = self.stage.entropy.below(waiting + 1);
        let torn = self.any_torn();
        self.say(format!(
            "  the process dies, {kept} of {waiting} batches are kept, and {torn:?} of the next"
        ));
        self.tally.crashes += 1;
        // The next process finds a repaired disk: an engine whose store cannot be loaded does not
        // start.
        store.heal();
        let kept = usize::try_from(kept).unwrap_or(usize::MAX);
        match torn {
            Some(torn) => store.tear(kept, torn),
            None => store.lose_power(kept),
        }
        let died_at = self.stage.clock.now().wall;
        let longest = *self.stage.entropy.pick(&[1_000, 60_000, 7_200_000]).unwrap_or(&1_000);
        self.stage.clock.advance(Span::from_millis(self.stage.entropy.below(longest)));
        self.begin_anew(&store, died_at)
    }

    /// What a power loss leaves of the batch being written: nothing, or a part, marked as whole or
    /// not.
    fn any_torn(&self) -> Option<Torn> {
        let entropy = &self.stage.entropy;
        if entropy.one_in(2) {
            return None;
        }
        let records = usize::try_from(entropy.below(6)).unwrap_or(0);
        Some(Torn { records, is_marked: entropy.one_in(2) })
    }

    /// Performs a few actions while nothing is written.
    fn live_unkept(&mut self) -> Outcome {
        let Some(disk) = &mut self.disk else { return Ok(()) };
        disk.is_slow = true;
        disk.store.hold();
        for _ in 0..self.stage.entropy.below(6) {
            if let Some(action) = self.stage.entropy.pick(&UNKEPT).copied() {
                self.act(action)?;
                self.judge(false)?;
            }
            // Batches accepted before a refusal are still waiting; a retry must come after them.
            if self.disk.as_ref().is_some_and(|disk| disk.is_refused) && self.stage.entropy.one_in(2) {
                self.try_disk_again()?;
            }
        }
        Ok(())
    }

    fn begin_anew(&mut self, store: &Arc<StoreMemory>, died_at: Moment) -> Outcome {
        let lost = self.laws.begin_anew(self.stage.clock.now(), &**store, &sim_courier::channels())?;
        self.untold.clear();
        // Who waited is gone with the process.
        self.waiting.clear();
        // Connections die with the process; only the built-in host is there again.
        self.hosts.truncate(1);
        self.connected = 0;
        let Some(local) = self.hosts.first() else { return Ok(()) };
        local.forget_receipts();
        self.courier.forget();
        self.handle = Handle::new(self.stage.parts(local.clone()));
        let asked = (self.guard.take_open(), self.executor.take_open());
        self.executor.serve(&self.handle);
        self.handle.outside().set_guard(self.guard.clone());
        self.feed = self.handle.subscribe(Cursor::START);
        self.open_channels();
        // The model of the new process contains the opened channels already; don't judge them
        // twice.
        self.judged = self.stage.history.len();
        let _ = self.feed.poll(usize::MAX);
        // The process that asked the guard and made calls is gone: dropping its questions must reach nobody.
        drop(asked);
        // Last: due runs may reach the host, the guard and the channels at once.
        let downs: Vec<Downtime> =
            self.disk.as_mut().map(|disk| std::mem::take(&mut disk.downs)).unwrap_or_default();
        let down = Downtime { from: died_at, until: self.stage.clock.now().wall };
        let down = Some(down).filter(|_| self.config.watches_one_in > 0);
        let downs: Vec<Downtime> = downs.into_iter().chain(down).collect();
        let options = AttachOptions { lost, downs: downs.clone().into(), ..AttachOptions::default() };
        let taken_up = StoreReplies::attach(&self.handle, store.clone(), options);
        let answers =
            taken_up.map_err(|fault| Broken { law: "a_sound_store_keeps", detail: fault.to_string() })?;
        self.disk = Some(Disk { downs, ..Disk::of(store.clone(), answers) });
        self.turned = false;
        self.publish();
        Ok(())
    }

    /// Submits an input, and waits for its commit unless the disk is slow.
    pub(in crate::testkit) fn submit_to_engine(
        &mut self,
        input: Input,
    ) -> Result<Result<bool, Broken>, crate::domain::Refusal> {
        let ticket = self.handle.submit_unawaited(input)?;
        Ok(self.await_kept(ticket))
    }

    /// Takes the facts that the feed has shown. Without a slow disk, the feed must have shown all
    /// of them.
    pub(in crate::testkit) fn take_told(&mut self, shown: usize) -> Result<Vec<(Cursor, Fact)>, Broken> {
        let told = self.untold.drain(..shown.min(self.untold.len()));
        let told = told.map(|untold| (untold.cursor, untold.fact)).collect();
        if self.is_all_kept()
            && let Some(UnpublishedFact { fact, .. }) = self.untold.front()
        {
            let detail = format!("nothing waits for the disk, and the feed does not show {fact:?}");
            return Err(Broken { law: "feed_tells_all", detail });
        }
        Ok(told)
    }
}

/// The actions that are possible while nothing is written: none of them waits for a commit.
const UNKEPT: [Action; 15] = [
    Action::FailDisk,
    Action::CourierAnswers,
    Action::AdvanceToWake,
    Action::AdvanceToWake,
    Action::Advance,
    Action::AnswerReceipt,
    Action::AnswerReceipt,
    Action::ReportTurn,
    Action::CreateSchedule,
    Action::CancelSchedule,
    Action::Change,
    Action::Pause,
    Action::RunNow,
    Action::SkipNext,
    Action::Hold,
];
