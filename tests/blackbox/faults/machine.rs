//! A machine whose power can be cut: a daemon on a disk that remembers what was flushed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::faults::disk::{Disk, Loss};
use crate::harness::command::program;
use crate::harness::daemon::Home;
use crate::harness::load::Dice;

pub(crate) struct Machine {
    library: PathBuf,
    journal: PathBuf,
    program: PathBuf,
    /// Flushes of such files are answered and not made.
    lies: Option<&'static str>,
    pub(crate) disk: Disk,
}

impl Machine {
    /// `None` where there is no C compiler for what stands between the daemon and its disk.
    pub(crate) fn new(home: &Home, seed: u64) -> Option<Machine> {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/blackbox/faults/power.c");
        let library = home.path().join("power.so");
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-O1", "-Wall", "-o"]).arg(&library).arg(source).arg("-ldl");
        let Ok(built) = command.output() else {
            println!("NOT RUN: there is no cc");
            return None;
        };
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let journal = home.path().join("journal");
        let root = home.path().canonicalize().expect("it is there").join("state");
        let disk = Disk::new(root, journal.clone(), seed);
        Some(Machine { library, journal, program: program(), lies: None, disk })
    }

    /// One whose disk answers flushes of such files without making them.
    pub(crate) fn whose_disk_lies_about(mut self, name: &'static str) -> Machine {
        self.lies = Some(name);
        self
    }

    /// One with another program for a daemon.
    pub(crate) fn with_program(mut self, program: &Path) -> Machine {
        self.program = program.to_owned();
        self
    }

    pub(crate) fn serve(&self, home: &Home) -> Command {
        let mut command = home.serve_by(&self.program);
        command.env("LD_PRELOAD", &self.library).env("POWER_LOG", &self.journal);
        command.env("POWER_ROOT", self.disk.root());
        if let Some(name) = self.lies {
            command.env("POWER_LIES", name);
        }
        command
    }

    /// The daemon is gone, and as a rule the power with it: whether it went, and took something along.
    pub(crate) fn life_ended(&mut self, dice: &mut Dice) -> Option<bool> {
        self.disk.note();
        // What a killed process has written and not flushed is there for the next one, and in danger still.
        if dice.below(4) == 0 {
            return None;
        }
        let loss = Loss::any(dice);
        Some(self.disk.cut(loss))
    }
}
