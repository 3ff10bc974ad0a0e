//! `reveille export` and `reveille import`: write the scheduled tasks of a data directory to files,
//! and read them back.
//!
//! An export reads the store beside a daemon, as of one moment. An import loads the store into an engine without a
//! driver, so nothing fires; it writes, so it needs the store for itself. What lives elsewhere: the files (`export`,
//! `import`).

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use super::client::in_process;
use super::config::data_dir_of;
use super::config::environment::Environment;
use super::exit::Exit;
use super::fault::AppFault;
use super::foreign_text::{complain, print, visible};
use super::import::Outcome;
use super::serve::data_dir::DataDir;
use super::serve::store::STORE;
use super::{export as files, import as takeover};
use crate::adapter::{StoreOptions, StoreSqlite, Visit};
use crate::dialect::cron::JobTarget;
use crate::domain::{HostId, Moment, SessionConfig, SessionId};
use crate::runtime::{AttachOptions, Handle};
use crate::service::export::{ExportError, Stored, restore};
use crate::surface::cli::{ExportArgs, ImportArgs};

/// Runs `reveille export`. Exit codes: 0 written, 1 not written, 2 usage.
pub(super) fn export(args: ExportArgs) -> io::Result<ExitCode> {
    let written = store_of(args.state.data_dir).and_then(|dir| {
        // Written all the same: this may be all that can be saved.
        tell(&defects(&dir));
        // Reads without opening the store, which a daemon may have open.
        let visit = Visit::open(&dir).map_err(taken)?;
        let rows = visit.rows().map_err(taken)?;
        let lost = visit.lost_history().map_err(taken)?;
        let stored = Stored { rows: &rows, facts_after: &|after| visit.facts_after(after), lost };
        files::export(&stored, &args.directory).map_err(|error| match error {
            ExportError::Write(error) => AppFault::io("the files cannot be written", error),
            ExportError::Store(_) | ExportError::Row(_) => taken(error),
        })
    });
    match written {
        Ok(left_out) => {
            tell(&left_out);
            print(&format!("written to {}\n", args.directory.display()))?;
            Ok(Exit::Done.into())
        }
        Err(fault) => Ok(fault.tell()),
    }
}

/// Runs `reveille import`. Exit codes: 0 imported, 1 not imported, 2 usage. Jobs that were left out are listed on
/// stderr.
pub(super) fn import(args: ImportArgs) -> io::Result<ExitCode> {
    match take_over(args) {
        Ok(outcome) => {
            tell(&outcome.left_out);
            for id in &outcome.taken {
                print(&format!("{}\n", visible(&id.to_string())))?;
            }
            Ok(Exit::Done.into())
        }
        Err(fault) => Ok(fault.tell()),
    }
}

fn take_over(args: ImportArgs) -> Result<Outcome, AppFault> {
    // The files are read first: of an unreadable file nothing is imported, and the store stays untouched.
    let files =
        takeover::read(&args.directory).map_err(|error| AppFault::io("nothing was imported", error))?;
    let data_dir = data_dir_of(args.state.data_dir, &Environment::read())?;
    // As `reveille serve` does, because a new machine begins with an import. The store makes its own directory.
    let is_new = !data_dir.join(STORE).exists();
    // Held to the end, so that no daemon starts meanwhile.
    let _lock = DataDir::take(&data_dir)?;
    let dir = data_dir.join(STORE);
    if let Some(defect) = defects(&dir).first() {
        return Err(AppFault::Taken(format!("nothing was imported: {defect}")));
    }
    let handle = asleep()?;
    let store = StoreSqlite::open(StoreOptions::new(dir, handle.now().wall)).map_err(taken)?;
    let asleep = AttachOptions { asleep: true, ..AttachOptions::default() };
    handle.attach_store(Arc::new(store), asleep).map_err(taken)?;
    // A typo in the directory's name must not stay unnoticed.
    let made = is_new.then(|| format!("{}: a new store was made there", data_dir.display()));
    let mut said: Vec<String> = made.into_iter().collect();
    said.extend(files.warnings());
    let schedules = restore(files.schedules, handle.now().wall);
    let jobs = files.replayed.profile.jobs.values();
    let sessions = jobs.filter_map(|kept| session_of(&kept.job.target)).chain(args.owner.as_ref());
    // Sessions first: a job for a session that is not open would be refused.
    for session in sessions.chain(schedules.sessions()) {
        said.extend(open(&handle, session)?);
    }
    let mut outcome = takeover::import(&handle, &files.replayed, args.owner.as_ref());
    takeover::import_schedules(&handle, schedules, &mut outcome);
    said.append(&mut outcome.left_out);
    Ok(Outcome { left_out: said, ..outcome })
}

/// What is wrong with a store, its hash chain included; nothing if it cannot be examined, which opening it reports.
fn defects(dir: &Path) -> Vec<String> {
    let caps = StoreOptions::new(dir, Moment::EPOCH).caps;
    let found = StoreSqlite::inspect(dir, caps).map_or_else(|_| Vec::new(), |report| report.defects);
    found.into_iter().map(|defect| format!("the store is not sound: {defect}")).collect()
}

fn session_of(target: &JobTarget) -> Option<&SessionId> {
    match target {
        JobTarget::Session(session) => Some(session),
        JobTarget::Gateway { .. } => None,
    }
}

/// Opens the session of a job if it is not open; returns a line about it.
fn open(handle: &Handle, session: &SessionId) -> Result<Option<String>, AppFault> {
    if handle.view(|state| state.session(session).is_some()) {
        return Ok(None);
    }
    let opened = handle.open_session(Some(session.clone()), HostId::INBOX, SessionConfig::default());
    opened.map_err(|refusal| AppFault::usage(format!("{session}: {refusal}")))?;
    Ok(Some(format!("{session}: opened, because jobs are delivered there; a harness can attach to it")))
}

/// The path of the store to export. A missing one is not created: it would hide a typo in the
/// directory's name.
fn store_of(data_dir: Option<PathBuf>) -> Result<PathBuf, AppFault> {
    let dir = data_dir_of(data_dir, &Environment::read())?.join(STORE);
    if dir.exists() {
        return Ok(dir);
    }
    Err(AppFault::Taken(format!(
        "there is no store in {}; `reveille serve` creates one",
        parent(&dir).display()
    )))
}

fn parent(dir: &Path) -> &Path {
    dir.parent().unwrap_or(dir)
}

fn asleep() -> Result<Handle, AppFault> {
    in_process::asleep().map_err(|error| AppFault::io("the engine cannot be created", error))
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn taken(fault: impl ToString) -> AppFault {
    AppFault::Taken(fault.to_string())
}

fn tell(lines: &[String]) {
    lines.iter().for_each(complain);
}
