//! The registry, asked about itself.
//!
//! Lives here: the data of psi's `:psi.graph/*` attributes, and the entities that declare them. Does not
//! live here: Pathom's own index, see `pathom.rs`.
//!
//! Invariant: these are walks over the registry, filtered by what the viewer may see; nothing is listed
//! anywhere a second time. Source: `spec/psi.md` §6, introspection.

use std::collections::BTreeMap;

use super::attribute_meta::OF_ATTRIBUTES;
use super::{AttrId, Attribute, Datum, Entity, Operation, Registry, Type, ViewOf, Viewer, Visibility, World};
use crate::edn::{Keyword, Map, Symbol, Value};

/// A world whose view knows the registry that it is asked through.
pub trait Introspected: World + Sized {
    /// Returns the registry, and who asks.
    fn graph(view: ViewOf<'_, Self>) -> Graph<'_, Self>;
}

/// A registry as one viewer sees it.
pub struct Graph<'r, W: World> {
    /// What is asked about.
    pub registry: &'r Registry<W>,
    /// Who asks.
    pub viewer: Viewer,
}

impl<W: World> Clone for Graph<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: World> Copy for Graph<'_, W> {}

impl<'r, W: World> Graph<'r, W> {
    /// The names of all resolvers, sorted.
    pub(crate) fn resolver_syms(self) -> Value {
        let mut names: Vec<_> = self.operations().map(|operation| operation.name.clone()).collect();
        names.sort();
        symbols(names)
    }

    /// The names of the mutations that the viewer may call, sorted.
    pub(crate) fn mutation_syms(self) -> Value {
        symbols(self.mutations().cloned())
    }

    /// What callers give to begin with.
    pub(crate) fn root_seeds(self) -> Value {
        let seeds = self.attributes().filter(|(_, attribute)| attribute.is_seed);
        Value::vector(seeds.map(|(key, _)| Value::Keyword(key.clone())).collect::<Vec<_>>())
    }

    /// What can be asked without naming an entity, sorted: what the seeds lead to, without the seeds.
    pub(crate) fn root_queryable_attrs(self) -> Value {
        let id = |key: &Keyword| self.registry.id(key);
        let seeds: Vec<_> = self.attributes().filter(|(_, attribute)| attribute.is_seed).collect();
        let known: Vec<_> = seeds.iter().filter_map(|(key, _)| id(key)).collect();
        let is_known = |id: AttrId| known.contains(&id);
        let leads = |operation: &Operation<W>| {
            operation.input.is_none_or(|input| !input.is_required || is_known(input.attr))
        };
        let is_reached = |key: &Keyword| {
            let provider = id(key).filter(|id| !is_known(*id)).and_then(|id| self.registry.provider(id));
            provider.is_some_and(|number| leads(&self.registry.operations()[number]))
        };
        let reached = self.attributes().filter(|(key, _)| is_reached(key));
        Value::vector(reached.map(|(key, _)| Value::Keyword(key.clone())).collect::<Vec<_>>())
    }

    /// Every resolver with inputs and outputs, sorted by name.
    pub(crate) fn resolver_index(self) -> Value {
        let entries: BTreeMap<&Symbol, Value> = self
            .operations()
            .map(|operation| (&operation.name, self.resolver_map(operation).into()))
            .collect();
        Value::vector(entries.into_values().collect::<Vec<_>>())
    }

    /// One resolver's inputs and outputs, by its number; nil where there is none.
    fn resolver(self, number: u64) -> (Value, Value) {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        match self.registry.operations().get(number).filter(|operation| self.shows(operation)) {
            Some(operation) => (self.input(operation), self.output(operation)),
            None => (Value::Nil, Value::Nil),
        }
    }

    /// The number of the resolver of this name; one beyond all where there is none.
    fn resolver_number(self, name: &Value) -> u64 {
        let is_it = |operation: &Operation<W>| name.as_symbol() == Some(&operation.name);
        self.registry.operations().iter().position(is_it).map_or(u64::MAX, |at| at as u64)
    }

    /// Every attribute with the resolvers that produce it, directly and under which joins, sorted.
    pub(crate) fn attr_index(self) -> Value {
        let mut index = Map::new();
        for (key, _) in self.attributes() {
            let provider = self.registry.id(key).and_then(|id| self.registry.provider(id));
            let produced_by = provider.map(|number| self.registry.operations()[number].name.clone());
            let entry = Map::new().with("psi.attr/produced-by", symbols(produced_by));
            // Nothing is promised of entities below a join but their keys.
            let entry = entry.with("psi.attr/reachable-via", Map::new());
            index.insert(Value::Keyword(key.clone()), entry.into());
        }
        Value::Map(index)
    }

