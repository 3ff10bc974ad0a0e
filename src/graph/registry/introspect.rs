//! Introspection: the registry as data that a query can read.
//!
//! Lives here: the data of psi's `:psi.graph/*` attributes, and the entities that declare them. Does not
//! live here: Pathom's own index, see `pathom.rs`.
//!
//! Invariant: everything here is a walk over the registry, filtered by what the viewer may see. There is no second
//! list of attributes or mutations. Source: `spec/psi.md` §6, introspection.

use std::collections::BTreeMap;

use super::{
    AttrId, Attribute, Datum, Entity, Operation, Param, ParamGroup, ParamGroups, ParamType, Registry, Type,
    ViewOf, Viewer, Visibility, World,
};
use crate::edn::{Keyword, Map, Symbol, Value};

/// A world whose view contains the registry that the query runs on.
pub trait Introspected: World + Sized {
    /// Returns the registry and the viewer.
    fn graph(view: ViewOf<'_, Self>) -> Graph<'_, Self>;

    /// Returns whether the caller's requests begin at the seeds, also if they name no entity.
    fn begins_at_seeds(view: ViewOf<'_, Self>) -> bool;
}

/// A registry as one viewer sees it.
pub struct Graph<'r, W: World> {
    /// The registry.
    pub registry: &'r Registry<W>,
    /// The kind of caller.
    pub viewer: Viewer,
}

impl<W: World> Clone for Graph<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: World> Copy for Graph<'_, W> {}

impl<'r, W: World> Graph<'r, W> {
    /// Returns the names of the resolvers that the viewer may see, sorted.
    pub(crate) fn resolver_syms(self) -> Value {
        let mut names: Vec<_> = self.operations().map(|operation| operation.name.clone()).collect();
        names.sort();
        symbols(names)
    }

    /// Returns the names of the mutations that the viewer may call, sorted.
    pub(crate) fn mutation_syms(self) -> Value {
        symbols(self.mutations().cloned())
    }

    /// Returns the attributes that callers provide as the starting point of a query.
    pub(crate) fn root_seeds(self) -> Value {
        let seeds = self.attributes().filter(|(_, attribute)| attribute.is_seed);
        Value::vector(seeds.map(|(key, _)| Value::Keyword(key.clone())).collect::<Vec<_>>())
    }

    /// Returns the attributes that a request without an entity can query at the root, sorted: those that the graph leads to,
    /// from the seeds only if the request begins there. The seeds are left out, and those that need a parameter. A client may
    /// ask for all of them as they are listed.
    pub(crate) fn root_queryable_attrs(self, begins_at_seeds: bool) -> Value {
        let id = |key: &Keyword| self.registry.id(key);
        let seeds: Vec<_> = self.attributes().filter(|(_, attribute)| attribute.is_seed).collect();
        let given: Vec<_> = seeds.iter().filter_map(|(key, _)| id(key)).collect();
        let is_given = |id: AttrId| given.contains(&id);
        let is_known = |id: AttrId| begins_at_seeds && is_given(id);
        let leads = |operation: &Operation<W>| {
            // One step is enough: a reader needs only the key of its entity, and never the value of another reader.
            operation.input.is_none_or(|input| !input.is_required || is_known(input.attr))
        };
        let is_reached = |key: &Keyword| {
            // What the caller gives is not something that the graph leads to.
            let provider = id(key).filter(|id| !is_given(*id)).and_then(|id| self.registry.provider(id));
            provider.is_some_and(|number| leads(&self.registry.operations()[number]))
        };
        let needs_nothing = |attribute: &Attribute| {
            let mut params = attribute.params.iter().flat_map(|group| group.params);
            !params.any(|param| param.is_required)
        };
        let reached =
            self.attributes().filter(|(key, attribute)| is_reached(key) && needs_nothing(attribute));
        Value::vector(reached.map(|(key, _)| Value::Keyword(key.clone())).collect::<Vec<_>>())
    }

    /// Returns every resolver with inputs and outputs, sorted by name.
    pub(crate) fn resolver_index(self) -> Value {
        let entries: BTreeMap<&Symbol, Value> = self
            .operations()
            .map(|operation| (&operation.name, self.resolver_map(operation).into()))
            .collect();
        Value::vector(entries.into_values().collect::<Vec<_>>())
    }

    /// Returns the inputs and outputs of a resolver by its number; nil if there is no such resolver.
    fn resolver(self, number: u64) -> (Value, Value) {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        match self.registry.operations().get(number).filter(|operation| self.shows(operation)) {
            Some(operation) => (self.input(operation), self.output(operation)),
            None => (Value::Nil, Value::Nil),
        }
    }

