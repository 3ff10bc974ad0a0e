//! The rows of a store, made out: what an earlier life has left, before anything is done with it.
//!
//! What lives elsewhere: what is done with them (`boot`, `past`), their text (`facts`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

use super::boot::BootFault;
use super::facts::{self, FactError, Form};
use super::keep::{GUARD, HOLD, SCHEDULE, SESSION};
use super::transcripts::{self, MESSAGE, Said};
use crate::domain::{Grant, GuardPolicy, SessionId};
use crate::edn::Value;
use crate::engine::{Pause, ScheduleRow, SessionRow};
use crate::port::{RowRecord, Store};

/// A row, made out.
pub(crate) enum Row {
    /// With the digest of what stands for it.
    Session(Box<SessionRow>, Option<Box<str>>),
    Schedule(Box<ScheduleRow>),
    Hold(Option<Pause>),
    Guard(Option<Arc<GuardPolicy>>, BTreeMap<SessionId, Grant>),
    Said(Said),
}

/// Shows all rows, sessions before the rest: another thread takes them off the disk while this one deals with those before.
/// What they say is made out by whichever of the two has the time.
pub(crate) fn for_each(store: &dyn Store, mut take: impl FnMut(Row)) -> Result<(), BootFault> {
    let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
    let ahead = AtomicUsize::new(0);
    let ahead = &ahead;
    std::thread::scope(|scope| {
        // It ends with the last row, with a fault, or with a send in vain, once nobody listens any more.
        std::thread::Builder::new().spawn_scoped(scope, move || {
            let mut hand_out = |records: Vec<RowRecord>| {
                let is_awaited = ahead.load(Ordering::Relaxed) == 0;
                let chunk =
                    if is_awaited { Chunk::Read(records) } else { Chunk::MadeOut(make_out(&records)?) };
                ahead.fetch_add(1, Ordering::Relaxed);
                Ok(sender.send(Ok(chunk)).is_ok())
            };
            if let Err(fault) = read_all(store, &mut hand_out) {
                let _ = sender.send(Err(fault));
            }
        })?;
        for chunk in chunks {
            ahead.fetch_sub(1, Ordering::Relaxed);
            let rows = match chunk? {
                Chunk::Read(records) => make_out(&records)?,
                Chunk::MadeOut(rows) => rows,
            };
            rows.into_iter().for_each(&mut take);
        }
        Ok(())
    })
}

/// Rows on their way from one thread to the other.
enum Chunk {
    Read(Vec<RowRecord>),
    MadeOut(Vec<Row>),
}

/// Shows rows that somebody has read, in the same order.
pub(super) fn for_each_of(records: &[RowRecord], mut take: impl FnMut(Row)) -> Result<(), BootFault> {
    let (rest, sessions): (Vec<_>, Vec<_>) =
        records.iter().partition(|record| &*record.key <= BEHIND_SCHEDULES);
    for row in sessions.into_iter().chain(rest).filter_map(made_out) {
        take(row?);
    }
    Ok(())
}

fn read_all(
    store: &dyn Store,
    hand_out: &mut dyn FnMut(Vec<RowRecord>) -> Result<bool, BootFault>,
) -> Result<(), BootFault> {
    // The keys of schedules stand in one stretch; what follows it goes first, and what comes before it does no harm.
    for (after, until) in [(Some(BEHIND_SCHEDULES), None), (None, Some(BEHIND_SCHEDULES))] {
        let mut after: Option<Arc<str>> = after.map(Arc::from);
        loop {
            let mut records = store.rows_after(after.as_deref())?;
            let last = records.last().map(|last| Arc::clone(&last.key));
            records.retain(|row| until.is_none_or(|until| &*row.key <= until));
            let is_end = last.as_deref().is_none_or(|last| until.is_some_and(|until| last > until));
            after = last;
            if !hand_out(records)? || is_end {
                break;
            }
        }
    }
    Ok(())
}

fn make_out(records: &[RowRecord]) -> Result<Vec<Row>, BootFault> {
    records.iter().filter_map(made_out).collect()
}

/// What a row says; `None` for a tombstone.
fn made_out(record: &RowRecord) -> Option<Result<Row, BootFault>> {
    let payload = record.payload.as_ref()?;
    let row = facts::show(payload, |form| parse(&record.key, form));
    Some(row.map_err(|why| BootFault::Row { key: (*record.key).into(), why: why.into() }))
}

fn parse(key: &str, form: &Form<'_>) -> Result<Row, String> {
    let row = if key.starts_with(SCHEDULE) {
        facts::parse_schedule(form).map(|row| Row::Schedule(Box::new(row)))
    } else if key.starts_with(SESSION) {
        facts::parse_session(form).map(|(row, token)| Row::Session(Box::new(row), token))
    } else if key.starts_with(MESSAGE) {
        let at = transcripts::place(key).ok_or("its key does not say where it stands")?;
        facts::parse_message(form).map(|(session, message)| Row::Said(Said { at, session, message }))
    } else if key == HOLD {
        facts::parse_hold(form).map(Row::Hold)
    } else if key == GUARD {
        facts::parse_guard(form).map(|(policy, grants)| Row::Guard(policy, grants))
    } else {
        return Err(format!("nothing is known of {}", Value::string(key.to_owned())));
    };
    row.map_err(|error: FactError| error.to_string())
}

/// No key of a schedule comes after it, and none of a session before it.
const BEHIND_SCHEDULES: &str = "schedule0";
/// Chunks of rows that are made out and wait, at most.
const CHUNKS_AHEAD: usize = 2;
