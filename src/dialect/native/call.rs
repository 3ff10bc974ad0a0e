//! One call of a tool: what it asks for, checked as far as that goes without a clock and without looking at a schedule.
//!
//! What lives elsewhere: what the phrase in `when` means (`calendar`), because that takes a clock. Invariant: a schedule is
//! named in one way, and no text in a [`Call`] is blank but a label that is to be taken away.

use std::num::NonZeroU32;

use super::error::{NOT_A_QUERY, NOT_ALONE};
use super::repair::repaired;
use super::tool::Tool;
use crate::dialect::args::{ArgError, ArgErrorKind, Args, Style, TOOL_WORDS};
use crate::dialect::{Answer, Notation, REQUEST_CAPS};
use crate::domain::{Kind, Lifetime, Moment, ScheduleId, SessionId, Terms};
use crate::edn::{Map, Value, read_keeping_meta};
use crate::graph::eql::{self, Boundary};
use crate::graph::mutation::{
    Change, ChangeParams, Conditions, CreateSchedule, NewScheduleParams, WhenParams,
};
use crate::limits;

/// One call, checked.
#[derive(Clone, Debug)]
pub enum Call {
    /// Schedule a prompt.
    Create(Box<CreateSchedule>),
    /// List schedules.
    List(Listing),
    /// Cancel a schedule.
    Cancel(Named),
    /// Give a schedule another definition; the revision is the one that was seen.
    Change(Named, Box<Change>, Option<u32>),
    /// Pause a schedule, or let it go on.
    Pause(Named, bool),
    /// Explain what became of a schedule at an instant; now if none is given.
    Explain(Named, Option<Moment>),
    /// Ask the graph.
    Query(Boundary),
}

/// What says which schedule is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// Its id.
    Id(ScheduleId),
    /// The key that it was created with.
    Key(Box<str>),
}

/// Which schedules to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Those that have ended too.
    pub all: bool,
    /// How many at most.
    pub first: u64,
    /// Behind which.
    pub after: Option<Box<str>>,
}

/// Reads the arguments of one call of a tool.
///
/// # Errors
/// The finished answer to a call that makes no sense.
pub fn parse(tool: Tool, args: &Value, notation: Notation) -> Result<Call, Answer> {
    read(tool, args, notation).map_err(|error| error.answer(&TOOL_WORDS, repaired(tool, args, notation)))
}

/// The same, without the answer.
pub(super) fn read(tool: Tool, args: &Value, notation: Notation) -> Result<Call, ArgError> {
    let args = Args::of_call(args, Style::tools(notation), names(tool))?;
    match tool {
        Tool::Create => create(&args).map(Box::new).map(Call::Create),
        Tool::List => Ok(Call::List(Listing {
            all: args.flag("all")?.unwrap_or(false),
            first: args.int_in("first", 1, limits::TOOL_PAGE_MAX.value)?.unwrap_or(limits::TOOL_PAGE.value),
            after: args.opt_text("after", limits::LABEL_BYTES)?.map(Into::into),
        })),
        Tool::Cancel => named(&args).map(Call::Cancel),
        Tool::Update => update(&args),
        Tool::Explain => Ok(Call::Explain(named(&args)?, args.opt_instant("at")?)),
        Tool::Query => query(&args).map(Call::Query),
    }
}

/// The arguments of each tool.
pub(super) const fn names(tool: Tool) -> &'static [&'static str] {
    match tool {
        Tool::Create => &["message", "when", "zone", "label", "kind", "max_runs", "key", "session_id"],
        Tool::List => &["all", "first", "after"],
        Tool::Cancel => &["schedule_id", "key"],
        Tool::Update => &["schedule_id", "key", "when", "zone", "message", "label", "paused", "revision"],
        Tool::Explain => &["schedule_id", "key", "at"],
        Tool::Query => &["query"],
    }
}

