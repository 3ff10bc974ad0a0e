//! How often bulletins may begin turns in one session.
//!
//! A bulletin begins a turn, the turn calls a tool, and the outcome is the next bulletin: nothing else bounds such a circle.
//! Half of an hour's deliveries may go at once, and the others are spread over the hour, so that there are never more in any
//! hour. In memory only: a new process begins with none.

use super::record::RunRecord;
use super::state::State;
use crate::domain::{BootTime, Cause, Reason, Span};

/// How far a session is with its deliveries of bulletins, as an instant (GCRA).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wakes {
    /// The time at which all of them so far are paid for.
    paid_until: BootTime,
}

impl Wakes {
    pub(super) const START: Wakes = Wakes { paid_until: BootTime::ZERO };

    /// Returns when the next delivery may go: `now`, or later.
    pub(super) fn free_at(self, per_hour: u64, now: BootTime) -> BootTime {
        if per_hour == 0 {
            return now;
        }
        // GCRA: a delivery may go while the time paid for is at most `at_once - 1` deliveries ahead of now.
        let ahead = Span::from_nanos(price(per_hour).nanos().saturating_mul(at_once(per_hour) - 1));
        now.after(self.paid_until.since(now.after(ahead)))
    }

    /// Counts a delivery.
    pub(super) fn take(&mut self, per_hour: u64, now: BootTime) {
        if per_hour > 0 {
            self.paid_until = self.paid_until.max(now).after(price(per_hour));
        }
    }
}

/// Returns how many may go at once.
const fn at_once(per_hour: u64) -> u64 {
    if per_hour < 2 { 1 } else { per_hour / 2 }
}

/// Returns the time that one delivery takes at the pace of those that are spread out.
fn price(per_hour: u64) -> Span {
    // `at_once` may go in a burst, and the rest of an hour's number at this pace: never more than `per_hour` in an hour.
    Span::from_nanos(HOUR_NS / (per_hour - at_once(per_hour)).max(1))
}

const HOUR_NS: u64 = 3_600_000_000_000;

impl State {
    /// Returns why a bulletin waits until a certain time; `None` for any other run that does.
    pub(super) fn postponed_for(&self, record: &RunRecord) -> Option<Reason> {
        // Another attempt at it is no different from one at any other run.
        if record.run.cause != Cause::Bulletin || record.run.failure.is_some() {
            return None;
        }
        let is_open = self.schedules.get(record.schedule).is_some_and(|schedule| schedule.owner.is_some());
        Some(if is_open { Reason::OverBudget } else { Reason::SessionAbsent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_no_hour_are_more_than_may_be() {
        for per_hour in [1, 2, 3, 7, 120, 3_600] {
            let (mut wakes, mut now) = (Wakes::START, BootTime::ZERO.after(Span::from_millis(5_000)));
            let mut gone = Vec::new();
            for _ in 0..3 * per_hour {
                now = wakes.free_at(per_hour, now);
                wakes.take(per_hour, now);
                gone.push(now);
            }
            let most = gone.iter().map(|from| {
                let hour = gone.iter().filter(|at| at.since(*from).nanos() < HOUR_NS && **at >= *from);
                hour.count() as u64
            });
            assert!(most.max() <= Some(per_hour), "{per_hour} an hour");
            let at_once = gone.iter().filter(|at| **at == gone[0]).count() as u64;
            assert_eq!(at_once, (per_hour / 2).max(1), "{per_hour} an hour");
        }
        let now = BootTime::ZERO;
        assert_eq!(Wakes::START.free_at(0, now), now);
    }
}
