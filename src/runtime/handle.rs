//! What surfaces and embedders hold: submit, view, subscribe.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::bell::Bell;
use super::core::Core;
use super::figures::Figures;
use super::hosts::Hosts;
use super::keep::Keeps;
use super::pace::Pace;
use super::perform::Performer;
use super::prepared::Kept;
use super::subscription::Subscription;
use super::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard, UNPOISONED};
use super::token::{Token, Tokens};
use crate::calendar::Zones;
use crate::domain::{
    BootTime, Caller, Channel, Cursor, Entropy, HostId, Now, Refusal, Right, ScheduleId, Scope,
    SessionConfig, SessionId, Target, TokenName, Transcript,
};
use crate::engine::{Command, Gauges, Input, NewSchedule, Report, SessionRecord, State, Which};
use crate::graph::registry::Registry;
use crate::graph::view::Scheduler;
use crate::limits;
use crate::port::{Clock, Courier, EntropySource, Guard, Host, Journal, StoreHealth, Ticket};

/// What a runtime is made of.
pub struct Parts {
    /// Reads both clocks.
    pub clock: Arc<dyn Clock>,
    /// Draws randomness.
    pub entropy: Arc<dyn EntropySource>,
    /// The built-in host: it has every session that no connected host has.
    pub local: Arc<dyn Host>,
    /// What the names of zones mean.
    pub zones: Arc<Zones>,
    /// What becomes of what is asked to be kept, until a store is taken up.
    pub keeps: Keeps,
    /// Is told the facts, if anybody is to be.
    pub journal: Option<Box<dyn Journal>>,
}

/// A way to the engine; copies lead to the same one.
///
/// Without a [`Runtime`](super::Runtime) nothing happens by itself: whoever holds the handle calls [`Handle::turn`] at the
/// time that the last turn named. Tests and embedders with a loop of their own do that.
#[derive(Clone)]
pub struct Handle {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) core: RwLock<Core>,
    /// Rouses the driver.
    pub(super) alarm: Bell,
    /// Rouses subscribers.
    pub(super) news: Bell,
    /// Held by whoever performs effects, so that each session's come in order.
    pub(super) performing: Mutex<Performer>,
    /// See `Core::recalls`.
    pub(super) recalls: Arc<AtomicU64>,
    pub(super) hosts: Hosts,
    pub(super) courier: OnceLock<Arc<dyn Courier>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) zones: Arc<Zones>,
    entropy: Arc<dyn EntropySource>,
    pub(super) tokens: Arc<Tokens>,
    pub(super) registry: Arc<Registry<Scheduler>>,
    pub(super) prepared: Kept,
    pub(super) pace: Pace,
    /// Who is asked whether runs may be handed over, where the policy wants somebody to be.
    pub(super) guard: RwLock<Option<Arc<dyn Guard>>>,
}

impl Handle {
    /// An engine with nothing in it.
    pub fn new(parts: Parts) -> Handle {
        let core = Core::new(Arc::clone(&parts.zones), parts.keeps, parts.journal);
        Handle {
            shared: Arc::new(Shared {
                recalls: Arc::clone(&core.recalls),
                tokens: core.tokens(),
                core: RwLock::new(core),
                alarm: Bell::default(),
                news: Bell::default(),
                performing: Mutex::default(),
                hosts: Hosts::new(parts.local),
                courier: OnceLock::new(),
                clock: parts.clock,
                zones: parts.zones,
                entropy: parts.entropy,
                registry: super::query::registry(),
                prepared: Kept::default(),
                pace: Pace::default(),
                guard: RwLock::new(None),
            }),
        }
    }

