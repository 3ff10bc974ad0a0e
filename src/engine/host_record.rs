//! A connected host as the engine knows it: its sessions, and who connected it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::slab::Key;
use crate::domain::Actor;

/// A connected host.
#[derive(Clone, Debug, Default)]
pub(super) struct HostRecord {
    /// Who connected it; `None` for the embedding program.
    pub(super) by: Option<Arc<Actor>>,
    /// Its sessions, so that its loss needs no search.
    pub(super) sessions: BTreeSet<Key>,
}
