//! When a run of the same schedule was last approved, and what differs since.

use super::approval::Asked;
use super::approval_difference::{DIFFERENCE, differences};
use crate::domain::{DecisionKind, Moment, RunId};
use crate::edn::{Map, Value};
use crate::engine::{Approved, LastApproval, ScheduleRecord};
use crate::graph::params::field;
use crate::graph::psi_terms;
use crate::graph::registry::{Param, ParamType, Record};
use crate::graph::view::View;

/// The fields of [`last_approved`].
pub(super) const LAST_APPROVED: Record = Record {
    name: "last-approved",
    doc: "The last approval of a run of a schedule.",
    params: &[
        field::<RunId>("run-id", "The run that was approved."),
        field::<Moment>("at", "When it was approved."),
        field::<Box<str>>("by", "Who approved it. Nil if that is not for the caller to know.").or_nil(),
        field::<Moment>(
            "changed-at",
            "When the schedule was last changed, paused or resumed after that. Nil if it was not. What a fresh session inherits \
             is no part of the schedule.",
        )
        .or_nil(),
        Param::shown(
            "differences",
            ParamType::List(&ParamType::Record(&DIFFERENCE)),
            "The parts in which what is asked now differs from what was approved, with what a fresh session inherits. Empty if \
             nothing differs. Nil if that is not known: what was approved was too large to retain, the schedule was made anew \
             since, or an earlier release approved it.",
        )
        .or_nil(),
    ],
};

/// Returns the last approval of a run of this schedule, and what differs from it in what is asked now.
pub(super) fn last_approved(view: &View<'_>, record: &ScheduleRecord, now: &Asked<'_>) -> Option<Map> {
    let schedule = &record.schedule().id;
    let (run, at, by, differ) = match record.progress().approved.as_deref() {
        Some(last) => {
            let run = RunId { schedule: schedule.clone(), incarnation: last.incarnation, slot: last.slot };
            (run, last.at, Some(&last.by), since(last, record, now))
        }
        // An earlier release did not retain it. The decision tells the rest, as far back as decisions are retained.
        None => {
            let mut decisions = view.decisions.iter().rev().filter(|decision| view.concerns(decision));
            let approval = decisions.find(|decision| {
                decision.kind == DecisionKind::RunApproved && decision.schedule() == Some(schedule)
            })?;
            (approval.run()?.clone(), approval.at, approval.by.as_deref(), None)
        }
    };
    // A change at the very instant of the approval counts, because it may have come after it.
    let changed_at = record.progress().updated_at.filter(|changed_at| *changed_at >= at);
    let by = by.and_then(|by| by.seen_by(view.scope)).map(|by| by.to_string());
    let approved = Map::new().with("run-id", run.to_string()).with("at", psi_terms::instant(at));
    let approved = approved.with("by", by).with("changed-at", changed_at.map(psi_terms::instant));
    Some(approved.with("differences", differ))
}

/// Returns what differs from an approval in what is asked now; `None` if what was approved is not retained.
fn since(last: &LastApproval, record: &ScheduleRecord, now: &Asked<'_>) -> Option<Vec<Value>> {
    let schedule = match &last.what {
        Approved::Present => record.schedule(),
        Approved::Former(schedule) => schedule,
        Approved::TooLarge => return None,
    };
    // The memory that was approved is not retained, so it is shown and not compared.
    let Asked { hold, digest, cause, revision, schedule: _, config: _, ref memory, viewer } = *now;
    let memory = memory.clone();
    let config = last.config.as_deref().cloned();
    // What belongs to the run, and not to what it does, is that of the run that waits, so it does not differ.
    let before = Asked { hold, digest, cause, revision, schedule, config, memory, viewer };
    Some(differences(&before.shown(), &now.shown()))
}
