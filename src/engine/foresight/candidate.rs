//! A record of a slot, from any of the sources that an explanation consults.

use super::forecast_slot::ForecastSlot;
use super::schedule_history::{RunSummary, SkippedSlots, WithdrawnSlot};
use crate::domain::{Moment, Past, Span};
use crate::engine::record::RunRecord;

/// A record of a slot.
pub(super) enum Candidate<'k> {
    /// A run that the state has.
    Run(&'k RunRecord),
    /// A run that only decisions tell of.
    Summary(&'k RunSummary),
    /// Slots without a run.
    Skip(SkippedSlots),
    /// A slot that was called off before it was due.
    Withdrawn(&'k WithdrawnSlot),
    /// A check that the history of a watch has.
    Check(Past),
    /// A slot that is to come.
    Forecast(ForecastSlot),
}

impl Candidate<'_> {
    pub(super) fn slot(&self) -> Moment {
        match self {
            Candidate::Run(run) => run.run.slot,
            Candidate::Summary(told) => told.id.slot,
            Candidate::Skip(skip) => skip.slots.until,
            Candidate::Withdrawn(it) => it.slot,
            // Its slot is not kept, and is hardly earlier.
            Candidate::Check(check) => check.at,
            Candidate::Forecast(coming) => coming.slot,
        }
    }

    /// Returns when it became what the record says, as far as is known.
    pub(super) fn at(&self) -> Moment {
        match self {
            // A message that was taken out of an inbox was delivered after its run had ended.
            Candidate::Run(it) => it.run.ended_at.max(it.run.delivered_at).unwrap_or(it.run.claimed_at),
            Candidate::Summary(told) => told.at,
            Candidate::Skip(skip) => skip.at,
            Candidate::Withdrawn(it) => it.at,
            Candidate::Check(check) => check.at,
            Candidate::Forecast(coming) => coming.slot,
        }
    }

    /// Returns how many slots the record stands for.
    pub(super) fn count(&self) -> u64 {
        match self {
            Candidate::Run(run) => run.run.folded + 1,
            Candidate::Summary(told) => told.count,
            Candidate::Skip(skip) => skip.slots.count,
            Candidate::Withdrawn(..) | Candidate::Check(..) => 1,
            Candidate::Forecast(coming) => coming.count,
        }
    }
}

/// What counts as near. People name instants to the minute.
pub(super) const NEAR: Span = Span::from_millis(60_000);
/// The most slots that are listed near an instant: for a trigger that fires every second, all within a minute on either side.
pub(super) const NEAR_MOST: usize = 130;
