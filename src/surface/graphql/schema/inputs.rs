//! Builds the input side of a schema: enums, arguments and input objects.
//!
//! Does not live here: object types and root fields; see `build.rs`.

use super::build::{SchemaBuilder, SchemaFault};
use super::model::{ArgTarget, Enum, In, Input, InputObject, KeyForm, Leaf, Scalar};
use super::names;
use crate::edn::Value;
use crate::graph::registry::{Attribute, EntityInfo, Param, ParamGroups, ParamType};

impl SchemaBuilder<'_> {
    /// Returns the enum of an attribute, and adds it to the schema on first use.
    pub(super) fn enumeration(
        &mut self,
        attribute: &Attribute,
        entity: &EntityInfo,
        values: &'static [&'static str],
    ) -> Leaf {
        // Includes the entity, because another one may have an attribute of this name with other values.
        let name = format!("{}{}", names::object(entity.name), names::object(attribute.ident));
        let values: Vec<(&str, String)> =
            values.iter().map(|value| (*value, names::constant(value))).collect();
        self.enumerate(&name, attribute.doc, &values)
    }

    /// Returns the enum with this name, and adds it to the schema on first use.
    fn enumerate(&mut self, name: &str, doc: &str, values: &[(&str, String)]) -> Leaf {
        let constants: Vec<&str> = values.iter().map(|(_, constant)| constant.as_str()).collect();
        if let Some(number) = self.model.enums.iter().position(|each| each.name == name) {
            let known = self.model.enums[number].values.iter().map(|(_, constant)| constant.as_str());
            if !known.eq(constants) {
                let (within, name) = ("the schema".to_owned(), name.to_owned());
                self.faults.push(SchemaFault::Clash { within, name });
            }
            return Leaf::Enum(number);
        }
        self.check_name(name);
        self.check_distinct(name, &constants);
        let values = values.iter().map(|(value, constant)| ((*value).to_owned(), constant.clone())).collect();
        self.model.enums.push(Enum { name: name.to_owned(), doc: doc.to_owned(), values });
        Leaf::Enum(self.model.enums.len() - 1)
    }

    /// Converts parameters to arguments. A folded group becomes one argument with an input object.
    pub(in crate::surface::graphql) fn inputs(&mut self, groups: ParamGroups) -> Vec<Input> {
        let mut inputs = Vec::new();
        for group in groups {
            match group.folded {
                None => inputs.extend(self.flat(group.params)),
                Some((param, type_name)) => {
                    let fields = self.flat(group.params);
                    let leaf = self.input_object(&names::object(type_name), group.doc, fields);
                    inputs.push(folded(param, group.doc, In { leaf, is_list: false, is_required: false }));
                }
            }
        }
        inputs
    }

    /// Converts all parameters to one argument, `input`, whose type gets this name.
    pub(in crate::surface::graphql) fn input(&mut self, type_name: &str, groups: ParamGroups) -> Vec<Input> {
        let fields = self.inputs(groups);
        let leaf = self.input_object(type_name, "", fields);
        vec![folded(
            "input",
            "The parameters of the mutation.",
            In { leaf, is_list: false, is_required: true },
        )]
    }

    fn flat(&mut self, params: &[Param]) -> Vec<Input> {
        let input = |param: &Param| Input {
            name: names::field(param.name),
            doc: param.doc.to_owned(),
            target: ArgTarget::Param(Value::keyword(param.name)),
            ty: In { is_required: param.is_required, ..self.input_type(param.kind) },
            // Only a free-form map has keys that the schema does not declare, and so cannot rename.
            handed: if param.kind == ParamType::Map { KeyForm::Keyed } else { KeyForm::AsIs },
        };
        params.iter().map(input).collect()
    }

    fn input_type(&mut self, kind: ParamType) -> In {
        if let ParamType::List(item) = kind {
            return In { is_list: true, ..self.input_type(*item) };
        }
        In { leaf: self.taken_in(kind), is_list: false, is_required: false }
    }

    /// Returns the input type of one value.
    pub(super) fn taken_in(&mut self, kind: ParamType) -> Leaf {
        match kind {
            ParamType::Text => Leaf::Scalar(Scalar::String),
            ParamType::Id => Leaf::Scalar(Scalar::Id),
            ParamType::Boolean => Leaf::Scalar(Scalar::Boolean),
            // `Int` is signed, so it lacks the upper half of a u32. Revisions and counts stay far below that.
            ParamType::Integer { max, .. } if max <= i64::from(u32::MAX) => Leaf::Scalar(Scalar::Int),
            ParamType::Integer { .. } => Leaf::Scalar(Scalar::Long),
            ParamType::Instant => Leaf::Scalar(Scalar::DateTime),
            ParamType::Enum { name, values } => {
                let values: Vec<_> = values.iter().map(|value| (*value, names::constant(value))).collect();
                self.enumerate(&names::object(name), "One of a closed set of values.", &values)
            }
            ParamType::Record(record) => {
                let fields = self.flat(record.params);
                self.input_object(&format!("{}Input", names::object(record.name)), "", fields)
            }
            // Callers have unwrapped the outer list, so only a list of lists gets here, and none is declared.
            ParamType::List(item) => self.taken_in(*item),
            ParamType::Map => Leaf::Scalar(Scalar::Json),
        }
    }

    /// Returns the input object with this name, and adds it to the schema on first use.
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

/// Creates an argument with an input object whose fields are parameters of the call itself.
fn folded(name: &str, doc: &str, ty: In) -> Input {
    Input { name: name.to_owned(), doc: doc.to_owned(), target: ArgTarget::Spread, ty, handed: KeyForm::AsIs }
}
