//! The parameters of a query, read by name, whether they are written qualified or not.
//!
//! Invariant: a parameter that nobody reads is an error: a filter that was misspelt must not find everything.

use super::eql::instant_of;
use super::registry::ResolverError;
use crate::domain::{Code, Moment};
use crate::edn::{Map, Value};

/// The parameters of one attribute.
pub(super) struct Params<'a> {
    map: &'a Map,
}

impl<'a> Params<'a> {
    /// Takes the parameters.
    ///
    /// # Errors
    /// One that is not among those supported, or is given twice.
    pub(super) fn read(map: &'a Map, supported: &[&[&str]]) -> Result<Params<'a>, ResolverError> {
        let mut seen: Vec<&str> = Vec::new();
        for key in map.keys() {
            let name = name(key).filter(|name| supported.iter().any(|names| names.contains(name)));
            match name.filter(|name| !seen.contains(name)) {
                Some(name) => seen.push(name),
                None => {
                    let supported: Vec<Value> = supported
                        .iter()
                        .flat_map(|names| names.iter())
                        .map(|name| Value::keyword(name))
                        .collect();
                    let message = format!("unknown parameter {key}, or given twice");
                    let data = Map::new().with("parameter", key.clone()).with("supported", supported);
                    return Err(ResolverError::new(message, data).coded(Code::Validation));
                }
            }
        }
        Ok(Params { map })
    }

    /// Takes parameters that somebody else has looked through.
    pub(super) fn loose(map: &'a Map) -> Params<'a> {
        Params { map }
    }

    /// The value of a parameter, even if it is nil.
    pub(super) fn given(&self, wanted: &str) -> Option<&'a Value> {
        self.map.iter().find(|(key, _)| name(key) == Some(wanted)).map(|(_, value)| value)
    }

    /// The value of a parameter; nil is none.
    pub(super) fn get(&self, wanted: &str) -> Option<&'a Value> {
        let (_, value) = self.map.iter().find(|(key, _)| name(key) == Some(wanted))?;
        Some(value).filter(|value| !value.is_nil())
    }

    /// An instant, as `#inst` or as an ISO string.
    pub(super) fn moment(&self, name: &'static str) -> Result<Option<Moment>, ResolverError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        instant_of(value).map(Some).ok_or_else(|| self.wrong(name, "an instant"))
    }

    /// One of a closed set of names.
    pub(super) fn one<T>(
        &self,
        name: &'static str,
        parse: impl Fn(&str) -> Option<T>,
        names: &[&str],
    ) -> Result<Option<T>, ResolverError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let found = word(value).and_then(parse);
        found.map(Some).ok_or_else(|| self.wrong(name, &format!("one of {}", names.join(", "))))
    }

    /// Some of a closed set of names: one, or a collection of them.
    pub(super) fn some<T>(
        &self,
        name: &'static str,
        parse: impl Fn(&str) -> Option<T>,
        names: &[&str],
    ) -> Result<Option<Vec<T>>, ResolverError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let set: Vec<Value> = value.as_set().into_iter().flat_map(|set| set.iter().cloned()).collect();
        let items = match value.as_items() {
            Some(items) => items,
            None if value.as_set().is_some() => &set,
            None => std::slice::from_ref(value),
        };
        let found: Option<Vec<T>> = items.iter().map(|item| word(item).and_then(&parse)).collect();
        found.map(Some).ok_or_else(|| self.wrong(name, &format!("some of {}", names.join(", "))))
    }

    /// The error that a parameter is not what it must be.
    pub(super) fn wrong(&self, name: &'static str, expected: &str) -> ResolverError {
        let data = Map::new()
            .with("parameter", Value::keyword(name))
            .with("value", self.get(name).cloned().unwrap_or(Value::Nil))
            .with("expected", expected);
        ResolverError::new(format!("parameter :{name} must be {expected}"), data).coded(Code::Validation)
    }
}

/// The name of a key, without what qualifies it.
fn name(key: &Value) -> Option<&str> {
    key.as_keyword().map(crate::edn::Keyword::name).or_else(|| key.as_str())
}

/// A name, as a keyword or as text.
fn word(value: &Value) -> Option<&str> {
    value.as_keyword().map(crate::edn::Keyword::as_str).or_else(|| value.as_str())
}
