//! Serves one client on two byte streams, until either ends.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::codec::Codec;
use super::connection::Connection;
use crate::dialect::REQUEST_CAPS;
use crate::limits;

// The most that is read at once. The codec puts the pieces of a longer request together.
const CHUNK: usize = 16_384;

/// Serves a client until its input ends or exceeds the limits, or until it no longer reads.
/// Requests before that are answered, also if the output is slow.
///
/// # Errors
/// The input's or the output's error, if one ended it.
pub fn serve(
    mut connection: Connection,
    mut input: impl Read,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    let outgoing = Arc::clone(connection.outgoing());
    // The other handle moves to the thread of the writer.
    let left = Arc::clone(&outgoing);
    let (done, written) = mpsc::sync_channel(1);
    let write = move || {
        // The receiver may be gone: a client that never reads blocks a write for ever.
        let _ = done.send(outgoing.write_to(output));
    };
    std::thread::Builder::new().name("reveille-writer".into()).spawn(write)?;
    let received = receive(&mut connection, &mut input);
    connection.close();
    // Wait for a slow client as long as it takes, but not for one that was cut off: it may never
    // read.
    let unread = || {
        io::Error::new(ErrorKind::TimedOut, "the client did not read what was written to it, and is cut off")
    };
    let written = if left.is_cut_off() {
        let in_time = Duration::from_millis(limits::SHUTDOWN_MS.value);
        written.recv_timeout(in_time).unwrap_or(Ok(())).and(Err(unread()))
    } else {
        written.recv().unwrap_or_else(|_| Err(io::Error::other("the writer panicked")))
    };
    received.and(written)
}

fn receive(connection: &mut Connection, input: &mut impl Read) -> io::Result<()> {
    let mut codec = Codec::new(REQUEST_CAPS, connection.notation());
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        codec.push(&chunk[..length]);
        if let Some(notation) = codec.notation() {
            connection.speak(notation);
        }
        while let Some(form) = codec.next_form() {
            if !connection.receive(form) {
                return Ok(());
            }
        }
    }
    // The last form may end with the input instead of a delimiter.
    if let Some(form) = codec.finish() {
        connection.receive(form);
    }
    Ok(())
}
