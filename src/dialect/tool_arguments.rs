//! Checks the arguments of another tool before it is called later, when nobody could put them right.

use super::{Answer, tool_error};
use crate::domain::Code;
use crate::edn::{Keyword, Map, Value};

/// An argument that the tool would not take.
#[derive(Clone, Debug)]
pub(crate) struct WrongArgument {
    /// The path to it in the call, such as `params.query`.
    field: String,
    message: String,
}

impl WrongArgument {
    /// What is wrong, in one sentence.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The complete error answer.
    pub(crate) fn answer(&self) -> Answer {
        let error = tool_error::error("wrong_arguments", Code::Validation, &self.message)
            .with("field", &*self.field)
            .with("hint", "give the arguments that a direct call of the tool takes");
        tool_error::finish(error, Code::Validation)
    }
}

/// Checks arguments against a tool's own JSON Schema, as far as that says plainly what is wrong: a required field that is
/// missing, and the type of a field. The tool itself has the last word. `field` names the arguments in the call.
///
/// # Errors
/// The first argument that is wrong.
pub(crate) fn check(field: &'static str, args: &Value, schema: &Value) -> Result<(), WrongArgument> {
    let fault = |name: &str, message| WrongArgument { field: format!("{field}.{name}"), message };
    let (Some(args), Some(schema)) = (args.as_map(), schema.as_map()) else { return Ok(()) };
    let required = part(schema, "required").and_then(Value::as_items).unwrap_or_default();
    for name in required.iter().filter_map(Value::as_str) {
        // Nil counts as absent, because models fill fields that they do not use with null.
        if part(args, name).is_none_or(Value::is_nil) {
            return Err(fault(name, format!("{field}.{name} is required by the tool")));
        }
    }
    let Some(properties) = part(schema, "properties").and_then(Value::as_map) else { return Ok(()) };
    for (name, value) in args.iter().filter_map(|(name, value)| Some((word(name)?, value))) {
        let wanted = part(properties, name).and_then(Value::as_map).and_then(|it| part(it, "type"));
        let Some(wanted) = wanted.and_then(word) else { continue };
        if !value.is_nil() && !is_of(value, wanted) {
            let message = format!("{field}.{name} must be of type {wanted}, not {}", value.type_name());
            return Err(fault(name, message));
        }
    }
    Ok(())
}

/// An entry of a schema or of arguments, which came from EDN or from JSON.
fn part<'m>(map: &'m Map, key: &str) -> Option<&'m Value> {
    map.text(key).or_else(|| map.keyword(key))
}

fn word(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.as_keyword().map(Keyword::as_str))
}

/// Whether a value is of a type of JSON Schema; of a type that is none, everything is.
fn is_of(value: &Value, wanted: &str) -> bool {
    let is_number = matches!(value.type_name(), "integer" | "big integer" | "float" | "decimal" | "ratio");
    match wanted {
        "string" => value.as_str().is_some(),
        "boolean" => value.as_bool().is_some(),
        // JSON Schema's integers include those with a fraction of zero.
        "integer" => {
            let has_no_fraction = |number: f64| number.is_finite() && !number.to_string().contains('.');
            matches!(value.type_name(), "integer" | "big integer")
                || matches!(value, Value::Float(number) if has_no_fraction(*number))
        }
        "number" => is_number,
        "array" => value.as_items().is_some() || value.as_set().is_some(),
        "object" => value.as_map().is_some(),
        _ => true,
    }
}
