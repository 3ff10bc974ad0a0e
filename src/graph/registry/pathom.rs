//! The registry as Pathom 3's own index, so that a Pathom client can connect this graph as a foreign one.
//!
//! Invariant: every operation is in all indexes or in none. Source: `com.wsscode.pathom3.connect.indexes` and
//! `…connect.foreign`. Operations are given as configuration, from which a client makes its resolvers.

use std::collections::{BTreeMap, BTreeSet};

use super::{AttrId, Graph, Operation, Param, Record, World};
use crate::edn::{Keyword, Map, Set, Symbol, Value};

/// Pathom's `index-oir`: attribute → shape of the input → resolvers.
type Oir = BTreeMap<Value, BTreeMap<Value, BTreeSet<Value>>>;

impl<W: World> Graph<'_, W> {
    /// Returns what `:com.wsscode.pathom3.connect.indexes/indexes` holds.
    pub(crate) fn pathom_indexes(self) -> Value {
        let mut resolvers = Map::new();
        let (mut oir, mut io): (Oir, BTreeMap<Value, Map>) = (BTreeMap::new(), BTreeMap::new());
        let mut attributes = Attributes::default();
        for operation in self.operations() {
            let name = Value::Symbol(operation.name.clone());
            let (requires, provides) = (self.requires(operation, true), self.provides(operation));
            let inputs = Value::set(requires.keys().cloned());
            // A key that the operation requires is no way to obtain that key. Optional inputs do not select a resolver, so
            // only required ones are part of the shape.
            for attr in provides.keys().filter(|attr| !requires.contains_key(attr)) {
                let by_input = oir.entry(attr.clone()).or_default();
                by_input.entry(requires.clone().into()).or_default().insert(name.clone());
            }
            io.entry(inputs.clone()).or_default().extend(provides.clone());
            attributes.add(&name, &inputs, &provides);
            resolvers.insert(name, self.config(operation, requires, provides));
        }
        let mut indexes = Map::new();
        indexes.insert(index("index-resolvers"), resolvers.into());
        indexes.insert(index("index-mutations"), self.mutation_configs(&mut attributes));
        indexes.insert(index("index-oir"), Value::Map(oir.into_iter().map(by_input).collect()));
        let io = io.into_iter().map(|(input, shape)| (input, Value::Map(shape)));
        indexes.insert(index("index-io"), Value::Map(io.collect()));
        indexes.insert(index("index-attributes"), attributes.into_value());
        Value::Map(indexes)
    }

    /// Returns the configuration of a resolver.
    fn config(self, operation: &Operation<W>, requires: Map, provides: Map) -> Value {
        let optionals = self.requires(operation, false);
        let mut config = Map::new();
        config.insert(option("op-name"), operation.name.clone().into());
        config.insert(option("input"), self.input(operation));
        config.insert(option("output"), self.with_fields(&self.output(operation)));
        config.insert(option("requires"), requires.into());
        config.insert(option("optionals"), optionals.into());
        config.insert(option("provides"), provides.into());
        // One call serves all rows of a level, so a client need not ask once per entity.
        config.insert(option("batch?"), true.into());
        Value::Map(config)
    }

    /// Returns the configurations of the mutations, and notes in `attributes` what they take and answer.
    fn mutation_configs(self, attributes: &mut Attributes) -> Value {
        let mut configs = Map::new();
        for name in self.mutations() {
            let Some(mutation) = self.registry.mutation(name, self.viewer) else {
                continue;
            };
            // Parameters are listed like attributes, under the bare names by which a call gives them.
            for param in mutation.declared.params.iter().flat_map(|group| group.params) {
                attributes.note(&Value::keyword(param.name), "attr-mutation-param-in", name);
            }
            let params = shape_of(mutation.declared.params.iter().flat_map(|group| group.params));
            let mut config = Map::new();
            config.insert(option("op-name"), name.clone().into());
            config.insert(option("params"), params.into());
            config.insert(option("output"), self.shape(mutation.outputs.iter().copied()));
            for attr in &mutation.outputs {
                if let Some(key) = self.registry.key(*attr) {
                    attributes.note(key, "attr-mutation-output-in", name);
                }
            }
            configs.insert(name.clone().into(), config.into());
        }
        Value::Map(configs)
    }

    /// Returns the shape of the input that an operation requires, or of the one that it accepts as an option.
    fn requires(self, operation: &Operation<W>, is_required: bool) -> Map {
        let input = operation.input.filter(|input| input.is_required == is_required);
        input.and_then(|input| self.shape_entry(input.attr)).into_iter().collect()
    }

    /// Returns the shape of the outputs that the viewer may see.
    fn provides(self, operation: &Operation<W>) -> Map {
        let is_visible = |attr| self.registry.is_visible(attr, self.viewer);
        let outputs = operation.outputs.iter().filter(|attr| is_visible(**attr));
        outputs.filter_map(|attr| self.shape_entry(*attr)).collect()
    }

    /// Returns an attribute with the shape of its value; a scalar has an empty shape.
    fn shape_entry(self, attr: AttrId) -> Option<(Value, Value)> {
        let key = self.registry.key(attr)?.clone();
        let shape = self.record(attr).map_or_else(Map::new, shape_below);
        // A reference is answered with the key of its entity. All other attributes below it take a call of their own.
        let shape = match self.registry.refers_to(attr).and_then(|id| self.registry.key(id)) {
            Some(below) if shape.is_empty() => [(below.clone(), Map::new().into())].into_iter().collect(),
            Some(_) | None => shape,
        };
        Some((key, shape.into()))
    }
}

