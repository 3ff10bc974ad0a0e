//! A world whose engine keeps something: its store is slow, and its process dies and begins again.

use std::sync::Arc;

use super::history::Seen;
use super::laws::Broken;
use super::sim_courier;
use super::world::World;
use super::world_config::Action;
use crate::adapter::{StoreMemory, Torn};
use crate::domain::{Cursor, Fact, Span};
use crate::engine::Input;
use crate::port::{Clock, HistoryCaps, Store, Ticket};
use crate::runtime::{Answers, Handle};

type Outcome = Result<(), Broken>;

/// What an engine has its store for.
pub(super) struct Disk {
    pub(super) store: Arc<StoreMemory>,
    pub(super) answers: Answers,
    /// Nothing is written at this moment, and nobody is told anything.
    pub(super) is_slow: bool,
    /// Something is wrong with it, or was until a moment ago.
    pub(super) is_ill: bool,
    /// How many failures the engine has heard of.
    pub(super) failures: u64,
    /// How many batches the engine has heard of that found no room.
    pub(super) refusals: u64,
    /// The engine has heard of one, and has not taken up anew what is kept.
    pub(super) is_refused: bool,
}

/// A fact that the feed has not shown yet.
pub(super) struct Untold {
    pub(super) cursor: Cursor,
    pub(super) fact: Fact,
    /// It is not shown before it is kept.
    pub(super) is_lasting: bool,
}

impl Disk {
    /// A disk that forgets nothing, with the engine that takes it up.
    pub(super) fn taken_up_by(handle: &Handle) -> Result<Disk, String> {
        let caps = HistoryCaps { schedule_rows: u64::MAX, bytes: u64::MAX, days: u64::MAX };
        let store = Arc::new(StoreMemory::new(caps));
        let answers = handle.take_up_by_hand(store.clone(), 0).map_err(|fault| fault.to_string())?;
        Ok(Disk::of(store, answers))
    }

    fn of(store: Arc<StoreMemory>, answers: Answers) -> Disk {
        let (failures, refusals) = (store.health().failures, store.refusals());
        Disk { store, answers, is_slow: false, is_ill: false, failures, refusals, is_refused: false }
    }
}

impl World {
    /// Publishes what the store has answered; whether there was anything.
    pub(super) fn publish(&mut self) -> bool {
        let mut moved = false;
        if let Some(disk) = &mut self.disk {
            let health = disk.store.health();
            let has_failed = std::mem::replace(&mut disk.failures, health.failures) < health.failures;
            let refusals = disk.store.refusals();
            let has_refused = std::mem::replace(&mut disk.refusals, refusals) < refusals;
            disk.is_refused |= has_refused;
            // Of what was let in before a refusal, nothing is lost by that.
            let kept = if has_failed { health.head } else { disk.store.taken() };
            if has_failed || has_refused {
                // What comes of it is decided after this.
                self.stage.history.note(self.stage.clock.now(), Seen::DiskFailed { kept });
            }
        }
        while self.disk.as_mut().is_some_and(|disk| disk.answers.publish()) {
            moved = true;
        }
        moved
    }

    /// Whether nothing waits for the store.
    pub(super) fn is_all_kept(&self) -> bool {
        self.disk.as_ref().is_none_or(|disk| !disk.is_slow)
    }

    /// Waits for what was submitted to be kept; `false` where nobody is told that it is.
    pub(super) fn await_kept(&mut self, ticket: Option<Ticket>) -> Result<bool, Broken> {
        if !self.is_all_kept() {
            return Ok(false);
        }
        let Some(ticket) = ticket else { return Ok(true) };
        // A repeat waits for what it repeats, whose answer is published by hand here.
        self.publish();
        match ticket.wait() {
            Ok(cursor) => self.laws.tell_kept(cursor),
            // Whoever asked is told that it is not kept.
            Err(_) if self.disk.as_ref().is_some_and(|disk| disk.is_ill) => return Ok(false),
            Err(fault) => {
                let detail = format!("the store is well, and says {fault}");
                return Err(Broken { law: "a_sound_store_keeps", detail });
            }
        }
        Ok(true)
    }

