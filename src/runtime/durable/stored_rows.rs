//! The rows of a store as typed values, and how they are read.
//!
//! What lives elsewhere: what they are loaded for (`recovery`, `service::as_of`), their text (`codec`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

use super::codec::{self, FactError, Form, RowRest};
use super::persister::{CHANNELS, DEFINITION, GUARD, HOLD, SCHEDULE, SESSION};
use super::recovery_error::RecoveryError;
use super::transcripts::{self, MESSAGE, StoredMessage};
use crate::domain::{Grant, GuardPolicy, Schedule, ScheduleId, SessionId};
use crate::edn::Value;
use crate::engine::{ChannelPauses, Holds, ScheduleRow, SessionRow};
use crate::port::{RowRecord, Store};

/// A parsed row.
pub(crate) enum Row {
    /// With the digest of the session's token.
    Session(Box<SessionRow>, Option<Box<str>>),
    Schedule(Box<ScheduleRow>),
    Holds(Holds),
    ChannelPauses(BTreeMap<Box<str>, ChannelPauses>),
    Guard(Option<Arc<GuardPolicy>>, BTreeMap<SessionId, Grant>),
    Message(StoredMessage),
}

/// A parsed row, of which a schedule may have two.
enum Part {
    Whole(Row),
    Definition(Box<Schedule>),
    /// With its key.
    RowRest(Box<str>, Box<RowRest>),
}

/// Puts the two rows of a schedule together. Definitions come before all schedules.
#[derive(Default)]
struct Joining {
    definitions: BTreeMap<Box<str>, Box<Schedule>>,
    joined: BTreeSet<ScheduleId>,
}

impl Joining {
    fn join(&mut self, part: Part) -> Result<Option<Row>, RecoveryError> {
        match part {
            Part::Whole(row) => Ok(Some(row)),
            Part::Definition(schedule) => {
                self.definitions.insert(format!("{SCHEDULE}{}", schedule.id).into(), schedule);
                Ok(None)
            }
            Part::RowRest(key, rest) => {
                let Some(schedule) = self.definitions.remove(&key) else {
                    return Err(RecoveryError::Row { key, why: "its definition is missing".into() });
                };
                self.joined.insert(schedule.id.clone());
                Ok(Some(Row::Schedule(Box::new(rest.of(*schedule)))))
            }
        }
    }

    /// The schedules whose definition has a row of its own, also those that have no other.
    fn apart(mut self) -> BTreeSet<ScheduleId> {
        self.joined.extend(self.definitions.into_values().map(|schedule| schedule.id));
        self.joined
    }
}

/// Passes all rows to `take`, sessions before schedules. Returns the schedules whose definition has a row of its own.
pub(crate) fn for_each(
    store: &dyn Store,
    mut take: impl FnMut(Row),
) -> Result<BTreeSet<ScheduleId>, RecoveryError> {
    try_for_each(store, |row| {
        take(row);
        ControlFlow::Continue(())
    })
}

/// Passes rows to `take`, as [`for_each`] does, until it returns `Break`.
///
/// Another thread reads chunks from the disk while this one
/// handles earlier ones. A chunk is parsed by the thread that has time: by this one if it would wait otherwise.
pub(crate) fn try_for_each(
    store: &dyn Store,
    mut take: impl FnMut(Row) -> ControlFlow<()>,
) -> Result<BTreeSet<ScheduleId>, RecoveryError> {
    // Bounded, so that a disk that is faster than the engine does not fill the memory with rows.
    let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
    let ahead = AtomicUsize::new(0);
    let ahead = &ahead;
    std::thread::scope(|scope| {
        // It ends after the last row, on a fault, or once the receiver is gone.
        std::thread::Builder::new().spawn_scoped(scope, move || {
            let mut hand_out = |records: Vec<RowRecord>| {
                let is_awaited = ahead.load(Ordering::Relaxed) == 0;
                let chunk =
                    if is_awaited { Chunk::Read(records) } else { Chunk::Parsed(parse_rows(&records)?) };
                // Before the send, so that the receiver never subtracts first. The count is only a hint and orders no memory.
                ahead.fetch_add(1, Ordering::Relaxed);
                Ok(sender.send(Ok(chunk)).is_ok())
            };
            if let Err(fault) = read_all(store, &mut hand_out) {
                let _ = sender.send(Err(fault));
            }
        })?;
        let mut joining = Joining::default();
        // An early return drops the receiver, which ends the other thread. Otherwise the scope would wait for it forever.
        for chunk in chunks {
            ahead.fetch_sub(1, Ordering::Relaxed);
            let rows = match chunk? {
                Chunk::Read(records) => parse_rows(&records)?,
                Chunk::Parsed(rows) => rows,
            };
            for row in rows {
                let is_over = joining.join(row)?.is_some_and(|row| take(row).is_break());
                if is_over {
                    return Ok(joining.apart());
                }
            }
        }
        Ok(joining.apart())
    })
}

