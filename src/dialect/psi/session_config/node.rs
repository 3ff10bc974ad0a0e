//! One value of a configuration, with the place where it stands: what the readers of single keys work on.
//!
//! Invariant: every bound on texts and lists is checked here, before anything is copied.

use std::collections::BTreeSet;

use super::error::{ConfigError, Expected};
use crate::dialect::Notation;
use crate::dialect::echo;
use crate::dialect::psi::args;
use crate::edn::{Map, Value};
use crate::limits::{self, Limit};

/// A value and its place. Places are a chain of borrowed links: a path is put together only for an error.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    value: &'a Value,
    notation: Notation,
    step: Step,
    parent: Option<&'a Node<'a>>,
}

#[derive(Clone, Copy)]
enum Step {
    Root,
    Key(&'static str),
    Index(usize),
}

/// The entries of a map whose keys are all known.
pub(super) struct Entries<'a> {
    node: &'a Node<'a>,
    map: &'a Map,
}

impl<'a> Node<'a> {
    pub(super) fn root(value: &'a Value, notation: Notation) -> Node<'a> {
        Node { value, notation, step: Step::Root, parent: None }
    }

    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    /// One of a closed list of names, as a keyword or a string.
    pub(super) fn choice<T: Copy>(&self, all: &[T], name: fn(T) -> &'static str) -> Result<T, ConfigError> {
        let given = args::word(self.value);
        let found = all.iter().copied().find(|one| given == Some(name(*one)));
        let names = || all.iter().copied().map(name).collect();
        found.ok_or_else(|| self.unsuitable(Expected::OneOf(names())))
    }

    /// Each item of a vector, read.
    pub(super) fn vector<T>(
        &self,
        limit: Limit,
        read: impl Fn(&Node<'_>) -> Result<T, ConfigError>,
    ) -> Result<Vec<T>, ConfigError> {
        let items = self.value.as_items().ok_or_else(|| self.unsuitable(Expected::Vector))?;
        self.each(items.iter(), limit, read)
    }

    /// Each item of a set, or of a vector in its place, read.
    pub(super) fn set<T: Ord>(
        &self,
        read: impl Fn(&Node<'_>) -> Result<T, ConfigError>,
    ) -> Result<BTreeSet<T>, ConfigError> {
        let items = match (self.value.as_set(), self.value.as_items()) {
            (Some(set), _) => self.each(set.iter(), limits::CONFIG_ITEMS, read),
            (None, Some(items)) => self.each(items.iter(), limits::CONFIG_ITEMS, read),
            (None, None) => Err(self.unsuitable(Expected::Set)),
        };
        Ok(items?.into_iter().collect())
    }

    /// The entries of a map that has no other keys than these.
    pub(super) fn entries(&'a self, supported: &'static [&'static str]) -> Result<Entries<'a>, ConfigError> {
        let map = self.value.as_map().ok_or_else(|| self.unsuitable(Expected::Map))?;
        let mut strangers: Vec<&Value> = map.keys().filter(|key| !self.knows(map, key, supported)).collect();
        if strangers.is_empty() {
            return Ok(Entries { node: self, map });
        }
        // By text: keys of different types have no other order that a reader would expect.
        strangers.sort_by_cached_key(ToString::to_string);
        let keys = strangers.into_iter().map(echo).collect();
        Err(ConfigError::UnsupportedKeys { field: self.field(), path: self.path(), keys, supported })
    }

    pub(super) fn unsuitable(&self, expected: Expected) -> ConfigError {
        let value = echo(self.value);
        ConfigError::Unsuitable { field: self.field(), path: self.path(), expected, value }
    }

    /// Strings are keys in JSON only, and only where the same key does not stand there as a keyword too.
    fn knows(&self, map: &Map, key: &Value, supported: &[&str]) -> bool {
        match (key.as_keyword(), key.as_str(), self.notation) {
            (Some(name), _, _) => supported.contains(&name.as_str()),
            (None, Some(name), Notation::Json) => supported.contains(&name) && map.keyword(name).is_none(),
            (None, _, Notation::Edn | Notation::Json) => false,
        }
    }

    fn each<'b, T>(
        &self,
        items: impl ExactSizeIterator<Item = &'b Value>,
        limit: Limit,
        read: impl Fn(&Node<'_>) -> Result<T, ConfigError>,
    ) -> Result<Vec<T>, ConfigError> {
        self.check_length(items.len(), limit)?;
        let child = |(index, value)| Node {
            value,
            notation: self.notation,
            step: Step::Index(index),
            parent: Some(self),
        };
        items.enumerate().map(|item| read(&child(item))).collect()
    }

    fn check_length(&self, length: usize, limit: Limit) -> Result<(), ConfigError> {
        if length as u64 > limit.value {
            return Err(ConfigError::TooLong { field: self.field(), path: self.path(), limit });
        }
        Ok(())
    }

    /// The key of the configuration in which the value stands.
    fn field(&self) -> &'static str {
        match (self.step, self.parent) {
            (Step::Key(key), None | Some(Node { step: Step::Root, .. })) => key,
            (Step::Key(_) | Step::Index(_), Some(parent)) => parent.field(),
            (Step::Root, _) | (Step::Index(_), None) => ROOT,
        }
    }

    /// The way to the value: `preloaded-messages[1].role`.
    fn path(&self) -> String {
        match (self.step, self.parent) {
            (Step::Root, _) => ROOT.to_owned(),
            (Step::Key(key), None | Some(Node { step: Step::Root, .. })) => key.to_owned(),
            (Step::Key(key), Some(parent)) => format!("{}.{key}", parent.path()),
            (Step::Index(index), parent) => {
                format!("{}[{index}]", parent.map(Node::path).unwrap_or_default())
            }
        }
    }
}

/// Any string.
pub(super) fn text(node: &Node<'_>) -> Result<Box<str>, ConfigError> {
    let text = node.value.as_str().ok_or_else(|| node.unsuitable(Expected::Text))?;
    node.check_length(text.len(), limits::TEXT_BYTES)?;
    Ok(text.into())
}

/// True or false.
pub(super) fn flag(node: &Node<'_>) -> Result<bool, ConfigError> {
    node.value.as_bool().ok_or_else(|| node.unsuitable(Expected::Flag))
}

/// A vector of strings.
pub(super) fn texts(node: &Node<'_>) -> Result<Vec<Box<str>>, ConfigError> {
    node.vector(limits::CONFIG_ITEMS, text)
}

impl<'a> Entries<'a> {
    /// The value under a key, read; nothing if it is absent or nil.
    pub(super) fn optional<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&Node<'_>) -> Result<T, ConfigError>,
    ) -> Result<Option<T>, ConfigError> {
        let child = self.child(key);
        if child.value.is_nil() { Ok(None) } else { read(&child).map(Some) }
    }

    /// The value under a key, read; an absent one is read as nil, which no type of ours allows.
    pub(super) fn required<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&Node<'_>) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        read(&self.child(key))
    }

    fn child(&self, key: &'static str) -> Node<'a> {
        let value = match self.node.notation {
            Notation::Edn => self.map.keyword(key),
            Notation::Json => self.map.text(key).or_else(|| self.map.keyword(key)),
        };
        let value = value.unwrap_or(&Value::Nil);
        Node { value, notation: self.node.notation, step: Step::Key(key), parent: Some(self.node) }
    }
}

const ROOT: &str = "session-config";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::psi::session_config::parse;
    use crate::dialect::psi::testing::{
        check_config as check, check_config_error as check_error, check_config_refused as check_refused, read,
    };

    #[test]
    fn lists_are_bounded() {
        check(r#":tool-ids ["read" "bash"]"#, r#":tool-ids ["read" "bash"]"#);
        check_refused(":tool-ids [:read]", "tool-ids[0] must be a string", ":field :tool-ids :value :read");
        let data = r#":field :tool-ids :limit "config-items" :max 1024"#;
        check_refused(&format!(":tool-ids [{}]", "\"a\" ".repeat(1_025)), "tool-ids is too long", data);
        let data = r#":field :preloaded-messages :limit "preloaded-messages" :max 256"#;
        check_refused(&format!(":preloaded-messages [{}]", "5 ".repeat(257)), "too long", data);
        let data = r#":field :cache-breakpoints :limit "config-items" :max 1024"#;
        check_refused(&format!(":cache-breakpoints [{}]", ":tools ".repeat(1_025)), "too long", data);
    }

    #[test]
    fn unsupported_keys_are_sorted_by_text() {
        let keys = r#"["model" (1 2) 5 :tool-defs nil x]"#;
        let config = r#"{x 0 nil 0 :tool-defs [] "model" {} (1 2) 0 5 0 :model nil}"#;
        let data = format!(":field :session-config :unsupported-keys {keys}");
        check_error(config, Notation::Edn, "unsupported keys: \"model\" (1 2) 5 :tool-defs nil x;", &data);
        let many: String = (0..12).map(|number| format!(":k{number} 0 ")).collect();
        let error = parse(&read(&format!("{{{many}}}")), Notation::Edn).unwrap_err();
        assert!(error.to_string().contains(":k4 :k5 and 4 more; supported"), "{error}");
    }
}
