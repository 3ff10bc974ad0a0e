//! Which conversation an agent's process is in, and who waits for what is due in a session.
//!
//! Hooks of an agent say which conversation its process is in; a tool server that the same process has started asks for it.
//! A waiter is the host of one session for one prompt: a hook of the agent that blocks until something is due, hands it over,
//! and ends. The receipt comes when the agent shows the prompt to another hook, with the conversation that it is about to go
//! into; if that is another one, the prompt is called back.
//!
//! What lives elsewhere: whether an agent has a conversation in a window (`agent_windows.rs`), opening and hosting sessions
//! (`hosting.rs`), the requests (`surface/edn_stream`), and the hooks themselves (`app/hook/report.rs`). Invariants: a process
//! is known by its number and its start, so that a number that is used again is another process. A session has one waiter at
//! most, the newest; none is replaced while a prompt is on its way. A waiter that has handed a prompt over stays the host until
//! the turn of that prompt ends, so that the engine knows whose turn it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::Service;
use super::hosting::HostError;
use super::reach::Reach;
use crate::domain::{
    Actor, Address, AgentKind, Caller, HostId, Op, Refusal, RunId, SessionConfig, SessionId,
};
use crate::engine::{Input, Report, SessionRecord};
use crate::limits;
use crate::runtime::Hosts;

/// A process of this machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AgentProcess {
    /// Its number.
    pub(crate) pid: u32,
    /// When it began, in the words of the operating system.
    pub(crate) started: Box<str>,
}

/// The processes of agents that are known, and the waiters.
#[derive(Default)]
pub(super) struct Agents {
    table: Mutex<Table>,
    /// Held while a waiter takes its place or is sent away, so that the engine and the table name the same one: of two that come
    /// at once, the second sees the first. Taken before the table.
    places: Mutex<()>,
    pub(super) probe: OnceLock<Probe>,
    /// Who is told of sessions that have lost the process of their agent.
    pub(super) left: OnceLock<Sender<SessionId>>,
}

#[derive(Default)]
pub(super) struct Table {
    /// The sessions of each process, and when each was named: the one that was named first goes first.
    pub(super) processes: BTreeMap<(AgentProcess, SessionId), u64>,
    /// Counts what is put into the tables.
    number: u64,
    waiters: BTreeMap<SessionId, Waiter>,
    /// The prompts that were called back before the agent showed them, and their numbers: the oldest goes first.
    called_back: BTreeMap<RunId, u64>,
}

/// A connection that waits for one prompt, or the place of one that has handed its prompt over.
struct Waiter {
    host: HostId,
    /// Who has attached it.
    by: Actor,
    /// The prompt that it has handed over.
    handed: Option<Handed>,
    /// Tells the client that it waits no more.
    let_go: Box<dyn FnOnce() + Send>,
}

impl Waiter {
    /// Whether the agent is in the turn of the prompt that it has handed over.
    fn is_in_turn(&self) -> bool {
        self.handed.as_ref().is_some_and(|handed| handed.is_received)
    }
}

/// A prompt that was handed over.
#[derive(Clone)]
struct Handed {
    run: RunId,
    /// Whether the agent has shown it in the conversation that it is for.
    is_received: bool,
}

/// Where a prompt is that an agent shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// In the conversation that it is for: this is its receipt.
    InPlace,
    /// In another conversation.
    Elsewhere,
    /// Nobody knows of it here.
    Unknown,
}

/// How a session is left at the end of a turn.
pub(crate) struct TurnEnd {
    /// Whether something is on its way into the inbox.
    pub(crate) is_coming: bool,
    /// Whether a waiter has the place.
    pub(crate) is_awaited: bool,
}

/// Says whether a process is there, which only the program can tell.
pub(crate) type Probe = Box<dyn Fn(&AgentProcess) -> bool + Send + Sync>;

