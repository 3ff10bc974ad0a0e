//! Port: executors, which carry out calls of tools.

use std::sync::Arc;

use super::listening::{Listening, Stirred};
use crate::domain::{Outcome, SessionId, Span, ToolName, ToolSpec};
use crate::edn::Value;
use crate::engine::Invocation;

/// Carries out calls of the tools that it offers.
///
/// Contract: `call` accepts the call and returns; it never waits for a process, a network or a person. The outcome goes to
/// `returned`, once, on any thread. A call whose way back is dropped has failed, and so has one that makes the executor
/// panic. Time, size and numbers are bounded by the caller: an outcome that comes too late is not heard.
pub trait Executor: Send + Sync {
    /// Returns the tools that this executor offers to a session. The list can change; it is cheap to ask for.
    fn specs(&self, session: &SessionId) -> Arc<[ToolSpec]>;

    /// Begins a call.
    fn call(&self, invocation: Invocation, returned: Returned);

    /// Nobody waits for this call any more. The executor ends it if it can; an outcome that comes all the same is not heard.
    fn cancel(&self, id: &str);

    /// Has `stirred` called whenever the result of a call with these arguments may have changed, until the returned value is
    /// dropped. `None` if this executor never hears of changes of this tool. It waits for a moment at most, and
    /// does not call `stirred` itself.
    ///
    /// # Errors
    /// Why it cannot hear of changes now, in words. The caller asks at intervals all the same.
    fn listen(
        &self,
        _tool: &ToolName,
        _args: &Value,
        _stirred: Stirred,
    ) -> Result<Option<Box<dyn Listening>>, &'static str> {
        Ok(None)
    }
}

/// The way back for the outcome of one call.
pub struct Returned(Option<Box<dyn FnOnce(Outcome) + Send>>);

impl Returned {
    /// Makes a way back that passes the outcome to `take`.
    pub fn new(take: impl FnOnce(Outcome) + Send + 'static) -> Returned {
        Returned(Some(Box::new(take)))
    }

    /// Sends the outcome.
    pub fn give(mut self, outcome: Outcome) {
        // Taken out, so that the drop at the end of this call does not answer a second time.
        if let Some(take) = self.0.take() {
            take(outcome);
        }
    }

    /// Sends nothing, because nobody waits any more.
    pub fn discard(mut self) {
        self.0 = None;
    }
}

impl Drop for Returned {
    /// Fails closed: a call whose way back is dropped without an outcome has failed.
    fn drop(&mut self) {
        if let Some(take) = self.0.take() {
            take(Outcome::of_error("the executor gave no answer", Span::ZERO));
        }
    }
}
