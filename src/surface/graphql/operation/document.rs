//! Parses a text into a document that follows GraphQL's rules and stays within our limits.
//!
//! Lives here: the limits on a document, independent of the caller. Does not live here: what depends on variables; see
//! `select.rs`.
//!
//! Shape: each fragment is measured once and its size is remembered, so that the cost is linear in the length of the
//! text, however often fragments spread each other. Invariant: no document that exceeds a limit when its fragments are
//! expanded reaches the validator.

use std::collections::{BTreeMap, BTreeSet};

use async_graphql::Positioned;
use async_graphql::parser::parse_query;
use async_graphql::parser::types::{
    Directive, DocumentOperations, ExecutableDocument, Field, OperationDefinition, OperationType, Selection,
    SelectionSet,
};

use super::scan;
use super::suggest::suggest;
use crate::limits::{
    GRAPHQL_ALIASES, GRAPHQL_ARGUMENTS, GRAPHQL_DEPTH, GRAPHQL_DIRECTIVES, GRAPHQL_FIELDS,
    GRAPHQL_INTROSPECTION_LISTS, GRAPHQL_ROOT_FIELDS, GRAPHQL_TOKENS, Limit, REQUEST_BYTES, REQUEST_DEPTH,
};
use crate::surface::graphql::error::{Code, GraphqlError, in_order};
use crate::surface::graphql::schema::async_graphql_schema::AsyncSchema;
use crate::surface::graphql::schema::model::SchemaModel;

/// Parses, measures and validates a document.
pub(in crate::surface::graphql) fn read(
    text: &str,
    model: &SchemaModel,
    async_schema: &AsyncSchema,
) -> Result<ExecutableDocument, Vec<GraphqlError>> {
    let document = parse(text).map_err(|error| vec![error])?;
    // Before validation: the validator expands a fragment at each of its spreads, so that a few fragments that spread
    // each other can cost it exponential time.
    measure(&document, model).map_err(|error| vec![error])?;
    async_schema.validate(document.clone()).map_err(|errors| {
        in_order(errors).into_iter().map(|error| suggest(model, error)).collect::<Vec<_>>()
    })?;
    Ok(document)
}

fn parse(text: &str) -> Result<ExecutableDocument, GraphqlError> {
    within(text.len(), REQUEST_BYTES, "the document is longer")?;
    // Before parsing: the parser recurses once per bracket, so text that nests too deep would overflow the stack.
    let size = scan::measure(text);
    within(size.depth, REQUEST_DEPTH, "the document is nested deeper")?;
    within(size.tokens, GRAPHQL_TOKENS, "the document has more")?;
    parse_query(text).map_err(|error| {
        let locations = error.positions().map(|pos| (pos.line, pos.column)).collect();
        GraphqlError { locations, ..GraphqlError::new(Code::Syntax, format!("Syntax Error: {error}")) }
    })
}

/// The size of a selection with its fragments expanded.
#[derive(Clone, Copy, Default)]
struct SelectionSize {
    fields: usize,
    aliases: usize,
    depth: usize,
    /// The deepest nesting of the fields in [`LISTS`].
    lists: usize,
    /// The value of `lists` below `__schema` and `__type`.
    introspected: usize,
    /// Fields of the selection's own level.
    width: usize,
}

impl SelectionSize {
    fn join(&mut self, other: Self) {
        self.fields = self.fields.saturating_add(other.fields);
        self.aliases = self.aliases.saturating_add(other.aliases);
        self.width = self.width.saturating_add(other.width);
        self.depth = self.depth.max(other.depth);
        self.lists = self.lists.max(other.lists);
        self.introspected = self.introspected.max(other.introspected);
    }
}

/// The state of measuring one document.
struct Measuring<'d> {
    document: &'d ExecutableDocument,
    /// The sizes of fragments that have been measured.
    fragments: BTreeMap<&'d str, SelectionSize>,
    /// Fragments that are being measured, to detect cycles.
    open: BTreeSet<&'d str>,
    /// The number of selection sets that are being measured, nested in each other.
    level: usize,
}

