//! What would change if a schedule were redefined, or the process were down for a while: two
//! forecasts, and their differences. Asking changes nothing.

use std::collections::BTreeMap;

use super::forecast::{Forecast, ForecastQuery, Hypothesis, WhatIf, forecast_under};
use super::forecast_slot::{ForecastSlot, SlotOutcome};
use crate::calendar::Zones;
use crate::domain::{Entropy, Moment, Now, Reason, Refusal, ScheduleId, Scope};
use crate::engine::state::State;
use crate::engine::step::schedule::change_schedule::edited;
use crate::engine::step_builder::{Env, Step, StepBuilder};

/// The differences of two forecasts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The slots that differ, in order.
    pub slots: Vec<Difference>,
    /// Whether the comparison ends before the requested time, because one of the forecasts is cut.
    pub cut: bool,
}

/// A slot with another outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The schedule.
    pub schedule: ScheduleId,
    /// The slot.
    pub slot: Moment,
    /// The outcome as things stand; `None` if there is no such slot.
    pub as_is: Option<ForecastSlot>,
    /// The hypothetical outcome; `None` if there would be no such slot.
    pub would: Option<ForecastSlot>,
}

impl State {
    /// Returns the slots that would have another outcome.
    ///
    /// # Errors
    /// Returns the [`Refusal`] that the change itself would get.
    pub fn what_if(
        &self,
        zones: &Zones,
        now: Now,
        ask: &ForecastQuery<'_>,
        supposed: &WhatIf,
    ) -> Result<Differences, Refusal> {
        let as_is = forecast_under(self, zones, now, ask, &Hypothesis::Nothing);
        let would = match supposed {
            WhatIf::Outage(outage) => forecast_under(self, zones, now, ask, &Hypothesis::Outage(*outage)),
            WhatIf::Change(schedule, change) => {
                let unknown = || Refusal::UnknownSchedule { schedule: schedule.clone() };
                let key = self.schedule_key(schedule).ok_or_else(unknown)?;
                let record = self.schedule_at(key).ok_or_else(unknown)?;
                // A schedule that the caller may not see answers like one that does not exist.
                if !record.is_for(ask.scope) {
                    return Err(unknown());
                }
                if record.status.is_terminal() {
                    return Err(Refusal::WrongStatus { schedule: schedule.clone(), status: record.status });
                }
                let given = Env { now, entropy: Entropy([0; 16]), zones, awaited: None };
                let draft = StepBuilder::new(Step::default(), self, given);
                let paused = change.paused;
                // As if an operator made the change: such a change joins no line, so no limit on
                // lines can refuse the question.
                let operator = Scope::Operator.into();
                let edited = edited(&draft, record, (**change).clone(), Some(&operator))?;
                let (schedule, retriggered) = (&edited.schedule, edited.retriggered);
                forecast_under(
                    self,
                    zones,
                    now,
                    ask,
                    &Hypothesis::Edit { key, schedule, retriggered, paused },
                )
            }
        };
        Ok(compare(&as_is, &would))
    }
}

fn compare(as_is: &Forecast, would: &Forecast) -> Differences {
    // Beyond the last slot of a list that was cut, that forecast is unknown.
    let end = |forecast: &Forecast| forecast.slots.last().filter(|_| forecast.cut).map(|last| last.at);
    let end = [end(as_is), end(would)].into_iter().flatten().min();
    let known = |coming: &&ForecastSlot| end.is_none_or(|end| coming.at <= end);
    // Both forecasts side by side, by slot.
    let mut slots: BTreeMap<(Moment, &ScheduleId), Pair> = BTreeMap::new();
    for coming in as_is.slots.iter().filter(known) {
        slots.entry((coming.slot, &coming.schedule)).or_default().0 = Some(coming.clone());
    }
    for coming in would.slots.iter().filter(known) {
        slots.entry((coming.slot, &coming.schedule)).or_default().1 = Some(coming.clone());
    }
    let (ranges, would_ranges) = (ranges(&as_is.slots), ranges(&would.slots));
    let difference = |((slot, schedule), (as_is, would)): ((Moment, &ScheduleId), Pair)| {
        // One forecast may list a slot by itself that the other handles together with later ones.
        let as_is = as_is.or_else(|| within(&ranges, schedule, slot));
        let would = would.or_else(|| within(&would_ranges, schedule, slot));
        let same = match (&as_is, &would) {
            (Some(one), Some(two)) => (one.outcome, one.reason, one.at) == (two.outcome, two.reason, two.at),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        (!same).then(|| Difference { schedule: schedule.clone(), slot, as_is, would })
    };
    Differences { slots: slots.into_iter().filter_map(difference).collect(), cut: as_is.cut || would.cut }
}

type Pair = (Option<ForecastSlot>, Option<ForecastSlot>);

/// Returns the entries that stand for several slots, by schedule.
fn ranges(slots: &[ForecastSlot]) -> BTreeMap<&ScheduleId, Vec<&ForecastSlot>> {
    let mut ranges: BTreeMap<&ScheduleId, Vec<&ForecastSlot>> = BTreeMap::new();
    for coming in slots.iter().filter(|coming| coming.count > 1) {
        ranges.entry(&coming.schedule).or_default().push(coming);
    }
    ranges
}

/// Returns the outcome of a slot that is handled together with a later one.
fn within(
    ranges: &BTreeMap<&ScheduleId, Vec<&ForecastSlot>>,
    schedule: &ScheduleId,
    slot: Moment,
) -> Option<ForecastSlot> {
    let range = ranges.get(schedule)?.iter().find(|range| range.since <= slot && slot < range.slot)?;
    let mut coming = ForecastSlot { since: slot, slot, count: 1, ..(*range).clone() };
    if coming.run().is_some() {
        coming.outcome = SlotOutcome::Skipped;
        coming.reason = Some(Reason::Coalesced);
    }
    Some(coming)
}
