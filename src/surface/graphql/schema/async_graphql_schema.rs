//! The schema in async-graphql's form: for validation, introspection and SDL.
//!
//! Invariant: no resolver of ours runs here. A validation ends before the document is executed, and an introspection
//! answers every other field with null.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use async_graphql::async_trait::async_trait;
use async_graphql::dynamic::{
    Enum, EnumItem, Field, FieldFuture, InputObject, InputValue, Object, Scalar, Schema, Subscription,
    SubscriptionField, SubscriptionFieldFuture, TypeRef,
};
use async_graphql::extensions::{
    Extension, ExtensionContext, ExtensionFactory, NextExecute, NextResolve, ResolveInfo,
};
use async_graphql::futures_util::stream;
use async_graphql::parser::types::ExecutableDocument;
use async_graphql::{Name, Request, Response, SDLExportOptions, ServerError, ServerResult, Value, Variables};

use super::build::SchemaFault;
use super::model::{self, In, Out, Scalar as Kind, SchemaModel};
use crate::surface::graphql::operation::coerce;

/// async-graphql's schema of one kind of viewer.
pub(in crate::surface::graphql) struct AsyncSchema(Schema);

/// The purpose of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Validation,
    Introspection,
}

impl AsyncSchema {
    pub(in crate::surface::graphql) fn new(model: &SchemaModel) -> Result<Self, SchemaFault> {
        let name = |number: &Option<usize>| number.map(|number| model.objects[number].name.as_str());
        let query = &model.objects[model.query].name;
        let mut builder = Schema::build(query, name(&model.mutation), name(&model.subscription))
            // Only installs the extension: each request has its own purpose among its data.
            .extension(Purpose::Validation)
            .limit_recursive_depth(RECURSION)
            // `suggest.rs` has better ones.
            .disable_suggestions();
        // All other scalars are built in.
        for scalar in [Kind::Long, Kind::DateTime, Kind::Json] {
            builder = builder.register(scalar_type(scalar));
        }
        for each in &model.enums {
            let items = each.values.iter().map(|(_, constant)| EnumItem::new(constant));
            builder = builder.register(Enum::new(&each.name).description(&each.doc).items(items));
        }
        for input in &model.inputs {
            let object = InputObject::new(&input.name);
            let object = if input.doc.is_empty() { object } else { object.description(&input.doc) };
            let fields = input.fields.iter().map(|field| input_value(model, field));
            builder = builder.register(fields.fold(object, InputObject::field));
        }
        for (number, object) in model.objects.iter().enumerate() {
            // async-graphql has a separate type for the root of subscriptions.
            if model.subscription == Some(number) {
                builder = builder.register(subscription(model, object));
            } else {
                let made = Object::new(&object.name).description(&object.doc);
                let fields = object.fields.iter().map(|each| field(model, each));
                builder = builder.register(fields.fold(made, Object::field));
            }
        }
        builder.finish().map(Self).map_err(|error| SchemaFault::Refused(error.to_string()))
    }

    /// Returns the SDL, sorted, so that equal schemas have equal texts.
    pub(in crate::surface::graphql) fn sdl(&self) -> String {
        let options = SDLExportOptions::new().sorted_fields().sorted_arguments().sorted_enum_items();
        self.0.sdl_with_options(options.use_space_ident().prefer_single_line_descriptions())
    }

    /// Validates a document by all rules of GraphQL. Values of variables are not checked; `coerce.rs` does that.
    pub(in crate::surface::graphql) fn validate(
        &self,
        document: ExecutableDocument,
    ) -> Result<(), Vec<ServerError>> {
        // async-graphql requires a name if there are several operations. It validates all of them, so any name will do;
        // the first in the text makes the result repeatable.
        let first = document.operations.iter().min_by_key(|(_, operation)| operation.pos);
        let name = first.and_then(|(name, _)| name.cloned());
        let name = name.as_ref().map(Name::as_str);
        let response = self.run(document, name, Variables::default(), Purpose::Validation);
        if response.errors.is_empty() { Ok(()) } else { Err(response.errors) }
    }

    /// Answers the introspection fields of an operation; all others are null.
    pub(in crate::surface::graphql) fn introspect(
        &self,
        document: ExecutableDocument,
        operation: Option<&str>,
        variables: Variables,
    ) -> Result<Value, Vec<ServerError>> {
        let response = self.run(document, operation, variables, Purpose::Introspection);
        // An error without a path is about the request as a whole, so it takes precedence over errors of single fields.
        let (known, unknown): (Vec<_>, Vec<_>) =
            response.errors.into_iter().partition(|error| !error.path.is_empty());
        if known.is_empty() && unknown.is_empty() {
            return Ok(response.data);
        }
        Err(if unknown.is_empty() { known } else { unknown })
    }

