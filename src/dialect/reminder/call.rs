//! Parses one call of a tool, with all checks that need no access to existing reminders.
//!
//! The conversion to a schedule is in `command.rs`; the engine checks the cap on a session's reminders. Invariant: no
//! text in a [`Call`] is blank; a prompt is passed on verbatim.

use super::tool::Tool;
use crate::dialect::args::{ArgError, ArgErrorKind, Args, Repair, Style, TOOL_WORDS};
use crate::dialect::{Answer, Notation, PageRequest};
use crate::domain::{Span, names};
use crate::edn::Value;
use crate::limits;

/// A parsed and checked call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Set a reminder.
    Add(ReminderDraft),
    /// List the active reminders, or a part of them.
    List(PageRequest),
    /// Cancel all matching reminders.
    Remove {
        /// What the user wants to stop, in words of the description or the prompt.
        pattern: Box<str>,
    },
}

/// The definition of a reminder to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReminderDraft {
    /// One-time or recurring.
    pub kind: ReminderKind,
    /// The time until the reminder is due, and from the end of one run to the next.
    pub interval: Span,
    /// The prompt for the agent, verbatim.
    pub prompt: Box<str>,
    /// The purpose, in the user's words.
    pub description: Box<str>,
}

names! {
    /// One-time or recurring.
    ReminderKind {
        /// The reminder is due once.
        OneTime = "one-time",
        /// The reminder recurs until it is cancelled.
        Recurring = "recurring",
    }
}

/// Parses the arguments of one call of a tool.
///
/// # Errors
/// The complete error answer to an invalid call.
pub fn parse(tool: Tool, args: &Value, notation: Notation) -> Result<Call, Answer> {
    let style = Style::tools(notation);
    let call = || -> Result<Call, ArgError> {
        let args = Args::of_call(args, style, names(tool))?;
        match tool {
            Tool::Add => draft(&args).map(Call::Add),
            Tool::List => PageRequest::read(&args).map(Call::List),
            Tool::Remove => {
                let pattern = args.required_text("description_pattern", limits::LABEL_BYTES)?;
                Ok(Call::Remove { pattern: pattern.into() })
            }
        }
    };
    call().map_err(|error| error.answer(&TOOL_WORDS, Repair::new(args, style).without(&error)))
}

/// The names of each tool's arguments.
const fn names(tool: Tool) -> &'static [&'static str] {
    match tool {
        Tool::Add => &["interval_seconds", "type", "action_prompt", "description"],
        Tool::List => &["first", "after"],
        Tool::Remove => &["description_pattern"],
    }
}

fn draft(args: &Args<'_>) -> Result<ReminderDraft, ArgError> {
    let (min, max) = (limits::REMINDER_SECONDS_MIN.value, limits::PERIOD_MS_MAX.value / 1_000);
    let seconds = args.int_in("interval_seconds", min, max)?;
    // Read before the interval is judged: only a one-time reminder needs one.
    let kind = args.required("type", |arg| arg.one_of(ReminderKind::NAMES, ReminderKind::ALL))?;
    let seconds = match (seconds, kind) {
        (Some(seconds), _) => seconds,
        // "Check regularly" means every minute. Source: SEED-003, "Regular website monitoring".
        (None, ReminderKind::Recurring) => REGULARLY_SECONDS,
        (None, ReminderKind::OneTime) => {
            return Err(ArgError::new("interval_seconds", ArgErrorKind::Missing));
        }
    };
    Ok(ReminderDraft {
        kind,
        interval: Span::from_millis(seconds * 1_000),
        // Untrimmed: the prompt reaches the session exactly as the model wrote it.
        prompt: args.required_raw_text("action_prompt", limits::TEXT_BYTES)?.into(),
        description: args.required_text("description", limits::LABEL_BYTES)?.into(),
    })
}

const REGULARLY_SECONDS: u64 = 60;
