//! Prepares an operation: selects, lowers and plans it, so that it only has to run.
//!
//! Invariant: a prepared operation depends on its text, name, variables and viewer alone; preparing it reads no world.

use std::sync::atomic::AtomicU64;

use async_graphql::parser::types::{ExecutableDocument, OperationType};

use super::coerce;
use super::document;
use super::lower::Need;
use super::request::GraphqlRequest;
use super::select::{SelectedKind, Selecting, Selection};
use crate::domain::Code as Class;
use crate::edn::{Keyword, Value};
use crate::graph::eql::{Limits, Plan, Planning, Query, QueryRefusal, plan};
use crate::graph::registry::{Registry, Viewer, World};
use crate::surface::graphql::error::{Code, GraphqlError, in_order};
use crate::surface::graphql::execution::fast_writer::AnswerTemplate;
use crate::surface::graphql::schema::async_graphql_schema::AsyncSchema;
use crate::surface::graphql::schema::model::SchemaModel;

/// An operation that is ready to run.
pub(in crate::surface::graphql) struct PreparedOperation {
    pub(in crate::surface::graphql) kind: OperationType,
    pub(in crate::surface::graphql) selection: Selection,
    /// What the selection needs from the root.
    pub(in crate::surface::graphql) need: Need,
    /// The plan of a query; `None` for other operations, and for a query that needs nothing from the graph.
    pub(in crate::surface::graphql) plan: Option<Plan>,
    /// The template of the fast path, if it can answer the whole query.
    pub(in crate::surface::graphql) template: Option<AnswerTemplate>,
    /// The answer to the introspection fields, which depends on the schema alone.
    pub(in crate::surface::graphql) introspected: Option<async_graphql::Value>,
    /// How long the last run took, in microseconds; `u64::MAX` before the first.
    pub(in crate::surface::graphql) took_us: AtomicU64,
}

/// The context of a preparation: the schema, and the caller's rights and limits.
pub(in crate::surface::graphql) struct Preparing<'a, W: World> {
    pub(in crate::surface::graphql) registry: &'a Registry<W>,
    pub(in crate::surface::graphql) model: &'a SchemaModel,
    pub(in crate::surface::graphql) async_schema: &'a AsyncSchema,
    pub(in crate::surface::graphql) viewer: Viewer,
    pub(in crate::surface::graphql) limits: Limits,
    pub(in crate::surface::graphql) may_introspect: bool,
}

impl<W: World> Preparing<'_, W> {
    /// Prepares an operation of a valid document.
    pub(in crate::surface::graphql) fn prepare(
        &self,
        document: &ExecutableDocument,
        request: &GraphqlRequest,
    ) -> Result<PreparedOperation, Vec<GraphqlError>> {
        let one = |error: GraphqlError| vec![error];
        let name = request.operation_name.as_deref();
        let (name, operation) = document::operation(document, name).map_err(one)?;
        let variables = coerce::variables(self.model, &operation.node, &request.variables).map_err(one)?;
        let kind = operation.node.ty;
        let root = match kind {
            OperationType::Query => Some(self.model.query),
            OperationType::Mutation => self.model.mutation,
            OperationType::Subscription => self.model.subscription,
        };
        let Some(root) = root else {
            return Err(one(GraphqlError::new(Code::Document, format!("The schema has no {kind}."))));
        };
        let mut selecting = Selecting::new(self.model, document, &variables);
        let set = &operation.node.selection_set.node;
        // The root is at depth 1, and the answer has one.
        let mut selection = selecting.select(root, &[set], (1, 1)).map_err(one)?;
        let introspected = self.introspected(document, name, request, &selection)?;
        let mut need = Need::default();
        need.add(self.model, &mut selection);
        // A mutation is planned when it runs, and a subscription for each item: only then is it known which attributes
        // are given.
        let is_planned = kind == OperationType::Query && !need.is_empty();
        let plan = if is_planned { Some(self.plan(&need.query(), &[]).map_err(one)?) } else { None };
        let template = plan.as_ref().and_then(|plan| AnswerTemplate::of(self.model, &selection, plan));
        let took_us = AtomicU64::new(u64::MAX);
        Ok(PreparedOperation { kind, selection, need, plan, template, introspected, took_us })
    }

    /// Answers the introspection fields, if the operation has any.
    fn introspected(
        &self,
        document: &ExecutableDocument,
        name: Option<&str>,
        request: &GraphqlRequest,
        selection: &Selection,
    ) -> Result<Option<async_graphql::Value>, Vec<GraphqlError>> {
        if selection.fields.iter().all(|field| field.what != SelectedKind::Introspection) {
            return Ok(None);
        }
        // Before async-graphql runs: its answer would show the schema.
        if !self.may_introspect {
            return Err(vec![GraphqlError::new(Class::Forbidden, "introspection is for operators")]);
        }
        // async-graphql has a value type of its own; JSON text is the form that both sides know.
        let mut variables = String::new();
        crate::surface::json::write(&Value::Map(request.variables.clone()), &mut variables);
        let variables =
            serde_json::from_str(&variables).map(async_graphql::Variables::from_json).unwrap_or_default();
        let answer = self.async_schema.introspect(document.clone(), name, variables);
        answer.map(Some).map_err(in_order)
    }

    /// Plans a query; `seeds` are the attributes that are given with it.
    pub(in crate::surface::graphql) fn plan(
        &self,
        query: &Query,
        seeds: &[Keyword],
    ) -> Result<Plan, GraphqlError> {
        let planning = Planning { seeds, viewer: self.viewer, limits: self.limits };
        plan(query, self.registry, &planning).map_err(|refusal| refused(&refusal))
    }
}

/// Converts a refusal of the graph to an error.
pub(in crate::surface::graphql) fn refused(refusal: &QueryRefusal) -> GraphqlError {
    let class = match refusal {
        QueryRefusal::Limit { .. }
        | QueryRefusal::PastBusy { .. }
        | QueryRefusal::PastLate { .. }
        | QueryRefusal::TooFast { .. }
        | QueryRefusal::Stopped => Class::Limit,
        QueryRefusal::Forbidden(_) => Class::Forbidden,
        QueryRefusal::NestedMutation(_) | QueryRefusal::Past(_) | QueryRefusal::Pruned { .. } => {
            Class::Validation
        }
    };
    GraphqlError { data: refusal.to_map().into(), ..GraphqlError::new(class, refusal.to_string()) }
}
