//! Parses one call of a tool, with all checks that need no access to existing actions.
//!
//! The conversion to a schedule is in `command.rs`; the engine checks the cap on a session's actions. Invariant:
//! texts in a [`Call`] are trimmed, and a blank one counts as absent.

use super::action::ActionKind;
use super::error::{NO_ID_YET, NO_TIME, NOT_AHEAD, NOTHING_TOLD, TWO_TIMES, too_far};
use super::operation::Operation;
use super::tool::Tool;
use crate::dialect::args::{Arg, ArgError, ArgErrorKind, Args, Repair, Style, TOOL_WORDS};
use crate::dialect::{Answer, Notation, PageRequest};
use crate::domain::{Attachment, JobId, Moment, Span};
use crate::edn::{Keyword, Value};
use crate::limits;

/// A parsed and checked call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Create an action.
    Create(Box<ActionDraft>),
    /// List the session's actions, or a part of them.
    List(PageRequest),
    /// Cancel an action.
    Cancel {
        /// The action's id, as given.
        action_id: Box<str>,
    },
    /// Run an action now.
    RunNow {
        /// The action's id, as given.
        action_id: Box<str>,
    },
    /// Report that a job is ready.
    JobReady {
        /// The job's id.
        job: JobId,
    },
}

/// The definition of an action to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionDraft {
    /// What the action does.
    pub kind: ActionKind,
    /// When the action is due.
    pub due: Due,
    /// The message or the instruction; empty if there is only a file.
    pub text: Box<str>,
    /// The file to show.
    pub file: Option<Attachment>,
    /// What the user asked for.
    pub summary: Option<Box<str>>,
    /// True if a message from the user in the session cancels the action.
    pub cancel_on_user_activity: bool,
    /// The maximum number of attempts, 1 to `limits::ATTEMPTS`.
    pub max_attempts: u64,
    /// The key by which a newer action replaces this one.
    pub dedupe_key: Option<Box<str>>,
}

/// When an action is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// After a delay.
    After(Span),
    /// At an instant; one in the past means now.
    At(Moment),
    /// When the job is ready, or at the latest time if there is one.
    Ready(JobId, Option<Moment>),
}

/// Parses the arguments of one call of a tool, as of `now`.
///
/// # Errors
/// The complete error answer to an invalid call.
pub fn parse(tool: Tool, args: &Value, notation: Notation, now: Moment) -> Result<Call, Answer> {
    let style = Style::tools(notation);
    let call = || -> Result<Call, ArgError> {
        let args = Args::of_call(args, style, names(tool))?;
        match tool {
            Tool::Schedule => schedule(&args, now),
            Tool::ReportReady => {
                // Here the job is all that the call says, so it is required.
                let missing = || ArgError::new("job_id", ArgErrorKind::Missing);
                Ok(Call::JobReady { job: job(&args)?.ok_or_else(missing)? })
            }
        }
    };
    call().map_err(|error| {
        let repair = Repair::new(args, style);
        error.answer(&TOOL_WORDS, with_text(repair, &error).or_else(|| repair.without(&error)))
    })
}

/// The call with its text under the name that its kind has for it, if another tool's name was given.
fn with_text(repair: Repair<'_>, error: &ArgError) -> Option<Value> {
    let ArgErrorKind::UnknownKeys { .. } = error.kind() else { return None };
    let kind = repair.field("action_kind")?;
    let kind = kind.as_str().or_else(|| kind.as_keyword().map(Keyword::as_str))?;
    let meant = match ActionKind::parse(kind)? {
        ActionKind::RemindLater => "message",
        ActionKind::RunLater => "instruction",
        ActionKind::NotifyJobReady => return None,
    };
    let (key, _) = repair.keys().find(|(_, name)| ["prompt", "text", "task"].contains(&&**name))?;
    repair.replaced("", key, meant, |value| Some(value.clone()))
}

/// The names of each tool's arguments.
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
            "first",
            "after",
        ],
        Tool::ReportReady => &["job_id"],
    }
}

fn schedule(args: &Args<'_>, now: Moment) -> Result<Call, ArgError> {
    let operation = args.one_of("operation", Operation::NAMES, Operation::ALL)?;
    let action_id = || {
        let id = args.opt_text("action_id", limits::TEXT_BYTES)?;
        let missing = || ArgError::new("action_id", ArgErrorKind::Missing).advised(WHERE_IDS_ARE);
        id.map(Into::into).ok_or_else(missing)
    };
    // The seed's examples have no operation.
    match operation.unwrap_or(Operation::Create) {
        Operation::Create => match args.get("action_id").filter(|id| !id.value().is_nil()) {
            Some(id) => Err(ArgError::own("action_id", NO_ID_YET, "").with(id.value())),
            None => draft(args, now).map(|draft| Call::Create(Box::new(draft))),
        },
        Operation::List => PageRequest::read(args).map(Call::List),
        Operation::Cancel => Ok(Call::Cancel { action_id: action_id()? }),
        Operation::RunNow => Ok(Call::RunNow { action_id: action_id()? }),
    }
}

