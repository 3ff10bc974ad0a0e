//! A conformance suite for durable stores, for ours and for those of embedders.
//!
//! A [`StoreMaker`] creates stores, ends their process and breaks their disk; [`exercise`] does the
//! rest. What lives elsewhere: the contract in prose (`port`), and what is particular to a store
//! (files, locks, networks). Invariant: no chapter waits for a clock, and each begins with an empty
//! store.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub use super::store_maker::{Failing, ROOMY, StoreMaker, fact, keep, log, row, rows, tombstone};
use super::store_maker::{send, term};
use super::store_pruning;
use crate::domain::Cursor;
use crate::limits;
use crate::port::{Batch, FactRecord, HistoryQuery, RowRecord, Store, StoreFault, Term, Ticket};

/// Runs every test of the suite.
///
/// # Panics
/// If the store violates its contract; the message names the sentence.
pub fn exercise(maker: &impl StoreMaker) {
    whole_batches_in_log_order(maker);
    answers_in_log_order(maker);
    refusals_change_nothing(maker);
    a_batch_of_any_size_is_kept_whole(maker);
    rows_only_grow(maker);
    a_log_is_read_in_chunks(maker);
    history_within_a_share(maker);
    history_by_schedule_and_time(maker);
    a_renewal_comes_after_what_was_let_in(maker);
    a_failure_ends_the_term(maker);
    a_full_store_keeps_what_it_has(maker);
    a_failed_flush_leaves_all_or_nothing(maker);
    a_torn_batch_is_none(maker);
    store_pruning::check(maker);
    a_closed_store_takes_nothing(maker);
}

fn whole_batches_in_log_order(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    assert_eq!(log(&store), [], "an empty store has no facts");
    assert_eq!(rows(&store), [], "an empty store has no rows");
    let mut bare = fact(2, "b", 1);
    bare.session = None;
    bare.schedule = None;
    bare.run = Some("b~1~2026-01-01T00:00:00Z".into());
    // Neither UTF-8 nor free of newlines: payloads are bytes to a store.
    bare.payload = Arc::new([0, 255, 10]);
    let facts = [fact(1, "a", 0), bare, fact(9, "ä λ", -1)];
    let state = [row("", 1, ""), row("a", 1, "one"), row("ä λ", 7, "two")];
    assert_eq!(keep(&store, &facts, &state), Ok(Cursor::new(9)), "the last cursor answers");
    let store = maker.reopen(store);
    assert_eq!(log(&store), facts, "what was kept is read as it was written, and gaps are allowed");
    assert_eq!(rows(&store), state, "the empty key and the empty payload are some");
    assert_eq!(store.health().head, Cursor::new(9));
    keep(&store, &[fact(10, "a", 3)], &[row("a", 2, "three")]).expect("it goes on after the last cursor");
    assert_eq!(rows(&store)[1], row("a", 2, "three"));
    assert!(store.doctor().expect("it can be examined").is_sound());
}

fn answers_in_log_order(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    let answered = Arc::new(Mutex::new(Vec::new()));
    let (last, done) = Ticket::new();
    let mut done = Some(done);
    // Enough batches to span several group commits.
    for cursor in 1..=2_000 {
        let answered = answered.clone();
        let last = (cursor == 2_000).then(|| done.take()).flatten();
        let note = move |answer: Result<Cursor, StoreFault>| {
            answered.lock().expect("nobody panics").push(answer.clone().expect("it is kept").number());
            if let Some(last) = last {
                last(answer);
            }
        };
        let batch = Batch { facts: vec![fact(cursor, "a", 0)], rows: Vec::new() };
        store.submit(term(&store), batch, Box::new(note)).expect("the queue has room");
    }
    last.wait().expect("it is kept");
    assert_eq!(*answered.lock().expect("nobody panics"), (1..=2_000).collect::<Vec<u64>>());
}

fn refusals_change_nothing(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    keep(&store, &[fact(5, "a", 0)], &[]).expect("it is kept");
    assert_eq!(keep(&store, &[], &[row("a", 1, "")]), Err(StoreFault::NoFact));
    // Cursors are the order of the log: a store must refuse one that is not above the last.
    let out_of_order = |cursor, after| {
        Err(StoreFault::OutOfOrder { cursor: Cursor::new(cursor), after: Cursor::new(after) })
    };
    assert_eq!(keep(&store, &[fact(5, "a", 0)], &[]), out_of_order(5, 5));
    assert_eq!(keep(&store, &[fact(7, "a", 0), fact(6, "a", 0)], &[]), out_of_order(6, 7));
    let other = send(&store, Term(99), &[fact(6, "a", 0)], &[]);
    assert_eq!(other.map(drop), Err(StoreFault::TermOver), "a term that is not the present one");
    assert_eq!(log(&store), [fact(5, "a", 0)]);
    assert_eq!(store.health().failures, 0, "a refusal is no failure");
    keep(&store, &[fact(6, "a", 0)], &[]).expect("a refusal leaves the order as it was");
}

