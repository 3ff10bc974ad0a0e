//! Limits the number of open connections, in all and per peer.
//!
//! If the limit is reached, the oldest connection without a request is closed for a new one, first
//! those that have not sent a head. So clients that only hold connections cannot keep others out.
//! If all are busy, the new connection is refused.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::surface::http::config::Config;
use crate::surface::http::connection::conn_watchdog::{ConnWatchdog, Waiting};

/// The table of open connections and its limits.
#[derive(Clone, Debug)]
pub(in crate::surface::http) struct ConnLimiter {
    table: Arc<Mutex<Table>>,
    all_max: usize,
    peer_max: usize,
    loopback_max: usize,
}

#[derive(Debug, Default)]
struct Table {
    open: BTreeMap<u64, OpenConn>,
    next: u64,
}

#[derive(Debug)]
struct OpenConn {
    peer: IpAddr,
    watchdog: Arc<ConnWatchdog>,
}

/// A permit of the table, released on drop.
#[derive(Debug)]
pub(in crate::surface::http) struct ConnPermit {
    table: Arc<Mutex<Table>>,
    number: u64,
}

impl ConnLimiter {
    pub(in crate::surface::http) fn new(config: &Config) -> ConnLimiter {
        ConnLimiter {
            table: Arc::default(),
            all_max: config.connections_max,
            peer_max: config.peer_connections_max,
            loopback_max: config.loopback_connections_max,
        }
    }

    /// Takes a permit for a connection of that peer, closing an idle connection if necessary; `None`
    /// if all are busy.
    pub(in crate::surface::http) fn take(
        &self,
        peer: IpAddr,
        watchdog: &Arc<ConnWatchdog>,
    ) -> Option<ConnPermit> {
        let mut table = lock(&self.table);
        let peer_max = if peer.is_loopback() { self.loopback_max } else { self.peer_max };
        if table.open.values().filter(|taken| taken.peer == peer).count() >= peer_max {
            // A peer at its own limit gives up one of its own connections, never another's.
            table.make_room(|taken| taken.peer == peer)?;
        } else if table.open.len() >= self.all_max {
            table.make_room(|_| true)?;
        }
        let number = table.next;
        table.next += 1;
        table.open.insert(number, OpenConn { peer, watchdog: Arc::clone(watchdog) });
        Some(ConnPermit { table: Arc::clone(&self.table), number })
    }

    /// The number of open connections.
    pub(in crate::surface::http) fn open(&self) -> usize {
        lock(&self.table).open.len()
    }
}

impl Table {
    fn make_room(&mut self, among: impl Fn(&OpenConn) -> bool) -> Option<()> {
        let oldest = |waiting| {
            let mut some = self.open.iter().filter(|(_, taken)| among(taken));
            some.find(|(_, taken)| taken.watchdog.waiting() == waiting).map(|(number, _)| *number)
        };
        // Half-open connections first: they have shown nothing yet, idle ones have been used.
        let number = oldest(Waiting::ForHead).or_else(|| oldest(Waiting::ForNext))?;
        self.open.remove(&number)?.watchdog.evict();
        Some(())
    }
}

impl Drop for ConnPermit {
    fn drop(&mut self) {
        // After an eviction the entry is gone already.
        lock(&self.table).open.remove(&self.number);
    }
}

fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    // A panic elsewhere cannot leave the table inconsistent: each change is one insert or removal.
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn permits() -> ConnLimiter {
        let config = Config {
            connections_max: 6,
            peer_connections_max: 2,
            loopback_connections_max: 4,
            ..Config::local()
        };
        ConnLimiter::new(&config)
    }

    #[test]
    fn who_asks_for_nothing_makes_room() {
        let (permits, local) = (permits(), IpAddr::from(Ipv4Addr::LOCALHOST));
        let pulses: Vec<Arc<ConnWatchdog>> = (0..8).map(|_| ConnWatchdog::new()).collect();
        let mut held: Vec<ConnPermit> = (0..4).map(|at| permits.take(local, &pulses[at]).unwrap()).collect();
        assert_eq!(permits.open(), 4);
        pulses[0].begin(false);
        held.push(permits.take(local, &pulses[4]).unwrap());
        let waiting: Vec<Waiting> = pulses.iter().map(|watchdog| watchdog.waiting()).collect();
        assert_eq!(
            waiting[..3],
            [Waiting::No, Waiting::No, Waiting::ForHead],
            "the oldest that waits has gone"
        );
        pulses[2..5].iter().for_each(|watchdog| watchdog.begin(false));
        assert!(permits.take(local, &pulses[5]).is_none(), "all are at work");
        held.clear();
        assert_eq!(permits.open(), 0);
    }

    #[test]
    fn peers_are_counted_apart_and_together() {
        let permits = permits();
        let watchdog = || {
            let watchdog = ConnWatchdog::new();
            watchdog.begin(false);
            watchdog
        };
        let take = |number: u32| permits.take(IpAddr::from(Ipv4Addr::from(number)), &watchdog());
        let held = [take(1), take(1), take(2), take(2), take(3), take(3)];
        assert!(held.iter().all(Option::is_some));
        assert!(take(1).is_none() && take(4).is_none());
        drop(held);
        assert!(take(4).is_some());
    }
}
