//! What surfaces and embedders hold: submit, read, subscribe.

use std::sync::{Arc, Weak};

use super::counters::Counters;
use super::durable::{self, AttachOptions, RecoveryError};
use super::parts::Parts;
use super::reading::Reading;
use super::rehearsal::{REHEARSED, Rehearsal};
use super::shared::Shared;
use super::subscription::Subscription;
use super::sync::UNPOISONED;
use super::token::{Token, Tokens};
use crate::calendar::Zones;
use crate::domain::{
    Actor, BootTime, Channel, Cursor, Entropy, Grant, HostId, Moment, Now, Primitives, Refusal, ScheduleId,
    Scope, SessionConfig, SessionId, Transcript,
};
use crate::engine::{Command, Gauges, Input, NewSchedule, Report, SessionRecord, State, Which};
use crate::port::{Courier, Guard, Host, Store, Ticket, UnderWay};

/// A handle to one engine. Clones are handles to the same engine.
///
/// Without a [`Runtime`](super::Runtime) nothing happens by itself: call [`Handle::run_due`] at the time that the last call
/// returned. Tests do that, and embedders with a loop of their own.
#[derive(Clone)]
pub struct Handle {
    pub(super) shared: Arc<Shared>,
    /// Set for a handle that applies nothing.
    rehearsal: Option<Arc<Rehearsal>>,
}

/// A handle that does not keep its engine.
#[derive(Clone)]
pub struct WeakHandle(Weak<Shared>);

impl WeakHandle {
    /// The handle, if the engine is still there.
    pub(crate) fn upgrade(&self) -> Option<Handle> {
        self.0.upgrade().map(Handle::of)
    }
}

impl Handle {
    /// A handle that does not keep the engine.
    pub(crate) fn downgrade(&self) -> WeakHandle {
        WeakHandle(Arc::downgrade(&self.shared))
    }

    /// A new, empty engine.
    pub fn new(parts: Parts) -> Handle {
        Handle::of(Arc::new(Shared::new(parts)))
    }

    pub(super) fn of(shared: Arc<Shared>) -> Handle {
        Handle { shared, rehearsal: None }
    }

    /// A handle to the same engine, whose inputs are rehearsed.
    pub(crate) fn rehearsing(&self) -> (Handle, Arc<Rehearsal>) {
        let rehearsal = Arc::<Rehearsal>::default();
        (Handle { rehearsal: Some(Arc::clone(&rehearsal)), ..self.clone() }, rehearsal)
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
        match &self.rehearsal {
            Some(rehearsal) => Err(rehearsal.decide(&self.shared, input)),
            None => self.shared.submit_and_wait(input, |_| (), read),
        }
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
        Reading::new(self.shared.core(), &self.shared.hosts)
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
        self.open_session_by(session, host, config, None)
    }

    /// Opens a session, as [`Handle::open_session`], for this actor.
    pub(crate) fn open_session_by(
        &self,
        session: Option<SessionId>,
        host: HostId,
        config: SessionConfig,
        by: Option<Actor>,
    ) -> Result<(SessionId, Token), Refusal> {
        let session = session.unwrap_or_else(|| SessionId::random(self.random_bits()));
        let (id, config) = (Some(session.clone()), Arc::new(config));
        let token = Token::from_entropy(self.random_bits(), self.random_bits());
        // Issued in the same critical section, so that a close on another thread comes before both or after both; and before
        // the step, because the step persists the token's digest with the session.
        let mut issued = false;
        let issue = |state: &State| {
            issued = state.session(&session).is_none();
            if issued {
                self.shared.tokens.issue(&token, &session);
            }
        };
        let open = Input::Command(Command::OpenSession { session: id, host, config, by });
        let opened = self.shared.submit_and_wait(open, issue, |_| ());
        if issued && opened.is_err() {
            self.shared.tokens.revoke(&session);
        }
        opened?;
        Ok((session, token))
    }

    /// Closes a session. Its schedules are cancelled and its token is revoked.
    ///
    /// # Errors
    /// [`Refusal::UnknownSession`].
    pub fn close_session(&self, session: &SessionId) -> Result<(), Refusal> {
        self.close_session_by(session, None)
    }

    /// Closes a session, as [`Handle::close_session`], for this actor.
    pub(crate) fn close_session_by(&self, session: &SessionId, by: Option<Actor>) -> Result<(), Refusal> {
        let close = Command::CloseSession { session: session.clone(), by };
        // Revoked in the critical section that closes the session: later, the id may belong to a new session and its token.
        self.submit_with(Input::Command(close), |_| self.shared.tokens.revoke(session))
    }

    /// Sets what a session may do from now on: its calls, and the runs of its schedules. A grant of nothing revokes its token.
    ///
    /// # Errors
    /// [`Refusal`] if the session is unknown.
    pub fn grant(&self, session: &SessionId, grant: Grant, by: impl Into<Actor>) -> Result<(), Refusal> {
        let revokes = grant.right.is_none();
        let command = Command::SetGrant { session: session.clone(), grant, by: by.into() };
        // Before the step: the row of the session that the step persists includes the token's digest.
        let revoke = |_: &State| {
            if revokes {
                self.shared.tokens.revoke(session);
            }
        };
        self.shared.submit_and_wait(Input::Command(command), revoke, |_| ())
    }

