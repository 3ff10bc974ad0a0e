//! A ready-made engine inside this process, with the system's clocks and randomness and built-in
//! sessions.

use std::io;
use std::sync::Arc;

use crate::adapter::{ClockOs, EntropyOs, HostLocal, system_zones};
#[cfg(feature = "cli")]
use crate::domain::{Caller, HostId, SessionConfig};
use crate::domain::{Message, SessionId};
use crate::runtime::{Handle, Keeps, Parts, Runtime};

/// A running engine. Dropping it shuts the engine down.
pub struct Embedded {
    runtime: Runtime,
}

impl Embedded {
    /// Starts an engine that stores its sessions' transcripts in memory.
    ///
    /// # Errors
    /// The operating system's error if it provides no thread or no randomness.
    pub fn start() -> io::Result<Embedded> {
        Embedded::with_host(HostLocal::new())
    }

    /// Starts an engine that also calls `on_delivery` with each message that it delivers. The callback runs on the thread
    /// that delivers: it must return at once.
    ///
    /// # Errors
    /// The operating system's error if it provides no thread or no randomness.
    pub fn with_listener(
        on_delivery: impl Fn(&SessionId, &Message) + Send + Sync + 'static,
    ) -> io::Result<Embedded> {
        Embedded::with_host(HostLocal::with_listener(on_delivery))
    }

    fn with_host(local: HostLocal) -> io::Result<Embedded> {
        Ok(Embedded { runtime: Runtime::start(parts(local)?)? })
    }

    /// An engine without a driver thread, to read and write stored data: nothing fires.
    #[cfg(feature = "cli")]
    pub(super) fn asleep() -> io::Result<Handle> {
        Ok(Handle::new(parts(HostLocal::new())?))
    }

    /// The handle of the engine.
    pub fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// The caller of a command: a session, which is opened for it, or the operator.
    ///
    /// # Errors
    /// The refusal, if the session cannot be opened.
    #[cfg(feature = "cli")]
    pub(super) fn caller(&self, session: Option<&SessionId>) -> io::Result<Caller> {
        let Some(session) = session else { return Ok(Caller::OPERATOR) };
        let opened =
            self.handle().open_session(Some(session.clone()), HostId::LOCAL, SessionConfig::default());
        opened.map(|(session, _)| Caller::session(session)).map_err(io::Error::other)
    }

    /// Stops the engine: waiting volatile work is cancelled, and deliveries under way get a short
    /// time for their receipts.
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
