//! Watches that a store knows: what they write while nothing is new, and how much longer a start takes for them; and how
//! soon a session hears of a scheduled call, beside one flush of the disk.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reveille::adapter::{ClockOs, HostLocal, StoreOptions, StoreSqlite};
use reveille::domain::{Durability, Scope, Span, When};
use reveille::edn::Value;
use reveille::engine::{Command, Input, Invocation, NewSchedule};
use reveille::port::{Clock, Store};
use reveille::runtime::{AttachOptions, Handle};

use crate::engine::{Engine, Nothing, PER_SESSION, parts, watch};
use crate::funnel::Funnel;
use crate::system::{boot_nanos, wait};
use crate::{Figures, hosted, middle};

/// The rows that each of so many watches has written in a minute of ten seconds between checks, and the seconds by which they
/// make a start longer than as many plain schedules do.
pub(crate) fn figures(watches: usize, load: Duration) -> Figures {
    let dir = directory();
    let [of_watches, of_plain] = ["watches", "plain"].map(|name| dir.join(name));
    let rows = written(&of_watches, watches, Some(load));
    written(&of_plain, watches, None);
    let longer = start(&of_watches) - start(&of_plain);
    let _ = std::fs::remove_dir_all(&dir);
    vec![("watch-rows", rows), ("watch-restart", longer)]
}

/// How long it takes from the end of a scheduled call to its bulletin: the end is on disk before the session is told.
pub(crate) fn bulletins(calls: usize) -> Figures {
    let dir = directory();
    let told = hosted::bulletins(calls, Some(Arc::new(open(&dir))));
    let _ = std::fs::remove_dir_all(&dir);
    vec![("bulletin-durable", told)]
}

/// What a bulletin on disk cannot be faster than: a flush of two pages over existing bytes, in milliseconds.
pub(crate) fn flush(repeats: usize) -> Figures {
    let dir = directory();
    std::fs::create_dir_all(&dir).expect("a directory of ours");
    let file = std::fs::File::create(dir.join("flush")).expect("a directory of ours");
    file.write_all_at(&[b'x'; 8_192], 0).expect("there is room");
    file.sync_all().expect("it is flushed");
    let once = |_| {
        file.write_all_at(&[b'y'; 8_192], 0).expect("there is room");
        let begun = boot_nanos();
        file.sync_data().expect("it is flushed");
        boot_nanos() - begun
    };
    let time = middle((0..repeats).map(once).collect()) / 1e3;
    let _ = std::fs::remove_dir_all(&dir);
    vec![("bulletin-durable", time)]
}

/// Where the stores are; `STORE_BENCH_DIR` chooses the disk.
fn directory() -> PathBuf {
    let base = std::env::var_os("STORE_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    base.join(format!("reveille-bench-{}", std::process::id()))
}

/// Fills a store with watches, or with plain schedules; returns the rows that each watch has written in a minute.
fn written(dir: &Path, count: usize, load: Option<Duration>) -> f64 {
    let store = Arc::new(Funnel::new(open(dir)));
    let nothing = Nothing { value: Value::from("ok"), seen: |_: &Invocation| {} };
    let engine = Engine::with(count, Arc::new(HostLocal::new()), Some(Arc::new(nothing)));
    let kept = Arc::<Funnel>::clone(&store);
    engine.handle().attach_store(kept, AttachOptions::default()).expect("the store is sound");
    let mut rows = 0.0;
    if let Some(load) = load {
        watch(engine.handle(), engine.sessions(), (count, Duration::from_secs(10)), Durability::Bound);
        // The first checks have no baseline.
        wait(Duration::from_secs(25));
        let before = store.flush();
        wait(load);
        rows = (store.flush() - before) as f64 * 60.0 / load.as_secs_f64() / count as f64;
    } else {
        for number in 0..count {
            let owner = engine.sessions()[number / PER_SESSION].clone();
            let when = When::After(Span::from_millis(36_000_000));
            let new = NewSchedule::message(owner, when, "Check the build.");
            let new = NewSchedule { durability: Durability::Durable, ..new };
            engine.handle().schedule(new).expect("a session takes this many");
        }
    }
    // Nothing is written after the end: the next start needs the store for itself.
    let hold = Command::HoldAll { by: Scope::Operator.into(), reason: None };
    engine.handle().submit(Input::Command(hold)).expect("an operator may");
    store.close();
    engine.leave();
    rows
}

/// The seconds that it takes to load a store.
fn start(dir: &Path) -> f64 {
    let handle = Handle::new(parts(Arc::new(ClockOs), Arc::new(HostLocal::new())));
    let begun = boot_nanos();
    handle.attach_store(Arc::new(open(dir)), AttachOptions::default()).expect("the store is sound");
    let time = boot_nanos() - begun;
    std::mem::forget(handle);
    time as f64 / 1e9
}

fn open(dir: &Path) -> StoreSqlite {
    std::fs::create_dir_all(dir).expect("a directory for temporary files");
    StoreSqlite::open(StoreOptions::new(dir.join("store"), ClockOs.now().wall)).expect("a new store")
}
