//! Parses the arguments, runs the command, and returns its exit code.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use super::exit::Exit;
use super::foreign_text::{complain, complain_in_lines, escaped};
use crate::surface::cli::{AgentsAction, AgentsArgs, Cli, Command};

/// Runs the program with these arguments, the first of which is its name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return refuse(error, &args),
    };
    let outcome = match cli.command {
        Command::Demo => super::demo::demo(&mut io::stdout().lock()),
        Command::Serve(args) => super::serve::serve(args),
        Command::Stdio(args) => super::stdio::stdio(args),
        Command::Mcp(args) => super::mcp::mcp(args),
        Command::Hook(args) => super::hook::hook(&args),
        Command::Plugin(args) => super::agents::plugin(&args),
        Command::Agents(AgentsArgs { action: Some(AgentsAction::Test(args)), .. }) => {
            super::agents::test(&args)
        }
        Command::Agents(args) => super::agents::list(&args),
        Command::Setup(args) => super::agents::setup(&args),
        Command::Tool(args) => super::tool::tool(&args),
        Command::Eql(args) => super::eql::eql(&args),
        Command::Graphql(args) => super::graphql::graphql(&args),
        Command::Doctor(args) => super::doctor::doctor(args),
        Command::Backup(args) => super::backup::backup(args),
        Command::Restore(args) => super::backup::restore(args),
        Command::Export(args) => super::export_import::export(args),
        Command::Import(args) => super::export_import::import(args),
        Command::Status(args) => super::lists::status(&args),
        Command::List(args) => super::lists::list(&args),
        Command::Runs(args) => super::lists::runs(&args),
        Command::Watch(args) => super::watches::watch(&args),
        Command::Tasks(args) => super::watches::tasks(&args),
        Command::Channels(args) => super::watches::channels(&args),
        Command::Forecast(args) => super::forecast_explain::forecast(&args),
        Command::Show(args) => super::show::show(&args),
        Command::Explain(args) => super::forecast_explain::explain(&args),
        Command::Log(args) => super::decisions::log(&args),
        Command::Inbox(args) => super::inbox::inbox(&args),
        Command::Create(args) => super::control::create(&args),
        Command::Cancel(args) => super::control::cancel(&args),
        Command::Pause(args) => super::control::pause(&args),
        Command::Resume(args) => super::control::resume(&args),
        Command::RunNow(args) => super::control::run_now(&args),
        Command::Retry(args) => super::control::retry(&args),
        Command::Reschedule(args) => super::control::reschedule(&args),
        Command::HoldAll(args) => super::control::hold_all(&args),
        Command::ReleaseAll(args) => super::control::release_all(&args),
        Command::Approvals(args) => super::approvals::approvals(&args),
        Command::Approve(args) => super::control::approve(&args),
        Command::Deny(args) => super::control::deny(&args),
        Command::Grant(args) => super::control::grant(&args),
        Command::Dashboard(args) => super::dashboard::dashboard(&args),
        Command::Calendar(args) => super::calendar::calendar(&args),
        Command::Schema(args) => super::schema::schema(args.kind),
    };
    outcome.unwrap_or_else(|error| {
        // The reader closed the pipe, as `head` does; that is not a failure.
        if error.kind() == ErrorKind::BrokenPipe {
            return Exit::Done.into();
        }
        complain(error);
        Exit::Failed.into()
    })
}

/// Prints what is wrong with the arguments, or the help that they ask for, and returns the exit code.
fn refuse(error: clap::Error, args: &[OsString]) -> ExitCode {
    // Help and version go to stdout and are an answer, errors go to stderr: clap knows which.
    if !error.use_stderr() {
        let _ = error.print();
        return Exit::Done.into();
    }
    let again = |args: &[OsString]| without_variables(Cli::command()).try_get_matches_from(args).err();
    let is_alike = |bare: &clap::Error| bare.kind() == error.kind();
    let shown: Vec<OsString> = args.iter().map(|arg| showable(&arg.to_string_lossy()).into()).collect();
    // An error repeats arguments, and a text that somebody pastes may be an agent's: the error is that of what can be shown.
    match again(&shown).filter(is_alike) {
        Some(shown) => _ = shown.print(),
        // What can be shown is no such error.
        None => complain_in_lines(&as_shown(&again(args).filter(is_alike).unwrap_or(error), args)),
    }
    Exit::Usage.into()
}

/// The command without its variables: clap's usage lists those that are set as if they were required.
fn without_variables(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| arg.env(None::<&'static str>)).mut_subcommands(without_variables)
}

/// An argument as it can be shown on one line.
fn showable(arg: &str) -> String {
    escaped(arg).replace('\n', "\\n")
}

/// The text of an error, in which each argument of several lines, or its value, stands on one.
fn as_shown(error: &clap::Error, args: &[OsString]) -> String {
    let mut text = error.to_string();
    for arg in args {
        let arg = arg.to_string_lossy();
        let value = arg.split_once('=').map_or(&*arg, |(_, value)| value);
        for part in [&*arg, value].into_iter().filter(|part| part.contains('\n')) {
            text = text.replace(part, &showable(part));
        }
    }
    text
}
