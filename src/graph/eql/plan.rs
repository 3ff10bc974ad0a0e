//! From a query to a plan: what will be called, level by level.
//!
//! Shape: levels in a vector, the root first; a field of a level names the level below it. Steps are found
//! for what each level is expected to know; where an entity turns out to know something else, `run.rs` finds
//! them anew by the same rule.
//!
//! Invariant: a plan is a value. It looks at no data, and one plan answers any number of requests with the
//! same query, seeds and viewer.

use std::sync::Arc;

use super::direct::Direct;
use super::fault::PlanFault;
use super::level::{Below, Field, Level, Source};
use super::steps::{Goal, Steps};
use super::{Call, Expr, Join, Key, Limits, Prop, Query, Refusal, Target, names::Names};
use crate::edn::{Keyword, Map, Value};
use crate::graph::registry::{AttrId, Registry, Viewer, World};

/// How a query will be answered.
pub struct Plan {
    pub(super) viewer: Viewer,
    pub(super) levels: Vec<Arc<Level>>,
    pub(super) names: Names,
    /// The short way, for plans that only walk from entities to entities.
    pub(super) direct: Option<Direct>,
    /// What is wrong with the query that can be seen without data: misspelt attributes and parameters.
    pub(super) faults: Vec<PlanFault>,
}

/// Who asks, and what is known to begin with.
#[derive(Clone, Copy)]
pub struct Planning<'a> {
    /// The attributes that are known to begin with.
    pub seeds: &'a [Keyword],
    /// Who asks.
    pub viewer: Viewer,
    /// The bounds.
    pub limits: Limits,
}

/// Plans a query.
///
/// # Errors
///
/// A query that is too deep or too wide, or has a mutation below a join.
pub fn plan<W: World>(query: &Query, registry: &Registry<W>, with: &Planning<'_>) -> Result<Plan, Refusal> {
    let mut known: Vec<_> = with.seeds.iter().filter_map(|seed| registry.id(seed)).collect();
    known.retain(|id| registry.is_visible(*id, with.viewer));
    let mut planner = Planner {
        registry,
        viewer: with.viewer,
        limits: with.limits,
        names: Names::default(),
        levels: Vec::new(),
        first: 0,
        fields: 0,
        path: Vec::new(),
        faults: Vec::new(),
    };
    planner.level(query, known, 1)?;
    let levels: Vec<_> = planner.levels.into_iter().flatten().map(Arc::new).collect();
    let faults = planner.faults;
    // The short way answers whole queries only, and has no place for what is refused.
    let direct = faults.is_empty().then(|| Direct::of(&levels, registry)).flatten();
    Ok(Plan { viewer: with.viewer, levels, names: planner.names, direct, faults })
}

impl Plan {
    /// Returns whether the plan calls mutations.
    pub fn has_mutations(&self) -> bool {
        let is_call = |field: &Field| matches!(field.source, Source::Call(_));
        self.levels.first().is_some_and(|root| root.fields.iter().any(is_call))
    }

    /// Returns the plan as data: calls and joins of each level.
    pub fn to_value<W: World>(&self, registry: &Registry<W>) -> Value {
        Value::Map(self.level_map(registry, 0))
    }

    fn level_map<W: World>(&self, registry: &Registry<W>, number: usize) -> Map {
        let Some(level) = self.levels.get(number) else {
            return Map::new();
        };
        let mut joins = Map::new();
        for field in &level.fields {
            match &field.below {
                Below::Level(below) => {
                    joins.insert(field.key.clone(), self.level_map(registry, *below).into());
                }
                Below::Union(entries) => {
                    let entry = |(id, below): &(AttrId, usize)| {
                        let key = self.names.key(registry, *id).clone();
                        (key, Value::Map(self.level_map(registry, *below)))
                    };
                    joins.insert(field.key.clone(), Value::Map(entries.iter().map(entry).collect()));
                }
                Below::Depth(_) | Below::Unbounded => {
                    joins.insert(field.key.clone(), Value::keyword("recursion"));
                }
                Below::Nothing => {}
            }
        }
        let unreachable = level.steps.unreachable.iter().map(|id| self.names.key(registry, *id).clone());
        let unreachable: Vec<_> = unreachable.collect();
        let map = Map::new().with("calls", level.steps.to_value(registry));
        let map = if unreachable.is_empty() { map } else { map.with("unreachable", unreachable) };
        if joins.is_empty() { map } else { map.with("joins", joins) }
    }
}

