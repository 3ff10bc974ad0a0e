//! The environment, read once. Options come through the arguments' types; what is here is not an option.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the environment says.
pub(super) struct Environment {
    /// `REVEILLE_TOKEN`: an operator's token, or the one to call with. It is never printed.
    pub(super) token: Option<String>,
    xdg_state_home: Option<PathBuf>,
    home: Option<PathBuf>,
}

impl Environment {
    pub(super) fn read() -> Environment {
        let path = |name| read(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Environment {
            // What is not UTF-8 is no token, and is refused as one that is too short.
            token: read("REVEILLE_TOKEN").map(|token| token.into_string().unwrap_or_default()),
            xdg_state_home: path("XDG_STATE_HOME"),
            home: path("HOME"),
        }
    }

    /// A variable that the configuration lets a program inherit.
    pub(super) fn value(name: &str) -> Option<String> {
        read(name)?.into_string().ok()
    }

    /// Where the daemon's state is unless somebody says otherwise.
    pub(super) fn state_dir(&self) -> Option<PathBuf> {
        let state = self.xdg_state_home.clone().or_else(|| Some(self.home.as_ref()?.join(".local/state")));
        state.map(|state| state.join("reveille"))
    }
}

fn read(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
