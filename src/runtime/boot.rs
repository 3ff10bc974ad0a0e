//! Taking a store up: what an earlier life has left, and what becomes of a store that fails and comes back.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
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
        self.take_up_asleep(store)?;
        self.wake_up(&mut self.core(), lost);
        self.perform();
        Ok(())
    }

    /// Takes a store up like [`Handle::take_up`], but leaves what was under way as it is: whoever wakes the engine next goes
    /// on with it. For writing to a store that nobody serves.
    ///
    /// # Errors
    /// [`BootFault`], likewise.
    pub fn take_up_asleep(&self, store: Arc<dyn Store>) -> Result<(), BootFault> {
        let term = store.renew()?;
        let kept = read(&*store)?;
        let (arrivals, arrived) = channel();
        let shared = Arc::downgrade(&self.shared);
        std::thread::Builder::new()
            .name("reveille-keeper".into())
            .spawn(move || publish_what_arrives(&shared, &arrived))?;
        let head = store.health().head;
        let mut core = self.core();
        core.state.resume_at(head);
        core.keeper = Some(Keeper::new(store, term, arrivals));
        self.restore(&mut core, kept);
        Ok(())
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
        let term: Term = store.renew()?;
        let kept = read(&*store)?;
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

/// The thread that publishes what is kept: effects go out, the feed goes on, and a store that failed is tried again.
fn publish_what_arrives(shared: &Weak<Shared>, arrived: &Receiver<Arrival>) {
    let mut failed = false;
    loop {
        let first = if failed {
            match arrived.recv_timeout(TRY_AGAIN) {
                Ok(arrival) => Some(arrival),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        } else {
            let Ok(arrival) = arrived.recv() else { return };
            Some(arrival)
        };
        let Some(shared) = shared.upgrade() else { return };
        let handle = Handle { shared };
        if first.is_none() {
            // What stands in the way still is told by the store's health; it is tried again a little later.
            failed = handle.come_back().is_err();
            handle.perform();
            continue;
        }
        let mut core = handle.core();
        for arrival in first.into_iter().chain(arrived.try_iter()) {
            match arrival.answer {
                Ok(head) => core.kept(head),
                Err(fault) => {
                    core.unkept(fault);
                    // What lives in memory need not wait behind what was never handed over.
                    let filled = core.step(Input::FillLanes, handle.now(), || handle.draw());
                    debug_assert!(filled.is_ok(), "nobody refuses that: {:?}", filled.err());
                    failed = true;
                }
            }
        }
        handle.publish(&mut core);
        drop(core);
        handle.perform();
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
