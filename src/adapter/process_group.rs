//! Processes that lead a group of their own, so that a signal reaches all their children and never the daemon.
//!
//! No adapter itself: adapters that start programs share it, so that the end of the daemon ends what each of them has started.
//! Invariant: no group that was started here outlives [`end_groups`].

use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroI32;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

/// The processes of a group, of which the one that was started is the leader. They are killed when this is dropped.
pub(super) struct ProcessGroup {
    /// The process id of the leader, which is also the id of the group; `None` once the group was killed.
    number: Option<Pid>,
}

/// The groups of this process that run now.
struct Running {
    groups: BTreeSet<NonZeroI32>,
    /// Whether no further one may start.
    is_over: bool,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { groups: BTreeSet::new(), is_over: false });

fn running() -> MutexGuard<'static, Running> {
    // A panic elsewhere cannot leave it inconsistent: each change is one insert or remove.
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProcessGroup {
    /// Starts a program as the leader of a group. It has to be called on a runtime.
    ///
    /// # Errors
    /// The error of the operating system; `Interrupted` if the daemon is stopping.
    pub(super) fn start(command: &mut Command) -> io::Result<(Child, ProcessGroup)> {
        let mut running = running();
        if running.is_over {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the daemon is stopping"));
        }
        let child = command.process_group(0).spawn()?;
        let number = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        // Under the lock in which it was started, so that none slips past `end_groups`.
        running.groups.extend(number.map(Pid::as_raw_nonzero));
        Ok((child, ProcessGroup { number }))
    }

    /// Asks all processes of the group to end.
    pub(super) fn terminate(&self) {
        if let Some(number) = self.number {
            // An error means that no process is left.
            let _ = kill_process_group(number, Signal::TERM);
        }
    }

    /// Kills the remaining processes of the group. The system does not reuse the group's id while one of them lives.
    pub(super) fn kill(&mut self) {
        let number = self.number.take();
        // Not if `end_groups` has killed it: its id may name another group by now.
        if let Some(number) = number.filter(|number| running().groups.remove(&number.as_raw_nonzero())) {
            // An error means that no process is left, which is the goal.
            let _ = kill_process_group(number, Signal::KILL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns whether a group was started here and runs.
pub(super) fn is_ours(group: NonZeroI32) -> bool {
    running().groups.contains(&group)
}

/// Kills all groups, and lets no other start. For the end of the daemon, which its programs would outlive.
#[cfg(feature = "cli")]
pub(crate) fn end_groups() {
    let mut running = running();
    running.is_over = true;
    for group in std::mem::take(&mut running.groups) {
        if let Some(group) = Pid::from_raw(group.get()) {
            // An error means that no process is left, which is the goal.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
