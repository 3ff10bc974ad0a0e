//! Parses lines into events.
//!
//! The parts of a job are parsed by the rules of calls. Around them, unknown fields are ignored, because a later
//! version may have written them. Invariant: the places in a line that name a job's id and revision agree.

use super::event::{JobEvent, JobLine, JobLineKind, RunEvent, RunLine, RunLineKind};
use super::line::JsonlLine;
use super::warning::Oddity;
use crate::dialect::args::{Arg, ArgError, Args};
use crate::dialect::cron::call::{Patch, style};
use crate::dialect::cron::job::{Job, RunStatus, TASK_KIND};
use crate::dialect::cron::words::{CONTRADICTS, CRON_WORDS};
use crate::dialect::cron::{policy, schedule, target};
use crate::dialect::{Notation, echo};
use crate::domain::{ScheduleId, Zone};
use crate::edn::Value;
use crate::limits;

/// Parses a line of `jobs.jsonl`.
pub(super) fn job_line(line: &JsonlLine<'_>) -> Result<JobLine, Oddity> {
    let value = line.value()?;
    let kind = kind(&value, line, JobLineKind::parse)?;
    job_event(kind, &value).map_err(|error| line.malformed(&error.message(&CRON_WORDS)))
}

/// Parses a line of `runs.jsonl`.
pub(super) fn run_line(line: &JsonlLine<'_>) -> Result<RunLine, Oddity> {
    let value = line.value()?;
    let kind = kind(&value, line, RunLineKind::parse)?;
    run_event(kind, &value).map_err(|error| line.malformed(&error.message(&CRON_WORDS)))
}

fn kind<T>(value: &Value, line: &JsonlLine<'_>, parse: impl Fn(&str) -> Option<T>) -> Result<T, Oddity> {
    let given = value.as_map().and_then(|map| map.text("type"));
    let given = given.ok_or_else(|| line.malformed("it has no type"))?;
    let unknown = || Oddity::UnknownType { given: echo(given).to_string().into() };
    given.as_str().and_then(parse).ok_or_else(unknown)
}

/// The fields of a line. Unknown ones may come from a later version.
fn fields<'a>(value: &'a Value, names: &'static [&'static str]) -> Result<Args<'a>, ArgError> {
    // Open, unlike the maps of calls.
    Arg::new(value, style(Notation::Json)).open_map(names)
}

fn job_event(kind: JobLineKind, value: &Value) -> Result<JobLine, ArgError> {
    let names =
        &["event_id", "timestamp", "job_id", "base_revision", "revision", "patch", "job", "history_since"];
    let args = fields(value, names)?;
    let event = match kind {
        JobLineKind::Created => JobEvent::Created(args.required("job", job)?.into()),
        JobLineKind::Updated => {
            let job = args.required("job", job)?;
            // An update has the id and the revision twice, in the line and in its snapshot.
            let same = |is: bool, name| if is { Ok(()) } else { Err(ArgError::own(name, CONTRADICTS, "")) };
            same(args.required("job_id", id)? == job.id, "job_id")?;
            same(args.required("revision", revision)? == job.revision, "revision")?;
            let base_revision = args.required("base_revision", revision)?;
            let patch = args.required("patch", patch)?;
            JobEvent::Updated { base_revision, patch: patch.into(), job: job.into() }
        }
        JobLineKind::Deleted => JobEvent::Deleted {
            job_id: args.required("job_id", id)?,
            base_revision: args.required("base_revision", revision)?,
            revision: args.required("revision", revision)?,
        },
    };
    let timestamp = args.required("timestamp", Arg::instant)?;
    let history_since = args.opt("history_since", Arg::instant)?;
    Ok(JobLine { event_id: event_id(&args)?, timestamp, event, history_since })
}

