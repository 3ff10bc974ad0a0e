//! GraphQL over a running scheduler: what a transport calls.
//!
//! Invariant: who asks is known from the caller alone, and what it may not see does not exist for it.

use std::sync::Arc;

use super::error::GraphqlError;
use super::execute::{Graphql, GraphqlCaller, GraphqlReply};
use super::prepare::refused;
use super::request::GraphqlRequest;
use super::scheduler;
use super::schema::SchemaFault;
use super::subscription::Subscribed;
use crate::domain;
use crate::edn::Map;
use crate::graph::view::{Scheduler, viewer};
use crate::service::{QUERY_LIMITS, Service, registry};

/// The scheduler's GraphQL.
pub struct GraphqlService {
    graphql: Graphql<Scheduler>,
    service: Service,
}

/// The scheduler's GraphQL schema as operators see it, as text: the same for every engine.
pub fn sdl() -> String {
    let graphql = Graphql::new(registry(), &scheduler::roots());
    graphql.map(|graphql| graphql.sdl()).expect("a test makes the schema and finds no fault")
}

impl GraphqlService {
    /// Makes the schemas of a scheduler's graph.
    ///
    /// # Errors
    /// Every fault of the declarations; a test sees to it that there is none.
    pub fn new(service: &Service) -> Result<GraphqlService, Vec<SchemaFault>> {
        let graphql = Graphql::new(Arc::clone(service.registry()), &scheduler::roots())?;
        Ok(GraphqlService { graphql, service: service.clone() })
    }

    /// The service that it asks.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// Answers a query or runs a mutation.
    pub fn answer(
        &self,
        caller: &domain::Caller,
        request: &GraphqlRequest,
        is_reading: bool,
    ) -> GraphqlReply {
        let access = match request.as_of {
            None => Ok(self.service.access(caller)),
            Some(at) => self.service.access_as_of(caller, at),
        };
        let mut access = match access {
            Ok(access) => access,
            Err(refusal) => return GraphqlReply::refused(&[refused(&refusal)]),
        };
        let stop = access.stop();
        asking(caller, is_reading, &stop, |asking| {
            let reply = self.graphql.execute(request, asking, &mut access);
            if access.look_back() { self.graphql.execute(request, asking, &mut access) } else { reply }
        })
    }

    /// Returns whether a request is a subscription.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn is_subscription(
        &self,
        caller: &domain::Caller,
        request: &GraphqlRequest,
    ) -> Result<bool, Vec<GraphqlError>> {
        asking(caller, true, &|| false, |asking| self.graphql.is_subscription(request, asking))
    }

    /// Accepts a subscription.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn subscribe(
        &self,
        caller: &domain::Caller,
        request: &GraphqlRequest,
    ) -> Result<Subscribed, Vec<GraphqlError>> {
        asking(caller, true, &|| false, |asking| self.graphql.subscribe(request, asking))
    }

    /// Answers a subscription's selection for one thing that was pushed.
    pub fn event(&self, caller: &domain::Caller, subscribed: &Subscribed, item: &Map) -> String {
        let mut access = self.service.access(caller);
        let stop = access.stop();
        asking(caller, true, &stop, |asking| self.graphql.event(subscribed, item, asking, &mut access))
    }
}

/// Who asks, for as long as the engine may be kept from others.
fn asking<T>(
    caller: &domain::Caller,
    is_reading: bool,
    stop: &dyn Fn() -> bool,
    ask: impl FnOnce(&GraphqlCaller<'_>) -> T,
) -> T {
    ask(&GraphqlCaller {
        viewer: viewer(&caller.scope),
        may_introspect: caller.scope == domain::Scope::Operator,
        is_reading,
        limits: QUERY_LIMITS,
        stop,
    })
}
