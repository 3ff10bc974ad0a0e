//! Parses one call of a tool, with all checks that need no access to existing jobs, tools or channels.
//!
//! The conversion to a schedule is in `command.rs`. Invariant: an argument that begins with `_` never reaches a tool.

use super::error::{BAD_NAME, BAD_WHEN, BAD_ZONE, OUT_OF_BOUNDS, SCHEDULER_WORDS};
use super::tool::Tool;
use super::when::{JobWhen, parse_when, parse_when_in};
use crate::calendar::{Warning, Zones, delay_in_words};
use crate::dialect::args::{Arg, ArgError, ArgErrorKind, Args, Repair, Style};
use crate::dialect::{Answer, Notation, called};
use crate::domain::{Moment, ToolName, Zone};
use crate::edn::{Map, Value};
use crate::limits;

/// A parsed and checked call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Have a tool called.
    Schedule(Box<JobDraft>),
    /// End a job.
    Cancel(Box<str>),
    /// Be reminded.
    Remind(Box<RemindDraft>),
}

/// The definition of a scheduled call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobDraft {
    /// When it is due, and under which name.
    pub timed: Timed,
    /// The tool.
    pub action: ToolName,
    /// Its arguments: a map with string keys.
    pub args: Value,
    /// The channel that is told; `None` for the session itself.
    pub output_channel: Option<Box<str>>,
    /// After how many runs it ends; 0 for none.
    pub max_runs: u32,
    /// What the caller should know.
    pub warnings: Vec<&'static str>,
}

/// The definition of a reminder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemindDraft {
    /// When it is due, and under which name.
    pub timed: Timed,
    /// What the session is reminded of, verbatim.
    pub message: Box<str>,
}

/// When something is due, and under which name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timed {
    /// When.
    pub when: JobWhen,
    /// The zone whose clock a cron expression reads, and a timestamp without an offset.
    pub zone: Zone,
    /// What that clock does at the time.
    pub warnings: Vec<Warning>,
    /// The name, if somebody gave one. A job of that name is replaced.
    pub name: Option<Box<str>>,
}

/// Parses the arguments of one call of a tool, as of this moment.
///
/// # Errors
/// The complete error answer to an invalid call.
pub fn parse(
    tool: Tool,
    args: &Value,
    notation: Notation,
    (now, zones): (Moment, &Zones),
) -> Result<Call, Answer> {
    let style = Style::tools(notation);
    let call = || -> Result<Call, ArgError> {
        let args = Args::of_call(args, style, names(tool))?;
        Ok(match tool {
            Tool::Schedule => Call::Schedule(Box::new(job(&args, (now, zones))?)),
            Tool::Cancel => Call::Cancel(args.required_text("job_id", limits::JOB_ID_BYTES)?.into()),
            Tool::Remind => {
                let timed = timed(&args, (now, zones))?;
                Call::Remind(Box::new(RemindDraft { timed, message: args.required("message", message)? }))
            }
        })
    };
    call().map_err(|error| {
        let is_of = |of| matches!(error.kind(), ArgErrorKind::Own { words, .. } if *words == of);
        let repair = Repair::new(args, style);
        // Only a name that the zones know under another spelling is corrected.
        let meant = |zone: &Value| Some(zones.named(zone.as_str()?).err()?.meant()?.into());
        let reworded = if is_of(BAD_WHEN) {
            repair.with("when", in_units)
        } else if is_of(BAD_ZONE) {
            repair.with("zone", meant)
        } else {
            repair.without(&error)
        };
        error.answer(&SCHEDULER_WORDS, reworded)
    })
}

/// A delay in words, as these tools write it.
fn in_units(when: &Value) -> Option<Value> {
    let millis = delay_in_words(when.as_str()?)?.millis();
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let (unit, name) = units.into_iter().find(|(unit, _)| millis.is_multiple_of(*unit))?;
    Some(Value::string(format!("in {}{name}", millis / unit)))
}

/// The names of each tool's arguments.
const fn names(tool: Tool) -> &'static [&'static str] {
    match tool {
        Tool::Schedule => &["when", "action", "args", "name", "output_channel", "max_runs", "zone"],
        Tool::Cancel => &["job_id"],
        Tool::Remind => &["when", "message", "name", "zone"],
    }
}

fn job(args: &Args<'_>, asked: (Moment, &Zones)) -> Result<JobDraft, ArgError> {
    let timed = timed(args, asked)?;
    let action = args.required("action", called::tool)?;
    let arguments = args.opt("args", called::arguments)?.unwrap_or_else(|| Value::Map(Map::new()));
    let channel = args.opt_text("output_channel", limits::JOB_NAME_CHARS)?;
    let max_runs = args.int_in("max_runs", 0, limits::JOB_RUNS.value)?.unwrap_or(0);
    let mut warnings = Vec::new();
    let is_once = matches!(timed.when, JobWhen::After(_) | JobWhen::At(_));
    if is_once && max_runs > 1 {
        warnings.push("max_runs is ignored: this runs once");
    }
    Ok(JobDraft {
        timed,
        action,
        args: arguments,
        output_channel: channel.filter(|channel| *channel != TO_THE_SESSION).map(Box::from),
        max_runs: if is_once { 0 } else { u32::try_from(max_runs).unwrap_or(u32::MAX) },
        warnings,
    })
}

fn timed(args: &Args<'_>, (now, zones): (Moment, &Zones)) -> Result<Timed, ArgError> {
    let zone = args.opt("zone", |arg| {
        let named = zones.named(arg.filled_text(limits::ZONE_BYTES)?);
        named.map_err(|fault| arg.breaks(BAD_ZONE, fault.to_string()).advised(fault.hint()))
    })?;
    let (when, warnings) = args.required("when", |arg| {
        let text = arg.filled_text(limits::JOB_WHEN_BYTES)?;
        let when = match &zone {
            Some(zone) => parse_when_in(text, now, (zone, zones)),
            None => parse_when(text, now).map(|when| (when, Vec::new())),
        };
        when.map_err(|error| {
            let words = if error.is_understood() { OUT_OF_BOUNDS } else { BAD_WHEN };
            arg.breaks(words, error.to_string()).advised(error.hint())
        })
    })?;
    let name = args.opt("name", name)?.flatten();
    Ok(Timed { when, zone: zone.unwrap_or(Zone::Utc), warnings, name })
}

/// A name, which becomes a part of an id; blank is none.
fn name(arg: Arg<'_>) -> Result<Option<Box<str>>, ArgError> {
    let text = arg.text(limits::JOB_NAME_CHARS)?;
    if text.contains(|character: char| character.is_control() || character == '/') {
        return Err(arg.breaks(BAD_NAME, ""));
    }
    Ok((!text.is_empty()).then(|| text.into()))
}

/// A message, verbatim. Its bound is in characters, as the seed's is.
fn message(arg: Arg<'_>) -> Result<Box<str>, ArgError> {
    arg.filled_text(limits::REMIND_CHARS)?;
    Ok(arg.raw_text(limits::REMIND_CHARS)?.into())
}

/// The name of the session itself among the channels. Source: SEED-001.
const TO_THE_SESSION: &str = "llm_notification";
