//! Arguments of the commands that read or write the store of a data directory themselves.

use std::path::PathBuf;

use clap::Args;

use super::asking::{Printing, StateArgs, session_id};
use crate::domain::SessionId;

/// Arguments of `reveille doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// How the report is printed.
    #[command(flatten)]
    pub(crate) printing: Printing,
    /// The daemon's data directory.
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Arguments of `reveille backup` and `reveille restore`.
#[derive(Debug, Args)]
pub struct BackupArgs {
    /// The backup.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The daemon's data directory.
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Arguments of `reveille export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Output directory, created if missing.
    #[arg(value_name = "OUT-DIR")]
    pub(crate) directory: PathBuf,
    /// The daemon's data directory.
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Arguments of `reveille import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The directory of the files.
    #[arg(value_name = "PATH")]
    pub(crate) directory: PathBuf,
    /// The session that gets the tasks for a channel.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub(crate) owner: Option<SessionId>,
    /// The daemon's data directory.
    #[command(flatten)]
    pub(crate) state: StateArgs,
}
