//! What has changed since a run of the same schedule was last approved: an operator reads the difference, and not all again.

use super::approval::Asked;
use super::guard::asked;
use crate::domain::{DecisionKind, Moment, RunId};
use crate::edn::{Map, Value};
use crate::engine::Key;
use crate::graph::params::field;
use crate::graph::psi_terms;
use crate::graph::registry::{Param, ParamType, Record};
use crate::graph::view::View;

/// The fields of [`last_approved`].
pub(super) const LAST_APPROVED: Record = Record {
    name: "last-approved",
    doc: "The last approval of a run of a schedule, and what has changed since.",
    params: &[
        field::<RunId>("run-id", "The run that was approved."),
        field::<Moment>("at", "When it was approved."),
        field::<Box<str>>("by", "Who approved it. Nil if that is not for the caller to know.").or_nil(),
        Param::shown(
            "changes",
            ParamType::List(&ParamType::Record(&CHANGE)),
            "What is different now; empty if nothing is. Nil if the record of that run is dropped. What a fresh session inherits \
             counts as it is now.",
        )
        .or_nil(),
    ],
};

const CHANGE: Record = Record {
    name: "approval-change",
    doc: "A part of an approval that is not as it was.",
    params: &[
        field::<Box<str>>("field", "The name of the field of the approval."),
        field::<Box<str>>("was", "What it was, as text. Nil if there was none.").or_nil(),
        field::<Box<str>>("is", "What it is, as text. Nil if there is none.").or_nil(),
    ],
};

/// Returns the last approval of another run of the held run's schedule, as far back as decisions are retained.
pub(super) fn last_approved(view: &View<'_>, key: Key) -> Option<Map> {
    let present = asked(view, key)?;
    let is_of_schedule = |schedule| schedule == Some(&present.schedule.id);
    let mut decisions = view.decisions.iter().rev().filter(|decision| view.concerns(decision));
    let approval = decisions
        .find(|decision| decision.kind == DecisionKind::RunApproved && is_of_schedule(decision.schedule()))?;
    let run = approval.run()?;
    let known = view.state.run_key(run).and_then(|key| view.run(key));
    let changes = known.and_then(|(_, approved)| {
        let schedule = view.state.definition_of(approved)?;
        // Only the definition is compared: each approval has a digest and a rule of its own.
        let past = Asked { schedule, config: view.state.effective_config(schedule), ..present.clone() };
        Some(changes(&past.shown(), &present.shown()))
    });
    let by = approval.by.as_ref().and_then(|by| by.seen_by(view.scope));
    let approved = Map::new().with("run-id", run.to_string()).with("at", psi_terms::instant(approval.at));
    Some(approved.with("by", by.map(|by| by.to_string())).with("changes", changes))
}

/// Returns the fields that differ, in the order in which an approval shows them.
fn changes(past: &Map, present: &Map) -> Value {
    let text = |value: &Value| match value {
        Value::Nil => Value::Nil,
        Value::Str(_) => value.clone(),
        other => other.to_string().into(),
    };
    let differing = present.iter().filter_map(|(name, is)| {
        let was = past.get(name).unwrap_or(&Value::Nil);
        let named = || name.as_keyword().map_or_else(|| name.to_string(), |name| name.as_str().to_owned());
        (was != is)
            .then(|| Map::new().with("field", named()).with("was", text(was)).with("is", text(is)).into())
    });
    Value::Vector(differing.collect::<Vec<Value>>().into())
}