    fn run(
        &self,
        document: ExecutableDocument,
        operation: Option<&str>,
        variables: Variables,
        purpose: Purpose,
    ) -> Response {
        let mut request = Request::new("").variables(variables).data(purpose);
        request.set_parsed_query(document);
        request.operation_name = operation.map(str::to_owned);
        // No future in this schema ever waits, so one poll completes it, and no async runtime is needed.
        let future = pin!(self.0.execute(request));
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(response) => response,
            Poll::Pending => Response::from_errors(vec![ServerError::new("the schema did not answer", None)]),
        }
    }
}

impl ExtensionFactory for Purpose {
    fn create(&self) -> std::sync::Arc<dyn Extension> {
        std::sync::Arc::new(*self)
    }
}

#[async_trait]
impl Extension for Purpose {
    async fn execute(
        &self,
        ctx: &ExtensionContext<'_>,
        name: Option<&str>,
        next: NextExecute<'_>,
    ) -> Response {
        match ctx.data_opt::<Purpose>() {
            Some(Self::Introspection) => next.run(ctx, name).await,
            // The document has been validated when this is called.
            Some(Self::Validation) | None => Response::default(),
        }
    }

    async fn resolve(
        &self,
        ctx: &ExtensionContext<'_>,
        info: ResolveInfo<'_>,
        next: NextResolve<'_>,
    ) -> ServerResult<Option<Value>> {
        // Fields below `__schema` and `__type` have ordinary names, so only the flag marks them.
        let is_introspection = info.is_for_introspection || info.name.starts_with("__");
        if is_introspection { next.run(ctx, info).await } else { Ok(Some(Value::Null)) }
    }
}

fn scalar_type(scalar: Kind) -> Scalar {
    let made = Scalar::new(scalar.name());
    match scalar {
        Kind::Long => made
            .description("A whole number of up to 64 bits; beyond 2^53, write it as a string.")
            .validator(|value| match value {
                Value::Number(number) => number.is_i64(),
                Value::String(text) => text.parse::<i64>().is_ok(),
                Value::Null | Value::Boolean(_) | Value::Enum(_) | Value::Binary(_) => false,
                Value::List(_) | Value::Object(_) => false,
            }),
        Kind::DateTime => made
            .description("An instant, as RFC 3339 writes it: 2026-04-22T13:00:00Z.")
            .specified_by_url("https://www.rfc-editor.org/rfc/rfc3339")
            .validator(|value| matches!(value, Value::String(text) if coerce::instant(text).is_some())),
        // Only `Json` comes here: the others are built in and not registered.
        Kind::Json | Kind::Int | Kind::Float | Kind::Boolean | Kind::String | Kind::Id => {
            made.description("Any JSON value. Keywords are strings without the colon.")
        }
    }
}

fn field(model: &SchemaModel, field: &model::Field) -> Field {
    // Never called, because the extension answers fields of ours. `None` only satisfies the signature.
    let made = Field::new(&field.name, out(model, field.out), |_| FieldFuture::from_value(None));
    let made = if field.doc.is_empty() { made } else { made.description(&field.doc) };
    let made = if field.is_deprecated { made.deprecation(Some("It will be removed.")) } else { made };
    field.args.iter().fold(made, |made, arg| made.argument(input_value(model, arg)))
}

fn subscription(model: &SchemaModel, object: &model::Object) -> Subscription {
    let made = Subscription::new(&object.name).description(&object.doc);
    let fields = object.fields.iter().map(|field| {
        let nothing = || Ok(stream::empty::<async_graphql::Result<async_graphql::dynamic::FieldValue<'_>>>());
        let made = SubscriptionField::new(&field.name, out(model, field.out), move |_| {
            SubscriptionFieldFuture::new(async move { nothing() })
        });
        let made = if field.doc.is_empty() { made } else { made.description(&field.doc) };
        field.args.iter().fold(made, |made, arg| made.argument(input_value(model, arg)))
    });
    fields.fold(made, Subscription::field)
}

fn input_value(model: &SchemaModel, input: &model::Input) -> InputValue {
    let made = InputValue::new(&input.name, taken(model, input.ty));
    if input.doc.is_empty() { made } else { made.description(&input.doc) }
}

fn out(model: &SchemaModel, out: Out) -> TypeRef {
    let name = model.leaf_name(out.leaf).to_owned();
    match (out.is_list, out.is_nullable) {
        (false, false) => TypeRef::named_nn(name),
        (false, true) => TypeRef::named(name),
        (true, false) => TypeRef::named_nn_list_nn(name),
        (true, true) => TypeRef::named_nn_list(name),
    }
}

fn taken(model: &SchemaModel, taken: In) -> TypeRef {
    let name = model.input_name(taken.leaf).to_owned();
    match (taken.is_list, taken.is_required) {
        (false, true) => TypeRef::named_nn(name),
        (false, false) => TypeRef::named(name),
        (true, true) => TypeRef::named_nn_list_nn(name),
        (true, false) => TypeRef::named_nn_list(name),
    }
}

/// The nesting that async-graphql allows, in which fragments count as levels. Its default of 32 would refuse documents
/// that `document.rs` allows; deeper ones are refused there first, with our own error.
const RECURSION: usize = 64;
