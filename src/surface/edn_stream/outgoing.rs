//! The outgoing queue of one client.
//!
//! Invariant: no sender waits for the client. At `limits::CLIENT_BACKLOG_BYTES` the connection is
//! closed: a client that does not read loses its connection visibly, and not single messages
//! silently. What waits counts among the answers of all clients that wait to be sent, until it is written or dropped.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use super::codec::line;
use crate::dialect::Notation;
use crate::edn::{Map, Value};
use crate::limits::{self, Limit};
use crate::service::{Holder, Quota, Share};

/// Lines that wait to be written to one client.
pub(super) struct Outgoing {
    queue: Mutex<Queue>,
    changed: Condvar,
    /// Unset until the client has said something.
    notation: OnceLock<Notation>,
    /// For whom what waits counts.
    holder: Holder,
    /// Bytes of answers to all callers that wait to be sent.
    answers: Arc<Quota>,
}

/// A line that waits to be written, with its part of the quota; `None` while little waits.
struct Line {
    text: String,
    _held: Option<Share>,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<Line>,
    /// The pushes that come after the answer to a request; `None` while none are held back.
    held: Option<VecDeque<Line>>,
    /// The length of both.
    bytes: u64,
    closed: bool,
    cut_off: bool,
}

impl Outgoing {
    /// An empty queue for a client that counts as this holder.
    pub(super) fn new(holder: Holder, answers: Arc<Quota>) -> Outgoing {
        let notation = OnceLock::new();
        Outgoing { queue: Mutex::default(), changed: Condvar::new(), notation, holder, answers }
    }

    /// Writes everything in this notation, unless another one is set.
    pub(super) fn speak(&self, notation: Notation) {
        let _ = self.notation.set(notation);
    }

    /// The notation, once it is set.
    pub(super) fn notation(&self) -> Option<Notation> {
        self.notation.get().copied()
    }

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

    fn enqueue(&self, value: &Value, to: impl FnOnce(&mut Queue) -> &mut VecDeque<Line>) -> bool {
        // EDN until then: it is what a client is told that never sent a form.
        let notation = self.notation().unwrap_or(Notation::Edn);
        let text = line(value, notation);
        let mut queue = self.lock();
        if queue.closed {
            return false;
        }
        // Counted before the check. If the line is not appended, the queue is closed and nothing is counted again.
        queue.bytes += text.len() as u64;
        match self.count(queue.bytes, text.len() as u64) {
            Ok(held) => to(&mut queue).push_back(Line { text, _held: held }),
            Err(limit) => {
                // The reason goes out as the last line, in case that the client reads after all.
                queue.lines.push_back(Line { text: line(&cut_off(limit), notation), _held: None });
                queue.cut_off = true;
                queue.closed = true;
            }
        }
        self.changed.notify_all();
        !queue.closed
    }

    /// Counts a line of a backlog that has so many bytes with it.
    fn count(&self, backlog: u64, bytes: u64) -> Result<Option<Share>, Limit> {
        if backlog > limits::CLIENT_BACKLOG_BYTES.value {
            return Err(limits::CLIENT_BACKLOG_BYTES);
        }
        // A short backlog does not count, so that the answer to a change always arrives.
        if backlog < limits::ANSWER_BYTES_COUNTED.value {
            return Ok(None);
        }
        self.answers.take(&self.holder, bytes).map(Some)
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
                if let Err(error) = output.write_all(line.text.as_bytes()) {
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
    fn take(&self) -> Option<VecDeque<Line>> {
        let mut queue = self.lock();
        loop {
            if !queue.lines.is_empty() {
                // Lines being written no longer count: the limit is on the backlog behind them.
                queue.bytes = queue.held.iter().flatten().map(|line| line.text.len() as u64).sum();
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
fn cut_off(limit: Limit) -> Value {
    let data =
        Map::new().with("limit", limit.name).with("max", i64::try_from(limit.value).unwrap_or(i64::MAX));
    let error = Map::new()
        .with("message", "this connection was closed: what was written to it was not read")
        .with("class", "backlog")
        .with("phase", Value::keyword("write"))
        .with("data", data);
    Map::new().with("error", error).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Caller, SessionId};
    use crate::service::PerHolder;

    fn quota(max: u64) -> Arc<Quota> {
        let limit = |name, value| Limit { name, value, unit: "bytes", doc: "" };
        Quota::new(PerHolder::each(limit("own", max)), limit("all", max), limit("reserve", 0))
    }

    fn outgoing(answers: &Arc<Quota>) -> Outgoing {
        let caller = Caller::session(SessionId::new("one").unwrap()).as_model();
        Outgoing::new(Holder::of_root(&caller), Arc::clone(answers))
    }

    #[test]
    fn backlogs_count_among_the_answers_of_all() {
        let answers = quota(300_000);
        let (one, two) = (outgoing(&answers), outgoing(&answers));
        let short = Value::string("x".repeat(1_000));
        assert!((0..3).all(|_| one.send(&short)) && answers.in_use() == 0, "little waits");
        let long = Value::string("x".repeat(100_000));
        assert!(one.send(&long) && two.send(&long));
        assert_eq!(answers.in_use(), 200_006);
        assert!(!two.send(&long) && two.is_cut_off(), "together they have too many");
        let mut written = Vec::new();
        two.write_to(&mut written).unwrap();
        assert!(String::from_utf8(written).unwrap().contains(":limit \"all\""));
        assert_eq!(answers.in_use(), 100_003, "what is written counts no more");
        drop(one);
        assert_eq!(answers.in_use(), 0);
    }

    #[test]
    fn a_client_that_does_not_read_is_cut_off_at_the_bound() {
        let outgoing = outgoing(&quota(1 << 30));
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
