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
        _ => None,
    }
}

fn attribute<W: World>(graph: Graph<'_, W>, cause: Cause, ident: &Keyword) -> ResolverError {
    let id = graph.registry.id(ident).filter(|id| graph.registry.is_visible(*id, graph.viewer));
    let Some(entity) = id.and_then(|id| graph.registry.entity_of(id)) else {
        let hint = match graph.nearest_attribute(ident) {
            Some(near) => format!("did you mean {near}?"),
            None => "[:psi.graph/attributes] lists what there is".to_owned(),
        };
        return said(format!("there is no attribute {ident}"), &hint, Code::Validation);
    };
    // Reached, but not found: the name is right, the entity is not there for this caller.
    if cause == Cause::Missing {
        let hint = "what it belongs to is not there, or is not yours; in lenient mode the rest is answered";
        return said(format!("there is no value for {ident}"), hint, Code::NotFound);
    }
    let hint = match entity.key {
        Some(key) => format!(
            "it belongs to the entity {:?}: ask below a join that answers one, or below [:{key} …]",
            entity.name
        ),
        None => "ask for it at the root".to_owned(),
    };
    said(format!("nothing leads to {ident} from here"), &hint, Code::Validation)
}

fn mutation<W: World>(graph: Graph<'_, W>, name: &Symbol) -> ResolverError {
    // Which mutations exist is no secret: every schema lists them. So a forbidden one is not reported as unknown.
    if graph.registry.mutation(name, Viewer::Operator).is_some() {
        let hint = "an operator's token may, or one that may change things";
        return said(format!("{name} is not for this caller"), hint, Code::Forbidden);
    }
    let hint = match graph.nearest_mutation(name) {
        Some(near) => format!("did you mean {near}?"),
        None => "[:psi.graph/mutation-syms] lists what there is".to_owned(),
    };
    said(format!("there is no mutation {name}"), &hint, Code::Validation)
}

fn said(message: String, hint: &str, code: Code) -> ResolverError {
    ResolverError::new(message, Map::new().with("hint", hint)).coded(code)
}
