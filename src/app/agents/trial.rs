//! `reveille agents test`: an agent begins a conversation by a schedule, is killed, and is woken in it by another schedule.
//!
//! Each step is one line. Invariant: the session of the test is closed, however the test ends.

use std::io;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::app::client::question::ask;
use crate::app::exit::Exit;
use crate::app::fault::AppFault;
use crate::app::foreign_text::{print, visible};
use crate::edn::{Map, Value};
use crate::surface::cli::{AgentTestArgs, DaemonArgs};

pub(in crate::app) fn test(args: &AgentTestArgs) -> io::Result<ExitCode> {
    let done = Trial::open(args).and_then(|trial| {
        let done = trial.take();
        // What the test came to is worth more than what its end came to.
        let closed = trial.close();
        done.and(closed)
    });
    Ok(done.map_or_else(|fault| fault.tell(), |()| Exit::Done.into()))
}

/// A test of an agent, in a session of its own.
struct Trial<'a> {
    args: &'a AgentTestArgs,
    session: String,
    /// What the agent is asked to remember.
    word: String,
}

/// A turn that has ended, as the graph shows it.
struct Ended {
    address: String,
    text: String,
    process: Option<i32>,
}

impl<'a> Trial<'a> {
    fn open(args: &'a AgentTestArgs) -> Result<Trial<'a>, AppFault> {
        let agent = &args.agent;
        let directory = match &args.directory {
            Some(directory) => directory.clone(),
            None => std::env::current_dir().map_err(|error| AppFault::io("the working directory", error))?,
        };
        let params =
            Map::new().with("address", agent.as_str()).with("directory", directory.display().to_string());
        let opened = asked(args, &format!("[(psi.agent-session/open {})]", Value::Map(params)))?;
        let session = found(&opened, "psi.agent-session/session-id").and_then(Value::as_str);
        let session = session.ok_or_else(|| AppFault::Taken("no session was opened".into()))?.to_owned();
        let word = session.chars().filter(char::is_ascii_alphanumeric).take(WORD).collect();
        Ok(Trial { args, session, word })
    }

    fn take(&self) -> Result<(), AppFault> {
        self.is_reached()?;
        let first = self.wake("begin", &format!("Remember the word {}, and answer with OK.", self.word))?;
        self.kill(&first)?;
        let second = self.wake("resume", "Which word were you asked to remember? Answer with it alone.")?;
        if second.address != first.address {
            return Err(failed("same", &format!("it went on in {} instead", second.address)));
        }
        // One process id in both turns would mean that nothing was killed.
        if second.process.is_some() && second.process == first.process {
            return Err(failed("same", "the process that was killed has answered"));
        }
        if !second.text.contains(&self.word) {
            let text = format!("the conversation goes on, and its answer lacks the word {}", self.word);
            return Err(failed("same", &text));
        }
        line("same", &format!("{}: it remembers {}", second.address, self.word))
    }

    /// Checks that the daemon has this agent, and its program is there. The daemon gives the session to the host of the agent
    /// right after it was opened, so one look may be too early.
    fn is_reached(&self) -> Result<(), AppFault> {
        for _ in 0..ADOPTION_LOOKS {
            let shown = self.of_session("[:psi.agent-session/reception :psi.agent-session/away]")?;
            let part = |name| found(&shown, name).map_or_else(String::new, Value::to_string);
            match (part(RECEPTION).as_str(), part(AWAY).as_str()) {
                (":host", "nil") => {
                    return line("agent", &format!("{} can be reached by the daemon", self.args.agent));
                }
                (":host", _) => return Err(failed("agent", &self.obstacle()?)),
                _ => wait_for_the_daemon(),
            }
        }
        let agent = &self.args.agent;
        Err(failed("agent", &format!("the daemon has no [agents.{agent}] in its configuration")))
    }

    /// Schedules a prompt that is due in a second, and waits for the end of the turn.
    fn wake(&self, step: &str, message: &str) -> Result<Ended, AppFault> {
        let params = Map::new()
            .with("session-id", self.session.as_str())
            .with("kind", Value::keyword("message"))
            .with("message", message)
            .with("delay-ms", 1_000);
        let call = Value::Map(params);
        let made = asked(self.args, &format!("[{{(psi.scheduler/create {call}) [:{SCHEDULE}]}}]"))?;
        let id = found(&made, SCHEDULE).and_then(Value::as_str);
        let id = id.ok_or_else(|| failed(step, "the schedule was not created"))?;
        let query = format!("[{{[:{SCHEDULE} {}] {RUNS}}}]", Value::from(id));
        for _ in 0..self.args.patience.saturating_mul(LOOKS_A_SECOND) {
            let shown = asked(self.args, &query)?;
            let run = found(&shown, "psi.scheduler/runs").and_then(|runs| runs.as_items()?.first().cloned());
            let run = run.as_ref().and_then(Value::as_map).cloned().unwrap_or_default();
            if let Some(ended) = ended(step, &run)? {
                let (address, text) = (&ended.address, shortened(&ended.text));
                line(step, &format!("{address}: a turn in process {}, which said: {text}", process(&ended)))?;
                return Ok(ended);
            }
            wait_for_the_daemon();
        }
        let (patience, obstacle) = (self.args.patience, self.obstacle()?);
        let waits = format!("no turn has ended within {patience} s, {obstacle}; see `reveille explain {id}`");
        Err(failed(step, &waits))
    }

    /// Why the conversation cannot be reached, with what the agent wrote about it.
    fn obstacle(&self) -> Result<String, AppFault> {
        let shown = self.of_session("[:psi.agent-session/away :psi.agent-session/away-error]")?;
        let Some(away) = found(&shown, AWAY).filter(|away| **away != Value::Nil) else {
            return Ok("though the agent can be reached".to_owned());
        };
        let error = found(&shown, "psi.agent-session/away-error").and_then(Value::as_str);
        let error = error.map_or_else(String::new, |error| format!(" ({})", shortened(error)));
        Ok(format!("it cannot be reached: {away}{error}"))
    }

    /// Kills the group of the agent's process, as a crash would.
    fn kill(&self, turn: &Ended) -> Result<(), AppFault> {
        // An agent leads a group of its own, so its process id is that of the group.
        let group = turn.process.and_then(Pid::from_raw);
        let group = group.ok_or_else(|| failed("kill", "the process of the agent is not known"))?;
        match kill_process_group(group, Signal::KILL) {
            Ok(()) => line("kill", &format!("process {} and all it has started", process(turn))),
            Err(Errno::SRCH) => line("kill", &format!("process {} has ended by itself", process(turn))),
            Err(error) => Err(AppFault::io(format!("kill: process {}", process(turn)), error.into())),
        }
    }

    fn of_session(&self, shape: &str) -> Result<Map, AppFault> {
        let id = Value::from(self.session.as_str());
        asked(self.args, &format!("[{{[:psi.agent-session/session-id {id}] {shape}}}]"))
    }

    fn close(&self) -> Result<(), AppFault> {
        let params = Value::Map(Map::new().with("session-id", self.session.as_str()));
        asked(self.args, &format!("[(psi.agent-session/close {params})]")).map(drop)
    }
}

/// The turn of a run, once it has ended.
///
/// # Errors
/// If the run has failed, or its turn has not come to its end by itself.
fn ended(step: &str, run: &Map) -> Result<Option<Ended>, AppFault> {
    let part = |map: &Map, name: &str| map.keyword(name).map_or_else(String::new, Value::to_string);
    if part(run, "reveille.run/state") == ":failed" {
        let why = format!("{} {}", part(run, "reveille.run/reason"), part(run, "reveille.run/error"));
        return Err(failed(step, &why));
    }
    let Some(turn) = run.keyword("reveille.run/turn").and_then(Value::as_map) else { return Ok(None) };
    let text = |name: &str| turn.keyword(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    match part(turn, "reveille.turn/outcome").as_str() {
        "" | "nil" => Ok(None),
        ":completed" => Ok(Some(Ended {
            address: text("reveille.turn/address"),
            text: text("reveille.turn/text"),
            process: turn
                .keyword("reveille.turn/process")
                .and_then(Value::as_int)
                .and_then(|it| it.try_into().ok()),
        })),
        other => Err(failed(step, &format!("the turn ended as {other}: {}", text("reveille.turn/text")))),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "nothing in this process is waited for but the daemon's progress"
)]
fn wait_for_the_daemon() {
    thread::sleep(BETWEEN_LOOKS);
}

/// Asks the daemon of this machine.
fn asked(args: &AgentTestArgs, query: &str) -> Result<Map, AppFault> {
    let data_dir = args.state.data_dir.clone();
    let local = DaemonArgs { url: None, token_file: None, data_dir, insecure: false, embedded: false };
    ask(&local, None, query)
}

/// The value of an attribute in the only entry of an answer.
fn found<'m>(answer: &'m Map, name: &str) -> Option<&'m Value> {
    answer.iter().next().and_then(|(_, entry)| entry.as_map()?.keyword(name))
}

