//! Who reports: for a host, the actor that connected it.
//!
//! Invariant: a receipt names nobody by itself. It is by the actor of the host that has the run, which the state keeps.

use std::sync::Arc;

use super::record::RunRecord;
use super::state::State;
use crate::domain::{Actor, HostId};

impl State {
    /// Returns who connected a host; `None` for the embedding program, and for the built-in hosts.
    pub(super) fn connector_of(&self, host: HostId) -> Option<Arc<Actor>> {
        self.hosts.get(&host)?.by.clone()
    }

    /// Returns who reports on a run that is with a host.
    pub(super) fn reporter_of(&self, run: &RunRecord) -> Option<Arc<Actor>> {
        self.connector_of(run.run.host?)
    }
}
