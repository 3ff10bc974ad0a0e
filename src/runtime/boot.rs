//! Taking a store up: what an earlier life has left, and what becomes of a store that fails and comes back.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::core::Core;
use super::handle::{Handle, Shared};
use super::keep::{Arrival, Keeper};
use super::rows::{self, Row};
use super::transcripts::Said;
use crate::domain::{Cursor, GuardPolicy, HostId, Scope, SessionConfig, SessionId};
use crate::engine::{Command, Effect, Input, StoreInput, StoredRow};
use crate::port::{RowRecord, Store, StoreFault, Ticket};

/// Why a store cannot be taken up. Nothing of it was changed.
#[derive(Debug, thiserror::Error)]
pub enum BootFault {
    /// It cannot be read, or written.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// A row is not what this program writes.
    #[error("the row {key} cannot be read: {why}; restore a backup, or start a newer program")]
    Row {
        /// Its key.
        key: Box<str>,
        /// What is wrong with it.
        why: Box<str>,
    },
    /// The guard's policy cannot be.
    #[error("the guard's policy cannot be taken: {why}")]
    Policy {
        /// Why.
        why: Box<str>,
    },
    /// The operating system has no thread to give.
    #[error("there is no thread for the store: {0}")]
    Thread(#[from] std::io::Error),
}

impl Handle {
    /// Takes up what an earlier life has left in a store, and keeps there from now on what is to be kept. `lost` is how many
    /// schedules were in memory only when that life ended.
    ///
    /// # Errors
    /// [`BootFault`]; the engine is as before then, and the store too.
    pub fn take_up(&self, store: Arc<dyn Store>, lost: u64) -> Result<(), BootFault> {
        let (arrivals, answers) = self.answers();
        self.publish_by_itself(answers)?;
        self.begin(store, arrivals, lost, None)
    }

    /// The same, with runs measured by this policy from the beginning, whatever an earlier life went by: nothing is handed over
    /// before it holds.
    ///
    /// # Errors
    /// [`BootFault`]; the engine is as before then, and the store too.
    pub fn take_up_guarded(
        &self,
        store: Arc<dyn Store>,
        lost: u64,
        policy: Option<Arc<GuardPolicy>>,
    ) -> Result<(), BootFault> {
        let (arrivals, answers) = self.answers();
        self.publish_by_itself(answers)?;
        self.begin(store, arrivals, lost, Some(policy))
    }

    /// Takes a store up like [`Handle::take_up`], but leaves what was under way as it is: whoever wakes the engine next goes
    /// on with it. For writing to a store that nobody serves.
    ///
    /// # Errors
    /// [`BootFault`], likewise.
    pub fn take_up_asleep(&self, store: Arc<dyn Store>) -> Result<(), BootFault> {
        let (arrivals, answers) = self.answers();
        self.publish_by_itself(answers)?;
        self.take_in(&mut self.core_mut(), store, arrivals)
    }

    fn publish_by_itself(&self, answers: Answers) -> Result<(), BootFault> {
        std::thread::Builder::new()
            .name("reveille-keeper".into())
            .spawn(move || answers.publish_for_ever())?;
        Ok(())
    }

    /// The same without a thread: nothing that waits for the store goes on until its answers are published by hand. A
    /// simulation does that, in which nothing may happen by itself.
    ///
    /// # Errors
    /// [`BootFault`]; the engine is as before then, and the store too.
    pub fn take_up_by_hand(&self, store: Arc<dyn Store>, lost: u64) -> Result<Answers, BootFault> {
        let (arrivals, answers) = self.answers();
        self.begin(store, arrivals, lost, None)?;
        Ok(answers)
    }

    fn answers(&self) -> (Sender<Arrival>, Answers) {
        let (arrivals, arrived) = channel();
        (arrivals, Answers { shared: Arc::downgrade(&self.shared), arrived, failed: false })
    }

    fn begin(
        &self,
        store: Arc<dyn Store>,
        arrivals: Sender<Arrival>,
        lost: u64,
        policy: Option<Option<Arc<GuardPolicy>>>,
    ) -> Result<(), BootFault> {
        let mut core = self.core_mut();
        self.take_in(&mut core, store, arrivals)?;
        if let Some(policy) = policy {
            let guard = Input::Command(Command::SetGuard { policy, by: Scope::Operator.into() });
            let guarded = core.step(guard, self.now(), || self.draw());
            match guarded {
                // A store that comes back says what it holds: the policy has to be in it.
                Ok(ticket) => _ = ticket.map(Ticket::wait).transpose()?,
                Err(refusal) => return Err(BootFault::Policy { why: refusal.to_string().into() }),
            }
        }
        self.wake_up(&mut core, lost);
        drop(core);
        self.perform();
        Ok(())
    }

