//! Input coercion: variables and arguments become EDN values of their declared types.
//!
//! Literals are converted to EDN first, with enum constants as symbols, so that one set of rules serves literals and
//! JSON. An argument that is not given stays absent. Invariant: the result is a map of parameters by keyword; enum
//! values are keywords, instants are EDN instants, ids are strings. Source: the GraphQL specification, §6.1.2 and §6.4.1.

use async_graphql::Name;
use async_graphql::Positioned;
use async_graphql::parser::types::{BaseType, OperationDefinition, Type, VariableDefinition};
use async_graphql_value::{ConstValue, Value as Literal};

use crate::domain::Moment;
use crate::edn::{BigInt, Inst, Keyword, Map, Symbol, Value};
use crate::surface::graphql::error::{Code, GraphqlError};
use crate::surface::graphql::schema::model::{ArgTarget, In, Input, KeyForm, Leaf, Scalar, SchemaModel};
use crate::surface::graphql::schema::names;

/// The coerced variables of one operation, by name.
pub(in crate::surface::graphql) type Variables = std::collections::BTreeMap<String, Value>;

/// Coerces the variables that an operation declares; all others are ignored.
pub(in crate::surface::graphql) fn variables(
    model: &SchemaModel,
    operation: &OperationDefinition,
    given: &Map,
) -> Result<Variables, GraphqlError> {
    let mut variables = Variables::new();
    for declared in &operation.variable_definitions {
        let VariableDefinition { name, var_type, default_value, .. } = &declared.node;
        let fault = |message: String| GraphqlError::new(Code::Document, message).at(declared.pos);
        // The default replaces an absent variable only: an explicit null stays null (§6.1.2).
        let value = match (given.text(&name.node), default_value) {
            (Some(value), _) => {
                let coerced = typed(model, &var_type.node, value, Notation::Json);
                coerced.map_err(|why| {
                    let shown = shown(value);
                    fault(format!("Variable \"${}\" got invalid value {shown}; {why}", name.node))
                })?
            }
            (None, Some(default)) => {
                typed(model, &var_type.node, &constant(&default.node), Notation::Literal).map_err(|why| {
                    fault(format!("Variable \"${}\" has an invalid default: {why}", name.node))
                })?
            }
            (None, None) if !var_type.node.nullable => {
                let message = format!(
                    "Variable \"${}\" of required type \"{}\" was not provided.",
                    name.node, var_type
                );
                return Err(fault(message));
            }
            // Stays absent instead of null, because mutations treat the two differently.
            (None, None) => continue,
        };
        variables.insert(name.node.to_string(), value);
    }
    Ok(variables)
}

/// Coerces the arguments of a field; an argument that is not given is left out.
pub(in crate::surface::graphql) fn arguments(
    model: &SchemaModel,
    declared: &[Input],
    given: &[(Positioned<Name>, Positioned<Literal>)],
    variables: &Variables,
) -> Result<Map, GraphqlError> {
    let mut params = Map::new();
    for input in declared {
        let literal = given.iter().find(|(name, _)| name.node.as_str() == input.name);
        let pos = literal.map(|(_, literal)| literal.pos);
        let value = literal.and_then(|(_, literal)| filled(&literal.node, variables));
        let fault = |why: String| {
            let error = GraphqlError::new(Code::Document, format!("Argument \"{}\": {why}", input.name));
            match pos {
                Some(pos) => error.at(pos),
                None => error,
            }
        };
        match value {
            None if input.ty.is_required => {
                return Err(fault("a value is required, and none was provided.".into()));
            }
            None => {}
            Some(value) => {
                let value = coerce(model, input.ty, &value, Notation::Literal).map_err(fault)?;
                put(&mut params, input, value);
            }
        }
    }
    Ok(params)
}

/// Adds the value of an argument to the parameters.
fn put(params: &mut Map, input: &Input, value: Value) {
    match (&input.target, handed(input.handed, value)) {
        (ArgTarget::Param(name), value) => drop(params.insert(name.clone(), value)),
        (ArgTarget::Spread, Value::Map(fields)) => {
            fields.into_iter().for_each(|(name, value)| drop(params.insert(name, value)));
        }
        // Null has no fields.
        (ArgTarget::Spread, _) => {}
    }
}

/// How a value was written. Enum constants are strings in JSON and names in literals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    Json,
    Literal,
}

/// Coerces a value to a type that an operation declares for a variable.
fn typed(model: &SchemaModel, ty: &Type, value: &Value, notation: Notation) -> Result<Value, String> {
    if value.is_nil() {
        return if ty.nullable {
            Ok(Value::Nil)
        } else {
            Err(format!("Expected non-nullable type \"{ty}\"."))
        };
    }
    match &ty.base {
        BaseType::List(item) => {
            // A value that is no list counts as a list of one (specification, "List", input coercion).
            let items = value.as_items().unwrap_or(std::slice::from_ref(value)).iter();
            let items: Result<Vec<Value>, String> =
                items.map(|value| typed(model, item, value, notation)).collect();
            Ok(Value::vector(items?))
        }
        BaseType::Named(name) => match model.input_leaf(name) {
            Some(leaf) => leaf_value(model, leaf, value, notation),
            None => Err(format!("there is no type {name}")),
        },
    }
}