    /// The table of live tokens and their bearers.
    pub fn tokens(&self) -> &Tokens {
        &self.shared.tokens
    }

    /// Sets the guard, which is asked whether a run may be dispatched. It is asked only where the policy requires it
    /// ([`Command::SetGuard`]).
    pub fn set_guard(&self, guard: Arc<dyn Guard>) {
        *self.shared.guard.write().expect(UNPOISONED) = Some(guard);
    }

    /// Opens channels and sets the courier that sends through them. Call it once, before a store is attached: stored work that
    /// waits for a channel fails if there is no such channel.
    ///
    /// Returns whether this was the first call; a later call changes nothing.
    pub fn open_channels(&self, courier: Arc<dyn Courier>, channels: Vec<Channel>) -> bool {
        // The courier first: from the fact of its opening on, a channel may get a parcel.
        if self.shared.courier.set(courier).is_err() {
            return false;
        }
        for channel in channels {
            // Configuration is a fact: it cannot be refused.
            let opened = self.submit(Input::Report(Report::ChannelOpened(channel)));
            debug_assert!(opened.is_ok(), "{opened:?}");
        }
        true
    }

    /// Switches families of tools on and off, for as long as the process lives.
    pub fn switch(&self, primitives: Primitives) {
        // Configuration is a fact: it cannot be refused.
        let switched = self.submit(Input::Report(Report::Switched(primitives)));
        debug_assert!(switched.is_ok(), "{switched:?}");
    }

    /// Registers a connected host. Sessions are opened on it, or moved to it, by the returned id.
    pub fn attach_host(&self, host: Arc<dyn Host>) -> HostId {
        self.attach_host_by(host, None)
    }

    /// Registers a host that this actor has connected, who reports by it from now on.
    pub(crate) fn attach_host_by(&self, host: Arc<dyn Host>, by: Option<Actor>) -> HostId {
        // Before the report, because effects that follow from it have to find the host.
        let host = self.shared.hosts.insert(host);
        // A connection is a fact like its loss: it cannot be refused.
        let attached = self.submit(Input::Report(Report::HostAttached { host, by }));
        debug_assert!(attached.is_ok(), "{attached:?}");
        host
    }

    /// Registers the host of agents' own conversations: sessions are moved to it by [`HostId::AGENTS`]. A later call changes
    /// nothing.
    pub fn attach_agents(&self, host: Arc<dyn Host>) {
        if self.shared.hosts.insert_as(HostId::AGENTS, host) {
            let attached =
                self.submit(Input::Report(Report::HostAttached { host: HostId::AGENTS, by: None }));
            debug_assert!(attached.is_ok(), "{attached:?}");
        }
    }

    /// Reports that a connected host is gone: its deliveries in flight fail, queued runs stay queued.
    pub fn detach_host(&self, host: HostId) {
        // Before the report, so that no effect of a later step finds the host.
        self.shared.hosts.remove(host);
        self.withdraw_tools(host);
        // The loss of a host cannot be refused, even while the engine stops.
        let lost = self.submit(Input::Report(Report::HostLost { host }));
        debug_assert!(lost.is_ok(), "{lost:?}");
    }

    /// Reports that a connected host goes in good order: the turn that it was attached for is over.
    pub fn release_host(&self, host: HostId) {
        self.shared.hosts.remove(host);
        self.withdraw_tools(host);
        // As a loss, it cannot be refused.
        let left = self.submit(Input::Report(Report::HostLeft { host }));
        debug_assert!(left.is_ok(), "{left:?}");
    }

    /// The transcript of a session; `None` if there is no such session, or if its harness does not share it.
    pub fn transcript(&self, session: &SessionId) -> Option<Transcript> {
        // The host is called without the engine's lock.
        let host = self.view(|state| state.session(session).map(SessionRecord::host))?;
        self.shared.hosts.find(host)?.transcript(session)
    }

    /// Follows the decisions after a cursor; [`Cursor::START`] for all that are retained.
    pub fn subscribe(&self, after: Cursor) -> Subscription {
        Subscription::new(Arc::clone(&self.shared), after)
    }

    /// Loads what a store has, and persists durable work there from now on. A thread of its own handles the store's replies;
    /// see [`StoreReplies`](super::StoreReplies) for a simulation, which has none.
    ///
    /// # Errors
    /// [`RecoveryError`]; the engine and the store are unchanged then.
    pub fn attach_store(&self, store: Arc<dyn Store>, options: AttachOptions) -> Result<(), RecoveryError> {
        let (events, replies) = durable::replies(&self.shared);
        // The thread first: if there is none, nothing has been loaded yet.
        let thread = std::thread::Builder::new().name("reveille-persister".into());
        thread.spawn(move || replies.publish_forever())?;
        durable::load_and_recover(&self.shared, store, events, options)
    }

    /// When this life of the engine began, on the wall clock.
    pub(crate) fn started_at(&self) -> Moment {
        self.shared.started_at
    }

    /// The counters so far, and the present numbers of sessions, schedules and runs.
    pub fn counters(&self) -> (Counters, Gauges) {
        let core = self.shared.core();
        (core.counters.clone(), core.state.gauges(self.now()))
    }

    /// How many deliveries are on their way outside.
    pub(crate) fn carried(&self) -> UnderWay {
        self.shared.courier.get().map(|courier| courier.under_way()).unwrap_or_default()
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
