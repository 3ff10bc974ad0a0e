//! The outgoing queue of one client.
//!
//! Invariant: no sender waits for the client. At `limits::CLIENT_BACKLOG_BYTES` the connection is
//! closed: a client that does not read loses its connection visibly, and not single messages
//! silently.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::edn::{Map, Value};
use crate::limits;

/// Lines that wait to be written to one client.
#[derive(Default)]
pub(super) struct Outgoing {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<String>,
    /// The pushes that come after the answer to a request; `None` while none are held back.
    held: Option<VecDeque<String>>,
    /// The length of both.
    bytes: u64,
    closed: bool,
    cut_off: bool,
}

impl Outgoing {
    /// Appends one line; `false` if the connection is closed, possibly by this very line.
    pub(super) fn send(&self, value: &Value) -> bool {
        self.enqueue(value, |queue| &mut queue.lines)
    }

    /// Appends a push of the client's host, behind the answer that it is held back for.
    pub(super) fn push(&self, value: &Value) -> bool {
        self.enqueue(value, |queue| queue.held.as_mut().unwrap_or(&mut queue.lines))
    }

    /// Holds back the pushes of the client's host until [`Outgoing::release`].
    pub(super) fn hold(&self) {
        self.lock().held.get_or_insert_default();
    }

    /// Appends the pushes that were held back.
    pub(super) fn release(&self) {
        let mut queue = self.lock();
        let held = queue.held.take().unwrap_or_default();
        queue.lines.extend(held);
        self.changed.notify_all();
    }

    fn enqueue(&self, value: &Value, to: impl FnOnce(&mut Queue) -> &mut VecDeque<String>) -> bool {
        let mut line = value.to_string();
        line.push('\n');
        let mut queue = self.lock();
        if queue.closed {
            return false;
        }
        queue.bytes += line.len() as u64;
        if queue.bytes > limits::CLIENT_BACKLOG_BYTES.value {
            // The reason goes out as the last line, in case that the client reads after all.
            queue.lines.push_back(cut_off());
            queue.cut_off = true;
            queue.closed = true;
        } else {
            to(&mut queue).push_back(line);
        }
        self.changed.notify_all();
        !queue.closed
    }

    /// Lets the writer end once it has written everything queued.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Whether the connection was closed because its client does not read.
    pub(super) fn is_cut_off(&self) -> bool {
        self.lock().cut_off
    }

    /// Writes lines until the queue is closed and empty, or the client is gone.
    ///
    /// # Errors
    /// The first error of the stream; the queue is then closed.
    pub(super) fn write_to(&self, mut output: impl Write) -> io::Result<()> {
        while let Some(lines) = self.take() {
            for line in lines {
                if let Err(error) = output.write_all(line.as_bytes()) {
                    self.close();
                    return Err(error);
                }
            }
            // Flushed once per batch and not per line: a burst of events costs one system call.
            if let Err(error) = output.flush() {
                self.close();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Waits for lines and takes them all; `None` at the end.
    fn take(&self) -> Option<VecDeque<String>> {
        let mut queue = self.lock();
        loop {
            if !queue.lines.is_empty() {
                // Lines being written no longer count: the limit is on the backlog behind them.
                queue.bytes = queue.held.iter().flatten().map(|line| line.len() as u64).sum();
                return Some(std::mem::take(&mut queue.lines));
            }
            if queue.closed {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // A panic elsewhere cannot leave the queue inconsistent: every change is complete before
        // the unlock.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The last line for a client that was cut off.
fn cut_off() -> String {
    let limit = limits::CLIENT_BACKLOG_BYTES;
    let data =
        Map::new().with("limit", limit.name).with("max", i64::try_from(limit.value).unwrap_or(i64::MAX));
    let error = Map::new()
        .with("message", "this connection was closed: what was written to it was not read")
        .with("class", "backlog")
        .with("phase", Value::keyword("write"))
        .with("data", data);
    format!("{}\n", Value::from(Map::new().with("error", error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_does_not_read_is_cut_off_at_the_bound() {
        let outgoing = Outgoing::default();
        let line = Value::string("x".repeat(1_000_000));
        let sent = (0..20).take_while(|_| outgoing.send(&line)).count();
        assert_eq!(sent, 8);
        assert!(!outgoing.send(&Value::Nil));
        let mut written = Vec::new();
        outgoing.write_to(&mut written).unwrap();
        let lines: Vec<&[u8]> = written.split_inclusive(|byte| *byte == b'\n').collect();
        assert_eq!(lines.len(), 9);
        assert!(lines[8].starts_with(b"{:error {:message \"this connection was closed"));
        assert!(outgoing.is_cut_off());
    }
}
