//! A consistent snapshot of the engine: everything that is read through it is of one moment.

use std::collections::VecDeque;
use std::sync::Arc;

use super::core::Core;
use super::counters::Counters;
use super::host_table::HostTable;
use super::sync::RwLockReadGuard;
use crate::domain::{Decision, HostId, Moment, Obstacle, RunId, Transcript, Turn};
use crate::engine::{SessionRecord, State};
use crate::port::Store;

/// The engine, locked for reading. Other readers share the lock; writers wait for it, so drop it soon.
pub(crate) struct Reading<'a> {
    core: RwLockReadGuard<'a, Core>,
    hosts: &'a HostTable,
    started_at: Moment,
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        core: RwLockReadGuard<'a, Core>,
        hosts: &'a HostTable,
        started_at: Moment,
    ) -> Reading<'a> {
        Reading { core, hosts, started_at }
    }

    /// When this life of the engine began, on the wall clock.
    pub(crate) fn started_at(&self) -> Moment {
        self.started_at
    }

    pub(crate) fn state(&self) -> &State {
        &self.core.state
    }

    /// The retained decisions, oldest first.
    pub(crate) fn decisions(&self) -> &VecDeque<Decision> {
        self.core.feed.decisions()
    }

    /// How many of them, from the first on, earlier processes made: those of durable schedules only.
    pub(crate) fn earlier_decisions(&self) -> usize {
        self.core.feed.earlier()
    }

    /// The attached store, for reads without the engine's lock.
    pub(crate) fn store(&self) -> Option<Arc<dyn Store>> {
        self.core.store()
    }

    /// Whether durable work is taken: there is a store, or memory stands for one.
    pub(crate) fn takes_durable(&self) -> bool {
        self.core.takes_durable()
    }

    /// A session's transcript; `None` if its host does not share it.
    pub(crate) fn transcript(&self, session: &SessionRecord) -> Option<Transcript> {
        self.hosts.find(session.host())?.transcript(session.id())
    }

    /// The size of a session's transcript; 0 if its host does not share it.
    pub(crate) fn transcript_bytes(&self, session: &SessionRecord) -> u64 {
        let host = self.hosts.find(session.host());
        host.and_then(|host| host.transcript_bytes(session.id())).unwrap_or(0)
    }

    /// The turn of an agent that a run began, if it is known.
    pub(crate) fn turn(&self, run: &RunId) -> Option<Arc<Turn>> {
        self.hosts.find(HostId::AGENTS)?.turn(run)
    }

    /// The runs of the turns in which an agent waits for an operator's answer.
    pub(crate) fn asking(&self) -> Vec<RunId> {
        self.hosts.find(HostId::AGENTS).map_or_else(Vec::new, |host| host.asking())
    }

    /// What is known of why the conversation of a session cannot be reached, beyond the reason.
    pub(crate) fn obstacle(&self, session: &SessionRecord) -> Option<Obstacle> {
        // Another host, or none, has nothing in its way.
        session.away()?;
        self.hosts.find(session.host())?.obstacle(session.id())
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.core.counters
    }
}
