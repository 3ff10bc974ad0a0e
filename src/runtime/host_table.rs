//! The table of connected hosts, by number; the built-in one has two, for sessions with and without somebody who listens.
//! Who attaches them is in `hosts.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::sync::{RwLock, UNPOISONED};
use crate::domain::HostId;
use crate::port::Host;

/// Hosts by number. Numbers are never reused.
pub(super) struct HostTable {
    table: RwLock<Table>,
}

struct Table {
    hosts: BTreeMap<HostId, Arc<dyn Host>>,
    next: u32,
}

impl HostTable {
    pub(super) fn new(local: Arc<dyn Host>) -> HostTable {
        let hosts = BTreeMap::from([(HostId::LOCAL, Arc::clone(&local)), (HostId::INBOX, local)]);
        // 0 is the built-in host. Its second number, and that of the agents, are at the upper end.
        HostTable { table: RwLock::new(Table { hosts, next: 1 }) }
    }

    pub(super) fn find(&self, id: HostId) -> Option<Arc<dyn Host>> {
        // Cloned, so that the host is called without the table's lock.
        self.table.read().expect(UNPOISONED).hosts.get(&id).cloned()
    }

    pub(super) fn insert(&self, host: Arc<dyn Host>) -> HostId {
        let mut table = self.table.write().expect(UNPOISONED);
        let id = HostId::new(table.next);
        // A number is never reused: an effect for a lost host must not reach another one.
        table.next += 1;
        table.hosts.insert(id, host);
        id
    }

    /// Inserts a host whose number is fixed; returns whether there was none of that number.
    pub(super) fn insert_as(&self, id: HostId, host: Arc<dyn Host>) -> bool {
        let mut table = self.table.write().expect(UNPOISONED);
        let is_first = !table.hosts.contains_key(&id);
        table.hosts.entry(id).or_insert(host);
        is_first
    }

    pub(super) fn remove(&self, id: HostId) {
        self.table.write().expect(UNPOISONED).hosts.remove(&id);
    }
}
