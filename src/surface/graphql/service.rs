//! GraphQL over a running scheduler: the entry point for transports.
//!
//! Invariant: the viewer is derived from the caller alone, and what a caller may not see does not exist for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

#[cfg(feature = "http")]
use async_graphql::parser::types::OperationType;

use super::error::GraphqlError;
use super::execution::execute::{Graphql, GraphqlCaller, GraphqlReply};
use super::operation::prepare::refused;
use super::operation::request::GraphqlRequest;
use super::schema::build::SchemaFault;
use super::schema::scheduler;
use super::transport::subscription::Subscribed;
use crate::domain;
use crate::edn::Map;
#[cfg(feature = "http")]
use crate::graph::registry::Viewer;
use crate::graph::view::{Scheduler, viewer};
#[cfg(feature = "http")]
use crate::service::is_quick;
use crate::service::{Service, limits_of, registry};

/// The GraphQL interface of one scheduler.
pub struct GraphqlService {
    graphql: Graphql<Scheduler>,
    service: Service,
}

/// Returns the scheduler's schema as operators see it, as SDL. It does not depend on an engine.
pub fn sdl() -> String {
    let graphql = Graphql::new(registry(), &scheduler::roots());
    graphql.map(|graphql| graphql.sdl()).expect("a test makes the schema and finds no fault")
}

impl GraphqlService {
    /// Generates the schemas of the scheduler's graph.
    ///
    /// # Errors
    /// Returns every fault of the declarations; a test proves that there is none.
    pub fn new(service: &Service) -> Result<GraphqlService, Vec<SchemaFault>> {
        let graphql = Graphql::new(Arc::clone(service.registry()), &scheduler::roots())?;
        Ok(GraphqlService { graphql, service: service.clone() })
    }

    /// Returns the service that this interface queries.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// Answers a query or runs a mutation; with `is_reading` a mutation is refused.
    pub fn answer(
        &self,
        caller: &domain::Caller,
        request: &GraphqlRequest,
        is_reading: bool,
    ) -> GraphqlReply {
        let mut access = match self.service.admit_query(caller, request.as_of) {
            Ok(access) => access,
            Err(refusal) => return GraphqlReply::refused(&[refused(&refusal)]),
        };
        let began = self.service.handle().now().boot;
        let stop = access.stop();
        let reply = self.asking(caller, is_reading, &stop, |asking| {
            let reply = self.graphql.execute(request, asking, &mut access);
            // The query may have needed decisions that the feed has dropped, or tools. `fetch_missing` gets them,
            // and the query runs again with them. After a mutation it returns false: a mutation must not run twice.
            if access.fetch_missing() { self.graphql.execute(request, asking, &mut access) } else { reply }
        });
        // Only queries are cached, so a mutation records no time.
        if let Some(prepared) = self.graphql.prepared(request, viewer(&caller.scope)) {
            let took = self.service.handle().now().boot.since(began);
            prepared.took_us.store(took.nanos() / 1_000, Ordering::Relaxed);
        }
        reply
    }

    /// Returns whether a request is short enough to be answered where requests are read, as in EQL (`Prepared::is_quick`).
    /// A mutation counts as quick: what it waits for is the disk.
    #[cfg(feature = "http")]
    pub(crate) fn is_quick(&self, caller: &domain::Caller, request: &GraphqlRequest) -> bool {
        match self.graphql.prepared(request, viewer(&caller.scope)) {
            Some(prepared) => {
                request.as_of.is_none() && is_quick(prepared.plan.as_ref(), &prepared.took_us, false)
            }
            None => request.as_of.is_none() && is_mutation(&self.graphql, request, viewer(&caller.scope)),
        }
    }

    /// Returns whether a request is a subscription.
    ///
    /// # Errors
    /// Returns what is wrong with the request.
    pub fn is_subscription(
        &self,
        caller: &domain::Caller,
        request: &GraphqlRequest,
    ) -> Result<bool, Vec<GraphqlError>> {
        // Preparing an operation reads no world and holds no lock, so it needs no stop check.
        self.asking(caller, true, &|| false, |asking| self.graphql.is_subscription(request, asking))
    }

    /// Accepts a subscription.
    ///
    /// # Errors
    /// Returns what is wrong with the request.
    pub(crate) fn subscribe(
        &self,
        caller: &domain::Caller,
        request: &GraphqlRequest,
    ) -> Result<Subscribed, Vec<GraphqlError>> {
        self.asking(caller, true, &|| false, |asking| self.graphql.subscribe(request, asking))
    }

    /// Answers a subscription's selection for one pushed item.
    pub(crate) fn event(&self, caller: &domain::Caller, subscribed: &Subscribed, item: &Map) -> String {
        // A new access for each item: its time budget starts with the item, not with the subscription.
        let mut access = match self.service.admit_item(caller) {
            Ok(access) => access,
            Err(refusal) => return GraphqlReply::refused(&[refused(&refusal)]).body,
        };
        let stop = access.stop();
        self.asking(caller, true, &stop, |asking| self.graphql.event(subscribed, item, asking, &mut access))
    }

    /// Calls `ask` with a caller's rights, the query limits and the stop check.
    fn asking<T>(
        &self,
        caller: &domain::Caller,
        is_reading: bool,
        stop: &dyn Fn() -> bool,
        ask: impl FnOnce(&GraphqlCaller<'_>) -> T,
    ) -> T {
        // The schema is the whole's. An operator that acts for a session has the session's scope, and so its rights.
        let is_of_the_whole = caller.scope == domain::Scope::Operator;
        ask(&GraphqlCaller {
            viewer: viewer(&caller.scope),
            may_introspect: is_of_the_whole
                && self.service.admit(caller, domain::Op::Introspect, None).is_ok(),
            is_reading,
            limits: limits_of(caller),
            stop,
        })
    }
}

/// Returns whether the operation that a request selects is a mutation. What the document begins with does not say so: it may
/// begin with a comment, or with another operation.
#[cfg(feature = "http")]
fn is_mutation(graphql: &Graphql<Scheduler>, request: &GraphqlRequest, viewer: Viewer) -> bool {
    // A document without the word has no mutation, and needs not be parsed here.
    request.query.contains("mutation") && graphql.kind(request, viewer) == Some(OperationType::Mutation)
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;

    #[test]
    fn the_selected_operation_says_whether_a_request_is_a_mutation() {
        let graphql = Graphql::new(registry(), &scheduler::roots()).expect("sound roots");
        let check = |query: &str, name: Option<&str>, expected: bool| {
            let operation_name = name.map(str::to_owned);
            let request = GraphqlRequest { operation_name, ..GraphqlRequest::new(query) };
            assert_eq!(is_mutation(&graphql, &request, Viewer::Operator), expected, "{name:?} of {query}");
        };
        let (mutation, query) = ("mutation m { openSession { token } }", "query q { pendingCount }");
        check(mutation, None, true);
        check(&format!("# a comment\n{mutation}"), None, true);
        check(query, None, false);
        check("{ mutation: pendingCount }", None, false);
        for both in [format!("{mutation} {query}"), format!("{query} {mutation}")] {
            check(&both, Some("m"), true);
            check(&both, Some("q"), false);
            // It is refused, because nothing says which one is meant.
            check(&both, None, false);
        }
        check("mutation { nope }", None, false);
    }
}
