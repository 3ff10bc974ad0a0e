//! Limits the number of open connections, in all and per peer.
//!
//! If the limit is reached, the oldest connection without a complete request is closed for a new one, first
//! those that have not sent a head, last those that are sending a body. So clients that only hold
//! connections cannot keep others out. The newest connections give up their seats last, because
//! their first request may be on its way.
//! If all are busy, the new connection gets a seat of the operators' reserve: who it is shows with
//! its first request, and any token but an operator's is refused there. If the reserve is busy too,
//! the connection is closed.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
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
    reserve_max: usize,
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
    is_reserved: bool,
}

/// A permit of the table, released on drop.
#[derive(Debug)]
pub(in crate::surface::http) struct ConnPermit {
    table: Arc<Mutex<Table>>,
    number: u64,
    watchdog: Arc<ConnWatchdog>,
    is_reserved: bool,
}

/// The address for which a peer counts. All loopback addresses are one peer: a client of this
/// machine can connect from any of them.
pub(in crate::surface::http) fn peer_of(address: IpAddr) -> IpAddr {
    let address = address.to_canonical();
    if address.is_loopback() { Ipv4Addr::LOCALHOST.into() } else { address }
}

impl ConnLimiter {
    pub(in crate::surface::http) fn new(config: &Config) -> ConnLimiter {
        ConnLimiter {
            table: Arc::default(),
            all_max: config.connections_max,
            peer_max: config.peer_connections_max,
            loopback_max: config.loopback_connections_max,
            reserve_max: config.operator_connections_max,
        }
    }

    /// Takes a permit for a connection of that peer ([`peer_of`]), closing an idle connection if
    /// necessary; `None` if all are busy, the operators' reserve included. `spared` is how many of the
    /// newest connections are not closed for it.
    pub(in crate::surface::http) fn take(
        &self,
        peer: IpAddr,
        watchdog: &Arc<ConnWatchdog>,
        spared: u64,
    ) -> Option<ConnPermit> {
        let mut table = lock(&self.table);
        let peer_max = if peer.is_loopback() { self.loopback_max } else { self.peer_max };
        let common = |taken: &OpenConn| !taken.is_reserved;
        // A peer at its own limit gives up one of its own connections, never another's.
        let is_seated = if table.count(|taken| common(taken) && taken.peer == peer) >= peer_max {
            table.make_room(spared, |taken| common(taken) && taken.peer == peer)
        } else {
            table.count(common) < self.all_max || table.make_room(spared, common)
        };
        // Without a common seat it gets one of the reserve. Its first request shows whether it may keep that (`routes.rs`).
        let reserved = |taken: &OpenConn| taken.is_reserved;
        if !is_seated && table.count(reserved) >= self.reserve_max && !table.make_room(spared, reserved) {
            return None;
        }
        // Numbers are never reused: the order of the table is the order of arrival, and a permit removes its own entry only.
        let (number, is_reserved, watchdog) = (table.next, !is_seated, Arc::clone(watchdog));
        table.next += 1;
        table.open.insert(number, OpenConn { peer, watchdog: Arc::clone(&watchdog), is_reserved });
        Some(ConnPermit { table: Arc::clone(&self.table), number, watchdog, is_reserved })
    }

    /// The number of open connections that are there for requests, and of those that are there for streams alone. Counted under
    /// one lock, because the difference of two counts would be wrong when a client comes or goes in between.
    pub(in crate::surface::http) fn by_use(&self) -> (usize, usize) {
        let table = lock(&self.table);
        let streams = table.count(|taken| taken.watchdog.is_stream());
        (table.open.len() - streams, streams)
    }

    /// The number of open connections.
    pub(in crate::surface::http) fn open(&self) -> usize {
        lock(&self.table).open.len()
    }
}

impl Table {
    fn count(&self, of: impl Fn(&OpenConn) -> bool) -> usize {
        // A scan of some hundred entries, made for new connections only.
        self.open.values().filter(|taken| of(taken)).count()
    }

