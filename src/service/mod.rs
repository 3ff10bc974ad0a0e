//! What surfaces ask for, on behalf of one caller: queries, mutations and tool calls, and the admission of each.
//!
//! `query` answers EQL over one consistent reading of the engine (`plan_cache` keeps plans, `as_of` rebuilds the past for
//! those whom `as_of_queue` lets in, `history` reads the log). `mutations` carries out the graph's mutations, `tools` the
//! calls of each family of tools. `admission` decides who may do what, `rate_limit` how fast, `quota` and `queue` how much at
//! the same time, for whom `holder` says.
//!
//! What lives elsewhere: rules (`engine`), attributes and parameters (`graph`), each family's words (`dialect`), the loop
//! (`runtime`). Invariant: what a caller may do is decided by `admission`; each function here that a surface calls asks it.

mod access;
mod admission;
mod agent_schedules;
mod agent_windows;
mod agents;
mod arrival;
mod as_of;
mod as_of_queue;
mod budgets;
mod called_back;
pub(crate) mod creation;
mod denial;
mod denials;
pub mod export;
mod history;
mod holder;
mod hosting;
mod inbound;
mod inbound_text;
mod kit;
mod later;
mod mutations;
mod pings;
mod places;
mod plan_cache;
mod query;
mod queue;
mod quota;
mod rate_limit;
mod reach;
mod toolbox;
mod tools;

use std::sync::Arc;

use self::agents::Agents;
use self::as_of_queue::AsOfQueue;
use self::denials::Denials;
use self::inbound::Inbounds;
use self::plan_cache::PlanCache;
use self::rate_limit::RateLimiter;
use crate::domain::{Caller, Cursor, ExecutorKind, Op};
use crate::graph::registry::Registry;
use crate::graph::view::Scheduler;
use crate::runtime::{Handle, Subscription};

pub use self::access::QueryAccess;
pub(crate) use self::admission::Admitted;
pub(crate) use self::agents::{AgentProcess, Shown};
pub use self::arrival::Arrival;
#[cfg(feature = "http")]
pub(crate) use self::budgets::BudgetReading;
pub use self::denial::{Denial, DenialReason};
pub(crate) use self::holder::Holder;
#[cfg(test)]
pub(crate) use self::holder::PerHolder;
pub(crate) use self::hosting::{HostError, HostRequest, Opening, SessionRequest};
pub use self::inbound::{Activation, Arrived, Inbound};
pub use self::inbound_text::Template;
pub use self::later::{Called, Pending, Waiter};
pub(crate) use self::places::Places;
#[cfg(feature = "http")]
pub(crate) use self::plan_cache::is_quick;
pub use self::plan_cache::{PrepareError, Prepared};
#[cfg(feature = "graphql")]
pub(crate) use self::query::limits_of;
pub use self::query::{QUERY_LIMITS, failed, registry, reply};
#[cfg(feature = "http")]
pub(crate) use self::queue::Queue;
pub(crate) use self::quota::{Quota, Share};
pub(crate) use self::reach::Reach;
#[cfg(feature = "http")]
pub(crate) use self::reach::acting_for;
pub use self::tools::{CallStyle, TOOLBOX, ToolEffect, ToolInfo};

/// A service over one engine. Clones share its plan cache and its rate limits.
#[derive(Clone)]
pub struct Service {
    handle: Handle,
    shared: Arc<Shared>,
}

struct Shared {
    registry: Arc<Registry<Scheduler>>,
    plans: PlanCache,
    rates: RateLimiter,
    denials: Denials,
    past: AsOfQueue,
    places: Places,
    agents: Agents,
    inbounds: Inbounds,
}

impl Service {
    /// A service over the engine of this handle.
    pub fn new(handle: Handle) -> Service {
        let (plans, rates, past) = (PlanCache::default(), RateLimiter::default(), AsOfQueue::default());
        let (denials, places, agents) = (Denials::default(), Places::default(), Agents::default());
        let shared = Shared {
            registry: registry(),
            plans,
            rates,
            denials,
            past,
            places,
            agents,
            inbounds: Inbounds::default(),
        };
        let service = Service { handle, shared: Arc::new(shared) };
        let own = Arc::new(tools::OwnTools::of(&service));
        // Refused if something else offers a tool of one of their names: then that one is what a session gets.
        let _ = service.handle().tools().add_executor(ExecutorKind::Own, own);
        service
    }

    /// The engine.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Follows the decisions after a cursor, on behalf of a caller. Which of them the caller may see is up to the surface's
    /// view of the graph.
    ///
    /// # Errors
    /// [`Denial`]
    pub(crate) fn follow(&self, caller: &Caller, after: Cursor) -> Result<Subscription, Denial> {
        let admitted = self.admit(caller, Op::Follow, None)?;
        Ok(self.subscribe(admitted, after))
    }

    fn subscribe(&self, _admitted: Admitted<'_>, after: Cursor) -> Subscription {
        self.handle().subscribe(after)
    }

    /// What callers hold at the same time.
    pub(crate) fn places(&self) -> &Places {
        &self.shared.places
    }

    /// The quota of queries as of an instant.
    #[cfg(feature = "http")]
    pub(crate) fn as_of_turns(&self) -> &Quota {
        self.shared.past.turns()
    }

    /// The attributes and mutations that queries can name.
    pub(crate) fn registry(&self) -> &Arc<Registry<Scheduler>> {
        &self.shared.registry
    }
}
