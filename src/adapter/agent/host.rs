//! The host of agents' own conversations: what the engine hands over goes to a process in the conversation, and what happens
//! there is reported.
//!
//! What lives elsewhere: who may have a process (`pool.rs`), and its life (`task.rs`).

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use super::budget::Amount;
use super::exchange::{Found, Input, NotSent, Prompt, Told};
use super::plan::AgentPlan;
use super::pool::{Admission, Pool};
use super::turns::Turns;
use super::{process_end, replay, task};
use crate::domain::{
    Address, BootTime, Failure, Message, Now, Obstacle, Phase, Reason, RunId, SessionConfig, SessionId, Span,
    Transcript, Turn, TurnOutcome,
};
use crate::engine::{Delivery, Opening, QuestionAnswer, Report};
use crate::port::{Clock, Holder, Host, HostAnswer, Prober};

/// Where the host reports what happens. A refusal is no error: the engine's record stands.
pub trait Reports: Send + Sync {
    /// Reports this to the engine.
    fn report(&self, report: Report);

    /// Says that a turn has gone on, to those who follow it.
    fn turned(&self);

    /// Says that the conversation of a session can be reached. Returns false if the session is gone, or another host has it.
    fn reach(&self, session: &SessionId) -> bool;
}

/// The host of agents' conversations.
pub struct AgentHost {
    inner: Arc<Inner>,
    /// `None` once the host is being dropped.
    runtime: Option<Runtime>,
}

/// What the host and its tasks share.
pub(super) struct Inner {
    pool: Mutex<Pool>,
    inboxes: Mutex<BTreeMap<SessionId, mpsc::Sender<Input>>>,
    turns: Mutex<Turns>,
    clock: Arc<dyn Clock>,
    pub(super) prober: Arc<dyn Prober>,
    reports: Arc<dyn Reports>,
    /// The alarms have changed.
    changed: Notify,
    handle: tokio::runtime::Handle,
}

impl AgentHost {
    /// Starts a host for these agents.
    ///
    /// # Errors
    /// The error of the operating system if it cannot start a thread.
    pub fn start(
        plans: Vec<AgentPlan>,
        clock: Arc<dyn Clock>,
        prober: Arc<dyn Prober>,
        reports: Arc<dyn Reports>,
    ) -> io::Result<AgentHost> {
        // One thread is enough: tasks wait for processes, they do not compute.
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("reveille-agents")
            .enable_all()
            .build()?;
        let inner = Arc::new(Inner {
            pool: Mutex::new(Pool::new(plans)),
            inboxes: Mutex::default(),
            turns: Mutex::default(),
            clock,
            prober,
            reports,
            changed: Notify::new(),
            handle: runtime.handle().clone(),
        });
        runtime.spawn(Arc::clone(&inner).ring());
        Ok(AgentHost { inner, runtime: Some(runtime) })
    }

    /// Takes in a session whose conversation may be gone on with. Returns whether its agent is configured.
    pub fn adopt(&self, session: &SessionId, address: &Address) -> bool {
        self.inner.pool().adopt(session, address)
    }

    /// Reports that a session cannot be reached if the program of its agent is not there, and looks for the program from then on.
    pub fn look_for_program(&self, session: &SessionId) {
        let Some((plan, _)) = self.inner.plan_of(session).filter(|(plan, _)| !plan.is_installed()) else {
            return;
        };
        self.inner.pool().waits_for(session, Reason::AgentMissing);
        self.inner.report(Report::Away { session: session.clone(), reason: Reason::AgentMissing });
        self.inner.look_again(session, self.inner.now().boot.after(plan.missing_wait()));
    }

    /// Finds out what the conversation of a session shows of a run that an earlier process handed over, reports it, and says
    /// then that the conversation can be reached.
    pub fn recover(&self, session: SessionId, run: RunId) {
        self.inner.handle.spawn(task::recover(Arc::clone(&self.inner), session, run));
    }
}

impl Drop for AgentHost {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Host for AgentHost {
    fn opened(&self, session: &SessionId, config: &SessionConfig) {
        if let Some(address) = &config.address {
            self.adopt(session, address);
        }
    }

