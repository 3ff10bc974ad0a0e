//! Parses what the hooks of an agent and its tool server ask for: which conversation a process is in, which schedules the agent
//! holds itself, and to wait for what is due there.
//!
//! What lives elsewhere: carrying it out (`service/agents.rs`).

use super::error::RequestError;
use super::request_fields::{address, read, run, session};
use crate::dialect::args::{Arg, ArgError, Args};
use crate::domain::{Address, AgentSchedule, AgentSchedules, RunId, SessionId};
use crate::edn::{Map, Value};
use crate::limits;
use crate::service::AgentProcess;

/// A request about an agent's process.
pub(super) enum AgentRequest {
    /// Its process is in the conversation of this address.
    Bind(AgentProcess, Box<Address>),
    /// Which session is the conversation of this process?
    Whose(AgentProcess),
    /// Be the host of the session for one delivery, in the middle of a turn or between two, as it is now if that is not said.
    Wait { session: SessionId, busy: Option<bool> },
    /// The prompt of this run was handed over to the agent.
    Handed(SessionId, RunId),
    /// The agent shows the prompt of this run in the conversation.
    Shown(SessionId, RunId),
    /// The turn has ended. A prompt that the agent has not shown is called back, or is still on its way into its window.
    Idle { session: SessionId, unshown_stays: bool },
    /// The agent holds these schedules itself, and no others.
    Schedules(SessionId, AgentSchedules),
    /// The conversation is over, or its process goes on with another.
    Release(SessionId, Option<AgentProcess>),
}

/// The keys of `:agent/bind`.
pub(super) const BIND: &[&str] = &["op", "id", "pid", "started", "address", "directory", "agent-profile"];
/// The keys of `:agent/whose`.
pub(super) const WHOSE: &[&str] = &["op", "id", "pid", "started"];
/// The keys of `:agent/handed` and `:agent/shown`.
pub(super) const PROMPT: &[&str] = &["op", "id", "session-id", "delivery-id"];
/// The keys of `:agent/wait`.
pub(super) const WAIT: &[&str] = &["op", "id", "session-id", "busy?"];
/// The keys of `:agent/idle`.
pub(super) const IDLE: &[&str] = &["op", "id", "session-id", "unshown-stays?"];
/// The keys of `:agent/schedules`.
pub(super) const SCHEDULES: &[&str] = &["op", "id", "session-id", "schedules", "count"];
/// The keys of each schedule in it.
const SCHEDULE: &[&str] = &["id", "cron", "recurring?", "prompt", "truncated?"];
/// The keys of `:agent/release`.
pub(super) const RELEASE: &[&str] = &["op", "id", "session-id", "pid", "started"];

pub(super) fn bind(args: &Args<'_>) -> Result<AgentRequest, RequestError> {
    let missing = || RequestError::invalid("an address is required, such as claude:ID", Map::new());
    let address = address(args)?.ok_or_else(missing)?;
    Ok(AgentRequest::Bind(process(args)?, Box::new(address)))
}

pub(super) fn whose(args: &Args<'_>) -> Result<AgentRequest, RequestError> {
    Ok(AgentRequest::Whose(process(args)?))
}

pub(super) fn wait(args: &Args<'_>) -> Result<AgentRequest, RequestError> {
    Ok(AgentRequest::Wait { session: session(args)?, busy: flag(args, "busy?")? })
}

pub(super) fn handed(args: &Args<'_>) -> Result<AgentRequest, RequestError> {
    Ok(AgentRequest::Handed(session(args)?, run(args)?))
}

pub(super) fn shown(args: &Args<'_>) -> Result<AgentRequest, RequestError> {
    Ok(AgentRequest::Shown(session(args)?, run(args)?))
}

pub(super) fn idle(args: &Args<'_>) -> Result<AgentRequest, RequestError> {
    Ok(AgentRequest::Idle {
        session: session(args)?,
        unshown_stays: flag(args, "unshown-stays?")?.unwrap_or(false),
    })
}

pub(super) fn schedules(args: &Args<'_>) -> Result<AgentRequest, RequestError> {
    let first = args.or_nil("schedules", |arg| arg.items(limits::AGENT_SCHEDULES, Ok))?;
    let first: Vec<AgentSchedule> = first.into_iter().map(schedule).collect::<Result<_, _>>()?;
    // Counted apart, because the list has only the first ones.
    let count = |value: &Value| u32::try_from(value.as_int()?).ok();
    let count = read(args, "count", "how many schedules there are: an integer, 0 or more", count)?;
    Ok(AgentRequest::Schedules(session(args)?, AgentSchedules::new(first, count)))
}

fn schedule(arg: Arg<'_>) -> Result<AgentSchedule, ArgError> {
    let args = arg.map(SCHEDULE)?;
    let text = |key| read(&args, key, "a string", |value| value.as_str().map(Box::<str>::from));
    let flag = |key| read(&args, key, "a boolean", Value::as_bool);
    let (recurring, is_cut) = (flag("recurring?")?, flag("truncated?")?);
    let said = AgentSchedule::new(&text("id")?, &text("cron")?, recurring, &text("prompt")?);
    // The hook has cut the texts already.
    Ok(AgentSchedule { truncated: said.truncated || is_cut, ..said })
}

pub(super) fn release(args: &Args<'_>) -> Result<AgentRequest, RequestError> {
    // A hook that does not know its process speaks for all of them.
    let is_named = args.opt("pid", |arg| arg.parse("an integer", Value::as_int))?.is_some();
    let left = is_named.then(|| process(args)).transpose()?;
    Ok(AgentRequest::Release(session(args)?, left))
}

fn flag(args: &Args<'_>, key: &'static str) -> Result<Option<bool>, RequestError> {
    Ok(args.opt(key, |arg| arg.parse("a boolean", Value::as_bool))?)
}

fn process(args: &Args<'_>) -> Result<AgentProcess, RequestError> {
    let pid = |value: &Value| u32::try_from(value.as_int()?).ok();
    // A moment in the words of an operating system is short.
    let started = |value: &Value| value.as_str().filter(|text| (1..=64).contains(&text.len())).map(Box::from);
    Ok(AgentProcess {
        pid: read(args, "pid", "the number of a process", pid)?,
        started: read(args, "started", "when the process began: a string of 1 to 64 bytes", started)?,
    })
}
