//! Subscriptions without a transport: what is followed, and the answer to each thing that is pushed.
//!
//! Lives here: accepting one, and turning what is pushed into answers. Does not live here: what is pushed and when, see
//! `follow.rs`.
//!
//! Invariant: a thing that is pushed is a row; its answer is read at the moment of pushing, like a query's.

use std::sync::Arc;

use super::answer::{self, Answers};
use super::error::{Code, GraphqlError, refusal};
use super::execute::{Graphql, GraphqlCaller};
use super::prepare::PreparedOperation;
use super::request::GraphqlRequest;
use super::select::SelectedKind;
use crate::edn::{Keyword, Map, Value};
use crate::graph::registry::{Access, World};
use async_graphql::parser::types::OperationType;

/// A subscription that was accepted.
pub struct Subscribed {
    prepared: Arc<PreparedOperation>,
    /// The field of `Subscription` that is followed.
    pub field: String,
    /// Its arguments, by the keywords of their parameters.
    pub params: Map,
}

impl<W: World> Graphql<W> {
    /// Returns whether a request is a subscription.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
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
    /// The errors as a JSON answer, where the request is none for a subscription.
    pub fn subscribe(
        &self,
        request: &GraphqlRequest,
        caller: &GraphqlCaller<'_>,
    ) -> Result<Subscribed, Vec<GraphqlError>> {
        let prepared = self.prepare(request, caller)?;
        let side = self.viewer_schema(caller.viewer)?;
        let selected =
            prepared.selection.fields.first().filter(|_| prepared.kind == OperationType::Subscription);
        let Some((field, SelectedKind::Field(number))) = selected.map(|selected| (selected, selected.what))
        else {
            let error = GraphqlError::new(Code::Document, "the operation is no subscription");
            return Err(vec![error]);
        };
        let name = side.model.objects[prepared.selection.object].fields[number].name.clone();
        let params = field.params.clone();
        Ok(Subscribed { prepared, field: name, params })
    }

    /// Answers the selection for one thing that was pushed.
    pub fn event(
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
        let side = self.viewer_schema(caller.viewer)?;
        let seeds: Vec<Keyword> = item.keys().filter_map(Value::as_keyword).cloned().collect();
        let plan = self.preparing(side, caller).plan(&prepared.need.query(), &seeds).map_err(one)?;
        let row = self.run(&plan, item, caller, access).map_err(one)?;
        let answers = Answers { row: &row, root_results: &[], introspected: None };
        Ok(answer::write(&side.model, &prepared.selection, &answers))
    }
}
