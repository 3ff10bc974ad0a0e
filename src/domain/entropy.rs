//! Randomness as an argument.

/// 128 random bits for one decision: enough for the one id that a step may have to invent.
///
/// The core never draws randomness; a seeded world passes its own, so a replay invents the same ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entropy(pub [u8; 16]);
