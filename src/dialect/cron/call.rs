//! Parses one call of a tool, with all checks that need no access to existing jobs.
//!
//! The parts of a job are in `schedule.rs`, `target.rs` and `policy.rs`. The engine checks revisions and the
//! existence of jobs when it makes the change. Invariant: texts in a [`Call`] are trimmed, and no required text is
//! blank.

use super::error;
use super::job::Job;
use super::policy::{self, JobPolicy};
use super::repair::repaired;
use super::schedule::{self, JobSchedule};
use super::target::{self, JobTarget};
use super::tool::Tool;
use super::words::{CRON_WORDS, EMPTY_PATCH, NO_OWNER};
use crate::dialect::args::{Arg, ArgError, ArgErrorKind, Args, Choices, Style};
use crate::dialect::{Answer, Notation, PageRequest};
use crate::domain::{Moment, ScheduleId, SessionId, Zone};
use crate::edn::Value;
use crate::limits;

/// The state that the checks depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronContext {
    /// The calling session; `None` if the caller is not a session.
    pub session: Option<SessionId>,
    /// The time of the call.
    pub now: Moment,
    /// The zone of a job that names none.
    pub zone: Zone,
}

/// A parsed and checked call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Create a job.
    Create(Box<JobDraft>),
    /// List the jobs.
    List {
        /// True to include disabled jobs.
        include_disabled: bool,
        /// Which part of the list.
        page: PageRequest,
    },
    /// Get one job.
    Get {
        /// The job's id.
        job_id: ScheduleId,
    },
    /// Change a job.
    Update {
        /// The job to change, and the revision the change is based on.
        job: Base,
        /// The changes.
        patch: Box<Patch>,
    },
    /// Delete a job.
    Delete(Base),
    /// Disable a job.
    Pause(Base),
    /// Enable a job.
    Resume(Base),
}

/// A job, and the revision that the caller has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The job's id.
    pub job_id: ScheduleId,
    /// The revision that the caller has seen; without it, the last writer wins.
    pub revision: Option<u64>,
}

/// The definition of a job to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobDraft {
    /// The job's name.
    pub name: Box<str>,
    /// The job's purpose.
    pub description: Option<Box<str>>,
    /// When the job runs.
    pub schedule: JobSchedule,
    /// The prompt for the agent.
    pub prompt: Box<str>,
    /// Where the prompt goes.
    pub target: JobTarget,
    /// How runs are executed.
    pub policy: JobPolicy,
}

/// Changes to a job. Schedule, target and policy are replaced as a whole; nothing of the old value remains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The new name.
    pub name: Option<Box<str>>,
    /// The new description; `Some(None)` removes the old one.
    pub description: Option<Option<Box<str>>>,
    /// True to enable the job, false to disable it.
    pub enabled: Option<bool>,
    /// The new schedule.
    pub schedule: Option<JobSchedule>,
    /// The new prompt.
    pub prompt: Option<Box<str>>,
    /// The new target.
    pub target: Option<JobTarget>,
    /// The new policy.
    pub policy: Option<JobPolicy>,
}

/// Returns the session to which a call sends a job, and the job that it names, before it is checked. Names are spelt as
/// [`parse`] takes them.
pub fn named(args: &Value, notation: Notation) -> (Option<SessionId>, Option<ScheduleId>) {
    let field = |map: &Value, name: &str| {
        let is_it = |key: &Value| style(notation).key(key).is_some_and(|spelt| spelt == name);
        map.as_map()?.iter().find(|(key, _)| is_it(key)).map(|(_, value)| value.clone())
    };
    let text = |value: Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
    let target = field(args, "target").and_then(|target| text(field(&target, "session_id")));
    let job = text(field(args, "job_id"));
    (target.and_then(|id| SessionId::new(&id).ok()), job.and_then(|id| ScheduleId::new(&id).ok()))
}

impl Patch {
    /// A patch that enables or disables a job.
    pub fn enabled(enabled: bool) -> Patch {
        Patch { enabled: Some(enabled), ..Patch::default() }
    }

    /// True if the patch changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Patch::default()
    }

    /// Returns the patched job. Its revision goes up even if nothing changes.
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

