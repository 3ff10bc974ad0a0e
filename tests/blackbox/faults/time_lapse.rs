//! Time that passes in leaps under the real daemon: all its clocks, and its waits with them. Between two leaps it runs as it
//! does, so that what takes a millisecond takes a millisecond.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use reveille_checker::Moment;

use crate::faults::layer;
use crate::harness::daemon::{Home, wall};

pub(crate) struct TimeLapse {
    home: PathBuf,
    library: PathBuf,
    file: File,
    ahead: i64,
}

impl TimeLapse {
    /// A clock that shows `start`; `None`, and aloud, where it cannot be played.
    pub(crate) fn new(home: &Home, start: Moment) -> Option<TimeLapse> {
        let library = layer::build(home, "time_lapse")?;
        let file = File::create_new(home.path().join(FILE)).expect("our home");
        let lapse = TimeLapse { home: home.path().to_owned(), library, file, ahead: 0 };
        lapse.write(nanos_between(wall(), start));
        Some(lapse)
    }

    /// Lets a command live by this clock.
    pub(crate) fn on<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("LD_PRELOAD", &self.library).env("TIME_LAPSE", self.home.join(FILE))
    }

    /// What it shows.
    pub(crate) fn now(&self) -> Moment {
        shown(&self.home).expect("it was begun")
    }

    /// Leaps to that moment, if it is still to come.
    pub(crate) fn leap(&mut self, to: Moment) {
        let by = nanos_between(self.now(), to);
        if by > 0 {
            self.ahead += by;
            self.write(offsets(&self.home).expect("it was begun")[2]);
        }
    }

    fn write(&self, wall: i64) {
        let bytes: Vec<u8> =
            [self.ahead, self.ahead, wall].iter().flat_map(|nanos| nanos.to_ne_bytes()).collect();
        self.file.write_all_at(&bytes, 0).expect("our file");
    }
}

/// What the wall clock of a home's daemon shows, where its time passes in leaps.
pub(crate) fn shown(home: &Path) -> Option<Moment> {
    let [ahead, _, wall_off] = offsets(home)?;
    let now = wall();
    let nanos = now.seconds() * SECOND + i64::from(now.nanos()) + ahead + wall_off;
    Moment::new(nanos.div_euclid(SECOND), u32::try_from(nanos.rem_euclid(SECOND)).expect("below a second"))
}

fn offsets(home: &Path) -> Option<[i64; 3]> {
    let bytes = fs::read(home.join(FILE)).ok()?;
    let mut numbers = bytes.chunks_exact(8).map(|bytes| i64::from_ne_bytes(bytes.try_into().expect("eight")));
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

fn nanos_between(from: Moment, to: Moment) -> i64 {
    (to.seconds() - from.seconds()) * SECOND + i64::from(to.nanos()) - i64::from(from.nanos())
}

const FILE: &str = "lapse";
const SECOND: i64 = 1_000_000_000;
