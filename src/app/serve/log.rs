//! The log: writes structured lines to stderr without ever blocking the caller.
//!
//! Invariants: only our own lines are written, because libraries do not know what is secret; no
//! thread waits for the reader of stderr. If it is too slow, lines are dropped and counted.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use tracing_subscriber::filter::{FilterExt, Targets, filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::app::fault::AppFault;
use crate::app::foreign_text::escaped;

/// The log of this process; dropping it writes the lines that are still queued.
pub(in crate::app) struct Log {
    lines: SyncSender<Line>,
    written: Receiver<()>,
}

enum Line {
    Text(String),
    End,
}

impl Log {
    /// Starts the log: lines of text, or objects in JSON, one a line.
    ///
    /// # Errors
    /// [`AppFault::Usage`] for an invalid filter, [`AppFault::Io`] without a thread.
    pub(in crate::app) fn start(filter: &str, is_json: bool) -> Result<Log, AppFault> {
        let wrong = |error| AppFault::usage(format!("the log filter cannot be read: {error}"));
        let targets: Targets = filter.parse().map_err(wrong)?;
        let (lines, queue) = sync_channel(LINES_MAX);
        let (done, written) = sync_channel(1);
        let left_out = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&left_out);
        let write = move || {
            write_all(&queue, &counted);
            let _ = done.send(());
        };
        let spawned = std::thread::Builder::new().name("reveille-log".into()).spawn(write);
        spawned.map_err(|error| AppFault::io("the log's thread cannot be started", error))?;
        let queue = lines.clone();
        let layer = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .with_writer(move || Queue { lines: queue.clone(), left_out: Arc::clone(&left_out) });
        let layer = if is_json { layer.json().flatten_event(true).boxed() } else { layer.boxed() };
        // Libraries are left out whatever the filter says, because their lines may contain what a client sent.
        let layer = layer.with_filter(targets.and(filter_fn(|line| line.target().starts_with("reveille"))));
        // An embedding program's own log stays in place.
        let _ = tracing_subscriber::registry().with(layer).try_init();
        Ok(Log { lines, written })
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // A full queue means that stderr is not read, so there is nothing to wait for.
        if self.lines.try_send(Line::End).is_ok() {
            let _ = self.written.recv_timeout(FAREWELL);
        }
    }
}

/// The queue to the writing thread, as a writer.
struct Queue {
    lines: SyncSender<Line>,
    left_out: Arc<AtomicU64>,
}

impl Write for Queue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = one_line(&String::from_utf8_lossy(line));
        if let Err(TrySendError::Full(_)) = self.lines.try_send(Line::Text(text)) {
            // Dropping a line beats blocking: the caller may hold the engine's lock.
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An event as one line: what a program or a server has said in it adds none, and hides nothing.
fn one_line(event: &str) -> String {
    let event = event.strip_suffix('\n').unwrap_or(event);
    let mut line = escaped(event).replace('\n', "\\n");
    line.push('\n');
    line
}

/// Writes lines until the end. Those of a busy time gather first: a thread that waits for each line is woken for each, by the
/// request that logs it, which was a tenth of all that a small request costs.
#[expect(clippy::disallowed_methods, reason = "nothing else happens on this thread, and nobody waits for it")]
fn write_all(queue: &Receiver<Line>, left_out: &AtomicU64) {
    let mut stderr = io::stderr();
    while let Ok(Line::Text(mut text)) = queue.recv() {
        let mut ends = false;
        for line in queue.try_iter().take(LINES_MAX) {
            match line {
                Line::Text(line) => text.push_str(&line),
                Line::End => ends = true,
            }
        }
        // If stderr is closed, nothing can be reported.
        let _ = stderr.write_all(text.as_bytes());
        let count = left_out.swap(0, Ordering::Relaxed);
        if count > 0 {
            let _ = writeln!(stderr, "reveille: {count} log lines were left out: nobody read stderr");
        }
        if ends {
            return;
        }
        std::thread::sleep(GATHER);
    }
}

// By how much a line may be late.
const GATHER: Duration = Duration::from_millis(5);
// Bounds the memory of the queue, and is enough for a burst.
const LINES_MAX: usize = 4_096;
// How long the end of the process may wait for the reader of stderr.
const FAREWELL: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn an_event_is_one_line_whatever_others_have_said_in_it() {
        let event = "WARN a server ended: no\n2026-11-29T18:00:00Z  INFO reveille: all is well\u{202e}\n";
        let line = one_line(event);
        assert_eq!(line.matches('\n').count(), 1, "{line}");
        assert!(
            line.ends_with('\n') && line.contains("no\\n2026-11-29") && !line.contains('\u{202e}'),
            "{line}"
        );
        assert_eq!(one_line("plain\n"), "plain\n");
    }
}