impl<W: World> Graph<'_, W> {
    /// Returns an output in which each record is a join of its fields.
    fn with_fields(self, output: &Value) -> Value {
        let items = output.as_items().unwrap_or_default().iter().map(|item| {
            let attr = item.as_keyword().and_then(|ident| self.registry.id(ident));
            let record = attr.and_then(|attr| self.record(attr));
            record.map_or_else(|| item.clone(), |record| join(item.clone(), record))
        });
        Value::vector(items.collect::<Vec<_>>())
    }

    fn record(self, attr: AttrId) -> Option<&'static Record> {
        self.registry.entry(attr)?.attribute.kind.record()
    }
}

/// Pathom's `index-attributes`: for each attribute, where it is used.
#[derive(Default)]
struct Attributes(BTreeMap<Value, Map>);

impl Attributes {
    fn add(&mut self, name: &Value, inputs: &Value, provides: &Map) {
        let by = Value::set([name.clone()]);
        // Pathom lists what a single input leads to under the attribute, and what several lead to under their set.
        let single = inputs.as_set().filter(|set| set.len() == 1).and_then(|set| set.iter().next());
        let from = single.unwrap_or(inputs).clone();
        let provided: Map = provides.keys().map(|attr| (attr.clone(), by.clone())).collect();
        self.merge(&from, "attr-provides", provided.into());
        self.merge(&from, "attr-input-in", by.clone());
        for attr in provides.keys() {
            let via: Map = [(inputs.clone(), by.clone())].into_iter().collect();
            self.merge(attr, "attr-reach-via", via.into());
            self.merge(attr, "attr-output-in", by.clone());
        }
        // The attributes of a set are listed too, each with the combination in which it is useful.
        for attr in inputs.as_set().into_iter().filter(|set| set.len() > 1).flat_map(Set::iter) {
            self.merge(attr, "attr-combinations", Value::set([inputs.clone()]));
            self.merge(attr, "attr-input-in", by.clone());
        }
    }

    /// Adds an operation to one part of an attribute's entry.
    fn note(&mut self, attr: &Value, part: &str, name: &Symbol) {
        self.merge(attr, part, Value::set([Value::Symbol(name.clone())]));
    }

    /// Merges a value into one part of an attribute's entry, and creates the entry if needed.
    fn merge(&mut self, attr: &Value, part: &str, value: Value) {
        let entry = self.0.entry(attr.clone()).or_default();
        entry.insert(index("attr-id"), attr.clone());
        let merged = match entry.get(&index(part)) {
            Some(earlier) => grow(earlier, value),
            None => value,
        };
        entry.insert(index(part), merged);
    }

    fn into_value(self) -> Value {
        Value::Map(self.0.into_iter().map(|(attr, parts)| (attr, parts.into())).collect())
    }
}

/// Merges like Pathom's `merge-grow`: sets are united, maps are merged entry by entry, and other values are replaced.
fn grow(earlier: &Value, value: Value) -> Value {
    match (earlier, value) {
        (Value::Set(earlier), Value::Set(value)) => Value::set(earlier.iter().cloned().chain(value)),
        (Value::Map(earlier), Value::Map(value)) => {
            let mut map = earlier.clone();
            for (key, value) in value {
                let merged = match map.get(&key) {
                    Some(earlier) => grow(earlier, value),
                    None => value,
                };
                map.insert(key, merged);
            }
            Value::Map(map)
        }
        // Parts of different kinds cannot be merged. As in Pathom, the later one wins.
        (_, value) => value,
    }
}

/// Returns parameters in the form of a query: a map with parameters of its own is a join.
fn shape_of<'p>(params: impl Iterator<Item = &'p Param>) -> Vec<Value> {
    let shown = params.map(|param| {
        let key = Value::keyword(param.name);
        match param.kind.record() {
            Some(record) => join(key, record),
            None => key,
        }
    });
    shown.collect()
}

/// Returns a record as a join of its fields.
fn join(key: Value, record: &Record) -> Value {
    let join: Map = [(key, shape_of(record.params.iter()).into())].into_iter().collect();
    join.into()
}

/// Returns the fields of a record as a shape.
fn shape_below(record: &Record) -> Map {
    let below = |param: &Param| param.kind.record().map_or_else(Map::new, shape_below);
    let fields = record.params.iter().map(|param| (Value::keyword(param.name), below(param).into()));
    fields.collect()
}

fn by_input((attr, inputs): (Value, BTreeMap<Value, BTreeSet<Value>>)) -> (Value, Value) {
    let inputs = inputs.into_iter().map(|(input, names)| (input, Value::set(names)));
    (attr, Value::Map(inputs.collect()))
}

fn index(name: &str) -> Value {
    keyword("com.wsscode.pathom3.connect.indexes", name)
}

fn option(name: &str) -> Value {
    keyword("com.wsscode.pathom3.connect.operation", name)
}

fn keyword(namespace: &str, name: &str) -> Value {
    Keyword::new(&format!("{namespace}/{name}")).map_or(Value::Nil, Value::Keyword)
}
