//! From declarations to a registry: the checks, and the numbers.
//!
//! Invariant: a registry comes out only when there is no fault at all; every fault of the set is listed.

use std::collections::BTreeMap;

use super::builder::Row;
use super::mutation::Held;
use super::resolver::Call;
use super::table::{Entry, index};
use super::{
    AttrId, Builder, EntityInfo, Fault, Input, Mutation, Operation, Registry, Resolver, Run, Type, World,
};
use crate::edn::{Caps, Keyword, Symbol, Value, read_keeping_meta};
use crate::graph::eql::{Expr, Key, Query, Target, parse};

impl<W: World> Builder<W> {
    /// Checks the declarations and numbers them.
    ///
    /// # Errors
    ///
    /// Every fault there is, sorted.
    pub fn build(self) -> Result<Registry<W>, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut registry = Registry {
            attributes: Vec::new(),
            names: BTreeMap::new(),
            rows: vec![None; self.entities.len()],
            entities: self.entities,
            operations: Vec::new(),
            mutations: BTreeMap::new(),
            providers: Vec::new(),
        };
        for (attribute, entity) in self.attributes {
            let entry = Entry { key: Value::Nil, refers_to: None, entity, attribute };
            registry.declare(entry, &mut faults);
        }
        registry.refer(&mut faults);
        registry.check_entities(&mut faults);
        for row in self.rows {
            registry.add_row(row, &mut faults);
        }
        for resolver in self.resolvers {
            registry.add_resolver(&resolver, &mut faults);
        }
        for mutation in self.mutations {
            registry.add_mutation(mutation, &mut faults);
        }
        registry.check_operations(&mut faults);
        faults.sort();
        faults.dedup();
        if faults.is_empty() { Ok(registry) } else { Err(faults) }
    }
}

impl<W: World> Registry<W> {
    fn declare(&mut self, mut entry: Entry, faults: &mut Vec<Fault>) {
        let ident = entry.attribute.ident;
        let Ok(keyword) = Keyword::new(ident) else {
            return faults.push(Fault::Name(ident.to_owned()));
        };
        if entry.attribute.visibility.is_none() {
            faults.push(Fault::NoVisibility(keyword.to_string()));
        }
        if entry.attribute.doc.is_empty() {
            faults.push(Fault::NoDoc(keyword.to_string()));
        }
        if let Type::Enum(values) = entry.attribute.kind
            && (values.is_empty() || values.iter().any(|value| Keyword::new(value).is_err()))
        {
            faults.push(Fault::EnumValues(keyword.to_string()));
        }
        entry.key = Value::Keyword(keyword.clone());
        let id = AttrId(u32::try_from(self.attributes.len()).unwrap_or(u32::MAX));
        self.attributes.push(entry);
        self.providers.push(Vec::new());
        if let Some(earlier) = self.names.insert(keyword, id) {
            faults.push(Fault::Duplicate(self.attributes[index(earlier)].key.to_string()));
        }
    }

    /// Finds the keys of the entities that attributes refer to.
    fn refer(&mut self, faults: &mut Vec<Fault>) {
        let (entities, names) = (&self.entities, &self.names);
        for entry in &mut self.attributes {
            let Type::Reference(name) = entry.attribute.kind else {
                continue;
            };
            let key = entities.iter().find(|entity| entity.name == name).and_then(|entity| entity.key);
            entry.refers_to = key.and_then(|key| names.get(&Keyword::new(key).ok()?).copied());
            if entry.refers_to.is_none() {
                let (ident, entity) = (entry.key.to_string(), name.to_owned());
                faults.push(Fault::DanglingReference { ident, entity });
            }
        }
    }

