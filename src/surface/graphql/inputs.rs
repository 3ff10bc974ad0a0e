//! What a schema takes in: enums, arguments, input objects.

use super::model::{Enum, In, Input, InputObject, Leaf, Scalar};
use super::names;
use super::roots::{Kind, Param};
use super::schema::Making;
use crate::edn::Value;
use crate::graph::registry::{Attribute, EntityInfo, Type};

impl Making<'_> {
    /// The enum of an attribute, made when it is needed first.
    pub(super) fn enumeration(
        &mut self,
        attribute: &Attribute,
        entity: &EntityInfo,
        values: &'static [&'static str],
    ) -> Leaf {
        let name = format!("{}{}", names::object(entity.name), names::object(attribute.ident));
        let values: Vec<(&str, String)> =
            values.iter().map(|value| (*value, names::constant(value))).collect();
        self.enumerate(&name, attribute.doc, &values)
    }

    fn enumerate(&mut self, name: &str, doc: &str, values: &[(&str, String)]) -> Leaf {
        if let Some(number) = self.model.enums.iter().position(|each| each.name == name) {
            return Leaf::Enum(number);
        }
        let constants: Vec<&str> = values.iter().map(|(_, constant)| constant.as_str()).collect();
        self.check_name(name);
        self.check_distinct(name, &constants);
        let values = values.iter().map(|(value, constant)| ((*value).to_owned(), constant.clone())).collect();
        self.model.enums.push(Enum { name: name.to_owned(), doc: doc.to_owned(), values });
        Leaf::Enum(self.model.enums.len() - 1)
    }

    pub(super) fn inputs(&mut self, by: &str, params: &[Param]) -> Vec<Input> {
        self.named_inputs(by, params, "")
    }

    /// Makes arguments; `name` is that of an object type that has none of its own.
    pub(super) fn named_inputs(&mut self, by: &str, params: &[Param], name: &str) -> Vec<Input> {
        let mut inputs = Vec::new();
        for param in params {
            let (kind, is_list) = param.kind.single();
            let Some(leaf) = self.kind(by, kind, name) else {
                continue;
            };
            inputs.push(Input {
                name: param.name.to_owned(),
                doc: param.doc.to_owned(),
                // Where there is no keyword, the fields are handed on one by one.
                param: if param.param.is_empty() { Value::Nil } else { Value::keyword(param.param) },
                ty: In { leaf, is_list, is_required: param.is_required },
                handed: kind.handed(),
            });
        }
        inputs
    }

    pub(super) fn kind(&mut self, by: &str, kind: &Kind, name: &str) -> Option<Leaf> {
        Some(match kind {
            Kind::Id => Leaf::Scalar(Scalar::Id),
            Kind::String => Leaf::Scalar(Scalar::String),
            Kind::Int => Leaf::Scalar(Scalar::Int),
            Kind::Long => Leaf::Scalar(Scalar::Long),
            Kind::Boolean => Leaf::Scalar(Scalar::Boolean),
            Kind::DateTime | Kind::DateTimeText => Leaf::Scalar(Scalar::DateTime),
            Kind::Json | Kind::Keyed => Leaf::Scalar(Scalar::Json),
            Kind::EnumOf(ident) => {
                let found = self.attributes.get(ident).copied();
                let Some((attribute, entity)) = found else {
                    self.unknown(by, ident);
                    return None;
                };
                let Type::Enum(values) = attribute.kind else {
                    self.unknown(by, ident);
                    return None;
                };
                self.enumeration(attribute, entity, values)
            }
            Kind::Enum(name, values) => {
                let values: Vec<_> = values.iter().map(|value| (*value, names::constant(value))).collect();
                self.enumerate(name, "One of these.", &values)
            }
            // Lists of lists are not taken.
            Kind::ListOf(_) => return None,
            Kind::Object(own, params) => {
                let name = if own.is_empty() { name } else { own };
                let fields = self.inputs(by, params);
                self.input_object(name, "", fields)
            }
        })
    }

    fn input_object(&mut self, name: &str, doc: &str, fields: Vec<Input>) -> Leaf {
        if let Some(number) = self.model.inputs.iter().position(|input| input.name == name) {
            return Leaf::Object(number);
        }
        self.check_name(name);
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        self.check_distinct(name, &names);
        self.model.inputs.push(InputObject { name: name.to_owned(), doc: doc.to_owned(), fields });
        Leaf::Object(self.model.inputs.len() - 1)
    }
}
