//! `reveille stdio`: speaks the EDN stream protocol on stdin and stdout, for a daemon or for an
//! engine of its own.

use std::io::{self, ErrorKind, Read as _, Write};
use std::net::Shutdown;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::client::in_process;
use super::client::{Client, Stream};
use super::exit::Exit;
use super::fault::AppFault;
use super::serve::signals::on_stop;
use crate::domain::{HostId, SessionConfig, SessionId};
use crate::engine::State;
use crate::runtime::Handle;
use crate::surface::cli::StdioArgs;
use crate::surface::edn_stream::{Connection, Peer, serve};

pub(super) fn stdio(args: StdioArgs) -> io::Result<ExitCode> {
    match Client::asked_for(&args.daemon, args.session.as_ref()) {
        Ok(None) => serve_own(args.session),
        Ok(Some(client)) => match client.stream() {
            Ok(stream) => relay(stream, &client.url()),
            Err(fault) => Ok(fault.tell()),
        },
        Err(fault) => Ok(fault.tell()),
    }
}

/// Relays bytes between stdin, stdout and the daemon, until both sides are done. A daemon that closes the stream while there is
/// still input has stopped or crashed, and what is on its way may be lost: that is an error.
fn relay(stream: Stream, url: &str) -> io::Result<ExitCode> {
    let Stream { mut socket, first } = stream;
    let is_all_sent = Arc::new(AtomicBool::new(false));
    let sent = Arc::clone(&is_all_sent);
    // Two handles of one socket, because both directions block and each needs a thread.
    let mut upstream = socket.try_clone()?;
    let send = move || {
        // If the daemon is gone, the loop below ends too and reports it.
        let copied = io::copy(&mut io::stdin().lock(), &mut upstream);
        // Before the half-close, to which the daemon answers by closing its side.
        sent.store(copied.is_ok(), Ordering::Release);
        // Half-close: the daemon sees the end of the input and can still answer.
        let _ = upstream.shutdown(Shutdown::Write);
    };
    std::thread::Builder::new().name("reveille-stdin".into()).spawn(send)?;
    let mut output = io::stdout().lock();
    output.write_all(&first)?;
    output.flush()?;
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = match socket.read(&mut chunk) {
            Ok(0) if is_all_sent.load(Ordering::Acquire) => return Ok(Exit::Done.into()),
            Ok(0) => return Ok(gone(url, "it closed the stream while the input was open").tell()),
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Ok(gone(url, &error.to_string()).tell()),
        };
        output.write_all(&chunk[..length])?;
        output.flush()?;
    }
}

fn gone(url: &str, how: &str) -> AppFault {
    AppFault::NoDaemon(format!(
        "lost the daemon at {url}: {how}. Its log says why. Requests without an answer may not have been carried out"
    ))
}

/// Serves an engine that exists until the end of the input.
fn serve_own(session: Option<SessionId>) -> io::Result<ExitCode> {
    let mut engine = in_process::start()?;
    let handle = engine.handle().clone();
    let peer = match session {
        None => Peer::Operator,
        Some(session) => {
            let opened = handle.open_session(Some(session.clone()), HostId::INBOX, SessionConfig::default());
            opened.map_err(io::Error::other)?;
            Peer::Session(session)
        }
    };
    let stopped = handle.clone();
    on_stop(move || end(&stopped))?;
    let served = serve(Connection::new(engine.service().clone(), peer), io::stdin().lock(), io::stdout());
    // Counted before the shutdown, which cancels them.
    let left = handle.view(State::live_count);
    engine.shut_down();
    tell(left)?;
    served.map(|()| Exit::Done.into())
}

/// Ends the engine and the process on a signal: the thread that blocks in reading stdin cannot be
/// woken.
#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "reading stdin blocks its thread until the process ends"
)]
pub(super) fn end(handle: &Handle) {
    let left = handle.view(State::live_count);
    handle.shut_down();
    // If stderr is closed, nothing can be reported.
    let _ = tell(left);
    std::process::exit(0)
}

pub(super) fn tell(left: u64) -> io::Result<()> {
    if left == 0 {
        return Ok(());
    }
    let schedules = if left == 1 { "schedule was" } else { "schedules were" };
    writeln!(io::stderr(), "reveille: the stream ended; {left} unfinished {schedules} cancelled")
}

const CHUNK: usize = 16_384;