/// Coerces a value to a type of the schema.
fn coerce(model: &SchemaModel, ty: In, value: &Value, notation: Notation) -> Result<Value, String> {
    if value.is_nil() {
        return if ty.is_required { Err("it may not be null.".into()) } else { Ok(Value::Nil) };
    }
    if !ty.is_list {
        return leaf_value(model, ty.leaf, value, notation);
    }
    let items = value.as_items().unwrap_or(std::slice::from_ref(value)).iter();
    let items: Result<Vec<Value>, String> = items
        .map(|item| {
            if item.is_nil() {
                return Err("an entry may not be null.".into());
            }
            leaf_value(model, ty.leaf, item, notation)
        })
        .collect();
    Ok(Value::vector(items?))
}

fn leaf_value(model: &SchemaModel, leaf: Leaf, value: &Value, notation: Notation) -> Result<Value, String> {
    match leaf {
        Leaf::Scalar(scalar) => scalar_value(scalar, value),
        Leaf::Enum(number) => {
            let each = &model.enums[number];
            let name = match (value, notation) {
                // A variable within a literal: its value was coerced before, and is a keyword already.
                (Value::Keyword(_), Notation::Literal) => return Ok(value.clone()),
                (Value::Symbol(symbol), Notation::Literal) => symbol.as_str(),
                // Only in JSON is a string an enum constant, because JSON has no names (specification, "Enums").
                (Value::Str(name), Notation::Json) => name,
                _ => return Err(format!("Enum \"{}\" cannot represent {}.", each.name, shown(value))),
            };
            match each.values.iter().find(|(_, constant)| constant == name) {
                Some((keyword, _)) => Ok(Value::keyword(keyword)),
                None => Err(format!("Value \"{name}\" does not exist in \"{}\" enum.", each.name)),
            }
        }
        Leaf::Object(number) => {
            let input = &model.inputs[number];
            let Some(map) = value.as_map() else {
                return Err(format!("Expected type \"{}\" to be an object.", input.name));
            };
            object(model, (&input.name, &input.fields), map, notation)
        }
    }
}

/// Checks the fields of an input. The query of the graph is checked too, because EQL asks it without this; here the error can
/// name the place in the caller's document.
fn object(
    model: &SchemaModel,
    (name, fields): (&str, &[Input]),
    map: &Map,
    notation: Notation,
) -> Result<Value, String> {
    // A variable within a literal: its value was coerced before, and its keys are parameters instead of strings.
    let is_param = |key: &Value| {
        fields.iter().any(|field| matches!(&field.target, ArgTarget::Param(name) if name == key))
    };
    let is_coerced = map.keys().next().is_some_and(is_param);
    if is_coerced && notation == Notation::Literal && map.keys().all(|key| key.as_str().is_none()) {
        return Ok(Value::Map(map.clone()));
    }
    let mut params = Map::new();
    for field in fields {
        match map.text(&field.name) {
            None if field.ty.is_required => {
                return Err(format!("Field \"{}\" of required type was not provided.", field.name));
            }
            None => {}
            Some(value) => {
                let value = coerce(model, field.ty, value, notation)
                    .map_err(|why| format!("at \"{}\": {why}", field.name))?;
                put(&mut params, field, value);
            }
        }
    }
    // Refused instead of ignored: a misspelt filter must not match everything.
    for key in map.keys() {
        let is_known = |field: &Input| key.as_str() == Some(&field.name);
        if !fields.iter().any(is_known) {
            return Err(format!("Field {} is not defined by type \"{name}\".", shown(key)));
        }
    }
    Ok(params.into())
}

