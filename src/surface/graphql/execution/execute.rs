//! Executes queries and mutations: a request in, an answer out.
//!
//! Lives here: the order of the steps. Does not live here: subscriptions, transports, time.
//!
//! Invariant: a query reads one snapshot of the world, so that everything in its answer is from one moment; the
//! mutations of one operation run one after the other.

use std::borrow::Cow;
use std::sync::Arc;

use async_graphql::parser::types::{ExecutableDocument, OperationType};

use super::answer::{self, Answers, RootResult};
use crate::domain::Code as Class;
use crate::edn::{self, Keyword, Map, Symbol, Value};
use crate::graph::eql::{self, Expr, Limits, MutationCall, Plan, Query, run};
use crate::graph::registry::{Access, Registry, ViewOf, Viewer, World};
use crate::surface::graphql::error::{Code, GraphqlError, refusal};
use crate::surface::graphql::operation::cache::Cache;
use crate::surface::graphql::operation::document;
use crate::surface::graphql::operation::lower::Need;
use crate::surface::graphql::operation::prepare::{PreparedOperation, Preparing, refused};
use crate::surface::graphql::operation::request::GraphqlRequest;
use crate::surface::graphql::operation::select::{Selected, SelectedKind};
use crate::surface::graphql::schema::async_graphql_schema::AsyncSchema;
use crate::surface::graphql::schema::build::{self, SchemaFault};
use crate::surface::graphql::schema::model::{FieldSource, SchemaModel};
use crate::surface::graphql::schema::roots::Roots;

/// The GraphQL interface of one registry, with a schema for each kind of viewer.
pub struct Graphql<W: World> {
    registry: Arc<Registry<W>>,
    session: ViewerSchema,
    host: ViewerSchema,
    operator: ViewerSchema,
}

/// The schema of one kind of viewer, and the caches of its compiled operations.
pub(in crate::surface::graphql) struct ViewerSchema {
    pub(in crate::surface::graphql) model: SchemaModel,
    schema: AsyncSchema,
    documents: Cache<ExecutableDocument>,
    prepared: Cache<PreparedOperation>,
}

/// The rights and limits of one caller.
#[derive(Clone, Copy)]
pub struct GraphqlCaller<'a> {
    /// The kind of viewer; [`Viewer::Nobody`] is refused.
    pub viewer: Viewer,
    /// Whether introspection is allowed. [`GraphqlService`](crate::surface::graphql::GraphqlService) allows it to operators.
    pub may_introspect: bool,
    /// Whether only queries are allowed, as with GET.
    pub is_reading: bool,
    /// The limits of the graph.
    pub limits: Limits,
    /// Polled while a query runs; true stops it. The time limit is up to the caller.
    pub stop: &'a dyn Fn() -> bool,
}

/// The reply to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphqlReply {
    /// The answer as JSON.
    pub body: String,
    /// The outcome of the request as a whole.
    pub outcome: Outcome,
}

impl GraphqlReply {
    /// Creates the reply to a request that fails as a whole.
    pub(in crate::surface::graphql) fn refused(errors: &[GraphqlError]) -> GraphqlReply {
        GraphqlReply { body: refusal(errors), outcome: Outcome::Refused }
    }
}

/// The outcome of a request as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The operation ran; its answer may still contain errors.
    Ran,
    /// The request failed as a whole: the reply has errors and no data.
    Refused,
    /// The operation is a mutation, and the caller may only read. Nothing ran.
    NotReading,
}

impl<W: World> Graphql<W> {
    /// Generates the schemas of a registry.
    ///
    /// # Errors
    ///
    /// Returns every fault of the declarations.
    pub fn new(registry: Arc<Registry<W>>, roots: &Roots) -> Result<Self, Vec<SchemaFault>> {
        // One schema for each kind of viewer: a session must not learn from errors or introspection what only operators
        // see.
        let session = ViewerSchema::new(&registry, roots, Viewer::Session)?;
        let host = ViewerSchema::new(&registry, roots, Viewer::Host)?;
        let operator = ViewerSchema::new(&registry, roots, Viewer::Operator)?;
        Ok(Self { registry, session, host, operator })
    }

    /// Returns the schema as operators see it, as sorted SDL.
    pub fn sdl(&self) -> String {
        self.operator.schema.sdl()
    }

