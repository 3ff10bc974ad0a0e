//! A directory that goes with its test, and stores in it.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use reveille::adapter::{OpenFault, StoreOptions, StoreSqlite};
use reveille::domain::Moment;
use reveille::testkit::store_conformance::ROOMY;

/// A directory of this test's own, 0700.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Scratch {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("reveille-store-{}-{number}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&path).expect("a fresh directory");
        Scratch(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn open(&self) -> Result<StoreSqlite, OpenFault> {
        StoreSqlite::open(options(&self.0))
    }

    /// The store's files as they are at this moment, in a directory of their own: what a process that ends here leaves.
    pub(crate) fn as_left_now(&self) -> Scratch {
        let copy = Scratch::new();
        for name in FILES {
            if self.file(name).exists() {
                fs::copy(self.file(name), copy.file(name)).expect("a file can be copied");
            }
        }
        copy
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Caps that no test reaches unless it says so.
pub(crate) fn options(dir: &Path) -> StoreOptions {
    StoreOptions { caps: ROOMY, ..StoreOptions::new(dir, Moment::EPOCH) }
}

pub(crate) const FILES: [&str; 4] = ["store.db", "store.db-wal", "store.db-shm", "store.mark"];
static NEXT: AtomicU64 = AtomicU64::new(0);
