//! What the commands that ask a daemon have in common: which daemon, as which session, and how its answer is printed.

use std::path::PathBuf;

use clap::Args;

use crate::domain::SessionId;

/// Which daemon to ask, and as whom.
#[derive(Args, Debug)]
pub struct DaemonArgs {
    /// Ask the daemon at this address; an empty value is the same as --embedded [default: the daemon that serves DATA-DIR]
    #[arg(long, value_name = "URL", env = "REVEILLE_URL", hide_env_values = true)]
    pub(crate) url: Option<String>,
    /// Read the token from this file [default: REVEILLE_TOKEN, then DATA-DIR/operator.token, which only the daemon that
    /// serves DATA-DIR gets]
    #[arg(long, value_name = "FILE", env = "REVEILLE_TOKEN_FILE", hide_env_values = true)]
    pub(crate) token_file: Option<PathBuf>,
    /// The daemon's data directory, which has its address and its tokens [default: $XDG_STATE_HOME/reveille]
    #[arg(long, value_name = "DIR", env = "REVEILLE_DATA_DIR", hide_env_values = true)]
    pub(crate) data_dir: Option<PathBuf>,
    /// Send the token in clear to another machine, if --url names one
    // Without a variable: a file in some directory must not be able to set it.
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Ask no daemon but an empty engine in this process, which ends with the command
    #[arg(long)]
    pub(crate) embedded: bool,
}

impl DaemonArgs {
    /// Whether no daemon is to be asked.
    pub(crate) fn is_embedded(&self) -> bool {
        self.embedded || self.url.as_deref() == Some("")
    }
}

/// As whom a command asks, and which daemon.
#[derive(Args, Debug)]
pub struct CallerArgs {
    /// Ask as this session; without it, as the operator.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub(crate) session: Option<SessionId>,
    /// Which daemon to ask.
    #[command(flatten)]
    pub(crate) daemon: DaemonArgs,
}

/// How an answer is printed; by default, as text for people.
#[derive(Args, Debug)]
pub struct Printing {
    /// Print EDN.
    #[arg(long)]
    pub(crate) edn: bool,
    /// Print JSON.
    #[arg(long, conflicts_with = "edn")]
    pub(crate) json: bool,
}

/// As whom a command asks, which daemon, and how the answer is printed. These are all arguments of `reveille channels`.
#[derive(Args, Debug)]
pub struct AskingArgs {
    /// How the answer is printed.
    #[command(flatten)]
    pub(crate) printing: Printing,
    /// As whom to ask, and which daemon.
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

/// A daemon's data directory.
#[derive(Debug, Args)]
pub struct StateArgs {
    /// The daemon's data directory [default: $XDG_STATE_HOME/reveille]
    #[arg(long, value_name = "DIR", env = "REVEILLE_DATA_DIR", hide_env_values = true)]
    pub(crate) data_dir: Option<PathBuf>,
}

pub(super) fn session_id(text: &str) -> Result<SessionId, String> {
    SessionId::new(text).map_err(|error| error.to_string())
}
