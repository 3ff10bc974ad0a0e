//! Declarations of parameters and records: what mutations and attributes take, and the maps that attributes show.
//!
//! Lives here: the declaration, and the check that a call has no undeclared parameter. Does not live here: reading values
//! (`graph/params.rs`). Every surface that takes parameters or shows records (EQL, Pathom's index, GraphQL, tools, flags)
//! walks these declarations, so a parameter is declared once, even if an attribute shows it as well.
//!
//! Invariant: a parameter that is not declared is refused by its name, at any depth. A misspelt filter must not find
//! everything, and a misspelt right must not remain granted.

use std::fmt;

use super::ResolverError;
use crate::domain::{Code, nearest};
use crate::edn::{Keyword, Map, Value};

/// One parameter, or one field of a record that is shown.
#[derive(Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name in kebab case. In a query it may be qualified.
    pub name: &'static str,
    /// Another name that is accepted too.
    pub alias: Option<&'static str>,
    /// The documentation, in one or two sentences.
    pub doc: &'static str,
    /// The type of its value.
    pub kind: ParamType,
    /// Whether a call must have it.
    pub is_required: bool,
    /// Whether it may be nil or missing where the record is shown.
    pub is_nullable: bool,
}

/// The type of a parameter or field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// Text.
    Text,
    /// An id: text that is not blank.
    Id,
    /// True or false.
    Boolean,
    /// A whole number within these bounds, both included.
    Integer {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// An instant: `#inst`, or text as RFC 3339 has it.
    Instant,
    /// One of a closed set of names: a keyword or text.
    Enum {
        /// The name of the set, in kebab case.
        name: &'static str,
        /// The names.
        values: &'static [&'static str],
    },
    /// Any number of values of this type. A single value counts as a list of one.
    List(&'static ParamType),
    /// A map with parameters of its own.
    Record(&'static Record),
    /// A map whose keys are checked where it is read.
    Map,
}

/// A map with declared fields: one that is itself a parameter, one that an attribute shows, or both.
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    /// The name of the record, in kebab case.
    pub name: &'static str,
    /// The documentation, in one sentence.
    pub(crate) doc: &'static str,
    /// Its parameters or fields.
    pub params: &'static [Param],
}

/// Parameters that belong together; many calls may share a group.
#[derive(Debug, PartialEq, Eq)]
pub struct ParamGroup {
    /// The documentation, in one sentence.
    pub doc: &'static str,
    /// For surfaces that pass the group as one object: the name of the object and of its type, in kebab case.
    pub folded: Option<(&'static str, &'static str)>,
    /// The parameters.
    pub params: &'static [Param],
}

/// All parameters of one call.
pub type ParamGroups = &'static [&'static ParamGroup];

/// Why the parameters of a call are refused.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamFault {
    /// The names that lead to the map at fault; empty for the call's own parameters.
    pub(crate) path: Vec<&'static str>,
    /// What is wrong.
    pub(crate) kind: ParamFaultKind,
}

/// What is wrong with a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamFaultKind {
    /// There is no parameter of this name.
    Unknown {
        /// The key, as written in the call.
        key: Value,
        /// The parameter that was probably meant.
        nearest: Option<&'static str>,
        /// All parameters that exist.
        known: Vec<&'static str>,
    },
    /// The parameter is given twice: with and without a namespace, or by name and alias.
    Twice {
        /// Its name.
        name: &'static str,
    },
    /// The parameter is required and not given.
    Missing {
        /// Its name.
        name: &'static str,
        /// What it must be.
        expected: String,
    },
    /// The value is not of the declared type.
    Wrong {
        /// Its name.
        name: &'static str,
        /// The value.
        value: Value,
        /// What it must be.
        expected: String,
        /// The one of its values that was probably meant.
        nearest: Option<&'static str>,
    },
}