    /// Answers a query or runs a mutation.
    pub fn execute(
        &self,
        request: &GraphqlRequest,
        caller: &GraphqlCaller<'_>,
        access: &mut dyn Access<W>,
    ) -> GraphqlReply {
        let prepared = match self.prepare(request, caller) {
            Ok(prepared) => prepared,
            Err(errors) => return GraphqlReply::refused(&errors),
        };
        let ran = match prepared.kind {
            OperationType::Query => self.query(&prepared, caller, access),
            OperationType::Mutation if caller.is_reading => {
                let error = GraphqlError::new(Code::Document, "a mutation is sent with POST");
                return GraphqlReply { body: refusal(&[error]), outcome: Outcome::NotReading };
            }
            OperationType::Mutation => self.mutate(&prepared, caller, access),
            OperationType::Subscription => {
                Err(GraphqlError::new(Code::Document, "subscriptions go over a WebSocket or an event stream"))
            }
        };
        match ran {
            Ok(body) => GraphqlReply { body, outcome: Outcome::Ran },
            Err(error) => GraphqlReply::refused(&[error]),
        }
    }

    /// Prepares a request, or takes it from the cache.
    pub(in crate::surface::graphql) fn prepare(
        &self,
        request: &GraphqlRequest,
        caller: &GraphqlCaller<'_>,
    ) -> Result<Arc<PreparedOperation>, Vec<GraphqlError>> {
        let viewer_schema = self.viewer_schema(caller.viewer)?;
        let key = cache_key(request);
        if let Some(prepared) = viewer_schema.prepared.get(&key) {
            return Ok(prepared);
        }
        let document = viewer_schema.document(&request.query)?;
        // Two threads may prepare one request at the same time. Their results are equal, so the last one may stay.
        let prepared = Arc::new(self.preparing(viewer_schema, caller).prepare(&document, request)?);
        // A mutation is rarely repeated with equal variables, and the answer to an introspection is large. As
        // introspections are never cached, each of them passes the check of `may_introspect`.
        if prepared.kind == OperationType::Query && prepared.introspected.is_none() {
            viewer_schema.prepared.put(key.into_owned(), Arc::clone(&prepared));
        }
        Ok(prepared)
    }

    /// Returns a query that has been prepared before, by the kind of viewer.
    pub(in crate::surface::graphql) fn prepared(
        &self,
        request: &GraphqlRequest,
        viewer: Viewer,
    ) -> Option<Arc<PreparedOperation>> {
        self.viewer_schema(viewer).ok()?.prepared.get(&cache_key(request))
    }

    /// Returns the kind of the operation that a request selects, or `None` if it selects none or breaks a rule.
    #[cfg(feature = "http")]
    pub(in crate::surface::graphql) fn kind(
        &self,
        request: &GraphqlRequest,
        viewer: Viewer,
    ) -> Option<OperationType> {
        let document = self.viewer_schema(viewer).ok()?.document(&request.query).ok()?;
        let (_, operation) = document::operation(&document, request.operation_name.as_deref()).ok()?;
        Some(operation.node.ty)
    }

    /// Returns the schema of a kind of viewer.
    pub(in crate::surface::graphql) fn viewer_schema(
        &self,
        viewer: Viewer,
    ) -> Result<&ViewerSchema, Vec<GraphqlError>> {
        match viewer {
            Viewer::Operator => Ok(&self.operator),
            Viewer::Session => Ok(&self.session),
            Viewer::Host => Ok(&self.host),
            Viewer::Nobody => Err(vec![GraphqlError::new(Class::Forbidden, "the caller is not known")]),
        }
    }

