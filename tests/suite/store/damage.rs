//! Flipped, missing and foreign bytes: a store with fewer facts than were acknowledged is never opened without a word, and
//! what is refused is left as it was. Source: reliability T16.

use std::fs;

use reveille::adapter::{OpenFault, StoreSqlite};
use reveille::domain::Cursor;
use reveille::port::{FactRecord, HistoryQuery, RowRecord, Store, StoreFault};
use reveille::testkit::store_conformance::{ROOMY, fact, keep, log, row, rows};

use super::scratch::{FILES, Scratch};

/// A store of a process that ended in the middle: half of it in the file, half in its log.
struct Sample {
    left: Scratch,
    facts: Vec<FactRecord>,
    rows: Vec<RowRecord>,
}

fn sample() -> Sample {
    let scratch = Scratch::new();
    let facts: Vec<FactRecord> = (1..=600).map(|cursor| fact(cursor, "a", 0)).collect();
    let state: Vec<RowRecord> = (0..60).map(|key| row(&format!("{key:03}"), 1, "state")).collect();
    let mut store = scratch.open().expect("it is made");
    for (place, (facts, rows)) in facts.chunks(10).zip(state.chunks(1)).enumerate() {
        keep(&store, facts, rows).expect("it is kept");
        if place == 30 {
            drop(store);
            store = scratch.open().expect("closing moved the log into the file");
        }
    }
    Sample { left: scratch.as_left_now(), facts, rows: state }
}

/// What became of a damaged store.
#[derive(Debug, PartialEq)]
enum Outcome {
    Refused,
    FoundWhileReading,
    Harmless,
}

/// Damages a copy and opens it.
fn outcome(sample: &Sample, name: &str, damage: impl FnOnce(&mut Vec<u8>), about: &str) -> Outcome {
    let copy = sample.left.as_left_now();
    let mut bytes = fs::read(copy.file(name)).expect("it is there");
    damage(&mut bytes);
    fs::write(copy.file(name), &bytes).expect("it is ours");
    let before: Vec<_> = kept_files(&copy);
    let store = match copy.open() {
        Ok(store) => store,
        Err(refused) => {
            assert_eq!(before, kept_files(&copy), "{about}: what is refused is left as it is");
            if matches!(refused, OpenFault::Damaged { .. }) {
                assert!(refused.to_string().contains("To restore: "), "{about}: {refused}");
            }
            return Outcome::Refused;
        }
    };
    if reading_finds_damage(&store) {
        assert!(!store.doctor().expect("it can be looked at").is_sound(), "{about}: the doctor finds it too");
        return Outcome::FoundWhileReading;
    }
    assert_eq!(log(&store), sample.facts, "{about}: no fact is missing without a word");
    assert_eq!(rows(&store), sample.rows, "{about}: no row is missing without a word");
    Outcome::Harmless
}

/// The file and its log; the shared memory beside them is made anew by whoever opens them.
fn kept_files(scratch: &Scratch) -> Vec<Option<Vec<u8>>> {
    [FILES[0], FILES[1], FILES[3]].iter().map(|name| fs::read(scratch.file(name)).ok()).collect()
}

fn reading_finds_damage(store: &StoreSqlite) -> bool {
    let damaged = |answer: Option<StoreFault>| matches!(answer, Some(StoreFault::Damaged { .. }));
    damaged(store.facts_after(Cursor::START).err()) || damaged(store.rows_after(None).err())
}

#[test]
fn flipped_bits_are_never_silent() {
    let sample = sample();
    let mut found = [0; 3];
    for name in [FILES[0], FILES[1], FILES[2], FILES[3]] {
        let size = fs::read(sample.left.file(name)).expect("it is there").len();
        let headers = (0..size.min(100)).step_by(if name == FILES[2] { 20 } else { 3 });
        let rest = (0..if size > 100 { 60 } else { 0 }).map(|step| 100 + (step * 7_919 * 13) % (size - 100));
        for place in headers.chain(rest) {
            let about = format!("bit of byte {place} of {name}");
            let outcome = outcome(&sample, name, |bytes| bytes[place] ^= 1 << (place % 8), &about);
            found[outcome as usize] += 1;
        }
    }
    assert!(found[0] > 50 && found[2] > 20, "refused, found while reading, harmless: {found:?}");
}

#[test]
fn missing_bytes_are_never_silent() {
    let sample = sample();
    for name in [FILES[0], FILES[1]] {
        let size = fs::read(sample.left.file(name)).expect("it is there").len();
        for left in [0, 1, 16, 31, 32, 99, 100, 4_095, 4_096, 8_192, size / 2, size - 12_312, size - 1] {
            let about = format!("{name} cut to {left} of {size} bytes");
            let outcome = outcome(&sample, name, |bytes| bytes.truncate(left), &about);
            // The last bytes of the last page may be ones that nothing needs, or that the log has too.
            assert!(outcome != Outcome::Harmless || left + 1 == size, "{about}");
        }
    }
    for left in [0, 1, 100, 4_096] {
        let about = format!("shared memory cut to {left}");
        assert_eq!(outcome(&sample, FILES[2], |bytes| bytes.truncate(left), &about), Outcome::Harmless);
    }
    assert_eq!(outcome(&sample, FILES[3], |bytes| bytes.truncate(9), "mark cut"), Outcome::Refused);
    assert_eq!(outcome(&sample, FILES[0], |bytes| bytes.fill(0), "zeroes"), Outcome::Refused);
    assert_eq!(outcome(&sample, FILES[1], |bytes| bytes.fill(0), "log of zeroes"), Outcome::Refused);
}

