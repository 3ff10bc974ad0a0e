//! Records: maps with declared fields, as object types whose fields are read from the map.
//!
//! The graph returns the attribute as a whole, and fields that are not selected are left out when the answer is written,
//! so a record adds nothing to the plan. Lives here: the types of records, the positions of their values, and their
//! writer on the fast path. Does not live here: their writer on the general path, which is that of all objects
//! (`answer.rs`). Invariant: both write identical text.

use super::build::{SchemaBuilder, SchemaFault};
use super::model::{Entries, Enum, Field, FieldSource, Leaf, Out, Scalar, SchemaModel};
use super::names;
use crate::edn::{Map, Value};
use crate::graph::registry::{Param, ParamType, Record};
use crate::surface::graphql::execution::write;
use crate::surface::graphql::operation::select::Locator;
use crate::surface::graphql::operation::select::{SelectedKind, Selection};

impl SchemaBuilder<'_> {
    /// Returns the type of a record, and adds it to the schema on first use.
    pub(in crate::surface::graphql) fn record(&mut self, record: &'static Record) -> usize {
        let name = names::object(record.name);
        if let Some(number) = self.objects.get(&name).copied() {
            // A record and an entity cannot share a type, because their fields are read in different ways.
            if !self.model.objects[number].is_record {
                self.faults.push(SchemaFault::Clash { within: "the schema".into(), name });
            }
            return number;
        }
        // Reserved before its fields exist, so that a record may contain itself.
        let number = self.reserve(&name, record.doc);
        self.model.objects[number].is_record = true;
        let fields = record.params.iter().map(|param| self.record_field(param)).collect();
        self.fill(number, fields);
        number
    }

    fn record_field(&mut self, param: &'static Param) -> Field {
        let is_list = matches!(param.kind, ParamType::List(_));
        Field {
            name: names::field(param.name),
            doc: param.doc.to_owned(),
            is_deprecated: false,
            args: Vec::new(),
            out: Out { leaf: self.shown(param.kind), is_list, is_nullable: param.is_nullable },
            source: FieldSource::Attr(Value::keyword(param.name)),
            entries: if is_list { Entries::Listed } else { Entries::One },
        }
    }

    /// Returns the output type of one value.
    pub(in crate::surface::graphql) fn shown(&mut self, kind: ParamType) -> Leaf {
        if let ParamType::List(item) = kind {
            return self.shown(*item);
        }
        if let ParamType::Record(record) = kind {
            return Leaf::Object(self.record(record));
        }
        // GraphQL's `Int` is a signed integer of 32 bits.
        if let ParamType::Integer { max, .. } = kind
            && max > i64::from(i32::MAX)
        {
            return Leaf::Scalar(Scalar::Long);
        }
        // All other types have one form for input and output.
        self.taken_in(kind)
    }
}

/// Sets the locators of a record's fields.
pub(in crate::surface::graphql) fn locate(model: &SchemaModel, selection: &mut Selection) {
    for selected in &mut selection.fields {
        let SelectedKind::Field(number) = selected.what else { continue };
        if let FieldSource::Attr(key) = &model.objects[selection.object].fields[number].source {
            // A guess, right if the map has all declared fields in order; otherwise a lookup goes by the key.
            selected.at = Locator { within: None, key: key.clone(), place: number };
        }
        if let Some(below) = &mut selected.below {
            locate(model, below);
        }
    }
}

/// The template by which the fast path writes a record.
pub(in crate::surface::graphql) struct Shape {
    parts: Vec<Part>,
    /// The text after the last value.
    tail: String,
}

/// A value of the record, with the text before it.
struct Part {
    lead: String,
    key: Value,
    out: Out,
    below: Option<Shape>,
}

impl Shape {
    /// Creates the template of a selection.
    pub(in crate::surface::graphql) fn of(model: &SchemaModel, selection: &Selection) -> Self {
        let object = &model.objects[selection.object];
        let (mut parts, mut text) = (Vec::with_capacity(selection.fields.len()), "{".to_owned());
        for (at, selected) in selection.fields.iter().enumerate() {
            text.push_str(if at > 0 { "," } else { "" });
            text.push_str(&selected.prefix);
            let SelectedKind::Field(number) = selected.what else {
                // Only `__typename` gets here: other introspection fields exist at the root alone.
                write::text(&object.name, &mut text);
                continue;
            };
            let below = selected.below.as_ref().map(|below| Shape::of(model, below));
            let (lead, out) = (std::mem::take(&mut text), object.fields[number].out);
            parts.push(Part { lead, key: selected.at.key.clone(), out, below });
        }
        text.push('}');
        Shape { parts, tail: text }
    }

    /// Writes a record. Returns `None` if only the general path can answer.
    pub(in crate::surface::graphql) fn write(
        &self,
        enums: &[Enum],
        map: &Map,
        out: &mut String,
    ) -> Option<()> {
        for part in &self.parts {
            out.push_str(&part.lead);
            let value = map.get(&part.key).unwrap_or(&Value::Nil);
            self::value(enums, (part.out, part.below.as_ref()), value, out)?;
        }
        out.push_str(&self.tail);
        Some(())
    }
}

/// Writes a leaf or a record, or a list of them. Returns `None` if only the general path can answer.
pub(in crate::surface::graphql) fn value(
    enums: &[Enum],
    (is, below): (Out, Option<&Shape>),
    value: &Value,
    out: &mut String,
) -> Option<()> {
    if value.is_nil() && is.is_nullable {
        out.push_str("null");
        return Some(());
    }
    if !is.is_list {
        return one(enums, (is.leaf, below), value, out);
    }
    out.push('[');
    for (at, item) in value.as_items()?.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        one(enums, (is.leaf, below), item, out)?;
    }
    out.push(']');
    Some(())
}

fn one(enums: &[Enum], (leaf, below): (Leaf, Option<&Shape>), value: &Value, out: &mut String) -> Option<()> {
    match leaf {
        // A null that is not allowed is an error with a path, which the general path reports.
        _ if value.is_nil() => None,
        Leaf::Scalar(scalar) => write::scalar(scalar, value, out).ok(),
        Leaf::Enum(number) => write::constant(&enums[number], value, out).ok(),
        Leaf::Object(_) => below?.write(enums, value.as_map()?, out),
    }
}
