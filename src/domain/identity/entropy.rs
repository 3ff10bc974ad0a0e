//! Randomness as an argument of a decision.

/// 128 random bits for one decision: enough for the one id that a step may have to create.
///
/// The core never draws randomness itself. A seeded world passes its own bits, so a replay creates
/// the same ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entropy(pub [u8; 16]);