    fn create(&self, opening: &Opening) -> HostAnswer {
        match &opening.config.address {
            // The agent begins the conversation with the first prompt.
            Some(address) if self.adopt(&opening.session, address) => HostAnswer::Done,
            Some(_) | None => failed(Phase::CreateSession, Reason::AgentMissing, Reason::AgentMissing.doc()),
        }
    }

    fn deliver(&self, delivery: &Delivery) -> HostAnswer {
        let begins_turn = delivery.message.provenance.as_ref().is_none_or(|it| it.begins_turn);
        if !begins_turn {
            let text = "an agent's conversation takes prompts, and no notices";
            return failed(Phase::PromptSubmit, Reason::HostRefused, text);
        }
        let prompt = Prompt { run: delivery.run.clone(), text: marked(&delivery.message, &delivery.run) };
        self.inner.hand_over(&delivery.session, prompt);
        HostAnswer::Later
    }

    /// Does nothing, because the agent owns the transcript.
    fn record(&self, _session: &SessionId, _message: &Message) {}

    fn forget(&self, session: &SessionId) {
        self.inner.pool().forget(session);
        self.inner.end_process(session);
        // A place that was kept for it is free, and others may wait.
        self.inner.call_waiting();
    }

    fn transcript(&self, _session: &SessionId) -> Option<Transcript> {
        None
    }

    fn turn(&self, run: &RunId) -> Option<Arc<Turn>> {
        self.inner.turns().of(run)
    }

    fn asking(&self) -> Vec<RunId> {
        self.inner.turns().asking()
    }

    fn obstacle(&self, session: &SessionId) -> Option<Obstacle> {
        self.inner.pool().obstacle(session)
    }

