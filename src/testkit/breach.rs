//! The report of a broken law: the seed of its world, the law, and the last steps.

use std::fmt;

use super::laws::Broken;

/// A world in which a law was broken.
#[derive(Clone, Debug)]
pub struct Breach {
    /// The world's seed.
    pub seed: u64,
    /// The step in which the law broke, from 1. The world's end counts as one more step.
    pub step: u32,
    /// The broken law, with details.
    pub broken: Broken,
    /// The last lines of the trace.
    pub trace: String,
    /// The engine's whole state as text; empty after a panic.
    pub state: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}, step {}: {}", self.seed, self.step, self.broken)?;
        write!(f, "── the last steps\n{}── the state\n{}", self.trace, self.state)
    }
}

impl std::error::Error for Breach {}
