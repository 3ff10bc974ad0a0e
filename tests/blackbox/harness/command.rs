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

/// The program under test: the one that was built with the tests, or the one whose absolute path `REVEILLE_BINARY` gives, such
/// as an earlier version or a release build.
pub(crate) fn program() -> PathBuf {
    std::env::var_os("REVEILLE_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_reveille").into()).into()
}

/// The binary with an environment of its own: what the developer has set does not count.
pub(crate) fn reveille(args: &[&str], home: &Path) -> Command {
    let mut command = Command::new(program());
    command.args(args).env_clear().env("HOME", home).current_dir(home);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
