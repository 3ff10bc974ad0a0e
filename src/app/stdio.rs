//! `reveille stdio`: the EDN stream protocol over an engine that lives as long as the stream.

use std::io::{self, Write};
use std::process::ExitCode;

use super::embedded::Embedded;
use crate::domain::{HostId, SessionConfig};
use crate::engine::State;
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
    let served = serve(Connection::new(handle.clone(), peer), io::stdin().lock(), io::stdout());
    let left = handle.view(State::live_count);
    engine.shut_down();
    if left > 0 {
        let schedules = if left == 1 { "schedule was" } else { "schedules were" };
        writeln!(io::stderr(), "reveille: the stream ended; {left} unfinished {schedules} called off")?;
    }
    served.map(|()| ExitCode::SUCCESS)
}
