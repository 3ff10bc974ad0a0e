//! The codec of where sessions come from: their provenance, and the chain of schedules that led there.

use super::FactError;
use super::form::Form;
use super::parts::{map, maybe, number, own_text, run_id, schedule_id, session_id};
use super::printed::Printed;
use crate::domain::{Descent, Lineage, SessionProvenance};

pub(super) fn provenance(form: &Form<'_>) -> Result<SessionProvenance, FactError> {
    Ok(SessionProvenance {
        // Stores from before this was recorded name the origin alone.
        root: maybe(form, "root", session_id)?.map_or_else(|| session_id(form, "origin"), Ok)?,
        origin: session_id(form, "origin")?,
        schedule: schedule_id(form, "schedule")?,
        label: own_text(form, "label")?,
        chain: maybe(form, "line", lineage)?,
    })
}

pub(super) fn descent(form: &Form<'_>) -> Result<Descent, FactError> {
    Ok(Descent {
        session: session_id(form, "session")?,
        origin: session_id(form, "origin")?,
        root: session_id(form, "root")?,
    })
}

pub(super) fn of_descent(descent: &Descent) -> Printed {
    Printed::new()
        .with("session", descent.session.as_str())
        .with("origin", descent.origin.as_str())
        .with("root", descent.root.as_str())
}

pub(super) fn lineage(form: &Form<'_>, key: &'static str) -> Result<Lineage, FactError> {
    let form = map(form, key)?;
    Ok(Lineage { run: run_id(form, "run")?, depth: number(form, "depth")?, root: schedule_id(form, "root")? })
}

pub(super) fn of_provenance(provenance: &SessionProvenance) -> Printed {
    Printed::new()
        .with("origin", provenance.origin.as_str())
        .with("root", (provenance.root != provenance.origin).then(|| provenance.root.as_str()))
        .with("schedule", provenance.schedule.to_string())
        .with("label", provenance.label.as_deref())
        .with("line", provenance.chain.as_ref().map(of_lineage))
}

pub(super) fn of_lineage(line: &Lineage) -> Printed {
    Printed::new()
        .with("run", line.run.to_string())
        .with("depth", line.depth)
        .with("root", line.root.to_string())
}
