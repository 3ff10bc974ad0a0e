//! `reveille backup` and `reveille restore`: copy the store of a data directory into one file, and put such a file in its
//! place.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use super::config::data_dir_of;
use super::config::environment::Environment;
use super::exit::Exit;
use super::fault::AppFault;
use super::foreign_text::print;
use super::serve::data_dir::DataDir;
use super::serve::store::STORE;
use crate::adapter::{ClockOs, Restored, StoreOptions, StoreSqlite};
use crate::domain::Moment;
use crate::port::{Clock, StoreReport};
use crate::runtime::row_fault;
use crate::surface::cli::BackupArgs;

/// Runs `reveille backup`. Exit codes: 0 written, 1 not written, 2 usage.
pub(super) fn backup(args: BackupArgs) -> io::Result<ExitCode> {
    // Without the data directory's lock, which the daemon has.
    let written = data_dir_of(args.state.data_dir, &Environment::read()).and_then(|dir| {
        // Only the caps are used: nothing is opened for writing, so the time does not matter.
        let options = StoreOptions::new(dir.join(STORE), Moment::EPOCH);
        StoreSqlite::back_up(&options, &args.file, row_fault)
            .map_err(|fault| AppFault::Taken(fault.to_string()))
    });
    match written {
        Ok(report) => {
            print(&format!("{}: {}\n", args.file.display(), told(&report)))?;
            Ok(Exit::Done.into())
        }
        Err(fault) => Ok(fault.tell()),
    }
}

/// Runs `reveille restore`. Exit codes: 0 restored, 1 not restored, 2 usage.
pub(super) fn restore(args: BackupArgs) -> io::Result<ExitCode> {
    match data_dir_of(args.state.data_dir, &Environment::read()).and_then(|dir| put_back(&dir, &args.file)) {
        Ok(Restored { report, former }) => {
            let mut text = format!("{}: {}\n", report.place, told(&report));
            if let Some(former) = former {
                text += &format!("The files that were there are in {}\n", former.display());
            }
            text += "What happened after the backup is forgotten: its runs are done again, and its cancels are undone.\n";
            print(&text)?;
            Ok(Exit::Done.into())
        }
        Err(fault) => Ok(fault.tell()),
    }
}

fn put_back(dir: &Path, file: &Path) -> Result<Restored, AppFault> {
    // Held to the end, so that no daemon starts meanwhile.
    let _lock = DataDir::take(dir)?;
    let options = StoreOptions::new(dir.join(STORE), ClockOs.now().wall);
    StoreSqlite::restore(&options, file, row_fault)
        .map_err(|fault| AppFault::Taken(format!("nothing was restored: {fault}")))
}

fn told(report: &StoreReport) -> String {
    let counts = &report.counts;
    format!("{} facts up to {}, {} rows; checked, and sound", counts.facts, counts.head, counts.rows)
}
