//! Records: maps with declared fields, as object types whose fields are read off the map.
//!
//! The graph is asked for the attribute as a whole; what a selection leaves out is left out when the answer is written. So a
//! record costs the plan nothing. Lives here: their types, where their values stand, and the short way to write them. The
//! long way is that of every object (`answer.rs`). Invariant: both ways write the same text.

use super::lower::Locator;
use super::model::{Entries, Enum, Field, FieldSource, Leaf, Out, Scalar, SchemaModel};
use super::names;
use super::schema::{SchemaBuilder, SchemaFault};
use super::select::{SelectedKind, Selection};
use super::write;
use crate::edn::{Map, Value};
use crate::graph::registry::{Param, ParamType, Record};

impl SchemaBuilder<'_> {
    /// The type of a record, made when it is needed first.
    pub(super) fn record(&mut self, record: &'static Record) -> usize {
        let name = names::object(record.name);
        if let Some(number) = self.objects.get(&name).copied() {
            if !self.model.objects[number].is_record {
                self.faults.push(SchemaFault::Clash { within: "the schema".into(), name });
            }
            return number;
        }
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

    /// The type of one value that is shown.
    pub(super) fn shown(&mut self, kind: ParamType) -> Leaf {
        if let ParamType::List(item) = kind {
            return self.shown(*item);
        }
        if let ParamType::Record(record) = kind {
            return Leaf::Object(self.record(record));
        }
        if let ParamType::Integer { max, .. } = kind
            && max > i64::from(i32::MAX)
        {
            return Leaf::Scalar(Scalar::Long);
        }
        self.taken_in(kind)
    }
}

/// Tells the fields of a record where their values stand in its map.
pub(super) fn locate(model: &SchemaModel, selection: &mut Selection) {
    for selected in &mut selection.fields {
        let SelectedKind::Field(number) = selected.what else { continue };
        if let FieldSource::Attr(key) = &model.objects[selection.object].fields[number].source {
            selected.at = Locator { within: None, key: key.clone(), place: number };
        }
        if let Some(below) = &mut selected.below {
            locate(model, below);
        }
    }
}

/// How a record is written by the short way.
pub(super) struct Shape {
    parts: Vec<Part>,
    /// What follows the last of them.
    tail: String,
}

/// A value of the record, and the text before it.
struct Part {
    lead: String,
    key: Value,
    out: Out,
    below: Option<Shape>,
}

impl Shape {
    pub(super) fn of(model: &SchemaModel, selection: &Selection) -> Self {
        let object = &model.objects[selection.object];
        let (mut parts, mut text) = (Vec::with_capacity(selection.fields.len()), "{".to_owned());
        for (at, selected) in selection.fields.iter().enumerate() {
            text.push_str(if at > 0 { "," } else { "" });
            text.push_str(&selected.prefix);
            let SelectedKind::Field(number) = selected.what else {
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

    /// Writes a record, or nothing where there is only the long way.
    pub(super) fn write(&self, enums: &[Enum], map: &Map, out: &mut String) -> Option<()> {
        for part in &self.parts {
            out.push_str(&part.lead);
            let value = map.get(&part.key).unwrap_or(&Value::Nil);
            self::value(enums, (part.out, part.below.as_ref()), value, out)?;
        }
        out.push_str(&self.tail);
        Some(())
    }
}

/// Writes a leaf or a record, or a list of them.
pub(super) fn value(
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
        _ if value.is_nil() => None,
        Leaf::Scalar(scalar) => write::scalar(scalar, value, out).ok(),
        Leaf::Enum(number) => write::constant(&enums[number], value, out).ok(),
        Leaf::Object(_) => below?.write(enums, value.as_map()?, out),
    }
}
