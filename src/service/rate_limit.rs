//! The rate limits on what each session's token changes, and on the time of its queries. The sessions that come from it share
//! its limits.
//!
//! Shape: a token bucket as one instant per session and rate (GCRA): the time at which all of its changes would have been due,
//! had they kept to the rate. An instant that has passed means the same as none, so the table drops those when it has doubled.
//! Cost: an id and 8 bytes for each session that changed something within the last minute, and at most as many again.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::domain::{BootTime, SessionId, Span};
use crate::limits::{self, Budget, Limit};

#[derive(Default)]
pub(super) struct RateLimiter {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    paid_until: BTreeMap<(SessionId, &'static str), BootTime>,
    /// How many entries there may be before the expired ones are dropped.
    sweep_at: usize,
}

impl RateLimiter {
    /// Counts one change of the family of this root, or returns how long it has to wait.
    pub(super) fn take(&self, rate: Limit, root: SessionId, now: BootTime) -> Result<(), Span> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (root, rate.name);
        let until = table.paid_until(&key, now).after(step(rate));
        let ahead = until.since(now);
        // Refused changes are not counted, so a caller that keeps trying is not locked out.
        if ahead > MINUTE {
            return Err(whole(Span::from_nanos(ahead.nanos() - MINUTE.nanos())));
        }
        debug_assert!(until > now, "a change costs time");
        table.pay(key, until, now);
        Ok(())
    }

    /// Returns how much the family of this root has used of a budget that is a rate.
    pub(super) fn used(&self, budget: Budget, root: &SessionId, now: BootTime) -> u64 {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(rate) = budget.of_session() else { return 0 };
        amount(rate, table.paid_until(&(root.clone(), rate.name), now).since(now))
    }

    /// Returns the largest amount that any family has used of the rate of a budget.
    pub(super) fn largest(&self, budget: Budget, now: BootTime) -> u64 {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(rate) = budget.of_session() else { return 0 };
        let of_rate = table.paid_until.iter().filter(|((_, name), _)| *name == rate.name);
        of_rate.map(|(_, until)| amount(rate, until.since(now))).max().unwrap_or(0)
    }

    /// Returns how long the family of this root has to wait before its next query.
    pub(super) fn admit_query(&self, root: SessionId, now: BootTime) -> Result<(), Span> {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        // `since` is zero for what is not later, so whatever lies at most this far ahead is admitted.
        let wait = table.paid_until(&(root, QUERIES.name), now).since(now.after(QUERIES_AHEAD));
        if wait == Span::ZERO { Ok(()) } else { Err(whole(wait)) }
    }

    /// Counts the time that a query of this family took. It is known only afterwards, so one query may exceed the rate.
    pub(super) fn count_query(&self, root: SessionId, took: Span, now: BootTime) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (root, QUERIES.name);
        let cost = Span::from_nanos(took.nanos().saturating_mul(QUERY_FACTOR));
        let until = table.paid_until(&key, now).after(cost);
        table.pay(key, until, now);
    }
}