    pub(in crate::surface::graphql) fn preparing<'a>(
        &'a self,
        viewer_schema: &'a ViewerSchema,
        caller: &GraphqlCaller<'_>,
    ) -> Preparing<'a, W> {
        Preparing {
            registry: &self.registry,
            model: &viewer_schema.model,
            async_schema: &viewer_schema.schema,
            viewer: caller.viewer,
            limits: caller.limits,
            may_introspect: caller.may_introspect,
        }
    }

    fn query(
        &self,
        prepared: &PreparedOperation,
        caller: &GraphqlCaller<'_>,
        access: &mut dyn Access<W>,
    ) -> Result<String, GraphqlError> {
        let viewer_schema = self.viewer_schema(caller.viewer).map_err(first)?;
        // The callback returns nothing, so it assigns the answer. This error would show that it was not called.
        let mut answer = Err(GraphqlError::new(Code::Internal, "the query did not run"));
        // Both paths read one view, so that falling back does not change the moment of the answer.
        access.with_view(&mut |view| {
            answer = match self.answer_fast(viewer_schema, prepared, caller, view) {
                Some(body) => Ok(body),
                None => self.answer_general(viewer_schema, prepared, caller, &mut FixedView::<W>(view)),
            }
        });
        answer
    }

    /// Answers on the fast path. Returns `None` if only the general path can answer.
    fn answer_fast(
        &self,
        viewer_schema: &ViewerSchema,
        prepared: &PreparedOperation,
        caller: &GraphqlCaller<'_>,
        view: ViewOf<'_, W>,
    ) -> Option<String> {
        let (Some(template), Some(plan)) = (&prepared.template, &prepared.plan) else { return None };
        let entity = &Map::new();
        let request =
            eql::QueryRequest { plan, entity, is_lenient: true, limits: caller.limits, stop: caller.stop };
        template.write(&viewer_schema.model, &self.registry, &request, view)
    }

    /// Answers on the general path.
    fn answer_general(
        &self,
        viewer_schema: &ViewerSchema,
        prepared: &PreparedOperation,
        caller: &GraphqlCaller<'_>,
        access: &mut dyn Access<W>,
    ) -> Result<String, GraphqlError> {
        let row = match &prepared.plan {
            Some(plan) => self.run(plan, &Map::new(), caller, access)?,
            None => Map::new(),
        };
        let introspected = prepared.introspected.as_ref();
        let answers = Answers { row: &row, root_results: &[], introspected };
        Ok(answer::write(&viewer_schema.model, &prepared.selection, &answers, caller.limits.bytes))
    }

    /// Runs the mutations of an operation, in document order (specification, §6.2.2).
    fn mutate(
        &self,
        prepared: &PreparedOperation,
        caller: &GraphqlCaller<'_>,
        access: &mut dyn Access<W>,
    ) -> Result<String, GraphqlError> {
        let viewer_schema = self.viewer_schema(caller.viewer).map_err(first)?;
        let mut apart = Vec::new();
        for field in &prepared.selection.fields {
            // One entry for each field, mutation or not: results are found by the position of the field.
            let SelectedKind::Field(number) = field.what else {
                apart.push(None);
                continue;
            };
            let source = &viewer_schema.model.objects[prepared.selection.object].fields[number].source;
            let FieldSource::Mutation(name) = source else {
                apart.push(None);
                continue;
            };
            let result = match self.act((viewer_schema, name, field), caller, access) {
                Ok(result) => result,
                // Nothing was carried out, so the request can still fail as a whole.
                Err(error) if apart.iter().all(Option::is_none) => return Err(error),
                // The caller needs the results of the mutations before this one.
                Err(error) => RootResult::Failed(error),
            };
            apart.push(Some(result));
        }
        let answers = Answers { row: &Map::new(), root_results: &apart, introspected: None };
        Ok(answer::write(&viewer_schema.model, &prepared.selection, &answers, caller.limits.bytes))
    }

    /// Runs one mutation, and queries the selection on its result.
    ///
    /// # Errors
    /// Returns why the mutation was not run.
    fn act(
        &self,
        (viewer_schema, name, field): (&ViewerSchema, &Symbol, &Selected),
        caller: &GraphqlCaller<'_>,
        access: &mut dyn Access<W>,
    ) -> Result<RootResult, GraphqlError> {
        let preparing = self.preparing(viewer_schema, caller);
        let call = MutationCall { name: name.clone(), params: field.params.clone(), query: None };
        let call = Query { exprs: vec![Expr::Call(call)], meta: None };
        let plan = preparing.plan(&call, &[])?;
        let entity = &Map::new();
        let request = eql::QueryRequest {
            plan: &plan,
            entity,
            // Strict, so that a refusal arrives with its code; in lenient mode it would be part of the answer.
            is_lenient: false,
            limits: caller.limits,
            stop: caller.stop,
        };
        let answer = match run(&self.registry, &request, access) {
            Ok(eql::QueryAnswer::Done(answer)) => answer,
            Ok(eql::QueryAnswer::Failed(failure)) => return Ok(RootResult::Failed(failed(failure))),
            Err(refusal) => return Err(refused(&refusal)),
        };
        // The query is one call, so its answer has one entry: the result of the mutation.
        let result = answer.into_iter().find_map(|(_, result)| result.as_map().cloned()).unwrap_or_default();
        let need =
            field.below.as_ref().map(|below| Need::of(&viewer_schema.model, below)).unwrap_or_default();
        // The payload selects nothing from the graph, as in `{ __typename }`.
        if need.is_empty() {
            return Ok(RootResult::Result(result));
        }
        // The attributes of the result are given to the query: some, such as a new session's token, can be read nowhere
        // else.
        let seeds: Vec<Keyword> = result.keys().filter_map(Value::as_keyword).cloned().collect();
        let plan = match preparing.plan(&need.query(), &seeds) {
            Ok(plan) => plan,
            Err(error) => return Ok(unread(error)),
        };
        Ok(self.run(&plan, &result, caller, access).map_or_else(unread, RootResult::Result))
    }

    /// Runs a plan in lenient mode: the row contains the errors of single attributes.
    pub(in crate::surface::graphql) fn run(
        &self,
        plan: &Plan,
        entity: &Map,
        caller: &GraphqlCaller<'_>,
        access: &mut dyn Access<W>,
    ) -> Result<Map, GraphqlError> {
        // Lenient: an attribute that fails must become null with an error, and must not fail the query (§6.4.4).
        let request =
            eql::QueryRequest { plan, entity, is_lenient: true, limits: caller.limits, stop: caller.stop };
        match run(&self.registry, &request, access) {
            Ok(eql::QueryAnswer::Done(map)) => Ok(map),
            Ok(eql::QueryAnswer::Failed(failure)) => Err(failed(failure)),
            Err(refusal) => Err(refused(&refusal)),
        }
    }
}

