//! Parses one call of a tool, with all checks that need no access to tools or tasks.
//!
//! Invariant: what is wrong with one item of a list is kept with that item.

use std::sync::Arc;

use super::error::{EMPTY, LAUNCH_NEEDS_NAME, NOT_ACTIONS, TASK_NEEDED};
use super::tool::Tool;
use crate::dialect::args::{Arg, ArgError, ArgErrorKind, Args, Choices, Keys, Repair, Style, TOOL_WORDS};
#[cfg(feature = "embed")]
use crate::dialect::json;
use crate::dialect::{Answer, Notation};
use crate::domain::Span;
use crate::edn::{Map, Value};
use crate::limits;

/// A parsed and checked call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Call several tools at once.
    Parallel(Parallel),
    /// Something about tasks.
    Background(Background),
}

/// Tools to call at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parallel {
    /// What to call, and the items that cannot be called.
    pub items: Vec<Result<Item, BadItem>>,
    /// How long to wait for all of them.
    pub time: Span,
}

/// One tool to call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The name of the tool, as it was written.
    pub name: Box<str>,
    /// Its arguments, a map.
    pub args: Arc<Value>,
}

/// An item that cannot be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadItem {
    /// The name of the tool, as it was written; empty if there is none.
    pub name: Box<str>,
    /// What is wrong with it.
    pub why: String,
}

/// What is asked about tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Background {
    /// Which tasks there are.
    List,
    /// End the task.
    Cancel {
        /// Its id, as given.
        task: Box<str>,
    },
    /// Wait for the end of the task.
    Wait {
        /// Its id, as given.
        task: Box<str>,
        /// How long.
        time: Span,
    },
    /// How the task stands.
    Status {
        /// Its id, as given.
        task: Box<str>,
    },
    /// Begin a task.
    Launch {
        /// What to call.
        item: Item,
        /// Whether a time was given, which bounds a wait and no task.
        has_timeout: bool,
    },
}

/// Parses the arguments of one call of a tool.
///
/// # Errors
/// The complete error answer to an invalid call.
pub fn parse(tool: Tool, args: &Value, notation: Notation) -> Result<Call, Answer> {
    let style = Style { notation, keys: Keys::Snake, choices: Choices::Exact, short_times: false };
    let call = || -> Result<Call, ArgError> {
        match tool {
            Tool::RunParallel => parallel(&Args::of_call(args, style, PARALLEL)?).map(Call::Parallel),
            Tool::BackgroundRun => background(&Args::of_call(args, style, BACKGROUND)?).map(Call::Background),
        }
    };
    call().map_err(|error| error.answer(&TOOL_WORDS, Repair::new(args, style).without(&error)))
}

const PARALLEL: &[&str] = &["actions", "timeout"];
const BACKGROUND: &[&str] = &["name", "params", "task_id", "wait", "timeout", "cancel", "list_tasks"];
/// The keys of an item: of each pair, programs write the one or the other.
const ITEM: &[&str] = &["name", "tool", "action", "params", "args", "arguments"];

fn parallel(args: &Args<'_>) -> Result<Parallel, ArgError> {
    let items = args.required("actions", |arg| {
        let written = as_written(arg)?;
        let arg = written.as_ref().map_or(arg, |value| arg.like(value));
        let items = arg.value().as_items().ok_or_else(|| arg.breaks(NOT_ACTIONS, ""))?;
        if items.is_empty() {
            return Err(arg.breaks(EMPTY, ""));
        }
        if items.len() as u64 > limits::PARALLEL_CALLS.value {
            return Err(arg.error(ArgErrorKind::TooLong { limit: limits::PARALLEL_CALLS }));
        }
        Ok(items.iter().enumerate().map(|(index, value)| item(index, arg.like(value))).collect())
    })?;
    let seconds = args.opt("timeout", |arg| arg.int_in(1, limits::PARALLEL_SECONDS_MAX.value))?;
    let time = Span::from_millis(seconds.unwrap_or(limits::PARALLEL_SECONDS.value) * 1_000);
    Ok(Parallel { items, time })
}

