//! Both stores keep the contract.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reveille::adapter::{FaultPoint, StoreMemory, StoreOptions, StoreSqlite};
use reveille::port::{HistoryCaps, StoreFault};
use reveille::testkit::store_conformance::{StoreMaker, exercise};

use crate::scratch::{Scratch, options};

struct Memory;

impl StoreMaker for Memory {
    type Store = StoreMemory;

    fn fresh(&self, caps: HistoryCaps) -> StoreMemory {
        StoreMemory::new(caps)
    }

    fn reopen(&self, store: StoreMemory) -> StoreMemory {
        store.reopened()
    }

    fn set_failing(&self, store: &StoreMemory, failing: bool) {
        if failing { store.fail(StoreFault::Unwritable { detail: "as told".into() }) } else { store.heal() }
    }
}

/// One directory after the other; the last one is the one that is open.
#[derive(Default)]
struct Sqlite {
    dirs: std::sync::Mutex<Vec<(Scratch, HistoryCaps)>>,
    failing: Arc<AtomicBool>,
}

impl Sqlite {
    fn open(&self) -> StoreSqlite {
        let failing = self.failing.clone();
        let layer = move |_: FaultPoint| failing.load(Ordering::SeqCst).then_some("as told");
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

    fn set_failing(&self, _: &StoreSqlite, failing: bool) {
        self.failing.store(failing, Ordering::SeqCst);
    }
}

#[test]
fn the_store_in_memory_keeps_the_contract() {
    exercise(&Memory);
}

#[test]
fn the_store_in_a_file_keeps_the_contract() {
    exercise(&Sqlite::default());
}
