//! Any lines as the rows of a store, `KEY PAYLOAD`, each kept as it stands, and an engine that is to take them up: it
//! says which row it cannot read, or prints what it has read the same again. What it has taken up it can show, and
//! live on with.

use std::sync::Arc;

use reveille::adapter::StoreMemory;
use reveille::domain::{Caller, Cursor, ScheduleId, SessionId, Span};
use reveille::edn::{self, Caps};
use reveille::port::{Batch, FactRecord, HistoryCaps, RowRecord, Store};
use reveille::runtime::Handle;
use reveille::runtime::facts::{print_guard, print_hold, print_schedule, print_session};

use super::scene::Scene;

/// Lines that are rows, at most.
const LINES: usize = 16;

/// How often the engine is woken after it has taken the rows up.
const WAKES: u32 = 6;

const CAPS: HistoryCaps = HistoryCaps { schedule_rows: 1_000, bytes: 1 << 30, days: 1_000 };

const ANSWER_CAPS: Caps =
    Caps { bytes_max: 1 << 28, depth_max: 512, digits_max: u16::MAX, forms_max: u32::MAX };

/// What is shown of everything: each attribute that there is of the three, forecasts and explanations among them.
const QUERY: &[u8] =
    b"[{:psi.scheduler/schedules [*]} {:psi.agent-session/sessions [*]} {:reveille/engine [*]}]";

/// Fails where one of that does not hold.
pub fn run(input: &[u8]) {
    let rows = rows(input);
    let Scene { handle, .. } = Scene::empty();
    if let Err(fault) = handle.look_at(&rows) {
        return assert!(!fault.to_string().is_empty());
    }
    let kept = kept(&handle);
    let again = Scene::empty().handle;
    again.look_at(&kept).expect("what we print can be read");
    assert_eq!(self::kept(&again), kept, "printed again");
    shown(&handle);
    lives(rows);
}

fn rows(input: &[u8]) -> Vec<RowRecord> {
    let mut rows: Vec<RowRecord> = Vec::new();
    for (line, revision) in input.split(|byte| *byte == b'\n').take(LINES).zip(1..) {
        let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let Ok(key) = std::str::from_utf8(&line[..end]) else { continue };
        // A store keeps one row for each key, and none without one.
        if !key.is_empty() && rows.iter().all(|row| &*row.key != key) {
            let payload = line.get(end + 1..).map(Arc::from);
            rows.push(RowRecord { key: key.into(), revision, payload });
        }
    }
    rows
}

/// What an engine would keep of what is in it.
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
        let hold = row("engine/hold".into(), print_hold(state.held()).into_text());
        let guard = row("engine/guard".into(), print_guard(state.guard(), state.grants()).into_text());
        sessions.chain(schedules).chain([hold, guard]).collect()
    })
}

fn shown(handle: &Handle) {
    let prepared = handle.prepare(&Caller::OPERATOR, QUERY).expect("a query");
    let mut text = String::new();
    if handle.answer(&Caller::OPERATOR, &prepared, true, &mut text).is_ok() {
        edn::read(text.as_bytes(), &ANSWER_CAPS).expect("an answer is EDN");
    }
}

/// Takes the rows up from a store, and wakes for what comes next.
fn lives(rows: Vec<RowRecord>) {
    let Scene { handle, stage } = Scene::empty();
    let store = Arc::new(StoreMemory::new(CAPS));
    if !rows.is_empty() {
        let fact = FactRecord {
            cursor: Cursor::new(1),
            at: handle.now().wall,
            kind: "woke".into(),
            schedule: None,
            session: None,
            run: None,
            payload: Arc::from(&b"{:fact :engine/stopping}"[..]),
        };
        let term = store.renew().expect("memory");
        store.submit(term, Batch { facts: vec![fact], rows }, Box::new(drop)).expect("memory");
    }
    let mut answers = handle.take_up_by_hand(store, 0).expect("it was looked at");
    for _ in 0..WAKES {
        while answers.publish() {}
        let Some(wake) = handle.next_wake() else { break };
        stage.clock.advance(wake.since(handle.now().boot).max(Span::from_millis(1)));
        handle.turn();
    }
    shown(&handle);
    kept(&handle);
}
