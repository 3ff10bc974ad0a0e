//! Runs a plan and writes its answer as JSON.

pub(super) mod answer;
pub(super) mod execute;
pub(super) mod fast_writer;
pub(super) mod write;