fn measure(document: &ExecutableDocument, model: &SchemaModel) -> Result<(), GraphqlError> {
    let mut measuring = Measuring { document, fragments: BTreeMap::new(), open: BTreeSet::new(), level: 0 };
    let mut total = 0_usize;
    // In the order of the text, because the error is about the first operation that is too large, and a map has no
    // stable order.
    let mut operations: Vec<_> = document.operations.iter().map(|(_, operation)| operation).collect();
    operations.sort_by_key(|operation| operation.pos);
    for operation in operations {
        let size = measuring.operation(&operation.node)?;
        // All operations count together: only one will run, but the validator checks them all.
        total = total.saturating_add(size.fields);
        within(total, GRAPHQL_FIELDS, "the document has, with fragments opened, more")?;
        within(size.aliases, GRAPHQL_ALIASES, "the operation has more")?;
        within(size.width, GRAPHQL_ROOT_FIELDS, "the operation's root has more")?;
        within(size.introspected, GRAPHQL_INTROSPECTION_LISTS, "the introspection is deeper")?;
        within(size.depth, GRAPHQL_DEPTH, "the operation is deeper")?;
        // Specification, "Single Root Field". Fields are counted before they are merged, so that two selections of one
        // field are refused as well.
        if operation.node.ty == OperationType::Subscription && size.width != 1 {
            let message = "Anonymous Subscription must select only one top level field.";
            return Err(GraphqlError::new(Code::Document, message).at(operation.pos));
        }
        let is_there = match operation.node.ty {
            OperationType::Query => true,
            OperationType::Mutation => model.mutation.is_some(),
            OperationType::Subscription => model.subscription.is_some(),
        };
        if !is_there {
            let message = format!("The schema has no {}.", operation.node.ty);
            return Err(GraphqlError::new(Code::Document, message).at(operation.pos));
        }
    }
    // Specification, "Fragments Must Be Used". An unused fragment was not measured, so the validator must not see it.
    if measuring.fragments.len() < document.fragments.len() {
        return Err(GraphqlError::new(Code::Document, "A fragment is never used."));
    }
    Ok(())
}

impl<'d> Measuring<'d> {
    fn operation(&mut self, operation: &'d OperationDefinition) -> Result<SelectionSize, GraphqlError> {
        directives(&operation.directives)?;
        within(
            operation.variable_definitions.len(),
            GRAPHQL_ARGUMENTS,
            "the operation has, of variables, more",
        )?;
        for variable in &operation.variable_definitions {
            directives(&variable.node.directives)?;
        }
        self.set(&operation.selection_set.node)
    }

    fn set(&mut self, set: &'d SelectionSet) -> Result<SelectionSize, GraphqlError> {
        // Each level is a level of recursion, here and in the validator.
        self.level += 1;
        within(self.level, REQUEST_DEPTH, "the document is, with fragments opened, deeper")?;
        let mut size = SelectionSize::default();
        for selection in &set.items {
            size.join(match &selection.node {
                Selection::Field(field) => self.field(&field.node)?,
                Selection::InlineFragment(inline) => {
                    directives(&inline.node.directives)?;
                    self.set(&inline.node.selection_set.node)?
                }
                Selection::FragmentSpread(spread) => {
                    directives(&spread.node.directives)?;
                    self.spread(&spread.node.fragment_name)?
                }
            });
            within(size.fields, GRAPHQL_FIELDS, "the document has, with fragments opened, more")?;
        }
        // Not undone after an error, because the first error ends the measurement.
        self.level -= 1;
        Ok(size)
    }

