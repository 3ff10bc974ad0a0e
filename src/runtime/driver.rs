//! The thread that waits for deadlines.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::handle::{Handle, Parts};

/// A handle with a thread that takes its turns. Dropping it shuts the engine down in good order.
pub struct Runtime {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Runtime {
    /// Starts the thread.
    ///
    /// # Errors
    /// Whatever the operating system says when it has no thread to give.
    pub fn start(parts: Parts) -> std::io::Result<Runtime> {
        let handle = Handle::new(parts);
        let driven = handle.clone();
        let thread =
            std::thread::Builder::new().name("reveille-driver".into()).spawn(move || drive(&driven))?;
        Ok(Runtime { handle, thread: Some(thread) })
    }

    /// The way to the engine.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Shuts down in good order: nothing new is taken, what waits is called off, receipts that are out have
    /// `limits::SHUTDOWN_MS` to come in. Idempotent.
    pub fn shut_down(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.handle.shut_down();
            // A driver that panicked has said so on stderr; there is nothing left to wait for.
            let _ = thread.join();
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// Takes turns until the engine has stopped.
pub(super) fn drive(handle: &Handle) {
    let clock = Arc::clone(&handle.shared.clock);
    clock.sharpen_thread();
    loop {
        handle.turn();
        let mut core = handle.core_mut();
        if core.driver_stopped {
            return;
        }
        // The state may have changed since the turn, and the time has: compare once more before sleeping.
        let now = clock.now();
        if core.is_due(now) {
            continue;
        }
        let until = core.sleeps_until(now);
        core.armed = Some(until);
        let before = handle.shared.alarm.rung();
        drop(core);
        let length = Duration::from_nanos(until.since(now.boot).nanos());
        // Whatever ends the wait, an alarm or the time: the next turn compares with the clock again.
        handle.shared.alarm.wait(before, length);
        handle.core_mut().armed = None;
    }
}