fn run_event(kind: RunLineKind, value: &Value) -> Result<RunLine, ArgError> {
    let args = fields(value, &RUN_NAMES)?;
    let slot = || args.required("scheduled_for", Arg::instant);
    // The seed's code writes the time under a name per type, and has no `timestamp`, so the former is read.
    let (moment, event) = match kind {
        RunLineKind::Started => ("started_at", RunEvent::Started { scheduled_for: slot()? }),
        RunLineKind::Finished => {
            let status = args.required("status", |arg| arg.one_of(RunStatus::NAMES, RunStatus::ALL))?;
            let [session_id, error] = [text(&args, "session_id")?, text(&args, "error")?];
            ("finished_at", RunEvent::Finished { status, session_id, error })
        }
        RunLineKind::Skipped => {
            let reason = text(&args, "reason")?.unwrap_or_default();
            ("skipped_at", RunEvent::Skipped { scheduled_for: slot()?, reason })
        }
    };
    Ok(RunLine {
        event_id: event_id(&args)?,
        timestamp: args.required(moment, Arg::instant)?,
        // Longer than an id: our own run ids contain the job's id and the slot.
        run_id: args.required_text("run_id", limits::STORE_KEY_BYTES)?.into(),
        job_id: args.required("job_id", id)?,
        event,
    })
}

fn job(arg: Arg<'_>) -> Result<Job, ArgError> {
    let args = arg.open_map(&JOB_NAMES)?;
    Ok(Job {
        id: args.required("id", id)?,
        revision: args.required("revision", revision)?,
        // Texts may be longer than in a call: another program may have written them.
        name: args.required_text("name", limits::REQUEST_BYTES)?.into(),
        description: text(&args, "description")?.filter(|text| !text.is_empty()),
        enabled: args.required("enabled", Arg::flag)?,
        created_at: args.required("created_at", Arg::instant)?,
        updated_at: args.required("updated_at", Arg::instant)?,
        schedule: args.required("schedule", |arg| schedule::parse(arg, &Zone::Local))?,
        prompt: args.required("task", prompt)?,
        // A log has no calling session, so `current_session` is an error here.
        target: args.required("target", |arg| target::parse(arg, None))?,
        policy: args.opt("policy", policy::parse)?.unwrap_or_default(),
    })
}

fn patch(arg: Arg<'_>) -> Result<Patch, ArgError> {
    let args = arg.open_map(&["name", "description", "enabled", "schedule", "task", "target", "policy"])?;
    Ok(Patch {
        name: text(&args, "name")?,
        description: text(&args, "description")?.map(|text| Some(text).filter(|text| !text.is_empty())),
        enabled: args.flag("enabled")?,
        schedule: args.opt("schedule", |arg| schedule::parse(arg, &Zone::Local))?,
        prompt: args.opt("task", prompt)?,
        target: args.opt("target", |arg| target::parse(arg, None))?,
        policy: args.opt("policy", policy::parse)?,
    })
}

fn prompt(arg: Arg<'_>) -> Result<Box<str>, ArgError> {
    // Closed, unlike the maps around it: a field that is unknown here might change what the agent is to do.
    let args = arg.map(&["kind", "prompt"])?;
    args.required("kind", |kind| kind.one_of(&[TASK_KIND], &[()]))?;
    args.required_text("prompt", limits::REQUEST_BYTES).map(Into::into)
}

fn text(args: &Args<'_>, name: &str) -> Result<Option<Box<str>>, ArgError> {
    Ok(args.raw_text(name, limits::REQUEST_BYTES)?.map(Into::into))
}

fn event_id(args: &Args<'_>) -> Result<Box<str>, ArgError> {
    args.required_text("event_id", limits::ID_BYTES).map(Into::into)
}

fn id(arg: Arg<'_>) -> Result<ScheduleId, ArgError> {
    arg.id(limits::ID_BYTES, |text| ScheduleId::new(text).ok())
}

fn revision(arg: Arg<'_>) -> Result<u64, ArgError> {
    // The first stored revision is 1. Source: SEED-004's code.
    arg.int_in(1, i64::MAX.unsigned_abs())
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
