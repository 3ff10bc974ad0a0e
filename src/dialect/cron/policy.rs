//! The policy of a job: how its runs are executed.
//!
//! The engine executes it. Invariant: a policy is always complete; a patch replaces all of it, and fields that the
//! patch omits return to their defaults. Source: SEED-004, "Scheduling Model".

use super::shape::integer;
use crate::dialect::args::{Arg, ArgError};
use crate::domain::names;
use crate::edn::{Map, Value};
use crate::limits;

/// How a job's runs are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobPolicy {
    /// What happens to a slot while the previous run is still active.
    pub overlap: Overlap,
    /// What happens to slots that passed while the service was down.
    pub missed_run: MissedRun,
    /// The number of seconds after which an unfinished run counts as failed: 1 to [`JobPolicy::TIMEOUT_SECONDS_MAX`].
    pub timeout_seconds: u64,
}

names! {
    /// What happens to a slot while the previous run is still active.
    Overlap {
        /// The slot is skipped.
        Skip = "skip",
        /// The slot runs as well.
        Parallel = "parallel",
    }
}

names! {
    /// What happens to slots that passed while the service was down.
    MissedRun {
        /// The latest of them runs, once.
        RunOnce = "run_once",
        /// None of them runs.
        Skip = "skip",
    }
}

impl JobPolicy {
    /// The longest timeout, equal to the longest period.
    pub const TIMEOUT_SECONDS_MAX: u64 = limits::PERIOD_MS_MAX.value / 1_000;

    /// Prints the policy in the seed's shape.
    pub(super) fn to_map(self) -> Map {
        Map::new()
            .with("overlap", Value::keyword(self.overlap.name()))
            .with("missed_run", Value::keyword(self.missed_run.name()))
            .with("timeout_seconds", integer(self.timeout_seconds))
    }
}

impl Default for JobPolicy {
    fn default() -> JobPolicy {
        // Source: SEED-004, "Scheduling Model", the table of policies.
        JobPolicy { overlap: Overlap::Skip, missed_run: MissedRun::RunOnce, timeout_seconds: 1_800 }
    }
}

/// The fields of a policy.
pub(super) const FIELDS: &[&str] = &["overlap", "missed_run", "timeout_seconds"];

/// Reads a policy; absent fields get their defaults.
pub(super) fn parse(arg: Arg<'_>) -> Result<JobPolicy, ArgError> {
    let args = arg.map(FIELDS)?;
    let preset = JobPolicy::default();
    let timeout_seconds = args.int_in("timeout_seconds", 1, JobPolicy::TIMEOUT_SECONDS_MAX)?;
    let overlap = args.one_of("overlap", Overlap::NAMES, Overlap::ALL)?;
    let missed_run = args.one_of("missed_run", MissedRun::NAMES, MissedRun::ALL)?;
    Ok(JobPolicy {
        overlap: overlap.unwrap_or(preset.overlap),
        missed_run: missed_run.unwrap_or(preset.missed_run),
        timeout_seconds: timeout_seconds.unwrap_or(preset.timeout_seconds),
    })
}