    /// The disk is slow: some things happen before it answers.
    pub(super) fn wait_for_disk(&mut self) -> Outcome {
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

    /// The process dies: of what waits for the disk, the first few batches are there, or all, or none. After a while there is
    /// another one.
    pub(super) fn crash(&mut self) -> Outcome {
        if self.is_ending {
            return Ok(());
        }
        // What was seen so far belongs to the life that ends: it may be the very first thing that happens.
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
        // Whoever starts next finds the disk mended: an engine that cannot take its store up does not start.
        store.heal();
        let kept = usize::try_from(kept).unwrap_or(usize::MAX);
        match torn {
            Some(torn) => store.tear(kept, torn),
            None => store.lose_power(kept),
        }
        let longest = *self.stage.entropy.pick(&[1_000, 60_000, 7_200_000]).unwrap_or(&1_000);
        self.stage.clock.advance(Span::from_millis(self.stage.entropy.below(longest)));
        self.begin_anew(&store)
    }

    /// What may be left of the batch that was being written: nothing, or some of it, marked as whole or not.
    fn any_torn(&self) -> Option<Torn> {
        let entropy = &self.stage.entropy;
        if entropy.one_in(2) {
            return None;
        }
        let records = usize::try_from(entropy.below(6)).unwrap_or(0);
        Some(Torn { records, is_marked: entropy.one_in(2) })
    }

    /// Some things happen of which nothing is written.
    fn live_unkept(&mut self) -> Outcome {
        let Some(disk) = &mut self.disk else { return Ok(()) };
        disk.is_slow = true;
        disk.store.hold();
        for _ in 0..self.stage.entropy.below(6) {
            if let Some(action) = self.stage.entropy.pick(&UNKEPT).copied() {
                self.act(action)?;
                self.judge(false)?;
            }
            // What was let in before a refusal waits still.
            if self.disk.as_ref().is_some_and(|disk| disk.is_refused) && self.stage.entropy.one_in(2) {
                self.try_disk_again()?;
            }
        }
        Ok(())
    }

    fn begin_anew(&mut self, store: &Arc<StoreMemory>) -> Outcome {
        let lost = self.laws.begin_anew(self.stage.clock.now(), &**store, &sim_courier::channels())?;
        self.untold.clear();
        self.hosts.truncate(1);
        self.connected = 0;
        let Some(local) = self.hosts.first() else { return Ok(()) };
        local.forget_receipts();
        self.courier.forget();
        self.handle = Handle::new(self.stage.parts(local.clone()));
        let asked = self.guard.take_open();
        self.handle.set_guard(self.guard.clone());
        self.feed = self.handle.subscribe(Cursor::START);
        self.open_channels();
        // Entered with the books of this life already.
        self.judged = self.stage.history.len();
        let _ = self.feed.poll(usize::MAX);
        // Nothing is left of the process that asked: what is answered now reaches nobody.
        drop(asked);
        let taken_up = self.handle.take_up_by_hand(store.clone(), lost);
        let answers =
            taken_up.map_err(|fault| Broken { law: "a_sound_store_keeps", detail: fault.to_string() })?;
        self.disk = Some(Disk::of(store.clone(), answers));
        self.turned = false;
        self.publish();
        Ok(())
    }

    /// Submits an input; nobody waits where nothing is written.
    pub(super) fn submit_to_engine(
        &mut self,
        input: Input,
    ) -> Result<Result<bool, Broken>, crate::domain::Refusal> {
        let ticket = self.handle.submit_unawaited(input)?;
        Ok(self.await_kept(ticket))
    }

    /// The decisions that the feed has shown are told in order; all of them, unless something waits for the disk.
    pub(super) fn take_told(&mut self, shown: usize) -> Result<Vec<(Cursor, Fact)>, Broken> {
        let told = self.untold.drain(..shown.min(self.untold.len()));
        let told = told.map(|untold| (untold.cursor, untold.fact)).collect();
        if self.is_all_kept()
            && let Some(Untold { fact, .. }) = self.untold.front()
        {
            let detail = format!("nothing waits for the disk, and the feed does not show {fact:?}");
            return Err(Broken { law: "feed_tells_all", detail });
        }
        Ok(told)
    }
}

/// What can happen while nothing is written, for nobody is told of it before.
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
