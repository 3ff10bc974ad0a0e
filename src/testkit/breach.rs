//! The report of a world in which a law was broken: everything needed to see why, and to see it again.

use std::fmt;

use super::laws::Broken;

/// A world that came to grief.
#[derive(Clone, Debug)]
pub struct Breach {
    /// The world's seed.
    pub seed: u64,
    /// The step in which it happened, from 1; the step after the last is the world's end.
    pub step: u32,
    /// The law, and what broke it.
    pub broken: Broken,
    /// The last lines of the trace.
    pub trace: String,
    /// The whole state; empty if it cannot be read any more.
    pub state: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}, step {}: {}", self.seed, self.step, self.broken)?;
        writeln!(f, "── the last steps\n{}── the state\n{}", self.trace, self.state)?;
        write!(f, "── again: SEED={} cargo test --test worlds -- --nocapture", self.seed)
    }
}

impl std::error::Error for Breach {}
