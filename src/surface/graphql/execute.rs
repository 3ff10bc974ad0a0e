//! The service: a request in, an answer out.
//!
//! Lives here: the order of things for queries and mutations. Does not live here: subscriptions, transports, time.
//!
//! Invariant: a query looks at the world once, and everything in its answer is from that moment; mutations of one
//! operation run one after the other.

use std::borrow::Cow;
use std::sync::Arc;

use async_graphql::parser::types::{ExecutableDocument, OperationType};

use super::answer::{self, Answers, RootResult};
use super::async_graphql_schema::AsyncSchema;
use super::cache::Cache;
use super::document;
use super::error::{Code, GraphqlError, refusal};
use super::lower::Need;
use super::model::{FieldSource, SchemaModel};
use super::prepare::{PreparedOperation, Preparing, refused};
use super::request::GraphqlRequest;
use super::roots::Roots;
use super::schema::{self, SchemaFault};
use super::select::{Selected, SelectedKind};
use crate::domain::Code as Class;
use crate::edn::{self, Keyword, Map, Symbol, Value};
use crate::graph::eql::{self, Expr, Limits, MutationCall, Plan, Query, run};
use crate::graph::registry::{Access, Registry, ViewOf, Viewer, World};

/// GraphQL over one registry.
pub struct Graphql<W: World> {
    registry: Arc<Registry<W>>,
    session: ViewerSchema,
    operator: ViewerSchema,
}

/// The schema of one kind of viewer, and what has been compiled for it.
pub(super) struct ViewerSchema {
    pub(super) model: SchemaModel,
    schema: AsyncSchema,
    documents: Cache<ExecutableDocument>,
    prepared: Cache<PreparedOperation>,
}

/// Who asks, and within which bounds.
#[derive(Clone, Copy)]
pub struct GraphqlCaller<'a> {
    /// Who asks. Nobody gets nothing.
    pub viewer: Viewer,
    /// Whether the schema may be asked for; by default that is for operators.
    pub may_introspect: bool,
    /// Whether only queries are allowed, as with GET.
    pub is_reading: bool,
    /// The bounds of the graph.
    pub limits: Limits,
    /// Asked now and then: whether to give up. The time is the caller's to keep.
    pub stop: &'a dyn Fn() -> bool,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphqlReply {
    /// The answer as JSON.
    pub body: String,
    /// How it stands with the request as a whole.
    pub outcome: Outcome,
}

impl GraphqlReply {
    /// Nothing was run.
    pub(super) fn refused(errors: &[GraphqlError]) -> GraphqlReply {
        GraphqlReply { body: refusal(errors), outcome: Outcome::Refused }
    }
}

/// How it stands with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was run; there may be errors within.
    Ran,
    /// It is no valid request, and nothing was run.
    Refused,
    /// It changes something, and the caller may only read.
    NotReading,
}

impl<W: World> Graphql<W> {
    /// Makes the schemas of a registry.
    ///
    /// # Errors
    ///
    /// Every fault of the declarations.
    pub fn new(registry: Arc<Registry<W>>, roots: &Roots) -> Result<Self, Vec<SchemaFault>> {
        let session = ViewerSchema::new(&registry, roots, Viewer::Session)?;
        let operator = ViewerSchema::new(&registry, roots, Viewer::Operator)?;
        Ok(Self { registry, session, operator })
    }

    /// The schema as operators see it, as text, sorted.
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

    /// Makes a request ready, or finds it ready.
    pub(super) fn prepare(
        &self,
        request: &GraphqlRequest,
        caller: &GraphqlCaller<'_>,
    ) -> Result<Arc<PreparedOperation>, Vec<GraphqlError>> {
        let side = self.viewer_schema(caller.viewer)?;
        let key = cache_key(request);
        if let Some(prepared) = side.prepared.get(&key) {
            return Ok(prepared);
        }
        let document = match side.documents.get(&request.query) {
            Some(document) => document,
            None => {
                let document = Arc::new(document::read(&request.query, &side.model, &side.schema)?);
                side.documents.put(request.query.clone(), Arc::clone(&document));
                document
            }
        };
        let prepared = Arc::new(self.preparing(side, caller).prepare(&document, request)?);
        // Whoever changes something says it anew each time, and introspections are large.
        if prepared.kind == OperationType::Query && prepared.introspected.is_none() {
            side.prepared.put(key.into_owned(), Arc::clone(&prepared));
        }
        Ok(prepared)
    }

    pub(super) fn viewer_schema(&self, viewer: Viewer) -> Result<&ViewerSchema, Vec<GraphqlError>> {
        match viewer {
            Viewer::Operator => Ok(&self.operator),
            Viewer::Session => Ok(&self.session),
            Viewer::Nobody => Err(vec![GraphqlError::new(Class::Forbidden, "who asks is not known")]),
        }
    }

