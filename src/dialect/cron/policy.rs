//! How a job's runs are carried out.
//!
//! What lives elsewhere: doing so (`engine`). Invariant: a policy is whole; a patch that gives one replaces all of it, and
//! what it does not name is back at its default. Source: SEED-004, "Scheduling Model".

use super::shape::integer;
use crate::dialect::args::{Arg, ArgError};
use crate::domain::names;
use crate::edn::{Map, Value};
use crate::limits;

/// How a job's runs are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What becomes of a slot while the run before is still active.
    pub overlap: Overlap,
    /// What becomes of slots that passed while nothing was there to run them.
    pub missed_run: MissedRun,
    /// After how many seconds a run that has not finished counts as failed: 1 to [`Policy::TIMEOUT_SECONDS_MAX`].
    pub timeout_seconds: u64,
}

names! {
    /// What becomes of a slot while the run before is still active.
    Overlap {
        /// It is skipped.
        Skip = "skip",
        /// It runs as well.
        Parallel = "parallel",
    }
}

names! {
    /// What becomes of slots that passed while nothing was there to run them.
    MissedRun {
        /// The latest of them runs, once.
        RunOnce = "run_once",
        /// None of them runs.
        Skip = "skip",
    }
}

impl Policy {
    /// The longest time-out, as long as the longest period.
    pub const TIMEOUT_SECONDS_MAX: u64 = limits::PERIOD_MS_MAX.value / 1_000;

    /// In the seed's shape.
    pub(super) fn to_map(self) -> Map {
        Map::new()
            .with("overlap", Value::keyword(self.overlap.name()))
            .with("missed_run", Value::keyword(self.missed_run.name()))
            .with("timeout_seconds", integer(self.timeout_seconds))
    }
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { overlap: Overlap::Skip, missed_run: MissedRun::RunOnce, timeout_seconds: 1_800 }
    }
}

/// Reads a policy.
pub(super) fn parse(arg: Arg<'_>) -> Result<Policy, ArgError> {
    let args = arg.map(&["overlap", "missed_run", "timeout_seconds"])?;
    let preset = Policy::default();
    let timeout_seconds = args.int_in("timeout_seconds", 1, Policy::TIMEOUT_SECONDS_MAX)?;
    let overlap = args.one_of("overlap", Overlap::NAMES, Overlap::ALL)?;
    let missed_run = args.one_of("missed_run", MissedRun::NAMES, MissedRun::ALL)?;
    Ok(Policy {
        overlap: overlap.unwrap_or(preset.overlap),
        missed_run: missed_run.unwrap_or(preset.missed_run),
        timeout_seconds: timeout_seconds.unwrap_or(preset.timeout_seconds),
    })
}
