//! What surfaces and embedders hold: submit, read, subscribe.
//!
//! Everything else that can be asked of an engine is grouped by its noun, in a file of its own: [`Handle::sessions`],
//! [`Handle::hosts`], [`Handle::tools`], [`Handle::calls`], [`Handle::waiters`], [`Handle::outside`]. Invariant: such a group
//! only borrows the handle, so it costs nothing to name.

use std::sync::{Arc, Weak};

use super::calls::Calls;
use super::counters::Counters;
use super::durable::{self, AttachOptions, RecoveryError};
use super::hosts::Hosts;
use super::outside::Outside;
use super::parts::Parts;
use super::reading::Reading;
use super::rehearsal::{REHEARSED, Rehearsal};
use super::sessions::Sessions;
use super::shared::Shared;
use super::subscription::Subscription;
use super::token::{Token, Tokens};
use super::tools::Tools;
use super::waiters::Waiters;
use crate::calendar::Zones;
use crate::domain::{
    BootTime, Cursor, Entropy, HostId, Now, Refusal, ScheduleId, Scope, SessionConfig, SessionId,
};
use crate::engine::{Command, Gauges, Input, NewSchedule, State, Which};
use crate::port::{Store, Ticket};

/// A handle to one engine. Clones are handles to the same engine.
///
/// Without a [`Runtime`](super::Runtime) nothing happens by itself: call [`Handle::run_due`] at the time that the last call
/// returned. Tests do that, and embedders with a loop of their own.
#[derive(Clone)]
pub struct Handle {
    pub(super) shared: Arc<Shared>,
    /// Set for a handle that applies nothing.
    pub(super) rehearsal: Option<Arc<Rehearsal>>,
}

/// A weak handle, which does not keep the engine alive.
#[derive(Clone)]
pub(crate) struct WeakHandle(Weak<Shared>);

impl WeakHandle {
    /// A handle to the same engine that does not keep it.
    pub(crate) fn of(handle: &Handle) -> WeakHandle {
        WeakHandle(Arc::downgrade(&handle.shared))
    }

    /// The handle, if the engine is still there.
    pub(crate) fn upgrade(&self) -> Option<Handle> {
        self.0.upgrade().map(|shared| Handle { shared, rehearsal: None })
    }
}

impl Handle {
    /// A new, empty engine.
    pub fn new(parts: Parts) -> Handle {
        Handle { shared: Arc::new(Shared::new(parts)), rehearsal: None }
    }

    /// Decides on an input. When this returns, the input has taken effect, and its effects have run or are being run by
    /// another thread.
    ///
    /// # Errors
    /// The engine's [`Refusal`]; nothing has changed then.
    pub fn submit(&self, input: Input) -> Result<(), Refusal> {
        self.submit_with(input, |_| ())
    }

    /// Decides on an input and reads the state right after it, before anything else can happen.
    ///
    /// # Errors
    /// The engine's [`Refusal`]; nothing has changed then.
    pub fn submit_with<R>(&self, input: Input, read: impl FnOnce(&State) -> R) -> Result<R, Refusal> {
        self.submit_prepared(input, |_| (), read)
    }

    /// Like [`Handle::submit_with`]. `prepare` runs in the same critical section, right before the decision, and not in a
    /// rehearsal.
    pub(super) fn submit_prepared<R>(
        &self,
        input: Input,
        prepare: impl FnOnce(&State),
        read: impl FnOnce(&State) -> R,
    ) -> Result<R, Refusal> {
        match &self.rehearsal {
            Some(rehearsal) => Err(rehearsal.decide(&self.shared, input)),
            None => self.shared.submit_and_wait(input, prepare, read),
        }
    }

    /// Whether this handle applies nothing. What is changed beside the engine then stays as it is too.
    pub(crate) fn is_rehearsal(&self) -> bool {
        self.rehearsal.is_some()
    }

    /// Decides on an input without waiting for the disk. Durable work has a ticket that resolves when it is committed; do not
    /// acknowledge it before.
    ///
    /// # Errors
    /// The engine's [`Refusal`]; nothing has changed then.
    pub fn submit_unawaited(&self, input: Input) -> Result<Option<Ticket>, Refusal> {
        match &self.rehearsal {
            Some(rehearsal) => Err(rehearsal.decide(&self.shared, input)),
            None => self.shared.submit_raw(input, |_| (), |_| ()).map(|((), ticket)| ticket),
        }
    }

    /// Reads the state. Any number of threads read at a time, and nothing changes meanwhile: copy what you need and return.
    /// A closure that panics affects its own thread only; one that calls the handle may deadlock.
    pub fn view<R>(&self, read: impl FnOnce(&State) -> R) -> R {
        read(&self.shared.core().state)
    }

