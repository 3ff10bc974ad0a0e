//! A disk that fails: at every point of an append, and one that is really full. Source: reliability T12, T13.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use reveille::adapter::{FaultPoint, StoreOptions, StoreSqlite};
use reveille::domain::Cursor;
use reveille::port::{Store, StoreFault};
use reveille::testkit::store_conformance::{fact, keep, log, row, rows};

use super::scratch::{Scratch, options};

/// Fails once at each point in turn, and then again while the file is opened anew.
#[test]
fn every_point_of_failure_leaves_all_or_nothing() {
    for point in [FaultPoint::Begin, FaultPoint::Commit, FaultPoint::Flush] {
        let scratch = Scratch::new();
        let plan = Arc::new(Mutex::new(Vec::new()));
        let layer = {
            let plan = plan.clone();
            move |at: FaultPoint| {
                let mut plan: std::sync::MutexGuard<'_, Vec<FaultPoint>> =
                    plan.lock().expect("nobody panics");
                let place = plan.iter().position(|planned| *planned == at)?;
                plan.remove(place);
                Some("input/output error")
            }
        };
        let alarms = Arc::new(Mutex::new(Vec::new()));
        let told = alarms.clone();
        let store = StoreSqlite::open(StoreOptions {
            faults: Some(Arc::new(layer)),
            alarm: Some(Box::new(move |fault| told.lock().expect("nobody panics").push(fault.clone()))),
            ..options(scratch.path())
        })
        .expect("it is made");
        keep(&store, &[fact(1, "a", 0)], &[row("a", 1, "one")]).expect("it is kept");
        *plan.lock().expect("nobody panics") = vec![point, FaultPoint::Reopen, FaultPoint::Reopen];
        let fault = StoreFault::Unwritable { detail: "input/output error".into() };
        let failed = keep(&store, &[fact(2, "a", 0), fact(3, "a", 0)], &[row("a", 2, "two")]);
        assert_eq!(failed, Err(fault.clone()), "{point:?}");
        assert_eq!(store.renew(), Err(fault.clone()), "{point:?}: the second failure of opening it anew");
        store.renew().expect("the disk is well again");
        assert_eq!(*alarms.lock().expect("nobody panics"), [fault], "{point:?}: the owner is told once");
        // A flush that failed may have got through: the owner reads which, and it is so for good.
        let expected = if point == FaultPoint::Flush { 3 } else { 1 };
        assert_eq!(log(&store).len(), expected, "{point:?}");
        assert_eq!(rows(&store)[0].revision, if expected == 3 { 2 } else { 1 }, "{point:?}");
        assert_eq!(store.health().head, Cursor::new(expected as u64));
        let next = expected as u64 + 1;
        keep(&store, &[fact(next, "a", 0)], &[]).expect("it goes on");
        drop(store);
        assert_eq!(log(&scratch.open().expect("it is whole")).len(), expected + 1, "{point:?}");
    }
}

/// A small file system of its own, where this user may mount one.
struct SmallDisk(Scratch);

impl SmallDisk {
    fn mount() -> Option<SmallDisk> {
        let scratch = Scratch::new();
        let done = run("mount", &["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs"], scratch.path());
        done.then(|| SmallDisk(scratch))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run("umount", &["-l"], self.0.path());
    }
}

fn run(command: &str, arguments: &[&str], path: &Path) -> bool {
    Command::new(command).args(arguments).arg(path).output().is_ok_and(|done| done.status.success())
}

#[test]
fn a_full_disk_is_an_error_and_then_it_goes_on() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("no small disk can be mounted by this user: not run");
        return;
    };
    let store = disk.0.open().expect("it is made");
    let mut kept = Vec::new();
    let ballast = disk.0.file("ballast");
    std::fs::write(&ballast, vec![0; 1_000_000]).expect("there is room");
    let fault = loop {
        let mut large = fact(kept.len() as u64 + 1, "a", 0);
        large.payload = vec![7; 20_000].into();
        match keep(&store, std::slice::from_ref(&large), &[]) {
            Ok(_) => kept.push(large),
            Err(fault) => break fault,
        }
    };
    assert!(kept.len() > 5 && fault.to_string().contains("full"), "{} kept, then {fault}", kept.len());
    assert_eq!(store.health().term, None);
    assert_eq!(log(&store), kept, "what is kept can be read while the disk is full");
    std::fs::remove_file(&ballast).expect("it is there");
    store.renew().expect("there is room again");
    assert_eq!(log(&store), kept);
    keep(&store, &[fact(1_000, "a", 0)], &[]).expect("it goes on");
    drop(store);
    let store = disk.0.open().expect("it is whole");
    assert_eq!(log(&store).len(), kept.len() + 1);
    assert!(store.doctor().expect("it can be examined").is_sound());
}
