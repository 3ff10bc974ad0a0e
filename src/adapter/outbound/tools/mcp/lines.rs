//! The wire to a server over its standard input and output: one message a line, as a transport of `rmcp`.
//!
//! Invariant: no line is read beyond `limits::SERVER_MESSAGE_BYTES`, and no write is waited for without a bound.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::message::message;
use super::wire::{Down, Wire};
use crate::limits;

/// The input of a server, as both sides of its wire have it.
pub(super) struct Ends<W> {
    writer: Mutex<Option<W>>,
    pub(super) wire: Arc<Wire>,
}

impl<W> Ends<W> {
    pub(super) fn new(writer: W) -> Arc<Ends<W>> {
        Arc::new(Ends { writer: Mutex::new(Some(writer)), wire: Wire::new() })
    }

    /// Closes the server's input.
    pub(super) async fn close_input(&self) {
        drop(self.writer.lock().await.take());
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
        let (ends, unsent) = (Arc::clone(&self.ends), self.ends.wire.unsent());
        async move {
            let _unsent = unsent;
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
                ends.wire.end(Down::Unread);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let ends = Arc::clone(&self.ends);
        loop {
            let read = tokio::select! {
                read = async {
                    ends.wire.few_unsent().await;
                    self.read_line().await
                } => read,
                _ = ends.wire.down() => return None,
            };
            if let Err(why) = read {
                ends.wire.end(why);
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
