//! Which conversation an agent's process is in, and who waits for what is due in a session.
//!
//! Hooks of an agent say which conversation its process is in; a tool server that the same process has started asks for it.
//! A waiter is the host of one session for one delivery: a hook of the agent that blocks until something is due.
//!
//! What lives elsewhere: opening and hosting sessions (`hosting.rs`), the requests (`surface/edn_stream`), and the hooks
//! themselves (`app/hook/report.rs`). Invariants: a process is known by its number and its start, so that a number that is used
//! again is another process. A session has one waiter at most, the newest; none is replaced while a delivery is with it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Service;
use super::hosting::HostError;
use super::reach::Reach;
use crate::domain::{Address, Caller, HostId, Op, Refusal, SessionConfig, SessionId};
use crate::engine::{Command, Input, SessionRecord};
use crate::limits;

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
}

#[derive(Default)]
struct Table {
    /// The session of each process, and when it was named: the one that was named first goes first.
    processes: BTreeMap<AgentProcess, (SessionId, u64)>,
    named: u64,
    waiters: BTreeMap<SessionId, Waiter>,
}

/// A connection that waits for one delivery.
struct Waiter {
    host: HostId,
    /// Tells the client that it waits no more.
    let_go: Box<dyn FnOnce() + Send>,
}

impl Agents {
    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic elsewhere cannot leave it inconsistent: each change is one insert or removal.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Notes which conversation a process is in, and opens the session of the conversation if it is not open. Returns the
    /// session, whose id is the address.
    ///
    /// # Errors
    /// [`HostError`]; nothing has changed then.
    pub(crate) fn bind_agent(
        &self,
        caller: &Caller,
        process: AgentProcess,
        address: Address,
    ) -> Result<SessionId, HostError> {
        let _admitted = self.admit(caller, Op::BindAgent, None)?;
        let session = self.open_for_agent(caller, address)?;
        let mut table = self.shared.agents.table();
        table.named += 1;
        let named = table.named;
        table.processes.insert(process, (session.clone(), named));
        if table.processes.len() as u64 > limits::AGENT_PROCESSES_KNOWN.value {
            let oldest = table.processes.iter().min_by_key(|(_, (_, named))| *named);
            if let Some(oldest) = oldest.map(|(process, _)| process.clone()) {
                table.processes.remove(&oldest);
            }
        }
        Ok(session)
    }

    /// The session of the conversation at an address, opened if it is not open.
    fn open_for_agent(&self, caller: &Caller, address: Address) -> Result<SessionId, HostError> {
        let text = address.to_string();
        // The parts of an address are bounded, and their sum may be longer than an id.
        let too_long = |_| Refusal::LimitReached { limit: limits::ID_BYTES };
        let session = SessionId::new(&text).map_err(too_long)?;
        let is_open = || self.handle().view(|state| state.session(&session).is_some());
        if !is_open() {
            let config = SessionConfig { address: Some(address), ..SessionConfig::default() };
            let by = Some(caller.actor());
            let opened = self.handle().open_session_by(Some(session.clone()), HostId::INBOX, config, by);
            // Another hook of the same process may have been faster.
            if let Err(refusal) = opened
                && !is_open()
            {
                return Err(refusal.into());
            }
        }
        Ok(session)
    }

    /// The session of the conversation that a process is in, if a hook has said so.
    ///
    /// # Errors
    /// [`HostError::Denied`]
    pub(crate) fn agent_session(
        &self,
        caller: &Caller,
        process: &AgentProcess,
    ) -> Result<Option<SessionId>, HostError> {
        let _admitted = self.admit(caller, Op::BindAgent, None)?;
        Ok(self.shared.agents.table().processes.get(process).map(|(session, _)| session.clone()))
    }

    /// Makes a connection the waiter of a session, in the place of an older one. `attach` makes it a host if it is none yet;
    /// `let_go` tells its client that it waits no more.
    ///
    /// # Errors
    /// [`HostError`]; among others, that a delivery is with the older waiter.
    pub(crate) fn await_delivery(
        &self,
        caller: &Caller,
        reach: &mut Reach,
        session: &SessionId,
        (attach, let_go): (impl FnOnce() -> HostId, Box<dyn FnOnce() + Send>),
    ) -> Result<(), HostError> {
        let _admitted = self.admit(caller, Op::AttachHost, None)?;
        let older = self.shared.agents.table().waiters.get(session).map(|waiter| waiter.host);
        // A waiter that has got a delivery may have woken its agent already.
        let is_with = |host| {
            self.handle().view(|state| {
                let record = state.session(session);
                record.is_some_and(|record| record.host() == host && record.has_delivery_in_flight())
            })
        };
        if let Some(host) = older.filter(|host| is_with(*host)) {
            return Err(Refusal::HostedElsewhere { session: session.clone(), host }.into());
        }
        if let Some(older) = older {
            self.let_waiter_go(session, older);
        }
        self.attach(caller, reach, vec![session.clone()], attach)?;
        let waiter = Waiter { host: reach.host, let_go };
        self.shared.agents.table().waiters.insert(session.clone(), waiter);
        Ok(())
    }

    /// Lets the waiter of a session go: the conversation is over, or in another session now. Its process is forgotten.
    ///
    /// # Errors
    /// [`HostError::Denied`]
    pub(crate) fn release_agent(&self, caller: &Caller, session: &SessionId) -> Result<(), HostError> {
        let _admitted = self.admit(caller, Op::BindAgent, None)?;
        let host = {
            let mut table = self.shared.agents.table();
            table.processes.retain(|_, (bound, _)| bound != session);
            table.waiters.get(session).map(|waiter| waiter.host)
        };
        if let Some(host) = host {
            self.let_waiter_go(session, host);
        }
        Ok(())
    }

    /// Ends the wait of this host: a delivery that is with it is lost, and what is due from now on is left in the inbox.
    pub(crate) fn let_waiter_go(&self, session: &SessionId, host: HostId) {
        let waiter = {
            let mut table = self.shared.agents.table();
            let is_this = table.waiters.get(session).is_some_and(|waiter| waiter.host == host);
            if is_this { table.waiters.remove(session) } else { None }
        };
        // Without the lock: the engine may call hosts.
        let Some(waiter) = waiter else { return };
        self.handle().detach_host(host);
        // Nobody listens again. A session that another host has taken over meanwhile, or that was closed, stays as it is.
        let is_gone = |record: &SessionRecord| record.host() == host;
        if self.handle().view(|state| state.session(session).is_some_and(is_gone)) {
            let sessions = vec![session.clone()];
            let back = Command::HostSessions { host: HostId::INBOX, sessions, by: None };
            let _ = self.handle().submit(Input::Command(back));
        }
        (waiter.let_go)();
    }
}
