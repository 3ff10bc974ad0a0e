//! The wire to a server over its standard input and output: one message a line, as a transport of `rmcp`.
//!
//! Invariants: no line is read beyond `limits::SERVER_MESSAGE_BYTES`, and no write is waited for without a bound; what is no JSON
//! is passed over; an answer that is refused fails its request at once, and not when its time is up.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

use crate::dialect::{REQUEST_CAPS, json};
use crate::edn::Caps;
use crate::limits;

/// Why nothing comes over a wire any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Down {
    /// The server has closed its output.
    Closed,
    /// It does not read what it is sent. It may have ended.
    Unread,
    /// It has done what no server may do, and is ended for that.
    Broken(Box<str>),
}

/// What the two sides of a wire share.
pub(super) struct Ends<W> {
    writer: Mutex<Option<W>>,
    /// How many messages are to be written.
    unwritten: watch::Sender<usize>,
    down: watch::Sender<Option<Down>>,
}

/// A message that is to be written; it is not any more when this is dropped.
struct Unwritten<W>(Arc<Ends<W>>);

impl<W> Unwritten<W> {
    fn new(ends: &Arc<Ends<W>>) -> Unwritten<W> {
        ends.unwritten.send_modify(|count| *count += 1);
        Unwritten(Arc::clone(ends))
    }
}

impl<W> Drop for Unwritten<W> {
    fn drop(&mut self) {
        self.0.unwritten.send_modify(|count| *count -= 1);
    }
}

impl<W> Ends<W> {
    pub(super) fn new(writer: W) -> Arc<Ends<W>> {
        let (unwritten, down) = (watch::Sender::new(0), watch::Sender::new(None));
        Arc::new(Ends { writer: Mutex::new(Some(writer)), unwritten, down })
    }

    /// Closes the server's input.
    pub(super) async fn close_input(&self) {
        drop(self.writer.lock().await.take());
    }

    /// Waits until nothing comes any more, and returns why.
    pub(super) async fn down(&self) -> Down {
        let mut seen = self.down.subscribe();
        // The sender is in `self`, so there is always an end to wait for.
        seen.wait_for(Option::is_some).await.ok().and_then(|down| down.clone()).unwrap_or(Down::Closed)
    }

    /// Waits until few messages are to be written: a server that asks and does not read must not fill the memory with answers.
    async fn few_unwritten(&self) {
        let _ = self.unwritten.subscribe().wait_for(|count| *count < UNWRITTEN_MAX).await;
    }

    fn end(&self, why: Down) {
        self.down.send_if_modified(|down| {
            let is_first = down.is_none();
            *down = down.take().or(Some(why));
            is_first
        });
    }
}

/// The wire, as `rmcp` has it.
pub(super) struct Lines<R, W> {
    reader: BufReader<R>,
    line: Vec<u8>,
    max: usize,
    ends: Arc<Ends<W>>,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    pub(super) fn new(reader: R, ends: Arc<Ends<W>>) -> Lines<R, W> {
        let max = usize::try_from(limits::SERVER_MESSAGE_BYTES.value).unwrap_or(usize::MAX);
        Lines { reader: BufReader::new(reader), line: Vec::new(), max, ends }
    }

    /// Reads to the end of a line. Safe to drop: what was read of it stays in `line`.
    async fn read_line(&mut self) -> Result<(), Down> {
        loop {
            let piece = self.reader.fill_buf().await.map_err(|_| Down::Closed)?;
            if piece.is_empty() {
                return Err(Down::Closed);
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let part = &piece[..end.unwrap_or(piece.len())];
            if self.line.len() + part.len() > self.max {
                let why = format!("it sent a line of more than {} bytes, and was ended", self.max);
                return Err(Down::Broken(why.into()));
            }
            self.line.extend_from_slice(part);
            let used = end.map_or(piece.len(), |end| end + 1);
            self.reader.consume(used);
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let unwritten = Unwritten::new(&self.ends);
        async move {
            let ends = &unwritten.0;
            let mut text = serde_json::to_vec(&message)?;
            text.push(b'\n');
            let mut writer = ends.writer.lock().await;
            let end = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            let written = timeout(Duration::from_millis(limits::SERVER_READ_MS.value), async {
                end.write_all(&text).await?;
                end.flush().await
            });
            let written = written.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
            if written.is_err() {
                // A part of the message may have gone, so no other one can follow.
                *writer = None;
                ends.end(Down::Unread);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let ends = Arc::clone(&self.ends);
        loop {
            let read = tokio::select! {
                read = async {
                    ends.few_unwritten().await;
                    self.read_line().await
                } => read,
                _ = ends.down() => return None,
            };
            if let Err(why) = read {
                ends.end(why);
                return None;
            }
            // A long line must not keep its room for all that follow.
            let line = std::mem::take(&mut self.line);
            if let Some(message) = message(&line) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.ends.close_input().await;
        Ok(())
    }
}

/// What says to which request an answer belongs.
#[derive(Deserialize)]
struct Head {
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
}

/// The message in a line. What is no message is passed over; an answer that cannot be read is one that says so.
fn message(line: &[u8]) -> Option<ServerJsonRpcMessage> {
    let head: Head = serde_json::from_slice(line).ok()?;
    let refused = |why: String| {
        // Requests and notifications that cannot be read need no answer.
        let id = head.id.filter(|_| head.method.is_none());
        id.map(|id| JsonRpcMessage::error(ErrorData::internal_error(why, None), Some(id)))
    };
    // Read by our own reader as well, which refuses what is nested too deep and keys that are there twice.
    if let Err(error) = json::read(line, &CAPS) {
        return refused(format!("its answer is refused: {error}"));
    }
    match serde_json::from_slice(line) {
        Ok(message) => Some(message),
        Err(_) => refused("its answer is none of the protocol".to_owned()),
    }
}

/// Messages that may be on their way to a server while more is read of it.
const UNWRITTEN_MAX: usize = 64;
#[expect(clippy::cast_possible_truncation, reason = "far below 4 GB")]
const CAPS: Caps = Caps { bytes_max: limits::SERVER_MESSAGE_BYTES.value as u32, ..REQUEST_CAPS };

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let text = match message(line.as_bytes()) {
            None => "nothing".to_owned(),
            Some(JsonRpcMessage::Error(error)) => format!("error {}", error.error.message),
            Some(JsonRpcMessage::Response(_)) => "response".to_owned(),
            Some(JsonRpcMessage::Notification(_)) => "notification".to_owned(),
            Some(JsonRpcMessage::Request(_)) => "request".to_owned(),
        };
        assert!(text.starts_with(expected) && (!expected.is_empty()), "{line}: {text}");
    }

    #[test]
    fn what_is_no_message_is_passed_over_and_what_is_refused_fails_its_request() {
        check("server listening on stdio", "nothing");
        check("[1]", "nothing");
        check("{\"log\":1}", "nothing");
        check(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#, "response");
        check(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#, "notification");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request");
        check(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}"#, "error its answer is refused: duplicate");
        let deep = ["[".repeat(90), "]".repeat(90)].concat();
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"structuredContent\":{deep}}}}}");
        check(&line, "error its answer is refused: the input is nested deeper");
        check(r#"{"jsonrpc":"2.0","id":1,"result":7,"error":8}"#, "error its answer is none");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"pong"}"#, "nothing");
    }
}
