//! When a run of the same schedule was last approved, and whether the schedule was changed since.

use crate::domain::{DecisionKind, Moment, RunId};
use crate::edn::Map;
use crate::engine::ScheduleRecord;
use crate::graph::params::field;
use crate::graph::psi_terms;
use crate::graph::registry::Record;
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
    ],
};

/// Returns the last approval of a run of this schedule, as far back as decisions are retained. What that run was to do is not:
/// an ended run does not retain its definition.
pub(super) fn last_approved(view: &View<'_>, record: &ScheduleRecord) -> Option<Map> {
    let mut decisions = view.decisions.iter().rev().filter(|decision| view.concerns(decision));
    let approval = decisions.find(|decision| {
        decision.kind == DecisionKind::RunApproved && decision.schedule() == Some(&record.schedule().id)
    })?;
    let run = approval.run()?;
    let by = approval.by.as_ref().and_then(|by| by.seen_by(view.scope));
    let changed_at = record.progress().updated_at.filter(|changed_at| *changed_at >= approval.at);
    let approved = Map::new().with("run-id", run.to_string()).with("at", psi_terms::instant(approval.at));
    let approved = approved.with("by", by.map(|by| by.to_string()));
    Some(approved.with("changed-at", changed_at.map(psi_terms::instant)))
}
