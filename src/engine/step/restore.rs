//! Rows of the store are loaded, unless memory knows better: a session that is open is newer than its row.

use crate::engine::draft::Draft;
use crate::engine::local_fact::{LocalFact, StoredRow};

pub(in crate::engine) fn restore(draft: &mut Draft<'_>, rows: Vec<StoredRow>) {
    let state = draft.state;
    for row in rows {
        let is_there = match &row {
            StoredRow::Session(row) => state.session_key(&row.id).is_some(),
            // There is none before: a process begins without, and those of one that goes on have been dropped. A search for
            // each of a million is left out.
            StoredRow::Schedule(_) => false,
            // A change of these that could not be stored was refused, so that the row is right.
            StoredRow::Hold(_) | StoredRow::Guard { .. } => false,
        };
        if !is_there {
            draft.local_fact(LocalFact::Restored(row));
        }
    }
}