/// The list, if it is written as a JSON text.
fn as_written(arg: Arg<'_>) -> Result<Option<Value>, ArgError> {
    #[cfg(feature = "embed")]
    if let Some(text) = arg.value().as_str() {
        let read = json::read(text.as_bytes(), &crate::dialect::REQUEST_CAPS);
        return read.map(Some).map_err(|_| arg.breaks(NOT_ACTIONS, ""));
    }
    // Without JSON, no text is read as a list.
    let _ = arg;
    Ok(None)
}

fn item(index: usize, arg: Arg<'_>) -> Result<Item, BadItem> {
    let read = || -> Result<Item, ArgError> {
        let args = arg.map(ITEM)?;
        let first = |keys: &[&'static str]| keys.iter().copied().find(|key| args.get(key).is_some());
        let name = args
            .required_text(first(&["name", "tool", "action"]).unwrap_or("name"), limits::CALLED_NAME_BYTES)?;
        let params = args.opt(first(&["params", "args", "arguments"]).unwrap_or("params"), params)?;
        Ok(Item { name: name.into(), args: Arc::new(params.unwrap_or_else(|| Map::new().into())) })
    };
    read().map_err(|error| {
        // The name is looked for once more, because the item as a whole could not be read.
        let named = ["name", "tool", "action"].iter().find_map(|key| {
            let map = arg.value().as_map()?;
            map.keyword(key).or_else(|| map.text(key))?.as_str()
        });
        let named = named.filter(|name| name.len() as u64 <= limits::CALLED_NAME_BYTES.value);
        let why = error.at(index).under("actions").message(&TOOL_WORDS);
        BadItem { name: named.unwrap_or_default().into(), why }
    })
}

/// The arguments of a tool. What begins with `_` is no argument: programs that drive models give some of it a meaning of their
/// own, such as that a person has approved of the call.
fn params(arg: Arg<'_>) -> Result<Value, ArgError> {
    let shown = |key: &Value| !Arg::name(arg.like(key)).is_some_and(|name| name.starts_with('_'));
    arg.parse("an object", |value| {
        let map = value.as_map()?;
        let shown = map.iter().filter(|(key, _)| shown(key));
        Some(shown.map(|(key, value)| (key.clone(), value.clone())).collect::<Map>().into())
    })
}

fn background(args: &Args<'_>) -> Result<Background, ArgError> {
    let is = |name| args.opt(name, Arg::flag).map(|flag| flag == Some(true));
    let (list, cancel, wait) = (is("list_tasks")?, is("cancel")?, is("wait")?);
    let task = args.opt_text("task_id", limits::ID_BYTES)?.map(Box::<str>::from);
    let seconds = args.opt("timeout", |arg| arg.int_in(1, limits::TASK_WAIT_SECONDS_MAX.value))?;
    let needed = |of: &'static str| ArgError::own("task_id", TASK_NEEDED, of);
    // From here on the first mode that fits counts (invariant 3 of this folder).
    if list {
        return Ok(Background::List);
    }
    if cancel {
        return task.map(|task| Background::Cancel { task }).ok_or_else(|| needed("cancel"));
    }
    if wait {
        let time = Span::from_millis(seconds.unwrap_or(limits::TASK_WAIT_SECONDS.value) * 1_000);
        return task.map(|task| Background::Wait { task, time }).ok_or_else(|| needed("wait"));
    }
    if let Some(task) = task {
        return Ok(Background::Status { task });
    }
    let Some(name) = args.opt_text("name", limits::CALLED_NAME_BYTES)? else {
        return Err(ArgError::own("", LAUNCH_NEEDS_NAME, ""));
    };
    let params = args.opt("params", params)?.unwrap_or_else(|| Map::new().into());
    let item = Item { name: name.into(), args: Arc::new(params) };
    Ok(Background::Launch { item, has_timeout: seconds.is_some() })
}
