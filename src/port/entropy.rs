//! Randomness.

use crate::domain::Entropy;

/// Draws random bits.
///
/// Contract: bits are unpredictable to anyone outside the process, unless the implementation is a simulation; ids and
/// tokens are made of them.
pub trait EntropySource: Send + Sync {
    /// 128 fresh bits.
    fn draw(&self) -> Entropy;
}
