//! Executors of tools that an operator has configured: programs, and what is built in.
//!
//! What lives elsewhere: who may call a tool and how long (`runtime`, `service`). Invariant: a call that is cancelled ends here
//! too: its task is dropped, and with it its program or its connection.

#[cfg(target_os = "linux")]
mod file;
#[cfg(target_os = "linux")]
mod file_events;
mod http;
mod mcp;
mod program;

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::AbortHandle;

#[cfg(target_os = "linux")]
pub use self::file::FileTools;
pub use self::http::{HttpReach, HttpTools};
pub use self::mcp::{
    McpBounds, McpEndpoint, McpPlace, McpServer, McpTerms, McpToolTerms, McpTools, TakenNames,
};
pub use self::program::{ProgramTool, ProgramTools};
use crate::dialect::{REQUEST_CAPS, json};
use crate::domain::{Outcome, ToolName, ToolSpec};
use crate::port::Returned;

/// The tasks of calls under way.
pub struct ToolTasks {
    runtime: Option<Runtime>,
    handle: Handle,
    open: Mutex<BTreeMap<Box<str>, Open>>,
}

/// A call under way. Its task is set once it has begun.
struct Open {
    returned: Returned,
    task: Option<AbortHandle>,
}

impl ToolTasks {
    /// Starts the thread for them.
    ///
    /// # Errors
    /// The error of the operating system if it cannot start a thread.
    pub fn start() -> io::Result<Arc<ToolTasks>> {
        // One thread is enough: tasks wait for sockets and processes, they do not compute.
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("reveille-tools")
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        Ok(Arc::new(ToolTasks { runtime: Some(runtime), handle, open: Mutex::default() }))
    }

    /// Begins a call, whose outcome goes to `returned` unless it is cancelled before.
    fn begin(
        self: &Arc<ToolTasks>,
        id: &str,
        returned: Returned,
        work: impl Future<Output = Outcome> + Send + 'static,
    ) {
        // Before the task, which may end before this function does.
        self.open().insert(id.into(), Open { returned, task: None });
        let (tasks, of) = (Arc::downgrade(self), Box::<str>::from(id));
        let task = self.handle.spawn(async move {
            let outcome = work.await;
            let open = tasks.upgrade().and_then(|tasks| tasks.open().remove(&of));
            // Outside of the lock: the next call may follow at once.
            if let Some(open) = open {
                open.returned.give(outcome);
            }
        });
        if let Some(open) = self.open().get_mut(id) {
            open.task = Some(task.abort_handle());
        } else {
            // It has ended already, or was cancelled before its task was known. Dropping the handle alone would let it go on.
            task.abort();
        }
    }

    /// Ends a call. Dropping its task kills its program, or closes its connection.
    fn cancel(&self, id: &str) {
        let open = self.open().remove(id);
        if let Some(Open { returned, task }) = open {
            returned.discard();
            if let Some(task) = task {
                task.abort();
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<Box<str>, Open>> {
        // A panic elsewhere cannot leave it inconsistent: each change is one insert or removal.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ToolTasks {
    fn drop(&mut self) {
        // Not waited for: a name lookup may hang in the system's resolver for longer than a shutdown may take.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A built-in tool that changes nothing. `schema` is the JSON Schema of its arguments; `None` if that or the name is wrong.
fn spec(name: &str, does: &str, schema: &str) -> Option<ToolSpec> {
    let schema = json::read(schema.as_bytes(), &REQUEST_CAPS).ok()?;
    Some(ToolSpec::reading(ToolName::new(name).ok()?, does, schema))
}