    fn answer_question(&self, answer: &QuestionAnswer) {
        let inbox = self.inner.inboxes().get(&answer.session).cloned();
        if let Some(inbox) = inbox {
            // If it is full, the question still waits, and is shown to wait.
            let _ = inbox.try_send(Input::Decided(Box::new(answer.clone())));
        }
    }
}

/// Returns the prompt: the message and a mark with the run's id, by which the prompt is found in the conversation. A text that
/// already has the mark is returned unchanged.
fn marked(message: &Message, run: &RunId) -> Box<str> {
    let (text, run) = (message.text(), run.brief());
    if replay::marks(&text, &run).next().is_some() {
        return text.into();
    }
    format!("{text}\n\n[Scheduled in Reveille, and not typed by a person now. Run {run}.]").into()
}

fn failed(phase: Phase, reason: Reason, text: &str) -> HostAnswer {
    HostAnswer::Failed(Failure::new(phase, reason, text))
}

impl Inner {
    pub(super) fn now(&self) -> Now {
        self.clock.now()
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        // A panic elsewhere leaves it whole: each change is one call.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inboxes(&self) -> MutexGuard<'_, BTreeMap<SessionId, mpsc::Sender<Input>>> {
        self.inboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a prompt to the process in the conversation, starts one, or lets the run wait.
    fn hand_over(self: &Arc<Self>, session: &SessionId, prompt: Prompt) {
        let admission = self.pool().admit(session, self.now().boot);
        // The admission may have set an alarm, for which `ring` has to wait.
        self.changed.notify_one();
        match admission {
            Admission::Running => {
                let inbox = self.inboxes().get(session).cloned();
                let sent = inbox.is_some_and(|inbox| inbox.try_send(Input::Prompt(prompt.clone())).is_ok());
                // The process is ending, or does not read. The run waits, and is handed over again.
                if !sent {
                    self.unreached(session, prompt.run, Reason::HostBusy);
                    let soon = self.now().boot.after(Span::from_millis(SOON_MS));
                    self.look_again(session, soon);
                }
            }
            Admission::Start(plan, address) => {
                let (inbox, inputs) = mpsc::channel(INBOX);
                self.inboxes().insert(session.clone(), inbox);
                let start = task::Start { session: session.clone(), plan, address };
                self.handle.spawn(task::serve(Arc::clone(self), start, prompt, inputs));
            }
            Admission::Waits(reason, leaves) => {
                self.unreached(session, prompt.run, reason);
                if let Some(leaves) = leaves {
                    self.end_process(&leaves);
                }
                // A place that was kept for this session may be free now, and others wait.
                self.call_waiting();
            }
            Admission::Unknown => {
                let failure =
                    Failure::new(Phase::PromptSubmit, Reason::AgentMissing, Reason::AgentMissing.doc());
                self.report(Report::Failed { run: prompt.run, failure });
            }
        }
    }

    pub(super) fn unreached(&self, session: &SessionId, run: RunId, reason: Reason) {
        self.pool().waits_for(session, reason);
        self.report(Report::Unreached { run, reason });
    }

    /// Notes who has the conversation of a session open.
    pub(super) fn note_holder(&self, session: &SessionId, holder: Holder) {
        self.pool().note_holder(session, holder);
    }

    /// Looks at a session again after a while, or as soon as the process ends that has its conversation open.
    pub(super) fn look_when_free(self: &Arc<Self>, session: &SessionId, wait: Span) {
        self.look_again(session, self.now().boot.after(wait));
        let Some(holder) = self.pool().process_of_holder(session) else { return };
        let (inner, session) = (Arc::clone(self), session.clone());
        let wait = Duration::from_nanos(wait.nanos());
        self.handle.spawn(async move {
            if timeout(wait, process_end::of(holder)).await.is_ok() {
                inner.pool().look_now(&session, inner.now().boot);
                inner.changed.notify_one();
            }
        });
    }

    /// Returns whether a session could not be reached for this reason last.
    pub(super) fn waits_on(&self, session: &SessionId, reason: Reason) -> bool {
        self.pool().waits_on(session, reason)
    }

    fn report(&self, report: Report) {
        self.reports.report(report);
    }

    /// Ends the process of a session, after its turn was cancelled.
    fn end_process(&self, session: &SessionId) {
        if let Some(inbox) = self.inboxes().remove(session) {
            // If it is full, the closed channel says so too.
            let _ = inbox.try_send(Input::LetGo);
        }
    }

    pub(super) fn look_again(&self, session: &SessionId, at: BootTime) {
        self.pool().look_again(session, at);
        self.changed.notify_one();
    }

    pub(super) fn plan_of(&self, session: &SessionId) -> Option<(Arc<AgentPlan>, Address)> {
        let pool = self.pool();
        let address = pool.address(session)?;
        Some((pool.plan(&address)?, address))
    }

    pub(super) fn address(&self, session: &SessionId) -> Option<Address> {
        self.pool().address(session)
    }

    /// Ends the process that another session has in the conversation of this one, if nothing goes on there. Returns whether there
    /// was such a process.
    pub(super) fn make_way_beside(&self, session: &SessionId) -> bool {
        let beside = self.pool().make_way(session);
        if let Some(Some(leaves)) = &beside {
            self.end_process(leaves);
        }
        beside.is_some()
    }

    pub(super) fn place_for_look(&self, session: &SessionId) -> Option<task::Start> {
        if self.make_way_beside(session) {
            return None;
        }
        let (plan, address) = self.pool().place_for_look(session)?;
        Some(task::Start { session: session.clone(), plan, address })
    }

    /// A start failed in this way: nothing is started until the time that is returned.
    pub(super) fn start_failed(&self, address: &Address, reason: Reason, text: &str) -> BootTime {
        tracing_note(reason, address);
        self.pool().failed(address, reason, text, self.now().boot)
    }

    /// The process of a session is gone: the session that waits longest may have its place.
    pub(super) fn process_ended(self: &Arc<Self>, session: &SessionId) {
        self.inboxes().remove(session);
        self.pool().leave(session);
        self.call_waiting();
    }

    /// Calls the sessions that wait for a place, while there are free ones.
    fn call_waiting(&self) {
        loop {
            // Each call keeps a place for its session, so this ends when no place is free.
            let called = self.pool().call(self.now().boot);
            self.changed.notify_one();
            let Some(session) = called else { return };
            self.reports.reach(&session);
        }
    }

    pub(super) fn reach(&self, session: &SessionId) {
        self.reports.reach(session);
    }

    /// Reports what a process told.
    pub(super) fn told(&self, session: &SessionId, told: Told) {
        let now = self.now();
        match told {
            Told::Address(address) => {
                self.pool().readdress(session, &address, now.boot);
                self.report(Report::Addressed { session: session.clone(), address });
            }
            Told::Open => {
                if let Some(address) = self.address(session) {
                    self.pool().worked(&address);
                }
            }
            Told::NotSent(run, NotSent::Waits(reason, text)) => {
                // The turn that was reserved for the prompt has not begun.
                self.pool().release(session);
                self.waits(session, run, reason, &text);
            }
            Told::NotSent(run, NotSent::Fails(reason, text)) | Told::Failed(run, reason, text) => {
                let failure = Failure::new(Phase::PromptSubmit, reason, text);
                self.report(Report::Failed { run, failure });
            }
            Told::Began(_) => {
                self.pool().began(session, now.boot);
                self.report(Report::Busy { session: session.clone(), busy: true, by: None });
            }
            Told::Receipt(run) => self.report(Report::Accepted { run }),
            // `task.rs` keeps this back, and looks into the conversation first.
            Told::Doubt(_) => {}
            Told::Found(run, found) => self.found(run, found),
            Told::Turn(turn) => {
                let (is_over, cost) = (turn.outcome.is_some(), Amount::told(&turn.usage));
                self.turns().keep(*turn);
                self.reports.turned();
                if is_over {
                    let leaves = self.pool().ended(session, cost, now.boot);
                    self.report(Report::Busy { session: session.clone(), busy: false, by: None });
                    if leaves {
                        self.end_process(session);
                    }
                }
            }
        }
    }

    fn waits(&self, session: &SessionId, run: RunId, reason: Reason, text: &str) {
        let at = match (self.address(session), reason) {
            (Some(address), Reason::AgentBroken | Reason::AgentMissing | Reason::NotAuthenticated) => {
                self.start_failed(&address, reason, text)
            }
            // Asking the agent again takes a process and a few facts in the log.
            (Some(address), Reason::HeldElsewhere) => self.pool().refused_until(&address, self.now().boot),
            (_, _) => self.now().boot.after(Span::from_millis(SOON_MS)),
        };
        self.unreached(session, run, reason);
        self.look_again(session, at);
    }

    /// Reports what the conversation shows of a run whose receipt is outstanding.
    fn found(&self, run: RunId, found: Found) {
        let (reason, text) = match found {
            Found::Answered => {
                let turn = self.turns().of(&run).map(|turn| Turn::clone(&turn));
                if let Some(turn) = turn {
                    self.turns().keep(Turn { outcome: Some(TurnOutcome::Recovered), ..turn });
                }
                return self.report(Report::Accepted { run });
            }
            Found::Unanswered => (Reason::TurnLost, Reason::TurnLost.doc()),
            Found::Nothing => (Reason::HostRefused, "the agent's process ended before it had the prompt"),
            Found::Unknown => (Reason::OutcomeUnknown, Reason::OutcomeUnknown.doc()),
        };
        let failure = Failure::new(Phase::PromptSubmit, reason, text);
        self.report(Report::Failed { run, failure });
    }

    /// Looks at sessions again when it is time.
    async fn ring(self: Arc<Self>) {
        loop {
            let next = self.pool().next_alarm();
            let wait = next.map_or(LONG, |at| Duration::from_nanos(at.since(self.now().boot).nanos()));
            let changed = timeout(wait, self.changed.notified()).await.is_ok();
            // Only the alarms have changed, so the wait is computed anew.
            if changed && next.is_none_or(|at| at > self.now().boot) {
                continue;
            }
            let due = self.pool().due(self.now().boot);
            for session in due {
                self.handle.spawn(task::knock(Arc::clone(&self), session));
            }
            // Places that were kept in vain are free now.
            self.call_waiting();
        }
    }
}

#[cfg(feature = "http")]
fn tracing_note(reason: Reason, address: &Address) {
    let (reason, agent) = (reason.name(), address.agent().as_str());
    tracing::warn!(target: "reveille", agent, reason, "an agent was not started");
}

#[cfg(not(feature = "http"))]
fn tracing_note(_reason: Reason, _address: &Address) {}

/// Inputs that wait for one process.
const INBOX: usize = 16;
/// How long a session waits whose process was about to end.
const SOON_MS: u64 = 200;
/// How long nothing happens if there is no alarm.
const LONG: Duration = Duration::from_secs(3_600);
