//! The operator's control commands: each sends one mutation to a daemon, and prints the answer as text, EDN or JSON.
//!
//! The mutations are executed in the daemon.

use std::io;
use std::process::ExitCode;

use super::changed;
use super::client::Client;
use super::client::typed_id;
use super::exit::Exit;
use super::fault::AppFault;
use super::forecast_explain;
use super::foreign_text::{complain, shown, visible};
use crate::dialect::{Notation, REQUEST_CAPS};
use crate::domain::SessionId;
use crate::edn::{self, Caps, Map, Symbol, Value};
use crate::graph::mutation::MutationName;
use crate::surface::cli::{
    ApproveArgs, AskingArgs, CreateArgs, DaemonArgs, DenyArgs, GrantArgs, HoldArgs, OneArgs, OneOrAllArgs,
    OperatorArgs, PauseArgs, Printing, RescheduleArgs, RunArgs, WhichArgs,
};

pub(super) fn create(args: &CreateArgs) -> io::Result<ExitCode> {
    let given = [("origin-session-id", args.of.as_str()), ("when", &args.when), ("message", &args.message)];
    let params =
        given.into_iter().fold(args.more.params.clone(), |params, (name, value)| params.with(name, value));
    Control::of_operator(&args.operator).one(MutationName::Create, params)
}

pub(super) fn cancel(args: &OneOrAllArgs) -> io::Result<ExitCode> {
    Control::of(args).act([MutationName::Cancel, MutationName::CancelAll], Map::new())
}

pub(super) fn pause(args: &PauseArgs) -> io::Result<ExitCode> {
    Control::of(&args.which).act([MutationName::Pause, MutationName::PauseAll], args.why.params.clone())
}

pub(super) fn resume(args: &OneOrAllArgs) -> io::Result<ExitCode> {
    Control::of(args).act([MutationName::Resume, MutationName::ResumeAll], Map::new())
}

pub(super) fn run_now(args: &RunArgs) -> io::Result<ExitCode> {
    let params = args.slot.params.clone().with("schedule-id", args.one.schedule.as_str());
    Control::of_one(&args.one).one(MutationName::RunNow, params)
}

pub(super) fn retry(args: &OneArgs) -> io::Result<ExitCode> {
    let params = Map::new().with("schedule-id", args.schedule.as_str());
    Control::of_one(args).one(MutationName::Retry, params)
}

pub(super) fn reschedule(args: &RescheduleArgs) -> io::Result<ExitCode> {
    // Flags that are not given are absent, so those fields stay as they are.
    let params = args.change.params.clone().with("schedule-id", args.one.schedule.as_str());
    Control::of_one(&args.one).one(MutationName::Reschedule, params)
}

pub(super) fn hold_all(args: &HoldArgs) -> io::Result<ExitCode> {
    let control = Control::of_operator(&args.operator);
    control.one(MutationName::HoldAll, args.why.params.clone())
}

pub(super) fn release_all(args: &OperatorArgs) -> io::Result<ExitCode> {
    Control::of_operator(args).one(MutationName::ReleaseAll, Map::new())
}

pub(super) fn approve(args: &ApproveArgs) -> io::Result<ExitCode> {
    let params = Map::new().with("run-id", args.run.as_str()).with("digest", args.digest.as_str());
    Control::of_operator(&args.operator).one(MutationName::Approve, params)
}

pub(super) fn deny(args: &DenyArgs) -> io::Result<ExitCode> {
    let params = args.why.params.clone().with("run-id", args.run.as_str());
    let params = params.with_some("digest", args.digest.as_deref());
    Control::of_operator(&args.operator).one(MutationName::Deny, params)
}

pub(super) fn grant(args: &GrantArgs) -> io::Result<ExitCode> {
    let mut params = args.grant.params.clone().with("session-id", args.of.as_str());
    // "all" means nil in the table of parameters, and a flag cannot express nil.
    let is_all = |value: &Value| value.as_items().is_some_and(|items| items == [Value::string("all")]);
    if params.keyword("dialects").is_some_and(is_all) {
        params = params.with("dialects", Value::Nil);
    }
    Control::of_operator(&args.operator).one(MutationName::SetGrant, params)
}

/// One command for one daemon.
pub(super) struct Control<'a> {
    daemon: &'a DaemonArgs,
    /// The session to act for; `None` for the operator.
    session: Option<&'a SessionId>,
    printing: &'a Printing,
    which: Option<&'a WhichArgs>,
}