/// One decision may concern every session and every run, so a batch has no bound: also one that no queue and no transaction is
/// made for is committed whole, with others before and behind it.
fn a_batch_of_any_size_is_kept_whole(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    let standing = term(&store);
    let count = limits::STORE_GROUP_RECORDS.value + 10;
    let facts: Vec<FactRecord> = (2..=count).map(|cursor| fact(cursor, "a", 0)).collect();
    let keys: Vec<RowRecord> = (2..=count).map(|key| row(&format!("{key:07}"), count, "x")).collect();
    let size = usize::try_from(limits::STORE_QUEUE_BYTES.value).expect("64 bits") + 1;
    let heavy = RowRecord { payload: Some(vec![0; size].into()), ..row("heavy", count + 1, "") };
    let batches = [
        (vec![fact(1, "a", 0)], Vec::new()),
        (facts, keys),
        (vec![fact(count + 1, "a", 0)], vec![heavy]),
        (vec![fact(count + 2, "a", 0)], vec![row("small", count + 2, "x")]),
    ];
    for (place, (facts, rows)) in batches.iter().enumerate() {
        // The small one has to wait until the queue has room again.
        if place == batches.len() - 1 {
            store.renew().expect("nothing stands in the way");
        }
        send(&store, standing, facts, rows).expect("a batch that finds little before it has room");
    }
    assert_eq!(store.renew(), Ok(standing), "none of them is a failure");
    assert_eq!(store.health().head, Cursor::new(count + 2));
    let kept = rows(&store);
    assert_eq!(kept.len() as u64, count + 1);
    let heavy = kept.iter().find(|row| &*row.key == "heavy").and_then(|row| row.payload.as_ref());
    assert_eq!(heavy.map(|payload| payload.len()), Some(size));
    assert_eq!(log(&store).len() as u64, count + 2);
}

fn rows_only_grow(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    keep(&store, &[fact(1, "a", 0)], &[row("a", 3, "new"), row("b", 1, "b")]).expect("it is kept");
    let stale = keep(&store, &[fact(2, "a", 0)], &[row("b", 2, "c"), row("a", 3, "same")]);
    assert_eq!(stale, Err(StoreFault::StaleRow { key: "a".into(), revision: 3 }));
    store.renew().expect("nothing stands in the way");
    assert_eq!(rows(&store), [row("a", 3, "new"), row("b", 1, "b")], "all of a batch or nothing");
    assert_eq!(log(&store).len(), 1);
    keep(&store, &[fact(3, "a", 0)], &[tombstone("a", 4)]).expect("it is kept");
    let store = maker.reopen(store);
    assert_eq!(rows(&store), [tombstone("a", 4), row("b", 1, "b")], "a tombstone is a row");
    // A tombstone keeps its revision, so that an older row cannot bring the deleted one back.
    let late = keep(&store, &[fact(4, "a", 0)], &[row("a", 4, "back")]);
    assert!(matches!(late, Err(StoreFault::StaleRow { .. })), "what was does not come back: {late:?}");
}

fn a_log_is_read_in_chunks(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    let count = limits::STORE_CHUNK_RECORDS.value * 2 + 7;
    let facts: Vec<FactRecord> = (1..=count).map(|cursor| fact(cursor, "a", 0)).collect();
    for (place, some) in (0_u64..).zip(facts.chunks(1_000)) {
        let keys = (0..1_000).map(|key| row(&format!("{:07}", place * 1_000 + key), 1, "x"));
        keep(&store, some, &keys.collect::<Vec<_>>()).expect("it is kept");
    }
    assert_eq!(log(&store), facts);
    assert_eq!(rows(&store).len() as u64, count.div_ceil(1_000) * 1_000);
    let first = store.facts_after(Cursor::START).expect("it can be read");
    assert!(first.len() < facts.len(), "no chunk is the whole log");
    assert_eq!(store.facts_after(Cursor::new(count - 1)), Ok(vec![fact(count, "a", 0)]));
}

