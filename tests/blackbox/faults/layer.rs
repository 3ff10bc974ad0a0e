//! A layer in front of the C library, built here from a few lines of C: what it plays, a daemon believes.

use std::path::PathBuf;
use std::process::Command;

use crate::harness::daemon::Home;

/// Builds `tests/blackbox/NAME.c` into a home; `None`, and aloud, where there is no C compiler.
pub(crate) fn build(home: &Home, name: &str) -> Option<PathBuf> {
    let source = format!("{}/tests/blackbox/faults/{name}.c", env!("CARGO_MANIFEST_DIR"));
    let library = home.path().join(name).with_extension("so");
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-O1", "-Wall", "-o"]).arg(&library).arg(source).arg("-ldl");
    let Ok(built) = command.output() else {
        println!("NOT RUN: there is no cc");
        return None;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(library)
}
