//! Lists the runs of all schedules: what happened, and what is under way.
//!
//! The order is by slot. A schedule retains its last runs (`limits::RUNS_KEPT`), so a list reaches back as far as they do;
//! older ones are in the history that `explain` and queries of the past read.
//! Invariant: a run is listed exactly if its schedule is.

use std::cmp::Ordering;

use super::listing::{Whose, schedules_of};
use super::page::{LIST, Page, Window, WindowParams};
use super::params::{CheckedParams, OneOrMany, enums, params, refused};
use super::registry::{ParamGroups, ResolverError};
use super::view::View;
use crate::domain::{Cause, Moment, Reason, RunId, RunState, ScheduleId, Span, names};
use crate::edn::Map;
use crate::engine::{Key, RunRecord};

names! {
    /// The orders in which runs can be listed. Ties are broken by the schedule's id.
    RunOrder {
        /// Earliest slot first.
        Slot = "slot",
        /// Latest slot first.
        SlotDesc = "slot-desc",
    }
}

enums! {
    RunOrder = "run-order",
    RunState = "run-state",
    Cause = "run-cause",
}

params! {
    /// A filter on runs: all conditions that are given must hold.
    pub RunFilter folded as "filter": "run-filter" {
        /// Only runs whose slot is at this instant or later.
        optional from: Moment = "from",
        /// Only runs whose slot is earlier than this instant.
        optional to: Moment = "to",
        /// Only runs in one of these states.
        optional states: OneOrMany<RunState> = "state",
        /// Only runs that wait or ended for one of these reasons.
        optional reasons: OneOrMany<Reason> = "reason",
        /// Only runs with this cause.
        optional cause: Cause = "cause",
        /// Only runs of the schedule with this id.
        optional schedule: Box<str> = "schedule-id",
        /// Only runs that deliver into the session with this id, or opened it.
        optional session: Box<str> = "session-id",
        /// Only runs that were handed to this host.
        optional host: Box<str> = "host",
        /// Only runs that were handed over at least this many milliseconds after their slot.
        optional late: Span = "late-ms",
    }
}

params! {
    /// The order of a list of runs.
    pub RunOrderParams {
        /// The order of the list. Latest slot first if omitted.
        optional order: RunOrder = "order-by",
    }
}

/// The parameters of a list of runs.
pub const OF_RUNS: ParamGroups = &[RunFilter::GROUP, RunOrderParams::GROUP, WindowParams::GROUP];

/// A run, with the values that it is sorted by.
struct Entry<'a> {
    slot: Moment,
    schedule: &'a ScheduleId,
    incarnation: u32,
    key: Key,
}

/// Lists runs, from the latest slot to the earliest unless another order is asked for.
///
/// # Errors
/// Returns a parameter that is invalid.
pub(super) fn runs(view: &View<'_>, params: &Map) -> Result<Page, ResolverError> {
    let given = CheckedParams::of(params);
    let filter = RunFilter::read(&given).map_err(refused(LIST))?;
    let order = RunOrderParams::read(&given).map_err(refused(LIST))?.order.unwrap_or(RunOrder::SlotDesc);
    // The id of a run has all that the order compares, so it is a cursor even when its run is dropped.
    let window = Window::read(&given, RunId::parse)?;
    let mut entries = Vec::new();
    let is_wanted =
        |id: &ScheduleId| filter.schedule.as_deref().is_none_or(|wanted| id.to_string() == wanted);
    for record in schedules_of(view, Whose::All).into_iter().filter_map(|key| view.schedule(key)) {
        let id = &record.schedule().id;
        // Checked per schedule: the runs of all others need not be looked at.
        if !is_wanted(id) {
            continue;
        }
        let admitted = view.state.runs_of(record).filter(|(_, run)| filter.admits(view, run));
        entries.extend(admitted.map(|(key, run)| {
            let run = run.run();
            Entry { slot: run.slot, schedule: id, incarnation: run.incarnation, key }
        }));
    }
    entries.sort_unstable_by(|one, two| order.compare(one.place(), two.place()));
    let range = window.cut(&entries, |entry, at| order.compare(entry.place(), place_of(at)));
    Ok(Page::of(&entries, range, |entry| u64::from(entry.key.number()), cursor))
}

/// Returns the cursor of a run, which is its id.
fn cursor(view: &View<'_>, number: u64) -> Option<String> {
    let (_, run) = view.run(Key::numbered(u32::try_from(number).ok()?))?;
    view.state.run_id(run).map(|id| id.to_string())
}

type Place<'a> = (Moment, &'a ScheduleId, u32);

fn place_of(id: &RunId) -> Place<'_> {
    (id.slot, &id.schedule, id.incarnation)
}

impl Entry<'_> {
    fn place(&self) -> Place<'_> {
        (self.slot, self.schedule, self.incarnation)
    }
}

impl RunOrder {
    fn compare(self, one: Place<'_>, two: Place<'_>) -> Ordering {
        match self {
            RunOrder::Slot => one.cmp(&two),
            // The ties are reversed too, so it is exactly the other list backwards.
            RunOrder::SlotDesc => two.cmp(&one),
        }
    }
}

impl RunFilter {
    /// Returns whether a run meets all conditions but that on its schedule.
    fn admits(&self, view: &View<'_>, record: &RunRecord) -> bool {
        let run = record.run();
        // Why a run waits is computed, as it is where it is shown.
        let reason = || run.reason.or_else(|| view.state.run_waits_for(record));
        self.from.is_none_or(|from| run.slot >= from)
            && self.to.is_none_or(|to| run.slot < to)
            && self.states.as_ref().is_none_or(|OneOrMany(wanted)| wanted.contains(&run.state))
            && self.cause.is_none_or(|cause| run.cause == cause)
            && self.reasons.as_ref().is_none_or(|wanted| wanted.have(reason()))
            && self
                .session
                .as_deref()
                .is_none_or(|id| run.session.as_ref().is_some_and(|own| own.as_str() == id))
            && self
                .late
                .is_none_or(|late| run.handed_at().is_some_and(|handed| handed.since(run.slot) >= late))
            && self.host.as_deref().is_none_or(|name| run.host.is_some_and(|host| host.to_string() == name))
    }
}
