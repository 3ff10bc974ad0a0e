//! Expected values as EDN patterns.
//!
//! A map matches when each of its keys is there and matches; a vector item by item; anything else by equality. `_` is
//! anything; `?name` is bound where it first stands and compared after that. Lists are words of this language:
//! `(exactly {…})` no other keys, `(keys [:a …])` just these keys, `(contains "a" …)` a string with these fragments,
//! `(like "sch-xxxx")` a string of that shape (`x` a lower-case hexadecimal digit), `(count n)`, `(any-of p …)`.

use std::collections::BTreeMap;

use reveille::edn::{Map, Symbol, Value};

/// What placeholders stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings(BTreeMap<String, Value>);

impl Bindings {
    /// The value with its bound placeholders replaced.
    pub(crate) fn fill(&self, value: &Value) -> Result<Value, String> {
        if let Some(name) = placeholder(value) {
            let bound = self.0.get(name).cloned();
            return bound.ok_or_else(|| format!("{name} is not bound yet"));
        }
        let all = |items: &[Value]| items.iter().map(|item| self.fill(item)).collect::<Result<Vec<_>, _>>();
        if let Value::Vector(items) = value {
            return Ok(Value::vector(all(items)?));
        }
        let Some(map) = value.as_map() else { return Ok(value.clone()) };
        let entries = map.iter().map(|(key, value)| Ok((key.clone(), self.fill(value)?)));
        entries.collect::<Result<Map, String>>().map(Value::Map)
    }

    /// Compares, and binds what is not bound yet; an error says where and what differs.
    pub(crate) fn compare(&mut self, pattern: &Value, actual: &Value, path: &str) -> Result<(), String> {
        if pattern.as_symbol().is_some_and(|symbol| symbol.as_str() == "_") {
            return Ok(());
        }
        if let Some(name) = placeholder(pattern) {
            let bound = self.0.entry(name.to_owned()).or_insert_with(|| actual.clone());
            return equal(bound, actual, path);
        }
        if let Value::List(items) = pattern {
            self.word(items, actual, path)
        } else if let Value::Map(map) = pattern {
            self.entries(map, actual, path)
        } else if let Value::Vector(items) = pattern {
            self.items(items, actual, path)
        } else {
            equal(pattern, actual, path)
        }
    }

    fn entries(&mut self, pattern: &Map, actual: &Value, path: &str) -> Result<(), String> {
        let map = actual.as_map().ok_or_else(|| differs("a map", actual, path))?;
        for (key, expected) in pattern {
            let path = format!("{path} {key}");
            let value = map.get(key).ok_or_else(|| differs("the key", actual, &path))?;
            self.compare(expected, value, &path)?;
        }
        Ok(())
    }

    fn items(&mut self, pattern: &[Value], actual: &Value, path: &str) -> Result<(), String> {
        let items = actual.as_items().ok_or_else(|| differs("a vector", actual, path))?;
        if items.len() != pattern.len() {
            return Err(differs(&format!("{} items", pattern.len()), actual, path));
        }
        let mut pairs = pattern.iter().zip(items).enumerate();
        pairs.try_for_each(|(place, (expected, item))| {
            self.compare(expected, item, &format!("{path}[{place}]"))
        })
    }

    fn word(&mut self, items: &[Value], actual: &Value, path: &str) -> Result<(), String> {
        let (word, rest) = items.split_first().ok_or("an empty list is no pattern")?;
        let word = word.as_symbol().map_or("", Symbol::as_str);
        let text = || actual.as_str().ok_or_else(|| differs("a string", actual, path));
        match (word, rest) {
            ("exactly", [Value::Map(map)]) => {
                self.same_keys(map.keys(), actual, path)?;
                self.entries(map, actual, path)
            }
            ("keys", [Value::Vector(keys)]) => self.same_keys(keys.iter(), actual, path),
            ("contains", fragments) => {
                let text = text()?;
                let missing = fragments.iter().find(|part| !text.contains(part.as_str().unwrap_or_default()));
                missing.map_or(Ok(()), |part| Err(differs(&format!("a string with {part}"), actual, path)))
            }
            ("like", [shape]) if is_like(shape.as_str().unwrap_or_default(), text()?) => Ok(()),
            ("like", [shape]) => Err(differs(&format!("the shape {shape}"), actual, path)),
            ("count", [expected]) => {
                let found = actual.as_items().map(|items| number(items.len()));
                equal(expected, &found.into(), path)
            }
            ("any-of", patterns) => {
                let fits = patterns.iter().any(|pattern| self.compare(pattern, actual, path).is_ok());
                if fits { Ok(()) } else { Err(differs(&format!("one of {patterns:?}"), actual, path)) }
            }
            _ => Err(format!("no pattern: {items:?}")),
        }
    }

    fn same_keys<'a>(
        &self,
        keys: impl ExactSizeIterator<Item = &'a Value>,
        actual: &Value,
        path: &str,
    ) -> Result<(), String> {
        let map = actual.as_map().ok_or_else(|| differs("a map", actual, path))?;
        let expected: Vec<&Value> = keys.collect();
        if map.len() == expected.len() && expected.iter().all(|key| map.contains_key(key)) {
            return Ok(());
        }
        Err(differs(&format!("just the keys {expected:?}"), actual, path))
    }
}

/// A count as EDN.
pub(crate) fn number(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

fn placeholder(value: &Value) -> Option<&str> {
    value.as_symbol().map(Symbol::as_str).filter(|name| name.starts_with('?'))
}

fn is_like(shape: &str, text: &str) -> bool {
    let fits = |(shape, given): (char, char)| match shape {
        'x' => given.is_ascii_digit() || ('a'..='f').contains(&given),
        other => other == given,
    };
    shape.chars().count() == text.chars().count() && shape.chars().zip(text.chars()).all(fits)
}

fn equal(expected: &Value, actual: &Value, path: &str) -> Result<(), String> {
    if expected == actual { Ok(()) } else { Err(differs(&expected.to_string(), actual, path)) }
}

fn differs(expected: &str, actual: &Value, path: &str) -> String {
    format!("at{path}:\n  expected {expected}\n  actual   {actual}")
}
