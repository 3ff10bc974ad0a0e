//! Attributes as entities, so that a query can read the declarations: name, type, meaning and visibility of each.
//!
//! Invariant: an attribute that the caller may not see is neither listed nor found.

use std::collections::BTreeSet;

use super::{
    AttrId, Attribute, Cardinality, Datum, Entity, Graph, Introspected, Registry, ResolverError, Type,
    ViewOf, Visibility, World,
};
use crate::domain::Code;
use crate::edn::{Keyword, Map, Value};

impl<W: World> Registry<W> {
    /// Iterates over all attributes with the entities that they belong to, in declared order.
    pub fn described(&self) -> impl Iterator<Item = (&Attribute, &super::EntityInfo)> {
        self.attributes.iter().map(|entry| (&entry.attribute, &self.entities[entry.entity]))
    }
}

impl<W: Introspected> Graph<'_, W> {
    /// Declares the entity of attributes, whose key is the ident.
    pub fn attribute_entity() -> Entity<W, u64> {
        let find: fn(ViewOf<'_, W>, &Value) -> Option<u64> = |view, key| {
            // A hidden attribute is not found, so that its name cannot be tried out.
            let id = W::graph(view).registry.id(key.as_keyword()?)?;
            visible::<W>(view, id.0.into()).map(|_| id.0.into())
        };
        let entity = Entity::new("attribute", "reveille.attribute/ident", find)
            .doc("An attribute of this graph.")
            .whole(WHOLE)
            .reads(
                everyone("reveille.attribute/ident", Type::Keyword).doc("The name of the attribute."),
                |view, number, _| read::<W>(view, number, |it, _| keyword(it.ident)),
            )
            .reads(
                everyone("reveille.attribute/entity", Type::String)
                    .doc("The name of the entity to which the attribute belongs."),
                |view, number, _| read::<W>(view, number, |_, entity| Datum::Text(entity.name)),
            )
            .reads(
                everyone("reveille.attribute/type", Type::Enum(Type::NAMES)).doc("The type of one value."),
                |view, number, _| read::<W>(view, number, |it, _| Datum::Name(it.kind.name())),
            )
            .reads(
                everyone("reveille.attribute/refers-to", Type::String)
                    .nullable()
                    .doc("For a reference: the name of the entity to which it refers. Nil for other types."),
                |view, number, _| {
                    read::<W>(view, number, |it, _| {
                        if let Type::Reference(entity) = it.kind { Datum::Text(entity) } else { Datum::Nil }
                    })
                },
            )
            .reads(
                everyone("reveille.attribute/values", Type::Keyword)
                    .many()
                    .doc("For an enum: all its values. Empty for other types."),
                |view, number, _| {
                    read::<W>(view, number, |it, _| {
                        let names = if let Type::Enum(names) = it.kind { names } else { &[] };
                        names.iter().map(|name| Value::keyword(name)).collect::<Vec<_>>().into()
                    })
                },
            );
        promises(entity)
    }

    /// Returns the numbers of the attributes that the viewer may see, by ident: all, or those of one entity.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such entity.
    pub(super) fn attribute_numbers(self, params: &Map) -> Result<Vec<u64>, ResolverError> {
        let named = |(key, _): (&Keyword, &Attribute)| {
            let id = self.registry.id(key)?;
            Some((id, self.registry.entity_of(id)?.name))
        };
        let all: Vec<(AttrId, &str)> = self.attributes().filter_map(named).collect();
        let Some(wanted) = params.keyword("entity").filter(|wanted| !wanted.is_nil()) else {
            return Ok(all.into_iter().map(|(id, _)| id.0.into()).collect());
        };
        // Answers have the names of entities as strings; a caller in EDN may write a keyword.
        let name = wanted.as_str().or_else(|| wanted.as_keyword().map(Keyword::as_str));
        let of_it = all.iter().filter(|(_, entity)| Some(*entity) == name);
        let numbers: Vec<u64> = of_it.map(|(id, _)| id.0.into()).collect();
        // An entity without any visible attribute counts as unknown, and `allowed` does not list it: its name is hidden too.
        if numbers.is_empty() {
            let known: BTreeSet<&str> = all.iter().map(|(_, entity)| *entity).collect();
            let known: Vec<Value> = known.into_iter().map(Value::string).collect();
            let data = Map::new()
                .with("parameter", Value::keyword("entity"))
                .with("value", wanted.clone())
                .with("allowed", known);
            return Err(
                ResolverError::new(format!("there is no entity {wanted}"), data).coded(Code::Validation)
            );
        }
        Ok(numbers)
    }
}

