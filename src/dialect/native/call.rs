//! One call of a tool, and reading it, with all checks that need neither a clock nor existing schedules.
//!
//! The phrase in `when` is parsed in `calendar`, because its meaning depends on the clock. Invariant: a call names a
//! schedule in exactly one way. No text in a [`Call`] is blank, except a label that is to be removed.

use std::num::NonZeroU32;

use super::field;
use super::tool::Tool;
use crate::dialect::args::{ArgError, ArgErrorKind, Args, Style, wordings};
use crate::dialect::{Notation, REQUEST_CAPS};
use crate::domain::{Lifetime, Moment, ScheduleId, SessionId, Settings};
use crate::edn::{Map, Value, read_keeping_meta};
use crate::graph::eql::{self, Boundary};
use crate::graph::mutation::{
    ChangeParams, ChangeRequest, Conditions, CreateSchedule, NewScheduleParams, WhenParams,
};
use crate::limits;

/// A parsed and checked call.
#[derive(Clone, Debug)]
pub enum Call {
    /// Schedule a prompt.
    Create(Box<CreateSchedule>),
    /// List schedules.
    List(ListParams),
    /// Cancel a schedule.
    Cancel(ScheduleRef),
    /// Change the definition of a schedule; the number is the revision that the caller has seen.
    Change(ScheduleRef, Box<ChangeRequest>, Option<u32>),
    /// Pause a schedule (true) or resume it (false); the number is the revision that the caller has seen.
    Pause(ScheduleRef, bool, Option<u32>),
    /// Explain what happened to a schedule at an instant; by default, now.
    Explain(ScheduleRef, Option<Moment>),
    /// Take messages out of the inbox.
    Inbox {
        /// At most so many.
        first: u32,
        /// Whether the caller asks to wait for one.
        waits: bool,
    },
    /// Query the graph.
    Query(Boundary),
}

/// How a call names a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleRef {
    /// By its id.
    Id(ScheduleId),
    /// By the key it was created with.
    Key(Box<str>),
}

/// The parameters of `list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListParams {
    /// True to include schedules that have ended.
    pub all: bool,
    /// The maximum number of schedules.
    pub first: u64,
    /// The cursor after which the page begins.
    pub after: Option<Box<str>>,
}

/// Parses a call; returns the bare error, without an answer.
pub(super) fn read(tool: Tool, args: &Value, notation: Notation) -> Result<Call, ArgError> {
    let args = Args::of_call(args, Style::tools(notation), field::names(tool))?;
    match tool {
        Tool::Create => create(&args).map(Box::new).map(Call::Create),
        Tool::List => Ok(Call::List(ListParams {
            all: field::ALL.opt(&args)?.unwrap_or_default(),
            first: field::FIRST.opt(&args)?.unwrap_or(limits::TOOL_PAGE.value),
            after: field::AFTER.opt(&args)?.map(Into::into),
        })),
        Tool::Cancel => named(&args).map(Call::Cancel),
        Tool::Update => update(&args),
        Tool::Explain => Ok(Call::Explain(named(&args)?, field::AT.opt(&args)?)),
        Tool::Inbox => {
            // The tool server waits (`app/mcp/wait.rs`), and says nothing of it here: nothing of a daemon must be held for
            // minutes by each caller that likes.
            let waits = field::WAIT_SECONDS.opt(&args)?.is_some();
            let first = field::FIRST.opt(&args)?.unwrap_or(limits::TOOL_PAGE.value);
            Ok(Call::Inbox { first: u32::try_from(first).unwrap_or(u32::MAX), waits })
        }
        Tool::Query => query(&args).map(Call::Query),
    }
}

