//! One call of a tool: what it asks for, checked as far as that goes without looking at an action.
//!
//! What lives elsewhere: what the engine makes of it (`command.rs`), the cap on a session's actions (`engine`). Invariant:
//! texts in a [`Call`] are trimmed, and a blank one counts as absent.

use super::action::ActionKind;
use super::example::example;
use super::tool::Tool;
use crate::dialect::args::Args;
use crate::dialect::slip::{Slip, SlipFault};
use crate::dialect::{Answer, Notation};
use crate::domain::{Attachment, JobId, Moment, Span, names};
use crate::edn::Value;
use crate::limits;

/// One call, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Create an action.
    Create(Box<Draft>),
    /// List the session's actions.
    List,
    /// Cancel one.
    Cancel {
        /// Its id, as given.
        action_id: Box<str>,
    },
    /// Let one happen now.
    RunNow {
        /// Its id, as given.
        action_id: Box<str>,
    },
    /// A job is ready.
    JobReady {
        /// The job.
        job: JobId,
    },
}

names! {
    /// What the tool is asked to do.
    Operation {
        /// Create an action.
        Create = "create",
        /// List the session's actions.
        List = "list",
        /// Cancel one.
        Cancel = "cancel",
        /// Let one happen now.
        RunNow = "run_now",
    }
}

/// An action as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// What happens then.
    pub kind: ActionKind,
    /// When.
    pub due: Due,
    /// The message or the instruction; a file may come without one.
    pub text: Box<str>,
    /// The file to be shown.
    pub file: Option<Attachment>,
    /// What the user asked for.
    pub summary: Option<Box<str>>,
    /// Whether a person's word in the session cancels it.
    pub cancel_on_user_activity: bool,
    /// How often it is tried, 1 to `limits::ATTEMPTS`.
    pub max_attempts: u64,
    /// The key by which a newer action takes its place.
    pub dedupe_key: Option<Box<str>>,
}

/// When an action happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// So long from now.
    After(Span),
    /// At this instant; one that has passed is now.
    At(Moment),
    /// When the job is ready, at the latest at this instant.
    Ready(JobId, Option<Moment>),
}

/// Reads the arguments of one call of a tool at that moment.
///
/// # Errors
/// The finished answer to a call that makes no sense.
pub fn parse(tool: Tool, args: &Value, notation: Notation, now: Moment) -> Result<Call, Answer> {
    let call = || -> Result<Call, Slip> {
        let args = Args::new(args, notation, names(tool))?;
        match tool {
            Tool::Schedule => schedule(&args, now),
            Tool::ReportReady => {
                let missing = || Slip::new("job_id", SlipFault::Missing);
                Ok(Call::JobReady { job: job(&args)?.ok_or_else(missing)? })
            }
        }
    };
    call().map_err(|slip| slip.answer(example(tool, slip.field())))
}

/// The arguments of each tool.
const fn names(tool: Tool) -> &'static [&'static str] {
    match tool {
        Tool::Schedule => &[
            "operation",
            "action_kind",
            "delay_seconds",
            "run_at",
            "message",
            "instruction",
            "job_id",
            "artifact_path",
            "artifact_name",
            "original_summary",
            "cancel_on_user_activity",
            "max_attempts",
            "dedupe_key",
            "action_id",
        ],
        Tool::ReportReady => &["job_id"],
    }
}

fn schedule(args: &Args<'_>, now: Moment) -> Result<Call, Slip> {
    let operation = args.word("operation", Operation::NAMES, Operation::ALL)?;
    let action_id = || {
        let id = args.said("action_id", limits::TEXT_BYTES)?;
        id.map(Into::into).ok_or_else(|| Slip::new("action_id", SlipFault::Missing))
    };
    match operation.unwrap_or(Operation::Create) {
        Operation::Create => draft(args, now).map(|draft| Call::Create(Box::new(draft))),
        Operation::List => Ok(Call::List),
        Operation::Cancel => Ok(Call::Cancel { action_id: action_id()? }),
        Operation::RunNow => Ok(Call::RunNow { action_id: action_id()? }),
    }
}