/// A loss of power may tear a write of the mark: no false alarm, and the half that is left still tells of a log that is cut.
#[test]
fn a_torn_mark_is_the_one_before_it() {
    let sample = sample();
    let mark = fs::read(sample.left.file(FILES[3])).expect("it is there");
    let of = |half: &[u8]| u64::from_le_bytes(half[..8].try_into().expect("eight bytes"));
    let halves = [of(&mark[..16]), of(&mark[16..])];
    assert_eq!((halves.iter().min(), halves.iter().max()), (Some(&590), Some(&600)), "written in turn");
    let newer = 16 * usize::from(halves[1] == 600);
    for torn in newer..newer + 16 {
        let about = format!("mark torn at {torn}");
        let tear = |bytes: &mut Vec<u8>| bytes[torn..newer + 16].fill(0);
        assert_eq!(outcome(&sample, FILES[3], tear, &about), Outcome::Harmless);
        let copy = sample.left.as_left_now();
        let mut bytes = mark.clone();
        tear(&mut bytes);
        fs::write(copy.file(FILES[3]), bytes).expect("it is ours");
        fs::write(copy.file(FILES[1]), []).expect("it is ours");
        let refused = copy.open().map(drop).expect_err("the log is gone");
        assert!(refused.to_string().contains("was acknowledged"), "{refused}");
    }
    // Of an earlier version: one half, which is followed by another as soon as something is kept.
    let one = |bytes: &mut Vec<u8>| *bytes = bytes[newer..newer + 16].to_vec();
    assert_eq!(outcome(&sample, FILES[3], one, "one half"), Outcome::Harmless);
    assert_eq!(outcome(&sample, FILES[3], |bytes| bytes.fill(0), "no half"), Outcome::Refused);
}

#[test]
fn missing_files_are_never_silent() {
    let sample = sample();
    for name in [FILES[0], FILES[1]] {
        let copy = sample.left.as_left_now();
        fs::remove_file(copy.file(name)).expect("it is there");
        let refused = copy.open().map(drop).expect_err(name);
        assert!(matches!(refused, OpenFault::Damaged { .. }), "{name}: {refused}");
        let made = fs::metadata(copy.file(name)).map_or(0, |found| found.len());
        assert_eq!(made, 0, "{name} is not made anew");
    }
    let copy = sample.left.as_left_now();
    for name in [FILES[0], FILES[3]] {
        fs::remove_file(copy.file(name)).expect("it is there");
    }
    assert!(copy.open().is_err(), "a log without its file is not an empty store");
    // What the doctor says of one that cannot be opened.
    let copy = sample.left.as_left_now();
    fs::write(copy.file(FILES[0]), [7; 5_000]).expect("it is ours");
    let report = StoreSqlite::inspect(copy.path(), ROOMY).expect("it can be looked at");
    assert!(!report.is_sound(), "{report:?}");
}

#[test]
fn a_backup_is_restored_as_the_refusal_says() {
    let sample = sample();
    let copy = sample.left.as_left_now();
    drop(copy.open().expect("it is whole"));
    let backup = fs::read(copy.file(FILES[0])).expect("it is there");
    fs::write(copy.file(FILES[0]), [7; 5_000]).expect("it is ours");
    assert!(copy.open().is_err());
    for name in &FILES[1..] {
        let _ = fs::remove_file(copy.file(name));
    }
    fs::write(copy.file(FILES[0]), backup).expect("it is ours");
    assert_eq!(log(&copy.open().expect("it is restored")), sample.facts);
}

#[test]
fn a_damaged_fact_harms_no_other() {
    let sample = sample();
    let copy = sample.left.as_left_now();
    drop(copy.open().expect("it is whole, and its log is moved into the file"));
    let mut bytes = fs::read(copy.file(FILES[0])).expect("it is there");
    let text = b"payload of 300";
    let place = bytes.windows(text.len()).position(|window| window == text).expect("it is in the file");
    bytes[place] ^= 1;
    fs::write(copy.file(FILES[0]), &bytes).expect("it is ours");
    let store = copy.open().expect("its pages are whole");
    let page =
        |before| HistoryQuery { before: Some(Cursor::new(before)), limit: 50, ..HistoryQuery::default() };
    assert_eq!(store.history(&page(300)).expect("these are whole").len(), 50);
    let found = store.history(&page(301)).expect_err("this one is not");
    assert_eq!(found, StoreFault::Damaged { what: "fact 300 is not what was written".into() });
    let report = store.doctor().expect("it can be examined");
    assert_eq!(report.defects, [found.to_string()]);
    keep(&store, &[fact(601, "a", 0)], &[]).expect("it goes on");
}

#[test]
fn a_damaged_row_is_found_by_whoever_reads_it() {
    let scratch = Scratch::new();
    let store = scratch.open().expect("it is made");
    keep(&store, &[fact(1, "a", 0)], &[row("a", 1, "how it stands")]).expect("it is kept");
    drop(store);
    let mut bytes = fs::read(scratch.file(FILES[0])).expect("closing moved the log into the file");
    let text = b"how it stands";
    let place = bytes.windows(text.len()).position(|window| window == text).expect("it is in the file");
    bytes[place] ^= 1;
    fs::write(scratch.file(FILES[0]), &bytes).expect("it is ours");
    let store = scratch.open().expect("its pages are whole");
    let found = store.rows_after(None).expect_err("this one is not");
    assert_eq!(found, StoreFault::Damaged { what: "the row of `a` is not what was written".into() });
    assert!(!store.doctor().expect("it can be examined").is_sound());
}
