//! Places for deliveries on their way outside: a number in all, and fewer for one session, with the fresh sessions that come from
//! it, and for one channel, so that neither holds up the others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::{self, Limit};

/// The places of one courier.
pub(super) struct Places {
    all: Arc<Semaphore>,
    shares: Mutex<BTreeMap<Share, Arc<Semaphore>>>,
}

/// What has a share of the places.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Share {
    /// By the root of the family.
    Session(Box<str>),
    Channel(Box<str>),
}

/// A place that is taken; dropping it frees it.
pub(super) struct Place {
    _permits: [OwnedSemaphorePermit; 3],
}

impl Places {
    pub(super) fn new() -> Places {
        Places { all: semaphore(limits::OUTSIDE_IN_FLIGHT), shares: Mutex::default() }
    }

    /// Waits for a place. While it waits for its own share, it takes no place from others.
    pub(super) async fn take(&self, session: &str, channel: &str) -> Option<Place> {
        let of_session = self.share(Share::Session(session.into()));
        let of_channel = self.share(Share::Channel(channel.into()));
        // No semaphore is ever closed, so each of these only waits.
        let session = of_session.acquire_owned().await.ok()?;
        let channel = of_channel.acquire_owned().await.ok()?;
        let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Place { _permits: [session, channel, all] })
    }

    /// Returns the limit for which a delivery has waited in vain.
    pub(super) fn used_up(&self, session: &str, channel: &str) -> Limit {
        let is_used_up = |of| self.share(of).available_permits() == 0;
        if is_used_up(Share::Session(session.into())) {
            limits::OUTSIDE_OF_SESSION
        } else if is_used_up(Share::Channel(channel.into())) {
            limits::OUTSIDE_OF_CHANNEL
        } else {
            limits::OUTSIDE_IN_FLIGHT
        }
    }

    /// Returns how many places each session has taken.
    pub(super) fn by_session(&self) -> BTreeMap<Box<str>, u64> {
        let shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = |(of, share): (&Share, &Arc<Semaphore>)| {
            let Share::Session(session) = of else { return None };
            let taken = limits::OUTSIDE_OF_SESSION.value - share.available_permits() as u64;
            (taken > 0).then(|| (session.clone(), taken))
        };
        shares.iter().filter_map(taken).collect()
    }

    fn share(&self, of: Share) -> Arc<Semaphore> {
        // A panic elsewhere leaves the table whole: each change is one insert or one sweep.
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if shares.len() > SWEEP_AT {
            // A share that only the table holds has all its places.
            shares.retain(|_, share| Arc::strong_count(share) > 1);
        }
        let limit = match &of {
            Share::Session(_) => limits::OUTSIDE_OF_SESSION,
            Share::Channel(_) => limits::OUTSIDE_OF_CHANNEL,
        };
        Arc::clone(shares.entry(of).or_insert_with(|| semaphore(limit)))
    }
}

fn semaphore(limit: Limit) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(usize::try_from(limit.value).unwrap_or(Semaphore::MAX_PERMITS)))
}

/// A table of this size is not worth a sweep.
const SWEEP_AT: usize = 512;

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// A place, if there is one without waiting.
    fn now(places: &Places, session: &str, channel: &str) -> Option<Place> {
        match pin!(places.take(session, channel)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(place) => place,
            Poll::Pending => None,
        }
    }

    /// Takes as many places as there are.
    fn take_all(places: &Places, of: impl Fn(usize) -> (String, String)) -> Vec<Place> {
        let next = |number| {
            let (session, channel) = of(number);
            now(places, &session, &channel)
        };
        (0..1_000).map_while(next).collect()
    }

    #[test]
    fn one_session_or_channel_leaves_places_to_others() {
        let places = Places::new();
        let greedy = take_all(&places, |_| ("alice".into(), "open".into()));
        assert_eq!(greedy.len() as u64, limits::OUTSIDE_OF_SESSION.value);
        let crowd = take_all(&places, |number| (format!("s{number}"), "open".into()));
        assert_eq!((greedy.len() + crowd.len()) as u64, limits::OUTSIDE_OF_CHANNEL.value);
        assert!(now(&places, "bob", "other").is_some(), "another channel has places");
        drop(greedy);
        assert!(now(&places, "alice", "open").is_some(), "a place that was freed");
        let rest = take_all(&places, |number| (format!("t{number}"), format!("c{number}")));
        assert_eq!((crowd.len() + rest.len()) as u64, limits::OUTSIDE_IN_FLIGHT.value);
        drop((crowd, rest));
        assert!(now(&places, "alice", "open").is_some());
        let shares = places.shares.lock().expect("no test panics here");
        assert!(shares.len() <= SWEEP_AT + 1, "{} shares of nobody", shares.len());
    }
}