impl Table {
    fn paid_until(&self, key: &(SessionId, &'static str), now: BootTime) -> BootTime {
        // An instant that has passed is no credit: time that was not used is not saved up.
        self.paid_until.get(key).copied().unwrap_or(now).max(now)
    }

    fn pay(&mut self, key: (SessionId, &'static str), until: BootTime, now: BootTime) {
        self.paid_until.insert(key, until);
        if self.paid_until.len() > self.sweep_at {
            self.paid_until.retain(|_, until| *until > now);
            self.sweep_at = (2 * self.paid_until.len()).max(SWEEP_MIN);
        }
    }
}

const MINUTE: Span = Span::from_millis(60_000);
const NANOS_PER_MILLI: u64 = 1_000_000;
const QUERIES: Limit = limits::QUERY_MS_PER_MINUTE;
/// How many times as long a query counts as it took.
const QUERY_FACTOR: u64 = 60_000 / QUERIES.value;
/// Half a minute's queries may come at once.
const QUERIES_AHEAD: Span = Span::from_millis(QUERIES.value / 2 * QUERY_FACTOR);
/// A table of this size is not worth a sweep.
const SWEEP_MIN: usize = 64;

/// Returns how many changes of this rate, or milliseconds of queries, are this far ahead.
fn amount(rate: Limit, ahead: Span) -> u64 {
    let each = if rate.name == QUERIES.name { Span::from_millis(QUERY_FACTOR) } else { step(rate) };
    ahead.nanos().div_ceil(each.nanos())
}

/// Rounds a wait up to the milliseconds in which callers are told of it: one that obeys must not come too early.
fn whole(wait: Span) -> Span {
    Span::from_millis(wait.nanos().div_ceil(NANOS_PER_MILLI))
}

/// How long one change of this rate takes.
const fn step(rate: Limit) -> Span {
    Span::from_millis(60_000 / rate.value)
}

// The steps are whole numbers of milliseconds, so no session gets more than the limits.
const _: () =
    assert!(60_000 % limits::CREATES_PER_MINUTE.value == 0 && 60_000 % limits::CHANGES_PER_MINUTE.value == 0);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> BootTime {
        BootTime::ZERO.after(Span::from_millis(seconds * 1_000))
    }

    #[test]
    fn a_minutes_worth_at_once_and_then_the_rate() {
        let (limiter, session) = (RateLimiter::default(), SessionId::new("one").expect("an id"));
        let take = |rate, seconds| limiter.take(rate, session.clone(), at(seconds));
        for _ in 0..limits::CREATES_PER_MINUTE.value {
            assert_eq!(take(limits::CREATES_PER_MINUTE, 0), Ok(()));
        }
        assert_eq!(take(limits::CREATES_PER_MINUTE, 0), Err(step(limits::CREATES_PER_MINUTE)));
        assert_eq!(take(limits::CHANGES_PER_MINUTE, 0), Ok(()), "another rate has a budget of its own");
        assert_eq!(take(limits::CREATES_PER_MINUTE, 60), Ok(()));
    }

    #[test]
    fn half_a_minutes_queries_at_once_and_then_the_rate() {
        let (limiter, session) = (RateLimiter::default(), SessionId::new("one").expect("an id"));
        let admit = |seconds| limiter.admit_query(session.clone(), at(seconds));
        let count = |millis, seconds| {
            limiter.count_query(session.clone(), Span::from_millis(millis), at(seconds));
        };
        count(QUERIES.value / 2, 0);
        assert_eq!(admit(0), Ok(()), "exactly half");
        count(500, 0);
        let over = Span::from_millis(500 * QUERY_FACTOR);
        assert_eq!(admit(0), Err(over));
        let free_at = over.millis().div_ceil(1_000);
        assert_eq!(admit(free_at), Ok(()));
        // One nanosecond over: nobody is told to wait for no time at all.
        let late = SessionId::new("late").expect("an id");
        let used = Span::from_nanos(Span::from_millis(QUERIES.value / 2).nanos() + 1);
        limiter.count_query(late.clone(), used, at(0));
        assert_eq!(limiter.admit_query(late, at(0)), Err(Span::from_millis(1)));
        let other = SessionId::new("other").expect("an id");
        assert_eq!(limiter.admit_query(other, at(0)), Ok(()), "another family has a rate of its own");
        assert_eq!(
            limiter.take(limits::CREATES_PER_MINUTE, session, at(0)),
            Ok(()),
            "creating is another rate"
        );
    }

    #[test]
    fn sessions_that_have_stopped_changing_are_dropped() {
        let limiter = RateLimiter::default();
        for number in 0..10_000 {
            let session = SessionId::new(&format!("s{number}")).expect("an id");
            assert_eq!(limiter.take(limits::CREATES_PER_MINUTE, session, at(number * 2)), Ok(()));
        }
        let table = limiter.table.lock().expect("no test panics here");
        assert!(table.paid_until.len() <= SWEEP_MIN + 1, "{}", table.paid_until.len());
    }
}
