//! Adds the name that was probably meant to the error of an unknown field or argument.
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
            let message = format!("{} Did you mean \"{name}\"?", error.message);
            GraphqlError { message, ..error }
        }
        None => error,
    }
}

fn meant(model: &SchemaModel, message: &str) -> Option<String> {
    let object = |name: &str| model.objects.iter().find(|object| object.name == name);
    let parts: Vec<&str> = message.split('"').collect();
    // The words of async-graphql's rules FieldsOnCorrectType and KnownArgumentNames.
    match parts[..] {
        ["Unknown field ", field, " on type ", on, "."] => {
            let names = object(on)?.fields.iter().map(|field| (&field.name, field.name.as_str()));
            nearest(names, field).cloned()
        }
        ["Unknown argument ", argument, " on field ", field, " of type ", on, "."] => {
            let field = object(on)?.fields.iter().find(|it| it.name == field)?;
            nearest(field.args.iter().map(|it| (&it.name, it.name.as_str())), argument).cloned()
        }
        _ => None,
    }
}
