//! The capability graph: which operations belong to which domain, and how many each domain has.
//!
//! The domain of an operation is the entity of the first attribute that it provides. Edges lead from operations to
//! domains; they show no dependencies.
//!
//! Invariant: operations and present domains are sorted by name, all else is in declared order, so that equal queries get
//! equal answers. Source: psi, `psi.graph.analysis`.

use super::{AttrId, Graph, Operation, World};
use crate::edn::{Map, Symbol, Value};

/// An operation: a resolver or a mutation.
struct Member<'r> {
    name: &'r Symbol,
    is_resolver: bool,
    domain: &'static str,
    /// Inputs, outputs and parameters, each once.
    attributes: Vec<Value>,
}

impl<'r, W: World> Graph<'r, W> {
    /// Returns the operations and the domains that have operations, as the nodes of the graph.
    pub(crate) fn nodes(self) -> Value {
        let members = self.members();
        let mut nodes: Vec<Value> = members.iter().map(Member::node).collect();
        for domain in self.present(&members) {
            let node = node(&capability_id(domain), "capability", domain);
            let count = members.iter().filter(|member| member.domain == domain).count();
            nodes.push(node.with("operation-count", integer(count)).into());
        }
        Value::vector(nodes)
    }

    /// Returns the edges from each operation to its domain, one for each of its attributes.
    pub(crate) fn edges(self) -> Value {
        let mut edges = Vec::new();
        for member in self.members() {
            let edge = |attribute: Value| {
                let edge = Map::new().with("from", member.id()).with("to", capability_id(member.domain));
                edge.with("attribute", attribute).into()
            };
            // Every operation has an edge, so that its node is connected. In psi, too, the attribute of an edge may be nil.
            if member.attributes.is_empty() {
                edges.push(edge(Value::Nil));
            }
            edges.extend(member.attributes.iter().cloned().map(edge));
        }
        Value::vector(edges)
    }

    /// Returns the domains that have operations, each with its operations and attributes.
    pub(crate) fn capabilities(self) -> Value {
        let members = self.members();
        let capability = |domain: &'static str| {
            let mine: Vec<&Member<'_>> = members.iter().filter(|member| member.domain == domain).collect();
            let mut attributes: Vec<Value> = Vec::new();
            for attribute in mine.iter().flat_map(|member| &member.attributes) {
                // Operations of one domain share attributes, above all the key of the entity.
                if !attributes.contains(attribute) {
                    attributes.push(attribute.clone());
                }
            }
            let symbols: Vec<Value> = mine.iter().map(|member| Value::Symbol(member.name.clone())).collect();
            let map = Map::new().with("id", capability_id(domain)).with("domain", Value::keyword(domain));
            let map = counts(map, &mine).with("operation-symbols", symbols);
            Value::Map(map.with("attributes", attributes))
        };
        Value::vector(self.present(&members).into_iter().map(capability).collect::<Vec<_>>())
    }

    /// Returns every declared domain with its number of operations, which may be 0.
    pub(crate) fn domain_coverage(self) -> Value {
        let members = self.members();
        let domain = |name: &'static str| {
            let mine: Vec<&Member<'_>> = members.iter().filter(|member| member.domain == name).collect();
            counts(Map::new().with("domain", Value::keyword(name)), &mine).into()
        };
        let entities = self.registry.entities().iter().map(|entity| domain(entity.name));
        Value::vector(entities.collect::<Vec<_>>())
    }

    /// Returns the operations that the viewer may see or call, by name.
    fn members(self) -> Vec<Member<'r>> {
        let mut members: Vec<Member<'r>> =
            self.operations().map(|operation| self.resolver_member(operation)).collect();
        for name in self.mutations() {
            let Some(mutation) = self.registry.mutation(name, self.viewer) else {
                continue;
            };
            // Parameters count as attributes of a mutation: the graph shows what it works with.
            let mut attributes = items(&self.shape(mutation.outputs.iter().copied()));
            let params = mutation.declared.params.iter().flat_map(|group| group.params);
            attributes.extend(params.map(|param| Value::keyword(param.name)));
            let domain = self.domain(mutation.outputs.first());
            members.push(Member { name, is_resolver: false, domain, attributes: once(attributes) });
        }
        members.sort_by_key(|member| member.name);
        members
    }

    fn resolver_member(self, operation: &'r Operation<W>) -> Member<'r> {
        let mut attributes = items(&self.input(operation));
        attributes.extend(items(&self.output(operation)));
        let domain = self.domain(operation.outputs.first());
        Member { name: &operation.name, is_resolver: true, domain, attributes: once(attributes) }
    }

    /// Returns the domain that the first attribute of an operation belongs to.
    fn domain(self, first: Option<&AttrId>) -> &'static str {
        first.and_then(|attr| self.registry.entity_of(*attr)).map_or(UNKNOWN, |entity| entity.name)
    }

    /// Returns the domains of these operations, sorted.
    fn present(self, members: &[Member<'_>]) -> Vec<&'static str> {
        let mut domains: Vec<&'static str> = members.iter().map(|member| member.domain).collect();
        domains.sort_unstable();
        domains.dedup();
        domains
    }
}

impl Member<'_> {
    fn id(&self) -> String {
        format!("{}:{}", self.kind(), self.name)
    }

    fn kind(&self) -> &'static str {
        if self.is_resolver { "resolver" } else { "mutation" }
    }

    fn node(&self) -> Value {
        let node = node(&self.id(), self.kind(), self.domain).with("symbol", self.name.clone());
        Value::Map(if self.is_resolver { node } else { node.with("sideEffects", Value::Nil) })
    }
}

fn node(id: &str, kind: &str, domain: &str) -> Map {
    let node = Map::new().with("id", id.to_owned()).with("type", Value::keyword(kind));
    node.with("domain", Value::keyword(domain))
}

fn counts(map: Map, mine: &[&Member<'_>]) -> Map {
    let resolvers = mine.iter().filter(|member| member.is_resolver).count();
    map.with("operation-count", integer(mine.len()))
        .with("resolver-count", integer(resolvers))
        .with("mutation-count", integer(mine.len() - resolvers))
}

fn capability_id(domain: &str) -> String {
    format!("capability:{domain}")
}

fn items(vector: &Value) -> Vec<Value> {
    vector.as_items().unwrap_or_default().to_vec()
}

/// Removes duplicates and keeps the order: an attribute may be both input and output.
fn once(attributes: Vec<Value>) -> Vec<Value> {
    let mut once: Vec<Value> = Vec::with_capacity(attributes.len());
    for attribute in attributes {
        if !once.contains(&attribute) {
            once.push(attribute);
        }
    }
    once
}

fn integer(count: usize) -> Value {
    i64::try_from(count).unwrap_or(i64::MAX).into()
}

/// The domain of an operation that provides nothing.
const UNKNOWN: &str = "unknown";
