//! From declarations to a registry: the checks, and the numbers.
//!
//! Invariant: a registry comes out only when there is no fault at all; every fault of the set is listed.

use std::collections::BTreeMap;

use super::builder::DeclaredReaders;
use super::mutation::RegisteredMutation;
use super::operation::Input;
use super::table::{AttrEntry, index};
use super::{AttrId, Builder, EntityInfo, Mutation, Operation, Registry, RegistryFault, Type, World};
use crate::edn::{Keyword, Symbol, Value};

impl<W: World> Builder<W> {
    /// Checks the declarations and numbers them.
    ///
    /// # Errors
    ///
    /// Every fault there is, sorted.
    pub fn build(self) -> Result<Registry<W>, Vec<RegistryFault>> {
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
            let entry = AttrEntry { key: Value::Nil, refers_to: None, entity, attribute };
            registry.declare(entry, &mut faults);
        }
        registry.refer(&mut faults);
        registry.check_entities(&mut faults);
        for row in self.rows {
            registry.add_row(row, &mut faults);
        }
        for mutation in self.mutations {
            registry.add_mutation(mutation, &mut faults);
        }
        registry.check_provided(&mut faults);
        faults.sort();
        faults.dedup();
        if faults.is_empty() { Ok(registry) } else { Err(faults) }
    }
}

impl<W: World> Registry<W> {
    fn declare(&mut self, mut entry: AttrEntry, faults: &mut Vec<RegistryFault>) {
        let ident = entry.attribute.ident;
        let Ok(keyword) = Keyword::new(ident) else {
            return faults.push(RegistryFault::Name(ident.to_owned()));
        };
        if entry.attribute.visibility.is_none() {
            faults.push(RegistryFault::NoVisibility(keyword.to_string()));
        }
        if entry.attribute.doc.is_empty() {
            faults.push(RegistryFault::NoDoc(keyword.to_string()));
        }
        if let Type::Enum(values) = entry.attribute.kind
            && (values.is_empty() || values.iter().any(|value| Keyword::new(value).is_err()))
        {
            faults.push(RegistryFault::EnumValues(keyword.to_string()));
        }
        entry.key = Value::Keyword(keyword.clone());
        let id = AttrId(u32::try_from(self.attributes.len()).unwrap_or(u32::MAX));
        self.attributes.push(entry);
        self.providers.push(None);
        if let Some(earlier) = self.names.insert(keyword, id) {
            faults.push(RegistryFault::Duplicate(self.attributes[index(earlier)].key.to_string()));
        }
    }

    /// Finds the keys of the entities that attributes refer to.
    fn refer(&mut self, faults: &mut Vec<RegistryFault>) {
        let (entities, names) = (&self.entities, &self.names);
        for entry in &mut self.attributes {
            let Type::Reference(name) = entry.attribute.kind else {
                continue;
            };
            let key = entities.iter().find(|entity| entity.name == name).and_then(|entity| entity.key);
            entry.refers_to = key.and_then(|key| names.get(&Keyword::new(key).ok()?).copied());
            if entry.refers_to.is_none() {
                let (ident, entity) = (entry.key.to_string(), name.to_owned());
                faults.push(RegistryFault::DanglingReference { ident, entity });
            }
        }
    }

    fn check_entities(&self, faults: &mut Vec<RegistryFault>) {
        for (place, EntityInfo { name, key, whole, doc }) in self.entities.iter().enumerate() {
            if self.entities[..place].iter().any(|earlier| earlier.name == *name) {
                faults.push(RegistryFault::Duplicate((*name).to_owned()));
            }
            if doc.is_empty() {
                faults.push(RegistryFault::NoDoc((*name).to_owned()));
            }
            let is_undeclared = |key: &&str| self.attribute(key).is_none();
            for key in key.iter().chain(*whole).filter(|key| is_undeclared(key)) {
                let (ident, by) = (format!(":{key}"), (*name).to_owned());
                faults.push(RegistryFault::UndeclaredAttribute { ident, by });
            }
        }
    }

    fn add_row(&mut self, row: DeclaredReaders<W>, faults: &mut Vec<RegistryFault>) {
        let EntityInfo { name, key, .. } = self.entities[row.entity].clone();
        let id = |ident: &&'static str| self.names.get(&Keyword::new(ident).ok()?).copied();
        let key = key.as_ref().and_then(id);
        let within = row.within.and_then(|ident| {
            let found = id(&ident);
            if found.is_none() {
                let (ident, by) = (format!(":{ident}"), name.to_owned());
                faults.push(RegistryFault::UndeclaredAttribute { ident, by });
            }
            found
        });
        let input = |is_required| move |attr| Input { attr, is_required };
        let input = key.map(input(true)).or(within.map(input(false)));
        // A reader whose ident is no name would shift the numbers of those behind it.
        let outputs: Option<Vec<AttrId>> = row.idents.iter().map(id).collect();
        if let (Some(name), Some(outputs)) = (symbol(&format!("read/{name}"), faults), outputs) {
            let number = self.operations.len();
            self.rows[row.entity] = Some(number);
            // The key has to be known already: it is handed through, not provided.
            for attr in outputs.iter().filter(|attr| input.is_none_or(|input| input.attr != **attr)) {
                self.providers[index(*attr)] = Some(number);
            }
            self.operations.push(Operation { name, input, outputs, readers: row.readers });
        }
    }

    fn add_mutation(&mut self, mutation: Mutation<W>, faults: &mut Vec<RegistryFault>) {
        let Some(name) = symbol(mutation.name, faults) else {
            return;
        };
        let outputs = self.outputs(&name, mutation.output, faults);
        if mutation.visibility.is_none() {
            faults.push(RegistryFault::NoVisibility(name.to_string()));
        }
        if mutation.doc.is_empty() {
            faults.push(RegistryFault::NoDoc(name.to_string()));
        }
        if self.mutations.insert(name.clone(), RegisteredMutation { declared: mutation, outputs }).is_some() {
            faults.push(RegistryFault::Duplicate(name.to_string()));
        }
    }

    /// Finds the numbers of what a mutation answers.
    fn outputs(&self, by: &Symbol, idents: &[&str], faults: &mut Vec<RegistryFault>) -> Vec<AttrId> {
        let id = |ident: &&str| {
            let found = Keyword::new(ident).ok().and_then(|ident| self.names.get(&ident).copied());
            if found.is_none() {
                faults.push(RegistryFault::UndeclaredAttribute {
                    ident: format!(":{ident}"),
                    by: by.to_string(),
                });
            }
            found
        };
        idents.iter().filter_map(id).collect()
    }

    /// Checks that everything can be had.
    fn check_provided(&self, faults: &mut Vec<RegistryFault>) {
        for (id, entry) in (0_u32..).map(AttrId).zip(&self.attributes) {
            let is_answered = || self.mutations.values().any(|mutation| mutation.outputs.contains(&id));
            if !self.is_obtainable(id) && !is_answered() {
                faults.push(RegistryFault::Unprovided(entry.key.to_string()));
            }
        }
    }
}

fn symbol(name: &str, faults: &mut Vec<RegistryFault>) -> Option<Symbol> {
    let symbol = Symbol::new(name).ok();
    if symbol.is_none() {
        faults.push(RegistryFault::Name(name.to_owned()));
    }
    symbol
}
