//! Reads the keys that every kind of tool has: the risk of its calls, and the time of one.

use crate::domain::{Risk, Span};
use crate::limits;

/// What a call can do to the world, as it is written.
pub(in crate::app) fn risk(written: Option<&str>) -> Result<Option<Risk>, String> {
    let known =
        |name: &str| Risk::parse(name).ok_or_else(|| format!("risk is one of {}", Risk::NAMES.join(", ")));
    written.map(known).transpose()
}

/// How long a call may take, as it is written.
pub(in crate::app) fn time(written: Option<u64>) -> Result<Option<Span>, String> {
    let max = limits::CALL_MS_MAX.value;
    match written {
        Some(time) if !(1..=max).contains(&time) => Err(format!("timeout-ms is from 1 to {max}")),
        written => Ok(written.map(Span::from_millis)),
    }
}
