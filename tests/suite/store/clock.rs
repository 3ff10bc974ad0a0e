//! A wall clock that is wrong for a moment, which is written with the facts of that moment.

use reveille::adapter::{StoreOptions, StoreSqlite};
use reveille::port::{FactRecord, HistoryCaps, Store};
use reveille::testkit::store_conformance::{ROOMY, fact, keep};

use super::scratch::{Scratch, options};

/// Appends facts up to a cursor, one a second.
fn append(store: &StoreSqlite, cursors: std::ops::RangeInclusive<u64>, from: i64) {
    let facts: Vec<FactRecord> = cursors
        .map(|cursor| {
            // For twenty facts, the clock is ten years ahead.
            let ahead = if (1_101..=1_120).contains(&cursor) { 315_360_000 } else { 0 };
            fact(cursor, "a", from + ahead + cursor.cast_signed())
        })
        .collect();
    for some in facts.chunks(500) {
        keep(store, some, &[]).expect("it is kept");
    }
}

#[test]
fn a_clock_that_is_ahead_for_a_moment_neither_ages_the_history_nor_keeps_it_for_ever() {
    let scratch = Scratch::new();
    let caps = HistoryCaps { days: 2, ..ROOMY };
    let open = || StoreSqlite::open(StoreOptions { caps, ..options(scratch.path()) }).expect("it is ours");
    let store = open();
    append(&store, 1..=1_120, 0);
    let counts = |store: &StoreSqlite| {
        let report = store.doctor().expect("it can be examined");
        (report.counts.facts, report.pruned.by_age)
    };
    assert_eq!(counts(&store), (1_120, 0), "the clock is ahead");
    drop(store);
    let store = open();
    append(&store, 1_121..=2_500, 0);
    assert_eq!(counts(&store), (2_500, 0), "the clock is right again");
    append(&store, 2_501..=6_000, 4 * 86_400);
    let (facts, aged) = counts(&store);
    assert!(facts <= 4_300 && facts + aged == 6_000, "{facts} facts, and {aged} were too old");
}