fn create(args: &Args<'_>) -> Result<CreateSchedule, ArgError> {
    let message = args.required_raw_text("message", limits::TEXT_BYTES)?;
    let phrase = args.required_raw_text("when", limits::PHRASE_BYTES)?;
    let kind = args.one_of("kind", Kind::NAMES, Kind::ALL)?.unwrap_or(Kind::Message);
    let text = |name, limit| args.opt_text(name, limit).map(|text| text.map(Into::into));
    let max_runs = args.int_in("max_runs", 1, u64::from(u32::MAX))?;
    let max_runs = max_runs.and_then(|runs| NonZeroU32::new(u32::try_from(runs).ok()?));
    let owner = args.opt_text("session_id", limits::ID_BYTES)?;
    let not_an_id = |_| {
        let error = ArgError::new("session_id", ArgErrorKind::NotAnId);
        error.with(&owner.unwrap_or_default().into())
    };
    Ok(CreateSchedule {
        new: NewScheduleParams {
            owner: owner.map(SessionId::new).transpose().map_err(not_an_id)?,
            kind,
            message: message.into(),
            label: text("label", limits::LABEL_BYTES)?,
            description: None,
            session_config: None,
            durability: None,
            idempotency_key: text("key", limits::LABEL_BYTES)?,
            channel: None,
            conversation: None,
        },
        when: WhenParams {
            when: Some(phrase.into()),
            zone: text("zone", limits::ZONE_BYTES)?,
            ..WhenParams::default()
        },
        conditions: Conditions {
            policy: None,
            lifetime: max_runs.map(|runs| Lifetime { max_runs: Some(runs), ..Terms::PLAIN.lifetime }),
        },
    })
}

fn update(args: &Args<'_>) -> Result<Call, ArgError> {
    let which = named(args)?;
    let text = |name, limit| args.opt_text(name, limit).map(|text| text.map(Into::into));
    let when: Option<Box<str>> = text("when", limits::PHRASE_BYTES)?;
    let zone: Option<Box<str>> = text("zone", limits::ZONE_BYTES)?;
    let message = match args.get("message") {
        None => None,
        Some(_) => Some(args.required_raw_text("message", limits::TEXT_BYTES)?.into()),
    };
    let label = args.raw_text("label", limits::LABEL_BYTES)?;
    let label = label.map(|label| Some(label.trim()).filter(|label| !label.is_empty()).map(Into::into));
    let revision = args.int_in("revision", 1, u64::from(u32::MAX))?;
    let revision = revision.and_then(|revision| u32::try_from(revision).ok());
    let paused = args.flag("paused")?;
    let is_change = when.is_some() || zone.is_some() || message.is_some() || label.is_some();
    match (paused, is_change) {
        (Some(_), true) => Err(ArgError::own("paused", NOT_ALONE, "")),
        (None, false) => Err(ArgError::new("when", ArgErrorKind::Missing)),
        (Some(_), false) if revision.is_some() => Err(ArgError::own("revision", NOT_ALONE, "")),
        (Some(paused), false) => Ok(Call::Pause(which, paused)),
        // A zone alone would be read by nobody.
        (None, true) if when.is_none() && zone.is_some() => Err(ArgError::new("when", ArgErrorKind::Missing)),
        (None, true) => {
            let texts = ChangeParams { label, description: None, message };
            let when = WhenParams { when, zone, ..WhenParams::default() };
            let change = Change { texts, when, conditions: Conditions { policy: None, lifetime: None } };
            Ok(Call::Change(which, Box::new(change), revision))
        }
    }
}

/// The schedule that is meant, named in one way.
fn named(args: &Args<'_>) -> Result<Named, ArgError> {
    let id = args.opt_text("schedule_id", limits::ID_BYTES)?;
    let key = args.opt_text("key", limits::LABEL_BYTES)?;
    match (id, key) {
        (Some(_), Some(_)) => Err(ArgError::own("key", NOT_ALONE, "")),
        (None, None) => Err(ArgError::new("schedule_id", ArgErrorKind::Missing)),
        (None, Some(key)) => Ok(Named::Key(key.into())),
        (Some(id), None) => {
            let not_an_id = |_| ArgError::new("schedule_id", ArgErrorKind::NotAnId).with(&id.into());
            ScheduleId::new(id).map(Named::Id).map_err(not_an_id)
        }
    }
}

fn query(args: &Args<'_>) -> Result<Boundary, ArgError> {
    let text = args.required_raw_text("query", limits::TEXT_BYTES)?;
    let fault = |error: String| ArgError::own("query", NOT_A_QUERY, error);
    let form = read_keeping_meta(text.as_bytes(), &REQUEST_CAPS).map_err(|error| fault(error.to_string()))?;
    let query = eql::parse(&form).map_err(|error| fault(error.to_string()))?;
    Ok(Boundary { query, entity: Map::new(), lenient: None, as_of: None })
}
