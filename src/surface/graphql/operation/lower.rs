//! Lowers a selection to one EQL query.
//!
//! Each attribute of a row is queried once. An attribute that is selected again with other parameters goes below a
//! placeholder, so that a single plan answers any number of aliases. A field that stands for the row itself adds its
//! selection to that row.
//!
//! Invariant: every field of the selection knows the position of its value, and fields with equal attribute and
//! parameters share one.

use super::select::Locator;
use super::select::{Selected, SelectedKind, Selection};
use crate::edn::{Keyword, Map, Value};
use crate::graph::eql::{Expr, ExprKey, Join, JoinTarget, Prop, Query};
use crate::surface::graphql::schema::model::{FieldSource, SchemaModel};
use crate::surface::graphql::schema::record;

/// The attributes and joins that a selection needs from one row.
#[derive(Default)]
pub(in crate::surface::graphql) struct Need {
    items: Vec<Item>,
}

/// One attribute or join.
struct Item {
    key: ExprKey,
    params: Map,
    below: Option<Need>,
    /// The number of its placeholder; `None` if it belongs to the row itself.
    within: Option<usize>,
}

impl Need {
    /// Returns the needs of a selection whose locators are set already.
    pub(in crate::surface::graphql) fn of(model: &SchemaModel, selection: &Selection) -> Self {
        let mut need = Self::default();
        // `add` would set the locators again, to equal values, so a copy takes them.
        need.add(model, &mut selection.clone());
        need
    }

    /// Adds the needs of a selection, and sets the locators of its fields.
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
                    // EQL answers an ident with a map even if no entity has the key. The witness, an attribute that is
                    // never null, shows whether there is one.
                    if let (Some(Value::Keyword(witness)), Some(below)) = (witness, &mut item.below) {
                        below.item(&ExprKey::Attr(witness.clone()), &Map::new(), &mut Locator::default());
                    }
                }
                // The payload is queried after the mutation has run (`Need::of`). Here only its locators are set.
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
            // A record is one value for the graph, so there is nothing to query below it.
            Some(below) if model.objects[below.object].is_record => record::locate(model, below),
            below => item.ask(model, below.as_mut()),
        }
    }

    /// Finds or adds the item of a key and parameters.
    fn item(&mut self, key: &ExprKey, params: &Map, at: &mut Locator) -> &mut Item {
        let is_same = |item: &Item| item.key == *key && item.params == *params;
        let place = self.items.iter().position(is_same).unwrap_or_else(|| {
            // A map has each key once: the first item of a key is in the row itself, every further one (which differs in
            // its parameters) in a placeholder of its own number.
            let twins = self.items.iter().filter(|item| item.key == *key).count();
            let within = (twins > 0).then_some(twins);
            self.items.push(Item { key: key.clone(), params: params.clone(), below: None, within });
            self.items.len() - 1
        });
        let within = self.items[place].within;
        // Entries of placeholders follow all others in the query, so they do not shift this index.
        let before = self.items[..place].iter().filter(|item| item.within.is_none()).count();
        *at = Locator {
            within: within.map(placeholder),
            key: key.to_value(),
            place: if within.is_none() { before } else { usize::MAX },
        };
        &mut self.items[place]
    }

    /// Returns the EQL query.
    pub(in crate::surface::graphql) fn query(&self) -> Query {
        let own = self.items.iter().filter(|item| item.within.is_none()).map(Item::expr);
        let mut exprs: Vec<Expr> = own.collect();
        let most = self.items.iter().filter_map(|item| item.within).max().unwrap_or(0);
        // Items with one number differ in their keys, so they share a placeholder.
        for number in 1..=most {
            let below = self.items.iter().filter(|item| item.within == Some(number)).map(Item::expr);
            let query = Query { exprs: below.collect(), meta: None };
            // Always a keyword, because the name is made here.
            if let Value::Keyword(name) = placeholder(number) {
                let target = JoinTarget::Query(query);
                exprs.push(Expr::Join(Join { key: ExprKey::Attr(name), params: None, target }));
            }
        }
        Query { exprs, meta: None }
    }

    /// Returns true if there is nothing to query.
    pub(in crate::surface::graphql) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl Item {
    /// Adds the needs of the selection below the item.
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

/// Returns the key that a field passes as its only argument. An integer key is parsed, because ids are strings in
/// GraphQL.
pub(super) fn key_value(field: &Selected, is_integer: bool) -> Value {
    let value = field.params.iter().next().map_or(Value::Nil, |(_, value)| value.clone());
    match value.as_str().map(str::parse::<i64>) {
        Some(Ok(number)) if is_integer => Value::Int(number),
        Some(_) | None => value,
    }
}

/// Returns the keyword of a placeholder, by Pathom's convention a name in the namespace `>`.
fn placeholder(number: usize) -> Value {
    Keyword::new(&format!(">/p{number}")).map_or(Value::Nil, Value::Keyword)
}