/// The attributes of an attribute that is queried as a whole.
const WHOLE: &[&str] = &[
    "reveille.attribute/ident",
    "reveille.attribute/entity",
    "reveille.attribute/type",
    "reveille.attribute/refers-to",
    "reveille.attribute/values",
    "reveille.attribute/many?",
    "reveille.attribute/nullable?",
    "reveille.attribute/unit",
    "reveille.attribute/stability",
    "reveille.attribute/visible-to",
    "reveille.attribute/doc",
];

/// Returns the attribute with this number, if the viewer may see it.
fn visible<W: Introspected>(view: ViewOf<'_, W>, number: u64) -> Option<(&Attribute, &super::EntityInfo)> {
    let graph = W::graph(view);
    let at = usize::try_from(number).ok()?;
    let entry = graph.registry.attributes.get(at)?;
    let is_visible = entry.attribute.visibility.is_some_and(|rule| rule.admits(graph.viewer));
    is_visible.then(|| (&entry.attribute, &graph.registry.entities[entry.entity]))
}

fn read<'a, W: Introspected>(
    view: ViewOf<'a, W>,
    number: u64,
    attribute: impl FnOnce(&'a Attribute, &'a super::EntityInfo) -> Datum<'a>,
) -> Result<Datum<'a>, ResolverError> {
    // Checked again: a hidden attribute reads as nil, wherever its number comes from.
    Ok(visible::<W>(view, number).map_or(Datum::Nil, |(it, entity)| attribute(it, entity)))
}

fn everyone(ident: &'static str, kind: Type) -> Attribute {
    Attribute::new(ident, kind).visible_to(Visibility::Everyone)
}

fn keyword<'a>(ident: &str) -> Datum<'a> {
    Keyword::new(ident).map_or(Datum::Nil, |keyword| Datum::Value(keyword.into()))
}

/// Declares the properties of an attribute beyond its name and type.
fn promises<W: Introspected>(entity: Entity<W, u64>) -> Entity<W, u64> {
    entity
        .reads(
            everyone("reveille.attribute/many?", Type::Boolean)
                .doc("Whether the value is a vector of such values."),
            |view, number, _| {
                read::<W>(view, number, |it, _| Datum::Bool(it.cardinality == Cardinality::Many))
            },
        )
        .reads(
            everyone("reveille.attribute/nullable?", Type::Boolean).doc("Whether the value may be nil."),
            |view, number, _| read::<W>(view, number, |it, _| Datum::Bool(it.nullable)),
        )
        .reads(
            everyone("reveille.attribute/unit", Type::String)
                .nullable()
                .doc("The unit of a number. Nil if it has none."),
            |view, number, _| read::<W>(view, number, |it, _| it.unit.map_or(Datum::Nil, Datum::Text)),
        )
        .reads(
            everyone("reveille.attribute/stability", Type::Enum(super::Stability::NAMES))
                .doc("Whether the attribute is stable, may change, or will be removed."),
            |view, number, _| read::<W>(view, number, |it, _| Datum::Name(it.stability.name())),
        )
        .reads(
            everyone("reveille.attribute/visible-to", Type::Enum(Visibility::NAMES))
                .doc("Who may see the attribute."),
            |view, number, _| {
                read::<W>(view, number, |it, _| {
                    it.visibility.map_or(Datum::Nil, |rule| Datum::Name(rule.name()))
                })
            },
        )
        .reads(
            everyone("reveille.attribute/doc", Type::String).doc("The documentation, for people."),
            |view, number, _| read::<W>(view, number, |it, _| Datum::Text(it.doc)),
        )
}
