//! One call of a tool: what it asks for, checked as far as that goes without looking at a job.
//!
//! What lives elsewhere: the parts of a job (`schedule.rs`, `target.rs`, `policy.rs`), what the engine checks at the moment
//! of the change (revisions, whether the job exists). Invariant: texts in a [`Call`] are trimmed, and none that must say
//! something is blank.

use super::error;
use super::job::Job;
use super::policy::{self, Policy};
use super::schedule::{self, Schedule};
use super::target::{self, Target};
use super::tool::Tool;
use super::words::{EMPTY_PATCH, NO_OWNER};
use crate::dialect::args::{Arg, ArgError, Args, Choices, Style};
use crate::dialect::{Answer, Notation};
use crate::domain::{Moment, ScheduleId, SessionId};
use crate::edn::Value;
use crate::limits;

/// What the checks must know of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The session that calls, if the caller is one.
    pub session: Option<SessionId>,
    /// The moment of the call.
    pub now: Moment,
}

/// One call, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Create a job.
    Create(Box<Draft>),
    /// List the jobs.
    List {
        /// Also those that are disabled.
        include_disabled: bool,
    },
    /// Look at one job.
    Get {
        /// Which one.
        job_id: ScheduleId,
    },
    /// Change a job.
    Update {
        /// Which one, as the caller knows it.
        job: Base,
        /// What changes.
        patch: Box<Patch>,
    },
    /// Delete a job.
    Delete(Base),
    /// Disable a job.
    Pause(Base),
    /// Enable a job.
    Resume(Base),
}

/// A job as a caller knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// Which job.
    pub job_id: ScheduleId,
    /// The revision that the caller saw; without it, the last writer wins.
    pub revision: Option<u64>,
}

/// A job as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Its name.
    pub name: Box<str>,
    /// What it is for.
    pub description: Option<Box<str>>,
    /// When it runs.
    pub schedule: Schedule,
    /// What the agent is told then.
    pub prompt: Box<str>,
    /// Where.
    pub target: Target,
    /// How.
    pub policy: Policy,
}

/// What changes in a job. Parts are replaced as a whole: nothing of the old schedule, target or policy stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// A new name.
    pub name: Option<Box<str>>,
    /// A new description; `Some(None)` takes the old one away.
    pub description: Option<Option<Box<str>>>,
    /// Whether it runs.
    pub enabled: Option<bool>,
    /// A new schedule.
    pub schedule: Option<Schedule>,
    /// A new prompt.
    pub prompt: Option<Box<str>>,
    /// A new target.
    pub target: Option<Target>,
    /// A new policy.
    pub policy: Option<Policy>,
}

impl Draft {
    /// The job as it is created at that moment: enabled, at its first revision.
    pub fn into_job(self, id: ScheduleId, now: Moment) -> Job {
        let Draft { name, description, schedule, prompt, target, policy } = self;
        let (created_at, updated_at) = (now, now);
        Job {
            id,
            revision: 1,
            name,
            description,
            enabled: true,
            created_at,
            updated_at,
            schedule,
            prompt,
            target,
            policy,
        }
    }
}

impl Patch {
    /// A patch that pauses a job, or has it run again.
    pub fn enabled(enabled: bool) -> Patch {
        Patch { enabled: Some(enabled), ..Patch::default() }
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        *self == Patch::default()
    }

    /// The job after the change: at its next revision, even if all is as it was.
    #[must_use]
    pub fn applied_to(&self, job: &Job, now: Moment) -> Job {
        let new = self.clone();
        let job = job.clone();
        Job {
            id: job.id,
            revision: job.revision + 1,
            name: new.name.unwrap_or(job.name),
            description: new.description.unwrap_or(job.description),
            enabled: new.enabled.unwrap_or(job.enabled),
            created_at: job.created_at,
            updated_at: now,
            schedule: new.schedule.unwrap_or(job.schedule),
            prompt: new.prompt.unwrap_or(job.prompt),
            target: new.target.unwrap_or(job.target),
            policy: new.policy.unwrap_or(job.policy),
        }
    }
}

