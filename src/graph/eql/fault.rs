//! Faults of a query that can be found without data: a misspelt attribute, an unknown parameter.
//!
//! They are reported even where no entity would report them: below a join whose list is empty, and in lenient mode,
//! where Pathom would silently omit the attribute.
//!
//! Invariant: a name counts as misspelt only if an attribute has a similar name, or if its namespace is one of ours. Other
//! unknown names are data that a caller may have provided, and Pathom's rules apply to them.

use super::failure::Cause;
use super::level::{Field, Source};
use super::missing::{missing, unknown_attribute};
use super::plan::{PLACEHOLDER, Planner};
use super::plan_fault::PlanFault;
use super::{ExprKey, Join, JoinTarget, Query};
use crate::domain::{Code, nearest};
use crate::edn::{Keyword, Map, Value};
use crate::graph::registry::{
    AttrId, Attribute, Graph, ParamGroups, Record, ResolverError, Type, World, check,
};

/// What a placeholder and an ident declare.
const NO_PARAMS: ParamGroups = &[];

impl<W: World> Planner<'_, W> {
    /// Records a fault if a name is not an attribute, but resembles one or would have to be one of ours.
    pub(super) fn check_name(&mut self, key: &ExprKey, known: &[AttrId]) {
        let ExprKey::Attr(attr) = key else { return };
        // Attributes are qualified. A bare name may be a key of a map that an attribute holds.
        if attr.namespace().is_none() && !self.is_at_entity() {
            return;
        }
        let graph = Graph { registry: self.registry, viewer: self.viewer };
        let id = self.names.id(self.registry, &Value::Keyword(attr.clone()));
        let is_declared = self.registry.is_visible(id, self.viewer) && id.is_below(self.registry.len());
        // What the caller provides at the root is known by its name. It is known only when the plan runs, which drops
        // the fault then.
        let is_meant = || graph.nearest_attribute(attr).is_some() || attr.namespace().is_some_and(is_ours);
        if is_declared || known.contains(&id) || !is_meant() {
            return;
        }
        let key = Value::Keyword(attr.clone());
        // A bare name that the entity has under its namespace is the better suggestion than one that is spelt alike.
        let own = self.of_this_entity(attr).map(|near| unknown_attribute(attr, Some(near)));
        let error = own.or_else(|| missing(self.registry, self.viewer, Cause::Unreachable, &key));
        if let Some(error) = error {
            self.faults.push(PlanFault { path: self.path.clone(), key, cause: Cause::Unreachable, error });
        }
    }

    /// Returns whether the level is the root, or is below an attribute or an ident that leads to an entity.
    fn is_at_entity(&self) -> bool {
        match self.path.last() {
            None => true,
            Some(Value::Keyword(key)) => {
                let attribute = self.registry.attribute(key.as_str());
                attribute.is_some_and(|attribute| matches!(attribute.kind, Type::Reference(_)))
            }
            Some(ident) => ident.as_items().is_some(),
        }
    }

    /// Returns the attribute of the entity of this level that has this name under a namespace.
    fn of_this_entity(&self, bare: &Keyword) -> Option<&'_ Keyword> {
        let Some(Value::Keyword(key)) = self.path.last().filter(|_| bare.namespace().is_none()) else {
            return None;
        };
        let Type::Reference(entity) = self.registry.attribute(key.as_str())?.kind else { return None };
        Graph { registry: self.registry, viewer: self.viewer }.attribute_of(entity, bare.name())
    }

    /// Records a fault for each name below a record that is not one of its fields.
    pub(super) fn check_fields(&mut self, join: &Join) {
        let (ExprKey::Attr(attr), JoinTarget::Query(query)) = (&join.key, &join.target) else { return };
        let declared = self.registry.attribute(attr.as_str()).filter(|it| self.sees(it));
        if let Some(record) = declared.and_then(|attribute| attribute.kind.record()) {
            let path: Vec<Value> = self.path.iter().cloned().chain([join.key.to_value()]).collect();
            self.check_record(record, query, &path);
        }
    }

    fn sees(&self, attribute: &Attribute) -> bool {
        attribute.visibility.is_some_and(|rule| rule.admits(self.viewer))
    }

    fn check_record(&mut self, record: &'static Record, query: &Query, path: &[Value]) {
        for expr in &query.exprs {
            // Qualified names are not fields of a record: they are placeholders or Pathom's own.
            let Some(ExprKey::Attr(name)) = expr.key().filter(|key| key.attr().namespace().is_none()) else {
                continue;
            };
            match record.params.iter().find(|field| field.name == name.as_str()) {
                None => self.faults.push(no_field(record, name, path.to_vec())),
                Some(field) => {
                    if let (Some(inner), Some(JoinTarget::Query(query))) =
                        (field.kind.record(), expr.target())
                    {
                        let path: Vec<Value> =
                            path.iter().cloned().chain([Value::Keyword(name.clone())]).collect();
                        self.check_record(inner, query, &path);
                    }
                }
            }
        }
    }

    /// Checks the parameters of a field. If they are wrong, records a fault and plans the field as if it were hidden.
    pub(super) fn checked(&mut self, field: Field) -> Field {
        let declared = match field.source {
            Source::Attr(attr, true) => self.registry.params(attr),
            // Neither has a reader that a parameter could be for. What a joined Pathom sends is data, and passes.
            Source::Ident(..) | Source::Placeholder if !takes_data(&field.key) => Some(NO_PARAMS),
            Source::Attr(_, false) | Source::Ident(..) | Source::Placeholder | Source::Call(_) => None,
        };
        let Some(Err(fault)) = declared.map(|declared| check(&field.params, declared)) else { return field };
        let (key, path) = (field.key.clone(), self.path.clone());
        let error = fault.into_error(&key);
        self.faults.push(PlanFault { path, key, cause: Cause::Exception, error: error.clone() });
        let source = match field.source {
            // A hidden attribute is not read, so the reader never sees parameters that failed the check.
            Source::Attr(attr, _) => Source::Attr(attr, false),
            source @ (Source::Ident(..) | Source::Placeholder | Source::Call(_)) => source,
        };
        Field { source, params: Map::new(), refused: Some(error), ..field }
    }
}

