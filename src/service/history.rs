//! The log as decisions, for explanations that reach farther back than the feed.
//!
//! What lives elsewhere: explanations (`engine::foresight`), who may see them (`graph::view`), the state as it was (`as_of`).
//! Invariant: nothing here runs under the engine's lock.

use std::sync::Arc;

use crate::domain::{Cursor, Decision, ScheduleId};
use crate::graph::log_lookback::PastDecisions;
use crate::limits;
use crate::port::{FactRecord, HistoryQuery, Store, StoreFault};
use crate::runtime::codec;

fn decision(record: &FactRecord) -> Result<Decision, StoreFault> {
    codec::decision(record).map_err(|why| {
        let what = format!("fact {} cannot be understood: {why}", record.cursor);
        StoreFault::Damaged { what: what.into() }
    })
}

/// The decisions about a schedule, newest first, at most `limits::DECISIONS_EXPLAINED`. None, if `within` names a session in
/// whose share of the log the schedule does not count.
pub(super) fn about(
    store: &dyn Store,
    schedule: &ScheduleId,
    within: Option<Arc<str>>,
) -> Result<PastDecisions, StoreFault> {
    let mut told = PastDecisions::default();
    let schedule = Some(schedule.to_string().into());
    let mut query = HistoryQuery { schedule, within, limit: MOST, ..HistoryQuery::default() };
    let mut owner = None;
    loop {
        let page = store.history(&query)?;
        let Some(last) = page.last() else { break };
        query.before = Some(last.cursor);
        for record in &page {
            told.push(decision(record)?);
        }
        owner = last.session.clone().or(owner);
        // Stop at the bound, at the schedule's creation, or at the beginning of the log.
        query.limit = MOST.saturating_sub(told.len());
        if query.limit == 0 || told.is_complete() || last.cursor <= Cursor::START.next() {
            break;
        }
    }
    // Read after the decisions: what was pruned meanwhile counts as missing.
    let lost = store.lost_history()?;
    let of_owner = owner.and_then(|owner| lost.sessions.get(&owner));
    let of_schedule = query.schedule.and_then(|schedule| lost.schedules.get(&schedule));
    if let Some(gap) = of_owner.max(of_schedule) {
        told.end_at(*gap);
    }
    Ok(told)
}

#[expect(clippy::cast_possible_truncation, reason = "ten thousand fit anywhere")]
const MOST: usize = limits::DECISIONS_EXPLAINED.value as usize;
