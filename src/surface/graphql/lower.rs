//! From a selection to one EQL query.
//!
//! A row is asked for each attribute once; where one is asked for with other parameters as well, that goes below a
//! placeholder, so that a single plan answers any number of aliases. Fields that stand for the row itself ask it along.
//!
//! Invariant: every field of the selection knows where its value will stand, and two fields with the same attribute and
//! parameters share it.

use super::model::{FieldSource, SchemaModel};
use super::record;
use super::select::{Selected, SelectedKind, Selection};
use crate::edn::{Keyword, Map, Value};
use crate::graph::eql::{Expr, ExprKey, Join, JoinTarget, Prop, Query};

/// Where a value stands in the map of its row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Locator {
    /// The placeholder that it stands below.
    pub(super) within: Option<Value>,
    pub(super) key: Value,
    /// Where the entry is, if nothing before it is missing.
    pub(super) place: usize,
}

impl Default for Locator {
    fn default() -> Self {
        Self { within: None, key: Value::Nil, place: usize::MAX }
    }
}

/// What a row is asked for.
#[derive(Default)]
pub(super) struct Need {
    items: Vec<Item>,
}

/// One thing that a row is asked for.
struct Item {
    key: ExprKey,
    params: Map,
    below: Option<Need>,
    /// The number of the placeholder that it stands below.
    within: Option<usize>,
}

impl Need {
    /// Returns what a selection asks for that knows already where its answers will stand.
    pub(super) fn of(model: &SchemaModel, selection: &Selection) -> Self {
        let mut need = Self::default();
        need.add(model, &mut selection.clone());
        need
    }

    /// Adds what a selection asks for, and tells its fields where the answers will stand.
    pub(super) fn add(&mut self, model: &SchemaModel, selection: &mut Selection) {
        for field in &mut selection.fields {
            let SelectedKind::Field(number) = field.what else {
                continue;
            };
            let declared = &model.objects[selection.object].fields[number];
            match &declared.source {
                FieldSource::Attr(attr) => self.attr(model, attr, field),
                FieldSource::Itself | FieldSource::Subscription => {
                    if let Some(below) = &mut field.below {
                        self.add(model, below);
                    }
                }
                FieldSource::Entity { key, witness, is_integer } => {
                    let value = key_value(field, *is_integer);
                    let item = self.item(&ExprKey::Ident(key.clone(), value), &Map::new(), &mut field.at);
                    item.ask(model, field.below.as_mut());
                    if let (Some(Value::Keyword(witness)), Some(below)) = (witness, &mut item.below) {
                        below.item(&ExprKey::Attr(witness.clone()), &Map::new(), &mut Locator::default());
                    }
                }
                FieldSource::True => {}
                // What a mutation answers is asked for when it has run.
                FieldSource::Mutation(_) => {
                    if let Some(below) = &mut field.below {
                        Self::default().add(model, below);
                    }
                }
            }
        }
    }

    fn attr(&mut self, model: &SchemaModel, attr: &Value, field: &mut Selected) {
        let Value::Keyword(attr) = attr else {
            return;
        };
        let item = self.item(&ExprKey::Attr(attr.clone()), &field.params, &mut field.at);
        match &mut field.below {
            Some(below) if model.objects[below.object].is_record => record::locate(model, below),
            below => item.ask(model, below.as_mut()),
        }
    }

    /// Finds or adds the item of a key and parameters.
    fn item(&mut self, key: &ExprKey, params: &Map, at: &mut Locator) -> &mut Item {
        let is_same = |item: &Item| item.key == *key && item.params == *params;
        let place = self.items.iter().position(is_same).unwrap_or_else(|| {
            let twins = self.items.iter().filter(|item| item.key == *key).count();
            let within = (twins > 0).then_some(twins);
            self.items.push(Item { key: key.clone(), params: params.clone(), below: None, within });
            self.items.len() - 1
        });
        let within = self.items[place].within;
        let before = self.items[..place].iter().filter(|item| item.within.is_none()).count();
        *at = Locator {
            within: within.map(placeholder),
            key: key.to_value(),
            place: if within.is_none() { before } else { usize::MAX },
        };
        &mut self.items[place]
    }

    /// Returns the query.
    pub(super) fn query(&self) -> Query {
        let own = self.items.iter().filter(|item| item.within.is_none()).map(Item::expr);
        let mut exprs: Vec<Expr> = own.collect();
        let most = self.items.iter().filter_map(|item| item.within).max().unwrap_or(0);
        for number in 1..=most {
            let below = self.items.iter().filter(|item| item.within == Some(number)).map(Item::expr);
            let query = Query { exprs: below.collect(), meta: None };
            if let Value::Keyword(name) = placeholder(number) {
                let target = JoinTarget::Query(query);
                exprs.push(Expr::Join(Join { key: ExprKey::Attr(name), params: None, target }));
            }
        }
        Query { exprs, meta: None }
    }

    /// Returns whether nothing is asked for.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl Item {
    fn ask(&mut self, model: &SchemaModel, below: Option<&mut Selection>) {
        if let Some(selection) = below {
            self.below.get_or_insert_default().add(model, selection);
        }
    }

    fn expr(&self) -> Expr {
        let params = (!self.params.is_empty()).then(|| self.params.clone());
        let key = self.key.clone();
        match &self.below {
            None => Expr::Prop(Prop { key, params }),
            Some(below) => Expr::Join(Join { key, params, target: JoinTarget::Query(below.query()) }),
        }
    }
}

/// The value of the only argument of a field that finds an entity.
pub(super) fn key_value(field: &Selected, is_integer: bool) -> Value {
    let value = field.params.iter().next().map_or(Value::Nil, |(_, value)| value.clone());
    match value.as_str().map(str::parse::<i64>) {
        Some(Ok(number)) if is_integer => Value::Int(number),
        Some(_) | None => value,
    }
}

fn placeholder(number: usize) -> Value {
    Keyword::new(&format!(">/p{number}")).map_or(Value::Nil, Value::Keyword)
}
