//! Taking a store up: what an earlier life has left, and what becomes of a store that fails and comes back.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::core::Core;
use super::facts::{self, FactError};
use super::handle::{Handle, Shared};
use super::keep::{Arrival, HOLD, Keeper, SCHEDULE, SESSION};
use super::transcripts::{self, MESSAGE, Said};
use crate::domain::{HostId, SessionId};
use crate::edn::{self, Caps, Value};
use crate::engine::{Effect, Input, Pause, ScheduleRow, SessionRow};
use crate::port::{RowRecord, Store, StoreFault, Term};

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
    /// The operating system has no thread to give.
    #[error("there is no thread for the store: {0}")]
    Thread(#[from] std::io::Error),
}

/// What is kept, read and not yet taken up.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) schedules: Vec<ScheduleRow>,
    pub(super) sessions: Vec<(SessionRow, Option<Box<str>>)>,
    hold: Option<Pause>,
    said: Vec<Said>,
}

impl Handle {
    /// Takes up what an earlier life has left in a store, and keeps there from now on what is to be kept. `lost` is how many
    /// schedules were in memory only when that life ended.
    ///
    /// # Errors
    /// [`BootFault`]; the engine is as before then, and the store too.
    pub fn take_up(&self, store: Arc<dyn Store>, lost: u64) -> Result<(), BootFault> {
        let found = Found::in_store(&*store)?;
        let (arrivals, answers) = self.answers();
        self.publish_by_itself(answers)?;
        self.begin(store, found, arrivals, lost);
        Ok(())
    }

    /// Takes a store up like [`Handle::take_up`], but leaves what was under way as it is: whoever wakes the engine next goes
    /// on with it. For writing to a store that nobody serves.
    ///
    /// # Errors
    /// [`BootFault`], likewise.
    pub fn take_up_asleep(&self, store: Arc<dyn Store>) -> Result<(), BootFault> {
        let found = Found::in_store(&*store)?;
        let (arrivals, answers) = self.answers();
        self.publish_by_itself(answers)?;
        self.take_in(&mut self.core(), store, found, arrivals);
        Ok(())
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
        let found = Found::in_store(&*store)?;
        let (arrivals, answers) = self.answers();
        self.begin(store, found, arrivals, lost);
        Ok(answers)
    }

    fn answers(&self) -> (Sender<Arrival>, Answers) {
        let (arrivals, arrived) = channel();
        (arrivals, Answers { shared: Arc::downgrade(&self.shared), arrived, failed: false })
    }

    fn begin(&self, store: Arc<dyn Store>, found: Found, arrivals: Sender<Arrival>, lost: u64) {
        let mut core = self.core();
        self.take_in(&mut core, store, found, arrivals);
        self.wake_up(&mut core, lost);
        drop(core);
        self.perform();
    }

    fn take_in(&self, core: &mut Core, store: Arc<dyn Store>, found: Found, arrivals: Sender<Arrival>) {
        core.state.resume_at(store.health().head);
        core.keeper = Some(Keeper::new(store, found.term, arrivals));
        self.restore(core, found.kept);
    }

    /// Enters what is kept, for looking only.
    ///
    /// # Errors
    /// [`BootFault::Row`]
    pub fn look_at(&self, rows: Vec<RowRecord>) -> Result<(), BootFault> {
        let mut kept = Kept::default();
        kept.add(rows)?;
        self.restore(&mut self.core(), kept);
        Ok(())
    }

    /// Lets the store go, all that was acknowledged moved into its file: nothing durable can be changed from here on.
    pub fn close_store(&self) {
        let store = self.core().keeper.as_ref().map(|keeper| Arc::clone(&keeper.store));
        if let Some(store) = store {
            store.close();
        }
    }

    /// Enters what was read, and lets what was under way go on.
    fn restore(&self, core: &mut Core, kept: Kept) {
        let now = self.now();
        for (row, token) in kept.sessions {
            if let Some(token) = token {
                self.shared.tokens.restore(&token, &row.id);
            }
            if row.built_in {
                // Its transcript begins again as it began the first time.
                let (session, config) = (row.id.clone(), Arc::clone(&row.config));
                core.outbox.push_back(Effect::OpenSession { host: HostId::LOCAL, session, config });
            }
            core.state.restore_session(row);
        }
        for row in kept.schedules {
            core.state.restore_schedule(row, now);
        }
        core.state.restore_hold(kept.hold);
        core.take_up_said(&kept.said);
        for Said { session, message, .. } in kept.said {
            if core.state.session(&session).is_some() {
                core.outbox.push_back(Effect::RecordMessage { host: HostId::LOCAL, session, message });
            }
        }
    }