    /// Returns the number of the resolver with this name. An unknown name gets a number beyond all, because psi answers
    /// nil for it and not with an error.
    fn resolver_number(self, name: &Value) -> u64 {
        let is_it = |operation: &Operation<W>| name.as_symbol() == Some(&operation.name);
        self.registry.operations().iter().position(is_it).map_or(u64::MAX, |at| at as u64)
    }

    /// Returns every attribute with the resolver that provides it, sorted.
    pub(crate) fn attr_index(self) -> Value {
        let mut index = Map::new();
        for (key, _) in self.attributes() {
            let provider = self.registry.id(key).and_then(|id| self.registry.provider(id));
            let produced_by = provider.map(|number| self.registry.operations()[number].name.clone());
            let entry = Map::new().with("psi.attr/produced-by", symbols(produced_by));
            // psi lists here the joins below which an attribute comes without its resolver. Here only keys do.
            let entry = entry.with("psi.attr/reachable-via", Map::new());
            index.insert(Value::Keyword(key.clone()), entry.into());
        }
        Value::Map(index)
    }

    /// Returns the operations that the viewer may see.
    pub(super) fn operations(self) -> impl Iterator<Item = &'r Operation<W>> {
        self.registry.operations().iter().filter(move |operation| self.shows(operation))
    }

    /// Returns whether the viewer may see any output of an operation. If not, even its name is hidden.
    fn shows(self, operation: &Operation<W>) -> bool {
        operation.outputs.iter().any(|attr| self.registry.is_visible(*attr, self.viewer))
    }

    /// Returns the names of the mutations that the viewer may call, sorted.
    pub(super) fn mutations(self) -> impl Iterator<Item = &'r Symbol> {
        let is_open = move |name: &&Symbol| self.registry.mutation(name, self.viewer).is_some();
        self.registry.mutations.keys().filter(is_open)
    }

    /// Returns the attributes that the viewer may see, sorted by ident.
    pub(super) fn attributes(self) -> impl Iterator<Item = (&'r Keyword, &'r Attribute)> {
        let entry =
            move |(key, id): (&'r Keyword, &AttrId)| Some((key, &self.registry.entry(*id)?.attribute));
        let is_seen = move |(_, attribute): &(&Keyword, &Attribute)| is_visible(attribute, self.viewer);
        self.registry.names.iter().filter_map(entry).filter(is_seen)
    }

    /// Returns the required input as a query vector. An optional input is left out: the operation works without it.
    pub(super) fn input(self, operation: &Operation<W>) -> Value {
        self.shape(operation.input.filter(|input| input.is_required).map(|input| input.attr))
    }

    /// Returns the outputs as a query vector.
    pub(super) fn output(self, operation: &Operation<W>) -> Value {
        self.shape(operation.outputs.iter().copied())
    }

    /// Returns those of the attributes that the viewer may see, as a query vector.
    pub(super) fn shape(self, attrs: impl IntoIterator<Item = AttrId>) -> Value {
        let visible = attrs.into_iter().filter(|attr| self.registry.is_visible(*attr, self.viewer));
        Value::vector(visible.filter_map(|attr| self.registry.key(attr).cloned()).collect::<Vec<_>>())
    }

    fn resolver_map(self, operation: &Operation<W>) -> Map {
        let map = Map::new().with("psi.resolver/sym", operation.name.clone());
        map.with("psi.resolver/input", self.input(operation))
            .with("psi.resolver/output", self.output(operation))
    }
}

