//! The running host of agents: sessions with an address go to it, unless somebody else has the session or a window has its
//! conversation.
//!
//! What lives elsewhere: the agents of the configuration file (`config/agent_hosts.rs`), the host itself (`adapter/agent`), and
//! which windows there are (`service/agent_windows.rs`).

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::adapter::ClockOs;
use crate::adapter::agent::{AgentHost, AgentPlan, ListedHolders, Reports};
use crate::app::config::agent_hosts::Agents;
use crate::domain::{
    Address, DecisionKind, Failure, HolderProcess, HostId, Phase, Reason, RunId, RunState, SessionId,
};
use crate::engine::{Command, Input, Report, SessionRecord, State};
use crate::port::{Holder, Prober};
use crate::runtime::{Handle, Subscription};
use crate::service::Service;

/// Reports of the host, as inputs of the engine.
struct ToEngine(Handle);

impl Reports for ToEngine {
    fn report(&self, report: Report) {
        // Refused if the run has ended meanwhile: the engine's record stands. Not awaited, because the thread of the agents
        // must not wait for a disk.
        let _ = self.0.submit_unawaited(Input::Report(report));
    }

    fn turned(&self) {
        self.0.hosts().tell_followers();
    }

    fn reach(&self, session: &SessionId) -> bool {
        let sessions = vec![session.clone()];
        let reached = Command::HostSessions { host: HostId::AGENTS, sessions, busy: Some(false), by: None };
        self.0.submit_unawaited(Input::Command(reached)).is_ok()
    }
}

/// Who holds a conversation: a window whose hooks have said so, or whom the agent names.
struct Holders {
    service: Service,
    listed: ListedHolders,
}

impl Prober for Holders {
    fn holder(&self, address: &Address, ours: &dyn Fn(u32) -> bool) -> Holder {
        let window = || self.window(address, ours).map(Holder::Other);
        // The list of the agent takes its time, in which a window may have said that it is there.
        window().unwrap_or_else(|| {
            let listed = self.listed.holder(address, ours);
            window().unwrap_or(listed)
        })
    }

    fn window(&self, address: &Address, ours: &dyn Fn(u32) -> bool) -> Option<HolderProcess> {
        let window = self.service.window_at(address).filter(|window| !ours(window.pid))?;
        Some(HolderProcess { pid: Some(window.pid), busy: false })
    }
}

/// The running host of agents.
pub(super) struct HostedAgents {
    host: Arc<AgentHost>,
    service: Service,
    /// The sessions in whose conversations runs of an earlier process are looked for.
    looked_for: BTreeSet<SessionId>,
    /// Whether any agent is configured.
    is_any: bool,
}

impl HostedAgents {
    /// Starts the host of the agents, before a store is loaded.
    ///
    /// # Errors
    /// The error of the operating system if it cannot start a thread.
    pub(super) fn start(agents: Agents, service: &Service) -> io::Result<HostedAgents> {
        let (service, handle) = (service.clone(), service.handle());
        let agents = agents.into_plans();
        let listed = ListedHolders::new(agents.iter().map(|(plan, lister)| (plan, lister.clone())));
        let prober = Arc::new(Holders { service: service.clone(), listed });
        let plans: Vec<AgentPlan> = agents.into_iter().map(|(plan, _)| plan).collect();
        for plan in &plans {
            let (name, program) = (plan.name.as_str(), plan.command.first().map_or("", String::as_str));
            tracing::info!(target: "reveille", name, program, "agent configured");
        }
        let is_any = !plans.is_empty();
        let reports = Arc::new(ToEngine(handle.clone()));
        let host = Arc::new(AgentHost::start(plans, Arc::new(ClockOs), prober, reports)?);
        if is_any {
            handle.hosts().attach_agents(Arc::<AgentHost>::clone(&host));
        }
        Ok(HostedAgents { host, service, looked_for: BTreeSet::new(), is_any })
    }

    fn handle(&self) -> &Handle {
        self.service.handle()
    }

    /// Takes over the sessions that nobody else has, now and as they come. A store has been loaded before.
    ///
    /// # Errors
    /// The error of the operating system if it cannot start a thread.
    pub(super) fn follow(mut self) -> io::Result<()> {
        let decisions = self.handle().subscribe(self.handle().view(State::cursor));
        // The host says itself that these can be reached, once it knows what became of their runs.
        self.looked_for = self.recover();
        if !self.is_any {
            self.leave_unhosted();
            // Nothing will ever be taken over. A thread that waits for it would be woken by every step of the engine.
            return Ok(());
        }
        self.take_all();
        // What is still nobody's has an agent that is not configured.
        self.leave_unhosted();
        let left = self.service.sessions_left_by_agents();
        // Two threads, because either waits: for what the engine decides, and for what becomes of windows.
        let (feed, windows) = (Arc::new(self), "reveille-windows");
        let follower = Arc::clone(&feed);
        std::thread::Builder::new().name(windows.into()).spawn(move || follower.watch_windows(&left))?;
        std::thread::Builder::new()
            .name("reveille-agents-feed".into())
            .spawn(move || feed.watch(decisions))?;
        Ok(())
    }

    /// Runs that an earlier process handed over: their conversations show whether the prompt got there. Returns the sessions.
    fn recover(&self) -> BTreeSet<SessionId> {
        let out = self.handle().view(|state| {
            let runs = state.schedules().into_iter().flat_map(|schedule| state.runs_of(schedule));
            let ours = runs.filter(|(_, run)| {
                run.run().state == RunState::InFlight && run.run().host == Some(HostId::AGENTS)
            });
            let named = ours.filter_map(|(_, run)| {
                let session = run.run().session.clone()?;
                let address = state.session(&session).and_then(address_of);
                Some((state.run_id(run)?, session, address))
            });
            named.collect::<Vec<_>>()
        });
        let mut looked_for = BTreeSet::new();
        for (run, session, address) in out {
            match address {
                Some(address) if address.conversation().is_some() && self.host.adopt(&session, &address) => {
                    looked_for.insert(session.clone());
                    self.host.recover(session, run);
                }
                Some(_) | None => self.give_up(run),
            }
        }
        looked_for
    }

