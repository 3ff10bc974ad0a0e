//! Places for deliveries on their way outside: a number in all and for one channel, of both a part that only deliveries of
//! operators may take, and fewer for one session, with the fresh sessions that come from it. So no session holds up another one,
//! and sessions together hold up no operator.

use std::collections::BTreeMap;
#[cfg(any(test, feature = "testkit"))]
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
#[cfg(any(test, feature = "testkit"))]
use std::task::{Context, Poll, Waker};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::{self, Limit};
use crate::port::UnderWay;

/// The places of one courier.
pub(crate) struct Places {
    parts: Mutex<BTreeMap<Part, Arc<Semaphore>>>,
}

/// A part of the places. A delivery takes one place of each part that it is counted in.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// What a family may take, by its root.
    Family(Box<str>),
    /// What all families together may take of a channel.
    FamiliesOfChannel(Box<str>),
    /// A channel.
    Channel(Box<str>),
    /// What all families together may take.
    Families,
    /// The whole.
    All,
}

/// A place that is taken; dropping it frees it.
pub(crate) struct Place {
    _permits: Vec<OwnedSemaphorePermit>,
}

impl Places {
    pub(crate) fn new() -> Places {
        Places { parts: Mutex::default() }
    }

    /// Waits for a place for a delivery of this family, or of operators if there is none. While it waits for a part of its own,
    /// it takes no place from others.
    pub(super) async fn take(&self, family: Option<&str>, channel: &str) -> Option<Place> {
        let mut permits = Vec::new();
        for part in parts(family, channel) {
            // No semaphore is ever closed, so this only waits.
            permits.push(self.places_of(&part).acquire_owned().await.ok()?);
        }
        Some(Place { _permits: permits })
    }

    /// Returns a place, if there is one without waiting.
    #[cfg(any(test, feature = "testkit"))]
    pub(crate) fn now(&self, family: Option<&str>, channel: &str) -> Option<Place> {
        match pin!(self.take(family, channel)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(place) => place,
            Poll::Pending => None,
        }
    }

    /// Returns the limit for which a delivery has waited in vain.
    pub(super) fn used_up(&self, family: Option<&str>, channel: &str) -> Limit {
        let mut parts = parts(family, channel).into_iter();
        let used_up = parts.find(|part| self.places_of(part).available_permits() == 0);
        used_up.unwrap_or(Part::All).limit()
    }

    /// Returns how many places are taken.
    pub(super) fn under_way(&self) -> UnderWay {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut under_way = UnderWay::default();
        for (part, places) in parts.iter() {
            let taken = part.places() - places.available_permits() as u64;
            match part {
                Part::Family(root) if taken > 0 => {
                    under_way.of_families.insert(root.clone(), taken);
                }
                Part::All => under_way.all = taken,
                Part::Family(_) | Part::FamiliesOfChannel(_) | Part::Channel(_) | Part::Families => {}
            }
        }
        under_way
    }

    fn places_of(&self, part: &Part) -> Arc<Semaphore> {
        // A panic elsewhere leaves the table whole: each change is one insert or one sweep.
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if parts.len() > SWEEP_AT {
            // A part that only the table holds has all its places.
            parts.retain(|_, places| Arc::strong_count(places) > 1);
        }
        let semaphore = || Semaphore::new(usize::try_from(part.places()).unwrap_or(Semaphore::MAX_PERMITS));
        Arc::clone(parts.entry(part.clone()).or_insert_with(|| Arc::new(semaphore())))
    }
}

/// Returns the parts that a delivery is counted in, in the order in which it waits for them: the narrowest first, so that it
/// holds no place of a wider part meanwhile. One order for all, so that no two wait for each other.
fn parts(family: Option<&str>, channel: &str) -> Vec<Part> {
    let of_all = [Part::Channel(channel.into()), Part::All];
    let Some(family) = family else { return of_all.into() };
    let [of_channel, all] = of_all;
    vec![
        Part::Family(family.into()),
        Part::FamiliesOfChannel(channel.into()),
        of_channel,
        Part::Families,
        all,
    ]
}

impl Part {
    fn places(&self) -> u64 {
        let reserve = match self {
            Part::FamiliesOfChannel(_) => limits::OUTSIDE_CHANNEL_RESERVE.value,
            Part::Families => limits::OUTSIDE_RESERVE.value,
            Part::Family(_) | Part::Channel(_) | Part::All => 0,
        };
        self.limit().value - reserve
    }

    /// The limit that is named when all its places are taken.
    fn limit(&self) -> Limit {
        match self {
            Part::Family(_) => limits::OUTSIDE_OF_SESSION,
            Part::FamiliesOfChannel(_) | Part::Channel(_) => limits::OUTSIDE_OF_CHANNEL,
            Part::Families | Part::All => limits::OUTSIDE_IN_FLIGHT,
        }
    }
}