impl<'a> Control<'a> {
    fn of(args: &'a OneOrAllArgs) -> Control<'a> {
        Control { which: Some(&args.which), ..Control::of_asking(&args.asking) }
    }

    fn of_one(args: &'a OneArgs) -> Control<'a> {
        Control::of_asking(&args.asking)
    }

    fn of_asking(AskingArgs { printing, caller }: &'a AskingArgs) -> Control<'a> {
        Control { daemon: &caller.daemon, session: caller.session.as_ref(), printing, which: None }
    }

    pub(super) fn of_operator(args: &'a OperatorArgs) -> Control<'a> {
        Control { daemon: &args.daemon, session: None, printing: &args.printing, which: None }
    }

    /// Sends the first mutation for one schedule, or the second for all schedules of a session.
    fn act(&self, [one, all]: [MutationName; 2], params: Map) -> io::Result<ExitCode> {
        let schedule = self.which.and_then(|which| which.schedule.as_deref());
        match self.which.and_then(|which| which.all_of.as_ref()) {
            Some(session) => self.one(all, params.with("session-id", session.as_str())),
            None => self.one(one, params.with("schedule-id", schedule.unwrap_or_default())),
        }
    }

    pub(super) fn one(&self, mutation: MutationName, params: Map) -> io::Result<ExitCode> {
        match self.ask(mutation, params) {
            // The inner error is the daemon's refusal, the outer one means that there was no answer.
            Ok(Ok(answer)) => {
                let words = answer.as_map().and_then(|answer| changed::words(mutation, answer));
                print(self.printing, &answer, words)?;
                Ok(Exit::Done.into())
            }
            Ok(Err(refusal)) => {
                complain(refusal);
                Ok(Exit::Failed.into())
            }
            Err(fault) => Ok(fault.tell()),
        }
    }

    /// Sends a mutation. The inner result is its answer, or the refusal in words.
    fn ask(&self, mutation: MutationName, mut params: Map) -> Result<Result<Value, String>, AppFault> {
        // First, because the look-up of a typed id would ask an empty engine as well.
        self.client()?;
        let typed = |name| params.keyword(name).and_then(Value::as_str);
        if let Some(typed) = typed("schedule-id") {
            params =
                params.clone().with("schedule-id", typed_id::schedule(self.daemon, self.session, typed)?);
        } else if let Some(typed) = typed("run-id") {
            params = params.clone().with("run-id", typed_id::held_run(self.daemon, typed)?);
        }
        let call = format!("({} {})", mutation.name(), Value::Map(params));
        let asked =
            changed::shape(mutation).map_or_else(|| call.clone(), |shape| format!("{{{call} {shape}}}"));
        let answer = self.query(&format!("[{asked}]"))?;
        Ok(outcome(&answer, mutation.name()))
    }

    fn client(&self) -> Result<Client, AppFault> {
        Client::of_daemon(self.daemon, self.session)
    }

    /// Sends a query, and returns the daemon's answer.
    pub(super) fn query(&self, query: &str) -> Result<Value, AppFault> {
        let answered = self.client()?.post("/eql", Notation::Edn, query.as_bytes().to_vec())?;
        if answered.status.as_u16() != 200 {
            return Err(answered.fault(Notation::Edn));
        }
        let answer = edn::read(answered.text.as_bytes(), &ANSWER_CAPS);
        answer.map_err(|error| AppFault::Taken(format!("the daemon's answer is not EDN: {error}")))
    }
}

/// The answer of the mutation; if it failed, the error message and its hint.
fn outcome(answer: &Value, mutation: &str) -> Result<Value, String> {
    let map = answer.as_map();
    let why = |map: &Map| -> Option<String> {
        let why = map.keyword("reveille.error/why")?.as_map()?;
        let message = why.keyword("message")?.as_str()?;
        // The hint is part of the error's data.
        let hint = why.keyword("data").and_then(|data| data.as_map()?.keyword("hint")?.as_str());
        Some(hint.map_or_else(|| message.to_owned(), |hint| format!("{message}; {hint}")))
    };
    if let Some(why) = map.and_then(why) {
        return Err(why);
    }
    let symbol = Symbol::new(mutation).ok().map(Value::Symbol);
    let answered = symbol.as_ref().and_then(|symbol| map?.get(symbol));
    // Neither an error map nor the mutation's answer: show whatever came.
    answered.cloned().ok_or_else(|| answer.to_string())
}

/// Prints an answer, as text in these words if there are any.
pub(super) fn print(printing: &Printing, answer: &Value, words: Option<String>) -> io::Result<()> {
    let line = |(key, value): (&Value, &Value)| {
        let name = key.as_keyword().map_or_else(|| key.to_string(), |key| key.name().to_owned());
        format!("{name}  {}\n", value.as_str().map_or_else(|| shown(value), visible))
    };
    let lines = || words.unwrap_or_else(|| answer.as_map().into_iter().flatten().map(line).collect());
    forecast_explain::print(printing, answer, lines).map(|_| ())
}

/// The caps on a daemon's answer, which may be longer than a request.
const ANSWER_CAPS: Caps = Caps { bytes_max: 1 << 28, forms_max: u32::MAX, ..REQUEST_CAPS };
