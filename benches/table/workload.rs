//! The workload of every competitor: sizes, delays, messages, and an order that is random but equal
//! in every run.
//!
//! Every competitor gets equal numbers from here. Invariant: pending schedules are due in an hour
//! at the earliest, so that none fires during a measurement.

use std::time::Duration;

/// The sizes of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Schedules pending during a measurement.
    pub(crate) pending: usize,
    /// Sessions that own them, each an equal number.
    pub(crate) sessions: usize,
    /// Schedules due at one instant.
    pub(crate) burst: usize,
    /// Schedules due per second at the steady load.
    pub(crate) rate: usize,
    /// The duration of the steady load in seconds.
    pub(crate) rate_seconds: usize,
    /// The duration of the idle measurement in seconds.
    pub(crate) idle_seconds: u64,
    /// The repetitions per competitor, ours first.
    pub(crate) repeats: [usize; 3],
    /// The repetitions of the idle measurement, which takes long and varies little.
    pub(crate) idle_repeats: usize,
    /// The size of the EDN text in bytes.
    pub(crate) edn_bytes: usize,
}

impl Sizes {
    /// The sizes of the documented figures.
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
    /// Sizes that only show that everything runs.
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

    /// Schedules per session: psi's limit, exactly used up.
    pub(crate) fn per_session(&self) -> usize {
        self.pending / self.sessions
    }
}

/// The time between creating schedules and their deadline: creating must be done by then.
pub(crate) const LEAD: Duration = Duration::from_secs(2);

/// A small random generator (xorshift): equal numbers in every run and for every competitor.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Random {
        Random(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The slight bias of the remainder does not matter for delays.
        self.0 % end
    }

    /// A delay from one hour to 24, with nanosecond precision.
    pub(crate) fn far_delay(&mut self) -> Duration {
        const HOUR: u64 = 3_600_000_000_000;
        Duration::from_nanos(HOUR + self.below(23 * HOUR))
    }

    /// A random time within the duration of the steady load.
    pub(crate) fn within(&mut self, seconds: usize) -> Duration {
        Duration::from_nanos(self.below(seconds as u64 * 1_000_000_000))
    }

    /// Shuffles the items (Fisher-Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            let other = usize::try_from(self.below(place as u64 + 1)).unwrap_or(place);
            items.swap(place, other);
        }
    }
}

/// A message of 64 bytes that begins with its number. The digits are written without `format!`,
/// which would cost as much as a create.
pub(crate) fn message(number: usize) -> Box<str> {
    let mut text = *b"0000000000: look at the build that began an hour ago, and report";
    let mut rest = number;
    for digit in text[..10].iter_mut().rev() {
        *digit = b"0123456789"[rest % 10];
        rest /= 10;
    }
    std::str::from_utf8(&text).expect("digits and letters are text").into()
}

/// The number at the beginning of a message.
pub(crate) fn number(message: &str) -> usize {
    message[..10].parse().unwrap_or(usize::MAX)
}