    pub(super) fn preparing<'a>(
        &'a self,
        side: &'a ViewerSchema,
        caller: &GraphqlCaller<'_>,
    ) -> Preparing<'a, W> {
        Preparing {
            registry: &self.registry,
            model: &side.model,
            face: &side.schema,
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
        let side = self.viewer_schema(caller.viewer).map_err(first)?;
        let mut answer = Err(GraphqlError::new(Code::Internal, "the world was not looked at"));
        access.look(&mut |view| {
            answer = match self.walk(side, prepared, caller, view) {
                Some(body) => Ok(body),
                None => self.read(side, prepared, caller, &mut FixedView::<W>(view)),
            }
        });
        answer
    }

    /// Answers by the short way, if there is one to the end.
    fn walk(
        &self,
        side: &ViewerSchema,
        prepared: &PreparedOperation,
        caller: &GraphqlCaller<'_>,
        view: ViewOf<'_, W>,
    ) -> Option<String> {
        let (Some(shape), Some(plan)) = (&prepared.shape, &prepared.plan) else { return None };
        let entity = &Map::new();
        let request =
            eql::QueryRequest { plan, entity, is_lenient: true, limits: caller.limits, stop: caller.stop };
        shape.write(&side.model, &self.registry, &request, view)
    }

    fn read(
        &self,
        side: &ViewerSchema,
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
        Ok(answer::write(&side.model, &prepared.selection, &answers))
    }

    fn mutate(
        &self,
        prepared: &PreparedOperation,
        caller: &GraphqlCaller<'_>,
        access: &mut dyn Access<W>,
    ) -> Result<String, GraphqlError> {
        let side = self.viewer_schema(caller.viewer).map_err(first)?;
        let mut apart = Vec::new();
        for field in &prepared.selection.fields {
            let SelectedKind::Field(number) = field.what else {
                apart.push(None);
                continue;
            };
            let source = &side.model.objects[prepared.selection.object].fields[number].source;
            let FieldSource::Mutation(name) = source else {
                apart.push(None);
                continue;
            };
            apart.push(Some(self.act((side, name, field), caller, access)?));
        }
        let answers = Answers { row: &Map::new(), root_results: &apart, introspected: None };
        Ok(answer::write(&side.model, &prepared.selection, &answers))
    }

    /// Runs one mutation, strictly, so that its refusal comes with its code; then what is asked of its result.
    fn act(
        &self,
        (side, name, field): (&ViewerSchema, &Symbol, &Selected),
        caller: &GraphqlCaller<'_>,
        access: &mut dyn Access<W>,
    ) -> Result<RootResult, GraphqlError> {
        let preparing = self.preparing(side, caller);
        let call = MutationCall { name: name.clone(), params: field.params.clone(), query: None };
        let call = Query { exprs: vec![Expr::Call(call)], meta: None };
        let plan = preparing.plan(&call, &[])?;
        let entity = &Map::new();
        let request = eql::QueryRequest {
            plan: &plan,
            entity,
            is_lenient: false,
            limits: caller.limits,
            stop: caller.stop,
        };
        let answer = match run(&self.registry, &request, access) {
            Ok(eql::QueryAnswer::Done(answer)) => answer,
            Ok(eql::QueryAnswer::Failed(failure)) => return Ok(RootResult::Failed(failed(failure))),
            Err(refusal) => return Err(refused(&refusal)),
        };
        let result = answer.into_iter().find_map(|(_, result)| result.as_map().cloned()).unwrap_or_default();
        let need = field.below.as_ref().map(|below| Need::of(&side.model, below)).unwrap_or_default();
        if need.is_empty() {
            return Ok(RootResult::Result(result));
        }
        let seeds: Vec<Keyword> = result.keys().filter_map(Value::as_keyword).cloned().collect();
        let plan = preparing.plan(&need.query(), &seeds)?;
        self.run(&plan, &result, caller, access).map(RootResult::Result)
    }

    /// Runs a plan; what fails within stands in the answer.
    pub(super) fn run(
        &self,
        plan: &Plan,
        entity: &Map,
        caller: &GraphqlCaller<'_>,
        access: &mut dyn Access<W>,
    ) -> Result<Map, GraphqlError> {
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
        let model = schema::model(registry, roots, viewer)?;
        let face = AsyncSchema::new(&model).map_err(|fault| vec![fault])?;
        Ok(Self { model, schema: face, documents: Cache::new(), prepared: Cache::new() })
    }
}

/// A look that lasts: several plans read from one moment.
struct FixedView<'v, W: World>(ViewOf<'v, W>);

impl<W: World> Access<W> for FixedView<'_, W> {
    fn look(&mut self, reading: &mut dyn FnMut(ViewOf<'_, W>)) {
        reading(self.0);
    }

    /// Nothing is changed while it is read.
    fn act(&mut self, _: &mut dyn FnMut(W::Hand<'_>)) {}
}

/// Why the graph did not answer.
fn failed(failure: eql::QueryFailure) -> GraphqlError {
    match failure.error {
        Some(error) => {
            let code = error.code.map(Code::from).or_else(|| Code::of(&error.data));
            GraphqlError {
                data: error.data,
                ..GraphqlError::new(code.unwrap_or(Code::Internal), error.message)
            }
        }
        None => GraphqlError::new(Code::Internal, format!("{} is not there", failure.key)),
    }
}

/// What was sent, as one text: the document, which begins with no NUL, or all of it behind one.
fn cache_key(request: &GraphqlRequest) -> Cow<'_, str> {
    if request.operation_name.is_none() && request.variables.is_empty() && !request.query.starts_with('\0') {
        return Cow::Borrowed(&request.query);
    }
    let name = request.operation_name.as_deref().unwrap_or_default();
    let mut key = format!("\0{}\0{name}{}\0", name.len(), request.query);
    edn::write(&Value::Map(request.variables.clone()), &mut key);
    Cow::Owned(key)
}

fn first(errors: Vec<GraphqlError>) -> GraphqlError {
    let unknown = || GraphqlError::new(Code::Internal, "the request failed");
    errors.into_iter().next().unwrap_or_else(unknown)
}
