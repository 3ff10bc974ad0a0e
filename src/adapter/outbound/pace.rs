//! How fast a channel's receiver is sent to, beside what it says itself: so many in a time, and a few at once.
//!
//! A parcel over the pace is refused with the time at which it may go, and that costs no attempt. Which one goes first is in
//! `turns`. The clock is the parcel's own, so nothing here reads one.

use std::sync::{Mutex, PoisonError};

use super::turns::{Asks, Turns};
use crate::domain::{Moment, RunId, Span};

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
    /// The parcels that wait.
    turns: Turns,
}

impl Bucket {
    pub(super) fn new(pace: Pace) -> Bucket {
        let times = Times { even: Moment::EPOCH, turns: Turns::default() };
        Bucket { pace, times: Mutex::new(times) }
    }

    /// Takes a place for a parcel. Of a run that waits it is asked whether it is still coming.
    ///
    /// # Errors
    /// How long to wait if there is none.
    pub(super) fn take(&self, asks: &Asks<'_>, is_coming: &dyn Fn(&RunId) -> bool) -> Result<(), Span> {
        let now = asks.now;
        // All of it is changed together and cannot be left half done.
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let told = times.turns.comes(asks, is_coming);
        let before = times.turns.before(asks, told);
        // `even` runs ahead of the clock by one period for each parcel. A burst may use up the slack.
        let every = self.pace.every.nanos();
        let slack = every * u64::from(self.pace.burst - 1);
        let even = times.even.max(now);
        let ahead = |others: u64| even.since(now).nanos().saturating_add(every.saturating_mul(others));
        if ahead(before.due) <= slack {
            times.even = even.checked_add(self.pace.every).unwrap_or(even);
            times.turns.has_gone(asks.family);
            return Ok(());
        }
        let free = now.checked_add(Span::from_nanos(ahead(before.all) - slack)).unwrap_or(now);
        Err(times.turns.wait(asks, told, free, self.pace.every).since(now))
    }

    /// Gives a place back that was taken for a parcel which did not go.
    pub(super) fn give_back(&self) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.even = times.even.checked_sub(self.pace.every).unwrap_or(Moment::EPOCH);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::domain::{ScheduleId, SessionId};

    fn at(ms: u64) -> Moment {
        Moment::EPOCH.checked_add(Span::from_millis(1_000_000 + ms)).expect("in the calendar")
    }

    fn run(name: &str) -> RunId {
        let schedule = ScheduleId::new(name).expect("an id");
        RunId { schedule, incarnation: 1, slot: Moment::EPOCH }
    }

    /// Asks for a place for the run of this name: of the family `alice` if the name begins so, and of an operator if it begins
    /// with `op`. All that were told a time are still coming, except those of this name.
    fn ask(bucket: &Bucket, name: &str, ms: u64, gone: &str) -> Result<(), u64> {
        let family = name.split('-').next().filter(|family| *family != "op");
        let family = family.map(|family| SessionId::new(family).expect("an id"));
        let asks = Asks { run: &run(name), family: family.as_ref(), now: at(ms) };
        let is_coming = |run: &RunId| gone.is_empty() || !run.schedule.to_string().starts_with(gone);
        bucket.take(&asks, &is_coming).map_err(Span::millis)
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
        let take = |number: u32, ms| ask(&bucket, &format!("alice-{number}"), ms, "");
        assert_eq!((take(0, 0), take(1, 0)), (Ok(()), Ok(())));
        bucket.give_back();
        assert_eq!(take(2, 5_000), Ok(()), "the second place is free");
        assert!(take(3, 5_000).is_err(), "and no more");
        // An unused pace cannot be given back for later.
        bucket.give_back();
        bucket.give_back();
        let later = (3..8).filter(|number| take(*number, 600_000).is_ok()).count();
        assert_eq!(later, 2);
    }

    #[test]
    fn a_few_go_at_once_and_each_other_has_a_time_of_its_own() {
        let bucket = Bucket::new(Pace::parse("1/s", 3).expect("a pace"));
        let take = |number: u64, ms| ask(&bucket, &format!("alice-{number}"), ms, "");
        for number in 0..3 {
            assert_eq!(take(number, 0), Ok(()));
        }
        let waits: Vec<u64> = (3..7).map(|number| take(number, 0).expect_err("too fast")).collect();
        assert_eq!(waits, [1_000, 2_000, 3_000, 4_000]);
        // They come back at their times, and go.
        for (number, wait) in (3..).zip(waits) {
            assert_eq!(take(number, wait), Ok(()), "{wait}");
        }
        assert!(take(7, 4_000).is_err());
        // After a pause a few may go at once again, and no more.
        let later = (7..12).filter(|number| take(*number, 60_000).is_ok()).count();
        assert_eq!(later, 3);
    }

