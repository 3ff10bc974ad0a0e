//! Builds a registry from declarations: checks them, numbers them, and indexes them.
//!
//! Invariant: a registry is returned only if the declarations have no fault. Otherwise all faults are returned.

use std::collections::BTreeMap;

use super::attr_id::index;
use super::builder::DeclaredReaders;
use super::mutation::RegisteredMutation;
use super::table::{AttrEntry, Input};
use super::{
    AttrId, Builder, EntityInfo, Mutation, Operation, ParamGroups, Registry, RegistryFault, Type, World,
};
use crate::edn::{Keyword, Symbol, Value};

impl<W: World> Builder<W> {
    /// Checks the declarations and numbers them.
    ///
    /// # Errors
    ///
    /// Returns all faults, sorted.
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
        // Only here: an attribute may refer to an entity that is declared after it.
        registry.refer(&mut faults);
        registry.check_entities(&mut faults);
        for row in self.rows {
            registry.add_row(row, &mut faults);
        }
        for mutation in self.mutations {
            registry.add_mutation(mutation, &mut faults);
        }
        // Last, because the answer of a mutation provides attributes too.
        registry.check_provided(&mut faults);
        // One mistake can be found twice, such as an undeclared attribute that an entity names as its key and as a part.
        faults.sort();
        faults.dedup();
        if faults.is_empty() { Ok(registry) } else { Err(faults) }
    }
}

impl<W: World> Registry<W> {
    /// Adds an attribute and checks what can be checked without the others. A faulty one is added too: without it, every
    /// mention of its name would be reported as a further fault.
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
        twice(&keyword.to_string(), entry.attribute.params, faults);
        if let Type::Enum(values) = entry.attribute.kind
            && (values.is_empty() || values.iter().any(|value| Keyword::new(value).is_err()))
        {
            faults.push(RegistryFault::EnumValues(keyword.to_string()));
        }
        entry.key = Value::Keyword(keyword.clone());
        let id = AttrId(u32::try_from(self.attributes.len()).unwrap_or(u32::MAX));
        // In step with each other: both lists are indexed by the number of the attribute.
        self.attributes.push(entry);
        self.providers.push(None);
        // The later declaration takes the name, which does no harm: a registry with a fault is not returned.
        if let Some(earlier) = self.names.insert(keyword, id) {
            faults.push(RegistryFault::Duplicate(self.attributes[index(earlier)].key.to_string()));
        }
    }

    /// Resolves references to the keys of their entities. An entity without a key cannot be referred to, because no
    /// value would name it.
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

    /// Checks names and documentation of entities, and that the attributes they name are declared.
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

    /// Adds the operation of an entity, which reads its attributes.
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
        // An entity cannot be found without its key. A root can also be read without what it is within.
        let input = key.map(input(true)).or(within.map(input(false)));
        // One invalid ident drops the whole operation: leaving out its reader would renumber those after it. The fault is
        // already recorded.
        let outputs: Option<Vec<AttrId>> = row.idents.iter().map(id).collect();
        if let (Some(name), Some(outputs)) = (symbol(&format!("read/{name}"), faults), outputs) {
            let number = self.operations.len();
            self.rows[row.entity] = Some(number);
            // The key does not count as provided: it must be known before the entity can be found.
            for attr in outputs.iter().filter(|attr| input.is_none_or(|input| input.attr != **attr)) {
                self.providers[index(*attr)] = Some(number);
            }
            self.operations.push(Operation { name, input, outputs, readers: row.readers });
        }
    }

    /// Adds a mutation, and checks its name, answer, documentation and visibility.
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
        twice(&name.to_string(), mutation.params, faults);
        if self.mutations.insert(name.clone(), RegisteredMutation { declared: mutation, outputs }).is_some() {
            faults.push(RegistryFault::Duplicate(name.to_string()));
        }
    }

    /// Returns the numbers of the attributes in a mutation's answer.
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

    /// Checks that each attribute can be obtained: from a reader, from a caller, or in the answer of a mutation.
    fn check_provided(&self, faults: &mut Vec<RegistryFault>) {
        for (id, entry) in (0_u32..).map(AttrId).zip(&self.attributes) {
            let is_answered = || self.mutations.values().any(|mutation| mutation.outputs.contains(&id));
            if !self.is_obtainable(id) && !is_answered() {
                faults.push(RegistryFault::Unprovided(entry.key.to_string()));
            }
        }
    }
}

/// Checks that no two parameters have one name, in one group or in several: a value could not be meant for both.
fn twice(by: &str, groups: ParamGroups, faults: &mut Vec<RegistryFault>) {
    let mut names: Vec<&str> = groups
        .iter()
        .flat_map(|group| group.params)
        .flat_map(|param| [Some(param.name), param.alias])
        .flatten()
        .collect();
    names.sort_unstable();
    for pair in names.windows(2).filter(|pair| pair[0] == pair[1]) {
        faults.push(RegistryFault::Duplicate(format!("the parameter {} of {by}", pair[0])));
    }
}

fn symbol(name: &str, faults: &mut Vec<RegistryFault>) -> Option<Symbol> {
    let symbol = Symbol::new(name).ok();
    if symbol.is_none() {
        faults.push(RegistryFault::Name(name.to_owned()));
    }
    symbol
}