    fn wake_up(&self, core: &mut Core, lost: u64) {
        let now = self.now();
        let woken = core.step(Input::Awake { lost }, now, || self.draw());
        debug_assert!(woken.is_ok(), "nobody refuses to wake up: {:?}", woken.err());
        self.publish(core);
    }

    /// Tries to write again, and takes up anew what is kept: what is in memory of it may be more than that.
    fn come_back(&self) -> Result<(), BootFault> {
        let Some(store) = self.core().keeper.as_ref().map(|keeper| Arc::clone(&keeper.store)) else {
            return Ok(());
        };
        let Found { term, kept } = Found::in_store(&*store)?;
        let mut core = self.core();
        core.state.let_durable_go();
        // What was opened or closed meanwhile is written with the first batch.
        let known: Vec<SessionId> = kept.sessions.iter().map(|(row, _)| row.id.clone()).collect();
        let open: Vec<SessionId> = core.state.session_ids().cloned().collect();
        let now = self.now();
        for row in kept.schedules {
            core.state.restore_schedule(row, now);
        }
        core.take_up_said(&kept.said);
        if let Some(keeper) = &mut core.keeper {
            keeper.term = Some(term);
            keeper.last_fault = None;
            for session in known.into_iter().chain(open) {
                keeper.want_session(session);
            }
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
        let mut core = handle.core();
        for arrival in std::iter::once(first).chain(self.arrived.try_iter()) {
            match arrival.answer {
                Ok(head) => core.kept(head),
                Err(fault) => {
                    core.unkept(fault);
                    // What lives in memory need not wait behind what was never handed over.
                    let filled = core.step(Input::FillLanes, handle.now(), || handle.draw());
                    debug_assert!(filled.is_ok(), "nobody refuses that: {:?}", filled.err());
                    self.failed = true;
                }
            }
        }
        handle.publish(&mut core);
        drop(core);
        handle.perform();
        true
    }
}

/// What a store holds, and the term from which on it takes more.
struct Found {
    term: Term,
    kept: Kept,
}

impl Found {
    fn in_store(store: &dyn Store) -> Result<Found, BootFault> {
        let term = store.renew()?;
        Ok(Found { term, kept: read(store)? })
    }
}

/// Reads all rows.
pub(super) fn read(store: &dyn Store) -> Result<Kept, BootFault> {
    let mut kept = Kept::default();
    let mut after: Option<Arc<str>> = None;
    loop {
        let rows = store.rows_after(after.as_deref())?;
        let Some(last) = rows.last() else { return Ok(kept) };
        after = Some(Arc::clone(&last.key));
        kept.add(rows)?;
    }
}

impl Kept {
    fn add(&mut self, rows: Vec<RowRecord>) -> Result<(), BootFault> {
        for row in rows {
            if let Some(payload) = &row.payload {
                let read = read_row(self, &row.key, payload);
                read.map_err(|why| BootFault::Row { key: (*row.key).into(), why: why.into() })?;
            }
        }
        Ok(())
    }
}

fn read_row(kept: &mut Kept, key: &str, payload: &[u8]) -> Result<(), String> {
    let value = edn::read(payload, &ROW_CAPS).map_err(|error| error.to_string())?;
    let form = value.as_map().ok_or("it is no map")?;
    let said = |error: FactError| error.to_string();
    if key.starts_with(SCHEDULE) {
        kept.schedules.push(facts::parse_schedule(form).map_err(said)?);
    } else if key.starts_with(SESSION) {
        kept.sessions.push(facts::parse_session(form).map_err(said)?);
    } else if key.starts_with(MESSAGE) {
        let (session, message) = facts::parse_message(form).map_err(said)?;
        let at = transcripts::place(key).ok_or("its key does not say where it stands")?;
        kept.said.push(Said { at, session, message });
    } else if key == HOLD {
        kept.hold = facts::parse_hold(form).map_err(said)?;
    } else {
        return Err(format!("nothing is known of {}", Value::string(key.to_owned())));
    }
    Ok(())
}

/// A row may hold a whole configuration, and is longer than a request.
const ROW_CAPS: Caps = Caps { bytes_max: 1 << 28, depth_max: 128, digits_max: 1_000, forms_max: u32::MAX };
/// How long a store that failed is left alone.
const TRY_AGAIN: Duration = Duration::from_millis(1_000);