    /// The engine, locked for reading, with its feed and its counters.
    pub(crate) fn read(&self) -> Reading<'_> {
        Reading::new(self.shared.core(), &self.shared.hosts, self.shared.started_at)
    }

    /// Runs everything that is due. Returns when to call again: at that time, or after the next submit.
    pub fn run_due(&self) -> Option<BootTime> {
        self.shared.run_due()
    }

    /// Creates a schedule and returns its id.
    ///
    /// # Errors
    /// [`Refusal`] if its session is not open, its id is in use, or a limit is reached.
    pub fn schedule(&self, mut new: NewSchedule) -> Result<ScheduleId, Refusal> {
        let durability = new.durability;
        // Chosen here and not by the engine, so that it can be returned without a look at the state.
        let fresh = || ScheduleId::fresh(durability, || self.now().wall, self.random_bits());
        let id = new.id.get_or_insert_with(fresh).clone();
        self.submit(Input::Command(Command::CreateSchedule(new)))?;
        Ok(id)
    }

    /// Cancels a schedule: when this returns `Ok`, it will not be delivered.
    ///
    /// # Errors
    /// [`Refusal`] if it does not exist for `scope`, has ended, or is being delivered.
    pub fn cancel(&self, scope: Scope, schedule: ScheduleId) -> Result<(), Refusal> {
        self.submit(Input::Command(Command::CancelSchedule(Which::any(scope, schedule))))
    }

    /// Opens a session on a host and issues its token.
    ///
    /// # Errors
    /// [`Refusal`] if the id is in use, or the engine is full or stopping.
    pub fn open_session(
        &self,
        session: Option<SessionId>,
        host: HostId,
        config: SessionConfig,
    ) -> Result<(SessionId, Token), Refusal> {
        self.sessions().open_by(session, host, config, None)
    }

    /// Closes a session. Its schedules are cancelled and its token is revoked.
    ///
    /// # Errors
    /// [`Refusal::UnknownSession`].
    pub fn close_session(&self, session: &SessionId) -> Result<(), Refusal> {
        self.sessions().close_by(session, None)
    }

    /// Sessions: opened and closed for an actor, granted rights, read.
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(self)
    }

    /// Hosts: attached and detached.
    pub fn hosts(&self) -> Hosts<'_> {
        Hosts(&self.shared)
    }

    /// Tools: who carries them out, and which a session can have called.
    pub fn tools(&self) -> Tools<'_> {
        Tools(self)
    }

    /// Calls of tools: begun and cancelled.
    pub fn calls(&self) -> Calls<'_> {
        Calls(&self.shared)
    }

    /// Waiters: for the end of a call, or for a time.
    pub fn waiters(&self) -> Waiters<'_> {
        Waiters(&self.shared)
    }

    /// What is outside: channels with their courier, and the guard.
    pub fn outside(&self) -> Outside<'_> {
        Outside(&self.shared)
    }

    /// The table of live tokens and their bearers.
    pub fn tokens(&self) -> &Tokens {
        &self.shared.tokens
    }

    /// Follows the decisions after a cursor; [`Cursor::START`] for all that are retained.
    pub fn subscribe(&self, after: Cursor) -> Subscription {
        Subscription::new(Arc::clone(&self.shared), after)
    }

    /// Loads what a store has, and persists durable work there from now on. A thread of its own handles the store's replies;
    /// see [`StoreReplies`](super::StoreReplies) for a simulation, which has none.
    ///
    /// # Errors
    /// [`RecoveryError`]; the engine is unchanged then.
    pub fn attach_store(&self, store: Arc<dyn Store>, options: AttachOptions) -> Result<(), RecoveryError> {
        let (events, replies) = durable::replies(&self.shared);
        // The thread first: if there is none, nothing has been loaded yet.
        let thread = std::thread::Builder::new().name("reveille-persister".into());
        thread.spawn(move || replies.publish_forever())?;
        durable::load_and_recover(&self.shared, store, events, options)
    }

    /// The counters so far, and the present numbers of sessions, schedules and runs.
    pub fn counters(&self) -> (Counters, Gauges) {
        let core = self.shared.core();
        (core.counters.clone(), core.state.gauges(self.now()))
    }

    /// The time zones that schedules may name.
    pub fn zones(&self) -> &Arc<Zones> {
        &self.shared.zones
    }

    /// One reading of both clocks.
    pub fn now(&self) -> Now {
        self.shared.now()
    }

    /// 128 fresh random bits.
    pub(crate) fn random_bits(&self) -> Entropy {
        // A rehearsal takes no bits from the work that counts.
        self.rehearsal.as_ref().map_or_else(|| self.shared.random_bits(), |_| REHEARSED)
    }

    /// Refuses new work, cancels volatile work that waits, gives outstanding receipts `limits::SHUTDOWN_MS` to
    /// arrive, abandons them then, and closes the feed. Nothing volatile is left when it returns. Idempotent.
    pub fn shut_down(&self) {
        self.shared.shut_down();
    }
}