/// A table of this size is not worth a sweep.
const SWEEP_AT: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes as many places as there are.
    fn take_all(places: &Places, of: impl Fn(usize) -> (Option<String>, String)) -> Vec<Place> {
        let next = |number| {
            let (family, channel) = of(number);
            places.now(family.as_deref(), &channel)
        };
        (0..1_000).map_while(next).collect()
    }

    fn crowd(places: &Places, of: impl Fn(usize) -> (String, String)) -> Vec<Place> {
        take_all(places, |number| {
            let (family, channel) = of(number);
            (Some(family), channel)
        })
    }

    #[test]
    fn one_session_or_channel_leaves_places_to_others() {
        let places = Places::new();
        let greedy = crowd(&places, |_| ("alice".into(), "open".into()));
        assert_eq!(greedy.len() as u64, limits::OUTSIDE_OF_SESSION.value);
        assert_eq!(places.used_up(Some("alice"), "open"), limits::OUTSIDE_OF_SESSION);
        let others = crowd(&places, |number| (format!("s{number}"), "open".into()));
        let of_channel = limits::OUTSIDE_OF_CHANNEL.value - limits::OUTSIDE_CHANNEL_RESERVE.value;
        assert_eq!((greedy.len() + others.len()) as u64, of_channel);
        assert_eq!(places.used_up(Some("bob"), "open"), limits::OUTSIDE_OF_CHANNEL);
        assert!(places.now(Some("bob"), "other").is_some(), "another channel has places");
        drop(greedy);
        assert!(places.now(Some("alice"), "open").is_some(), "a place that was freed");
        let rest = crowd(&places, |number| (format!("t{number}"), format!("c{number}")));
        let of_families = limits::OUTSIDE_IN_FLIGHT.value - limits::OUTSIDE_RESERVE.value;
        assert_eq!((others.len() + rest.len()) as u64, of_families);
        assert_eq!(places.used_up(Some("bob"), "other"), limits::OUTSIDE_IN_FLIGHT);
        drop((others, rest));
        assert!(places.now(Some("alice"), "open").is_some());
        let parts = places.parts.lock().expect("no test panics here");
        assert!(parts.len() <= SWEEP_AT + 1, "{} parts of nobody", parts.len());
    }

    /// Places are taken and freed in a random order: a delivery gets one exactly if no bound that it is counted in is reached, by
    /// a count of those that are out.
    #[test]
    fn a_delivery_waits_exactly_while_a_bound_is_reached() {
        let places = Places::new();
        let mut seed = 7_u64;
        // A linear congruential generator; its upper half is as random as this needs.
        let mut draw = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).expect("31 bits") % below
        };
        let (mut out, mut refused) = (Vec::new(), 0);
        for step in 0..6_000 {
            // It fills up, and is half empty from time to time.
            let takes = if step % 1_500 < 1_000 { draw(5) > 0 } else { draw(5) == 0 };
            if !takes {
                if !out.is_empty() {
                    out.swap_remove(draw(out.len()));
                }
                continue;
            }
            // One in eight is an operator's.
            let (family, channel) = (Some(draw(20)).filter(|_| draw(8) > 0), draw(5));
            let count = |is: &dyn Fn(Option<usize>, usize) -> bool| {
                out.iter().filter(|(family, channel, _)| is(*family, *channel)).count() as u64
            };
            let of_all = count(&|_, _| true) < limits::OUTSIDE_IN_FLIGHT.value;
            let of_channel = count(&|_, other| other == channel) < limits::OUTSIDE_OF_CHANNEL.value;
            let of_families = count(&|other, _| other.is_some())
                < limits::OUTSIDE_IN_FLIGHT.value - limits::OUTSIDE_RESERVE.value;
            let of_families_here = count(&|of, other| of.is_some() && other == channel)
                < limits::OUTSIDE_OF_CHANNEL.value - limits::OUTSIDE_CHANNEL_RESERVE.value;
            let of_family = count(&|other, _| other == family) < limits::OUTSIDE_OF_SESSION.value;
            let is_free = family.is_none() || of_family && of_families && of_families_here;
            let root = family.map(|family| format!("s{family}"));
            let place = places.now(root.as_deref(), &format!("c{channel}"));
            assert_eq!(
                place.is_some(),
                of_all && of_channel && is_free,
                "{family:?} by {channel}, step {step}"
            );
            refused += usize::from(place.is_none());
            out.extend(place.map(|place| (family, channel, place)));
        }
        assert!(refused > 100, "only {refused} met a bound");
    }

    #[test]
    fn what_sessions_leave_on_a_channel_is_for_operators_and_no_more() {
        let places = Places::new();
        let _crowd = crowd(&places, |number| (format!("s{number}"), "open".into()));
        let operators = take_all(&places, |_| (None, "open".into()));
        assert_eq!(operators.len() as u64, limits::OUTSIDE_CHANNEL_RESERVE.value);
        assert_eq!(places.used_up(None, "open"), limits::OUTSIDE_OF_CHANNEL);
        assert!(places.now(None, "other").is_some(), "another channel has places");
    }

    #[test]
    fn what_sessions_leave_of_all_is_for_operators_and_no_more() {
        let places = Places::new();
        let crowd = crowd(&places, |number| (format!("s{number}"), format!("c{number}")));
        assert_eq!(crowd.len() as u64, limits::OUTSIDE_IN_FLIGHT.value - limits::OUTSIDE_RESERVE.value);
        let operators = take_all(&places, |number| (None, format!("c{number}")));
        assert_eq!(operators.len() as u64, limits::OUTSIDE_RESERVE.value);
        assert_eq!(places.used_up(None, "c"), limits::OUTSIDE_IN_FLIGHT);
        let under_way = places.under_way();
        assert_eq!(under_way.all, limits::OUTSIDE_IN_FLIGHT.value);
        assert_eq!(under_way.of_families.len(), crowd.len(), "operators are no family");
        drop(crowd);
        // Without sessions, operators have the whole, and not more.
        let more = take_all(&places, |number| (None, format!("d{number}")));
        assert_eq!((operators.len() + more.len()) as u64, limits::OUTSIDE_IN_FLIGHT.value);
    }
}