    #[test]
    fn a_run_that_has_ended_keeps_nobody_waiting() {
        let bucket = Bucket::new(Pace::parse("1/s", 1).expect("a pace"));
        assert_eq!(ask(&bucket, "alice-0", 0, ""), Ok(()));
        let waits: Vec<_> = (1..300).map(|number| ask(&bucket, &format!("alice-{number}"), 0, "")).collect();
        assert_eq!(waits.last(), Some(&Err(299_000)));
        // She cancels all of them.
        assert_eq!(ask(&bucket, "alice-new", 500, "alice"), Err(500));
        assert_eq!(ask(&bucket, "op-0", 4_000, "alice"), Ok(()));
        assert_eq!(ask(&bucket, "bob-0", 4_000, "alice"), Err(1_000));
        assert_eq!(ask(&bucket, "bob-0", 5_000, "alice"), Ok(()));
        assert_eq!(ask(&bucket, "alice-newer", 9_000, "alice"), Ok(()));
    }

    /// Lets messages come, each as often as it is told to. Returns when each of them went, in seconds, and how often it asked.
    fn play(bucket: &Bucket, messages: &[(&str, u64, u64)]) -> BTreeMap<String, (u64, u32)> {
        let mut coming = BTreeMap::new();
        let mut order = 0..;
        for (sender, ms, count) in messages {
            for number in 0..*count {
                coming.insert((*ms, order.next()), (format!("{sender}-{number}"), 1));
            }
        }
        let mut gone = BTreeMap::new();
        while let Some(((ms, _), (name, asked))) = coming.pop_first() {
            match ask(bucket, &name, ms, "") {
                Ok(()) => _ = gone.insert(name, (ms / 1_000, asked)),
                Err(wait) => {
                    assert!(wait > 0, "{name} would come again at once");
                    coming.insert((ms + wait, order.next()), (name, asked + 1));
                }
            }
        }
        gone
    }

    #[test]
    fn an_operator_and_another_family_have_their_turn() {
        let bucket = Bucket::new(Pace::parse("1/s", 1).expect("a pace"));
        let messages = [("alice", 0, 60), ("op", 500, 1), ("bob", 600, 3)];
        let gone = play(&bucket, &messages);
        assert_eq!(gone["op-0"].0, 1, "at the next place");
        let of_bob: Vec<u64> = (0..3).map(|number| gone[&format!("bob-{number}")].0).collect();
        assert!(of_bob[0] <= 3 && of_bob[2] <= 9, "{of_bob:?}");
        let times: BTreeSet<u64> = gone.values().map(|(second, _)| *second).collect();
        assert_eq!(times.len(), 64, "one a second");
        assert!(times.last() <= Some(&70), "hardly a place is left empty: {times:?}");
    }

    #[test]
    fn families_that_send_much_share_a_channel_evenly() {
        let bucket = Bucket::new(Pace::parse("1/s", 1).expect("a pace"));
        let gone = play(&bucket, &[("alice", 0, 100), ("bob", 100, 100), ("carol", 200, 100)]);
        let in_a_minute = |sender: &str| {
            let of = gone.iter().filter(|(name, (second, _))| name.starts_with(sender) && *second < 60);
            of.count()
        };
        for sender in ["alice", "bob", "carol"] {
            assert!((15..=30).contains(&in_a_minute(sender)), "{sender}: {}", in_a_minute(sender));
        }
        let asked: u32 = gone.values().map(|(_, asked)| asked).sum();
        assert!(asked < 5 * 300, "each comes a few times: {asked}");
    }

    /// Operators among themselves go in order, and what they send is not held up by what sessions send meanwhile.
    #[test]
    fn sessions_hold_up_no_operator() {
        let bucket = Bucket::new(Pace::parse("1/s", 2).expect("a pace"));
        let mut messages: Vec<(String, u64, u64)> =
            (0..40).map(|number| (format!("s{number}"), number * 200, 2)).collect();
        messages.push(("op".to_owned(), 3_100, 4));
        messages.sort_by_key(|(_, ms, _)| *ms);
        let messages: Vec<(&str, u64, u64)> =
            messages.iter().map(|(name, ms, count)| (name.as_str(), *ms, *count)).collect();
        let gone = play(&bucket, &messages);
        let of_operator: Vec<u64> = (0..4).map(|number| gone[&format!("op-{number}")].0).collect();
        assert_eq!(of_operator, [4, 5, 6, 7]);
    }
}
