//! An engine inside this process, ready to use: the system's clocks and randomness, built-in sessions.

use std::io;
use std::sync::Arc;

use crate::adapter::{ClockOs, EntropyOs, HostLocal, system_zones};
#[cfg(feature = "cli")]
use crate::domain::{Caller, HostId, SessionConfig};
use crate::domain::{Message, SessionId};
use crate::runtime::{Handle, Keeps, Parts, Runtime};

/// A running engine. Dropping it stops the engine in good order.
pub struct Embedded {
    runtime: Runtime,
}

impl Embedded {
    /// Starts an engine that keeps transcripts of its sessions.
    ///
    /// # Errors
    /// What the operating system says when it has no thread or no randomness to give.
    pub fn start() -> io::Result<Embedded> {
        Embedded::with_host(HostLocal::new())
    }

    /// Starts an engine that also calls `on_delivery` with each message that it delivers. The callback runs on the thread
    /// that delivers: it must return at once.
    ///
    /// # Errors
    /// What the operating system says when it has no thread or no randomness to give.
    pub fn with_listener(
        on_delivery: impl Fn(&SessionId, &Message) + Send + Sync + 'static,
    ) -> io::Result<Embedded> {
        Embedded::with_host(HostLocal::with_listener(on_delivery))
    }

    fn with_host(local: HostLocal) -> io::Result<Embedded> {
        Ok(Embedded { runtime: Runtime::start(parts(local)?)? })
    }

    /// An engine that nobody wakes: for looking at what is kept, and for writing there.
    #[cfg(feature = "cli")]
    pub(super) fn asleep() -> io::Result<Handle> {
        Ok(Handle::new(parts(HostLocal::new())?))
    }

    /// The way to the engine.
    pub fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// The caller that a command speaks for: a session, which is opened for it, or the operator.
    ///
    /// # Errors
    /// The refusal of a session that cannot be opened.
    #[cfg(feature = "cli")]
    pub(super) fn caller(&self, session: Option<&SessionId>) -> io::Result<Caller> {
        let Some(session) = session else { return Ok(Caller::OPERATOR) };
        let opened =
            self.handle().open_session(Some(session.clone()), HostId::LOCAL, SessionConfig::default());
        opened.map(|(session, _)| Caller::session(session)).map_err(io::Error::other)
    }

    /// Stops the engine in good order: what waits is called off, receipts that are out have a little time to come in.
    pub fn shut_down(&mut self) {
        self.runtime.shut_down();
    }
}

fn parts(local: HostLocal) -> io::Result<Parts> {
    Ok(Parts {
        clock: Arc::new(ClockOs),
        entropy: Arc::new(EntropyOs::new()?),
        local: Arc::new(local),
        zones: Arc::new(system_zones()),
        keeps: Keeps::Nothing,
        journal: None,
    })
}