fn history_by_schedule_and_time(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    // The wall clock is stepped back in the middle, and two schedules take turns.
    let second = |cursor: i64| if cursor <= 3_000 { cursor } else { cursor - 1_500 };
    let all: Vec<FactRecord> = (1..=6_000_i64)
        .map(|at| fact(at.unsigned_abs(), if at % 3 == 0 { "third" } else { "rest" }, second(at)))
        .collect();
    for some in all.chunks(2_000) {
        keep(&store, some, &[]).expect("it is kept");
    }
    let at = |second: i64| Some(fact(1, "", second).at);
    let all_of = |limit| HistoryQuery { limit, ..HistoryQuery::default() };
    let third = HistoryQuery { schedule: Some("third".into()), ..all_of(100) };
    let page = HistoryQuery { before: Some(Cursor::new(5_000)), limit: 10, ..third.clone() };
    let overlap = HistoryQuery { from: at(2_000), until: at(2_100), ..all_of(1_000) };
    let both = HistoryQuery { from: at(1_550), until: at(1_560), ..third.clone() };
    let none = HistoryQuery { schedule: Some("nobody".into()), ..all_of(100) };
    for query in [third, page, overlap, both, none, all_of(7), all_of(0)] {
        let is_wanted = |fact: &&FactRecord| {
            query.schedule.as_ref().is_none_or(|schedule| fact.schedule.as_ref() == Some(schedule))
                && query.from.is_none_or(|from| fact.at >= from)
                && query.until.is_none_or(|until| fact.at < until)
                && query.before.is_none_or(|before| fact.cursor < before)
        };
        let expected: Vec<_> = all.iter().rev().filter(is_wanted).take(query.limit).cloned().collect();
        assert_eq!(store.history(&query).expect("it can be read"), expected, "{query:?}");
    }
}

/// A session is told of a schedule in its own share of the log, and nothing of one in another's.
fn history_within_a_share(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    let of = |cursor, share: Option<&str>| FactRecord { share: share.map(Arc::from), ..fact(cursor, "a", 0) };
    // Made by session-1, and last changed by another.
    keep(&store, &[of(1, None), of(2, Some("other")), of(3, Some("other"))], &[]).expect("it is kept");
    for (session, told) in [("session-1", 3), ("other", 3), ("third", 0), ("a", 0)] {
        let within = Some(session.into());
        let query = HistoryQuery { schedule: Some("a".into()), within, limit: 9, ..HistoryQuery::default() };
        assert_eq!(store.history(&query).expect("it can be read").len(), told, "{session}");
    }
}

/// A read after a renewal sees everything accepted before it, also if the term continues: after a
/// refused batch the owner reloads while earlier batches may still be queued.
fn a_renewal_comes_after_what_was_let_in(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    let standing = term(&store);
    let kept = Arc::new(AtomicU64::new(0));
    let mut let_in = 0;
    for round in 1..=5 {
        for _ in 0..500 {
            let_in += 1;
            let kept = kept.clone();
            let note = move |answer: Result<Cursor, StoreFault>| {
                kept.store(answer.expect("it is kept").number(), Ordering::SeqCst);
            };
            let rows = vec![row("every", let_in, "x"), row(&format!("{let_in:05}"), 1, "x")];
            let batch = Batch { facts: vec![fact(let_in, "a", 0)], rows };
            store.submit(standing, batch, Box::new(note)).expect("the queue has room");
        }
        let refused = send(&store, standing, &[], &[]);
        assert_eq!(refused.map(drop), Err(StoreFault::NoFact), "what comes behind them is refused");
        assert_eq!(store.renew(), Ok(standing), "a refusal is no failure: the term stands");
        assert_eq!(kept.load(Ordering::SeqCst), let_in, "round {round}: all are answered by then");
        let found = rows(&store);
        assert_eq!(found.len() as u64, let_in + 1, "round {round}: the rows are those of all batches");
        assert_eq!(found.last(), Some(&row("every", let_in, "x")), "round {round}");
        assert_eq!(log(&store).len() as u64, let_in, "round {round}: and so is the log");
    }
}

fn a_failure_ends_the_term(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    keep(&store, &[fact(1, "a", 0)], &[row("a", 1, "kept")]).expect("it is kept");
    let before = term(&store);
    maker.set_failing(&store, Some(Failing::Everything));
    let failed =
        send(&store, before, &[fact(2, "a", 0)], &[row("a", 2, "lost")]).expect("the queue has room");
    // Whether it is submitted before or after the failure, it was decided on top of the failed
    // batch.
    let behind = send(&store, before, &[fact(3, "a", 0)], &[]);
    let failed = failed.wait();
    assert!(matches!(failed, Err(StoreFault::Unwritable { .. })), "{failed:?}");
    assert!(behind.and_then(Ticket::wait).is_err(), "what was decided on top of it fails too");
    let health = store.health();
    assert_eq!((health.term, health.failures, health.last_fault.is_some()), (None, 1, true));
    assert_eq!(send(&store, before, &[fact(4, "a", 0)], &[]).map(drop), Err(StoreFault::TermOver));
    assert!(store.renew().is_err(), "the disk is still broken");
    maker.set_failing(&store, None);
    let after = store.renew().expect("the disk is well again");
    assert!(after > before, "a term's number only grows");
    assert_eq!(store.renew(), Ok(after), "a term that stands is not renewed");
    assert_eq!(send(&store, before, &[fact(2, "a", 0)], &[]).map(drop), Err(StoreFault::TermOver));
    assert_eq!(log(&store), [fact(1, "a", 0)], "what failed before its flush is not there");
    assert_eq!(rows(&store), [row("a", 1, "kept")]);
    keep(&store, &[fact(2, "a", 1)], &[row("a", 2, "again")]).expect("it goes on");
    let store = maker.reopen(store);
    assert_eq!(log(&store), [fact(1, "a", 0), fact(2, "a", 1)]);
}

