//! From a query to a plan: what to call, level by level.
//!
//! Shape: a vector of levels, the root first; a field refers to the level below it by index. Calls are planned for
//! the attributes that each level is expected to know. Where an entity turns out to know others, `run.rs` plans its
//! calls again by the same rule.
//!
//! Invariant: a plan is a value. It depends on no data, and one plan answers any number of requests with the same
//! query, seeds and viewer.

use std::sync::Arc;

use super::fast_plan::FastPlan;
use super::level::{Below, Field, Level, Source};
use super::level::{CallPlan, Goal};
use super::plan_fault::PlanFault;
use super::{Expr, ExprKey, Join, JoinTarget, Limits, MutationCall, Prop, Query, QueryRefusal, names::Names};
use crate::edn::{Keyword, Map, Value};
use crate::graph::registry::{AttrId, Registry, Viewer, World};

/// A plan: how a query will be answered.
pub struct Plan {
    pub(super) viewer: Viewer,
    pub(super) levels: Vec<Arc<Level>>,
    pub(super) names: Names,
    /// The plan of the fast path, if the query only follows references and reads attributes.
    pub(super) fast: Option<FastPlan>,
    /// The errors of the query that can be found without data: misspelt attributes and wrong parameters.
    pub(super) faults: Vec<PlanFault>,
    /// Whether it names an attribute for which the log may have to be read.
    pub reads_log: bool,
}

/// What a plan depends on besides the query.
#[derive(Clone, Copy)]
pub struct Planning<'a> {
    /// The attributes that are given for the root.
    pub seeds: &'a [Keyword],
    /// The viewer.
    pub viewer: Viewer,
    /// The limits.
    pub limits: Limits,
}

/// Plans a query.
///
/// # Errors
///
/// Returns a refusal for a query that is too deep or too wide, or has a mutation below a join.
pub fn plan<W: World>(
    query: &Query,
    registry: &Registry<W>,
    with: &Planning<'_>,
) -> Result<Plan, QueryRefusal> {
    let mut known: Vec<_> = with.seeds.iter().filter_map(|seed| registry.id(seed)).collect();
    // A key that the viewer may not see must not lead to attributes that it may see.
    known.retain(|id| registry.is_visible(*id, with.viewer));
    let mut planner = Planner {
        registry,
        viewer: with.viewer,
        limits: with.limits,
        names: Names::default(),
        levels: Vec::new(),
        fields: 0,
        path: Vec::new(),
        faults: Vec::new(),
    };
    planner.level(query, known, 1)?;
    // Each reserved place has been filled, so flattening keeps the indexes.
    let levels: Vec<_> = planner.levels.into_iter().flatten().map(Arc::new).collect();
    let faults = planner.faults;
    // The fast path answers whole queries only, and cannot report faults.
    let fast = faults.is_empty().then(|| FastPlan::of(&levels, registry)).flatten();
    let reads_log = |field: &Field| matches!(field.source, Source::Attr(id, true) if registry.reads_log(id));
    let reads_log = levels.iter().any(|level| level.fields.iter().any(reads_log));
    Ok(Plan { viewer: with.viewer, levels, names: planner.names, fast, faults, reads_log })
}

impl Plan {
    /// Returns true if the plan calls mutations.
    pub fn has_mutations(&self) -> bool {
        let is_call = |field: &Field| matches!(field.source, Source::Call(_));
        self.levels.first().is_some_and(|root| root.fields.iter().any(is_call))
    }

    /// Returns how many entities the query names, results of mutations included; `None` if it follows references, as a
    /// list does.
    #[cfg(feature = "http")]
    pub(crate) fn entities_named(&self) -> Option<usize> {
        let joins = self.levels.iter().flat_map(|level| &level.fields);
        let joins = joins.filter(|field| !matches!(field.below, Below::Nothing));
        let is_named = |field: &Field| matches!(field.source, Source::Ident(..) | Source::Call(_));
        joins.map(|field| is_named(field).then_some(())).collect::<Option<Vec<()>>>().map(|named| named.len())
    }

    /// Finds the index of a field by its key at a level, and the level below it. Returns `None` if the plan has no
    /// fast path or the level has no such field.
    pub fn place(&self, level: usize, key: &Value) -> Option<(usize, Option<usize>)> {
        self.fast.as_ref()?.place(level, key)
    }

