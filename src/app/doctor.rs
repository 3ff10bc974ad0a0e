//! `reveille doctor`: checks the whole store on disk, whether or not a daemon has it open.

use std::fmt::{self, Write as _};
use std::io;
use std::path::Path;
use std::process::ExitCode;

use super::config::data_dir_of;
use super::config::environment::Environment;
use super::fault::AppFault;
use super::foreign_text::{print, visible};
use super::serve::store::STORE;
use crate::adapter::{StoreOptions, StoreSqlite};
use crate::domain::Moment;
use crate::port::StoreReport;
use crate::runtime::row_fault;
use crate::surface::cli::DoctorArgs;

/// Runs the command. Exit codes: 0 sound, 1 defects or unreadable, 2 usage.
pub(super) fn doctor(args: DoctorArgs) -> io::Result<ExitCode> {
    let dir = match data_dir_of(args.state.data_dir, &Environment::read()) {
        Ok(dir) => dir.join(STORE),
        Err(fault) => return Ok(fault.tell()),
    };
    match examine(&dir) {
        Ok(report) => {
            // The store names its holder and its defects, and may be damaged.
            let mut text = String::new();
            write_report(&report, &mut text).map_err(io::Error::other)?;
            print(&text)?;
            Ok(if report.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Err(fault) => Ok(fault.tell()),
    }
}

fn examine(dir: &Path) -> Result<StoreReport, AppFault> {
    // Inspecting must not create a store.
    if !dir.exists() {
        return Err(AppFault::Taken(format!("there is no store in {}", dir.display())));
    }
    // Only the caps are used: nothing is opened for writing, so the time does not matter.
    let caps = StoreOptions::new(dir, Moment::EPOCH).caps;
    StoreSqlite::inspect_rows(dir, caps, row_fault).map_err(|fault| AppFault::Taken(fault.to_string()))
}

fn write_report(report: &StoreReport, output: &mut String) -> fmt::Result {
    let counts = &report.counts;
    writeln!(output, "store    {}, tables of version {}", report.engine, report.schema)?;
    writeln!(output, "place    {}", report.place)?;
    writeln!(output, "holder   {}", report.holder.as_deref().map_or("nobody".into(), visible))?;
    writeln!(
        output,
        "facts    {} from {} to {}, {} bytes",
        counts.facts, counts.first, counts.head, counts.fact_bytes
    )?;
    writeln!(output, "chain    {} facts, with {} gaps where facts were pruned", counts.linked, counts.gaps)?;
    writeln!(output, "rows     {}, {} of them tombstones", counts.rows, counts.tombstones)?;
    writeln!(
        output,
        "disk     {} bytes, {} of them in the write-ahead log",
        counts.disk_bytes, counts.wal_bytes
    )?;
    let pruned = &report.pruned;
    writeln!(
        output,
        "pruned   {} facts by rows, {} by bytes, {} by age; {} tombstones",
        pruned.by_rows, pruned.by_bytes, pruned.by_age, pruned.tombstones
    )?;
    for fault in &report.last_faults {
        writeln!(output, "fault    {}", visible(&fault.to_string()))?;
    }
    for defect in &report.defects {
        writeln!(output, "defect   {}", visible(defect))?;
    }
    writeln!(output, "{}", if report.is_sound() { "sound" } else { "not sound: restore a backup" })
}
