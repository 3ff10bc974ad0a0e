//! What is wrong with a query that can be seen without data: a misspelt attribute, a parameter that does not exist.
//!
//! It is said even where no entity is there to say it of: below a join whose list is empty, and in lenient mode, where Pathom
//! would only leave the attribute out.
//!
//! Invariant: a name counts as misspelt only where an attribute of a similar name exists. Other unknown names are data that a
//! caller may have brought along, and Pathom's rules apply to them.

use super::Key;
use super::failure::{Cause, Failure};
use super::level::{Field, Source};
use super::missing::missing;
use super::plan::Planner;
use crate::edn::{Map, Value};
use crate::graph::registry::{AttrId, Graph, ResolverError, World, check};

/// One fault of a query.
#[derive(Clone, Debug)]
pub(super) struct PlanFault {
    /// The joins that lead to the place.
    path: Vec<Value>,
    /// The attribute, as the query names it.
    key: Value,
    cause: Cause,
    error: ResolverError,
}

impl<W: World> Planner<'_, W> {
    /// Notes a name that is no attribute and looks like one.
    pub(super) fn check_name(&mut self, key: &Key, known: &[AttrId]) {
        let Key::Attr(attr) = key else { return };
        // Attributes are qualified. A bare name is a key of a map that an attribute holds.
        if attr.namespace().is_none() {
            return;
        }
        let graph = Graph { registry: self.registry, viewer: self.viewer };
        let id = self.names.id(self.registry, &Value::Keyword(attr.clone()));
        let is_declared = self.registry.is_visible(id, self.viewer) && id.is_below(self.registry.len());
        // What a caller brought along is known under its name, and the root's is checked against the entity at run time.
        if is_declared
            || known.contains(&id)
            || self.path.is_empty()
            || graph.nearest_attribute(attr).is_none()
        {
            return;
        }
        let key = Value::Keyword(attr.clone());
        if let Some(error) = missing(self.registry, self.viewer, Cause::Unreachable, &key) {
            self.faults.push(PlanFault { path: self.path.clone(), key, cause: Cause::Unreachable, error });
        }
    }

    /// Refuses a field whose parameters its attribute does not take: it is planned as if it were hidden.
    pub(super) fn checked(&mut self, field: Field) -> Field {
        let Source::Attr(attr, true) = field.source else { return field };
        let Some(declared) = self.registry.params(attr) else { return field };
        match check(&field.params, declared) {
            Ok(()) => field,
            Err(fault) => {
                let (key, path) = (field.key.clone(), self.path.clone());
                let error = fault.into_error(&key);
                self.faults.push(PlanFault { path, key, cause: Cause::Exception, error });
                Field { source: Source::Attr(attr, false), ..field }
            }
        }
    }
}

impl PlanFault {
    /// The fault as the failure of a strict request.
    pub(super) fn failure(&self) -> Failure {
        Failure { cause: self.cause, key: self.key.clone(), error: Some(self.error.clone()) }
    }

    /// The fault as a lenient answer has it.
    pub(super) fn to_value(&self) -> Value {
        Map::new()
            .with("path", self.path.clone())
            .with("key", self.key.clone())
            .with("cause", Value::keyword(self.cause.name()))
            .with("message", self.error.message.as_str())
            .with("data", self.error.data.clone())
            .into()
    }
}

/// The key of a lenient answer under which the faults of its query stand.
pub(super) const FAULTS: &str = "reveille.error/faults";