/// Checks the names of parameters, including those inside maps, and that required ones are given.
///
/// # Errors
/// Returns the first fault, in the order in which the parameters were written; missing ones come last.
pub fn check(params: &Map, declared: ParamGroups) -> Result<(), ParamFault> {
    let declared: Vec<&'static Param> = declared.iter().flat_map(|group| group.params).collect();
    check_map(params, &declared, &[])
}

fn check_map(map: &Map, declared: &[&'static Param], path: &[&'static str]) -> Result<(), ParamFault> {
    let fault = |kind| ParamFault { path: path.to_vec(), kind };
    let mut seen: Vec<&'static str> = Vec::new();
    for (key, value) in map {
        let Some(param) = name_of(key).and_then(|name| declared.iter().find(|param| param.is_called(name)))
        else {
            return Err(fault(unknown(key, declared)));
        };
        if seen.contains(&param.name) {
            return Err(fault(ParamFaultKind::Twice { name: param.name }));
        }
        seen.push(param.name);
        // A value that is no map is left to the reader of the parameter, which names the type that it must have.
        if let ParamType::Record(record) = param.kind
            && let Some(inner) = value.as_map()
        {
            let below: Vec<&'static Param> = record.params.iter().collect();
            let path: Vec<&'static str> = path.iter().copied().chain([param.name]).collect();
            check_map(inner, &below, &path)?;
        }
    }
    // After the unknown names: a misspelt required parameter is both, and the misspelling is the better message.
    let missing = declared.iter().find(|param| param.is_required && !seen.contains(&param.name));
    missing.map_or(Ok(()), |param| {
        Err(fault(ParamFaultKind::Missing { name: param.name, expected: param.kind.expected() }))
    })
}

fn unknown(key: &Value, declared: &[&'static Param]) -> ParamFaultKind {
    // Aliases are accepted, but not advertised.
    let known: Vec<&'static str> = declared.iter().map(|param| param.name).collect();
    let nearest = name_of(key).and_then(|wrong| nearest(known.iter().map(|name| (*name, *name)), wrong));
    ParamFaultKind::Unknown { key: key.clone(), nearest, known }
}

/// Returns the name of a key without its namespace. JSON and GraphQL have bare names, and EQL may have qualified ones.
pub(in crate::graph) fn name_of(key: &Value) -> Option<&str> {
    key.as_keyword().map(Keyword::name).or_else(|| key.as_str())
}

impl Param {
    /// Declares a field of a record that is only shown.
    pub(crate) const fn shown(name: &'static str, kind: ParamType, doc: &'static str) -> Param {
        Param { name, alias: None, doc, kind, is_required: false, is_nullable: false }
    }

    /// Allows the field to be nil.
    #[must_use]
    pub(crate) const fn or_nil(self) -> Param {
        Param { is_nullable: true, ..self }
    }

    /// Makes it a parameter that a call must have.
    #[must_use]
    pub(crate) const fn required(self) -> Param {
        Param { is_required: true, ..self }
    }

    /// Returns whether the parameter has this name or alias.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name)
    }
}

impl Record {
    /// Returns the record whose fields are the parameters of a group.
    pub(crate) const fn of(name: &'static str, group: &'static ParamGroup) -> Record {
        Record { name, doc: group.doc, params: group.params }
    }
}

impl ParamType {
    /// A count of things that `limits.rs` bounds far below this maximum. It fits GraphQL's `Int`.
    pub(crate) const COUNT: ParamType = ParamType::Integer { min: 0, max: i32::MAX as i64 };

    /// A whole number of any size, from 0.
    pub(crate) const NATURAL: ParamType = ParamType::Integer { min: 0, max: i64::MAX };

