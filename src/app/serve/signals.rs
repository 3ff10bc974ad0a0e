//! Handles SIGTERM, SIGINT and SIGHUP: an orderly stop. A terminal that is closed sends the last one.

use std::fs;
use std::io;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Runs `stop` once, on a thread of its own, when the process receives one of them.
///
/// # Errors
/// The operating system's error if it accepts no handler or provides no thread.
pub(in crate::app) fn on_stop(stop: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    // `nohup` starts a program with SIGHUP ignored, so that it outlives its terminal. A handler would undo that.
    if !is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    let wait = move || {
        if signals.forever().next().is_some() {
            stop();
        }
    };
    std::thread::Builder::new().name("reveille-signals".into()).spawn(wait).map(drop)
}

/// Whether the process was started with the signal ignored. No where /proc is missing: asking the system itself needs
/// `unsafe`.
fn is_ignored(signal: i32) -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return false };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
