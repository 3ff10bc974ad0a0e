//! Makes the value of a closed bracket.
//!
//! Lives here: lists, vectors, maps and sets of their items. Does not live here: finding
//! equal keys, see `Map::from_entries`.
//!
//! Invariant: a refused duplicate is reported at its second occurrence.

use super::reader::{Fault, Kind, Level, Reader, shown};
use crate::edn::name::NameError;
use crate::edn::{Keyword, Map, ReadErrorKind, Set, Symbol, Value};

impl Reader<'_> {
    /// Makes the value of a bracket that has just been closed.
    pub(super) fn collection(&mut self, level: Level<'_>) -> Result<Value, Fault> {
        match level.kind {
            Kind::List => Ok(Value::List(self.values.drain(level.values_from..).collect())),
            Kind::Vector => Ok(Value::Vector(self.values.drain(level.values_from..).collect())),
            Kind::Set => {
                let set = Set::from_items(self.values.drain(level.values_from..));
                set.map(Value::Set).map_err(|index| self.duplicate("set", level, index))
            }
            Kind::Map => self.map(None, level),
            Kind::NamespacedMap(namespace) => self.map(Some(namespace), level),
            // Prefixes have no closing bracket; their values went on in `deliver`.
            Kind::Discard | Kind::Tag(_) | Kind::Meta | Kind::MetaTarget => Ok(Value::Nil),
        }
    }

    fn map(&mut self, namespace: Option<&str>, level: Level<'_>) -> Result<Value, Fault> {
        let count = self.values.len() - level.values_from;
        if count % 2 == 1 {
            return Err(self.syntax("a map needs a value for every key", self.at - 1));
        }
        let mut entries = Vec::with_capacity(count / 2);
        let mut items = self.values.drain(level.values_from..);
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            entries.push((key, value));
        }
        drop(items);
        if let Some(namespace) = namespace {
            self.qualify_all(&mut entries, namespace, level)?;
        }
        // After the names are whole: `:a` and `:ns/a` are one key in `#:ns{}`.
        let map = Map::from_entries(entries);
        // An entry is two forms, a key and its value.
        map.map(Value::Map).map_err(|index| self.duplicate("map", level, index * 2))
    }

    /// Qualifies all keys. A long namespace before many keys would make a small input large,
    /// so what it adds to them is held to the length cap, for all maps of the input together.
    fn qualify_all(
        &mut self,
        entries: &mut [(Value, Value)],
        namespace: &str,
        level: Level<'_>,
    ) -> Result<(), Fault> {
        // Every key counts, also one with a namespace of its own, which gets nothing added.
        let added_bytes = entries.len().saturating_mul(namespace.len());
        self.added_bytes = self.added_bytes.saturating_add(added_bytes);
        if usize::try_from(self.caps.bytes_max).is_ok_and(|bytes_max| self.added_bytes > bytes_max) {
            return Err(self.limit("bytes", u64::from(self.caps.bytes_max), level.from));
        }
        for (key, _) in entries {
            qualify(key, namespace).map_err(|error| self.syntax(error.to_string(), level.from))?;
        }
        Ok(())
    }

    /// Finds the offset of an item by reading its level again; only errors pay for it.
    #[cold]
    fn duplicate(&self, noun: &str, level: Level<'_>, index: usize) -> Fault {
        let mut again = Reader::new(self.text, &self.caps);
        again.at = level.inner_from;
        for _ in 0..=index {
            // These forms were read without an error a moment ago.
            let _ = again.form();
        }
        let from = again.form_from();
        let key = shown(self.slice(from, again.at));
        self.fault(ReadErrorKind::Duplicate, format!("the {noun} holds {key} twice"), from)
    }
}

/// Gives a bare name the namespace of its map; `_` as namespace takes it away.
/// Source: `EdnReader.NamespaceMapReader`.
fn qualify(key: &mut Value, namespace: &str) -> Result<(), NameError> {
    let qualified = |own: Option<&str>, name: &str| match own {
        None => Some(format!("{namespace}/{name}")),
        Some("_") => Some(name.to_owned()),
        Some(_) => None,
    };
    if let Value::Keyword(keyword) = key
        && let Some(text) = qualified(keyword.namespace(), keyword.name())
    {
        *keyword = Keyword::new(&text)?;
    } else if let Value::Meta(meta) = key {
        qualify(meta.value_mut(), namespace)?;
    } else if let Value::Symbol(symbol) = key
        && let Some(text) = qualified(symbol.namespace(), symbol.name())
    {
        *symbol = Symbol::new(&text)?;
    }
    Ok(())
}