    fn check_entities(&self, faults: &mut Vec<Fault>) {
        for (place, EntityInfo { name, key, whole, doc }) in self.entities.iter().enumerate() {
            if self.entities[..place].iter().any(|earlier| earlier.name == *name) {
                faults.push(Fault::Duplicate((*name).to_owned()));
            }
            if doc.is_empty() {
                faults.push(Fault::NoDoc((*name).to_owned()));
            }
            let is_undeclared = |key: &&str| self.attribute(key).is_none();
            for key in key.iter().chain(*whole).filter(|key| is_undeclared(key)) {
                let (ident, by) = (format!(":{key}"), (*name).to_owned());
                faults.push(Fault::UndeclaredAttribute { ident, by });
            }
        }
    }

    fn add_row(&mut self, row: Row<W>, faults: &mut Vec<Fault>) {
        let EntityInfo { name, key, .. } = self.entities[row.entity].clone();
        let id = |ident: &&'static str| self.names.get(&Keyword::new(ident).ok()?).copied();
        let key = key.as_ref().and_then(id);
        let within = row.within.and_then(|ident| {
            let found = id(&ident);
            if found.is_none() {
                let (ident, by) = (format!(":{ident}"), name.to_owned());
                faults.push(Fault::UndeclaredAttribute { ident, by });
            }
            found
        });
        let input = |is_required| move |attr| Input { attr, is_required, nested: None };
        let inputs = key.map(input(true)).or(within.map(input(false)));
        // A reader whose ident is no name would shift the numbers of those behind it.
        let outputs: Option<Vec<_>> = row.idents.iter().map(|ident| Some((id(ident)?, None))).collect();
        let run = Run::Row(row.readers);
        if let (Some(name), Some(outputs)) = (symbol(&format!("read/{name}"), faults), outputs) {
            self.rows[row.entity] = Some(self.operations.len());
            self.operations.push(Operation { name, inputs: inputs.into_iter().collect(), outputs, run });
        }
    }

    fn add_resolver(&mut self, resolver: &Resolver<W>, faults: &mut Vec<Fault>) {
        let Some(name) = symbol(resolver.name, faults) else {
            return;
        };
        if self.operations.iter().any(|operation| operation.name == name) {
            faults.push(Fault::Duplicate(name.to_string()));
        }
        let mut shape = |text| self.shape(&name, text, faults);
        let input = |is_required| move |(attr, nested)| Input { attr, is_required, nested };
        let mut inputs: Vec<Input> = shape(resolver.input).into_iter().map(input(true)).collect();
        inputs.extend(shape(resolver.optional).into_iter().map(input(false)));
        let outputs = shape(resolver.output);
        let run = match resolver.call {
            Call::One(one) => Run::One(one),
            Call::Batch(batch) => Run::Batch(batch),
        };
        self.operations.push(Operation { name, inputs, outputs, run });
    }

    fn add_mutation(&mut self, mutation: Mutation<W>, faults: &mut Vec<Fault>) {
        let Some(name) = symbol(mutation.name, faults) else {
            return;
        };
        let outputs = self.shape(&name, mutation.output, faults);
        if mutation.visibility.is_none() {
            faults.push(Fault::NoVisibility(name.to_string()));
        }
        if mutation.doc.is_empty() {
            faults.push(Fault::NoDoc(name.to_string()));
        }
        if self.mutations.insert(name.clone(), Held { declared: mutation, outputs }).is_some() {
            faults.push(Fault::Duplicate(name.to_string()));
        }
    }

    /// Reads an input or output and finds the numbers of its attributes.
    fn shape(&self, by: &Symbol, text: &str, faults: &mut Vec<Fault>) -> Vec<(AttrId, Option<Query>)> {
        let form = read_keeping_meta(text.as_bytes(), &SHAPE_CAPS).map_err(|error| error.to_string());
        match form.and_then(|form| parse(&form).map_err(|error| error.to_string())) {
            Ok(query) => self.shape_attrs(by, query, faults),
            Err(error) => {
                faults.push(Fault::Shape { by: by.to_string(), error });
                Vec::new()
            }
        }
    }

