//! Both stores keep the contract.

use std::fs;
use std::sync::{Arc, Mutex};

use reveille::adapter::{FaultPoint, StoreOptions, StoreSqlite};
use reveille::port::{Batch, HistoryCaps, Store, Ticket};
use reveille::testkit::store_conformance::{Failing, StoreMaker, exercise};
use reveille::testkit::{DiskFault, StoreMemory, Torn};

use super::scratch::{Scratch, options};

struct Memory;

impl StoreMaker for Memory {
    type Store = StoreMemory;

    fn fresh(&self, caps: HistoryCaps) -> StoreMemory {
        StoreMemory::new(caps)
    }

    fn reopen(&self, store: StoreMemory) -> StoreMemory {
        store.reopened()
    }

    fn set_failing(&self, store: &StoreMemory, failing: Option<Failing>) {
        match failing {
            Some(Failing::Everything) => store.fail_as(DiskFault::Broken),
            Some(Failing::Appends) => store.fail_as(DiskFault::Full),
            Some(Failing::Flushes) => store.fail_as(DiskFault::Unflushed),
            None => store.heal(),
        }
    }

    fn tear(&self, store: StoreMemory, batch: Batch) -> StoreMemory {
        let half = (batch.facts.len() + batch.rows.len()) / 2;
        store.hold();
        let _ = submit(&store, batch);
        store.tear(0, Torn { records: half, is_marked: true });
        store
    }
}

/// One directory after the other; the last one is the one that is open.
#[derive(Default)]
struct Sqlite {
    dirs: Mutex<Vec<(Scratch, HistoryCaps)>>,
    failing: Arc<Mutex<Option<Failing>>>,
}

impl Sqlite {
    fn open(&self) -> StoreSqlite {
        let failing = self.failing.clone();
        let layer = move |point: FaultPoint| {
            let fails = match *failing.lock().expect("nobody panics") {
                None => false,
                Some(Failing::Everything) => true,
                Some(Failing::Appends) => matches!(point, FaultPoint::Begin | FaultPoint::Commit),
                Some(Failing::Flushes) => point == FaultPoint::Flush,
            };
            fails.then_some("as told")
        };
        let dirs = self.dirs.lock().expect("nobody panics");
        let (dir, caps) = dirs.last().expect("one was made");
        let options = StoreOptions { caps: *caps, faults: Some(Arc::new(layer)), ..options(dir.path()) };
        StoreSqlite::open(options).expect("it can be opened")
    }
}

impl StoreMaker for Sqlite {
    type Store = StoreSqlite;

    fn fresh(&self, caps: HistoryCaps) -> StoreSqlite {
        self.dirs.lock().expect("nobody panics").push((Scratch::new(), caps));
        self.open()
    }

    fn reopen(&self, store: StoreSqlite) -> StoreSqlite {
        drop(store);
        self.open()
    }

    fn set_failing(&self, _: &StoreSqlite, failing: Option<Failing>) {
        *self.failing.lock().expect("nobody panics") = failing;
    }

    /// The files as they were with half of the batch's frames in the write-ahead log. The mark is of before: nobody was told.
    fn tear(&self, store: StoreSqlite, batch: Batch) -> StoreSqlite {
        let left = |copy: fn(&Scratch) -> Scratch| {
            let dirs = self.dirs.lock().expect("nobody panics");
            dirs.last().map(|(dir, caps)| (copy(dir), *caps)).expect("one was made")
        };
        let (before, _) = left(Scratch::as_left_now);
        submit(&store, batch).wait().expect("it is kept, for now");
        let (after, caps) = left(Scratch::as_left_now);
        drop(store);
        let bytes = |dir: &Scratch| fs::read(dir.file(WAL)).expect("there is one");
        let (old, new) = (bytes(&before), bytes(&after));
        assert!(new.len() > old.len() + 1_000, "some frames more: {} after {}", new.len(), old.len());
        fs::write(after.file(WAL), &new[..old.len().midpoint(new.len())]).expect("it is ours");
        fs::copy(before.file(MARK), after.file(MARK)).expect("there is one");
        self.dirs.lock().expect("nobody panics").push((after, caps));
        self.open()
    }
}

fn submit(store: &dyn Store, batch: Batch) -> Ticket {
    let (ticket, done) = Ticket::new();
    let term = store.health().term.expect("a term stands");
    store.submit(term, batch, done).expect("the queue has room");
    ticket
}

const WAL: &str = "store.db-wal";
const MARK: &str = "store.mark";

#[test]
fn the_store_in_memory_keeps_the_contract() {
    exercise(&Memory);
}

#[test]
fn the_store_in_a_file_keeps_the_contract() {
    exercise(&Sqlite::default());
}
