//! One call of a tool: what it asks for, checked as far as that goes without looking at a reminder.
//!
//! What lives elsewhere: what the engine makes of it (`command.rs`), the cap on a session's reminders (`engine`). Invariant:
//! no text in a [`Call`] is blank; a prompt is as it was given.

use super::example::example;
use super::tool::Tool;
use crate::dialect::args::{ArgError, ArgErrorKind, Args, Style, TOOL_WORDS};
use crate::dialect::{Answer, Notation};
use crate::domain::{Span, names};
use crate::edn::Value;
use crate::limits;

/// One call, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Set a reminder.
    Add(Draft),
    /// List the active ones.
    List,
    /// Cancel all that match.
    Remove {
        /// What they have in their description or prompt, in whatever case.
        pattern: Box<str>,
    },
}

/// A reminder as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Whether it comes back.
    pub kind: ReminderKind,
    /// How long until it comes, and from the end of one time to the next.
    pub interval: Span,
    /// What the agent is told then, word for word.
    pub prompt: Box<str>,
    /// What it is for, in the user's words.
    pub description: Box<str>,
}

names! {
    /// Whether a reminder comes back.
    ReminderKind {
        /// It comes once.
        OneTime = "one-time",
        /// It comes again and again, until somebody cancels it.
        Recurring = "recurring",
    }
}

/// Reads the arguments of one call of a tool.
///
/// # Errors
/// The finished answer to a call that makes no sense.
pub fn parse(tool: Tool, args: &Value, notation: Notation) -> Result<Call, Answer> {
    let call = || -> Result<Call, ArgError> {
        let args = Args::of_call(args, Style::tools(notation), names(tool))?;
        match tool {
            Tool::Add => draft(&args).map(Call::Add),
            Tool::List => Ok(Call::List),
            Tool::Remove => {
                let pattern = args.required_text("description_pattern", limits::LABEL_BYTES)?;
                Ok(Call::Remove { pattern: pattern.into() })
            }
        }
    };
    call().map_err(|error| error.answer(&TOOL_WORDS, example(tool)))
}

/// The arguments of each tool.
const fn names(tool: Tool) -> &'static [&'static str] {
    match tool {
        Tool::Add => &["interval_seconds", "type", "action_prompt", "description"],
        Tool::List => &[],
        Tool::Remove => &["description_pattern"],
    }
}

fn draft(args: &Args<'_>) -> Result<Draft, ArgError> {
    let (min, max) = (limits::REMINDER_SECONDS_MIN.value, limits::PERIOD_MS_MAX.value / 1_000);
    let seconds = args.int_in("interval_seconds", min, max)?;
    let kind = args.required("type", |arg| arg.one_of(ReminderKind::NAMES, ReminderKind::ALL))?;
    let seconds = match (seconds, kind) {
        (Some(seconds), _) => seconds,
        // "Check regularly" means every minute. Source: SEED-003, "Regular website monitoring".
        (None, ReminderKind::Recurring) => REGULARLY_SECONDS,
        (None, ReminderKind::OneTime) => {
            return Err(ArgError::new("interval_seconds", ArgErrorKind::Missing));
        }
    };
    Ok(Draft {
        kind,
        interval: Span::from_millis(seconds * 1_000),
        prompt: args.required_raw_text("action_prompt", limits::TEXT_BYTES)?.into(),
        description: args.required_text("description", limits::LABEL_BYTES)?.into(),
    })
}

const REGULARLY_SECONDS: u64 = 60;
