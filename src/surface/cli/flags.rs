//! Generates flags from the graph's parameters: one flag per parameter, with the documentation from its table.
//!
//! This module walks the table and parses a flag's text into a value of the right type. Bounds are not checked here:
//! the daemon checks them, and its error names the parameter.

use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::dialect::REQUEST_CAPS;
use crate::edn::{self, Map, Value};
use crate::graph::listing::OF_SCHEDULES;
use crate::graph::mutation::{
    ChangeParams, Conditions, GrantParams, NewScheduleParams, ReasonParams, SlotParams, WhenParams,
};
use crate::graph::registry::{Param, ParamGroups, ParamType};
use crate::graph::run_listing::OF_RUNS;

/// The parameters that are the flags of one command.
pub trait FlagSet {
    /// The groups of parameters.
    const GROUPS: ParamGroups;
    /// Parameters that the command has as arguments of their own, so that they get no flag.
    const EXCEPT: &'static [&'static str] = &[];
}

/// The flags of a new schedule.
#[derive(Debug)]
pub(crate) struct CreateFlags;

impl FlagSet for CreateFlags {
    const GROUPS: ParamGroups = &[NewScheduleParams::GROUP, WhenParams::GROUP, Conditions::GROUP];
    // The phrase is an argument, and says all that the other forms of a time say.
    const EXCEPT: &'static [&'static str] =
        &["origin-session-id", "message", "when", "trigger", "cron", "every-ms", "delay-ms", "at", "if-past"];
}

/// The flags that change a schedule.
#[derive(Debug)]
pub(crate) struct ChangeFlags;

impl FlagSet for ChangeFlags {
    const GROUPS: ParamGroups = &[WhenParams::GROUP, ChangeParams::GROUP, Conditions::GROUP];
}

/// The flag for a reason.
#[derive(Debug)]
pub(crate) struct ReasonFlags;

impl FlagSet for ReasonFlags {
    const GROUPS: ParamGroups = &[ReasonParams::GROUP];
}

/// The flag of a run by hand.
#[derive(Debug)]
pub(crate) struct SlotFlags;

impl FlagSet for SlotFlags {
    const GROUPS: ParamGroups = &[SlotParams::GROUP];
}

/// The flags of a grant.
#[derive(Debug)]
pub(crate) struct GrantFlags;

impl FlagSet for GrantFlags {
    const GROUPS: ParamGroups = &[GrantParams::GROUP];
    const EXCEPT: &'static [&'static str] = &["session-id"];
}

/// The flags that select schedules.
#[derive(Debug)]
pub struct ListFlags;

impl FlagSet for ListFlags {
    const GROUPS: ParamGroups = OF_SCHEDULES;
    // `--session` says it, and the daemon sees to it.
    const EXCEPT: &'static [&'static str] = &["session-id"];
}

/// The flags that select runs.
#[derive(Debug)]
pub struct RunsFlags;

impl FlagSet for RunsFlags {
    const GROUPS: ParamGroups = OF_RUNS;
}

/// A set of flags, with the values given on the command line.
#[derive(Debug)]
pub(crate) struct Flags<S> {
    /// The given parameters, by name.
    pub(crate) params: Map,
    set: PhantomData<S>,
}

impl<S: FlagSet> FromArgMatches for Flags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut params = Map::new();
        // An absent flag stays absent: the daemon distinguishes it from every value.
        for param in declared::<S>() {
            // Flags are read as text and converted below, because the type depends on the table.
            let Some(texts) = matches.get_many::<String>(param.name) else { continue };
            let texts: Vec<&str> = texts.map(String::as_str).collect();
            let value = value(param.kind, &texts).map_err(|expected| {
                let message = format!("--{} must be {expected}\n", param.name);
                clap::Error::raw(clap::error::ErrorKind::ValueValidation, message)
            })?;
            params = params.with(param.name, value);
        }
        Ok(Flags { params, set: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Flags::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<S: FlagSet> Args for Flags<S> {
    fn augment_args(command: Command) -> Command {
        declared::<S>().fold(command, |command, param| command.arg(flag(param)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The parameters of all groups, without the exceptions.
fn declared<S: FlagSet>() -> impl Iterator<Item = &'static Param> {
    let params = S::GROUPS.iter().flat_map(|group| group.params);
    params.filter(|param| !S::EXCEPT.contains(&param.name))
}

fn flag(param: &'static Param) -> Arg {
    let arg = Arg::new(param.name).long(param.name).help(param.doc).value_name(value_name(param.kind));
    let arg = arg.action(ArgAction::Set).required(param.is_required);
    match param.kind {
        ParamType::Enum { values, .. } => arg.value_parser(clap::builder::PossibleValuesParser::new(values)),
        ParamType::List(ParamType::Enum { values, .. }) => {
            let values = clap::builder::PossibleValuesParser::new(*values);
            arg.value_parser(values).value_delimiter(',').num_args(1..)
        }
        ParamType::List(_) => arg.value_delimiter(',').num_args(1..),
        // `--keep-slot` alone is a yes; `=false` is the other word for a parameter whose default is a yes.
        ParamType::Boolean => arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
        ParamType::Text | ParamType::Id | ParamType::Integer { .. } => arg,
        ParamType::Instant | ParamType::Record(_) | ParamType::Map => arg,
    }
}

const fn value_name(kind: ParamType) -> &'static str {
    match kind {
        ParamType::Text => "TEXT",
        ParamType::Id => "ID",
        ParamType::Boolean => "true|false",
        ParamType::Integer { .. } => "N",
        ParamType::Instant => "INSTANT",
        ParamType::Enum { name, .. } => name,
        ParamType::List(_) => "LIST",
        ParamType::Record(_) | ParamType::Map => "EDN",
    }
}

/// Parses the text of a flag. The error describes the expected type.
fn value(kind: ParamType, texts: &[&str]) -> Result<Value, String> {
    if let ParamType::List(item) = kind {
        let items: Result<Vec<Value>, String> = texts.iter().map(|text| value(*item, &[text])).collect();
        return items.map(Value::vector);
    }
    let text = texts.last().copied().unwrap_or_default();
    let expected = || kind.expected();
    match kind {
        // The daemon parses ids, instants and names itself.
        ParamType::Text
        | ParamType::Id
        | ParamType::Instant
        | ParamType::Enum { .. }
        | ParamType::List(_) => Ok(Value::string(text)),
        ParamType::Boolean => text.parse().map(Value::Bool).map_err(|_| expected()),
        ParamType::Integer { .. } => text.parse().map(Value::Int).map_err(|_| expected()),
        ParamType::Record(_) | ParamType::Map => {
            let value = edn::read(text.as_bytes(), &REQUEST_CAPS).map_err(|error| error.to_string())?;
            if value.as_map().is_some() { Ok(value) } else { Err(expected()) }
        }
    }
}
