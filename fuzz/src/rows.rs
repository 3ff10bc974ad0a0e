//! Fuzzes the rows of a store, one per line as `KEY PAYLOAD`, as they are loaded at the start. The
//! engine reports the row that it cannot parse, or prints equal rows again. An engine that has
//! loaded them can answer queries and run.

use std::sync::Arc;

use reveille::domain::{Caller, Cursor, ScheduleId, SessionId, Span};
use reveille::edn::{self, Caps};
use reveille::port::{Batch, FactRecord, HistoryCaps, RowRecord, Store};
use reveille::runtime::codec::{print_guard, print_holds, print_schedule, print_session};
use reveille::runtime::{AttachOptions, Handle, StoreReplies, load_rows};
use reveille::service::Service;
use reveille::testkit::StoreMemory;

use super::scene::Scene;

/// The maximum of rows.
const LINES: usize = 16;

/// How often the engine is woken after loading the rows.
const WAKES: u32 = 6;

const CAPS: HistoryCaps = HistoryCaps { schedule_rows: 1_000, bytes: 1 << 30, days: 1_000 };

const ANSWER_CAPS: Caps =
    Caps { bytes_max: 1 << 28, depth_max: 512, digits_max: u16::MAX, forms_max: u32::MAX };

/// A query for every attribute of schedules, sessions and the engine, forecasts and explanations
/// included.
const QUERY: &[u8] =
    b"[{:psi.scheduler/schedules [*]} {:psi.agent-session/sessions [*]} {:reveille/engine [*]}]";

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let rows = rows(input);
    let Scene { handle, .. } = Scene::empty();
    if let Err(fault) = load_rows(&handle, &rows) {
        return assert!(!fault.to_string().is_empty());
    }
    let kept = kept(&handle);
    let again = Scene::empty().handle;
    load_rows(&again, &kept).expect("what we print can be read");
    assert_eq!(self::kept(&again), kept, "printed again");
    shown(&handle);
    lives(rows);
}

fn rows(input: &[u8]) -> Vec<RowRecord> {
    let mut rows: Vec<RowRecord> = Vec::new();
    for (line, revision) in input.split(|byte| *byte == b'\n').take(LINES).zip(1..) {
        let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let Ok(key) = std::str::from_utf8(&line[..end]) else { continue };
        // A store has one row per key, and none with an empty key.
        if !key.is_empty() && rows.iter().all(|row| &*row.key != key) {
            let payload = line.get(end + 1..).map(Arc::from);
            rows.push(RowRecord { key: key.into(), revision, payload });
        }
    }
    rows
}

/// The rows that an engine would persist of its present state.
fn kept(handle: &Handle) -> Vec<RowRecord> {
    let row = |key: String, text: String| RowRecord {
        key: key.into(),
        revision: 1,
        payload: Some(text.into_bytes().into()),
    };
    handle.view(|state| {
        let sessions: Vec<SessionId> = state.session_ids().cloned().collect();
        let sessions = sessions.iter().filter_map(|id| {
            Some(row(format!("session/{id}"), print_session(&state.session_row(id)?, None).into_text()))
        });
        let schedules: Vec<ScheduleId> =
            state.schedules().iter().map(|it| it.schedule().id.clone()).collect();
        let schedules = schedules.iter().filter_map(|id| {
            Some(row(format!("schedule/{id}"), print_schedule(&state.schedule_row(id)?).into_text()))
        });
        let hold = row("engine/hold".into(), print_holds(state.holds()).into_text());
        let guard = row("engine/guard".into(), print_guard(state.guard(), state.grants()).into_text());
        sessions.chain(schedules).chain([hold, guard]).collect()
    })
}

fn shown(handle: &Handle) {
    let prepared = Service::new(handle.clone()).prepare(&Caller::OPERATOR, QUERY).expect("a query");
    let mut text = String::new();
    if Service::new(handle.clone()).answer(&Caller::OPERATOR, &prepared, true, &mut text).is_ok() {
        edn::read(text.as_bytes(), &ANSWER_CAPS).expect("an answer is EDN");
    }
}

/// Loads the rows from a store, and wakes the engine several times.
fn lives(rows: Vec<RowRecord>) {
    let Scene { handle, stage } = Scene::empty();
    let store = Arc::new(StoreMemory::new(CAPS));
    if !rows.is_empty() {
        // A batch needs a fact; this one changes nothing.
        let fact = FactRecord {
            cursor: Cursor::new(1),
            at: handle.now().wall,
            kind: "woke".into(),
            schedule: None,
            session: None,
            share: None,
            run: None,
            payload: Arc::from(&b"{:fact :engine/stopping}"[..]),
        };
        let term = store.renew().expect("memory");
        store.submit(term, Batch { facts: vec![fact], rows }, Box::new(drop)).expect("memory");
    }
    let mut answers =
        StoreReplies::attach(&handle, store, AttachOptions::default()).expect("it was looked at");
    for _ in 0..WAKES {
        while answers.publish() {}
        let Some(wake) = handle.view(|state| state.next_wake(handle.now())) else { break };
        // At least a millisecond, so that time advances even if the wake-up is overdue.
        stage.clock.advance(wake.since(handle.now().boot).max(Span::from_millis(1)));
        handle.run_due();
    }
    shown(&handle);
    kept(&handle);
}