impl Agents {
    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        // A panic elsewhere cannot leave it inconsistent: each change is one insert or removal.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps all waiters in their places, until what is returned is dropped.
    fn change_places(&self) -> MutexGuard<'_, ()> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn next(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// Notes that a process is in the conversation of a session, in no other unless it `has_many`. Returns the sessions that have
    /// gained or lost the process.
    fn bind(&mut self, process: AgentProcess, session: &SessionId, has_many: bool) -> Vec<SessionId> {
        // Of the conversations that the process is known to be in: the one that is named now, and all others.
        let sessions = self.processes.keys().filter(|(known, _)| *known == process).map(|(_, of)| of);
        let (same, others): (Vec<&SessionId>, Vec<&SessionId>) = sessions.partition(|of| *of == session);
        let gained = same.is_empty().then_some(session);
        let mut changed: Vec<SessionId> =
            gained.into_iter().chain(others.into_iter().filter(|_| !has_many)).cloned().collect();
        if !has_many {
            // It goes on with this one.
            self.processes.retain(|(known, _), _| *known != process);
        }
        // Counted anew even if the process is known, because the entry that was named first is forgotten first.
        let named = self.next();
        self.processes.insert((process, session.clone()), named);
        if self.processes.len() as u64 > limits::AGENT_PROCESSES_KNOWN.value {
            let oldest = self.processes.iter().min_by_key(|(_, named)| **named);
            if let Some(oldest) = oldest.map(|(process, _)| process.clone()) {
                self.processes.remove(&oldest);
                // Nobody would notice its end.
                changed.push(oldest.1);
            }
        }
        changed
    }

    /// Removes processes. Returns the sessions that have none left.
    pub(super) fn unbind(&mut self, is_gone: impl Fn(&AgentProcess, &SessionId) -> bool) -> Vec<SessionId> {
        let gone = self.processes.extract_if(.., |(process, session), _| is_gone(process, session));
        let sessions: BTreeSet<SessionId> = gone.map(|((_, session), _)| session).collect();
        // Another process may have the conversation open as well. Then the session still has one.
        let has_none = |session: &SessionId| !self.processes.keys().any(|(_, bound)| bound == session);
        sessions.into_iter().filter(has_none).collect()
    }

    /// Notes a prompt that must not be shown any more.
    fn call_back(&mut self, run: RunId) {
        let number = self.next();
        self.called_back.insert(run, number);
        // As many as processes are known: each of them may have one prompt of ours that it has not shown yet.
        if self.called_back.len() as u64 > limits::AGENT_PROCESSES_KNOWN.value {
            let oldest = self.called_back.iter().min_by_key(|(_, number)| **number);
            if let Some(oldest) = oldest.map(|(run, _)| run.clone()) {
                self.called_back.remove(&oldest);
            }
        }
    }
}

impl Service {
    /// Notes which conversation a process is in, and opens the session of the conversation if it is not open. Returns the
    /// session, whose id is the address.
    ///
    /// # Errors
    /// [`HostError`]; the process is in no conversation then.
    pub(crate) fn bind_agent(
        &self,
        caller: &Caller,
        process: &AgentProcess,
        address: Address,
    ) -> Result<SessionId, HostError> {
        let _admitted = self.admit(caller, Op::BindAgent, None)?;
        let has_many = AgentKind::of(address.agent().as_str()).has_many_conversations;
        // The parts of an address are bounded, and their sum may be longer than an id.
        let too_long = |_| Refusal::LimitReached { limit: limits::ID_BYTES };
        let session = SessionId::new(&address.to_string()).map_err(too_long)?;
        // Before the session is open, so that the host of agents does not take it first.
        let changed = self.shared.agents.table().bind(process.clone(), &session, has_many);
        // A new process holds other schedules than the one before it. The process before it may have ended without a word.
        changed.iter().for_each(|session| self.forget_agent_schedules(session));
        changed.iter().filter(|of| **of != session).for_each(|left| self.leave_behind(left, has_many));
        if let Err(error) = self.open_for_agent(caller, &session, address) {
            // No session was opened, so the process must not be found in its conversation.
            let _ = self.shared.agents.table().unbind(|known, of| known == process && *of == session);
            return Err(error);
        }
        if !has_many {
            self.leave_to_window(&session);
        }
        Ok(session)
    }

    /// A session has lost a process. Unless that `has_many`, it has gone on to another conversation, which the waiter of this one
    /// must not wake.
    fn leave_behind(&self, session: &SessionId, has_many: bool) {
        let host = {
            let table = self.shared.agents.table();
            let has_none = !table.processes.keys().any(|(_, bound)| bound == session);
            table.waiters.get(session).filter(|_| has_none && !has_many).map(|waiter| waiter.host)
        };
        if let Some(host) = host {
            self.let_waiter_go(session, host);
        }
        self.tell_left(session);
    }

