//! Lines become events.
//!
//! The parts of a job are read by the rules of calls, but for what stands around them: there, fields that are not known
//! are passed over, because a later version may have written them. Invariant: an event that was read says the same about its
//! job in all its places.

use super::event::{JobEvent, JobLine, JobLineKind, RunEvent, RunLine, RunLineKind};
use super::line::Line;
use super::warning::Oddity;
use crate::dialect::cron::call::Patch;
use crate::dialect::cron::fault::{Fault, Problem};
use crate::dialect::cron::fields::Fields;
use crate::dialect::cron::job::{Job, RunStatus, TASK_KIND};
use crate::dialect::cron::{policy, schedule, target};
use crate::dialect::echo;
use crate::domain::ScheduleId;
use crate::edn::Value;
use crate::limits;

/// An event of `jobs.jsonl`.
pub(super) fn job_line(line: &Line<'_>) -> Result<JobLine, Oddity> {
    let value = line.value()?;
    let kind = kind(&value, line, JobLineKind::parse)?;
    job_event(kind, &value).map_err(|problem| line.malformed(&problem.message()))
}

/// An event of `runs.jsonl`.
pub(super) fn run_line(line: &Line<'_>) -> Result<RunLine, Oddity> {
    let value = line.value()?;
    let kind = kind(&value, line, RunLineKind::parse)?;
    run_event(kind, &value).map_err(|problem| line.malformed(&problem.message()))
}

fn kind<T>(value: &Value, line: &Line<'_>, parse: impl Fn(&str) -> Option<T>) -> Result<T, Oddity> {
    let given = value.as_map().and_then(|map| map.text("type"));
    let given = given.ok_or_else(|| line.malformed("it has no type"))?;
    let unknown = || Oddity::UnknownType { given: echo(given).to_string().into() };
    given.as_str().and_then(parse).ok_or_else(unknown)
}

fn job_event(kind: JobLineKind, value: &Value) -> Result<JobLine, Problem> {
    let names = &["event_id", "timestamp", "job_id", "base_revision", "revision", "patch", "job"];
    let fields = Fields::of_log(value, "", names)?;
    let event = match kind {
        JobLineKind::Created => JobEvent::Created(job(fields.required("job")?)?.into()),
        JobLineKind::Updated => {
            let job = job(fields.required("job")?)?;
            let same =
                |is: bool, name| if is { Ok(()) } else { Err(fields.problem(name, Fault::Contradicts)) };
            same(id(&fields, "job_id")? == job.id, "job_id")?;
            same(revision(&fields, "revision")? == job.revision, "revision")?;
            let base_revision = revision(&fields, "base_revision")?;
            JobEvent::Updated { base_revision, patch: patch(&fields)?.into(), job: job.into() }
        }
        JobLineKind::Deleted => JobEvent::Deleted {
            job_id: id(&fields, "job_id")?,
            base_revision: revision(&fields, "base_revision")?,
            revision: revision(&fields, "revision")?,
        },
    };
    let timestamp = fields.required_moment("timestamp")?;
    Ok(JobLine { event_id: event_id(&fields)?, timestamp, event })
}

fn run_event(kind: RunLineKind, value: &Value) -> Result<RunLine, Problem> {
    let fields = Fields::of_log(value, "", &RUN_NAMES)?;
    let slot = || fields.required_moment("scheduled_for");
    // The seed's code writes the moment under a name of its own for each type, and no other one.
    let (moment, event) = match kind {
        RunLineKind::Started => ("started_at", RunEvent::Started { scheduled_for: slot()? }),
        RunLineKind::Finished => {
            let status = fields.word("status", RunStatus::NAMES, RunStatus::parse)?;
            let status = status.ok_or_else(|| fields.problem("status", Fault::Missing))?;
            let [session_id, error] = [text(&fields, "session_id")?, text(&fields, "error")?];
            ("finished_at", RunEvent::Finished { status, session_id, error })
        }
        RunLineKind::Skipped => {
            let reason = text(&fields, "reason")?.unwrap_or_default();
            ("skipped_at", RunEvent::Skipped { scheduled_for: slot()?, reason })
        }
    };
    Ok(RunLine {
        event_id: event_id(&fields)?,
        timestamp: fields.required_moment(moment)?,
        run_id: fields.required_text("run_id", limits::STORE_KEY_BYTES)?.into(),
        job_id: id(&fields, "job_id")?,
        event,
    })
}

