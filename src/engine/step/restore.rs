//! A row of the store is loaded, unless memory knows better: what is there already is newer than its row.

use crate::engine::draft::Draft;
use crate::engine::local_fact::{LocalFact, StoredRow};

pub(in crate::engine) fn restore(draft: &mut Draft<'_>, row: StoredRow) {
    let state = draft.state;
    let is_there = match &row {
        StoredRow::Session(row) => state.session_key(&row.id).is_some(),
        StoredRow::Schedule(row) => state.schedule_key(&row.schedule.id).is_some(),
        // A change of these that could not be stored was refused, so that the row is right.
        StoredRow::Hold(_) | StoredRow::Guard { .. } => false,
    };
    if !is_there {
        draft.local_fact(LocalFact::Restored(row));
    }
}
