//! A process killed in the middle of its work, again and again: nothing acknowledged is lost, nothing is half there.
//! Source: reliability T10.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;

use reveille::domain::Cursor;
use reveille::port::{Batch, FactRecord, Store, Ticket};
use reveille::testkit::store_conformance::{fact, log, row, rows, tombstone};

use super::scratch::Scratch;

const KILLS: u64 = 120;
const CALLERS: u64 = 8;
const CHILD: &str = "REVEILLE_TEST_STORE";

/// The other process: this very program, asked for this very test, and told where the store is.
#[test]
#[expect(clippy::disallowed_methods, reason = "the environment tells a child from a test run")]
fn in_the_child() {
    let Ok(dir) = std::env::var(CHILD) else { return };
    let store =
        reveille::adapter::StoreSqlite::open(super::scratch::options(dir.as_ref())).expect("it opens");
    let next = Mutex::new(store.health().head.number() + 1);
    thread::scope(|callers| {
        for _ in 0..CALLERS {
            callers.spawn(|| work(&store, &next));
        }
    });
}

/// Submits batches for ever, and says which are acknowledged.
fn work(store: &dyn Store, next: &Mutex<u64>) {
    loop {
        let (ticket, done) = Ticket::new();
        let mut cursor = next.lock().expect("nobody panics");
        let (batch, last) = batch(*cursor);
        store.submit(store.health().term.expect("nothing fails"), batch, done).expect("the queue has room");
        *cursor = last + 1;
        drop(cursor);
        let kept = ticket.wait().expect("it is kept");
        // One write a line: whole lines or none reach the pipe.
        let line = format!("acknowledged {kept}\n");
        std::io::stdout().write_all(line.as_bytes()).expect("the parent reads");
    }
}

/// What is written at a cursor is a function of the cursor: one to four facts, and a row whose text names the last of them.
fn batch(first: u64) -> (Batch, u64) {
    let last = first + first % 4;
    let facts: Vec<FactRecord> = (first..=last).map(|cursor| of(cursor, first)).collect();
    let key = format!("{:02}", first % 97);
    let row =
        if first.is_multiple_of(7) { tombstone(&key, last) } else { row(&key, last, &last.to_string()) };
    (Batch { facts, rows: vec![row] }, last)
}

/// A fact that says where its batch begins.
fn of(cursor: u64, first: u64) -> FactRecord {
    let mut fact = fact(cursor, &format!("schedule-{}", first % 97), 0);
    fact.payload = vec![b'x'; 40 + usize::try_from(first % 400).expect("small")].into();
    fact.run = Some(first.to_string().into());
    fact
}

fn start(dir: &Scratch) -> Child {
    let program = std::env::current_exe().expect("a test has a program");
    // A test is named without its crate.
    let module = module_path!().split_once("::").expect("a module of a crate").1;
    Command::new(program)
        .args(["--exact", &format!("{module}::in_the_child"), "--nocapture"])
        .env(CHILD, dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it can be started again")
}

#[test]
fn nothing_acknowledged_is_lost_in_a_hundred_kills() {
    let scratch = Scratch::new();
    let mut seed = 0x5eed_u64;
    let (mut acknowledged, mut facts) = (0, 0);
    for kill in 0..KILLS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = start(&scratch);
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut heard = acknowledged;
        // Killed while it opens the store, after its first word, or in full swing.
        let enough = [0, 1, 20, 150][usize::try_from(seed >> 62).expect("two bits")];
        for _ in 0..enough {
            heard = heard.max(next_word(&mut lines).expect("it works until it is killed"));
        }
        for _ in 0..(seed >> 40) % 400_000 {
            std::hint::spin_loop();
        }
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        // What it said before its end counts, read or not.
        while let Some(word) = next_word(&mut lines) {
            heard = heard.max(word);
        }
        acknowledged = heard;
        facts = examine(&scratch, acknowledged, kill);
    }
    assert!(facts > 1_000, "{facts} facts are no load");
}

fn next_word(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> Option<u64> {
    loop {
        let line = lines.next()?.ok()?;
        if let Some(number) = line.rsplit_once("acknowledged ").and_then(|(_, number)| number.parse().ok()) {
            return Some(number);
        }
    }
}

/// Opens it as the next process does, and holds all of it against what was written and acknowledged.
fn examine(scratch: &Scratch, acknowledged: u64, kill: u64) -> u64 {
    let store = scratch.open().expect("a killed process leaves a store that opens");
    let head = store.health().head.number();
    assert!(head >= acknowledged, "kill {kill}: {acknowledged} was acknowledged, {head} is kept");
    let (mut expected, mut state) = (Vec::new(), std::collections::BTreeMap::new());
    let mut first = 1;
    while first <= head {
        let (batch, last) = batch(first);
        expected.extend(batch.facts);
        state.extend(batch.rows.into_iter().map(|row| (row.key.clone(), row)));
        first = last + 1;
    }
    assert_eq!(first, head + 1, "kill {kill}: no batch is half there");
    assert!(log(&store) == expected, "kill {kill}: every fact is what was written");
    assert_eq!(rows(&store), state.into_values().collect::<Vec<_>>(), "kill {kill}");
    if kill.is_multiple_of(20) || kill + 1 == KILLS {
        let report = store.doctor().expect("it can be examined");
        assert!(report.is_sound(), "kill {kill}: {:?}", report.defects);
        assert_eq!(report.counts.head, Cursor::new(head));
    }
    head
}
