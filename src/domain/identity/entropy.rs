//! Randomness as an argument of a decision.

/// 128 random bits for one decision: enough for the one id that a step may have to create.
///
/// The core never draws randomness itself. A seeded world passes its own bits, so a replay creates
/// the same ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entropy(pub [u8; 16]);

impl Entropy {
    /// Returns twelve hexadecimal digits, which SEED-001 has as ids. 48 bits can collide: a caller draws again if one is in use.
    pub fn short(self) -> String {
        let [a, b, c, d, e, f, ..] = self.0;
        format!("{:012x}", u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    }
}
