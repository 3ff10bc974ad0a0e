//! A world whose engine keeps something: its store is slow, and its process dies and begins again.

use std::sync::Arc;

use super::laws::Broken;
use super::world::World;
use super::world_config::Action;
use crate::adapter::StoreMemory;
use crate::domain::{Cursor, Fact, Span};
use crate::engine::Input;
use crate::port::{Clock, HistoryCaps, Ticket};
use crate::runtime::{Answers, Handle};

type Outcome = Result<(), Broken>;

/// What an engine has its store for.
pub(super) struct Disk {
    pub(super) store: Arc<StoreMemory>,
    pub(super) answers: Answers,
    /// Nothing is written at this moment, and nobody is told anything.
    pub(super) is_slow: bool,
}

impl Disk {
    /// A disk that forgets nothing, with the engine that takes it up.
    pub(super) fn taken_up_by(handle: &Handle) -> Result<Disk, String> {
        let caps = HistoryCaps { schedule_rows: u64::MAX, bytes: u64::MAX, days: u64::MAX };
        let store = Arc::new(StoreMemory::new(caps));
        let answers = handle.take_up_by_hand(store.clone(), 0).map_err(|fault| fault.to_string())?;
        Ok(Disk { store, answers, is_slow: false })
    }
}

impl World {
    /// Publishes what the store has answered; whether there was anything.
    pub(super) fn publish(&mut self) -> bool {
        let mut moved = false;
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
        self.say(format!("  the process dies, {kept} of {waiting} batches are kept"));
        store.lose_power(usize::try_from(kept).unwrap_or(usize::MAX));
        let longest = *self.stage.entropy.pick(&[1_000, 60_000, 7_200_000]).unwrap_or(&1_000);
        self.stage.clock.advance(Span::from_millis(self.stage.entropy.below(longest)));
        self.begin_anew(&store)
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
        }
        Ok(())
    }

    fn begin_anew(&mut self, store: &Arc<StoreMemory>) -> Outcome {
        let lost = self.laws.begin_anew(self.stage.clock.now(), &**store)?;
        self.untold.clear();
        self.hosts.truncate(1);
        self.connected = 0;
        let Some(local) = self.hosts.first() else { return Ok(()) };
        local.forget_receipts();
        self.handle = Handle::new(self.stage.parts(local.clone()));
        let asked = self.guard.take_open();
        self.handle.set_guard(self.guard.clone());
        self.feed = self.handle.subscribe(Cursor::START);
        // Nothing is left of the process that asked: what is answered now reaches nobody.
        drop(asked);
        let taken_up = self.handle.take_up_by_hand(store.clone(), lost);
        let answers =
            taken_up.map_err(|fault| Broken { law: "a_sound_store_keeps", detail: fault.to_string() })?;
        self.disk = Some(Disk { store: store.clone(), answers, is_slow: false });
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
    pub(super) fn take_told(&mut self, shown: usize) -> Result<Vec<Fact>, Broken> {
        let told = self.untold.drain(..shown.min(self.untold.len())).collect();
        if self.is_all_kept()
            && let Some(fact) = self.untold.front()
        {
            let detail = format!("nothing waits for the disk, and the feed does not show {fact:?}");
            return Err(Broken { law: "feed_tells_all", detail });
        }
        Ok(told)
    }
}

/// What can happen while nothing is written, for nobody is told of it before.
const UNKEPT: [Action; 13] = [
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