fn draft(args: &Args<'_>, now: Moment) -> Result<ActionDraft, ArgError> {
    let kind = args.required("action_kind", |arg| arg.one_of(ActionKind::NAMES, ActionKind::ALL))?;
    let time = time(args)?;
    // Other kinds ignore a job id.
    let job = if kind == ActionKind::NotifyJobReady { job(args)? } else { None };
    let due = match (job, time) {
        (None, Some((_, time))) => time,
        (None, None) => return Err(no_time(args)),
        // With a job, the given time is the latest time.
        // A job alone is enough: the runtime fires the action when the job is ready. Source: SEED-000, "The three kinds".
        (Some(job), time) => Due::Ready(job, time.and_then(|(_, time)| instant(&time, now))),
    };
    let (text, file) = told(args, kind)?;
    let cancels = args.flag("cancel_on_user_activity")?;
    let draft = ActionDraft {
        kind,
        due,
        text: text.unwrap_or_default().into(),
        file,
        summary: args.opt_text("original_summary", limits::TEXT_BYTES)?.map(Into::into),
        // By default, the user's activity cancels an instruction, but no notice.
        cancel_on_user_activity: cancels.unwrap_or(kind == ActionKind::RunLater),
        max_attempts: attempts(args)?,
        dedupe_key: args.opt_text("dedupe_key", limits::LABEL_BYTES)?.map(Into::into),
    };
    // The order is part of the contract: a missing text is reported before a time that is too far ahead.
    check_far(&draft.due, args, now)?;
    Ok(draft)
}

/// The given time, and the field it came from. A delay of zero or less counts as absent.
fn time(args: &Args<'_>) -> Result<Option<(&'static str, Due)>, ArgError> {
    let delay = args.opt("delay_seconds", Arg::integer)?.filter(|seconds| *seconds > 0);
    let at = args.opt_instant("run_at")?;
    Ok(match (delay, at) {
        // In the seed's code `run_at` wins in silence. Its design rejects the call, and so does this parser.
        (Some(_), Some(_)) => return Err(ArgError::own("run_at", TWO_TIMES, "")),
        (Some(seconds), None) => {
            // A delay that does not fit is clamped to one that exceeds every limit.
            let millis = u64::try_from(seconds).unwrap_or(u64::MAX).saturating_mul(1_000);
            Some(("delay_seconds", Due::After(Span::from_millis(millis.min(FAR_MS)))))
        }
        (None, Some(at)) => Some(("run_at", Due::At(at))),
        (None, None) => None,
    })
}

/// The error of a call without a time. A delay that was given and is not ahead is named.
fn no_time(args: &Args<'_>) -> ArgError {
    match args.get("delay_seconds") {
        Some(delay) => delay.breaks(NOT_AHEAD, "").under("delay_seconds"),
        None => ArgError::own("delay_seconds", NO_TIME, ""),
    }
}

fn instant(due: &Due, now: Moment) -> Option<Moment> {
    match due {
        Due::After(span) => now.checked_add(*span),
        Due::At(at) => Some(*at),
        Due::Ready(_, latest) => *latest,
    }
}

fn told<'a>(args: &Args<'a>, kind: ActionKind) -> Result<(Option<&'a str>, Option<Attachment>), ArgError> {
    let required = |name: &'static str| {
        let text = args.opt_text(name, limits::TEXT_BYTES)?;
        text.ok_or_else(|| ArgError::new(name, ArgErrorKind::Missing))
    };
    match kind {
        ActionKind::RemindLater => Ok((Some(required("message")?), None)),
        ActionKind::RunLater => Ok((Some(required("instruction")?), None)),
        ActionKind::NotifyJobReady => {
            let text = args.opt_text("message", limits::TEXT_BYTES)?;
            let path = args.opt_text("artifact_path", limits::PATH_BYTES)?;
            let name = args.opt_text("artifact_name", limits::LABEL_BYTES)?.map(Into::into);
            if text.is_none() && path.is_none() {
                return Err(ArgError::own("message", NOTHING_TOLD, ""));
            }
            Ok((text, path.map(|path| Attachment { path: path.into(), name })))
        }
    }
}

fn job(args: &Args<'_>) -> Result<Option<JobId>, ArgError> {
    let Some(text) = args.opt_text("job_id", limits::ID_BYTES)? else { return Ok(None) };
    let not_an_id = |_| ArgError::new("job_id", ArgErrorKind::NotAnId).with(&text.into());
    JobId::new(text).map(Some).map_err(not_an_id)
}

/// The maximum number of attempts. Less than one counts as absent.
fn attempts(args: &Args<'_>) -> Result<u64, ArgError> {
    let max = limits::ATTEMPTS.value;
    match args.opt("max_attempts", Arg::integer)? {
        // Read again, for the error about a number above the bound.
        Some(1..) => Ok(args.int_in("max_attempts", 1, max)?.unwrap_or(ATTEMPTS)),
        Some(_) | None => Ok(ATTEMPTS),
    }
}

fn check_far(due: &Due, args: &Args<'_>, now: Moment) -> Result<(), ArgError> {
    let limit = limits::ACTION_DELAY_MS_MAX;
    let is_far = match due {
        Due::After(span) => span.millis() > limit.value,
        // An instant in the past is 0 ms ahead and passes: such an action is due at once.
        Due::At(at) | Due::Ready(_, Some(at)) => at.millis_since(now) > limit.value,
        Due::Ready(_, None) => false,
    };
    if !is_far {
        return Ok(());
    }
    // At most one of the two counts; see `time`.
    let field = if args.get("run_at").is_some() { "run_at" } else { "delay_seconds" };
    let error = too_far(field, limit);
    Err(match args.get(field) {
        Some(arg) => error.with(arg.value()),
        None => error,
    })
}

/// What helps a call that names no action.
const WHERE_IDS_ARE: &str = "operation list has the actions of this session with their ids";
/// The default for `max_attempts`. Source: SEED-000's code.
const ATTEMPTS: u64 = 4;
/// Beyond every limit, in milliseconds. The span of it, 584 years, is beyond every limit too.
const FAR_MS: u64 = 1 << 50;