    fn shape_attrs(
        &self,
        by: &Symbol,
        query: Query,
        faults: &mut Vec<Fault>,
    ) -> Vec<(AttrId, Option<Query>)> {
        let mut attrs = Vec::new();
        for expr in query.exprs {
            let (key, nested) = match expr {
                Expr::Prop(prop) => (prop.key, None),
                Expr::Join(join) => match join.target {
                    Target::Query(query) => (join.key, Some(query)),
                    Target::Union(entries) => (join.key, Some(merged(entries))),
                    Target::Depth(_) | Target::Unbounded => (join.key, None),
                },
                Expr::Wildcard | Expr::Call(_) => {
                    let error = "a shape has attributes and joins only".to_owned();
                    faults.push(Fault::Shape { by: by.to_string(), error });
                    continue;
                }
            };
            if let Some(nested) = &nested {
                self.shape_attrs(by, nested.clone(), faults);
            }
            match key {
                Key::Attr(attr) if self.names.contains_key(&attr) => attrs.push((self.names[&attr], nested)),
                Key::Attr(attr) | Key::Ident(attr, _) => {
                    let (ident, by) = (attr.to_string(), by.to_string());
                    faults.push(Fault::UndeclaredAttribute { ident, by });
                }
            }
        }
        attrs
    }

    /// Notes who provides what, and checks that everything can be had.
    fn check_operations(&mut self, faults: &mut Vec<Fault>) {
        for (number, operation) in self.operations.iter().enumerate() {
            for (attr, _) in &operation.outputs {
                // What is an input of the operation is handed through, not provided.
                if operation.inputs.iter().all(|input| input.attr != *attr)
                    && let Some(providers) = self.providers.get_mut(index(*attr))
                {
                    providers.push(number);
                }
            }
        }
        for operation in &self.operations {
            for input in operation.inputs.iter().filter(|input| input.is_required) {
                if !self.is_obtainable(input.attr) {
                    let ident = self.attributes[index(input.attr)].key.to_string();
                    faults.push(Fault::UnobtainableInput { ident, by: operation.name.to_string() });
                }
            }
        }
        for (id, entry) in (0_u32..).map(AttrId).zip(&self.attributes) {
            let is_below = || self.operations.iter().any(|operation| operation.provides_below(&entry.key));
            let is_answered = || {
                let mut outputs = self.mutations.values().flat_map(|mutation| &mutation.outputs);
                outputs.any(|(output, _)| *output == id)
            };
            if !self.is_obtainable(id) && !is_below() && !is_answered() {
                faults.push(Fault::Unprovided(entry.key.to_string()));
            }
        }
    }
}

impl<W: World> Operation<W> {
    /// Returns whether an attribute is part of the shape below one of the outputs.
    fn provides_below(&self, attr: &Value) -> bool {
        self.outputs.iter().filter_map(|(_, nested)| nested.as_ref()).any(|query| mentions(query, attr))
    }
}

fn mentions(query: &Query, attr: &Value) -> bool {
    query.exprs.iter().any(|expr| match expr {
        Expr::Prop(prop) => prop.key.to_value() == *attr,
        Expr::Join(join) => {
            join.key.to_value() == *attr
                || match &join.target {
                    Target::Query(query) => mentions(query, attr),
                    Target::Union(entries) => entries.iter().any(|(_, query)| mentions(query, attr)),
                    Target::Depth(_) | Target::Unbounded => false,
                }
        }
        Expr::Wildcard | Expr::Call(_) => false,
    })
}

/// Of a union all entries, for any of them may be the shape.
fn merged(entries: Vec<(Keyword, Query)>) -> Query {
    let exprs = entries.into_iter().flat_map(|(_, query)| query.exprs);
    Query { exprs: exprs.collect(), meta: None }
}

fn symbol(name: &str, faults: &mut Vec<Fault>) -> Option<Symbol> {
    let symbol = Symbol::new(name).ok();
    if symbol.is_none() {
        faults.push(Fault::Name(name.to_owned()));
    }
    symbol
}

/// Shapes are written in the program; the bounds only have to be there.
const SHAPE_CAPS: Caps = Caps { bytes_max: 65_536, depth_max: 64, digits_max: 16, forms_max: 4_096 };