fn draft(args: &Args<'_>, now: Moment) -> Result<Draft, Slip> {
    let kind = args.word("action_kind", ActionKind::NAMES, ActionKind::ALL)?;
    let kind = kind.ok_or_else(|| Slip::new("action_kind", SlipFault::Missing))?;
    let time = time(args)?;
    let job = if kind == ActionKind::NotifyJobReady { job(args)? } else { None };
    let due = match (job, time) {
        (None, Some((_, time))) => time,
        (None, None) => return Err(Slip::new("delay_seconds", SlipFault::NoTime)),
        (Some(job), time) => Due::Ready(job, time.and_then(|(_, time)| instant(&time, now))),
    };
    let (text, file) = told(args, kind)?;
    let cancels = args.flag("cancel_on_user_activity")?;
    let draft = Draft {
        kind,
        due,
        text: text.unwrap_or_default().into(),
        file,
        summary: args.said("original_summary", limits::TEXT_BYTES)?.map(Into::into),
        cancel_on_user_activity: cancels.unwrap_or(kind == ActionKind::RunLater),
        max_attempts: attempts(args)?,
        dedupe_key: args.said("dedupe_key", limits::LABEL_BYTES)?.map(Into::into),
    };
    check_far(&draft.due, args, now)?;
    Ok(draft)
}

/// The time given, and by which field. Nought and less count as nothing said.
fn time(args: &Args<'_>) -> Result<Option<(&'static str, Due)>, Slip> {
    let delay = args.number("delay_seconds")?.filter(|seconds| *seconds > 0);
    let at = args.instant("run_at")?;
    Ok(match (delay, at) {
        (Some(_), Some(_)) => return Err(Slip::new("run_at", SlipFault::TwoTimes)),
        (Some(seconds), None) => {
            // What does not fit is too far ahead by any reckoning.
            let millis = u64::try_from(seconds).unwrap_or(u64::MAX).saturating_mul(1_000);
            Some(("delay_seconds", Due::After(Span::from_millis(millis.min(FAR_MS)))))
        }
        (None, Some(at)) => Some(("run_at", Due::At(at))),
        (None, None) => None,
    })
}

fn instant(due: &Due, now: Moment) -> Option<Moment> {
    match due {
        Due::After(span) => now.checked_add(*span),
        Due::At(at) => Some(*at),
        Due::Ready(_, latest) => *latest,
    }
}

fn told<'a>(args: &Args<'a>, kind: ActionKind) -> Result<(Option<&'a str>, Option<Attachment>), Slip> {
    let required = |name: &'static str| {
        let text = args.said(name, limits::TEXT_BYTES)?;
        text.ok_or_else(|| Slip::new(name, SlipFault::Missing))
    };
    match kind {
        ActionKind::RemindLater => Ok((Some(required("message")?), None)),
        ActionKind::RunLater => Ok((Some(required("instruction")?), None)),
        ActionKind::NotifyJobReady => {
            let text = args.said("message", limits::TEXT_BYTES)?;
            let path = args.said("artifact_path", limits::PATH_BYTES)?;
            let name = args.said("artifact_name", limits::LABEL_BYTES)?.map(Into::into);
            if text.is_none() && path.is_none() {
                return Err(Slip::new("message", SlipFault::NothingTold));
            }
            Ok((text, path.map(|path| Attachment { path: path.into(), name })))
        }
    }
}

fn job(args: &Args<'_>) -> Result<Option<JobId>, Slip> {
    let Some(text) = args.said("job_id", limits::ID_BYTES)? else { return Ok(None) };
    JobId::new(text).map(Some).map_err(|_| Slip::new("job_id", SlipFault::NotAnId).with(&text.into()))
}

/// Less than one counts as nothing said.
fn attempts(args: &Args<'_>) -> Result<u64, Slip> {
    let max = limits::ATTEMPTS.value;
    match args.number("max_attempts")?.and_then(|given| u64::try_from(given).ok()) {
        Some(given @ 1..) if given <= max => Ok(given),
        Some(1..) => {
            let slip = Slip::new("max_attempts", SlipFault::OutOfRange { min: 1, max });
            Err(args.get("max_attempts").map_or_else(|| slip.clone(), |value| slip.clone().with(value)))
        }
        Some(0) | None => Ok(ATTEMPTS),
    }
}

fn check_far(due: &Due, args: &Args<'_>, now: Moment) -> Result<(), Slip> {
    let limit = limits::ACTION_DELAY_MS_MAX;
    let is_far = match due {
        Due::After(span) => span.millis() > limit.value,
        Due::At(at) | Due::Ready(_, Some(at)) => at.millis_since(now) > limit.value,
        Due::Ready(_, None) => false,
    };
    if !is_far {
        return Ok(());
    }
    let field = if args.get("run_at").is_some() { "run_at" } else { "delay_seconds" };
    let slip = Slip::new(field, SlipFault::TooFar { limit });
    Err(args.get(field).map_or_else(|| slip.clone(), |value| slip.clone().with(value)))
}

/// Source: SEED-000's code.
const ATTEMPTS: u64 = 4;
/// Beyond every bound, and far from the end of the range.
const FAR_MS: u64 = 1 << 50;
