//! Parameters read into types.
//!
//! Lives here: `params!`, which declares a group of parameters as a struct and as a table in one, the types that a
//! parameter can have, and reading one by name. Does not live here: the groups (`mutation/`, `listing.rs`, `attr/`), nor the
//! check that nothing else is given (`registry/param.rs`).
//!
//! Invariant: name, type, documentation and presence of a parameter stand on one line, and everything else is derived from it.

use std::num::NonZeroU32;

use super::echo;
use super::eql::instant_of;
use super::registry::{
    Param, ParamFault, ParamFaultKind, ParamGroup, ParamGroups, ParamType, ResolverError, check, name_of,
};
use crate::domain::{
    About, ChannelKind, CountFrom, DecisionKind, Dialect, Digest, Durability, EndsWith, JobId, Missed,
    Moment, Overlap, PayloadKind, Phase, Reason, Recovery, Right, Ruling, RunId, SessionId, Span,
    ThinkingLevel, Weekday, WhenBusy,
};
use crate::edn::{Keyword, Map, Value};

/// Declares a group of parameters: a struct with a field for each, `GROUP`, the table of them, and `read`.
///
/// A field is `required`, `optional` (absent and nil are `None`), `defaulted` (optional, and where it is shown it always has
/// a value), or `patch` (absent is `None`, nil is `Some(None)`).
/// `bounded(MIN, MAX)` after the name narrows the bounds of a whole number.
macro_rules! params {
    (
        $(#[doc = $about:literal])+
        $visibility:vis $group:ident $(folded as $param:literal: $record:literal)? {
            $($(#[doc = $doc:literal])+ $presence:ident $field:ident: $type:ty = $name:literal
                $(or $alias:literal)? $(bounded($min:expr, $max:expr))?,)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        $visibility struct $group {
            $($(#[doc = $doc])+ pub $field: $crate::graph::params::params!(@field $presence $type),)*
        }

        impl $group {
            /// The table of these parameters.
            $visibility const GROUP: &'static $crate::graph::registry::ParamGroup = &$crate::graph::registry::ParamGroup {
                doc: concat!($($about),+).trim_ascii(),
                folded: $crate::graph::params::params!(@folded $($param, $record)?),
                params: &[$($crate::graph::registry::Param {
                    name: $name,
                    alias: $crate::graph::params::params!(@alias $($alias)?),
                    doc: concat!($($doc),+).trim_ascii(),
                    kind: $crate::graph::params::params!(@kind $type $(, $min, $max)?),
                    is_required: $crate::graph::params::params!(@required $presence),
                    is_nullable: $crate::graph::params::params!(@nullable $presence),
                },)*],
            };

            /// Reads them.
            ///
            /// # Errors
            /// A value that is not of its type, or a required one that is not there.
            $visibility fn read(
                given: &$crate::graph::params::CheckedParams<'_>,
            ) -> Result<Self, $crate::graph::registry::ParamFault> {
                Ok($group { $($field: given.$presence($name, Self::GROUP)?,)* })
            }
        }
    };
    (@field required $type:ty) => { $type };
    (@field optional $type:ty) => { Option<$type> };
    (@field defaulted $type:ty) => { Option<$type> };
    (@field patch $type:ty) => { Option<Option<$type>> };
    (@required required) => { true };
    (@required optional) => { false };
    (@required defaulted) => { false };
    (@required patch) => { false };
    (@nullable required) => { false };
    (@nullable optional) => { true };
    (@nullable defaulted) => { false };
    (@nullable patch) => { true };
    (@alias) => { None };
    (@alias $alias:literal) => { Some($alias) };
    (@folded) => { None };
    (@folded $param:literal, $record:literal) => { Some(($param, $record)) };
    (@kind $type:ty) => { <$type as $crate::graph::params::FromParam>::TYPE };
    (@kind $type:ty, $min:expr, $max:expr) => {
        $crate::graph::registry::ParamType::Integer { min: $min, max: $max }
    };
}
pub(crate) use params;

/// A type that a parameter can have.
pub trait FromParam: Sized {
    /// What the value is.
    const TYPE: ParamType;

    /// Reads the value; `None` where it is not of the type.
    fn from_value(value: &Value) -> Option<Self> {
        Self::from_param(value, "").ok()
    }

    /// Reads the value and says what is wrong with it. A map with parameters of its own says it of one of those.
    ///
    /// # Errors
    /// What the value must be, or what is wrong inside it.
    fn from_param(value: &Value, name: &'static str) -> Result<Self, ParamFault> {
        Self::from_value(value).ok_or_else(|| wrong(name, value, Self::TYPE))
    }
}

/// Declares a field of a record that is shown; it holds what a parameter of this type takes.
pub const fn field<T: FromParam>(name: &'static str, doc: &'static str) -> Param {
    Param::shown(name, T::TYPE, doc)
}

/// The parameters of one call or of one map, whose names have been checked.
pub struct CheckedParams<'a> {
    map: &'a Map,
}

impl<'a> CheckedParams<'a> {
    /// Takes the parameters of a mutation.
    ///
    /// # Errors
    /// One that is not declared, is given twice, or is missing.
    pub fn checked(map: &'a Map, declared: ParamGroups) -> Result<CheckedParams<'a>, ParamFault> {
        check(map, declared)?;
        Ok(CheckedParams { map })
    }

    /// Takes the parameters of an attribute. Their names were checked when the query was planned.
    pub(in crate::graph) fn of(map: &'a Map) -> CheckedParams<'a> {
        CheckedParams { map }
    }

    /// Takes the parameters of a map that is itself a parameter. Their names were checked with the call's.
    ///
    /// # Errors
    /// The value is no map.
    pub(in crate::graph) fn inside(
        value: &'a Value,
        name: &'static str,
        kind: ParamType,
    ) -> Result<CheckedParams<'a>, ParamFault> {
        value.as_map().map(|map| CheckedParams { map }).ok_or_else(|| wrong(name, value, kind))
    }

    /// A parameter that the call must have.
    pub fn required<T: FromParam>(
        &self,
        name: &'static str,
        group: &'static ParamGroup,
    ) -> Result<T, ParamFault> {
        let missing = || {
            let kind = ParamFaultKind::Missing { name, expected: declared(group, name).expected() };
            ParamFault { path: Vec::new(), kind }
        };
        self.read(name, group)?.flatten().ok_or_else(missing)
    }

    /// A parameter that may be left out; nil is as if it were.
    pub fn optional<T: FromParam>(
        &self,
        name: &'static str,
        group: &'static ParamGroup,
    ) -> Result<Option<T>, ParamFault> {
        Ok(self.read(name, group)?.flatten())
    }

    /// A parameter that may be left out and has a default, which the reader of the group knows.
    pub fn defaulted<T: FromParam>(
        &self,
        name: &'static str,
        group: &'static ParamGroup,
    ) -> Result<Option<T>, ParamFault> {
        self.optional(name, group)
    }

    /// A parameter that changes something: nil takes it away, and absence leaves it as it is.
    pub fn patch<T: FromParam>(
        &self,
        name: &'static str,
        group: &'static ParamGroup,
    ) -> Result<Option<Option<T>>, ParamFault> {
        self.read(name, group)
    }

    fn read<T: FromParam>(
        &self,
        name: &'static str,
        group: &'static ParamGroup,
    ) -> Result<Option<Option<T>>, ParamFault> {
        let param = group.params.iter().find(|param| param.name == name);
        let is_it =
            |key: &Value| name_of(key).is_some_and(|key| param.is_some_and(|param| param.is_called(key)));
        let Some((_, value)) = self.map.iter().find(|(key, _)| is_it(key)) else { return Ok(None) };
        if value.is_nil() {
            return Ok(Some(None));
        }
        if let ParamType::Integer { min, max } = declared(group, name)
            && value.as_int().is_none_or(|number| number < min || number > max)
        {
            return Err(wrong(name, value, declared(group, name)));
        }
        T::from_param(value, name).map(|value| Some(Some(value)))
    }
}

/// Names the call at fault in the error.
pub(in crate::graph) fn refused(of: &'static str) -> impl Fn(ParamFault) -> ResolverError {
    move |fault| fault.into_error(&of)
}

fn declared(group: &'static ParamGroup, name: &str) -> ParamType {
    group.params.iter().find(|param| param.name == name).map_or(ParamType::Map, |param| param.kind)
}

fn wrong(name: &'static str, value: &Value, kind: ParamType) -> ParamFault {
    unlike(name, value, &kind.expected())
}

fn unlike(name: &'static str, value: &Value, expected: &str) -> ParamFault {
    let kind = ParamFaultKind::Wrong { name, value: echo(value), expected: expected.to_owned() };
    ParamFault { path: Vec::new(), kind }
}

/// A name, as a keyword or as text.
pub fn word(value: &Value) -> Option<&str> {
    value.as_keyword().map(Keyword::as_str).or_else(|| value.as_str())
}

/// Text that names something. What it names is looked up where it is used: somebody else's is as unknown as none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdText(pub Box<str>);

/// Any number of values: a list of them, a set, or one alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T: FromParam> FromParam for OneOrMany<T> {
    const TYPE: ParamType = ParamType::List(&T::TYPE);

    fn from_value(value: &Value) -> Option<Self> {
        let set: Vec<Value> = value.as_set().into_iter().flat_map(|set| set.iter().cloned()).collect();
        let items = match value.as_items() {
            Some(items) => items,
            None if value.as_set().is_some() => &set,
            None => std::slice::from_ref(value),
        };
        items.iter().map(T::from_value).collect::<Option<Vec<T>>>().map(OneOrMany)
    }
}

impl FromParam for Box<str> {
    const TYPE: ParamType = ParamType::Text;

    fn from_value(value: &Value) -> Option<Self> {
        value.as_str().map(Into::into)
    }
}

impl FromParam for Map {
    const TYPE: ParamType = ParamType::Map;

    fn from_value(value: &Value) -> Option<Self> {
        value.as_map().cloned()
    }
}

impl FromParam for bool {
    const TYPE: ParamType = ParamType::Boolean;

    fn from_value(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl FromParam for u32 {
    const TYPE: ParamType = ParamType::Integer { min: 0, max: u32::MAX as i64 };

    fn from_value(value: &Value) -> Option<Self> {
        u32::try_from(value.as_int()?).ok()
    }
}

impl FromParam for NonZeroU32 {
    const TYPE: ParamType = ParamType::Integer { min: 1, max: u32::MAX as i64 };

    fn from_value(value: &Value) -> Option<Self> {
        NonZeroU32::new(u32::from_value(value)?)
    }
}

/// A span is a number of milliseconds.
impl FromParam for Span {
    const TYPE: ParamType = ParamType::Integer { min: 0, max: i64::MAX };

    fn from_value(value: &Value) -> Option<Self> {
        Some(Span::from_millis(u64::try_from(value.as_int()?).ok()?))
    }
}

impl FromParam for Moment {
    const TYPE: ParamType = ParamType::Instant;

    fn from_value(value: &Value) -> Option<Self> {
        instant_of(value)
    }
}

impl FromParam for Digest {
    const TYPE: ParamType = ParamType::Text;

    fn from_param(value: &Value, name: &'static str) -> Result<Self, ParamFault> {
        let digest = value.as_str().and_then(Digest::parse);
        digest.ok_or_else(|| unlike(name, value, "the digest that is shown"))
    }
}

impl FromParam for IdText {
    const TYPE: ParamType = ParamType::Id;

    fn from_value(value: &Value) -> Option<Self> {
        value.as_str().map(|text| IdText(text.into()))
    }
}

impl FromParam for SessionId {
    const TYPE: ParamType = ParamType::Id;

    fn from_value(value: &Value) -> Option<Self> {
        SessionId::new(value.as_str()?).ok()
    }
}

impl FromParam for JobId {
    const TYPE: ParamType = ParamType::Id;

    fn from_value(value: &Value) -> Option<Self> {
        JobId::new(value.as_str()?).ok()
    }
}

impl FromParam for RunId {
    const TYPE: ParamType = ParamType::Id;

    fn from_param(value: &Value, name: &'static str) -> Result<Self, ParamFault> {
        let run = value.as_str().and_then(RunId::parse);
        run.ok_or_else(|| unlike(name, value, "the id of a run"))
    }
}

/// Closed sets of names, each with the name of the set.
macro_rules! enums {
    ($($type:ty = $name:literal,)+) => {
        $(impl $crate::graph::params::FromParam for $type {
            const TYPE: $crate::graph::registry::ParamType =
                $crate::graph::registry::ParamType::Enum { name: $name, values: <$type>::NAMES };

            fn from_value(value: &$crate::edn::Value) -> Option<Self> {
                <$type>::parse($crate::graph::params::word(value)?)
            }
        })+
    };
}
pub(in crate::graph) use enums;

enums! {
    About = "notice-about",
    ChannelKind = "channel-kind",
    CountFrom = "count-from",
    DecisionKind = "decision-kind",
    Dialect = "dialect",
    Durability = "durability",
    EndsWith = "ends-with",
    PayloadKind = "schedule-kind",
    Missed = "missed-policy",
    Overlap = "overlap-policy",
    Phase = "phase",
    Reason = "reason",
    Recovery = "recovery-policy",
    Right = "right",
    Ruling = "ruling",
    ThinkingLevel = "thinking-level",
    Weekday = "weekday",
    WhenBusy = "busy-policy",
}
