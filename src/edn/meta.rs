//! Values with metadata.
//!
//! Lives here: the pair, and how metadata is spelled. Does not live here: reading `^`, see
//! `read/prefix.rs`.
//!
//! Invariant: `value` is a symbol or a collection and never carries metadata of its own, so
//! that looking through it takes one step.

use super::{Map, Value};

/// A value and the metadata that stood before it: `^{:task/limit 10} [:task/title]`.
///
/// Metadata changes neither equality, nor order, nor the printed text, as in Clojure.
#[derive(Clone, Debug)]
pub struct Meta {
    meta: Map,
    value: Value,
}

impl Meta {
    /// Returns the metadata.
    pub fn meta(&self) -> &Map {
        &self.meta
    }

    /// Returns the value without it.
    pub fn value(&self) -> &Value {
        &self.value
    }

    pub(super) fn value_mut(&mut self) -> &mut Value {
        &mut self.value
    }
}

impl Value {
    /// Returns the value with metadata; a value that is neither a symbol nor a collection has none.
    /// Existing metadata stays under the keys that `meta` does not name.
    #[must_use]
    pub fn with_meta(self, meta: Map) -> Self {
        match self {
            Self::Meta(mut inner) => {
                inner.meta.extend(meta);
                Self::Meta(inner)
            }
            Self::Symbol(_) | Self::List(_) | Self::Vector(_) | Self::Map(_) | Self::Set(_) => {
                Self::Meta(Box::new(Meta { meta, value: self }))
            }
            Self::Nil | Self::Bool(_) | Self::Int(_) | Self::BigInt(_) | Self::Float(_) => self,
            Self::BigDec(_) | Self::Ratio(_) | Self::Char(_) | Self::Str(_) | Self::Keyword(_) => self,
            Self::Inst(_) | Self::Uuid(_) | Self::Tagged(_) => self,
        }
    }

    /// Returns the metadata, if there is any.
    pub fn meta(&self) -> Option<&Map> {
        if let Self::Meta(meta) = self { Some(&meta.meta) } else { None }
    }

    /// Returns the value without its metadata.
    pub fn plain(&self) -> &Self {
        if let Self::Meta(meta) = self { &meta.value } else { self }
    }

    /// Turns what stands behind `^` into metadata: a keyword is a flag, a symbol or string a tag.
    pub(super) fn into_meta(self) -> Map {
        match self {
            Self::Map(map) => map,
            Self::Meta(meta) => meta.value.into_meta(),
            Self::Keyword(_) => [(self, Self::Bool(true))].into_iter().collect(),
            Self::Symbol(_) | Self::Str(_) => Map::new().with("tag", self),
            // The reader refuses these as metadata before (`check_metadata`).
            Self::Nil | Self::Bool(_) | Self::Int(_) | Self::BigInt(_) | Self::Float(_) => Map::new(),
            Self::BigDec(_) | Self::Ratio(_) | Self::Char(_) | Self::List(_) | Self::Vector(_) => Map::new(),
            Self::Set(_) | Self::Inst(_) | Self::Uuid(_) | Self::Tagged(_) => Map::new(),
        }
    }
}