/// Reads the arguments of one call of a tool.
///
/// # Errors
/// The finished answer to a call that makes no sense, or that asks for a job which cannot exist.
pub fn parse(tool: Tool, args: &Value, notation: Notation, context: &Context) -> Result<Call, Answer> {
    let args = Args::of_call(args, style(notation), names(tool));
    let args = args.map_err(|error| error::answer(tool, &error, None))?;
    let id = |arg: Arg<'_>| ScheduleId::new(arg.value().as_str()?.trim()).ok();
    let named = if names(tool).contains(&"job_id") { args.get("job_id").and_then(id) } else { None };
    let refused = |error: ArgError| error::answer(tool, &error, named.as_ref());
    let job_id = || {
        let text = args.required_text("job_id", limits::TEXT_BYTES).map_err(&refused)?;
        // What cannot be an id is the id of no job.
        ScheduleId::new(text).map_err(|_| error::missing(tool, text))
    };
    let base = || {
        let job_id = job_id()?;
        let revision = args.int_in("base_revision", 1, REVISION_MAX).map_err(&refused)?;
        Ok(Base { job_id, revision })
    };
    match tool {
        Tool::Create => create(&args, context).map(|draft| Call::Create(draft.into())).map_err(refused),
        Tool::List => {
            let include_disabled = args.flag("include_disabled").map_err(refused)?.unwrap_or(true);
            Ok(Call::List { include_disabled })
        }
        Tool::Get => Ok(Call::Get { job_id: job_id()? }),
        Tool::Update => {
            let job = base()?;
            let patch = args.required("patch", |arg| patch(arg, context)).map_err(refused)?;
            Ok(Call::Update { job, patch: patch.into() })
        }
        Tool::Delete => base().map(Call::Delete),
        Tool::Pause => base().map(Call::Pause),
        Tool::Resume => base().map(Call::Resume),
    }
}

/// The arguments of each tool.
pub(super) const fn names(tool: Tool) -> &'static [&'static str] {
    match tool {
        Tool::Create => &["name", "description", "schedule", "prompt", "target", "policy"],
        Tool::List => &["include_disabled"],
        Tool::Get => &["job_id"],
        Tool::Update => &["job_id", "base_revision", "patch"],
        Tool::Delete | Tool::Pause | Tool::Resume => &["job_id", "base_revision"],
    }
}

fn create(args: &Args<'_>, context: &Context) -> Result<Draft, ArgError> {
    let session = context.session.as_ref();
    let name = args.required_text("name", limits::LABEL_BYTES)?.into();
    let description = args.opt_text("description", limits::TEXT_BYTES)?.map(Into::into);
    let schedule = args.required("schedule", schedule::parse)?;
    let prompt = args.required_text("prompt", limits::TEXT_BYTES)?.into();
    let target = match args.opt("target", |arg| target::parse(arg, session))? {
        Some(target) => target,
        None => target::current(session).map_err(|error| error.under("target"))?,
    };
    if target.owner(session).is_none() {
        return Err(ArgError::own("target", NO_OWNER, ""));
    }
    let policy = args.opt("policy", policy::parse)?.unwrap_or_default();
    if schedule.is_never_due(context.now) {
        return Err(error::never_due_at("schedule", &schedule, context.now));
    }
    Ok(Draft { name, description, schedule, prompt, target, policy })
}

fn patch(arg: Arg<'_>, context: &Context) -> Result<Patch, ArgError> {
    let args = arg.map(&PATCH_NAMES)?;
    let filled = |name, max| args.opt(name, |arg| arg.filled_text(max));
    let described = args.opt("description", |arg| arg.text(limits::TEXT_BYTES))?;
    let patch = Patch {
        name: filled("name", limits::LABEL_BYTES)?.map(Into::into),
        // A description that says nothing is none.
        description: described.map(|text| Some(text).filter(|text| !text.is_empty()).map(Into::into)),
        enabled: args.flag("enabled")?,
        schedule: args.opt("schedule", schedule::parse)?,
        prompt: filled("prompt", limits::TEXT_BYTES)?.map(Into::into),
        target: args.opt("target", |arg| target::parse(arg, context.session.as_ref()))?,
        policy: args.opt("policy", policy::parse)?,
    };
    if patch.is_empty() { Err(ArgError::own("", EMPTY_PATCH, "")) } else { Ok(patch) }
}

/// How calls and files of jobs are written.
pub(super) const fn style(notation: Notation) -> Style {
    Style { choices: Choices::Snake, short_times: false, ..Style::tools(notation) }
}

/// What a patch may name.
pub(super) const PATCH_NAMES: [&str; 7] =
    ["name", "description", "enabled", "schedule", "prompt", "target", "policy"];
const REVISION_MAX: u64 = i64::MAX.unsigned_abs();