fn scalar_value(scalar: Scalar, value: &Value) -> Result<Value, String> {
    let cannot = || Err(format!("{} cannot represent value: {}", scalar.name(), shown(value)));
    match (scalar, value) {
        // JSON has no enum constants, so a constant becomes a string.
        (Scalar::Json, Value::Symbol(symbol)) => Ok(Value::string(symbol.as_str())),
        (Scalar::Json, _)
        | (Scalar::Boolean, Value::Bool(_))
        | (Scalar::String | Scalar::Id, Value::Str(_))
        | (Scalar::Long, Value::Int(_))
        | (Scalar::Float, Value::Float(_))
        | (Scalar::DateTime, Value::Inst(_)) => Ok(value.clone()),
        (Scalar::Int, Value::Int(number)) if i32::try_from(*number).is_ok() => Ok(value.clone()),
        (Scalar::Int | Scalar::Long, Value::Float(number)) => {
            // JSON may write a whole number as 1.0. Rust prints that as 1, so parsing the text accepts whole numbers only.
            let whole = number.to_string().parse::<i32>().map(i64::from);
            whole.map_or_else(|_| cannot(), |whole| Ok(Value::Int(whole)))
        }
        // Every i32 has an exact f64. A larger integer is rounded by parsing its text.
        (Scalar::Float, Value::Int(number)) => i32::try_from(*number)
            .map_or_else(|_| number.to_string().parse(), |number| Ok(f64::from(number)))
            .map_or_else(|_| cannot(), |number| Ok(Value::Float(number))),
        // An id may be written as an integer (specification, "ID", input coercion).
        (Scalar::Id, Value::Int(number)) => Ok(Value::string(number.to_string())),
        // JavaScript has no exact numbers beyond 2^53, so a long may be written as a string.
        (Scalar::Long, Value::Str(text)) => match text.parse::<i64>() {
            Ok(number) => Ok(Value::Int(number)),
            Err(_) => cannot(),
        },
        (Scalar::DateTime, Value::Str(text)) => match instant(text) {
            Some(inst) => Ok(Value::Inst(inst)),
            None => cannot(),
        },
        _ => cannot(),
    }
}

/// Converts a value to the form in which it is passed on.
fn handed(handed: KeyForm, value: Value) -> Value {
    match (handed, value) {
        (KeyForm::Keyed, Value::Map(map)) => {
            let entry = |(key, value): (Value, Value)| {
                // A key that is no valid keyword stays a string; the map's reader checks it.
                let name = key.as_str().and_then(|name| Keyword::new(&names::kebab(name)).ok());
                (name.map_or(key, Value::Keyword), self::handed(handed, value))
            };
            Value::Map(map.into_iter().map(entry).collect())
        }
        (KeyForm::Keyed, Value::Vector(items)) => {
            let items = items.into_vec().into_iter().map(|item| self::handed(handed, item));
            Value::vector(items.collect::<Vec<_>>())
        }
        (_, value) => value,
    }
}

/// Parses an instant in the format of RFC 3339.
pub(in crate::surface::graphql) fn instant(text: &str) -> Option<Inst> {
    let moment = Moment::parse(text).ok()?;
    Inst::new(moment.seconds(), moment.nanos())
}

/// Returns a literal with its variables filled in, or `None` for a variable that is absent.
fn filled(literal: &Literal, variables: &Variables) -> Option<Value> {
    Some(match literal {
        Literal::Variable(name) => variables.get(name.as_str())?.clone(),
        Literal::List(items) => {
            // An absent variable is null as an entry of a list, as in graphql-js; the other entries keep their places.
            let items = items.iter().map(|item| filled(item, variables).unwrap_or(Value::Nil));
            Value::vector(items.collect::<Vec<_>>())
        }
        Literal::Object(fields) => {
            // A field whose variable is absent is absent too (specification, "Input Objects", input coercion).
            let fields = fields.iter();
            let field = |(name, value): (&Name, &Literal)| {
                Some((Value::string(name.as_str()), filled(value, variables)?))
            };
            Value::Map(fields.filter_map(field).collect())
        }
        Literal::Null => Value::Nil,
        Literal::Number(number) => numeric(number),
        Literal::String(text) => Value::string(text.as_str()),
        Literal::Boolean(flag) => Value::Bool(*flag),
        Literal::Enum(name) => Symbol::new(name.as_str()).map_or(Value::Nil, Value::Symbol),
        // The parser makes no such literal.
        Literal::Binary(_) => Value::Nil,
    })
}

/// Evaluates the argument of `@include` or `@skip`.
pub(super) fn condition(literal: &Literal, variables: &Variables) -> bool {
    filled(literal, variables).is_some_and(|value| value.is_truthy())
}

fn constant(value: &ConstValue) -> Value {
    filled(&value.clone().into_value(), &Variables::new()).unwrap_or(Value::Nil)
}

fn numeric(number: &async_graphql::Number) -> Value {
    match (number.as_i64(), number.as_u64()) {
        (Some(number), _) => Value::Int(number),
        // Beyond i64: kept exactly, so that an error shows the number as the client wrote it.
        (None, Some(number)) => Value::BigInt(Box::new(BigInt::from(number))),
        (None, None) => number.as_f64().map_or(Value::Nil, Value::Float),
    }
}

fn shown(value: &Value) -> String {
    let mut out = String::new();
    crate::surface::json::write(value, &mut out);
    // An error repeats only the beginning of the client's value: enough to find it, whatever its size.
    let end = out.char_indices().nth(SHOWN_CHARS).map_or(out.len(), |(end, _)| end);
    out.truncate(end);
    out
}

const SHOWN_CHARS: usize = 80;