/// Makes levels; also at run time, for what resolvers need of the entities below.
pub(super) struct Planner<'r, W: World> {
    pub(super) registry: &'r Registry<W>,
    pub(super) viewer: Viewer,
    pub(super) limits: Limits,
    pub(super) names: Names,
    pub(super) levels: Vec<Option<Level>>,
    /// The number of the first of them.
    pub(super) first: usize,
    pub(super) fields: u32,
    /// The joins above the level that is being planned.
    pub(super) path: Vec<Value>,
    pub(super) faults: Vec<PlanFault>,
}

impl<W: World> Planner<'_, W> {
    /// Adds the level of a query and those below it; returns its number.
    pub(super) fn level(&mut self, query: &Query, known: Vec<AttrId>, depth: u32) -> Result<usize, Refusal> {
        if depth > self.limits.depth {
            return Err(Refusal::Limit { limit: "depth", max: self.limits.depth });
        }
        let place = self.levels.len();
        self.levels.push(None);
        let (mut fields, mut has_wildcard): (Vec<Field>, bool) = (Vec::new(), false);
        for expr in &query.exprs {
            self.spend(1)?;
            let field = match expr {
                Expr::Wildcard => {
                    has_wildcard = true;
                    continue;
                }
                Expr::Prop(prop) => match self.whole(prop) {
                    Some(join) => self.join(&join, &known, depth)?,
                    None => {
                        self.check_name(&prop.key, &known);
                        let (source, _) = self.source(&prop.key, None);
                        let field = self.field(prop.key.to_value(), prop.params.as_ref(), source);
                        self.checked(field)
                    }
                },
                Expr::Join(join) => self.join(join, &known, depth)?,
                Expr::Call(call) => self.call(call, depth)?,
            };
            // Every mutation is called; of all else the last one under a key holds.
            let is_same =
                |earlier: &&mut Field| earlier.key == field.key && !matches!(earlier.source, Source::Call(_));
            match fields.iter_mut().find(is_same) {
                Some(earlier) => *earlier = field,
                None => fields.push(field),
            }
        }
        if has_wildcard {
            self.add_whole(&known, &mut fields)?;
        }
        let has_twins = fields
            .iter()
            .enumerate()
            .any(|(at, field)| fields[..at].iter().any(|earlier| earlier.key == field.key));
        let steps = Arc::new(steps(self.registry, &fields, &known));
        self.levels[place] = Some(Level { fields, has_wildcard, has_twins, known, steps });
        Ok(self.first + place)
    }

    /// Adds what an entity is as a whole to what a wildcard stands for; whatever of it was asked for by name stays so.
    fn add_whole(&mut self, known: &[AttrId], fields: &mut Vec<Field>) -> Result<(), Refusal> {
        let [key] = known else {
            return Ok(());
        };
        for ident in self.registry.whole_of(*key) {
            let Ok(attr) = Keyword::new(ident) else {
                continue;
            };
            let prop = Prop { key: Key::Attr(attr), params: None };
            if fields.iter().any(|field| field.key == prop.key.to_value()) {
                continue;
            }
            self.spend(1)?;
            let (source, _) = self.source(&prop.key, None);
            // Nobody has asked for it by name, so nobody is told where it is missing.
            fields.push(Field { is_optional: true, ..self.field(prop.key.to_value(), None, source) });
        }
        Ok(())
    }

    /// Returns the join that a property stands for, where entities are answered as a whole.
    fn whole(&self, prop: &Prop) -> Option<Join> {
        let Key::Attr(attr) = &prop.key else {
            return None;
        };
        let whole = self.registry.whole(self.registry.id(attr)?);
        let keys = whole.iter().filter_map(|ident| Keyword::new(ident).ok());
        let exprs: Vec<Expr> =
            keys.map(|attr| Expr::Prop(Prop { key: Key::Attr(attr), params: None })).collect();
        let target = Target::Query(Query { exprs, meta: None });
        (!whole.is_empty()).then(|| Join { key: prop.key.clone(), params: prop.params.clone(), target })
    }

    fn spend(&mut self, fields: usize) -> Result<(), Refusal> {
        self.fields = self.fields.saturating_add(u32::try_from(fields).unwrap_or(u32::MAX));
        if self.fields > self.limits.attributes {
            return Err(Refusal::Limit { limit: "attributes", max: self.limits.attributes });
        }
        Ok(())
    }

    fn field(&self, key: Value, params: Option<&Map>, source: Source) -> Field {
        let mut params = params.cloned().unwrap_or_default();
        let is_optional = params.keyword(OPTIONAL).is_some_and(Value::is_truthy);
        if params.keyword(OPTIONAL).is_some() {
            let is_other = |(key, _): &(Value, Value)| *key != Value::keyword(OPTIONAL);
            params = params.into_iter().filter(is_other).collect();
        }
        let is_whole = match &source {
            Source::Attr(attr, _) => self.registry.answers_whole(*attr, self.viewer),
            Source::Ident(..) | Source::Placeholder | Source::Call(_) => false,
        };
        Field { key, params, is_optional, is_whole, source, below: Below::Nothing }
    }

    fn join(&mut self, join: &Join, known: &[AttrId], depth: u32) -> Result<Field, Refusal> {
        self.check_name(&join.key, known);
        let (source, mut below) = self.source(&join.key, Some(known));
        let field = self.field(join.key.to_value(), join.params.as_ref(), source);
        let mut field = self.checked(field);
        self.path.push(field.key.clone());
        if let Source::Placeholder = field.source {
            self.spend(field.params.len())?;
            below.extend(field.params.keys().map(|key| self.names.id(self.registry, key)));
        }
        below.sort_unstable();
        below.dedup();
        field.below = match &join.target {
            Target::Query(query) => Below::Level(self.level(query, below, depth + 1)?),
            Target::Union(entries) => {
                let mut levels = Vec::new();
                for (key, query) in entries {
                    let id = self.names.id(self.registry, &Value::Keyword(key.clone()));
                    levels.push((id, self.level(query, below.clone(), depth + 1)?));
                }
                Below::Union(levels)
            }
            Target::Depth(depth) => Below::Depth(*depth),
            Target::Unbounded => Below::Unbounded,
        };
        self.path.pop();
        Ok(field)
    }

    fn call(&mut self, call: &Call, depth: u32) -> Result<Field, Refusal> {
        if depth > 1 {
            return Err(Refusal::NestedMutation(call.name.clone()));
        }
        let mut field =
            self.field(Value::Symbol(call.name.clone()), Some(&call.params), Source::Call(call.clone()));
        if let Some(query) = &call.query {
            field.below = Below::Level(self.level(query, Vec::new(), depth + 1)?);
        }
        Ok(field)
    }

    /// Where a key's value comes from, and what will be known of the entities below.
    fn source(&mut self, key: &Key, known: Option<&[AttrId]>) -> (Source, Vec<AttrId>) {
        let id = self.names.id(self.registry, &Value::Keyword(key.attr().clone()));
        let is_visible = self.registry.is_visible(id, self.viewer);
        match (key, known) {
            (Key::Ident(_, value), _) => {
                (Source::Ident(id, value.clone()), if is_visible { vec![id] } else { Vec::new() })
            }
            (Key::Attr(attr), Some(known)) if attr.namespace() == Some(">") => {
                (Source::Placeholder, known.to_vec())
            }
            (Key::Attr(_), _) => (Source::Attr(id, is_visible), self.provided_below(id)),
        }
    }

    /// What the providers of an attribute promise of the entities below it.
    fn provided_below(&mut self, id: AttrId) -> Vec<AttrId> {
        let mut below: Vec<AttrId> = self.registry.refers_to(id).into_iter().collect();
        for number in self.registry.providers(id) {
            let outputs = self.registry.operations()[*number].outputs.iter();
            for query in outputs.filter(|(output, _)| *output == id).filter_map(|(_, nested)| nested.as_ref())
            {
                for key in query.exprs.iter().filter_map(Expr::key) {
                    below.push(self.names.id(self.registry, &Value::Keyword(key.attr().clone())));
                }
            }
        }
        below
    }
}

/// Finds the steps of a level's fields from what is known.
pub(super) fn steps<W: World>(registry: &Registry<W>, fields: &[Field], known: &[AttrId]) -> Steps {
    let mut goals = Vec::new();
    let mut hidden = Vec::new();
    for field in fields {
        match &field.source {
            Source::Attr(attr, true) => goals.push(Goal { attr: *attr, params: &field.params }),
            Source::Attr(attr, false) => hidden.push(*attr),
            Source::Ident(..) | Source::Placeholder | Source::Call(_) => {}
        }
    }
    let mut steps = Steps::find(registry, known, &goals);
    steps.unreachable.extend(hidden);
    steps
}

/// The parameter by which a query says that it can do without an attribute.
const OPTIONAL: &str = "com.wsscode.pathom3.connect.operation/optional?";
