//! How fast a channel's receiver is sent to, beside what it says itself: so many in a time, and a few at once.
//!
//! A parcel over the pace is refused with the time at which it may go, and that costs no attempt. The clock is the parcel's own,
//! so nothing here reads one.

use std::sync::{Mutex, PoisonError};

use crate::domain::{Moment, Span};

/// The pace that an operator has set for a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The time from one parcel to the next.
    every: Span,
    /// How many may go at once after a pause.
    burst: u32,
}

impl Pace {
    /// Parses a rate, such as `1/s`, `20/min` or `100/h`.
    pub fn parse(rate: &str, burst: u32) -> Option<Pace> {
        let (count, unit) = rate.split_once('/')?;
        let count: u64 = count.trim().parse().ok().filter(|count| (1..=1_000).contains(count))?;
        let unit_ms: u64 = match unit.trim() {
            "s" => 1_000,
            "min" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        (burst > 0).then(|| Pace { every: Span::from_nanos(unit_ms * 1_000_000 / count), burst })
    }
}

/// What has gone out at a pace.
#[derive(Debug)]
pub(super) struct Bucket {
    pace: Pace,
    times: Mutex<Times>,
}

#[derive(Debug)]
struct Times {
    /// When everything that has gone would have gone at an even pace.
    even: Moment,
    /// The latest time that was promised to a parcel that had to wait.
    promised: Moment,
}

impl Bucket {
    pub(super) fn new(pace: Pace) -> Bucket {
        let times = Times { even: Moment::EPOCH, promised: Moment::EPOCH };
        Bucket { pace, times: Mutex::new(times) }
    }

    /// Takes a place at this moment.
    ///
    /// # Errors
    /// How long to wait if there is none. Each that waits is told a time of its own.
    pub(super) fn take(&self, now: Moment) -> Result<(), Span> {
        // Both times are changed together and cannot be left half done.
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let after = |moment: Moment| moment.checked_add(self.pace.every).unwrap_or(moment);
        // `even` runs ahead of the clock by one period for each parcel. A burst may use up the slack.
        let slack = Span::from_nanos(self.pace.every.nanos() * u64::from(self.pace.burst - 1));
        let even = times.even.max(now);
        if even.since(now) <= slack {
            times.even = after(even);
            return Ok(());
        }
        let free = now.checked_add(Span::from_nanos(even.since(now).nanos() - slack.nanos())).unwrap_or(now);
        // Spread over the pace: if all parcels that wait came back at `free`, all but one would have to wait again.
        times.promised = if times.promised < free { free } else { after(times.promised) };
        Err(times.promised.since(now))
    }

    /// Gives a place back that was taken for a parcel which did not go.
    pub(super) fn give_back(&self) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.even = times.even.checked_sub(self.pace.every).unwrap_or(Moment::EPOCH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment::EPOCH.checked_add(Span::from_millis(1_000_000 + ms)).expect("in the calendar")
    }

    #[test]
    fn a_rate_is_a_number_per_unit() {
        for (rate, every_ms) in [("1/s", 1_000), ("20/min", 3_000), ("100/h", 36_000), (" 2 / s", 500)] {
            let pace = Pace::parse(rate, 1).unwrap_or_else(|| panic!("{rate}"));
            assert_eq!(pace.every, Span::from_millis(every_ms), "{rate}");
        }
        for rate in ["", "1", "0/s", "-1/s", "1/day", "1001/s", "1.5/s"] {
            assert_eq!(Pace::parse(rate, 1), None, "{rate}");
        }
        assert_eq!(Pace::parse("1/s", 0), None);
    }

    #[test]
    fn what_did_not_go_uses_up_no_pace() {
        let bucket = Bucket::new(Pace::parse("1/min", 2).expect("a pace"));
        assert_eq!((bucket.take(at(0)), bucket.take(at(0))), (Ok(()), Ok(())));
        bucket.give_back();
        assert_eq!(bucket.take(at(5_000)), Ok(()), "the second place is free");
        assert!(bucket.take(at(5_000)).is_err(), "and no more");
        // An unused pace cannot be given back for later.
        bucket.give_back();
        bucket.give_back();
        let later = (0..5).filter(|_| bucket.take(at(600_000)).is_ok()).count();
        assert_eq!(later, 2);
    }

    #[test]
    fn a_few_go_at_once_and_each_other_has_a_time_of_its_own() {
        let bucket = Bucket::new(Pace::parse("1/s", 3).expect("a pace"));
        for _ in 0..3 {
            assert_eq!(bucket.take(at(0)), Ok(()));
        }
        let waits: Vec<u64> = (0..4).map(|_| bucket.take(at(0)).expect_err("too fast").millis()).collect();
        assert_eq!(waits, [1_000, 2_000, 3_000, 4_000]);
        // They come back at their times, and go.
        for wait in waits {
            assert_eq!(bucket.take(at(wait)), Ok(()), "{wait}");
        }
        assert!(bucket.take(at(4_000)).is_err());
        // After a pause a few may go at once again, and no more.
        let later = (0..5).filter(|_| bucket.take(at(60_000)).is_ok()).count();
        assert_eq!(later, 3);
    }
}