/// On a full disk, each term ends with its first append, and nothing of that batch is stored.
fn a_full_store_keeps_what_it_has(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    keep(&store, &[fact(1, "a", 0)], &[row("a", 1, "kept")]).expect("it is kept");
    maker.set_failing(&store, Some(Failing::Appends));
    for terms in 1..=3 {
        let full = keep(&store, &[fact(2, "a", 0)], &[row("a", 2, "lost"), tombstone("b", 2)]);
        assert!(matches!(full, Err(StoreFault::Unwritable { .. })), "{full:?}");
        assert_eq!((log(&store), rows(&store)), (vec![fact(1, "a", 0)], vec![row("a", 1, "kept")]));
        store.renew().expect("what is there can be opened");
        assert_eq!((store.health().failures, store.health().head), (terms, Cursor::new(1)));
    }
    maker.set_failing(&store, None);
    keep(&store, &[fact(2, "a", 1)], &[row("a", 2, "again")]).expect("there is room again");
    let store = maker.reopen(store);
    assert_eq!((log(&store).len(), rows(&store)), (2, vec![row("a", 2, "again")]));
}

/// A batch whose flush failed may be stored, but then all of it is, and it counts.
fn a_failed_flush_leaves_all_or_nothing(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    keep(&store, &[fact(1, "a", 0)], &[row("a", 1, "one")]).expect("it is kept");
    maker.set_failing(&store, Some(Failing::Flushes));
    let unknown =
        keep(&store, &[fact(2, "a", 0), fact(3, "a", 0)], &[row("a", 3, "two"), row("b", 3, "two")]);
    assert!(matches!(unknown, Err(StoreFault::Unwritable { .. })), "{unknown:?}");
    maker.set_failing(&store, None);
    store.renew().expect("what is there can be opened");
    let found = (log(&store).len(), rows(&store));
    let whole = (3, vec![row("a", 3, "two"), row("b", 3, "two")]);
    assert!(found == whole || found == (1, vec![row("a", 1, "one")]), "half of it is there: {found:?}");
    let head = store.health().head;
    assert_eq!(head, Cursor::new(found.0 as u64), "the new term knows what is there");
    let again = keep(&store, &[fact(head.number(), "a", 0)], &[]);
    let refused = StoreFault::OutOfOrder { cursor: head, after: head };
    assert_eq!(again, Err(refused), "its cursors are taken");
    keep(&store, &[fact(9, "a", 1)], &[row("a", 9, "three")]).expect("it goes on behind it");
    let store = maker.reopen(store);
    assert_eq!((log(&store).len(), rows(&store).len()), (found.0 + 1, found.1.len()));
    assert!(store.doctor().expect("it can be examined").is_sound());
}

/// A torn batch is not stored at all: the next owner goes on from the batch before it.
fn a_torn_batch_is_none(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    keep(&store, &[fact(1, "a", 0)], &[row("a", 1, "one")]).expect("it is kept");
    let facts = (2..=40).map(|cursor| fact(cursor, "a", 0)).collect();
    let store = maker.tear(store, Batch { facts, rows: vec![row("a", 40, "two"), row("b", 40, "two")] });
    assert_eq!((log(&store), rows(&store)), (vec![fact(1, "a", 0)], vec![row("a", 1, "one")]));
    assert_eq!(store.health().head, Cursor::new(1));
    keep(&store, &[fact(2, "a", 1)], &[row("a", 2, "again")]).expect("its cursors are free");
    assert!(store.doctor().expect("it can be examined").is_sound());
    let store = maker.reopen(store);
    assert_eq!((log(&store).len(), rows(&store)), (2, vec![row("a", 2, "again")]));
}

fn a_closed_store_takes_nothing(maker: &impl StoreMaker) {
    let store = maker.fresh(ROOMY);
    let standing = term(&store);
    let tickets: Vec<Ticket> = (1..=100)
        .map(|cursor| send(&store, standing, &[fact(cursor, "a", 0)], &[]).expect("the queue has room"))
        .collect();
    store.close();
    for ticket in tickets {
        ticket.wait().expect("what was taken is kept before it ends");
    }
    assert_eq!(send(&store, standing, &[fact(101, "a", 0)], &[]).map(drop), Err(StoreFault::Closed));
    assert_eq!(store.renew(), Err(StoreFault::Closed));
    assert_eq!(log(&maker.reopen(store)).len(), 100);
}
