//! Converts parameters to typed structs.
//!
//! Lives here: `params!`, which declares a group of parameters as a struct and as a table in one; the types that a
//! parameter can have; and reading a parameter by its name. Does not live here: the groups (`mutation/`, `listing.rs`,
//! `attr/`), and the check that a call has no other parameters (`registry/param.rs`).
//!
//! Invariant: name, type, documentation and presence of a parameter are declared in one place; everything else is derived
//! from that declaration.

use std::num::NonZeroU32;

use super::echo;
use super::eql::instant_of;
use super::registry::{
    Param, ParamFault, ParamFaultKind, ParamGroup, ParamGroups, ParamType, ResolverError, check, name_of,
};
use crate::domain::{
    About, Address, CallPurpose, CallVia, ChannelKind, CountFrom, DecisionKind, Dialect, Digest, Durability,
    EndsWith, JobId, Missed, Moment, NotifyWhen, Overlap, PayloadKind, PermissionAnswer, Phase, PingName,
    PromptComponent, Reason, Recovery, Right, Role, Ruling, RunId, SessionId, SkillSource, Span,
    ThinkingLevel, Weekday, WhenBusy, nearest,
};
use crate::edn::{Keyword, Map, Value};

/// Declares a group of parameters: a struct with a field for each, the table `GROUP`, and the function `read`.
///
/// A field is `required`, `optional` (absent and nil are `None`), `defaulted` (optional in a call, but never nil where it is
/// shown), or `patch` (absent is `None`, nil is `Some(None)`).
/// `or` after the name adds an alias. `bounded(MIN, MAX)` narrows the bounds of a whole number.
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
            /// The table of the parameters.
            $visibility const GROUP: &'static $crate::graph::registry::ParamGroup = &$crate::graph::registry::ParamGroup {
                // Each line of a doc comment begins with a space, which separates the lines when they are joined.
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

            /// Reads the parameters.
            ///
            /// # Errors
            /// Returns a value of the wrong type, or a required parameter that is missing.
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
    // Nil and absence differ here: nil removes a value, absence leaves it.
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
pub(crate) trait FromParam: Sized {
    /// The type, as errors and schemas show it.
    const TYPE: ParamType;

    /// Converts the value; returns `None` if it is not of the type.
    ///
    /// An implementation defines this function or [`FromParam::from_param`]: each calls the other by default.
    fn from_value(value: &Value) -> Option<Self> {
        Self::from_param(value, "").ok()
    }

    /// Converts the value of the parameter `name`.
    ///
    /// # Errors
    /// Returns what the value must be; for a map with parameters of its own, the fault of one of those.
    fn from_param(value: &Value, name: &'static str) -> Result<Self, ParamFault> {
        Self::from_value(value).ok_or_else(|| wrong(name, value, Self::TYPE))
    }
}

/// Declares a field of a record that is shown, with the type of a parameter.
pub(crate) const fn field<T: FromParam>(name: &'static str, doc: &'static str) -> Param {
    Param::shown(name, T::TYPE, doc)
}

/// The parameters of one call or of one map, whose names have been checked.
pub struct CheckedParams<'a> {
    map: &'a Map,
}

