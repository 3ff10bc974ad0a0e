//! What surfaces ask for, on behalf of one caller: queries, mutations and tool calls, each admitted first.
//!
//! `query` answers EQL over one consistent reading of the engine (`plan_cache` keeps plans, `as_of` rebuilds the past,
//! `history` reads the log). `mutations` carries out the graph's mutations, `tools` the calls of each family of tools.
//! `admission` decides who may do what, `rate_limit` how fast.
//!
//! What lives elsewhere: rules (`engine`), attributes and parameters (`graph`), each family's words (`dialect`), the loop
//! (`runtime`). Invariant: every surface comes through here, so that no surface decides for itself who may do what.

mod access;
mod admission;
mod as_of;
pub(crate) mod creation;
mod history;
mod mutations;
mod plan_cache;
mod query;
mod rate_limit;
mod tools;

use std::sync::Arc;

use self::mutations::CallerMutator;
use self::plan_cache::PlanCache;
use self::rate_limit::RateLimiter;
use crate::dialect::{Answer, Notation};
use crate::domain::{Caller, Moment};
use crate::edn::Value;
use crate::graph::eql::{self, Boundary};
use crate::graph::registry::Registry;
use crate::graph::view::Scheduler;
use crate::runtime::Handle;

pub use self::access::QueryAccess;
pub use self::admission::Denial;
pub use self::plan_cache::{PrepareError, Prepared};
pub use self::query::{QUERY_LIMITS, failed, registry, reply};
pub use self::tools::{TOOLBOX, ToolInfo};

/// A service over one engine. Clones share its plan cache and its rate limits.
#[derive(Clone)]
pub struct Service {
    shared: Arc<Shared>,
}

struct Shared {
    handle: Handle,
    registry: Arc<Registry<Scheduler>>,
    plans: PlanCache,
    rates: RateLimiter,
}

impl Service {
    /// A service over the engine of this handle.
    pub fn new(handle: Handle) -> Service {
        let (plans, rates) = (PlanCache::default(), RateLimiter::default());
        Service { shared: Arc::new(Shared { handle, registry: registry(), plans, rates }) }
    }

    /// The engine.
    pub fn handle(&self) -> &Handle {
        &self.shared.handle
    }

    /// The attributes and mutations that queries can name.
    pub fn registry(&self) -> &Arc<Registry<Scheduler>> {
        &self.shared.registry
    }

    /// Answers a request for a caller. A request that names no entity runs within the caller's session.
    ///
    /// # Errors
    /// A limit that the request exceeds.
    pub fn query(
        &self,
        caller: &Caller,
        request: &Boundary,
        is_lenient: bool,
    ) -> Result<eql::QueryAnswer, eql::QueryRefusal> {
        let prepared = query::plan_request(self, caller, request.clone())?;
        self.run(caller, &prepared, is_lenient)
    }

    /// Reads and plans a request in EDN, or takes its plan from the cache.
    ///
    /// # Errors
    /// What is wrong with the request.
    pub fn prepare(&self, caller: &Caller, text: &[u8]) -> Result<Arc<Prepared>, PrepareError> {
        query::prepare(self, caller, text)
    }

    /// Answers a prepared request as a value. It is strict unless the request itself or `is_lenient` says otherwise.
    ///
    /// # Errors
    /// A limit that the request exceeds.
    pub fn run(
        &self,
        caller: &Caller,
        prepared: &Prepared,
        is_lenient: bool,
    ) -> Result<eql::QueryAnswer, eql::QueryRefusal> {
        query::run(self, caller, prepared, is_lenient)
    }

    /// Like [`Service::run`], but writes the answer as EDN text to `out`.
    ///
    /// # Errors
    /// A limit that the request exceeds; nothing is written then.
    pub fn answer(
        &self,
        caller: &Caller,
        prepared: &Prepared,
        is_lenient: bool,
        out: &mut String,
    ) -> Result<eql::WriteOutcome, eql::QueryRefusal> {
        query::answer(self, caller, prepared, is_lenient, out)
    }

    /// A caller's access to the graph, for executors other than EQL's.
    pub fn access<'a>(&'a self, caller: &'a Caller) -> QueryAccess<'a> {
        QueryAccess::new(self, caller)
    }

    /// A caller's access to the graph as it was at an instant.
    ///
    /// # Errors
    /// [`eql::Refusal::Past`] if the log does not reach back to that instant, or the instant lies ahead.
    pub(crate) fn access_as_of<'a>(
        &'a self,
        caller: &'a Caller,
        at: Moment,
    ) -> Result<QueryAccess<'a>, eql::QueryRefusal> {
        QueryAccess::as_of(self, caller, at)
    }

    /// Calls a tool for a caller; `None` if there is no tool of that name. The answer is in the tool's own words, also when it
    /// is a refusal.
    pub fn call_tool(&self, tool: &str, caller: &Caller, args: &Value, notation: Notation) -> Option<Answer> {
        tools::call(self, tool, caller, args, notation)
    }

    /// Admits what only a host or an operator may report: that a session opens or closes, that a turn begins or ends, that a
    /// person spoke, that a connection hosts a session.
    ///
    /// # Errors
    /// [`Denial`]; the report must not be made then.
    pub(crate) fn admit_host(&self, caller: &Caller) -> Result<(), Denial> {
        admission::admit_host(caller)
    }

    /// Admits a call of a tool.
    ///
    /// # Errors
    /// [`Denial`]; the call must not be made then.
    pub(crate) fn admit_call(&self, caller: &Caller, tool: &str, args: &Value) -> Result<(), Denial> {
        admission::admit_call(self, caller, tool, args)
    }

    fn mutator<'a>(&'a self, caller: &'a Caller) -> CallerMutator<'a> {
        CallerMutator::new(self, caller)
    }
}
