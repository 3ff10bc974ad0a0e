//! A wall clock that the test sets, under the real daemon: libfaketime, of the Debian package `faketime`. Boot time and the
//! monotonic clock go on as they do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use reveille_checker::{Event, Moment, Span};

use crate::faults::time_lapse;
use crate::harness::daemon::{Home, wall};
use crate::harness::diary::{Diary, still};

/// How far the daemon's wall clock is from ours.
pub(crate) struct WallClock {
    library: PathBuf,
    file: PathBuf,
    offset_ms: i64,
    diary: Diary,
}

/// What the wall clock of a home's daemon shows: ours, where none was set.
pub(crate) fn shown(home: &Path) -> Moment {
    if let Some(shown) = time_lapse::shown(home) {
        return shown;
    }
    let offset = fs::read_to_string(home.join(FILE)).unwrap_or_default();
    let seconds: i64 = offset.trim().parse().unwrap_or(0);
    beside(seconds * 1_000)
}

impl WallClock {
    /// `None`, and aloud, where the library is not there.
    pub(crate) fn new(home: &Home) -> Option<WallClock> {
        let found = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
        let places = found.map(|place| place.path().join("faketime/libfaketimeMT.so.1"));
        let all = places.chain([PathBuf::from("/usr/lib/faketime/libfaketimeMT.so.1")]);
        let Some(library) = all.into_iter().find(|library| library.exists()) else {
            println!("NOT RUN: there is no libfaketime; its package is called faketime");
            return None;
        };
        let clock =
            WallClock { library, file: home.path().join(FILE), offset_ms: 0, diary: Diary::of(home.path()) };
        clock.write();
        Some(clock)
    }

    /// Lets a command live by this clock.
    pub(crate) fn on<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", &self.file)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("NO_FAKE_STAT", "1")
    }

    /// What it shows.
    pub(crate) fn now(&self) -> Moment {
        beside(self.offset_ms)
    }

    /// Sets it, from one moment to the next.
    pub(crate) fn jump(&mut self, by: i64) {
        let _still = still();
        let (before, offset_ms) = (self.now(), self.offset_ms);
        self.offset_ms += by * 1_000;
        self.write();
        // Until the very last moment it showed the time before: what came due in that one is due.
        let at = if by < 0 { beside(offset_ms) } else { before };
        self.diary.note(Event::Jump { at, to: self.now() });
    }

    pub(crate) fn ahead(&self, by: Duration) -> Moment {
        crate::harness::daemon::after(self.now(), by)
    }

    fn write(&self) {
        let draft = self.file.with_extension("draft");
        fs::write(&draft, format!("{:+}\n", self.offset_ms / 1_000)).expect("ours");
        fs::rename(&draft, &self.file).expect("ours");
    }
}

fn beside(offset_ms: i64) -> Moment {
    let (now, by) = (wall(), Span::from_millis(offset_ms.unsigned_abs()));
    let shown = if offset_ms < 0 { now.checked_sub(by) } else { now.checked_add(by) };
    shown.expect("in range")
}

const FILE: &str = "clock";
