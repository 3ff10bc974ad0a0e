//! The log, asked: decisions made of its facts, for explanations that reach farther back than the feed does.
//!
//! What lives elsewhere: what an explanation makes of them (`engine::explain`), who may see them (`graph::view`), the state as
//! it was (`past`). Invariant: nothing here is called under the engine's lock.

use super::facts;
use crate::domain::{Cursor, Decision, ScheduleId, SessionId};
use crate::graph::older::Told;
use crate::limits;
use crate::port::{FactRecord, HistoryQuery, Store, StoreFault};

/// What a record of the log says, as the feed would show it.
pub(super) fn decision(record: &FactRecord) -> Result<Decision, StoreFault> {
    let damaged = |why: String| {
        let what = format!("fact {} cannot be understood: {why}", record.cursor);
        StoreFault::Damaged { what: what.into() }
    };
    let fact = facts::read(&record.payload).map_err(damaged)?;
    let session = record.session.as_deref().and_then(|id| SessionId::new(id).ok());
    Ok(Decision { session, ..Decision::of(record.cursor, record.at, &fact) })
}

/// The decisions about a schedule, newest first, as many as one explanation looks through.
pub(super) fn about(store: &dyn Store, schedule: &ScheduleId) -> Result<Told, StoreFault> {
    let mut told = Told::default();
    let mut query =
        HistoryQuery { schedule: Some(schedule.to_string().into()), limit: MOST, ..HistoryQuery::default() };
    loop {
        let page = store.history(&query)?;
        let Some(last) = page.last() else { return Ok(told) };
        query.before = Some(last.cursor);
        for record in &page {
            told.push(decision(record)?);
        }
        query.limit = MOST.saturating_sub(told.len());
        if query.limit == 0 || told.is_whole() || last.cursor <= Cursor::START.next() {
            return Ok(told);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "ten thousand fit anywhere")]
const MOST: usize = limits::DECISIONS_EXPLAINED.value as usize;
