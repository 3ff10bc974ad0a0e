//! What is measured: sizes, delays, messages, and an order that is random but the same in every run.
//!
//! Every competitor gets the same numbers from here. Invariant: pending schedules are due in an hour at the earliest, so
//! that none of them fires while something else is measured.

use std::time::Duration;

/// How much of everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Schedules that are pending while something is measured.
    pub(crate) pending: usize,
    /// Sessions that own them, each as many as the next.
    pub(crate) sessions: usize,
    /// Schedules due in one instant.
    pub(crate) burst: usize,
    /// Schedules due one after the other, per second.
    pub(crate) rate: usize,
    /// Seconds for which they come.
    pub(crate) rate_seconds: usize,
    /// Seconds without any work.
    pub(crate) idle_seconds: u64,
    /// How often each competitor is measured, us first.
    pub(crate) repeats: [usize; 3],
    /// How often each is left idle: that takes long and varies little.
    pub(crate) idle_repeats: usize,
    /// Bytes of EDN read and written at once.
    pub(crate) edn_bytes: usize,
}

impl Sizes {
    /// What the figures in the documents were taken with.
    pub(crate) const FULL: Sizes = Sizes {
        pending: 1_000_000,
        sessions: 20_000,
        burst: 100_000,
        rate: 10_000,
        rate_seconds: 5,
        idle_seconds: 10,
        repeats: [3, 3, 3],
        idle_repeats: 1,
        edn_bytes: 1 << 20,
    };
    /// Enough to see that everything runs.
    pub(crate) const QUICK: Sizes = Sizes {
        pending: 20_000,
        sessions: 400,
        burst: 2_000,
        rate: 1_000,
        rate_seconds: 1,
        idle_seconds: 1,
        repeats: [1, 1, 1],
        idle_repeats: 1,
        edn_bytes: 1 << 16,
    };

    /// How many schedules one session may have: psi's bound, which is exactly used up.
    pub(crate) fn per_session(&self) -> usize {
        self.pending / self.sessions
    }
}

/// How long before something is due it is created: creating must have ended by then.
pub(crate) const LEAD: Duration = Duration::from_secs(2);

/// A small generator (xorshift): the same numbers in every run and for every competitor.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Random {
        Random(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// A delay of a pending schedule: from one hour to 24, to the nanosecond.
    pub(crate) fn far_delay(&mut self) -> Duration {
        const HOUR: u64 = 3_600_000_000_000;
        Duration::from_nanos(HOUR + self.below(23 * HOUR))
    }

    /// When, within the time that the steady load lasts, one of its schedules is due.
    pub(crate) fn within(&mut self, seconds: usize) -> Duration {
        Duration::from_nanos(self.below(seconds as u64 * 1_000_000_000))
    }

    /// Puts the items into random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            let other = usize::try_from(self.below(place as u64 + 1)).unwrap_or(place);
            items.swap(place, other);
        }
    }
}

/// A message of 64 bytes that begins with its number. Made by hand: formatting would cost as much as a create does.
pub(crate) fn message(number: usize) -> Box<str> {
    let mut text = *b"0000000000: look at the build that began an hour ago, and report";
    let mut rest = number;
    for digit in text[..10].iter_mut().rev() {
        *digit = b"0123456789"[rest % 10];
        rest /= 10;
    }
    std::str::from_utf8(&text).expect("digits and letters are text").into()
}

/// The number that a message begins with.
pub(crate) fn number(message: &str) -> usize {
    message[..10].parse().unwrap_or(usize::MAX)
}
