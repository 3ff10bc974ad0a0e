//! Reads the environment variables that are not command-line options.

use std::ffi::OsString;
use std::path::PathBuf;

/// The values of the environment variables.
pub(in crate::app) struct Environment {
    /// `REVEILLE_TOKEN`: the daemon's operator token, or the token of a client. It is never
    /// printed.
    pub(in crate::app) token: Option<String>,
    xdg_state_home: Option<PathBuf>,
    home: Option<PathBuf>,
}

impl Environment {
    pub(in crate::app) fn read() -> Environment {
        // As the XDG specification demands, relative paths are ignored.
        let path = |name| read(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Environment {
            // A value that is not UTF-8 becomes empty, and is refused as too short.
            token: read("REVEILLE_TOKEN").map(|token| token.into_string().unwrap_or_default()),
            xdg_state_home: path("XDG_STATE_HOME"),
            home: path("HOME"),
        }
    }

    /// The value of a variable that a channel's program may inherit.
    pub(in crate::app) fn value(name: &str) -> Option<String> {
        read(name)?.into_string().ok()
    }

    /// Where programs of this user keep their configuration.
    pub(in crate::app) fn config_dir() -> Option<PathBuf> {
        let path = |name| read(name).map(PathBuf::from).filter(|path| path.is_absolute());
        path("XDG_CONFIG_HOME").or_else(|| Some(path("HOME")?.join(".config")))
    }

    /// The default data directory.
    pub(in crate::app) fn state_dir(&self) -> Option<PathBuf> {
        let state = self.xdg_state_home.clone().or_else(|| Some(self.home.as_ref()?.join(".local/state")));
        state.map(|state| state.join("reveille"))
    }
}

fn read(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
