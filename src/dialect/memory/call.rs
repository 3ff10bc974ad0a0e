//! Parses one call of a tool, with all checks that need no access to what is remembered.

use super::error::NO_TASK_ID;
use super::tool::{STATUSES, Tool};
use crate::dialect::args::{Arg, ArgError, ArgErrorKind, Args, Choices, Keys, Repair, Style, TOOL_WORDS};
use crate::dialect::{Answer, Notation};
use crate::domain::TaskStatus;
use crate::edn::Value;
use crate::limits::{self, Limit};

/// A parsed and checked call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Remember a fact.
    Remember {
        /// The fact.
        content: Box<str>,
    },
    /// Set the goal.
    SetGoal {
        /// The goal.
        goal: Box<str>,
    },
    /// Note down a task.
    TaskCreate {
        /// What is to be done.
        subject: Box<str>,
        /// More about it.
        description: Option<Box<str>>,
    },
    /// Change how far a task is.
    TaskUpdate {
        /// The number of the task, from 1.
        task: u32,
        /// How far it is.
        status: TaskStatus,
    },
}

/// Parses the arguments of one call of a tool.
///
/// # Errors
/// The complete error answer to an invalid call.
pub fn parse(tool: Tool, args: &Value, notation: Notation) -> Result<Call, Answer> {
    let style = Style { notation, keys: Keys::Plain, choices: Choices::AnyCase, short_times: true };
    let call = || -> Result<Call, ArgError> {
        let args = Args::of_call(args, style, names(tool))?;
        Ok(match tool {
            Tool::Remember => Call::Remember { content: text(&args, "content", limits::MEMORY_TEXT)? },
            Tool::SetGoal => Call::SetGoal { goal: text(&args, "goal", limits::MEMORY_TEXT)? },
            Tool::TaskCreate => {
                // `opt_text` drops a blank description, which `text` would refuse.
                let description = args.opt_text("description", limits::TEXT_BYTES)?.is_some();
                let description = description.then(|| text(&args, "description", limits::MEMORY_TEXT));
                Call::TaskCreate {
                    subject: text(&args, "subject", limits::TASK_SUBJECT)?,
                    description: description.transpose()?,
                }
            }
            Tool::TaskUpdate => Call::TaskUpdate {
                task: args.required("taskId", number)?,
                status: args.required("status", |arg| arg.one_of(STATUSES, ALL))?,
            },
        })
    };
    call().map_err(|error| error.answer(&TOOL_WORDS, Repair::new(args, style).without(&error)))
}

/// The names of each tool's arguments.
const fn names(tool: Tool) -> &'static [&'static str] {
    match tool {
        Tool::Remember => &["content"],
        Tool::SetGoal => &["goal"],
        Tool::TaskCreate => &["subject", "description"],
        Tool::TaskUpdate => &["taskId", "status"],
    }
}

/// A text of at most so many characters.
fn text(args: &Args<'_>, name: &str, limit: Limit) -> Result<Box<str>, ArgError> {
    let text = args.required_text(name, limits::TEXT_BYTES)?;
    if text.chars().count() as u64 > limit.value {
        return Err(ArgError::new(name, ArgErrorKind::TooLong { limit }));
    }
    Ok(text.into())
}

/// The number of a task: `t3`, or 3.
fn number(arg: Arg<'_>) -> Result<u32, ArgError> {
    let written = arg.name().map(|id| id.trim().trim_start_matches('t').parse().ok());
    let number =
        written.unwrap_or_else(|| arg.value().as_int().and_then(|number| u32::try_from(number).ok()));
    number.filter(|number| *number > 0).ok_or_else(|| arg.breaks(NO_TASK_ID, ""))
}

/// What [`STATUSES`] mean, in their order.
const ALL: &[TaskStatus] =
    &[TaskStatus::Pending, TaskStatus::InProgress, TaskStatus::Done, TaskStatus::Blocked];