fn create(args: &Args<'_>) -> Result<CreateSchedule, ArgError> {
    let message = field::MESSAGE.required_raw(args)?;
    let phrase = field::WHEN.required_raw(args)?;
    let kind = field::KIND.opt(args)?;
    let text = |field: field::Text| field.opt(args).map(|text| text.map(Into::into));
    let max_runs = field::MAX_RUNS.opt(args)?;
    // The field's bounds exclude 0 and everything beyond 32 bits, so no number is lost here.
    let max_runs = max_runs.and_then(|runs| NonZeroU32::new(u32::try_from(runs).ok()?));
    // The owner is optional here: a caller that is a session is its own owner.
    let owner = field::SESSION_ID.opt(args)?;
    let not_an_id = |_| {
        let error = ArgError::new(field::SESSION_ID.name, ArgErrorKind::NotAnId);
        error.with(&owner.unwrap_or_default().into())
    };
    Ok(CreateSchedule {
        new: NewScheduleParams {
            owner: owner.map(SessionId::new).transpose().map_err(not_an_id)?,
            kind: Some(kind),
            message: message.into(),
            label: text(field::LABEL)?,
            description: None,
            session_config: None,
            // The service decides: durable if there is a store.
            durability: None,
            idempotency_key: text(field::KEY)?,
            channel: None,
            conversation: None,
        },
        when: WhenParams { when: Some(phrase.into()), zone: text(field::ZONE)?, ..WhenParams::default() },
        conditions: Conditions {
            policy: None,
            lifetime: max_runs.map(|runs| Lifetime { max_runs: Some(runs), ..Settings::PLAIN.lifetime }),
        },
    })
}

fn update(args: &Args<'_>) -> Result<Call, ArgError> {
    let which = named(args)?;
    let text = |field: field::Text| field.opt(args).map(|text| text.map(Into::into));
    let when: Option<Box<str>> = text(field::WHEN)?;
    let zone: Option<Box<str>> = text(field::ZONE)?;
    // Present but blank is an error, unlike absent.
    let message = match args.get(field::MESSAGE.name) {
        None => None,
        Some(_) => Some(field::MESSAGE.required_raw(args)?.into()),
    };
    // A blank label removes the old one.
    let label = field::LABEL.raw(args)?;
    let label = label.map(|label| Some(label.trim()).filter(|label| !label.is_empty()).map(Into::into));
    let revision = field::REVISION.opt(args)?;
    let revision = revision.and_then(|revision| u32::try_from(revision).ok());
    // `paused` and `revision` do not count as changes.
    let paused = field::PAUSED.opt(args)?;
    let is_change = when.is_some() || zone.is_some() || message.is_some() || label.is_some();
    match (paused, is_change) {
        // Pausing and changing are two mutations, and each makes a revision of its own.
        (Some(_), true) => Err(ArgError::own("paused", NOT_ALONE, "")),
        (None, false) => Err(ArgError::own("", NO_CHANGE, "")),
        (Some(paused), false) => Ok(Call::Pause(which, paused, revision)),
        (None, true) => {
            let texts = ChangeParams { label, description: None, message };
            let when = WhenParams { when, zone, ..WhenParams::default() };
            let change =
                ChangeRequest { texts, when, conditions: Conditions { policy: None, lifetime: None } };
            Ok(Call::Change(which, Box::new(change), revision))
        }
    }
}

/// The schedule that a call names, by id or by key.
fn named(args: &Args<'_>) -> Result<ScheduleRef, ArgError> {
    let id = field::SCHEDULE_ID.opt(args)?;
    let key = field::KEY.opt(args)?;
    match (id, key) {
        (Some(_), Some(_)) => Err(ArgError::own("key", NOT_ALONE, "")),
        (None, None) => {
            let hint = "list has the schedules of this session with their ids";
            Err(ArgError::new("schedule_id", ArgErrorKind::Missing).advised(hint))
        }
        (None, Some(key)) => Ok(ScheduleRef::Key(key.into())),
        (Some(id), None) => {
            let not_an_id = |_| ArgError::new("schedule_id", ArgErrorKind::NotAnId).with(&id.into());
            ScheduleId::new(id).map(ScheduleRef::Id).map_err(not_an_id)
        }
    }
}

fn query(args: &Args<'_>) -> Result<Boundary, ArgError> {
    let text = field::QUERY.required_raw(args)?;
    let fault = |error: String| ArgError::own("query", NOT_A_QUERY, error);
    let form = read_keeping_meta(text.as_bytes(), &REQUEST_CAPS).map_err(|error| fault(error.to_string()))?;
    let query = eql::parse(&form).map_err(|error| fault(error.to_string()))?;
    Ok(Boundary { query, entity: Map::new(), lenient: None, as_of: None })
}

wordings! {
    NOT_ALONE "not_alone" "{field} cannot be given together with the other fields" "leave it out, or make two calls";
    NO_CHANGE "no_change" "the call changes nothing" "give at least one of when, message, label and paused";
    NOT_A_QUERY "not_a_query" "{field} is not EQL: {detail}"
        "write a vector of attributes in EDN, such as [:psi.scheduler/pending-count]";
}