impl<'a> CheckedParams<'a> {
    /// Checks the parameters of a mutation against its declaration.
    ///
    /// # Errors
    /// Returns a parameter that is not declared, is given twice, or is missing.
    pub(crate) fn checked(map: &'a Map, declared: ParamGroups) -> Result<CheckedParams<'a>, ParamFault> {
        check(map, declared)?;
        Ok(CheckedParams { map })
    }

    /// Wraps the parameters of an attribute. Their names were checked when the query was planned.
    pub(in crate::graph) fn of(map: &'a Map) -> CheckedParams<'a> {
        CheckedParams { map }
    }

    /// Wraps the parameters of a map that is itself a parameter. Their names were checked with those of the call.
    ///
    /// # Errors
    /// Returns a fault if the value is not a map.
    pub(in crate::graph) fn inside(
        value: &'a Value,
        name: &'static str,
        kind: ParamType,
    ) -> Result<CheckedParams<'a>, ParamFault> {
        value.as_map().map(|map| CheckedParams { map }).ok_or_else(|| wrong(name, value, kind))
    }

    /// Returns a parameter that the call must have; nil counts as missing.
    pub(crate) fn required<T: FromParam>(
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

    /// Returns a parameter that may be omitted; nil counts as omitted.
    pub(crate) fn optional<T: FromParam>(
        &self,
        name: &'static str,
        group: &'static ParamGroup,
    ) -> Result<Option<T>, ParamFault> {
        Ok(self.read(name, group)?.flatten())
    }

    /// Returns a parameter that may be omitted and has a default. The code that reads the group knows the default.
    pub(crate) fn defaulted<T: FromParam>(
        &self,
        name: &'static str,
        group: &'static ParamGroup,
    ) -> Result<Option<T>, ParamFault> {
        self.optional(name, group)
    }

    /// Returns a parameter of a change: nil removes the value, and an omitted parameter leaves it unchanged.
    pub(crate) fn patch<T: FromParam>(
        &self,
        name: &'static str,
        group: &'static ParamGroup,
    ) -> Result<Option<Option<T>>, ParamFault> {
        self.read(name, group)
    }

    /// Returns `None` for a parameter that is absent, and `Some(None)` for one that is nil.
    fn read<T: FromParam>(
        &self,
        name: &'static str,
        group: &'static ParamGroup,
    ) -> Result<Option<Option<T>>, ParamFault> {
        let param = group.params.iter().find(|param| param.name == name);
        let is_it =
            |key: &Value| name_of(key).is_some_and(|key| param.is_some_and(|param| param.is_called(key)));
        // The check of the names has excluded a second key for the same parameter.
        let Some((_, value)) = self.map.iter().find(|(key, _)| is_it(key)) else { return Ok(None) };
        if value.is_nil() {
            return Ok(Some(None));
        }
        // The declaration may be narrower than the type: `bounded` changes only the declaration.
        if let ParamType::Integer { min, max } = declared(group, name)
            && value.as_int().is_none_or(|number| number < min || number > max)
        {
            return Err(wrong(name, value, declared(group, name)));
        }
        T::from_param(value, name).map(|value| Some(Some(value)))
    }
}

/// Returns a conversion of faults to errors, which name `of` as what takes the parameters.
pub(in crate::graph) fn refused(of: &'static str) -> impl Fn(ParamFault) -> ResolverError {
    move |fault| fault.into_error(&of)
}

/// Returns the declared type of a parameter. The name comes from the group itself, so it is always found.
fn declared(group: &'static ParamGroup, name: &str) -> ParamType {
    group.params.iter().find(|param| param.name == name).map_or(ParamType::Map, |param| param.kind)
}

fn wrong(name: &'static str, value: &Value, kind: ParamType) -> ParamFault {
    let values = if let ParamType::Enum { values, .. } = kind { values } else { &[] };
    let nearest = word(value).and_then(|word| nearest(values.iter().map(|it| (*it, *it)), word));
    let kind = ParamFaultKind::Wrong { name, value: echo(value), expected: kind.expected(), nearest };
    ParamFault { path: Vec::new(), kind }
}

fn wrong_value(name: &'static str, value: &Value, expected: &str) -> ParamFault {
    let expected = expected.to_owned();
    let kind = ParamFaultKind::Wrong { name, value: echo(value), expected, nearest: None };
    ParamFault { path: Vec::new(), kind }
}

/// Returns a name that is a keyword or a string: JSON has no keywords.
pub(crate) fn word(value: &Value) -> Option<&str> {
    value.as_keyword().map(Keyword::as_str).or_else(|| value.as_str())
}

/// The text of an id. It is looked up where it is used, so an invalid id gets the answer of an unknown one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdText(pub Box<str>);

/// Any number of values: a list, a set, or a single value, which counts as a list of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T: FromParam> FromParam for OneOrMany<T> {
    const TYPE: ParamType = ParamType::List(&T::TYPE);

    fn from_param(value: &Value, name: &'static str) -> Result<Self, ParamFault> {
        // A set has no slice of its items, so they are copied.
        let set: Vec<Value> = value.as_set().into_iter().flat_map(|set| set.iter().cloned()).collect();
        let items = match value.as_items() {
            Some(items) => items,
            None if value.as_set().is_some() => &set,
            None => std::slice::from_ref(value),
        };
        items
            .iter()
            .map(|item| T::from_param(item, name))
            .collect::<Result<Vec<T>, ParamFault>>()
            .map(OneOrMany)
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

/// A span is given as a number of milliseconds, as many as one can hold.
impl FromParam for Span {
    const TYPE: ParamType = ParamType::Integer { min: 0, max: Span::MAX.millis().cast_signed() };

    fn from_value(value: &Value) -> Option<Self> {
        let millis = u64::try_from(value.as_int()?).ok()?;
        (millis <= Span::MAX.millis()).then(|| Span::from_millis(millis))
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
        digest.ok_or_else(|| wrong_value(name, value, "the digest that the approval shows"))
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

impl FromParam for Address {
    const TYPE: ParamType = ParamType::Text;

    fn from_param(value: &Value, name: &'static str) -> Result<Self, ParamFault> {
        let address = value.as_str().and_then(|text| text.parse().ok());
        address.ok_or_else(|| wrong_value(name, value, "an agent's name, or AGENT:CONVERSATION"))
    }
}

impl FromParam for JobId {
    const TYPE: ParamType = ParamType::Id;

    fn from_value(value: &Value) -> Option<Self> {
        JobId::new(value.as_str()?).ok()
    }
}

impl FromParam for PingName {
    const TYPE: ParamType = ParamType::Text;

    fn from_param(value: &Value, name: &'static str) -> Result<Self, ParamFault> {
        let given = value.as_str().and_then(|text| PingName::new(text).ok());
        given.ok_or_else(|| {
            wrong_value(name, value, "the name of a ping: 1 to 64 bytes, no control characters")
        })
    }
}

impl FromParam for RunId {
    const TYPE: ParamType = ParamType::Id;

    fn from_param(value: &Value, name: &'static str) -> Result<Self, ParamFault> {
        let run = value.as_str().and_then(RunId::parse);
        run.ok_or_else(|| wrong_value(name, value, "the id of a run"))
    }
}

/// Implements [`FromParam`] for enums, each with the name of its type in schemas.
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
    CallPurpose = "call-purpose",
    NotifyWhen = "notify-when",
    CallVia = "call-via",
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
    PromptComponent = "prompt-component",
    PermissionAnswer = "permission-answer",
    Reason = "reason",
    Recovery = "recovery-policy",
    Right = "right",
    Role = "message-role",
    Ruling = "ruling",
    SkillSource = "skill-source",
    ThinkingLevel = "thinking-level",
    Weekday = "weekday",
    WhenBusy = "busy-policy",
}
