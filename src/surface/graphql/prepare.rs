//! An operation made ready: selected, lowered and planned, so that it only has to run.
//!
//! Invariant: a prepared operation is a value of its text, name, variables and viewer; it has looked at no world.

use async_graphql::parser::types::{ExecutableDocument, OperationType};

use super::async_graphql_schema::AsyncSchema;
use super::coerce;
use super::document;
use super::error::{Code, GraphqlError, in_order};
use super::fast_writer::AnswerTemplate;
use super::lower::Need;
use super::model::SchemaModel;
use super::request::GraphqlRequest;
use super::select::{SelectedKind, Selecting, Selection};
use crate::domain::Code as Class;
use crate::edn::{Keyword, Value};
use crate::graph::eql::{Limits, Plan, Planning, Query, QueryRefusal, plan};
use crate::graph::registry::{Registry, Viewer, World};

/// An operation that is ready to run.
pub(super) struct PreparedOperation {
    pub(super) kind: OperationType,
    pub(super) selection: Selection,
    /// What the root is asked for.
    pub(super) need: Need,
    /// The plan of that, if it is asked for anything.
    pub(super) plan: Option<Plan>,
    /// How the answer is written while it is read, if it can be.
    pub(super) shape: Option<AnswerTemplate>,
    /// What the schema has answered already.
    pub(super) introspected: Option<async_graphql::Value>,
}

/// Who prepares, and by which schema.
pub(super) struct Preparing<'a, W: World> {
    pub(super) registry: &'a Registry<W>,
    pub(super) model: &'a SchemaModel,
    pub(super) face: &'a AsyncSchema,
    pub(super) viewer: Viewer,
    pub(super) limits: Limits,
    pub(super) may_introspect: bool,
}

impl<W: World> Preparing<'_, W> {
    /// Makes an operation of a valid document ready.
    pub(super) fn prepare(
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
        let mut selection = selecting.select(root, &[set], (1, 1)).map_err(one)?;
        let introspected = self.introspected(document, name, request, &selection)?;
        let mut need = Need::default();
        need.add(self.model, &mut selection);
        let is_planned = kind == OperationType::Query && !need.is_empty();
        let plan = if is_planned { Some(self.plan(&need.query(), &[]).map_err(one)?) } else { None };
        let shape = plan.as_ref().and_then(|plan| AnswerTemplate::of(self.model, &selection, plan));
        Ok(PreparedOperation { kind, selection, need, plan, shape, introspected })
    }

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
        if !self.may_introspect {
            return Err(vec![GraphqlError::new(Class::Forbidden, "introspection is for operators")]);
        }
        let mut variables = String::new();
        crate::surface::json::write(&Value::Map(request.variables.clone()), &mut variables);
        let variables =
            serde_json::from_str(&variables).map(async_graphql::Variables::from_json).unwrap_or_default();
        let answer = self.face.introspect(document.clone(), name, variables);
        answer.map(Some).map_err(in_order)
    }

    /// Plans a query over what is known to begin with.
    pub(super) fn plan(&self, query: &Query, seeds: &[Keyword]) -> Result<Plan, GraphqlError> {
        let planning = Planning { seeds, viewer: self.viewer, limits: self.limits };
        plan(query, self.registry, &planning).map_err(|refusal| refused(&refusal))
    }
}

/// A bound of the graph that an operation exceeds.
pub(super) fn refused(refusal: &QueryRefusal) -> GraphqlError {
    let class = match refusal {
        QueryRefusal::Limit { .. } | QueryRefusal::Stopped => Class::Limit,
        QueryRefusal::NestedMutation(_) | QueryRefusal::Past(_) => Class::Validation,
    };
    GraphqlError { data: refusal.to_map().into(), ..GraphqlError::new(class, refusal.to_string()) }
}