    /// Closes a connection that asks for nothing, but none of the newest ones; `false` if there is none.
    fn make_room(&mut self, spared: u64, among: impl Fn(&OpenConn) -> bool) -> bool {
        let newest = self.next.saturating_sub(spared);
        let oldest = |waiting, before: u64| {
            let mut some = self.open.range(..before).filter(|(_, taken)| among(taken));
            some.find(|(_, taken)| taken.watchdog.waiting() == waiting).map(|(number, _)| *number)
        };
        // Half-open connections first: they have shown nothing yet, idle ones have been used.
        let number = oldest(Waiting::ForHead, newest)
            // An idle connection has had its answers, so even a new one may be closed.
            .or_else(|| oldest(Waiting::ForNext, u64::MAX))
            .or_else(|| oldest(Waiting::ForBody, newest));
        let evicted = number.and_then(|number| self.open.remove(&number));
        evicted.inspect(|evicted| evicted.watchdog.evict()).is_some()
    }
}

impl ConnPermit {
    pub(in crate::surface::http) fn watchdog(&self) -> &Arc<ConnWatchdog> {
        &self.watchdog
    }

    /// Whether the seat is one of the operators' reserve.
    pub(in crate::surface::http) fn is_reserved(&self) -> bool {
        self.is_reserved
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
            operator_connections_max: 1,
            ..Config::local()
        };
        ConnLimiter::new(&config)
    }

    #[test]
    fn who_asks_for_nothing_makes_room() {
        let (permits, local) = (permits(), IpAddr::from(Ipv4Addr::LOCALHOST));
        let pulses: Vec<Arc<ConnWatchdog>> = (0..8).map(|_| ConnWatchdog::new()).collect();
        let mut held: Vec<ConnPermit> =
            (0..4).map(|at| permits.take(local, &pulses[at], 0).unwrap()).collect();
        assert_eq!(permits.open(), 4);
        pulses[0].begin(false);
        held.push(permits.take(local, &pulses[4], 0).unwrap());
        let waiting: Vec<Waiting> = pulses.iter().map(|watchdog| watchdog.waiting()).collect();
        assert_eq!(
            waiting[..3],
            [Waiting::No, Waiting::No, Waiting::ForHead],
            "the oldest that waits has gone"
        );
        pulses[2..5].iter().for_each(|watchdog| watchdog.begin(false));
        let reserved = permits.take(local, &pulses[5], 0).unwrap();
        assert!(reserved.is_reserved() && !held[4].is_reserved(), "all are at work");
        held.push(permits.take(local, &pulses[6], 0).unwrap());
        assert_eq!(pulses[5].waiting(), Waiting::No, "the reserve makes room too, and only the reserve");
        pulses[6].begin(false);
        assert!(permits.take(local, &pulses[7], 0).is_none(), "the reserve is at work");
        held.clear();
        drop(reserved);
        assert_eq!(permits.open(), 0);
    }

    #[test]
    fn newcomers_are_spared() {
        let (permits, local) = (permits(), IpAddr::from(Ipv4Addr::LOCALHOST));
        let watchdogs: Vec<Arc<ConnWatchdog>> = (0..7).map(|_| ConnWatchdog::new()).collect();
        let take = |at: usize, spared| permits.take(local, &watchdogs[at], spared);
        let _held: Vec<ConnPermit> = (0..4).map(|at| take(at, 0).unwrap()).collect();
        watchdogs[1].begin(false);
        watchdogs[1].end();
        watchdogs[3].begin(false);
        let _body = watchdogs[3].wait_for_body();
        let is_open = || watchdogs[..4].iter().map(|it| it.waiting() != Waiting::No).collect::<Vec<bool>>();
        let idle = take(4, 4).unwrap();
        assert_eq!((is_open(), idle.is_reserved()), (vec![true, false, true, true], false), "the idle one");
        let reserved = take(5, 5).unwrap();
        assert!(reserved.is_reserved() && is_open() == [true, false, true, true], "all the others are new");
        assert!(take(6, 6).is_none());
        let oldest = take(6, 5).unwrap();
        assert_eq!((is_open(), oldest.is_reserved()), (vec![false, false, true, true], false));
    }

    #[test]
    fn a_body_that_dribbles_in_makes_room() {
        let (permits, local) = (permits(), IpAddr::from(Ipv4Addr::LOCALHOST));
        let watchdogs: Vec<Arc<ConnWatchdog>> = (0..5).map(|_| ConnWatchdog::new()).collect();
        watchdogs.iter().for_each(|watchdog| watchdog.begin(true));
        let [one, two] = [&watchdogs[1], &watchdogs[2]].map(ConnWatchdog::wait_for_body);
        // Another request on the same connection is being answered.
        watchdogs[1].begin(true);
        let held: Vec<ConnPermit> =
            (0..5).map(|at| permits.take(local, &watchdogs[at], 0).unwrap()).collect();
        assert!(!held[4].is_reserved(), "the one that waits for nothing but its body has made room");
        assert_eq!((watchdogs[1].waiting(), watchdogs[2].waiting()), (Waiting::No, Waiting::No));
        drop((one, two));
        watchdogs[3].begin(true);
        let body = watchdogs[3].wait_for_body();
        assert_eq!(watchdogs[3].waiting(), Waiting::No);
        drop(body);
    }

    #[test]
    fn peers_are_counted_apart_and_together() {
        let permits = permits();
        let watchdog = || {
            let watchdog = ConnWatchdog::new();
            watchdog.begin(false);
            watchdog
        };
        let take = |number: u32| permits.take(IpAddr::from(Ipv4Addr::from(number)), &watchdog(), 0);
        let held = [take(1), take(1), take(2), take(2), take(3), take(3)];
        assert!(held.iter().all(|permit| permit.as_ref().is_some_and(|permit| !permit.is_reserved())));
        assert!(take(1).is_some_and(|permit| permit.is_reserved()));
        assert!(take(4).is_some_and(|permit| permit.is_reserved()));
        drop(held);
        assert!(take(4).is_some_and(|permit| !permit.is_reserved()));
    }

    #[test]
    fn a_connection_is_a_stream_if_nothing_else_is_asked_on_it() {
        let (permits, watchdog) = (permits(), ConnWatchdog::new());
        let _permit = permits.take(IpAddr::from(Ipv4Addr::LOCALHOST), &watchdog, 0).unwrap();
        assert_eq!(permits.by_use(), (1, 0), "a new one may ask for anything");
        watchdog.begin(true);
        let push = watchdog.push();
        assert_eq!(permits.by_use(), (0, 1));
        watchdog.begin(true);
        assert_eq!(permits.by_use(), (1, 0), "another request shares the connection");
        watchdog.end();
        assert_eq!(permits.by_use(), (0, 1));
        drop(push);
        assert_eq!(permits.by_use(), (1, 0));
    }

    #[test]
    fn all_loopback_addresses_are_one_peer() {
        let peer = |text: &str| peer_of(text.parse().unwrap());
        for address in ["127.0.0.1", "127.0.0.2", "127.255.1.7", "::1", "::ffff:127.0.0.9"] {
            assert_eq!(peer(address), peer("127.0.0.1"), "{address}");
        }
        assert_eq!(peer("::ffff:192.0.2.1"), peer("192.0.2.1"));
        assert_ne!(peer("192.0.2.2"), peer("192.0.2.1"));
    }

    #[test]
    fn an_upgraded_connection_makes_room_until_its_caller_is_known() {
        let (watchdog, other) = (ConnWatchdog::new(), ConnWatchdog::new());
        for watchdog in [&watchdog, &other] {
            watchdog.begin(false);
            watchdog.upgrade();
            assert_eq!(watchdog.waiting(), Waiting::ForHead);
        }
        assert!(watchdog.settle());
        assert_eq!(watchdog.waiting(), Waiting::No);
        assert!(watchdog.is_stream());
        other.evict();
        assert!(!other.settle());
    }
}