/// Parses the arguments of one call of a tool.
///
/// # Errors
/// The complete error answer to an invalid call, or to one that names a job which cannot exist.
pub fn parse(tool: Tool, args: &Value, notation: Notation, context: &CronContext) -> Result<Call, Answer> {
    let refused = |error: ArgError| error.answer(&CRON_WORDS, repaired(args, style(notation), &error));
    let args = Args::of_call(args, style(notation), names(tool)).map_err(refused)?;
    let job_id = || {
        let text = args.required_text("job_id", limits::TEXT_BYTES).map_err(|error| {
            let is_missing = *error.kind() == ArgErrorKind::Missing;
            refused(if is_missing { error.advised("cron_list has the jobs with their ids") } else { error })
        })?;
        // A text that cannot be an id is the id of no job.
        ScheduleId::new(text).map_err(|_| error::missing(tool, text))
    };
    let base = || {
        let job_id = job_id()?;
        let revision = args.int_in("base_revision", 1, REVISION_MAX).map_err(refused)?;
        Ok(Base { job_id, revision })
    };
    match tool {
        Tool::Create => create(&args, context).map(|draft| Call::Create(draft.into())).map_err(refused),
        Tool::List => {
            let include_disabled = args.flag("include_disabled").map_err(refused)?.unwrap_or(true);
            let page = PageRequest::read(&args).map_err(refused)?;
            Ok(Call::List { include_disabled, page })
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

/// The names of each tool's arguments.
pub(super) const fn names(tool: Tool) -> &'static [&'static str] {
    match tool {
        Tool::Create => &["name", "description", "schedule", "prompt", "target", "policy"],
        Tool::List => &["include_disabled", "first", "after"],
        Tool::Get => &["job_id"],
        Tool::Update => &["job_id", "base_revision", "patch"],
        Tool::Delete | Tool::Pause | Tool::Resume => &["job_id", "base_revision"],
    }
}

fn create(args: &Args<'_>, context: &CronContext) -> Result<JobDraft, ArgError> {
    let session = context.session.as_ref();
    let name = args.required_text("name", limits::LABEL_BYTES)?.into();
    let description = args.opt_text("description", limits::TEXT_BYTES)?.map(Into::into);
    let schedule = args.required("schedule", |arg| schedule::parse(arg, &context.zone))?;
    let prompt = args.required_text("prompt", limits::TEXT_BYTES)?.into();
    let target = match args.opt("target", |arg| target::parse(arg, session))? {
        Some(target) => target,
        None => target::current(session).map_err(|error| error.under("target"))?,
    };
    // A gateway target has no session of its own, so the caller has to be the owner.
    if target.owner(session).is_none() {
        return Err(ArgError::own("target", NO_OWNER, ""));
    }
    let policy = args.opt("policy", policy::parse)?.unwrap_or_default();
    // A slot counts as missed only if the job existed by then, so this one would never run.
    if schedule.is_never_due(context.now) {
        return Err(error::never_due_at("schedule", &schedule, context.now));
    }
    Ok(JobDraft { name, description, schedule, prompt, target, policy })
}

/// Reads a patch. An absent field stays as it is; a patch without any change is an error.
fn patch(arg: Arg<'_>, context: &CronContext) -> Result<Patch, ArgError> {
    let args = arg.map(&PATCH_NAMES)?;
    let filled = |name, max| args.opt(name, |arg| arg.filled_text(max));
    // Unlike `opt_text`, this tells a blank description from an absent one.
    let described = args.opt("description", |arg| arg.text(limits::TEXT_BYTES))?;
    let patch = Patch {
        name: filled("name", limits::LABEL_BYTES)?.map(Into::into),
        // A blank description removes the old one.
        description: described.map(|text| Some(text).filter(|text| !text.is_empty()).map(Into::into)),
        enabled: args.flag("enabled")?,
        schedule: args.opt("schedule", |arg| schedule::parse(arg, &context.zone))?,
        prompt: filled("prompt", limits::TEXT_BYTES)?.map(Into::into),
        target: args.opt("target", |arg| target::parse(arg, context.session.as_ref()))?,
        policy: args.opt("policy", policy::parse)?,
    };
    if patch.is_empty() { Err(ArgError::own("", EMPTY_PATCH, "")) } else { Ok(patch) }
}

/// The style of calls, and of the files of jobs.
pub(super) const fn style(notation: Notation) -> Style {
    // RFC 3339 has no form without seconds, and the seed's words are lower case.
    Style { choices: Choices::Snake, short_times: false, ..Style::tools(notation) }
}

/// The fields of a patch.
pub(super) const PATCH_NAMES: [&str; 7] =
    ["name", "description", "enabled", "schedule", "prompt", "target", "policy"];
// The largest number that arguments can hold: `Arg::integer` reads 64 bits with a sign.
const REVISION_MAX: u64 = i64::MAX.unsigned_abs();