    /// Opens the session of the conversation at an address, if it is not open.
    fn open_for_agent(
        &self,
        caller: &Caller,
        session: &SessionId,
        address: Address,
    ) -> Result<(), HostError> {
        let is_open = || self.handle().view(|state| state.session(session).is_some());
        if is_open() {
            return Ok(());
        }
        let config = SessionConfig { address: Some(address), ..SessionConfig::default() };
        let by = Some(caller.actor());
        match self.handle().sessions().open_by(Some(session.clone()), HostId::INBOX, config, by) {
            // Another hook of the same process may have been faster.
            Err(refusal) if !is_open() => Err(refusal.into()),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The session of the conversation that a process is in, if a hook has said so and the process has no other.
    ///
    /// # Errors
    /// [`HostError::Denied`]
    pub(crate) fn agent_session(
        &self,
        caller: &Caller,
        process: &AgentProcess,
    ) -> Result<Option<SessionId>, HostError> {
        let _admitted = self.admit(caller, Op::BindAgent, None)?;
        let table = self.shared.agents.table();
        let mut sessions =
            table.processes.keys().filter(|(known, _)| known == process).map(|(_, session)| session);
        let first = sessions.next();
        // With several conversations it is not known which of them the tool server was asked from.
        Ok(first.filter(|_| sessions.next().is_none()).cloned())
    }

    /// Makes a connection the waiter of a session, which is busy or not, in the place of an older one; if that is not said, the
    /// session is as it was, and one that waits already waits on. `attach` makes it a host if it is none yet; `let_go` tells its
    /// client that it waits no more. Returns whether it waits.
    ///
    /// # Errors
    /// [`HostError`]; among others, that a delivery is with the older waiter.
    pub(crate) fn await_delivery(
        &self,
        caller: &Caller,
        reach: &mut Reach,
        (session, busy): (&SessionId, Option<bool>),
        (attach, let_go): (impl FnOnce() -> HostId, Box<dyn FnOnce() + Send>),
    ) -> Result<bool, HostError> {
        let _admitted = self.admit(caller, Op::AttachHost, None)?;
        let _others_wait = self.shared.agents.change_places();
        let waits = |waiter: &Waiter| waiter.handed.is_none();
        // Its place must not be empty for a moment: the session would be idle in it.
        if busy.is_none() && self.shared.agents.table().waiters.get(session).is_some_and(waits) {
            return Ok(false);
        }
        let is_busy =
            || self.handle().view(|state| state.session(session).is_some_and(SessionRecord::is_busy));
        let older = self.shared.agents.table().waiters.get(session).map(|waiter| waiter.host);
        // A waiter that has got a prompt may have woken its agent already.
        let is_with = |host| {
            self.handle().view(|state| {
                let record = state.session(session);
                record.is_some_and(|record| record.host() == host && record.has_delivery_in_flight())
            })
        };
        // Letting the older one go makes the session idle. Without one, the engine sees how it is at the moment of the change.
        let busy = if older.is_some() { Some(busy.unwrap_or_else(is_busy)) } else { busy };
        // In the turn of its prompt, too: that turn must not end before the agent says so.
        let is_in_turn = busy == Some(true) && self.is_in_woken_turn(session);
        if let Some(host) = older.filter(|host| is_in_turn || is_with(*host)) {
            return Err(Refusal::HostedElsewhere { session: session.clone(), host }.into());
        }
        // A new waiter begins between two turns, so that of the older one's prompt is over.
        self.end_woken_turn(session);
        if let Some(older) = older {
            self.let_waiter_go(session, older);
        }
        self.attach(caller, reach, (vec![session.clone()], busy), attach)?;
        let waiter = Waiter { host: reach.host, by: caller.actor(), handed: None, let_go };
        self.shared.agents.table().waiters.insert(session.clone(), waiter);
        Ok(true)
    }

    /// Lets the waiter of a session go, because a process is done with the conversation. The process is forgotten, or every one
    /// of the conversation where none is named; with the last one goes what was said of its own schedules.
    ///
    /// # Errors
    /// [`HostError::Denied`]
    pub(crate) fn release_agent(
        &self,
        caller: &Caller,
        session: &SessionId,
        process: Option<&AgentProcess>,
    ) -> Result<(), HostError> {
        let _admitted = self.admit(caller, Op::BindAgent, None)?;
        let _others_wait = self.shared.agents.change_places();
        let is_done = |known: &AgentProcess| process.is_none_or(|process| known == process);
        let (left, host) = {
            let mut table = self.shared.agents.table();
            let left = table.unbind(|known, bound| bound == session && is_done(known));
            (left, table.waiters.get(session).map(|waiter| waiter.host))
        };
        // Before the waiter goes, so that who follows the session sees both at once.
        left.iter().for_each(|session| self.forget_agent_schedules(session));
        if let Some(host) = host {
            self.let_waiter_go(session, host);
        }
        self.tell_left(session);
        Ok(())
    }

    /// Notes that a waiter has handed a prompt over to its agent. Until the agent shows it, it has no receipt.
    ///
    /// # Errors
    /// [`HostError`]: the waiter was released, and must not wake its agent.
    pub(crate) fn hand_over(
        &self,
        caller: &Caller,
        reach: &Reach,
        session: &SessionId,
        run: RunId,
    ) -> Result<(), HostError> {
        let _admitted = self.admit(caller, Op::Receipt, None)?;
        self.check_delivery(reach, &run)?;
        let mut table = self.shared.agents.table();
        match table.waiters.get_mut(session).filter(|waiter| waiter.host == reach.host) {
            Some(waiter) => waiter.handed = Some(Handed { run, is_received: false }),
            None => return Err(Refusal::UnknownRun { run }.into()),
        }
        Ok(())
    }

    /// Notes that an agent shows a prompt in a conversation, which is the receipt if it is the one that the prompt is for.
    ///
    /// # Errors
    /// [`HostError`]: the caller may not say so, or the receipt comes too late.
    pub(crate) fn show(&self, caller: &Caller, session: &SessionId, run: RunId) -> Result<Shown, HostError> {
        let _admitted = self.admit(caller, Op::BindAgent, None)?;
        {
            let mut table = self.shared.agents.table();
            let is_it = |waiter: &Waiter| waiter.handed.as_ref().is_some_and(|handed| handed.run == run);
            let is_here = table.waiters.get(session).is_some_and(is_it);
            if !is_here {
                let its = table.waiters.iter().find(|(_, waiter)| is_it(waiter));
                let its = its.map(|(of, waiter)| (of.clone(), waiter.host, waiter.is_in_turn()));
                let is_ours = its.is_some() || table.called_back.contains_key(&run);
                drop(table);
                // The agent will not show it there any more. In a turn it has.
                if let Some((of, host, false)) = its {
                    self.let_waiter_go(&of, host);
                }
                return if is_ours { Ok(Shown::Elsewhere) } else { self.show_left(caller, session, run) };
            }
            // It may be in the agent's own queue twice, if it was called back before: the second one stays out.
            if let Some(handed) = table.waiters.get_mut(session).and_then(|waiter| waiter.handed.as_mut()) {
                handed.is_received = true;
            }
        }
        // Without the lock: the engine may call hosts.
        self.handle().submit(Input::Report(Report::Accepted { run }))?;
        // With it the turn of the prompt has begun, unless its end was told meanwhile.
        let busy = |busy| Report::Busy { session: session.clone(), busy, by: Some(caller.actor()) };
        self.handle().submit(Input::Report(busy(true)))?;
        if !self.is_in_woken_turn(session) {
            self.handle().submit(Input::Report(busy(false)))?;
        }
        Ok(Shown::InPlace)
    }

    /// Notes that the turn of a session has ended, a person's or ours. A prompt that the agent has not shown is called back,
    /// unless it stays on its way.
    ///
    /// # Errors
    /// [`HostError`]
    pub(crate) fn end_turn(
        &self,
        caller: &Caller,
        session: &SessionId,
        unshown_stays: bool,
    ) -> Result<TurnEnd, HostError> {
        let _admitted = self.admit(caller, Op::BindAgent, None)?;
        if !unshown_stays || self.is_in_woken_turn(session) {
            self.end_woken_turn(session);
        }
        let by = Some(caller.actor());
        let idle = Report::Busy { session: session.clone(), busy: false, by };
        let is_coming = self.handle().submit_with(Input::Report(idle), |state| {
            let record = state.session(session);
            record.is_some_and(|record| record.host() == HostId::INBOX && record.has_delivery_in_flight())
        })?;
        Ok(TurnEnd { is_coming, is_awaited: self.shared.agents.table().waiters.contains_key(session) })
    }

    /// Whether the agent is in the turn of a prompt that a waiter has handed over.
    fn is_in_woken_turn(&self, session: &SessionId) -> bool {
        self.shared.agents.table().waiters.get(session).is_some_and(Waiter::is_in_turn)
    }

    /// Ends the turn of a prompt that a waiter has handed over; nobody listens then. A prompt that the agent has not shown was
    /// not what the turn was about: it is called back, and waits in the inbox.
    fn end_woken_turn(&self, session: &SessionId) {
        let with_prompt = |waiter: &Waiter| waiter.handed.as_ref().map(|_| waiter.host);
        let host = self.shared.agents.table().waiters.get(session).and_then(with_prompt);
        if let Some(host) = host {
            self.take_out(session, host, Hosts::release);
        }
    }

    /// Lets the waiter of a session go that is this host: a prompt on its way is called back, and what is due from now on is left
    /// in the inbox.
    pub(crate) fn let_waiter_go(&self, session: &SessionId, host: HostId) {
        self.take_out(session, host, Hosts::detach);
    }

    fn take_out<'a>(&'a self, session: &SessionId, host: HostId, leave: impl FnOnce(&Hosts<'a>, HostId)) {
        let waiter = {
            let mut table = self.shared.agents.table();
            let is_this = table.waiters.get(session).is_some_and(|waiter| waiter.host == host);
            let waiter = if is_this { table.waiters.remove(session) } else { None };
            let handed = waiter.as_ref().and_then(|waiter| waiter.handed.clone());
            if let Some(handed) = handed.filter(|handed| !handed.is_received) {
                table.call_back(handed.run);
            }
            waiter
        };
        // Without the lock: the engine may call hosts.
        let Some(waiter) = waiter else { return };
        let shown = waiter.handed.as_ref().filter(|handed| handed.is_received);
        self.queue_again(session, host, shown.map(|handed| &handed.run));
        leave(&self.handle().hosts(), host);
        self.leave_unheard(session, host, waiter.by);
        (waiter.let_go)();
        // Its process may have been missed while the waiter had the session.
        if !self.has_agent_process(session) {
            self.tell_left(session);
        }
    }

    /// Whether the place of a waiter that has ended is kept: its agent is there, and its prompt is on its way or the turn of that
    /// prompt goes on.
    pub(crate) fn is_place_kept(&self, session: &SessionId, host: HostId) -> bool {
        let handed = {
            let table = self.shared.agents.table();
            let waiter = table.waiters.get(session).filter(|waiter| waiter.host == host);
            let Some(handed) = waiter.and_then(|waiter| waiter.handed.clone()) else { return false };
            handed
        };
        // Of a prompt that was never shown the engine has given up the receipt.
        let waits = handed.is_received || self.handle().view(|state| state.is_in_flight(&handed.run));
        waits && self.has_agent_process(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window may show an old prompt late. As long as its process may be known, the prompt is known to be called back.
    #[test]
    fn as_many_prompts_are_known_to_be_called_back_as_processes_are_known() {
        let run = |number: u64| {
            RunId::parse(&format!("sch-{number}~1~2026-06-01T00:00:00Z")).expect("the id of a run")
        };
        let mut table = Table::default();
        let most = limits::AGENT_PROCESSES_KNOWN.value;
        (0..most).for_each(|number| table.call_back(run(number)));
        assert!((0..most).all(|number| table.called_back.contains_key(&run(number))));
        table.call_back(run(most));
        assert_eq!(table.called_back.len() as u64, most);
        assert!(!table.called_back.contains_key(&run(0)), "the oldest goes");
    }
}