    fn take_in(
        &self,
        core: &mut Core,
        store: Arc<dyn Store>,
        arrivals: Sender<Arrival>,
    ) -> Result<(), BootFault> {
        let term = store.renew()?;
        let rows = Arc::clone(&store);
        let keeper = Keeper::new(store, term, arrivals, Arc::clone(&core.listeners));
        let former = core.keeper.replace(keeper);
        let found = self.enter(core, rows.health().head, |take| rows::for_each(&*rows, take));
        if found.is_err() {
            core.keeper = former;
        }
        self.give_back(core, found?);
        Ok(())
    }

    /// Enters what is kept, for looking only.
    ///
    /// # Errors
    /// [`BootFault::Row`]
    pub fn look_at(&self, rows: &[RowRecord]) -> Result<(), BootFault> {
        let mut core = self.core_mut();
        let found = self.enter(&mut core, Cursor::START, |take| rows::for_each_of(rows, take))?;
        self.give_back(&mut core, found);
        Ok(())
    }

    /// Lets the store go, all that was acknowledged moved into its file: nothing durable can be changed from here on.
    pub fn close_store(&self) {
        let store = self.core().keeper.as_ref().map(|keeper| Arc::clone(&keeper.store));
        if let Some(store) = store {
            store.close();
        }
    }

    /// Enters the rows that `show` shows, all or none, as of a cursor, and returns what is not the state's.
    fn enter(
        &self,
        core: &mut Core,
        head: Cursor,
        show: impl FnOnce(&mut dyn FnMut(Row)) -> Result<(), BootFault>,
    ) -> Result<Found, BootFault> {
        let now = self.now();
        // For the case that a row cannot be read: as a rule nothing is in it yet.
        let before = core.state.clone();
        let mut found = Found::default();
        core.tell(StoreInput::LogEnds { at: head }, now, || self.draw());
        let mut rows: Vec<StoredRow> = Vec::with_capacity(ROWS_AT_ONCE);
        let mut load = |row| {
            rows.push(row);
            if rows.len() == ROWS_AT_ONCE {
                let full = std::mem::replace(&mut rows, Vec::with_capacity(ROWS_AT_ONCE));
                core.tell(StoreInput::Rows(full), now, || self.draw());
            }
        };
        let shown = show(&mut |row| match row {
            Row::Session(row, token) => {
                found.tokens.extend(token.map(|token| (token, row.id.clone())));
                if row.built_in {
                    found.built_in.push((row.id.clone(), Arc::clone(&row.config)));
                }
                load(StoredRow::Session(row));
            }
            Row::Schedule(row) => load(StoredRow::Schedule(row)),
            Row::Hold(hold) => load(StoredRow::Hold(hold)),
            Row::Guard(policy, grants) => load(StoredRow::Guard { policy, grants }),
            Row::Said(said) => found.said.push(said),
        });
        core.tell(StoreInput::Rows(rows), now, || self.draw());
        if shown.is_err() {
            core.state = before;
        }
        shown.map(|()| found)
    }

    /// Gives tokens and transcripts back to their sessions.
    fn give_back(&self, core: &mut Core, found: Found) {
        for (token, session) in found.tokens {
            self.shared.tokens.restore(&token, &session);
        }
        for (session, config) in found.built_in {
            // Its transcript begins again as it began the first time.
            core.outbox.push_back(Effect::OpenSession { host: HostId::LOCAL, session, config });
        }
        core.take_up_said(&found.said);
        for Said { session, message, .. } in found.said {
            if core.state.session(&session).is_some() {
                core.outbox.push_back(Effect::RecordMessage { host: HostId::LOCAL, session, message });
            }
        }
    }

    fn wake_up(&self, core: &mut Core, lost: u64) {
        let now = self.now();
        let woken = core.step(Input::Awake { lost }, now, || self.draw());
        debug_assert!(woken.is_ok(), "nobody refuses to wake up: {:?}", woken.err());
        self.publish(core, now);
    }

