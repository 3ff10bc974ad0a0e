//! `reveille doctor`: checks the whole store on disk, whether or not a daemon has it open.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::client::question::ask;
use super::config::data_dir_of;
use super::config::environment::Environment;
use super::exit::Exit;
use super::fault::AppFault;
use super::forecast_explain::print;
use super::foreign_text::{shown, visible};
use super::serve::store::STORE;
use super::table::cell;
use crate::adapter::{StoreOptions, StoreSqlite};
use crate::domain::Moment;
use crate::edn::{Keyword, Map, Value};
use crate::port::StoreReport;
use crate::runtime::row_fault;
use crate::surface::cli::{DaemonArgs, DoctorArgs};

/// Runs the command. What is on the disk may be sound while the daemon cannot write more of it, so the daemon is asked too.
pub(super) fn doctor(args: DoctorArgs) -> io::Result<ExitCode> {
    let dir = match data_dir_of(args.state.data_dir, &Environment::read()) {
        Ok(dir) => dir,
        Err(fault) => return Ok(fault.tell()),
    };
    match examine(&dir.join(STORE)) {
        Ok(report) => {
            let is_sound = report.is_sound();
            let failure = failure(dir);
            let is_well = is_sound && failure.is_none();
            let report = report_map(&report).with(FAILURE, failure);
            print(&args.printing, &Value::Map(report.clone()), || words(&report, is_sound))?;
            Ok(Exit::of_answer(!is_well).into())
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

/// Why the daemon of a data directory cannot write to its store, and since when. `None` if it can, or if no daemon answers.
fn failure(dir: PathBuf) -> Option<String> {
    let data_dir = Some(dir);
    let local = DaemonArgs { url: None, token_file: None, data_dir, insecure: false, embedded: false };
    let answer = ask(&local, None, &format!("[:{STORE_FAILURE}]")).ok()?;
    let failure = answer.keyword(STORE_FAILURE).filter(|failure| !failure.is_nil())?;
    Some(format!("since {}: {}", cell(failure, "since"), cell(failure, "error")))
}

/// The report for programs.
fn report_map(report: &StoreReport) -> Map {
    let (counts, pruned) = (&report.counts, &report.pruned);
    let texts = |texts: &mut dyn Iterator<Item = String>| texts.map(Value::from).collect::<Vec<_>>();
    let said = Map::new()
        .with(SOUND, report.is_sound())
        .with("store", &*report.engine)
        .with("place", &*report.place)
        .with("holder", report.holder.as_deref().unwrap_or("nobody"))
        .with("first", counts.first.to_string())
        .with("head", counts.head.to_string())
        .with("faults", texts(&mut report.last_faults.iter().map(ToString::to_string)))
        .with("defects", texts(&mut report.defects.iter().cloned()));
    let numbers = [
        ("tables-version", report.schema.into()),
        ("facts", counts.facts),
        ("fact-bytes", counts.fact_bytes),
        ("chained-facts", counts.linked),
        ("chain-gaps", counts.gaps),
        ("rows", counts.rows),
        ("tombstones", counts.tombstones),
        ("disk-bytes", counts.disk_bytes),
        ("wal-bytes", counts.wal_bytes),
        ("pruned-by-rows", pruned.by_rows),
        ("pruned-by-bytes", pruned.by_bytes),
        ("pruned-by-age", pruned.by_age),
        ("pruned-tombstones", pruned.tombstones),
    ];
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    numbers.into_iter().fold(said, |said, (name, count)| said.with(name, number(count)))
}

/// A line for each part, and at the end whether the store is sound.
fn words(report: &Map, is_sound: bool) -> String {
    let mut text = String::new();
    for (name, value) in report {
        let name = name.as_keyword().map_or("", Keyword::as_str);
        if name == SOUND || value.is_nil() {
            continue;
        }
        // The store names its holder and its defects, and may be damaged. Of a list, each entry has a line.
        for value in value.as_items().unwrap_or(std::slice::from_ref(value)) {
            let value = value.as_str().map_or_else(|| shown(value), visible);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:18}  {value}");
        }
    }
    let cannot_write = report.keyword(FAILURE).is_some_and(|failure| !failure.is_nil());
    text + match (is_sound, cannot_write) {
        (false, _) => "not sound: restore a backup\n",
        (true, true) => "sound, and its daemon cannot write to it\n",
        (true, false) => "sound\n",
    }
}

/// The part of the report that the text says in its last line.
const SOUND: &str = "sound";
/// The part of the report that the daemon knows: that it cannot write. Nil if it can.
const FAILURE: &str = "write-failure";
const STORE_FAILURE: &str = "reveille.engine/store-failure";
