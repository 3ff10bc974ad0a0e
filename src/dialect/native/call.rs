//! One call of a tool: what it asks for, checked as far as that goes without a clock and without looking at a schedule.
//!
//! What lives elsewhere: what the phrase in `when` means (`calendar`), because that takes a clock. Invariant: a schedule is
//! named in one way, and no text in a [`Call`] is blank but a label that is to be taken away.

use super::repair::repaired;
use super::tool::Tool;
use crate::dialect::args::Args;
use crate::dialect::slip::{Slip, SlipFault};
use crate::dialect::{Answer, Notation, REQUEST_CAPS};
use crate::domain::{Kind, Moment, ScheduleId};
use crate::edn::{Map, Value, read_keeping_meta};
use crate::graph::eql::{self, Boundary};
use crate::limits;

/// One call, checked.
#[derive(Clone, Debug)]
pub enum Call {
    /// Schedule a prompt.
    Create(Draft),
    /// List schedules.
    List(Listing),
    /// Cancel a schedule.
    Cancel(Named),
    /// Give a schedule another definition.
    Change(Named, Change),
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

/// A schedule as it is asked for: the parameters of the graph's mutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft(pub Map);

/// A change as it is asked for: the parameters of the graph's mutation, without the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change(pub Map);

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
    read(tool, args, notation).map_err(|slip| slip.answer(repaired(tool, args, notation)))
}

/// The same, without the answer.
pub(super) fn read(tool: Tool, args: &Value, notation: Notation) -> Result<Call, Slip> {
    let args = Args::new(args, notation, names(tool))?;
    match tool {
        Tool::Create => draft(&args).map(Call::Create),
        Tool::List => Ok(Call::List(Listing {
            all: args.flag("all")?.unwrap_or(false),
            first: args.whole("first", 1, limits::TOOL_PAGE_MAX.value)?.unwrap_or(limits::TOOL_PAGE.value),
            after: args.said("after", limits::LABEL_BYTES)?.map(Into::into),
        })),
        Tool::Cancel => named(&args).map(Call::Cancel),
        Tool::Update => update(&args),
        Tool::Explain => Ok(Call::Explain(named(&args)?, args.instant("at")?)),
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

fn draft(args: &Args<'_>) -> Result<Draft, Slip> {
    let mut params = Map::new()
        .with("message", args.required("message", limits::TEXT_BYTES)?)
        .with("when", args.required("when", limits::PHRASE_BYTES)?)
        .with("kind", args.word("kind", Kind::NAMES, Kind::ALL)?.unwrap_or(Kind::Message).name());
    let optional = [
        ("zone", args.said("zone", limits::ZONE_BYTES)?),
        ("label", args.said("label", limits::LABEL_BYTES)?),
        ("idempotency-key", args.said("key", limits::LABEL_BYTES)?),
        ("origin-session-id", args.said("session_id", limits::ID_BYTES)?),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            params = params.with(name, value);
        }
    }
    if let Some(runs) = args.whole("max_runs", 1, u64::from(u32::MAX))? {
        params = params.with("lifetime", Map::new().with("max-runs", integer(runs)));
    }
    Ok(Draft(params))
}

fn update(args: &Args<'_>) -> Result<Call, Slip> {
    let which = named(args)?;
    let mut params = Map::new();
    let texts = [
        ("when", args.said("when", limits::PHRASE_BYTES)?),
        ("zone", args.said("zone", limits::ZONE_BYTES)?),
    ];
    for (name, value) in texts {
        if let Some(value) = value {
            params = params.with(name, value);
        }
    }
    if args.get("message").is_some() {
        params = params.with("message", args.required("message", limits::TEXT_BYTES)?);
    }
    if let Some(label) = args.exact("label", limits::LABEL_BYTES)? {
        let label = Some(label.trim()).filter(|label| !label.is_empty());
        params = params.with("label", label);
    }
    let revision = args.whole("revision", 1, u64::from(u32::MAX))?;
    let paused = args.flag("paused")?;
    match (paused, params.is_empty()) {
        (Some(_), false) => Err(Slip::new("paused", SlipFault::NotAlone)),
        (None, true) => Err(Slip::new("when", SlipFault::Missing)),
        (Some(_), true) if revision.is_some() => Err(Slip::new("revision", SlipFault::NotAlone)),
        (Some(paused), true) => Ok(Call::Pause(which, paused)),
        (None, false) if params.keyword("when").is_none() && params.keyword("zone").is_some() => {
            // A zone alone would be read by nobody.
            Err(Slip::new("when", SlipFault::Missing))
        }
        (None, false) => {
            let params = match revision {
                Some(revision) => params.with("base-revision", integer(revision)),
                None => params,
            };
            Ok(Call::Change(which, Change(params)))
        }
    }
}

/// The schedule that is meant, named in one way.
fn named(args: &Args<'_>) -> Result<Named, Slip> {
    let id = args.said("schedule_id", limits::ID_BYTES)?;
    let key = args.said("key", limits::LABEL_BYTES)?;
    match (id, key) {
        (Some(_), Some(_)) => Err(Slip::new("key", SlipFault::NotAlone)),
        (None, None) => Err(Slip::new("schedule_id", SlipFault::Missing)),
        (None, Some(key)) => Ok(Named::Key(key.into())),
        (Some(id), None) => {
            let not_an_id = |_| Slip::new("schedule_id", SlipFault::NotAnId).with(&id.into());
            ScheduleId::new(id).map(Named::Id).map_err(not_an_id)
        }
    }
}

fn query(args: &Args<'_>) -> Result<Boundary, Slip> {
    let text = args.required("query", limits::TEXT_BYTES)?;
    let fault = |error: String| Slip::new("query", SlipFault::NotAQuery { error: error.into() });
    let form = read_keeping_meta(text.as_bytes(), &REQUEST_CAPS).map_err(|error| fault(error.to_string()))?;
    let query = eql::parse(&form).map_err(|error| fault(error.to_string()))?;
    Ok(Boundary { query, entity: Map::new(), lenient: None, as_of: None })
}

fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
