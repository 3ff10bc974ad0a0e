//! Port: the source of randomness for ids, tokens and jitter.

use crate::domain::Entropy;

/// Draws random bits.
///
/// Contract: the bits are unpredictable to anyone outside the process, because ids and tokens are
/// made of them. Only a simulation may be predictable.
pub trait EntropySource: Send + Sync {
    /// Draws 128 fresh bits.
    fn draw(&self) -> Entropy;
}