/// Returns whether no other program would have data under this namespace.
fn is_ours(namespace: &str) -> bool {
    ["psi.", "reveille"].iter().any(|ours| namespace.starts_with(ours))
}

/// Returns whether the parameters of a placeholder are data about its entity. A Pathom that has joined this graph sends the
/// inputs of its calls so, under names of its own. Elsewhere Pathom gives them no meaning, unless a plugin is installed.
/// Source: Pathom 3, `connect.foreign`; its changelog, "placeholders won't override entity data via params by default".
pub(super) fn takes_data(key: &Value) -> bool {
    let name = key.as_keyword().filter(|key| key.namespace() == Some(PLACEHOLDER)).map(Keyword::name);
    name.is_some_and(|name| name.starts_with("foreign-"))
}

fn no_field(record: &'static Record, name: &Keyword, path: Vec<Value>) -> PlanFault {
    let known = || record.params.iter().map(|field| field.name);
    let nearest = nearest(known().map(|field| (field, field)), name.as_str());
    let hint = match nearest {
        Some(field) => format!("did you mean :{field}?"),
        None => format!("there are {}", known().collect::<Vec<_>>().join(", ")),
    };
    let data = Map::new()
        .with("did-you-mean", nearest.map_or(Value::Nil, Value::keyword))
        .with("supported", known().map(Value::keyword).collect::<Vec<_>>())
        .with("hint", hint);
    let message = format!("a {} has no field {name}", record.name);
    let error = ResolverError::new(message, data).coded(Code::Validation);
    PlanFault { path, key: Value::Keyword(name.clone()), cause: Cause::Unreachable, error }
}
