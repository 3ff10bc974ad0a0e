//! Which operation a call of a tool is, for admission: before anything else looks at the call.
//!
//! Invariant: what is not known to be another operation is a change, and a call is read here as the tool itself reads it.

use super::tool::Tool;
use crate::dialect::{
    channels, claude_cron, cron, native, primitives, reminder, scheduler, session_action, watch,
};
use crate::domain::Op;
use crate::edn::{Keyword, Value};

/// Returns the operation that a call of a tool is.
pub(super) fn op_of(tool: Tool, args: &Value) -> Op {
    match tool {
        Tool::Psi => of_psi(args),
        Tool::Cron(tool) => of_cron(tool),
        Tool::Reminder(tool) => of_reminder(tool),
        Tool::SessionAction(tool) => of_session_action(tool, args),
        Tool::ClaudeCron(tool) => of_claude_cron(tool, args),
        Tool::Watch(tool) => of_watch(tool),
        Tool::Scheduler(tool) => of_scheduler(tool),
        Tool::Native(tool) => of_native(tool),
        Tool::Channels(tool) => of_channels(tool),
        Tool::Memory(_) => Op::Remember,
        Tool::Primitives(tool) => of_primitives(tool, args),
    }
}

fn of_primitives(tool: primitives::Tool, args: &Value) -> Op {
    let is = |key| given(args, key).and_then(Value::as_bool) == Some(true);
    match tool {
        primitives::Tool::RunParallel => Op::Call,
        // As the tool reads it: the first that fits counts.
        primitives::Tool::BackgroundRun if is("list_tasks") || is("list-tasks") => Op::Query,
        primitives::Tool::BackgroundRun if is("cancel") => Op::Cancel,
        primitives::Tool::BackgroundRun if word(args, "task_id").or(word(args, "task-id")).is_some() => {
            Op::Query
        }
        primitives::Tool::BackgroundRun => Op::Call,
    }
}

fn of_watch(tool: watch::Tool) -> Op {
    match tool {
        watch::Tool::Start => Op::Create,
        watch::Tool::Stop => Op::Cancel,
        watch::Tool::Pause | watch::Tool::Resume => Op::Change,
        watch::Tool::Status | watch::Tool::List | watch::Tool::History | watch::Tool::PingAge => Op::Query,
    }
}

fn of_scheduler(tool: scheduler::Tool) -> Op {
    match tool {
        scheduler::Tool::Schedule | scheduler::Tool::Remind => Op::Create,
        scheduler::Tool::Cancel => Op::Cancel,
    }
}

fn of_channels(tool: channels::Tool) -> Op {
    match tool {
        channels::Tool::SendMessage
        | channels::Tool::Broadcast
        | channels::Tool::Reply
        | channels::Tool::SimulateEvent
        | channels::Tool::TestSend => Op::Create,
        channels::Tool::PauseProvider | channels::Tool::ResumeProvider => Op::Change,
        channels::Tool::ListProviders
        | channels::Tool::ProviderStatus
        | channels::Tool::ProviderHistory
        | channels::Tool::Stats => Op::Query,
    }
}

fn of_psi(args: &Value) -> Op {
    match (word(args, "action"), word(args, "op")) {
        (Some("query"), _) | (Some("scheduler"), Some("list")) => Op::Query,
        (None, _) if given(args, "query").is_some() => Op::Query,
        (Some("scheduler"), Some("create")) => Op::Create,
        (Some("scheduler"), Some("cancel")) => Op::Cancel,
        // Also what the tool will refuse: it must not pass as a read before the tool has looked at it.
        _ => Op::Change,
    }
}

fn of_cron(tool: cron::Tool) -> Op {
    match tool {
        cron::Tool::List | cron::Tool::Get => Op::Query,
        cron::Tool::Create => Op::Create,
        cron::Tool::Update | cron::Tool::Pause | cron::Tool::Resume => Op::Change,
        cron::Tool::Delete => Op::Cancel,
    }
}

fn of_reminder(tool: reminder::Tool) -> Op {
    match tool {
        reminder::Tool::Add => Op::Create,
        reminder::Tool::List => Op::Query,
        reminder::Tool::Remove => Op::Cancel,
    }
}

fn of_claude_cron(tool: claude_cron::Tool, args: &Value) -> Op {
    match tool {
        claude_cron::Tool::Create => Op::Create,
        claude_cron::Tool::List => Op::Query,
        claude_cron::Tool::Delete => Op::Cancel,
        // As the tool reads it: with stop, it only ends a loop.
        claude_cron::Tool::Wakeup if given(args, "stop").and_then(Value::as_bool) == Some(true) => Op::Cancel,
        // A monitor is a watch.
        claude_cron::Tool::Wakeup | claude_cron::Tool::Monitor => Op::Create,
    }
}

fn of_native(tool: native::Tool) -> Op {
    match tool {
        native::Tool::List | native::Tool::Explain | native::Tool::Query => Op::Query,
        native::Tool::Inbox => Op::Take,
        native::Tool::Create => Op::Create,
        native::Tool::Update => Op::Change,
        native::Tool::Cancel => Op::Cancel,
    }
}

fn of_session_action(tool: session_action::Tool, args: &Value) -> Op {
    if tool == session_action::Tool::ReportReady {
        return Op::ReportJob;
    }
    // As lenient as the tool itself: what it would accept must not pass as something else here.
    let operation = word(args, "operation").map(|word| word.trim().to_lowercase().replace('-', "_"));
    match operation.as_deref() {
        // Without an operation, the tool creates.
        None => Op::Create,
        Some(word) => match session_action::Operation::parse(word) {
            Some(session_action::Operation::Create) => Op::Create,
            Some(session_action::Operation::List) => Op::Query,
            Some(session_action::Operation::Cancel) => Op::Cancel,
            Some(session_action::Operation::RunNow) | None => Op::Change,
        },
    }
}

/// A name, given as a string or a keyword, under a key that is a string or a keyword.
fn word<'a>(args: &'a Value, key: &str) -> Option<&'a str> {
    let value = given(args, key)?;
    value.as_keyword().map(Keyword::as_str).or_else(|| value.as_str())
}

fn given<'a>(args: &'a Value, key: &str) -> Option<&'a Value> {
    let map = args.as_map()?;
    map.keyword(key).or_else(|| map.text(key)).filter(|value| !value.is_nil())
}
