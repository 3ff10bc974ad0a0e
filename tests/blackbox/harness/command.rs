//! One command of the binary, in a directory and an environment of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory of one test's own.
pub(crate) fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("serve-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory");
    path
}

/// The binary with an environment of its own: what the developer has set does not count.
pub(crate) fn reveille(args: &[&str], home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reveille"));
    command.args(args).env_clear().env("HOME", home).current_dir(home);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