/// Rows on their way from one thread to the other.
enum Chunk {
    Read(Vec<RowRecord>),
    Parsed(Vec<Part>),
}

/// Passes rows that have been read already to `take`, in the order of [`for_each`].
pub(crate) fn for_each_of(
    records: &[RowRecord],
    mut take: impl FnMut(Row),
) -> Result<BTreeSet<ScheduleId>, RecoveryError> {
    let mut sorted: Vec<&RowRecord> = records.iter().collect();
    // Definitions before schedules; the rest stays in its order.
    // `false` sorts first: the sessions, whose keys lie behind those of schedules, come before all other rows.
    sorted.sort_by_key(|record| (&*record.key <= BEHIND_SCHEDULES, record.key.starts_with(SCHEDULE)));
    let mut joining = Joining::default();
    for row in sorted.into_iter().filter_map(parse_row) {
        joining.join(row?)?.into_iter().for_each(&mut take);
    }
    Ok(joining.apart())
}

fn read_all(
    store: &dyn Store,
    hand_out: &mut dyn FnMut(Vec<RowRecord>) -> Result<bool, RecoveryError>,
) -> Result<(), RecoveryError> {
    // The keys of schedules are contiguous. Keys that sort after them, the sessions, are read first. Keys that sort
    // before them need no particular place.
    for (after, until) in [(Some(BEHIND_SCHEDULES), None), (None, Some(BEHIND_SCHEDULES))] {
        let mut after: Option<Arc<str>> = after.map(Arc::from);
        loop {
            let mut records = store.rows_after(after.as_deref())?;
            let last = records.last().map(|last| Arc::clone(&last.key));
            // The chunk may reach into the keys of the first pass.
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

fn parse_rows(records: &[RowRecord]) -> Result<Vec<Part>, RecoveryError> {
    records.iter().filter_map(parse_row).collect()
}

/// What keeps a row from being read; `None` if nothing does.
#[cfg(feature = "cli")]
pub(crate) fn row_fault(record: &RowRecord) -> Option<String> {
    parse_row(record)?.err().map(|fault| fault.to_string())
}

/// Parses a row; `None` for a tombstone.
fn parse_row(record: &RowRecord) -> Option<Result<Part, RecoveryError>> {
    let payload = record.payload.as_ref()?;
    let row = codec::show(payload, |form| parse(&record.key, form));
    Some(row.map_err(|why| RecoveryError::Row { key: (*record.key).into(), why: why.into() }))
}

fn parse(key: &str, form: &Form<'_>) -> Result<Part, String> {
    let part = if key.starts_with(DEFINITION) {
        codec::parse_definition(form).map(|schedule| Part::Definition(Box::new(schedule)))
    } else if key.starts_with(SCHEDULE) && !codec::has_definition(form) {
        codec::parse_row_rest(form).map(|rest| Part::RowRest(key.into(), Box::new(rest)))
    } else {
        return parse_whole(key, form).map(Part::Whole);
    };
    part.map_err(|error: FactError| error.to_string())
}

fn parse_whole(key: &str, form: &Form<'_>) -> Result<Row, String> {
    let row = if key.starts_with(SCHEDULE) {
        codec::parse_schedule(form).map(|row| Row::Schedule(Box::new(row)))
    } else if key.starts_with(SESSION) {
        codec::parse_session(form).map(|(row, token)| Row::Session(Box::new(row), token))
    } else if key.starts_with(MESSAGE) {
        let at = transcripts::place(key).ok_or("its key does not say where it stands")?;
        codec::parse_message(form)
            // The cursor is in the key alone: keys sort messages in the order of their delivery.
            .map(|(session, message)| Row::Message(StoredMessage { at, session, message }))
    } else if key == HOLD {
        codec::parse_holds(form).map(Row::Holds)
    } else if key == CHANNELS {
        codec::parse_channel_pauses(form).map(Row::ChannelPauses)
    } else if key == GUARD {
        codec::parse_guard(form).map(|(policy, grants)| Row::Guard(policy, grants))
    } else {
        return Err(format!("nothing is known of {}", Value::string(key.to_owned())));
    };
    row.map_err(|error: FactError| error.to_string())
}

/// Sorts after every key of a schedule (`0` follows `/`) and before every key of a session.
const BEHIND_SCHEDULES: &str = "schedule0";
/// Maximum number of chunks that wait for the receiving thread.
const CHUNKS_AHEAD: usize = 2;
