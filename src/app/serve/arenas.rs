//! A bound on the C library's memory pools.
//!
//! glibc gives its threads up to eight pools (arenas) for each processor, and each keeps what was freed in it. Under load the
//! daemon then held seven times what it used. glibc reads the bound from the environment as a process starts, so the daemon
//! starts its own program once more, in the same process. `mallopt` would need `unsafe`; docs/DESIGN.md compares allocators.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Starts the program again with a bound on its arenas, unless it has one. Returns only if there is nothing to do or the
/// program cannot be started again; then it works on with more memory.
pub(super) fn bound() {
    let is_glibc = cfg!(all(target_os = "linux", target_env = "gnu"));
    if is_glibc && std::env::var_os(VARIABLE).is_none() {
        // Not in the log, which has not begun; nothing is wrong with a daemon that needs more memory.
        let Err(_) = restart();
    }
}

fn restart() -> io::Result<std::convert::Infallible> {
    let mut given = std::env::args_os();
    let mut program = Command::new(std::env::current_exe()?);
    if let Some(name) = given.next() {
        program.arg0(name);
    }
    Err(program.args(given).env(VARIABLE, ARENAS).exec())
}

/// glibc's own name for the bound. An operator who has set it has decided.
const VARIABLE: &str = "MALLOC_ARENA_MAX";
const ARENAS: &str = "2";