fn process(turn: &Ended) -> String {
    turn.process.map_or_else(|| "unknown".to_owned(), |process| process.to_string())
}

fn shortened(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(LINE).collect();
    if short.len() < text.trim().len() {
        short.push('…');
    }
    visible(&short)
}

fn line(step: &str, text: &str) -> Result<(), AppFault> {
    let printed = print(&format!("ok    {step:7} {text}\n"));
    printed.map_err(|error| AppFault::io("stdout cannot be written", error))
}

fn failed(step: &str, text: &str) -> AppFault {
    AppFault::Taken(format!("{step}: {text}"))
}

const RECEPTION: &str = "psi.agent-session/reception";
const AWAY: &str = "psi.agent-session/away";
const SCHEDULE: &str = "psi.scheduler/schedule-id";
const RUNS: &str = "[{:psi.scheduler/runs [:reveille.run/state :reveille.run/reason :reveille.run/error \
                     {:reveille.run/turn [:reveille.turn/outcome :reveille.turn/text :reveille.turn/address \
                      :reveille.turn/process]}]}]";
/// How often it is looked whether the daemon has given the session to a host: for two seconds.
const ADOPTION_LOOKS: u32 = 2 * LOOKS_A_SECOND;
/// Characters of the word that is remembered.
const WORD: usize = 8;
/// Characters that are shown of what an agent said.
const LINE: usize = 60;
const LOOKS_A_SECOND: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);
