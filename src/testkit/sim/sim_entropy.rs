//! Deterministic randomness: one seed always gives one sequence of bits.
//!
//! Shape: splitmix64, a counter that steps by 2^64 divided by the golden ratio, scrambled on the
//! way out. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
//! Good enough to spread choices, worthless as a secret: the seed reveals every token.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::domain::Entropy;
use crate::port::EntropySource;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A seeded source of randomness, for the engine's ids and for a world's choices.
#[derive(Debug)]
pub struct SimEntropy {
    counter: AtomicU64,
    draws_left: AtomicU64,
}

impl SimEntropy {
    /// The source with this seed.
    pub fn seeded(seed: u64) -> SimEntropy {
        SimEntropy { counter: AtomicU64::new(seed), draws_left: AtomicU64::new(u64::MAX) }
    }

    /// Limits how often the engine may draw; beyond that it panics. Turns an endless loop of engine
    /// steps into a failure, instead of a hang.
    pub fn allow(&self, draws: u64) {
        self.draws_left.store(draws, Ordering::Relaxed);
    }

    /// The next 64 bits.
    pub fn bits(&self) -> u64 {
        let mut bits = self.counter.fetch_add(GOLDEN, Ordering::Relaxed).wrapping_add(GOLDEN);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `end`; 0 if `end` is 0.
    pub fn below(&self, end: u64) -> u64 {
        // Biased, but by less than any test could notice: every range here is far below 2^64.
        self.bits() % end.max(1)
    }

    /// True with a probability of one in `times`.
    pub fn one_in(&self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of `choices`; `None` if there are none.
    pub fn pick<'a, T>(&self, choices: &'a [T]) -> Option<&'a T> {
        let place = self.below(choices.len() as u64);
        choices.get(usize::try_from(place).ok()?)
    }

    /// One of `choices`, each as likely as its weight; `None` if no weight is above zero.
    pub fn pick_weighted<T: Copy>(&self, choices: &[(T, u32)]) -> Option<T> {
        let total: u64 = choices.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let mut left = self.below(total);
        choices.iter().filter(|(_, weight)| *weight > 0).find_map(|(choice, weight)| {
            let found = left < u64::from(*weight);
            left = left.saturating_sub(u64::from(*weight));
            found.then_some(*choice)
        })
    }
}

impl EntropySource for SimEntropy {
    fn draw(&self) -> Entropy {
        let left = self.draws_left.fetch_sub(1, Ordering::Relaxed);
        assert!(left > 0, "the engine takes more steps than were allowed");
        let bits = u128::from(self.bits()) << 64 | u128::from(self.bits());
        Entropy(bits.to_le_bytes())
    }
}
