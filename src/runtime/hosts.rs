//! Hosts by a handle: they come and go.
//!
//! What lives elsewhere: the table of hosts (`host_table`), what they are called for (`perform`). Invariant: an effect
//! that follows from the coming of a host finds it, and one that follows from its going does not.

use std::sync::Arc;

use super::shared::Shared;
use crate::domain::{Actor, HostId};
use crate::engine::Report;
use crate::port::Host;

/// The hosts of an engine.
pub struct Hosts<'a>(pub(super) &'a Arc<Shared>);

impl Hosts<'_> {
    /// Registers a connected host. Sessions are opened on it, or moved to it, by the returned id.
    pub fn attach(&self, host: Arc<dyn Host>) -> HostId {
        self.attach_by(host, None)
    }

    /// Registers a host that this actor has connected, who reports by it from now on.
    pub(crate) fn attach_by(&self, host: Arc<dyn Host>, by: Option<Actor>) -> HostId {
        // Before the report, because effects that follow from it have to find the host.
        let host = self.0.hosts.insert(host);
        self.0.submit_fact(Report::HostAttached { host, by });
        host
    }

    /// Registers the host of agents' own conversations: sessions are moved to it by [`HostId::AGENTS`]. A later call changes
    /// nothing.
    pub fn attach_agents(&self, host: Arc<dyn Host>) {
        if self.0.hosts.insert_as(HostId::AGENTS, host) {
            self.0.submit_fact(Report::HostAttached { host: HostId::AGENTS, by: None });
        }
    }

    /// Reports that a connected host is gone: its deliveries in flight fail, queued runs stay queued.
    pub fn detach(&self, host: HostId) {
        self.remove(host);
        self.0.submit_fact(Report::HostLost { host });
    }

    /// Reports that a connected host goes in good order: the turn that it was attached for is over.
    pub fn release(&self, host: HostId) {
        self.remove(host);
        self.0.submit_fact(Report::HostLeft { host });
    }

    /// Before the report, so that no effect of a later step finds the host.
    fn remove(&self, host: HostId) {
        self.0.hosts.remove(host);
        self.0.withdraw_tools(host);
    }

    /// Wakes those who follow something that is no decision, such as the turn of an agent: it has changed.
    #[cfg(feature = "cli")]
    pub(crate) fn tell_followers(&self) {
        // A reader that has found nothing new holds the lock until it waits, and would miss the change otherwise.
        drop(self.0.core());
        self.0.news.notify();
    }
}