    fn field(&mut self, field: &'d Field) -> Result<SelectionSize, GraphqlError> {
        directives(&field.directives)?;
        within(field.arguments.len(), GRAPHQL_ARGUMENTS, "a field has more")?;
        let below = self.set(&field.selection_set.node)?;
        let is_list = LISTS.contains(&field.name.node.as_str());
        let is_introspection = ["__schema", "__type"].contains(&field.name.node.as_str());
        let lists =
            below.lists.saturating_add(usize::from(is_list && !field.selection_set.node.items.is_empty()));
        Ok(SelectionSize {
            fields: below.fields.saturating_add(1),
            aliases: below.aliases.saturating_add(usize::from(field.alias.is_some())),
            // Introspection queries are deep by nature (`ofType`). Nested lists are what multiplies their answers.
            depth: if is_introspection { 1 } else { below.depth.saturating_add(1) },
            lists: if is_introspection { 0 } else { lists },
            introspected: if is_introspection { lists } else { below.introspected },
            width: 1,
        })
    }

    fn spread(&mut self, name: &'d Positioned<async_graphql::Name>) -> Result<SelectionSize, GraphqlError> {
        let text = name.node.as_str();
        if let Some(size) = self.fragments.get(text) {
            return Ok(*size);
        }
        let Some(fragment) = self.document.fragments.get(text) else {
            return Err(
                GraphqlError::new(Code::Document, format!("Unknown fragment \"{text}\".")).at(name.pos)
            );
        };
        // Specification, "Fragment spreads must not form cycles". Expanding this one would never end.
        if !self.open.insert(text) {
            let message = format!("Cannot spread fragment \"{text}\" within itself.");
            return Err(GraphqlError::new(Code::Document, message).at(name.pos));
        }
        directives(&fragment.node.directives)?;
        let size = self.set(&fragment.node.selection_set.node)?;
        // Left open after an error, which ends the measurement.
        self.open.remove(text);
        self.fragments.insert(text, size);
        Ok(size)
    }
}

/// Finds the operation that a request names, or the only one. Source: the GraphQL specification, §6.1 `GetOperation`.
pub(in crate::surface::graphql) fn operation<'d>(
    document: &'d ExecutableDocument,
    name: Option<&str>,
) -> Result<(Option<&'d str>, &'d Positioned<OperationDefinition>), GraphqlError> {
    let fault = |message: String| GraphqlError::new(Code::Document, message);
    match (&document.operations, name) {
        (DocumentOperations::Single(operation), None) => Ok((None, operation)),
        // The parser returns `Multiple` for a single operation too, if it has a name.
        (DocumentOperations::Multiple(operations), None) if operations.len() == 1 => document
            .operations
            .iter()
            .next()
            .map(|(name, operation)| (name.map(async_graphql::Name::as_str), operation))
            .ok_or_else(|| fault("Must provide an operation.".into())),
        (DocumentOperations::Multiple(_), None) => {
            Err(fault("Must provide operation name if query contains multiple operations.".into()))
        }
        (_, Some(name)) => document
            .operations
            .iter()
            .find(|(own, _)| own.is_some_and(|own| own.as_str() == name))
            .map(|(own, operation)| (own.map(async_graphql::Name::as_str), operation))
            .ok_or_else(|| fault(format!("Unknown operation named \"{name}\"."))),
    }
}

fn directives(directives: &[Positioned<Directive>]) -> Result<(), GraphqlError> {
    within(directives.len(), GRAPHQL_DIRECTIVES, "one place has more")?;
    for directive in directives {
        within(directive.node.arguments.len(), GRAPHQL_ARGUMENTS, "a directive has more")?;
    }
    Ok(())
}

/// Checks a number against a limit; the error names the limit and its value.
pub(in crate::surface::graphql) fn within(
    found: usize,
    limit: Limit,
    what: &str,
) -> Result<(), GraphqlError> {
    if u64::try_from(found).is_ok_and(|found| found <= limit.value) {
        return Ok(());
    }
    Err(GraphqlError::limit(limit, format!("{what} than {} {}", limit.value, limit.unit)))
}

/// The list fields of introspection that lead back to types. Source: graphql-js, `MaxIntrospectionDepthRule`.
const LISTS: [&str; 4] = ["fields", "interfaces", "possibleTypes", "inputFields"];
