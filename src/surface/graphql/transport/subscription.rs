//! Subscriptions without a transport: accepts them, and answers their selection for each pushed item.
//!
//! Lives here: accepting a subscription, and turning an item into an answer. Does not live here: which items are pushed
//! and when; see `follow.rs`.
//!
//! Invariant: an item is a row; its answer is read at the moment of pushing, like a query's.

use std::sync::Arc;

use crate::edn::{Keyword, Map, Value};
use crate::graph::registry::{Access, World};
use crate::surface::graphql::error::{Code, GraphqlError, refusal};
use crate::surface::graphql::execution::answer::{self, Answers};
use crate::surface::graphql::execution::execute::{Graphql, GraphqlCaller};
use crate::surface::graphql::operation::prepare::PreparedOperation;
use crate::surface::graphql::operation::request::GraphqlRequest;
use crate::surface::graphql::operation::select::SelectedKind;
use async_graphql::parser::types::OperationType;

/// An accepted subscription.
pub struct Subscribed {
    prepared: Arc<PreparedOperation>,
    /// The name of the selected field of `Subscription`.
    pub(crate) field: String,
    /// The field's arguments, keyed by the keywords of their parameters.
    pub(crate) params: Map,
}

impl<W: World> Graphql<W> {
    /// Returns whether a request is a subscription.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the request.
    pub fn is_subscription(
        &self,
        request: &GraphqlRequest,
        caller: &GraphqlCaller<'_>,
    ) -> Result<bool, Vec<GraphqlError>> {
        Ok(self.prepare(request, caller)?.kind == OperationType::Subscription)
    }

    /// Accepts a subscription.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the request, or that it is no subscription.
    pub(crate) fn subscribe(
        &self,
        request: &GraphqlRequest,
        caller: &GraphqlCaller<'_>,
    ) -> Result<Subscribed, Vec<GraphqlError>> {
        let prepared = self.prepare(request, caller)?;
        let viewer_schema = self.viewer_schema(caller.viewer)?;
        // `document.rs` allows one root field only, so the first is all there is.
        let selected =
            prepared.selection.fields.first().filter(|_| prepared.kind == OperationType::Subscription);
        let Some((field, SelectedKind::Field(number))) = selected.map(|selected| (selected, selected.what))
        else {
            // Another operation, or `subscription { __typename }`, for which nothing is ever pushed.
            let error = GraphqlError::new(Code::Document, "the operation is no subscription");
            return Err(vec![error]);
        };
        let name = viewer_schema.model.objects[prepared.selection.object].fields[number].name.clone();
        let params = field.params.clone();
        Ok(Subscribed { prepared, field: name, params })
    }

    /// Answers the selection for one pushed item.
    pub(crate) fn event(
        &self,
        subscribed: &Subscribed,
        item: &Map,
        caller: &GraphqlCaller<'_>,
        access: &mut dyn Access<W>,
    ) -> String {
        match self.answer(&subscribed.prepared, item, caller, access) {
            Ok(body) => body,
            Err(errors) => refusal(&errors),
        }
    }

    fn answer(
        &self,
        prepared: &PreparedOperation,
        item: &Map,
        caller: &GraphqlCaller<'_>,
        access: &mut dyn Access<W>,
    ) -> Result<String, Vec<GraphqlError>> {
        let one = |error: GraphqlError| vec![error];
        let viewer_schema = self.viewer_schema(caller.viewer)?;
        // Planned for each item, because items differ in the attributes that they give.
        let seeds: Vec<Keyword> = item.keys().filter_map(Value::as_keyword).cloned().collect();
        let plan = self.preparing(viewer_schema, caller).plan(&prepared.need.query(), &seeds).map_err(one)?;
        let row = self.run(&plan, item, caller, access).map_err(one)?;
        let answers = Answers { row: &row, root_results: &[], introspected: None };
        Ok(answer::write(&viewer_schema.model, &prepared.selection, &answers, caller.limits.bytes))
    }
}
