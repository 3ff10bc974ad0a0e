//! The timeline: how many slots there were and will be in each stretch of time, by what became or will become of them.
//!
//! The past comes from the retained runs and from the decisions about skipped slots, the future from the forecast. Both are
//! counted by the slot's own instant, so that a late run stands where it was due.
//! What lives elsewhere: which rows have cells of their own (`timeline_rows.rs`).
//! Invariant: a slot is counted once, and for a session only if it owns the schedule.

use std::collections::{BTreeMap, HashSet};

use super::listing::{Whose, admitted};
use super::params::{CheckedParams, enums, params, refused};
use super::registry::{ParamFault, ParamFaultKind, ParamGroups, ResolverError};
use super::schedule_filter::ScheduleFilter;
use super::timeline_cell::{TimelineCell, TimelineState};
use super::timeline_rows::{Counted, Counts, join_others};
use super::view::View;
use crate::domain::{DecisionKind, Moment, Reason, RunState, ScheduleId, Span, names};
use crate::edn::{Map, Value};
use crate::engine::{ForecastQuery, ScheduleRecord, SlotOutcome};
use crate::limits;

names! {
    /// What the cells of a timeline are separated by.
    TimelineBy {
        /// By nothing: one row for all.
        All = "all",
        /// By schedule.
        Schedule = "schedule",
        /// By the session that owns the schedule.
        Session = "session",
        /// By the reason.
        Reason = "reason",
    }
}

enums! {
    TimelineBy = "timeline-by",
}

params! {
    /// The range of a timeline, and its division.
    pub TimelineParams {
        /// The start of the range. 24 hours ago if omitted.
        optional from: Moment = "from",
        /// The end of the range. 24 hours from now if omitted.
        optional to: Moment = "to",
        /// The length of a bucket in milliseconds. The range in 48 buckets if omitted.
        optional bucket: Span = "bucket-ms",
        /// What the cells are separated by. By nothing if omitted.
        optional by: TimelineBy = "by",
        /// How many schedules, sessions or reasons have cells of their own: those with trouble in the most buckets, then those
        /// that come first. The others are counted together. All have their own if omitted.
        optional rows: u32 = "rows" bounded(1, ROWS_MAX),
    }
}

/// The parameters of a timeline.
pub(super) const OF_TIMELINE: ParamGroups = &[TimelineParams::GROUP, ScheduleFilter::GROUP];

/// Counts the slots of a range.
struct Counting<'v, 'a> {
    view: &'v View<'a>,
    from: Moment,
    to: Moment,
    bucket: Span,
    by: TimelineBy,
    /// The schedules to count; `None` for all that are the caller's.
    only: Option<HashSet<&'a ScheduleId>>,
    cells: Counts,
}

/// Returns the cells of a timeline, by bucket, group and state.
///
/// # Errors
/// Returns a parameter that is invalid.
pub(super) fn cells(view: &View<'_>, params: &Map) -> Result<Vec<TimelineCell>, ResolverError> {
    let given = CheckedParams::of(params);
    let asked = TimelineParams::read(&given).map_err(refused(TIMELINE))?;
    let filter = ScheduleFilter::read(&given).map_err(refused(TIMELINE))?;
    let mut counting = Counting::new(view, &asked)?;
    let schedules = admitted(view, Whose::All, &filter);
    // Decisions outlive the schedules that they are about, and are counted unless a filter asks for something else.
    if filter != ScheduleFilter::read(&CheckedParams::of(&Map::new())).map_err(refused(TIMELINE))? {
        counting.only = Some(schedules.iter().map(|record| &record.schedule().id).collect());
    }
    counting.count_runs(&schedules);
    counting.count_skips();
    let mut cut = counting.count_forecast();
    let (counts, others) = join_others(counting.cells, asked.rows);
    let most = usize::try_from(limits::TIMELINE_CELLS.value).unwrap_or(usize::MAX);
    cut |= counts.len() > most;
    let (from, bucket) = (counting.from, counting.bucket.millis());
    let start =
        |number: u64| from.checked_add(Span::from_millis(number.saturating_mul(bucket))).unwrap_or(from);
    let cell = |((number, of, state), Counted { count, at, is_of_others })| {
        let (start, others) = (start(number), if is_of_others { others } else { None });
        TimelineCell { start, of, state, count, at, others, more: false }
    };
    // The table is in the order of buckets, so a timeline that is cut off lacks its end.
    let mut cells: Vec<TimelineCell> = counts.into_iter().take(most).map(cell).collect();
    if let Some(last) = cells.last_mut() {
        last.more = cut;
    }
    Ok(cells)
}

impl<'v, 'a> Counting<'v, 'a> {
    fn new(view: &'v View<'a>, asked: &TimelineParams) -> Result<Counting<'v, 'a>, ResolverError> {
        let now = view.now.wall;
        let day = Span::from_millis(DAY_MS);
        let from = asked.from.or_else(|| now.checked_sub(day)).unwrap_or(now);
        let to = asked.to.or_else(|| now.checked_add(day)).unwrap_or(now);
        if to <= from {
            return Err(wrong("to", to, "after from"));
        }
        // At least 1: a range of less than a millisecond still has one bucket.
        let whole = to.millis_since(from).max(1);
        let given = asked.bucket.map_or(whole.div_ceil(BUCKETS), Span::millis);
        let bucket = given.max(1);
        if given == 0 || whole.div_ceil(bucket) > limits::TIMELINE_BUCKETS.value {
            let expected = format!("long enough for at most {} buckets", limits::TIMELINE_BUCKETS.value);
            let value = Value::Int(i64::try_from(given).unwrap_or(i64::MAX));
            let kind = ParamFaultKind::Wrong { name: "bucket-ms", value, expected, nearest: None };
            return Err(ParamFault { path: Vec::new(), kind }.into_error(&TIMELINE));
        }
        let by = asked.by.unwrap_or(TimelineBy::All);
        let bucket = Span::from_millis(bucket);
        Ok(Counting { view, from, to, bucket, by, only: None, cells: BTreeMap::new() })
    }