    /// Decides on an input; when this returns, it has happened, and its effects have been handed to their hosts or are
    /// being handed by another thread.
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
        self.carry_out(input, |_| (), read)
    }

    /// Decides on an input without waiting for the disk: what has to be kept has a ticket that says when it is. Nobody may be
    /// told of it before.
    ///
    /// # Errors
    /// The engine's [`Refusal`]; nothing has changed then.
    pub fn submit_unawaited(&self, input: Input) -> Result<Option<Ticket>, Refusal> {
        self.begin_with(input, |_| (), |_| ()).map(|((), ticket)| ticket)
    }

    /// The same, with something to be made ready right before.
    pub(super) fn carry_out<R>(
        &self,
        input: Input,
        prepare: impl FnOnce(&State),
        read: impl FnOnce(&State) -> R,
    ) -> Result<R, Refusal> {
        // A session lives in memory as well, and is written as soon as that works again; a person's word has been said,
        // whatever becomes of what it calls off; and so is a connection, or its loss.
        let holds_anyway = matches!(
            input,
            Input::Command(
                Command::OpenSession { .. } | Command::CloseSession { .. } | Command::HostSessions { .. }
            ) | Input::Report(
                Report::UserMessage { .. } | Report::HostAttached { .. } | Report::HostLost { .. }
            )
        );
        let (answer, ticket) = self.begin_with(input, prepare, read)?;
        // Volatile work has no ticket: it never waits for a disk.
        match ticket.map_or(Ok(Cursor::START), Ticket::wait) {
            Err(fault) if !holds_anyway => {
                Err(Refusal::StoreUnavailable { detail: fault.to_string().into() })
            }
            Ok(_) | Err(_) => Ok(answer),
        }
    }

    /// All of it but the waiting.
    fn begin_with<R>(
        &self,
        input: Input,
        prepare: impl FnOnce(&State),
        read: impl FnOnce(&State) -> R,
    ) -> Result<(R, Option<Ticket>), Refusal> {
        let mut core = self.core_mut();
        let now = self.now();
        // In the same critical section, so that nothing becomes due in between.
        self.settle_first(&mut core, &input, now);
        prepare(&core.state);
        let stepped = core.step(input, now, || self.draw());
        let answer = stepped.map(|ticket| (catch_unwind(AssertUnwindSafe(|| read(&core.state))), ticket));
        self.publish(&mut core, now);
        let effects = !core.outbox.is_empty();
        drop(core);
        if effects {
            self.perform();
        }
        let (answer, ticket) = answer?;
        Ok((answer.unwrap_or_else(|panic| resume_unwind(panic)), ticket))
    }

    /// Deals with what is due of the schedule that an input is about to change: after what was due before it, so that a change
    /// lets nothing overtake, but for a burst, which is not waited for.
    fn settle_first(&self, core: &mut Core, input: &Input, now: Now) {
        let Some(schedule) = input.settles_first() else { return };
        let mut steps = 0;
        while core.state.is_slot_due(schedule, now) {
            let in_turn = steps < limits::STEPS_PER_HOLD.value && core.is_due(now);
            steps += 1;
            let settle =
                if in_turn { Input::Wake } else { Input::SettleFirst { schedule: schedule.clone() } };
            let settled = core.step(settle, now, || self.draw());
            debug_assert!(settled.is_ok(), "what is due is never refused: {settled:?}");
        }
    }

    /// Reads the state. Any number of threads read at a time, and nothing changes meanwhile: a reader should copy what it needs
    /// and go. One that panics takes only its own thread along; one that calls the handle may wait for itself for ever.
    pub fn view<R>(&self, read: impl FnOnce(&State) -> R) -> R {
        read(&self.core().state)
    }

    /// Deals with everything that is due, and says when to come back: at that time or at the next submit.
    pub fn turn(&self) -> Option<BootTime> {
        loop {
            let mut core = self.core_mut();
            let now = self.now();
            let mut steps = 0;
            while steps < limits::STEPS_PER_HOLD.value && core.is_due(now) {
                steps += 1;
                let woken = core.step(Input::Wake, now, || self.draw());
                debug_assert!(woken.is_ok(), "a wake-up is never refused: {woken:?}");
            }
            self.publish(&mut core, now);
            let (next, effects) = (core.state.next_wake(now), !core.outbox.is_empty());
            drop(core);
            if effects {
                self.perform();
            }
            if steps == 0 {
                return next;
            }
        }
    }

    /// Creates a schedule and says its id.
    ///
    /// # Errors
    /// [`Refusal`] if its session is not open, its id is taken, or a bound is reached.
    pub fn schedule(&self, mut new: NewSchedule) -> Result<ScheduleId, Refusal> {
        let durability = new.durability;
        let fresh = || ScheduleId::fresh(durability, || self.now().wall, self.draw());
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

    /// Opens a session on a host and makes the token that stands for it.
    ///
    /// # Errors
    /// [`Refusal`] if the id is taken, the engine is full or stopping.
    pub fn open_session(
        &self,
        session: Option<SessionId>,
        host: HostId,
        config: SessionConfig,
    ) -> Result<(SessionId, Token), Refusal> {
        let session = session.unwrap_or_else(|| SessionId::random(self.draw()));
        let (id, config) = (Some(session.clone()), Arc::new(config));
        let token = Token::from_entropy(self.draw(), self.draw());
        // In the same critical section: a close on another thread comes before both or after both. And before the step, which
        // keeps the token with the session.
        let mut issued = false;
        let issue = |state: &State| {
            issued = state.session(&session).is_none();
            if issued {
                self.shared.tokens.issue(&token, &session);
            }
        };
        let open = Input::Command(Command::OpenSession { session: id, host, config });
        let opened = self.carry_out(open, issue, |_| ());
        if issued && opened.is_err() {
            self.shared.tokens.revoke(&session);
        }
        opened?;
        Ok((session, token))
    }

    /// Closes a session; its schedules are called off and its token ends.
    ///
    /// # Errors
    /// [`Refusal::UnknownSession`].
    pub fn close_session(&self, session: &SessionId) -> Result<(), Refusal> {
        let close = Command::CloseSession { session: session.clone() };
        self.submit_with(Input::Command(close), |_| {
            self.shared.tokens.revoke(session);
            self.shared.pace.forget(session);
        })
    }

    /// The session that a token stands for; `None` for anything that is not a live token.
    pub fn session_of(&self, token: &Token) -> Option<SessionId> {
        self.shared.tokens.session(token)
    }

    /// Who holds a token: a session, or an operator; `None` for anything that is not a live token.
    pub fn caller_of(&self, token: &Token) -> Option<Caller> {
        self.shared.tokens.caller(token)
    }

    /// Lets whoever holds this token act as an operator, with that right. What is done by it is known by the beginning of its
    /// digest.
    pub fn admit_operator(&self, token: &Token, right: Right) {
        self.admit_operator_as(token.fingerprint(), token, right);
    }

    /// The same; what is done by it is known by this name.
    pub fn admit_operator_as(&self, name: TokenName, token: &Token, right: Right) {
        self.shared.tokens.admit_operator(token, right, name);
    }

    /// Sets who is asked whether runs may be handed over. Nobody is, unless the policy says so ([`Command::SetGuard`]).
    pub fn set_guard(&self, guard: Arc<dyn Guard>) {
        *self.shared.guard.write().expect(UNPOISONED) = Some(guard);
    }

    /// Opens channels, and says who carries what goes out by them. Once in an engine's life, before a store is taken up: what
    /// waits there for a channel fails where there is none.
    ///
    /// Returns whether it was the first time; nothing has changed otherwise.
    pub fn open_channels(&self, courier: Arc<dyn Courier>, channels: Vec<Channel>) -> bool {
        if self.shared.courier.set(courier).is_err() {
            return false;
        }
        for channel in channels {
            // An operator's word is a fact: it cannot be refused.
            let opened = self.submit(Input::Report(Report::ChannelOpened(channel)));
            debug_assert!(opened.is_ok(), "{opened:?}");
        }
        true
    }

    /// Whether a caller may let something go where this target leads: a session's token only by a channel that is open to
    /// sessions, and what there is beyond these it is not told.
    pub(super) fn admit_target(&self, caller: &Caller, target: Option<&Target>) -> Result<(), Refusal> {
        // Whoever may do everything may also speak for a session; a session's own token is what is metered.
        let (true, Some(Target::Route(route))) = (caller.metered, target) else { return Ok(()) };
        let is_open = self.view(|state| state.channel(&route.channel).is_some_and(|it| it.channel.agents));
        if is_open { Ok(()) } else { Err(Refusal::ChannelNotAllowed { channel: route.channel.clone() }) }
    }

    /// Registers a connected host; sessions are opened on it, or taken over, by the id.
    pub fn attach_host(&self, host: Arc<dyn Host>) -> HostId {
        let host = self.shared.hosts.insert(host);
        // A connection is a fact like its loss: it cannot be refused.
        let attached = self.submit(Input::Report(Report::HostAttached { host }));
        debug_assert!(attached.is_ok(), "{attached:?}");
        host
    }

    /// A connected host is gone: its deliveries in flight fail, what waits stays queued.
    pub fn detach_host(&self, host: HostId) {
        self.shared.hosts.remove(host);
        // The loss of a host cannot be refused; while the engine stops it is as true as ever.
        let lost = self.submit(Input::Report(Report::HostLost { host }));
        debug_assert!(lost.is_ok(), "{lost:?}");
    }

    /// The transcript of a session; `None` if there is no such session or its harness keeps it to itself.
    pub fn transcript(&self, session: &SessionId) -> Option<Transcript> {
        let host = self.view(|state| state.session(session).map(SessionRecord::host))?;
        self.shared.hosts.find(host)?.transcript(session)
    }

    /// Follows the decisions after a cursor; [`Cursor::START`] for all that are kept.
    pub fn subscribe(&self, after: Cursor) -> Subscription {
        Subscription::new(self.clone(), after)
    }

    /// How the store is; `None` where nothing is kept. It waits for nothing.
    pub fn store_health(&self) -> Option<StoreHealth> {
        let store = self.core().keeper.as_ref().map(|keeper| Arc::clone(&keeper.store));
        store.map(|store| store.health())
    }

    /// What has been counted so far, and how many there are of everything now.
    pub fn figures(&self) -> (Figures, Gauges) {
        let core = self.core();
        (core.figures.clone(), core.state.gauges(self.now()))
    }

    /// When the engine must be woken next; `None` while nothing has a deadline.
    pub fn next_wake(&self) -> Option<BootTime> {
        let now = self.now();
        self.view(|state| state.next_wake(now))
    }

    /// What the names of zones mean here.
    pub fn zones(&self) -> &Arc<Zones> {
        &self.shared.zones
    }

    /// One reading of the clocks.
    pub fn now(&self) -> Now {
        self.shared.clock.now()
    }

    /// Fresh random bits.
    pub fn draw(&self) -> Entropy {
        self.shared.entropy.draw()
    }

    /// The engine, to look at: others may look too. A panic meanwhile poisons nothing.
    pub(super) fn core(&self) -> RwLockReadGuard<'_, Core> {
        self.shared.core.read().expect(UNPOISONED)
    }

    /// The engine, to change.
    pub(super) fn core_mut(&self) -> RwLockWriteGuard<'_, Core> {
        self.shared.core.write().expect(UNPOISONED)
    }

    /// Rouses whoever waits for what was applied at `now`.
    pub(super) fn publish(&self, core: &mut Core, now: Now) {
        if core.must_rouse(now) {
            self.shared.alarm.ring();
        }
        if core.listeners.load(Ordering::SeqCst) > 0 {
            self.shared.news.ring();
        }
    }

    /// Waits for news, at most so long; `false` if none came.
    pub(super) fn await_news<'a>(
        &'a self,
        mut core: RwLockWriteGuard<'a, Core>,
        at_most: Duration,
    ) -> (RwLockWriteGuard<'a, Core>, bool) {
        core.listeners.fetch_add(1, Ordering::SeqCst);
        // What was kept before the store's thread could see that somebody listens is news already.
        if core.settle() {
            core.listeners.fetch_sub(1, Ordering::SeqCst);
            return (core, true);
        }
        let before = self.shared.news.rung();
        drop(core);
        let is_news = self.shared.news.wait(before, at_most);
        let core = self.core_mut();
        core.listeners.fetch_sub(1, Ordering::SeqCst);
        (core, is_news)
    }
}
