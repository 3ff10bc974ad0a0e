//! Handles SIGTERM, SIGINT and SIGHUP: an orderly stop. A terminal that is closed sends the last one.

use std::io;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Runs `stop` once, on a thread of its own, when the process receives one of them.
///
/// # Errors
/// The operating system's error if it accepts no handler or provides no thread.
pub(super) fn on_stop(stop: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let wait = move || {
        if signals.forever().next().is_some() {
            stop();
        }
    };
    std::thread::Builder::new().name("reveille-signals".into()).spawn(wait).map(drop)
}