    /// Returns the plan as data, for inspection: the calls and joins of each level.
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
                // Not followed: a recursion has no end here, because a plan knows no data.
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

/// Builds the levels of a plan.
pub(super) struct Planner<'r, W: World> {
    pub(super) registry: &'r Registry<W>,
    pub(super) viewer: Viewer,
    pub(super) limits: Limits,
    pub(super) names: Names,
    pub(super) levels: Vec<Option<Level>>,
    pub(super) fields: u32,
    /// The keys of the joins above the level that is being planned.
    pub(super) path: Vec<Value>,
    pub(super) faults: Vec<PlanFault>,
}

impl<W: World> Planner<'_, W> {
    /// Adds the level of a query and the levels below it; returns its index.
    pub(super) fn level(
        &mut self,
        query: &Query,
        known: Vec<AttrId>,
        depth: u32,
    ) -> Result<usize, QueryRefusal> {
        if depth > self.limits.depth {
            return Err(QueryRefusal::Limit { limit: "depth", max: self.limits.depth });
        }
        // The index is reserved before the levels below are added, so that the root is 0.
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
                // A property that refers to an entity may be answered as a join of the entity's main attributes.
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
            // Every mutation is called. Of other expressions with the same key, the last one wins.
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
        Ok(place)
    }

    /// Adds the entity's main attributes, which a wildcard includes. One that the query names keeps its own field.
    fn add_whole(&mut self, known: &[AttrId], fields: &mut Vec<Field>) -> Result<(), QueryRefusal> {
        // Only a level that knows exactly one attribute is known to be that entity's.
        let [key] = known else {
            return Ok(());
        };
        for ident in self.registry.whole_of(*key) {
            let Ok(attr) = Keyword::new(ident) else {
                continue;
            };
            let prop = Prop { key: ExprKey::Attr(attr), params: None };
            if fields.iter().any(|field| field.key == prop.key.to_value()) {
                continue;
            }
            self.spend(1)?;
            let (source, _) = self.source(&prop.key, None);
            // The query does not name it, so its absence is not an error.
            fields.push(Field { is_optional: true, ..self.field(prop.key.to_value(), None, source) });
        }
        Ok(())
    }

    /// Returns the join that a property without a subquery stands for; `None` if its entities are not answered as a
    /// whole.
    fn whole(&self, prop: &Prop) -> Option<Join> {
        let ExprKey::Attr(attr) = &prop.key else {
            return None;
        };
        let whole = self.registry.whole(self.registry.id(attr)?);
        let keys = whole.iter().filter_map(|ident| Keyword::new(ident).ok());
        let exprs: Vec<Expr> =
            keys.map(|attr| Expr::Prop(Prop { key: ExprKey::Attr(attr), params: None })).collect();
        let target = JoinTarget::Query(Query { exprs, meta: None });
        (!whole.is_empty()).then(|| Join { key: prop.key.clone(), params: prop.params.clone(), target })
    }

    fn spend(&mut self, fields: usize) -> Result<(), QueryRefusal> {
        self.fields = self.fields.saturating_add(u32::try_from(fields).unwrap_or(u32::MAX));
        if self.fields > self.limits.attributes {
            return Err(QueryRefusal::Limit { limit: "attributes", max: self.limits.attributes });
        }
        Ok(())
    }

    fn field(&self, key: Value, params: Option<&Map>, source: Source) -> Field {
        let mut params = params.cloned().unwrap_or_default();
        let is_optional = params.keyword(OPTIONAL).is_some_and(Value::is_truthy);
        // The parameter is Pathom's, for every attribute. Readers and parameter checks must not see it.
        if params.keyword(OPTIONAL).is_some() {
            let is_other = |(key, _): &(Value, Value)| *key != Value::keyword(OPTIONAL);
            params = params.into_iter().filter(is_other).collect();
        }
        let is_whole = match &source {
            Source::Attr(attr, _) => self.registry.answers_whole(*attr, self.viewer),
            Source::Ident(..) | Source::Placeholder | Source::Call(_) => false,
        };
        Field { key, params, is_optional, is_whole, source, refused: None, below: Below::Nothing }
    }

    fn join(&mut self, join: &Join, known: &[AttrId], depth: u32) -> Result<Field, QueryRefusal> {
        // A placeholder names no attribute, whatever it resembles.
        if join.key.attr().namespace() != Some(PLACEHOLDER) {
            self.check_name(&join.key, known);
        }
        // The record's fields are checked before the path is extended: the check adds the join's key itself.
        self.check_fields(join);
        let (source, mut below) = self.source(&join.key, Some(known));
        let field = self.field(join.key.to_value(), join.params.as_ref(), source);
        let mut field = self.checked(field);
        self.path.push(field.key.clone());
        // Below the placeholder of a joined Pathom the parameters are known as well, under their own names.
        if let Source::Placeholder = field.source {
            self.spend(field.params.len())?;
            below.extend(field.params.keys().map(|key| self.names.id(self.registry, key)));
        }
        // Sorted, because `run.rs` compares it with the sorted list of what a row knows.
        below.sort_unstable();
        below.dedup();
        field.below = match &join.target {
            JoinTarget::Query(query) => Below::Level(self.level(query, below, depth + 1)?),
            JoinTarget::Union(entries) => {
                let mut levels = Vec::new();
                for (key, query) in entries {
                    // A misspelt key would choose nothing, and the answer would say that nothing is there.
                    self.check_name(&ExprKey::Attr(key.clone()), &below);
                    let id = self.names.id(self.registry, &Value::Keyword(key.clone()));
                    levels.push((id, self.level(query, below.clone(), depth + 1)?));
                }
                Below::Union(levels)
            }
            JoinTarget::Depth(depth) => Below::Depth(*depth),
            JoinTarget::Unbounded => Below::Unbounded,
        };
        self.path.pop();
        Ok(field)
    }

    fn call(&mut self, call: &MutationCall, depth: u32) -> Result<Field, QueryRefusal> {
        if depth > 1 {
            // Pathom would call it once per entity of the join. At the top, it runs once, in the order of the query.
            return Err(QueryRefusal::NestedMutation(call.name.clone()));
        }
        let mut field =
            self.field(Value::Symbol(call.name.clone()), Some(&call.params), Source::Call(call.clone()));
        if let Some(query) = &call.query {
            // What the answer will contain is unknown before the call, so its calls are planned when it is there.
            field.below = Below::Level(self.level(query, Vec::new(), depth + 1)?);
        }
        Ok(field)
    }

    /// Returns the source of a key's value and the attributes that will be known of the entities below.
    fn source(&mut self, key: &ExprKey, known: Option<&[AttrId]>) -> (Source, Vec<AttrId>) {
        let id = self.names.id(self.registry, &Value::Keyword(key.attr().clone()));
        let is_visible = self.registry.is_visible(id, self.viewer);
        match (key, known) {
            (ExprKey::Ident(_, value), _) => {
                // With a hidden key nothing is known of the entity, so nothing can be read of it.
                (Source::Ident(id, value.clone()), if is_visible { vec![id] } else { Vec::new() })
            }
            // Pathom: a keyword with the namespace `>` is a placeholder, which stays at the entity.
            // Without a subquery it is an attribute like any other.
            (ExprKey::Attr(attr), Some(known)) if attr.namespace() == Some(PLACEHOLDER) => {
                (Source::Placeholder, known.to_vec())
            }
            (ExprKey::Attr(_), _) => {
                (Source::Attr(id, is_visible), self.registry.refers_to(id).into_iter().collect())
            }
        }
    }
}

/// Plans the calls for a level's fields from the attributes that are known.
pub(super) fn steps<W: World>(registry: &Registry<W>, fields: &[Field], known: &[AttrId]) -> CallPlan {
    let mut goals = Vec::new();
    let mut hidden = Vec::new();
    for field in fields {
        match &field.source {
            Source::Attr(attr, true) => goals.push(Goal { attr: *attr, params: &field.params }),
            Source::Attr(attr, false) => hidden.push(*attr),
            Source::Ident(..) | Source::Placeholder | Source::Call(_) => {}
        }
    }
    let mut steps = CallPlan::find(registry, known, &goals);
    // A hidden attribute is reported just like one that nothing leads to.
    steps.unreachable.extend(hidden);
    steps
}

/// Pathom's namespace of placeholders.
pub(super) const PLACEHOLDER: &str = ">";
/// Pathom's parameter for an attribute whose absence is not an error.
const OPTIONAL: &str = "com.wsscode.pathom3.connect.operation/optional?";
