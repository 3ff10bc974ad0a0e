//! The thread that waits for deadlines.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::handle::Handle;
use super::parts::Parts;

/// A handle with a thread that runs whatever is due. Dropping it shuts the engine down in an orderly way.
pub struct Runtime {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Runtime {
    /// Starts the thread.
    ///
    /// # Errors
    /// The operating system's error if it cannot start a thread.
    pub fn start(parts: Parts) -> std::io::Result<Runtime> {
        let handle = Handle::new(parts);
        let driven = handle.clone();
        let thread =
            std::thread::Builder::new().name("reveille-driver".into()).spawn(move || drive(&driven))?;
        Ok(Runtime { handle, thread: Some(thread) })
    }

    /// The handle to the engine.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Shuts down in an orderly way: refuses new work, cancels what waits, and gives outstanding receipts
    /// `limits::SHUTDOWN_MS` to arrive. Idempotent.
    pub fn shut_down(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.handle.shut_down();
            // A driver that panicked has reported it on stderr; there is nothing left to wait for.
            let _ = thread.join();
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// Runs what is due and sleeps until the next deadline, until the engine has stopped.
pub(super) fn drive(handle: &Handle) {
    let shared = &handle.shared;
    let clock = Arc::clone(&shared.clock);
    // Otherwise the kernel may delay each wake-up by its timer slack.
    clock.sharpen_thread();
    loop {
        shared.run_due();
        let mut core = shared.core_mut();
        // Read under one lock with the epoch below, so that a shutdown in between cannot be missed.
        if core.driver_stopped {
            return;
        }
        // The state and the time may have changed since `run_due`: compare once more before sleeping.
        let now = clock.now();
        // Read under the engine's lock: what is set after this line sees when the driver wakes up.
        let outside = shared.next_outside();
        if core.is_due(now) || outside.is_some_and(|due| due <= now.boot) {
            continue;
        }
        let until = core.sleeps_until(now);
        let until = outside.map_or(until, |outside| outside.min(until));
        // A step that makes something due before `until` notifies the alarm (`Core::must_rouse`). The epoch is read
        // under the lock, so a notification after this line ends the wait at once.
        core.armed = Some(until);
        let before = shared.alarm.epoch();
        drop(core);
        let length = Duration::from_nanos(until.since(now.boot).nanos());
        // Whether an alarm or the timeout ends the wait, the next iteration compares with the clock again.
        shared.alarm.wait(before, length);
        // An awake driver compares with the clock by itself, so no step has to notify it.
        shared.core_mut().armed = None;
    }
}