impl<W: Introspected> Graph<'_, W> {
    /// Declares the root attributes of `:psi.graph/*` and Pathom's index.
    pub fn entity() -> Entity<W, ()> {
        Entity::root("graph")
            .doc("The graph itself: the attributes, resolvers and mutations that the caller may use.")
            .reads(
                count("psi.graph/resolver-count").doc("The number of resolvers that the caller may see."),
                |view, (), _| Ok(Datum::Value(length(&W::graph(view).resolver_syms()))),
            )
            .reads(
                count("psi.graph/mutation-count").doc("The number of mutations that the caller may call."),
                |view, (), _| Ok(Datum::Value(length(&W::graph(view).mutation_syms()))),
            )
            .reads(
                symbols_attr("psi.graph/resolver-syms").doc("The resolvers that the caller may see, sorted."),
                |view, (), _| Ok(Datum::Value(W::graph(view).resolver_syms())),
            )
            .reads(
                symbols_attr("psi.graph/mutation-syms").doc("The mutations open to the caller, sorted."),
                |view, (), _| Ok(Datum::Value(W::graph(view).mutation_syms())),
            )
            .reads(
                open("psi.graph/env-built", Type::Boolean)
                    .doc("Whether the graph is ready. Always true: it is built before the first query."),
                |_, (), _| Ok(Datum::Bool(true)),
            )
            .reads(
                maps("psi.graph/nodes").doc("The nodes of the capability graph: operations and domains."),
                |view, (), _| Ok(Datum::Value(W::graph(view).nodes())),
            )
            .reads(
                maps("psi.graph/edges").doc("The edges of the capability graph, operation to domain."),
                |view, (), _| Ok(Datum::Value(W::graph(view).edges())),
            )
            .reads(
                maps("psi.graph/capabilities").doc("The non-empty domains, each with its operations."),
                |view, (), _| Ok(Datum::Value(W::graph(view).capabilities())),
            )
            .reads(
                maps("psi.graph/domain-coverage").doc("All domains, each with its number of operations."),
                |view, (), _| Ok(Datum::Value(W::graph(view).domain_coverage())),
            )
            .reads(
                keywords("psi.graph/root-seeds").doc("The attributes that a caller may provide as input."),
                |view, (), _| Ok(Datum::Value(W::graph(view).root_seeds())),
            )
            .reads(
                keywords("psi.graph/root-queryable-attrs")
                    .doc("The attributes that the caller can query at the root without an entity, sorted."),
                |view, (), _| Ok(Datum::Value(W::graph(view).root_queryable_attrs(W::begins_at_seeds(view)))),
            )
            .reads(
                maps("psi.graph/resolver-index").doc("The resolvers with inputs and outputs, by name."),
                |view, (), _| Ok(Datum::Value(W::graph(view).resolver_index())),
            )
            .reads(
                open("psi.graph/attr-index", Type::Map).doc("The resolver that provides each attribute."),
                |view, (), _| Ok(Datum::Value(W::graph(view).attr_index())),
            )
            .reads(
                open("psi.graph/attributes", Type::Reference("attribute")).params(OF_ATTRIBUTES).many().doc(
                    "The attributes that the caller may see, by ident. The parameter entity filters them.",
                ),
                |view, (), params| Ok(Datum::Entities(W::graph(view).attribute_numbers(params)?)),
            )
            .reads(
                open("com.wsscode.pathom3.connect.indexes/indexes", Type::Map)
                    .doc("The index that a Pathom client reads to connect this graph as a foreign one."),
                |view, (), _| Ok(Datum::Value(W::graph(view).pathom_indexes())),
            )
    }

    /// Declares the entity of resolvers, whose key is the name.
    pub fn resolver_entity() -> Entity<W, u64> {
        Entity::new("resolver", "psi.resolver/sym", |view, name| Some(W::graph(view).resolver_number(name)))
            .doc("A resolver, which reads the attributes of one entity.")
            .attribute(open("psi.resolver/sym", Type::Symbol).doc("The name of the resolver."))
            .reads(
                open("psi.resolver/input", Type::Any)
                    .nullable()
                    .doc("The attributes that it requires, as a query. Nil if there is no such resolver."),
                |view, number, _| Ok(Datum::Value(W::graph(view).resolver(number).0)),
            )
            .reads(
                open("psi.resolver/output", Type::Any)
                    .nullable()
                    .doc("The attributes that it provides, as a query. Nil if there is no such resolver."),
                |view, number, _| Ok(Datum::Value(W::graph(view).resolver(number).1)),
            )
    }
}

/// The parameters of a list of attributes.
const OF_ATTRIBUTES: ParamGroups = &[&ParamGroup {
    doc: "A filter on attributes.",
    folded: None,
    params: &[Param {
        name: "entity",
        alias: None,
        doc: "Only attributes of the entity with this name.",
        kind: ParamType::Text,
        is_required: false,
        is_nullable: true,
    }],
}];

fn open(ident: &'static str, kind: Type) -> Attribute {
    Attribute::new(ident, kind).visible_to(Visibility::Everyone)
}

fn count(ident: &'static str) -> Attribute {
    open(ident, Type::Integer).unit("operations")
}

fn symbols_attr(ident: &'static str) -> Attribute {
    open(ident, Type::Symbol).many()
}

fn keywords(ident: &'static str) -> Attribute {
    open(ident, Type::Keyword).many()
}

fn maps(ident: &'static str) -> Attribute {
    open(ident, Type::Map).many()
}

fn is_visible(attribute: &Attribute, viewer: Viewer) -> bool {
    attribute.visibility.is_some_and(|visibility| visibility.admits(viewer))
}

fn length(items: &Value) -> Value {
    let count = items.as_items().map_or(0, <[Value]>::len);
    i64::try_from(count).unwrap_or(i64::MAX).into()
}

fn symbols(names: impl IntoIterator<Item = Symbol>) -> Value {
    Value::vector(names.into_iter().map(Value::Symbol).collect::<Vec<_>>())
}