    /// Returns what a value must be, for people: `a whole number from 1 to 10`.
    pub fn expected(self) -> String {
        match self {
            ParamType::Text => "a string".to_owned(),
            ParamType::Id => "an id: a string that is not blank".to_owned(),
            ParamType::Boolean => "true or false".to_owned(),
            ParamType::Integer { min, max: i64::MAX } => format!("a whole number, {min} or more"),
            ParamType::Integer { min, max } => format!("a whole number from {min} to {max}"),
            ParamType::Instant => "an instant, such as 2026-04-22T09:00:00Z".to_owned(),
            ParamType::Enum { values, .. } => format!("one of {}", values.join(", ")),
            ParamType::List(item) => format!("a list, each {}", item.expected()),
            ParamType::Record(record) => format!("a map: {}", record.name),
            ParamType::Map => "a map".to_owned(),
        }
    }

    /// Returns the record that a value is, or that each item of a list is.
    pub fn record(self) -> Option<&'static Record> {
        match self {
            ParamType::Record(record) => Some(record),
            ParamType::List(item) => item.record(),
            ParamType::Text | ParamType::Id | ParamType::Boolean | ParamType::Integer { .. } => None,
            ParamType::Instant | ParamType::Enum { .. } | ParamType::Map => None,
        }
    }

    /// Returns the name of the type, for the tables of parameters.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ParamType::Text => "string",
            ParamType::Id => "id",
            ParamType::Boolean => "boolean",
            ParamType::Integer { .. } => "integer",
            ParamType::Instant => "instant",
            ParamType::Enum { .. } => "enum",
            ParamType::List(_) => "list",
            ParamType::Record(_) | ParamType::Map => "map",
        }
    }
}

impl ParamFault {
    /// Returns the fault as seen by the caller of the map: with `name`, the parameter that contains the map, in its path.
    #[must_use]
    pub(crate) fn inside(mut self, name: &'static str) -> ParamFault {
        self.path.insert(0, name);
        self
    }

    /// Returns the fault as an error that names `of` as what takes the parameter.
    pub(crate) fn into_error(self, of: &dyn fmt::Display) -> ResolverError {
        // The names of the maps from the outermost to the one at fault: `:trigger of psi.scheduler/create`.
        let place = match &self.path[..] {
            [] => format!("{of}"),
            path => format!(":{} of {of}", path.join(" :")),
        };
        let data = Map::new();
        let data = if self.path.is_empty() {
            data
        } else {
            data.with("path", self.path.iter().map(|name| Value::keyword(name)).collect::<Vec<_>>())
        };
        let (message, data) = match self.kind {
            ParamFaultKind::Unknown { key, nearest, known } => {
                let hint = nearest.map_or_else(
                    || match known.is_empty() {
                        true => format!("{place} takes no parameters"),
                        false => format!("there are {}", known.join(", ")),
                    },
                    |name| format!("did you mean :{name}?"),
                );
                let known: Vec<Value> = known.into_iter().map(Value::keyword).collect();
                let data = data
                    .with("parameter", key.clone())
                    .with("did-you-mean", nearest.map_or(Value::Nil, Value::keyword))
                    .with("supported", known);
                (format!("there is no parameter {key} of {place}"), data.with("hint", hint))
            }
            ParamFaultKind::Twice { name } => {
                let data = data.with("parameter", Value::keyword(name)).with("hint", "give it once");
                (format!("the parameter :{name} of {place} is given twice"), data)
            }
            ParamFaultKind::Missing { name, expected } => {
                let data = data.with("parameter", Value::keyword(name)).with("missing", Value::keyword(name));
                let message = format!("{place} requires the parameter :{name}");
                (message, data.with("expected", expected.clone()).with("hint", format!("give {expected}")))
            }
            ParamFaultKind::Wrong { name, value, expected, nearest } => {
                let data = data.with("parameter", Value::keyword(name)).with("value", value);
                let data = data.with_some("hint", nearest.map(|nearest| format!("did you mean {nearest}?")));
                (format!("parameter :{name} must be {expected}"), data.with("expected", expected))
            }
        };
        ResolverError::new(message, data).coded(Code::Validation)
    }
}
