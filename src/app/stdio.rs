//! `reveille stdio`: the EDN stream protocol over an engine that lives as long as the stream.

use std::io::{self, Write};
use std::process::ExitCode;

use super::embedded::Embedded;
use super::signals::on_stop;
use crate::domain::{HostId, SessionConfig};
use crate::engine::State;
use crate::runtime::Handle;
use crate::surface::cli::StdioArgs;
use crate::surface::edn_stream::{Connection, Peer, serve};

pub(super) fn stdio(args: StdioArgs) -> io::Result<ExitCode> {
    let mut engine = Embedded::start()?;
    let handle = engine.handle().clone();
    let peer = match args.session {
        None => Peer::Operator,
        Some(session) => {
            let opened = handle.open_session(Some(session.clone()), HostId::LOCAL, SessionConfig::default());
            opened.map_err(io::Error::other)?;
            Peer::Session(session)
        }
    };
    let stopped = handle.clone();
    on_stop(move || end(&stopped))?;
    let served = serve(Connection::new(handle.clone(), peer), io::stdin().lock(), io::stdout());
    let left = handle.view(State::live_count);
    engine.shut_down();
    tell(left)?;
    served.map(|()| ExitCode::SUCCESS)
}

/// A signal ends the engine as the end of the input does; the thread that reads stdin cannot be roused for it.
#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "reading stdin blocks its thread until the process ends"
)]
fn end(handle: &Handle) {
    let left = handle.view(State::live_count);
    handle.shut_down();
    // There is nobody to tell where stderr is closed.
    let _ = tell(left);
    std::process::exit(0)
}

fn tell(left: u64) -> io::Result<()> {
    if left == 0 {
        return Ok(());
    }
    let schedules = if left == 1 { "schedule was" } else { "schedules were" };
    writeln!(io::stderr(), "reveille: the stream ended; {left} unfinished {schedules} called off")
}
