//! Rows of a store that the engine has to load before anything else happens.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::domain::{ScheduleId, SessionId};
use crate::engine::StoredRow;
use crate::testkit::reference::store_contents::StoreContents;

/// Rows that the engine has to load before anything else happens.
#[derive(Clone, Debug)]
pub(in crate::testkit) struct Loading {
    held: Arc<StoreContents>,
    sessions: BTreeSet<SessionId>,
    schedules: BTreeSet<ScheduleId>,
}

impl Loading {
    /// All schedules in the store, and the sessions for which `is_loaded` holds.
    pub(in crate::testkit) fn of(
        held: &Arc<StoreContents>,
        is_loaded: impl Fn(&SessionId) -> bool,
    ) -> Loading {
        let sessions = held.sessions.iter().map(|row| row.id.clone()).filter(|id| is_loaded(id)).collect();
        let schedules = held.schedules.iter().map(|row| row.schedule.id.clone()).collect();
        Loading { held: Arc::clone(held), sessions, schedules }
    }

    /// Whether this is one of the rows, and has not been loaded yet.
    pub(in crate::testkit) fn awaits(&self, row: &StoredRow) -> bool {
        match row {
            StoredRow::Session(row) => self.sessions.contains(&row.id) && self.held.sessions.contains(row),
            StoredRow::Schedule(row) => {
                self.schedules.contains(&row.schedule.id) && self.held.schedules.contains(row)
            }
            StoredRow::Holds(holds) => self.held.holds == *holds,
            StoredRow::ChannelPauses(pauses) => self.held.pauses == *pauses,
            StoredRow::Guard { policy, grants } => self.held.policy == *policy && self.held.grants == *grants,
        }
    }

    /// A row that has not been loaded, if there is one. The fold covers the settings.
    pub(in crate::testkit) fn left(&self) -> Option<String> {
        let session = self.sessions.first().map(ToString::to_string);
        session.or_else(|| self.schedules.first().map(ToString::to_string))
    }

    pub(in crate::testkit) fn strike(&mut self, row: &StoredRow) {
        match row {
            StoredRow::Session(row) => _ = self.sessions.remove(&row.id),
            StoredRow::Schedule(row) => _ = self.schedules.remove(&row.schedule.id),
            StoredRow::Holds(_) | StoredRow::ChannelPauses(_) | StoredRow::Guard { .. } => {}
        }
    }
}
