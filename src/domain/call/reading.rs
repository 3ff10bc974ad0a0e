//! An outcome, evaluated for a watch.
//!
//! What lives elsewhere: the making out (`engine/reading`), which happens before a lock is taken. Invariant: whatever a watch
//! decides by costs the same here, however large the outcome is.

use std::sync::Arc;

use crate::domain::{Digest, Glimpse, Outcome, Span, Tally, Trial, Why};

/// An outcome, evaluated for a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The outcome; that of the check before if the tool says that nothing has changed since.
    pub outcome: Arc<Outcome>,
    /// Of what is compared of it.
    pub digest: Digest,
    /// Whether the condition of the watch holds; false without one.
    pub holds: bool,
    /// Whether every path of the condition led to a value.
    pub is_known: bool,
    /// What the history shows of it.
    pub glimpse: Arc<Glimpse>,
    /// How it differs from what was shown last, on one line.
    pub change: Option<Box<str>>,
    /// How long the endpoint asks to wait before it is asked again.
    pub again_after: Option<Span>,
}

/// What was decided about a check, and what the watch counts from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighed {
    /// Why it is told; `None` if it is not.
    pub told: Option<Why>,
    /// What is counted.
    pub tally: Tally,
    /// A result that may become a change if it lasts.
    pub trial: Option<Trial>,
}

/// A check of a watch: how its outcome was evaluated, and what was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchCheck {
    /// How its outcome was evaluated.
    pub reading: Reading,
    /// What was decided.
    pub weighed: Weighed,
}
