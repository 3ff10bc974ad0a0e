//! The lines of `schedules.jsonl`, our own file: facts and rows in the form of the store, each with a head in JSON.
//!
//! ```text
//! {"type":"schedule-paused","event_id":"evt_…","timestamp":"…","schedule_id":"sch-1","dialect":"psi","revision":2,
//!  "cursor":12,"session_id":"main","fact":"{:fact :schedule/paused …}"}
//! {"type":"schedule-row","event_id":"evt_…","timestamp":"…","schedule_id":"sch-2","dialect":"psi","revision":4,
//!  "history_since":"…","row":"{:v 1 …}"}
//! {"type":"engine-held","event_id":"evt_…","timestamp":"…","cursor":14,"fact":"{:fact :engine/held …}"}
//! ```
//!
//! Each is one line.
//!
//! The form under `fact` and `row` is versioned; `schema/facts/v1.edn` has one fact of each kind. Invariant: what is printed
//! folds to what the store's own log folds to.

use crate::dialect::cron::event_id_of;
use crate::dialect::cron::jsonl::BoundedWarnings;
use crate::dialect::{REQUEST_CAPS, json};
use crate::domain::{EngineFact, Fact, Moment};
use crate::edn::{Caps, Map, Value};
use crate::engine::{Chronicle, Known, ScheduleRow};
use crate::port::FactRecord;
use crate::runtime::codec::{self, Form};

/// The name of the file.
pub const SCHEDULES: &str = "schedules.jsonl";

/// Prints a fact about a schedule, which is known as it is after the fact.
pub(super) fn print_fact(record: &FactRecord, known: &Known, out: &mut String) {
    let (id, cursor) = (known.schedule.id.to_string(), record.cursor.to_string());
    // The id of the event is derived from these parts, so that two exports agree on it.
    let head = head(&record.kind, record.at, known, &[&id, "fact", &cursor]);
    let map =
        head.with_some("session_id", record.session.as_deref()).with_some("run_id", record.run.as_deref());
    finish(with_fact(map, record), out);
}

/// Prints a schedule as a row has it. Its history is known from `since` on.
pub(super) fn print_row(row: &ScheduleRow, since: Moment, out: &mut String) {
    let known = Known::of_row(row);
    let (id, revision) = (known.schedule.id.to_string(), known.revision.to_string());
    let form = codec::print_schedule(row).into_text();
    let map = head(ROW, since, &known, &[&id, "row", &revision]);
    finish(map.with("history_since", since.to_string()).with("row", &*form), out);
}

/// Prints a hold of everything, or a release. It is about no schedule, and tells why schedules stood still.
pub(super) fn print_hold(record: &FactRecord, out: &mut String) {
    let event = [&*record.kind, "fact", &record.cursor.to_string()];
    finish(with_fact(event_head(&record.kind, record.at, &event), record), out);
}

fn event_head(kind: &str, at: Moment, event: &[&str]) -> Map {
    Map::new().with("type", kind).with("event_id", event_id_of(at, event)).with("timestamp", at.to_string())
}

fn head(kind: &str, at: Moment, known: &Known, event: &[&str]) -> Map {
    event_head(kind, at, event)
        .with("schedule_id", known.schedule.id.to_string())
        .with("dialect", known.schedule.dialect.name())
        .with("revision", i64::from(known.revision))
}

fn with_fact(map: Map, record: &FactRecord) -> Map {
    let map = map.with("cursor", i64::try_from(record.cursor.number()).unwrap_or(i64::MAX));
    // A payload is text of our codec.
    map.with("fact", &*String::from_utf8_lossy(&record.payload))
}

fn finish(map: Map, out: &mut String) {
    // JSON escapes line breaks, so one event stays one line.
    json::write(&Value::Map(map), out);
    out.push('\n');
}

/// The schedules of a file, folded from its lines.
#[derive(Debug, Default)]
pub struct ScheduleLog {
    chronicle: Chronicle,
    /// Why everything is held after the last line; `None` if nothing is.
    held: Option<Option<Box<str>>>,
    /// Lines that were passed over.
    pub warnings: BoundedWarnings<String>,
}

impl ScheduleLog {
    /// Reads a file. A line that is not understood becomes a warning.
    pub fn read(text: &[u8]) -> ScheduleLog {
        let mut log = ScheduleLog::default();
        for (line, number) in text.split(|byte| *byte == b'\n').zip(1_u64..) {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            if let Err(why) = log.add(line) {
                log.warnings.add(format!("{SCHEDULES} line {number}: passed over: {why}"));
            }
        }
        log
    }

    /// Returns what the lines say of each schedule in the end.
    pub(super) fn into_known(self) -> impl Iterator<Item = Known> {
        self.chronicle.into_known()
    }

    /// Returns why everything was held at the end; `None` if nothing was.
    pub(super) fn held(&self) -> Option<Option<&str>> {
        self.held.as_ref().map(Option::as_deref)
    }

    fn add(&mut self, line: &[u8]) -> Result<(), String> {
        let value = json::read(line, &LINE_CAPS).map_err(|error| error.to_string())?;
        let map = value.as_map().ok_or("it is not an object")?;
        let text = |key: &str| map.text(key).and_then(Value::as_str);
        // A row stands for a schedule of which no fact has all of it.
        if let Some(row) = text("row") {
            let row = parsed(row, |form| codec::parse_schedule(form).map_err(|error| error.to_string()))?;
            self.chronicle.enter(&row);
            return Ok(());
        }
        let at = text("timestamp").and_then(|at| Moment::parse(at).ok()).ok_or("it has no timestamp")?;
        let fact = text("fact").ok_or("it has neither a fact nor a row")?;
        let (fact, row) = parsed(fact, fact_and_row)?;
        if let Fact::Engine(EngineFact::AllHeld { reason, .. }) = &fact {
            self.held = Some(reason.clone());
        } else if matches!(fact, Fact::Engine(EngineFact::AllReleased { .. })) {
            self.held = None;
        }
        self.chronicle.take(at, &fact, row.as_ref());
        Ok(())
    }
}

fn fact_and_row(form: &Form<'_>) -> Result<(Fact, Option<ScheduleRow>), String> {
    let fact = codec::parse_form(form).map_err(|error| error.to_string())?;
    let row = form.part(codec::ROW);
    let row =
        row.is_map().then(|| codec::parse_schedule(row).map_err(|error| error.to_string())).transpose()?;
    Ok((fact, row))
}

fn parsed<T>(text: &str, parse: impl FnOnce(&Form<'_>) -> Result<T, String>) -> Result<T, String> {
    codec::show(text.as_bytes(), parse)
}

const ROW: &str = "schedule-row";
/// A line holds a whole definition in EDN, whose every character may be escaped in JSON.
const LINE_CAPS: Caps = Caps { bytes_max: REQUEST_CAPS.bytes_max.saturating_mul(8), ..REQUEST_CAPS };
