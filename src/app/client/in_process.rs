//! Engines that exist only for one command, and the daemon's.

use std::io;
use std::sync::Arc;

use crate::adapter::{HostLocal, system_zones};
use crate::domain::{Caller, HostId, Primitives, SessionConfig, SessionId};
use crate::embed::{Reveille, system_parts};
use crate::runtime::Handle;

/// Starts the daemon's engine, with the zone and the primitives that its configuration names.
pub(in crate::app) fn start_in(zone: Option<&str>, primitives: Primitives) -> io::Result<Reveille> {
    let builder = Reveille::builder().primitives(primitives);
    let builder = match zone {
        Some(zone) => builder.zone(zone),
        None => builder,
    };
    builder.start().map_err(io::Error::other)
}

/// Starts an engine in this process.
pub(in crate::app) fn start() -> io::Result<Reveille> {
    Reveille::start().map_err(io::Error::other)
}

/// Makes an engine without a driver thread, to read and write stored data: nothing fires.
pub(in crate::app) fn asleep() -> io::Result<Handle> {
    Ok(Handle::new(system_parts(Arc::new(HostLocal::new()), system_zones())?))
}

/// The caller of a command: a session, which is opened for it, or the operator.
pub(in crate::app) fn caller(engine: &Reveille, session: Option<&SessionId>) -> io::Result<Caller> {
    let Some(session) = session else { return Ok(Caller::OPERATOR) };
    let opened = engine.handle().open_session(Some(session.clone()), HostId::INBOX, SessionConfig::default());
    opened.map(|(session, _)| Caller::session(session)).map_err(io::Error::other)
}