impl ViewerSchema {
    fn new<W: World>(
        registry: &Registry<W>,
        roots: &Roots,
        viewer: Viewer,
    ) -> Result<Self, Vec<SchemaFault>> {
        let model = build::model(registry, roots, viewer)?;
        let async_schema = AsyncSchema::new(&model).map_err(|fault| vec![fault])?;
        Ok(Self { model, schema: async_schema, documents: Cache::new(), prepared: Cache::new() })
    }

    /// Reads a document, or takes it from the cache. It has a cache of its own, because clients repeat a document with other
    /// variables.
    fn document(&self, text: &str) -> Result<Arc<ExecutableDocument>, Vec<GraphqlError>> {
        if let Some(document) = self.documents.get(text) {
            return Ok(document);
        }
        let document = Arc::new(document::read(text, &self.model, &self.schema)?);
        self.documents.put(text.to_owned(), Arc::clone(&document));
        Ok(document)
    }
}

/// An access that shows the one view that its caller holds already.
struct FixedView<'v, W: World>(ViewOf<'v, W>);

impl<W: World> Access<W> for FixedView<'_, W> {
    fn with_view(&mut self, reading: &mut dyn FnMut(ViewOf<'_, W>)) {
        reading(self.0);
    }

    /// Does nothing: the plan of a query contains no mutations.
    fn act(&mut self, _: &mut dyn FnMut(W::Hand<'_>)) {}
}

/// Returns the result of a mutation that was carried out, although its payload cannot be read. A plain error would
/// look as if nothing had changed, and the caller would repeat the mutation.
fn unread(error: GraphqlError) -> RootResult {
    let message = format!("the mutation was carried out, but its payload cannot be read: {}", error.message);
    RootResult::Failed(GraphqlError { message, ..error })
}

/// Converts a failure of the graph to an error.
pub(in crate::surface::graphql) fn failed(failure: eql::QueryFailure) -> GraphqlError {
    match failure.error {
        Some(error) => {
            // Not every error has a code; the data of some shows their class.
            let code = error.code.map(Code::from).or_else(|| Code::of(&error.data));
            GraphqlError::of_graph(code.unwrap_or(Code::Internal), &error.message, error.data)
        }
        None => GraphqlError::new(Code::Internal, format!("{} is not there", failure.key)),
    }
}

/// Returns the cache key of a request: the document if it has nothing else, otherwise NUL and all parts.
fn cache_key(request: &GraphqlRequest) -> Cow<'_, str> {
    // `as_of` is not part of the key: it selects the world that is read, not the plan.
    if request.operation_name.is_none() && request.variables.is_empty() && !request.query.starts_with('\0') {
        return Cow::Borrowed(&request.query);
    }
    let name = request.operation_name.as_deref().unwrap_or_default();
    // The length keeps the name apart from the document, so that two requests cannot get one key by shifting text.
    let mut key = format!("\0{}\0{name}{}\0", name.len(), request.query);
    edn::write(&Value::Map(request.variables.clone()), &mut key);
    Cow::Owned(key)
}

/// Returns the first of several errors.
fn first(errors: Vec<GraphqlError>) -> GraphqlError {
    let unknown = || GraphqlError::new(Code::Internal, "the request failed");
    errors.into_iter().next().unwrap_or_else(unknown)
}
