//! Parses one call of a tool, with all checks that need no access to existing jobs.
//!
//! The arguments of `Monitor` are parsed in `monitor.rs`; the conversion to a schedule is in `command.rs`. Invariant: no text in
//! a [`Call`] is blank; a prompt is passed on verbatim.

use super::error::{NOT_CRON, SENTINEL, style};
use super::instead::ProgramCall;
use super::monitor::{self, MonitorDraft};
use super::tool::Tool;
use crate::calendar::parse_cron;
use crate::dialect::args::{Arg, ArgError, Args, Repair, TOOL_WORDS};
use crate::dialect::{Answer, Notation, PageRequest};
use crate::domain::{Cron, Span};
use crate::edn::Value;
use crate::limits;

/// A parsed and checked call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Schedule a prompt.
    Create(JobDraft),
    /// List the jobs, or a part of them.
    List(PageRequest),
    /// Delete a job.
    Delete {
        /// The job's id, as given.
        id: Box<str>,
    },
    /// Set the next iteration of a loop.
    Wakeup(WakeupDraft),
    /// End the loop: no wake-up waits afterwards.
    Stop,
    /// Watch a tool.
    Monitor(Box<MonitorDraft>),
    /// Watch a program, which is refused.
    Program(Box<ProgramCall>),
}

/// The definition of a job to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobDraft {
    /// When it runs, on the local clock.
    pub cron: Cron,
    /// The prompt, verbatim.
    pub prompt: Box<str>,
    /// True for every match, false for the next one only.
    pub recurring: bool,
    /// Whether it is to be on disk; `None` if the caller does not say.
    pub durable: Option<bool>,
}

/// The next iteration of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeupDraft {
    /// The time until it begins, within the bounds.
    pub delay: Span,
    /// True if another delay was asked for.
    pub was_clamped: bool,
    /// Why this delay, for the user.
    pub reason: Box<str>,
    /// The prompt, verbatim.
    pub prompt: Box<str>,
}

/// Parses the arguments of one call of a tool.
///
/// # Errors
/// The complete error answer to an invalid call.
pub fn parse(tool: Tool, args: &Value, notation: Notation) -> Result<Call, Answer> {
    let style = style(notation);
    let call = || -> Result<Call, ArgError> {
        // Before all other checks: the answer to a program is a call that works, whatever else is wrong with this one.
        if tool == Tool::Monitor
            && let Some(program) = monitor::program(Repair::new(args, style))
        {
            return Ok(Call::Program(Box::new(program)));
        }
        let args = Args::of_call(args, style, names(tool))?;
        match tool {
            Tool::Create => draft(&args).map(Call::Create),
            Tool::List => PageRequest::read(&args).map(Call::List),
            Tool::Delete => {
                args.required_text("id", limits::ID_BYTES).map(|id| Call::Delete { id: id.into() })
            }
            Tool::Wakeup => wakeup(&args),
            Tool::Monitor => monitor::draft(&args).map(|draft| Call::Monitor(Box::new(draft))),
        }
    };
    call().map_err(|error| error.answer(&TOOL_WORDS, Repair::new(args, style).without(&error)))
}

/// The names of each tool's arguments.
const fn names(tool: Tool) -> &'static [&'static str] {
    match tool {
        Tool::Create => &["cron", "prompt", "recurring", "durable"],
        Tool::List => &["first", "after"],
        Tool::Delete => &["id"],
        Tool::Wakeup => &["delaySeconds", "reason", "prompt", "stop", "noop"],
        Tool::Monitor => monitor::NAMES,
    }
}

fn draft(args: &Args<'_>) -> Result<JobDraft, ArgError> {
    let cron = args.required("cron", |arg| {
        let text = arg.filled_text(limits::CRON_BYTES)?;
        parse_cron(text).map_err(|error| arg.breaks(NOT_CRON, error.to_string()).advised(error.hint()))
    })?;
    Ok(JobDraft {
        cron,
        prompt: prompt(args)?,
        recurring: args.flag("recurring")?.unwrap_or(true),
        durable: args.flag("durable")?,
    })
}

fn wakeup(args: &Args<'_>) -> Result<Call, ArgError> {
    // Claude Code ignores everything else then, even what is wrong.
    if args.flag("stop")? == Some(true) {
        return Ok(Call::Stop);
    }
    args.flag("noop")?;
    let (delay, was_clamped) = args.required("delaySeconds", delay)?;
    let reason = args.required_text("reason", limits::LABEL_BYTES)?.into();
    Ok(Call::Wakeup(WakeupDraft { delay, was_clamped, reason, prompt: prompt(args)? }))
}

/// A number of seconds within the bounds, and whether it was given out of them.
fn delay(arg: Arg<'_>) -> Result<(Span, bool), ArgError> {
    let (min, max) = (limits::WAKEUP_SECONDS_MIN.value, limits::WAKEUP_SECONDS_MAX.value);
    // Claude Code takes fractions. A part of a second is no reason to be early.
    let fraction = if let Value::Float(number) = arg.value() { Some(*number) } else { None };
    let given = match fraction.filter(|number| number.is_finite()) {
        Some(number) => whole(number.ceil()),
        None => u64::try_from(arg.integer()?).unwrap_or(0),
    };
    let within = given.clamp(min, max);
    Ok((Span::from_millis(within * 1_000), within != given))
}

/// A whole number of at most the longest delay and one: what is beyond the bounds need not be exact.
fn whole(number: f64) -> u64 {
    let max = limits::WAKEUP_SECONDS_MAX.value;
    // By a search, because a cast from a float can lose digits, and the lints forbid it.
    (0..=max).find(|known| f64::from(u32::try_from(*known).unwrap_or(u32::MAX)) >= number).unwrap_or(max + 1)
}

fn prompt(args: &Args<'_>) -> Result<Box<str>, ArgError> {
    let prompt = args.required_raw_text("prompt", limits::TEXT_BYTES)?;
    // Claude Code puts the instructions of its own loop in the place of these words. Nobody would here.
    if prompt.trim().starts_with(SENTINEL_START) {
        return Err(ArgError::own("prompt", SENTINEL, "").with(&prompt.into()));
    }
    Ok(prompt.into())
}

const SENTINEL_START: &str = "<<autonomous-loop";