    /// Nobody can say whether the prompt of a run arrived.
    fn give_up(&self, run: RunId) {
        let reason = Reason::OutcomeUnknown;
        let failure = Failure::new(Phase::PromptSubmit, reason, reason.doc());
        // Refused if the run has ended meanwhile.
        let _ = self.handle().submit(Input::Report(Report::Failed { run, failure }));
    }

    fn take_all(&self) {
        let free = self.handle().view(|state| {
            let sessions = state.sessions().into_iter().filter(|session| is_free(session));
            sessions.map(|session| session.id().clone()).collect::<Vec<_>>()
        });
        let free = free.iter().filter(|session| !self.looked_for.contains(*session));
        free.for_each(|session| self.take(session));
    }

    /// Sessions whose host was a waiter of an earlier process: nobody comes back for what it handed over. It is left for the
    /// hooks of the window, or for who attaches next.
    fn leave_unhosted(&self) {
        let unhosted = self.handle().view(|state| {
            let sessions = state.sessions().into_iter();
            let unhosted = sessions.filter(|session| is_free(session) && session.host() != HostId::INBOX);
            // Waiters have only sessions that are named as the conversation is. A harness comes back for its own.
            let is_waiters = |session: &&SessionRecord| {
                address_of(session).is_some_and(|address| session.id().as_str() == address.to_string())
            };
            let unhosted = unhosted.filter(is_waiters);
            unhosted.map(|session| session.id().clone()).collect::<Vec<_>>()
        });
        let unhosted = unhosted.iter().filter(|session| !self.looked_for.contains(*session));
        unhosted.for_each(|session| self.service.leave_in_inbox(session));
    }

    /// Takes over a session, if it has an address whose agent is configured, nobody else has it, and no window has its
    /// conversation: what is due is left for that one's hooks, or for its waiter.
    fn take(&self, session: &SessionId) {
        let address = self.handle().view(|state| {
            let record = state.session(session).filter(|record| is_free(record))?;
            address_of(record)
        });
        let Some(address) = address.filter(|address| !self.is_in_window(session, address)) else { return };
        if !self.host.adopt(session, &address) {
            return;
        }
        // Refused if a harness has taken it meanwhile, which is as well.
        let _ = self.handle().submit(Input::Command(Command::HostSessions {
            host: HostId::AGENTS,
            sessions: vec![session.clone()],
            busy: Some(false),
            by: None,
        }));
        // A window that has come meanwhile has not seen whose the session is.
        if self.is_in_window(session, &address) {
            self.service.leave_to_window(session);
        } else {
            self.host.look_for_program(session);
        }
    }

    /// Whether hooks take what is due in a session. They know it by the name of its conversation.
    fn is_in_window(&self, session: &SessionId, address: &Address) -> bool {
        // A session of another name is the host's: its prober finds the window, and the run waits.
        session.as_str() == address.to_string() && self.service.window_at(address).is_some()
    }

    /// Takes over the sessions whose windows have ended.
    fn watch_windows(&self, left: &Receiver<SessionId>) {
        loop {
            match left.recv_timeout(LOOK_EVERY) {
                Ok(session) => self.take(&session),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            // A window that is killed says nothing. After a word of another one, too: there may be many.
            self.service.look_for_agents();
        }
    }

    /// Gives a session back for whose conversation a window was found.
    fn give_back(&self, session: &SessionId) {
        let address = self.handle().view(|state| state.session(session).and_then(address_of));
        if address.is_some_and(|address| self.is_in_window(session, &address)) {
            self.service.leave_to_window(session);
        }
    }

    /// Gives back what [`HostedAgents::give_back`] would have, had it seen the decisions.
    fn give_all_back(&self) {
        let away = self.handle().view(|state| {
            let sessions = state.sessions().into_iter();
            let away = sessions.filter(|session| session.away() == Some(Reason::HeldElsewhere));
            away.map(|session| session.id().clone()).collect::<Vec<_>>()
        });
        away.iter().for_each(|session| self.give_back(session));
    }

    fn watch(&self, mut decisions: Subscription) {
        while let Some(batch) = decisions.next_batch(BATCH) {
            if batch.truncated {
                self.take_all();
                self.give_all_back();
            }
            for decision in batch.decisions {
                let Some(session) = &decision.session else { continue };
                match (decision.kind, decision.reason) {
                    (DecisionKind::SessionOpened, _)
                    | (DecisionKind::SessionUnhosted, Some(Reason::HostLost)) => self.take(session),
                    // A session that is away for another reason than a lost host is ours.
                    (DecisionKind::SessionUnhosted, Some(Reason::HeldElsewhere)) => self.give_back(session),
                    (_, _) => {}
                }
            }
        }
    }
}

/// Whether nobody has a session that has an address.
fn is_free(session: &SessionRecord) -> bool {
    let is_nobodys = session.host() == HostId::INBOX || !session.is_hosted() && session.away().is_none();
    is_nobodys && session.config().address.is_some()
}

fn address_of(session: &SessionRecord) -> Option<Address> {
    session.config().address.clone()
}

/// Decisions that are read at a time.
const BATCH: usize = 256;
/// How long a window may be gone without a word before its session is taken over.
const LOOK_EVERY: Duration = Duration::from_secs(2);