fn job(value: &Value) -> Result<Job, Problem> {
    let fields = Fields::of_log(value, "job", &JOB_NAMES)?;
    let missing = |name| move || Problem::new(&format!("job.{name}"), Fault::Missing);
    Ok(Job {
        id: id(&fields, "id")?,
        revision: revision(&fields, "revision")?,
        name: fields.required_text("name", limits::REQUEST_BYTES)?.into(),
        description: text(&fields, "description")?.filter(|text| !text.is_empty()),
        enabled: fields.flag("enabled")?.ok_or_else(missing("enabled"))?,
        created_at: fields.required_moment("created_at")?,
        updated_at: fields.required_moment("updated_at")?,
        schedule: schedule::parse(&fields, "schedule")?.ok_or_else(missing("schedule"))?,
        prompt: prompt(&fields)?.ok_or_else(missing("task"))?,
        target: target::parse(&fields, "target", None)?.ok_or_else(missing("target"))?,
        policy: policy::parse(&fields, "policy")?.unwrap_or_default(),
    })
}

fn patch(outer: &Fields<'_>) -> Result<Patch, Problem> {
    let names = &["name", "description", "enabled", "schedule", "task", "target", "policy"];
    let fields = Fields::of_log(outer.required("patch")?, "patch", names)?;
    Ok(Patch {
        name: text(&fields, "name")?,
        description: text(&fields, "description")?.map(|text| Some(text).filter(|text| !text.is_empty())),
        enabled: fields.flag("enabled")?,
        schedule: schedule::parse(&fields, "schedule")?,
        prompt: prompt(&fields)?,
        target: target::parse(&fields, "target", None)?,
        policy: policy::parse(&fields, "policy")?,
    })
}

fn prompt(outer: &Fields<'_>) -> Result<Option<Box<str>>, Problem> {
    let Some(task) = outer.get("task") else { return Ok(None) };
    let fields = Fields::new(task, &outer.path("task"), outer.notation(), &["kind", "prompt"])?;
    let known = |word: &str| (word == TASK_KIND).then_some(());
    fields.word("kind", &[TASK_KIND], known)?.ok_or_else(|| fields.problem("kind", Fault::Missing))?;
    fields.required_text("prompt", limits::REQUEST_BYTES).map(|text| Some(text.into()))
}

fn text(fields: &Fields<'_>, name: &str) -> Result<Option<Box<str>>, Problem> {
    Ok(fields.exact(name, limits::REQUEST_BYTES)?.map(Into::into))
}

fn event_id(fields: &Fields<'_>) -> Result<Box<str>, Problem> {
    fields.required_text("event_id", limits::ID_BYTES).map(Into::into)
}

fn id(fields: &Fields<'_>, name: &str) -> Result<ScheduleId, Problem> {
    let text = fields.required_text(name, limits::ID_BYTES)?;
    ScheduleId::new(text).map_err(|_| fields.problem(name, Fault::NotAnId).with(&text.into()))
}

fn revision(fields: &Fields<'_>, name: &str) -> Result<u64, Problem> {
    let revision = fields.whole(name, 1, i64::MAX.unsigned_abs())?;
    revision.ok_or_else(|| fields.problem(name, Fault::Missing))
}

const JOB_NAMES: [&str; 11] = [
    "id",
    "revision",
    "name",
    "description",
    "enabled",
    "created_at",
    "updated_at",
    "schedule",
    "task",
    "target",
    "policy",
];
const RUN_NAMES: [&str; 11] = [
    "event_id",
    "run_id",
    "job_id",
    "status",
    "scheduled_for",
    "started_at",
    "finished_at",
    "skipped_at",
    "session_id",
    "error",
    "reason",
];