    pub(super) fn operations(self) -> impl Iterator<Item = &'r Operation<W>> {
        self.registry.operations().iter().filter(move |operation| self.shows(operation))
    }

    /// Whether the viewer may see anything that an operation provides.
    fn shows(self, operation: &Operation<W>) -> bool {
        operation.outputs.iter().any(|attr| self.registry.is_visible(*attr, self.viewer))
    }

    pub(super) fn mutations(self) -> impl Iterator<Item = &'r Symbol> {
        let is_open = move |name: &&Symbol| self.registry.mutation(name, self.viewer).is_some();
        self.registry.mutations.keys().filter(is_open)
    }

    /// The attributes that the viewer may see, sorted by ident.
    pub(super) fn attributes(self) -> impl Iterator<Item = (&'r Keyword, &'r Attribute)> {
        let entry =
            move |(key, id): (&'r Keyword, &AttrId)| Some((key, &self.registry.entry(*id)?.attribute));
        let is_seen = move |(_, attribute): &(&Keyword, &Attribute)| is_visible(attribute, self.viewer);
        self.registry.names.iter().filter_map(entry).filter(is_seen)
    }

    /// The input as a query vector.
    pub(super) fn input(self, operation: &Operation<W>) -> Value {
        self.shape(operation.input.filter(|input| input.is_required).map(|input| input.attr))
    }

    /// Outputs as a query vector.
    pub(super) fn output(self, operation: &Operation<W>) -> Value {
        self.shape(operation.outputs.iter().copied())
    }

    /// The attributes that the viewer may see, as a query vector.
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
    /// The root attributes of `:psi.graph/*` and Pathom's index, to be added to a registry.
    pub fn entity() -> Entity<W, ()> {
        Entity::root("graph")
            .doc("What can be asked at all.")
            .reads(count("psi.graph/resolver-count"), |view, (), _| {
                Ok(Datum::Value(length(&W::graph(view).resolver_syms())))
            })
            .reads(count("psi.graph/mutation-count"), |view, (), _| {
                Ok(Datum::Value(length(&W::graph(view).mutation_syms())))
            })
            .reads(symbols_attr("psi.graph/resolver-syms"), |view, (), _| {
                Ok(Datum::Value(W::graph(view).resolver_syms()))
            })
            .reads(symbols_attr("psi.graph/mutation-syms"), |view, (), _| {
                Ok(Datum::Value(W::graph(view).mutation_syms()))
            })
            .reads(
                open("psi.graph/env-built", Type::Boolean)
                    .doc("Whether the registry is there; it always is."),
                |_, (), _| Ok(Datum::Bool(true)),
            )
            .reads(maps("psi.graph/nodes"), |view, (), _| Ok(Datum::Value(W::graph(view).nodes())))
            .reads(maps("psi.graph/edges"), |view, (), _| Ok(Datum::Value(W::graph(view).edges())))
            .reads(maps("psi.graph/capabilities"), |view, (), _| {
                Ok(Datum::Value(W::graph(view).capabilities()))
            })
            .reads(maps("psi.graph/domain-coverage"), |view, (), _| {
                Ok(Datum::Value(W::graph(view).domain_coverage()))
            })
            .reads(keywords("psi.graph/root-seeds"), |view, (), _| {
                Ok(Datum::Value(W::graph(view).root_seeds()))
            })
            .reads(keywords("psi.graph/root-queryable-attrs"), |view, (), _| {
                Ok(Datum::Value(W::graph(view).root_queryable_attrs()))
            })
            .reads(maps("psi.graph/resolver-index"), |view, (), _| {
                Ok(Datum::Value(W::graph(view).resolver_index()))
            })
            .reads(
                open("psi.graph/attr-index", Type::Map).doc("Each attribute with what produces it."),
                |view, (), _| Ok(Datum::Value(W::graph(view).attr_index())),
            )
            .reads(
                open("psi.graph/attributes", Type::Reference("attribute")).params(OF_ATTRIBUTES).many().doc(
                    "Every attribute there is for the caller, by ident. Parameter: entity, for those of one.",
                ),
                |view, (), params| Ok(Datum::Entities(W::graph(view).attribute_numbers(params)?)),
            )
            .reads(
                open("com.wsscode.pathom3.connect.indexes/indexes", Type::Map)
                    .doc("What a Pathom asks for that joins this graph as a foreign one."),
                |view, (), _| Ok(Datum::Value(W::graph(view).pathom_indexes())),
            )
    }

    /// The entity of one resolver, by its name.
    pub fn resolver_entity() -> Entity<W, u64> {
        Entity::new("resolver", "psi.resolver/sym", |view, name| Some(W::graph(view).resolver_number(name)))
            .doc("One way to come by attributes.")
            .attribute(open("psi.resolver/sym", Type::Symbol).doc("The resolver's name."))
            .reads(
                open("psi.resolver/input", Type::Any).nullable().doc("What it needs, as a query."),
                |view, number, _| Ok(Datum::Value(W::graph(view).resolver(number).0)),
            )
            .reads(
                open("psi.resolver/output", Type::Any).nullable().doc("What it provides, as a query."),
                |view, number, _| Ok(Datum::Value(W::graph(view).resolver(number).1)),
            )
    }
}

fn open(ident: &'static str, kind: Type) -> Attribute {
    Attribute::new(ident, kind).visible_to(Visibility::Everyone)
}

fn count(ident: &'static str) -> Attribute {
    open(ident, Type::Integer).unit("operations").doc("How many there are.")
}

fn symbols_attr(ident: &'static str) -> Attribute {
    open(ident, Type::Symbol).many().doc("Their names, sorted.")
}

fn keywords(ident: &'static str) -> Attribute {
    open(ident, Type::Keyword).many().doc("Attributes or entities, as keywords.")
}

fn maps(ident: &'static str) -> Attribute {
    open(ident, Type::Map).many().doc("The graph as data: its operations, and what they are about.")
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
