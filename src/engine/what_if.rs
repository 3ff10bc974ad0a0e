//! What would be otherwise, if a schedule were changed or the process were down for a while: two forecasts, and where they
//! differ. Nothing is changed by asking.

use std::collections::BTreeMap;

use super::draft::{Draft, Given, Step};
use super::forecast::{Ask, Coming, Fate, Forecast, Supposed, WhatIf, foresee};
use super::state::State;
use super::step::change_schedule::edited;
use crate::calendar::Zones;
use crate::domain::{Entropy, Moment, Now, Reason, Refusal, ScheduleId, Scope};

/// Where two futures differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The slots, in order.
    pub slots: Vec<Difference>,
    /// Whether the comparison ends before the time asked for, because one of the two has more slots than are listed.
    pub cut: bool,
}

/// One slot of which something else becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Whose it is.
    pub schedule: ScheduleId,
    /// The slot.
    pub slot: Moment,
    /// What becomes of it as things stand; `None` if there is no such slot.
    pub as_is: Option<Coming>,
    /// What would become of it; `None` if there would be no such slot.
    pub would: Option<Coming>,
}

impl State {
    /// Which slots would be otherwise.
    ///
    /// # Errors
    /// [`Refusal`], where the change itself would be refused.
    pub fn what_if(
        &self,
        zones: &Zones,
        now: Now,
        ask: &Ask<'_>,
        supposed: &WhatIf,
    ) -> Result<Differences, Refusal> {
        let as_is = foresee(self, zones, now, ask, &Supposed::Nothing);
        let would = match supposed {
            WhatIf::Outage(outage) => foresee(self, zones, now, ask, &Supposed::Outage(*outage)),
            WhatIf::Change(schedule, change) => {
                let unknown = || Refusal::UnknownSchedule { schedule: schedule.clone() };
                let key = self.schedule_key(schedule).ok_or_else(unknown)?;
                let record = self.schedule_at(key).ok_or_else(unknown)?;
                if !ask.scope.reaches(&record.schedule) {
                    return Err(unknown());
                }
                if record.status.is_terminal() {
                    return Err(Refusal::WrongStatus { schedule: schedule.clone(), status: record.status });
                }
                let given = Given { now, entropy: Entropy([0; 16]), zones };
                let draft = Draft::new(Step::default(), self, given);
                let paused = change.paused;
                // Nothing is changed, so nobody's line goes on.
                let operator = Scope::Operator.into();
                let edited = edited(&draft, record, (**change).clone(), Some(&operator))?;
                let (schedule, retriggered) = (&edited.schedule, edited.retriggered);
                foresee(self, zones, now, ask, &Supposed::Edit { key, schedule, retriggered, paused })
            }
        };
        Ok(compare(&as_is, &would))
    }
}

fn compare(as_is: &Forecast, would: &Forecast) -> Differences {
    // Beyond the last slot of a list that was cut, nothing is known of that future.
    let end = |forecast: &Forecast| forecast.slots.last().filter(|_| forecast.cut).map(|last| last.at);
    let end = [end(as_is), end(would)].into_iter().flatten().min();
    let known = |coming: &&Coming| end.is_none_or(|end| coming.at <= end);
    let mut slots: BTreeMap<(Moment, &ScheduleId), Pair> = BTreeMap::new();
    for coming in as_is.slots.iter().filter(known) {
        slots.entry((coming.slot, &coming.schedule)).or_default().0 = Some(coming.clone());
    }
    for coming in would.slots.iter().filter(known) {
        slots.entry((coming.slot, &coming.schedule)).or_default().1 = Some(coming.clone());
    }
    let (ranges, would_ranges) = (ranges(&as_is.slots), ranges(&would.slots));
    let difference = |((slot, schedule), (as_is, would)): ((Moment, &ScheduleId), Pair)| {
        let as_is = as_is.or_else(|| within(&ranges, schedule, slot));
        let would = would.or_else(|| within(&would_ranges, schedule, slot));
        let same = match (&as_is, &would) {
            (Some(one), Some(two)) => (one.will, one.reason, one.at) == (two.will, two.reason, two.at),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        (!same).then(|| Difference { schedule: schedule.clone(), slot, as_is, would })
    };
    Differences { slots: slots.into_iter().filter_map(difference).collect(), cut: as_is.cut || would.cut }
}

type Pair = (Option<Coming>, Option<Coming>);

/// Those that stand for several slots.
fn ranges(slots: &[Coming]) -> BTreeMap<&ScheduleId, Vec<&Coming>> {
    let mut ranges: BTreeMap<&ScheduleId, Vec<&Coming>> = BTreeMap::new();
    for coming in slots.iter().filter(|coming| coming.count > 1) {
        ranges.entry(&coming.schedule).or_default().push(coming);
    }
    ranges
}

/// What becomes of a slot that is dealt with together with a later one.
fn within(
    ranges: &BTreeMap<&ScheduleId, Vec<&Coming>>,
    schedule: &ScheduleId,
    slot: Moment,
) -> Option<Coming> {
    let range = ranges.get(schedule)?.iter().find(|range| range.since <= slot && slot < range.slot)?;
    let mut coming = Coming { since: slot, slot, count: 1, ..(*range).clone() };
    if coming.run().is_some() {
        coming.will = Fate::Skipped;
        coming.reason = Some(Reason::Coalesced);
    }
    Some(coming)
}