    /// Tries to write again, and takes up anew what is kept: what is in memory of it may be more than that.
    fn come_back(&self) -> Result<(), BootFault> {
        let Some(store) = self.core().keeper.as_ref().map(|keeper| Arc::clone(&keeper.store)) else {
            return Ok(());
        };
        // What was let in before is answered when this is: kept, it is taken up with the rest.
        let term = store.renew()?;
        self.core_mut().settle_renewed(self.now(), || self.draw());
        // What is on disk as handed over is, before it is read as that.
        self.perform();
        let (mut rows, mut known, mut said) = (Vec::new(), Vec::new(), Vec::new());
        rows::for_each(&*store, &mut |row| match row {
            Row::Session(row, _) => {
                known.push(row.id.clone());
                rows.push(StoredRow::Session(row));
            }
            Row::Schedule(row) => rows.push(StoredRow::Schedule(row)),
            Row::Said(row) => said.push(row),
            // The last caller to change one of these may have been told that it was not committed.
            Row::Hold(hold) => rows.push(StoredRow::Hold(hold)),
            Row::Guard(policy, grants) => rows.push(StoredRow::Guard { policy, grants }),
        })?;
        let mut core = self.core_mut();
        let now = self.now();
        // What was opened or closed meanwhile is written with the first batch.
        let mut touched: Vec<SessionId> = core.state.session_ids().cloned().collect();
        touched.extend(known.iter().cloned());
        known.retain(|session| core.state.session(session).is_none());
        core.tell(StoreInput::Recovered, now, || self.draw());
        core.tell(StoreInput::Rows(rows), now, || self.draw());
        core.take_up_said(&said);
        if let Some(keeper) = &mut core.keeper {
            keeper.term = Some(term);
            keeper.last_fault = None;
            for session in touched {
                keeper.want_session(session);
            }
            let heard = std::mem::take(&mut keeper.heard);
            for word in heard {
                // About a run that nobody knows any more, or that is not with its host as it is kept, it says nothing.
                let _ = core.step(Input::Report(word), now, || self.draw());
            }
        }
        for session in known {
            // Whoever closed it was told so: what is on disk and dies with it is called off now.
            let closed = core.step(Input::Command(Command::CloseSession { session }), now, || self.draw());
            debug_assert!(closed.is_ok(), "it is open: {:?}", closed.err());
        }
        self.wake_up(&mut core, 0);
        Ok(())
    }
}

/// What a store answers, on its way to those who wait for it: effects, and readers of the feed.
pub struct Answers {
    shared: Weak<Shared>,
    arrived: Receiver<Arrival>,
    failed: bool,
}

impl Answers {
    /// Publishes what has been answered by now: effects go out, the feed goes on. Whether there was anything.
    pub fn publish(&mut self) -> bool {
        let Ok(first) = self.arrived.try_recv() else { return false };
        self.publish_from(first)
    }

    /// Tries a store that has failed again, and takes up anew what it keeps. Nothing happens to one that is well.
    ///
    /// # Errors
    /// [`BootFault`]: what stands in the way still.
    pub fn try_again(&mut self) -> Result<(), BootFault> {
        let Some(shared) = self.shared.upgrade().filter(|_| self.failed) else { return Ok(()) };
        let handle = Handle { shared };
        let came_back = handle.come_back();
        self.failed = came_back.is_err();
        handle.perform();
        came_back
    }

    /// The keeper's thread; it ends with the engine.
    fn publish_for_ever(mut self) {
        loop {
            let next = if self.failed {
                self.arrived.recv_timeout(TRY_AGAIN)
            } else {
                self.arrived.recv().map_err(RecvTimeoutError::from)
            };
            match next {
                Ok(first) => {
                    if !self.publish_from(first) {
                        return;
                    }
                }
                // What stands in the way still is told by the store's health; it is tried again a little later.
                Err(RecvTimeoutError::Timeout) => _ = self.try_again(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Publishes an answer and those behind it; `false` once the engine is gone.
    fn publish_from(&mut self, first: Arrival) -> bool {
        let Some(shared) = self.shared.upgrade() else { return false };
        let handle = Handle { shared };
        let mut core = handle.core_mut();
        for arrival in std::iter::once(first).chain(self.arrived.try_iter()) {
            core.settle();
            match arrival {
                Arrival::Kept => continue,
                // A word of a term that is over, and what it lost is taken back already.
                Arrival::Failed(term, _) if core.is_past(term) => continue,
                Arrival::Failed(_, fault) => core.unkept(fault, handle.now(), || handle.draw()),
                Arrival::Refused(fault) => core.refused(fault, handle.now(), || handle.draw()),
            }
            // What lives in memory need not wait behind what was never handed over.
            let filled = core.step(Input::FillLanes, handle.now(), || handle.draw());
            debug_assert!(filled.is_ok(), "nobody refuses that: {:?}", filled.err());
            self.failed = true;
        }
        handle.publish(&mut core, handle.now());
        drop(core);
        handle.perform();
        true
    }
}

/// What was found beside the state.
#[derive(Default)]
struct Found {
    tokens: Vec<(Box<str>, SessionId)>,
    built_in: Vec<(SessionId, Arc<SessionConfig>)>,
    said: Vec<Said>,
}

/// Rows that are loaded in one step, so that a start with a million of them holds few at a time.
const ROWS_AT_ONCE: usize = 64;
/// How long a store that failed is left alone.
const TRY_AGAIN: Duration = Duration::from_millis(1_000);