    /// Counts the runs that there are.
    fn count_runs(&mut self, schedules: &[&ScheduleRecord]) {
        let view = self.view;
        for record in schedules {
            for (_, run) in view.state.runs_of(record) {
                let shown = run.run();
                let state = match shown.state {
                    RunState::Queued | RunState::InFlight | RunState::Running => TimelineState::UnderWay,
                    RunState::Left => TimelineState::Left,
                    RunState::Delivered => TimelineState::Delivered,
                    RunState::Cancelled => TimelineState::Cancelled,
                    RunState::Failed => TimelineState::Failed,
                };
                let reason = shown.reason.or_else(|| view.state.run_waits_for(run));
                let about = (&record.schedule().id, Some(record.schedule().owner.as_str()), reason);
                // The slots that were folded into the run stand at the run's: their own instants are not known any more.
                self.add((shown.slot, shown.folded + 1), about, state);
            }
        }
    }

    /// Counts the slots that were skipped, as far back as the feed reaches. Several that were skipped together stand at the
    /// last of them.
    fn count_skips(&mut self) {
        for decision in self.view.decisions {
            let (Some(slots), Some(schedule)) = (decision.slots, decision.schedule()) else { continue };
            if decision.kind == DecisionKind::SlotsSkipped && self.view.concerns(decision) {
                let owner = decision.session.as_ref().map(crate::domain::SessionId::as_str);
                self.add(
                    (slots.until, slots.count),
                    (schedule, owner, decision.reason),
                    TimelineState::Skipped,
                );
            }
        }
    }

    /// Counts the slots to come; returns whether there are more than a forecast lists.
    fn count_forecast(&mut self) -> bool {
        let view = self.view;
        // What lies before now is counted from runs and skips.
        let from = self.from.max(view.now.wall);
        if from >= self.to {
            return false;
        }
        let first = usize::try_from(limits::SLOTS_LISTED.value).unwrap_or(usize::MAX);
        // Only what is counted: the slots of other schedules would take the places of these.
        let among = self.only.as_ref();
        let every = ForecastQuery::of(view.scope, view.now.wall);
        let asked = ForecastQuery { among, from, to: self.to, first, ..every };
        let forecast = view.state.forecast(view.zones, view.now, &asked);
        for slot in &forecast.slots {
            let state = match slot.outcome {
                SlotOutcome::Fires => TimelineState::WillFire,
                SlotOutcome::Left => TimelineState::WillBeLeft,
                SlotOutcome::Waits | SlotOutcome::NeedsApproval => TimelineState::WillWait,
                SlotOutcome::Fails | SlotOutcome::Refused => TimelineState::WillFail,
                SlotOutcome::Skipped | SlotOutcome::Lost | SlotOutcome::Gone => TimelineState::WillBeSkipped,
                SlotOutcome::Paused | SlotOutcome::AllHeld => TimelineState::Stopped,
            };
            let owner = view.state.schedule(&slot.schedule).map(|record| record.schedule().owner.as_str());
            // An overdue slot is before the range of the forecast, and stands at the instant at which it is handled.
            self.add((slot.slot.max(from), slot.count), (&slot.schedule, owner, slot.reason), state);
        }
        forecast.cut
    }

    fn add(
        &mut self,
        (slot, count): (Moment, u64),
        (schedule, owner, reason): (&ScheduleId, Option<&str>, Option<Reason>),
        state: TimelineState,
    ) {
        let is_counted = self.only.as_ref().is_none_or(|only| only.contains(schedule));
        if count == 0 || !is_counted || slot < self.from || slot >= self.to {
            return;
        }
        let of = match self.by {
            TimelineBy::All => None,
            TimelineBy::Schedule => Some(schedule.to_string().into()),
            TimelineBy::Session => owner.map(Box::from),
            TimelineBy::Reason => reason.map(|reason| reason.name().into()),
        };
        let number = slot.millis_since(self.from) / self.bucket.millis();
        self.cells.entry((number, of, state)).or_default().add(count, Some(slot));
    }
}

fn wrong(name: &'static str, at: Moment, expected: &str) -> ResolverError {
    let kind = ParamFaultKind::Wrong {
        name,
        value: at.to_string().into(),
        expected: expected.to_owned(),
        nearest: None,
    };
    ParamFault { path: Vec::new(), kind }.into_error(&TIMELINE)
}

const TIMELINE: &str = ":reveille/timeline";
/// As many rows as there may be cells, in the type that a parameter's bound has.
#[expect(clippy::cast_possible_wrap, reason = "some thousands")]
const ROWS_MAX: i64 = limits::TIMELINE_CELLS.value as i64;
const DAY_MS: u64 = 86_400_000;
/// Buckets of a range whose division is not given.
const BUCKETS: u64 = 48;
