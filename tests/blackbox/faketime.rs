//! A wall clock that the test sets, under the real daemon: libfaketime, of the Debian package `faketime`. Boot time and the
//! monotonic clock go on as they do.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use reveille::domain::{Moment, Span};

use crate::daemon::{Home, wall};

/// How far the daemon's wall clock is from ours.
pub(crate) struct WallClock {
    library: PathBuf,
    file: PathBuf,
    offset_ms: i64,
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
        let clock = WallClock { library, file: home.path().join("clock"), offset_ms: 0 };
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
        let by = Span::from_millis(self.offset_ms.unsigned_abs());
        let now = wall();
        let shown = if self.offset_ms < 0 { now.checked_sub(by) } else { now.checked_add(by) };
        shown.expect("in range")
    }

    /// Sets it, from one moment to the next.
    pub(crate) fn jump(&mut self, by: i64) {
        self.offset_ms += by * 1_000;
        self.write();
    }

    pub(crate) fn ahead(&self, by: Duration) -> Moment {
        crate::daemon::after(self.now(), by)
    }

    fn write(&self) {
        let draft = self.file.with_extension("draft");
        fs::write(&draft, format!("{:+}\n", self.offset_ms / 1_000)).expect("ours");
        fs::rename(&draft, &self.file).expect("ours");
    }
}
