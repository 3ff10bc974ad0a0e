//! A short conversation with the daemon over its Unix socket, in EDN.
//!
//! The socket lies in a directory that only its user can enter, so no token is needed. Invariant: nothing waits longer than the
//! caller allows.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::adapter::ClockOs;
use crate::dialect::REQUEST_CAPS;
use crate::domain::{BootTime, Span};
use crate::edn::{Framer, Map, Value, read};
use crate::port::Clock as _;

/// A connection to the daemon.
pub(in crate::app) struct Link {
    stream: UnixStream,
    clock: ClockOs,
    framer: Framer,
    /// What the daemon pushed before it was asked for.
    pushed: VecDeque<Map>,
    asked: i64,
}

impl Link {
    /// Connects to the daemon that listens on this socket.
    ///
    /// # Errors
    /// The operating system's, if nobody listens there.
    pub(in crate::app) fn open(socket: &Path) -> io::Result<Link> {
        let stream = UnixStream::connect(socket)?;
        Ok(Link {
            stream,
            clock: ClockOs,
            framer: Framer::new(REQUEST_CAPS),
            pushed: VecDeque::new(),
            asked: 0,
        })
    }

    /// Sends a request and waits for its answer until the deadline. The inner error is the daemon's refusal.
    ///
    /// # Errors
    /// The operating system's; `TimedOut` at the deadline.
    pub(in crate::app) fn ask(&mut self, request: Map, until: BootTime) -> io::Result<Result<Map, Map>> {
        self.asked += 1;
        let id = Value::Int(self.asked);
        let line = format!("{}\n", Value::from(request.with("id", id.clone())));
        self.stream.set_write_timeout(Some(self.left(until)?))?;
        self.stream.write_all(line.as_bytes())?;
        loop {
            let form = self.next(until)?;
            if form.keyword("id") != Some(&id) {
                self.pushed.push_back(form);
                continue;
            }
            let part = |name: &str| form.keyword(name).and_then(Value::as_map).cloned();
            return Ok(match part("error") {
                Some(error) => Err(error),
                None => Ok(part("ok").unwrap_or_default()),
            });
        }
    }

    /// As [`Link::ask`], for what the daemon does as soon as it is asked: nothing is sent after the deadline, and the answer is
    /// awaited for so many milliseconds from then on.
    ///
    /// # Errors
    /// As [`Link::ask`]; `TimedOut` also where nothing was sent.
    pub(super) fn ask_to_the_end(
        &mut self,
        request: Map,
        (until, patience): (BootTime, u64),
    ) -> io::Result<Result<Map, Map>> {
        self.left(until)?;
        self.ask(request, self.after(patience))
    }

    /// Waits for what the daemon pushes.
    ///
    /// # Errors
    /// The operating system's; `TimedOut` at the deadline.
    pub(in crate::app) fn pushed(&mut self, until: BootTime) -> io::Result<Map> {
        match self.pushed.pop_front() {
            Some(form) => Ok(form),
            None => self.next(until),
        }
    }

    /// The instant after this many milliseconds.
    pub(in crate::app) fn after(&self, millis: u64) -> BootTime {
        self.clock.now().boot.after(Span::from_millis(millis))
    }

    /// The time to a deadline.
    fn left(&self, until: BootTime) -> io::Result<Duration> {
        let left = until.since(self.clock.now().boot);
        // A time-out of zero would mean none at all.
        if left == Span::ZERO {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            Ok(Duration::from_nanos(left.nanos()))
        }
    }

    fn next(&mut self, until: BootTime) -> io::Result<Map> {
        let mut chunk = [0; 8_192];
        loop {
            if let Some(frame) = self.framer.next_frame() {
                let form = frame.and_then(|frame| read(&frame, &REQUEST_CAPS)).map_err(io::Error::other)?;
                return Ok(form.as_map().cloned().unwrap_or_default());
            }
            self.stream.set_read_timeout(Some(self.left(until)?))?;
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.framer.push(&chunk[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Its kind differs between systems.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// A request with this operation.
pub(in crate::app) fn request(op: &str) -> Map {
    Map::new().with("op", Value::keyword(op))
}
