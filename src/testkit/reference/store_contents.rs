//! What a store holds: its rows, and which facts are in its log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::domain::{Cursor, Grant, GuardPolicy, SessionId};
use crate::engine::{ChannelPauses, Holds, ScheduleRow, SessionRow};
use crate::port::{Store, StoreFault};
use crate::runtime::{Row, for_each_row};

/// What a store holds.
#[derive(Debug, Default)]
pub(in crate::testkit) struct StoreContents {
    pub(in crate::testkit) facts: BTreeSet<Cursor>,
    pub(in crate::testkit) schedules: Vec<ScheduleRow>,
    pub(in crate::testkit) sessions: Vec<SessionRow>,
    pub(in crate::testkit) holds: Holds,
    pub(in crate::testkit) pauses: BTreeMap<Box<str>, ChannelPauses>,
    pub(in crate::testkit) policy: Option<Arc<GuardPolicy>>,
    pub(in crate::testkit) grants: BTreeMap<SessionId, Grant>,
}

impl StoreContents {
    pub(in crate::testkit) fn read(store: &dyn Store) -> Result<StoreContents, String> {
        let said = |fault: StoreFault| fault.to_string();
        let mut held = StoreContents::default();
        let mut after = Cursor::START;
        loop {
            let facts = store.facts_after(after).map_err(said)?;
            let Some(last) = facts.last() else { break };
            after = last.cursor;
            held.facts.extend(facts.iter().map(|fact| fact.cursor));
        }
        let read = for_each_row(store, |row| match row {
            Row::Schedule(row) => held.schedules.push(*row),
            Row::Session(row, _) => held.sessions.push(*row),
            Row::Holds(holds) => held.holds = holds,
            Row::ChannelPauses(pauses) => held.pauses = pauses,
            Row::Guard(policy, grants) => (held.policy, held.grants) = (policy, grants),
            // A stored answer to an idempotent call; no fact corresponds to it.
            Row::Message(_) => {}
        });
        read.map_err(|fault| fault.to_string())?;
        Ok(held)
    }

    /// Whether the log holds a fact.
    pub(in crate::testkit) fn holds(&self, fact: Cursor) -> bool {
        self.facts.contains(&fact)
    }
}
