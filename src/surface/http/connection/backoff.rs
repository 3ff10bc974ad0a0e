//! Delays the answers to wrong tokens: the more a peer has sent, the longer the delay.
//!
//! Valid tokens are never delayed: on loopback all clients share an address, and one that guesses must not lock out
//! the others. Cost: at most `limits::WRONG_TOKEN_PEERS` entries.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::domain::{BootTime, Span};
use crate::limits;

/// The recent wrong tokens by peer address.
#[derive(Debug)]
pub(in crate::surface::http) struct Backoff {
    peers: Mutex<BTreeMap<IpAddr, Tries>>,
    longest: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Tries {
    count: u64,
    last: BootTime,
}

impl Backoff {
    /// Creates an empty table. No delay exceeds `longest`.
    pub(in crate::surface::http) fn new(longest: Duration) -> Backoff {
        Backoff { peers: Mutex::default(), longest }
    }

    /// Counts a wrong token, and waits for the delay of its answer.
    #[expect(clippy::disallowed_methods, reason = "a client's penalty is no deadline of the scheduler")]
    pub(in crate::surface::http) async fn wrong_token(&self, peer: IpAddr, now: BootTime) {
        let wait = self.note(peer, now);
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }

    fn note(&self, peer: IpAddr, now: BootTime) -> Duration {
        // A panic elsewhere cannot leave the table inconsistent: each change is one assignment,
        // insert or removal.
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() as u64 >= limits::WRONG_TOKEN_PEERS.value && !peers.contains_key(&peer) {
            // A full table drops the peer that has been quiet for longest, so memory stays bounded.
            let quietest = peers.iter().min_by_key(|(_, tries)| tries.last).map(|(peer, _)| *peer);
            quietest.map(|quietest| peers.remove(&quietest));
        }
        let tries = peers.entry(peer).or_insert(Tries { count: 0, last: now });
        if now.since(tries.last) > FORGOTTEN_AFTER {
            tries.count = 0;
        }
        *tries = Tries { count: tries.count + 1, last: now };
        let over = tries.count.saturating_sub(limits::WRONG_TOKENS.value);
        if over == 0 {
            return Duration::ZERO;
        }
        // The delay doubles with every attempt beyond the free ones; saturating, so it cannot wrap
        // to zero.
        let factor = 1_u32.checked_shl(u32::try_from(over - 1).unwrap_or(u32::MAX)).unwrap_or(u32::MAX);
        FIRST_WAIT.saturating_mul(factor).min(self.longest)
    }
}

// Doubled with each further attempt, it reaches `limits::WRONG_TOKEN_MS` at the eighth delay.
const FIRST_WAIT: Duration = Duration::from_millis(10);
const FORGOTTEN_AFTER: Span = Span::from_millis(60_000);

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn peer(number: u32) -> IpAddr {
        Ipv4Addr::from(number).into()
    }

    #[test]
    fn waits_double_up_to_the_longest_and_end_with_a_quiet_minute() {
        let backoff = Backoff::new(Duration::from_millis(100));
        let waits: Vec<u128> =
            (0..80).map(|second| backoff.note(peer(1), BootTime::from_nanos(second)).as_millis()).collect();
        assert_eq!(waits[..8], [0; 8]);
        assert_eq!(waits[8..14], [10, 20, 40, 80, 100, 100]);
        assert_eq!(waits[79], 100);
        assert_eq!(backoff.note(peer(2), BootTime::ZERO), Duration::ZERO);
        let later = BootTime::from_nanos(61_000_000_000);
        assert_eq!(backoff.note(peer(1), later), Duration::ZERO);
    }

    #[test]
    fn the_table_is_bounded() {
        let backoff = Backoff::new(Duration::from_millis(100));
        for number in 0..3_000 {
            backoff.note(peer(number), BootTime::from_nanos(u64::from(number)));
        }
        let peers = backoff.peers.lock().unwrap();
        assert_eq!(peers.len() as u64, limits::WRONG_TOKEN_PEERS.value);
        assert!(peers.contains_key(&peer(2_999)) && !peers.contains_key(&peer(0)));
    }
}
