//! Transition: rows of the store are loaded. A session that is open is newer than its row, so its
//! row is ignored.

use crate::engine::local_fact::LocalFact;
use crate::engine::row::StoredRow;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn restore(step: &mut StepBuilder<'_>, rows: Vec<StoredRow>) {
    let state = step.state;
    for row in rows {
        let is_there = match &row {
            StoredRow::Session(row) => state.session_key(&row.id).is_some(),
            // No durable schedule is in memory now: a new process has none, and one that goes on
            // has dropped them. Looking each of a million up would be wasted.
            StoredRow::Schedule(_) => false,
            // A change of the settings is refused if it cannot be stored, so the row is current.
            StoredRow::Hold(_) | StoredRow::Guard { .. } => false,
        };
        if !is_there {
            step.local_fact(LocalFact::Restored(row));
        }
    }
}
