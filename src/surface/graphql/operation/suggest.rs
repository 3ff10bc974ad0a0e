//! Adds the name that was probably meant to the error of an unknown field, argument, value of an enum, or type.
//!
//! async-graphql's own suggestions miss swapped letters and list names that have little in common. The names come from the
//! viewer's own schema, so none is suggested that the viewer may not see.

use crate::domain::nearest;
use crate::surface::graphql::error::GraphqlError;
use crate::surface::graphql::schema::model::SchemaModel;

/// Completes the error if the schema has a name like the unknown one.
pub(super) fn suggest(model: &SchemaModel, error: GraphqlError) -> GraphqlError {
    match meant(model, &error.message) {
        Some(name) => {
            let stop = if error.message.ends_with('.') { "" } else { "." };
            let message = format!("{}{stop} Did you mean \"{name}\"?", error.message);
            GraphqlError { message, ..error }
        }
        None => error,
    }
}

fn meant(model: &SchemaModel, message: &str) -> Option<String> {
    let object = |name: &str| model.objects.iter().find(|object| object.name == name);
    let parts: Vec<&str> = message.split('"').collect();
    // The words of async-graphql's rules FieldsOnCorrectType, KnownArgumentNames, ArgumentsOfCorrectType and KnownTypeNames.
    match parts[..] {
        ["Unknown field ", field, " on type ", on, "."] => {
            let names = object(on)?.fields.iter().map(|field| (&field.name, field.name.as_str()));
            nearest(names, field).cloned()
        }
        ["Unknown argument ", argument, " on field ", field, " of type ", on, "."] => {
            let field = object(on)?.fields.iter().find(|it| it.name == field)?;
            nearest(field.args.iter().map(|it| (&it.name, it.name.as_str())), argument).cloned()
        }
        ["Invalid value for argument ", _, ", unknown field ", field, " of type ", on, ""] => {
            let input = model.inputs.iter().find(|input| input.name == on)?;
            nearest(input.fields.iter().map(|it| (&it.name, it.name.as_str())), field).cloned()
        }
        [
            "Invalid value for argument ",
            _,
            ", enumeration type ",
            on,
            " does not contain the value ",
            value,
            "",
        ] => {
            let values = &model.enums.iter().find(|it| it.name == on)?.values;
            nearest(values.iter().map(|(_, name)| (name, name.as_str())), value).cloned()
        }
        ["Unknown type ", name, ""] => {
            let inputs = model.inputs.iter().map(|input| &input.name);
            let enums = model.enums.iter().map(|it| &it.name);
            nearest(inputs.chain(enums).map(|name| (name, name.as_str())), name).cloned()
        }
        _ => None,
    }
}
