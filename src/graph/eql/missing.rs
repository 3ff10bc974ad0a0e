//! Hints for a caller who asked for something that does not exist or cannot be reached.
//!
//! Pathom reports no reason, so these errors are ours and stand beside Pathom's. An attribute that the viewer may not
//! see is treated as one that does not exist.

use super::failure::Cause;
use crate::domain::Code;
use crate::edn::{Keyword, Map, Symbol, Value};
use crate::graph::registry::{Graph, Registry, ResolverError, Viewer, World};

/// Returns why the key has no value and what the caller can do about it; `None` where the cause alone says enough.
pub(super) fn missing<W: World>(
    registry: &Registry<W>,
    viewer: Viewer,
    cause: Cause,
    key: &Value,
) -> Option<ResolverError> {
    let graph = Graph { registry, viewer };
    match (cause, key) {
        (Cause::Unreachable | Cause::Missing, Value::Keyword(ident)) => Some(attribute(graph, cause, ident)),
        (Cause::Mutation, Value::Symbol(name)) => Some(mutation(graph, name)),
        // An exception brings the error of its reader, and a cycle is described where it is found.
        _ => None,
    }
}

/// The error for the name of no attribute; `near` is the one that is meant, if that is known.
pub(super) fn unknown_attribute(ident: &Keyword, near: Option<&Keyword>) -> ResolverError {
    let hint = match near {
        Some(near) => format!("did you mean {near}?"),
        None => "query [:psi.graph/attributes] for a list".to_owned(),
    };
    said(format!("there is no attribute {ident}"), &hint, Code::Validation)
}

fn attribute<W: World>(graph: Graph<'_, W>, cause: Cause, ident: &Keyword) -> ResolverError {
    // A hidden attribute gets the answer of an unknown one, and is not suggested either.
    let id = graph.registry.id(ident).filter(|id| graph.registry.is_visible(*id, graph.viewer));
    let Some(entity) = id.and_then(|id| graph.registry.entity_of(id)) else {
        return unknown_attribute(ident, graph.nearest_attribute(ident));
    };
    // Reached, but not found: the name is right, the entity is not there for this caller.
    if cause == Cause::Missing {
        let hint =
            "its entity does not exist or is hidden from you; lenient mode answers the rest of the query";
        return said(format!("there is no value for {ident}"), hint, Code::NotFound);
    }
    let hint = match entity.key {
        Some(key) => format!(
            "it is an attribute of the entity {:?}: select it below a join to one, or below [:{key} …]",
            entity.name
        ),
        None => "select it at the root".to_owned(),
    };
    said(format!("{ident} cannot be reached from here"), &hint, Code::Validation)
}

fn mutation<W: World>(graph: Graph<'_, W>, name: &Symbol) -> ResolverError {
    // Which mutations exist is no secret: every schema lists them. So a forbidden one is not reported as unknown.
    if graph.registry.mutation(name, Viewer::Operator).is_some() {
        let hint = "use an operator's token, or a host's for what hosts may do";
        return said(format!("{name} is not for this caller"), hint, Code::Forbidden);
    }
    let hint = match graph.nearest_mutation(name) {
        Some(near) => format!("did you mean {near}?"),
        None => "query [:psi.graph/mutation-syms] for a list".to_owned(),
    };
    said(format!("there is no mutation {name}"), &hint, Code::Validation)
}

fn said(message: String, hint: &str, code: Code) -> ResolverError {
    ResolverError::new(message, Map::new().with("hint", hint)).coded(code)
}
