//! Which operation a call of a tool is, for admission: before anything else looks at the call.
//!
//! Invariant: what is not known to be another operation is a change, and a call is read here as the tool itself reads it.

use super::tool::Tool;
use crate::dialect::primitives::{Background, Call};
use crate::dialect::{
    Notation, channels, claude_cron, cron, native, primitives, reminder, scheduler, session_action, watch,
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

/// Whether a call lists the unfinished schedules of one session.
#[cfg(feature = "http")]
pub(super) fn is_own_list(tool: Tool, args: &Value) -> bool {
    tool == Tool::Psi && word(args, "action") == Some("scheduler") && word(args, "op") == Some("list")
}

fn of_primitives(tool: primitives::Tool, args: &Value) -> Op {
    match tool {
        primitives::Tool::RunParallel => Op::Call,
        // The tool's parser says what the call does, so that the two cannot differ. EDN has every spelling that JSON has.
        primitives::Tool::BackgroundRun => match primitives::parse(tool, args, Notation::Edn) {
            Ok(Call::Background(Background::List | Background::Status { .. } | Background::Wait { .. })) => {
                Op::Query
            }
            Ok(Call::Background(Background::Cancel { .. })) => Op::Cancel,
            // Also what the tool will refuse.
            Ok(Call::Parallel(_) | Call::Background(Background::Launch { .. })) | Err(_) => Op::Call,
        },
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
        (None, _) if given(args, "action").is_none() && given(args, "query").is_some() => Op::Query,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::psi;
    use crate::dialect::psi::PsiContext;
    use crate::domain::{BootTime, Moment, Now, SessionId};
    use crate::edn::{Caps, Map, read};

    /// A tool whose operation depends on its arguments: the arguments that say which, and a call that is valid with any of them.
    type Case = (Tool, &'static [&'static str], &'static str);

    const CASES: &[Case] = &[
        (
            Tool::Psi,
            &["action", "op", "query"],
            r#"{:kind "session" :message "m" :delay-ms 5000 :schedule-id "sch-1"}"#,
        ),
        (
            Tool::SessionAction(session_action::Tool::Schedule),
            &["operation", "action_id"],
            r#"{:action_kind "remind_later" :message "m" :delay_seconds 60}"#,
        ),
        (
            Tool::ClaudeCron(claude_cron::Tool::Wakeup),
            &["stop", "noop"],
            r#"{:delaySeconds 60 :reason "r" :prompt "p"}"#,
        ),
        (
            Tool::Primitives(primitives::Tool::BackgroundRun),
            &["list_tasks", "cancel", "task_id", "wait"],
            r#"{:name "t.x"}"#,
        ),
    ];

    /// What an argument may be, well written or not.
    const VALUES: &[&str] = &[
        "nil",
        "true",
        "false",
        "1",
        "[]",
        r#""""#,
        r#"" ""#,
        r#""\n\t""#,
        r#""true""#,
        r#""x""#,
        ":x",
        r#""scheduler""#,
        ":scheduler",
        r#""query""#,
        r#""create""#,
        r#"" LIST ""#,
        r#""list""#,
        ":list",
        r#""cancel""#,
        r#""Cancel""#,
        r#""run-now""#,
        r#""run_now""#,
        r#""[:psi.scheduler/pending-count]""#,
    ];

    fn value(text: &str) -> Value {
        read(text.as_bytes(), &Caps::DEFAULT).expect("EDN")
    }

    /// Returns what the tool will do; `None` if it will refuse the call.
    fn done(tool: Tool, args: &Value, notation: Notation) -> Option<Op> {
        let now = Now { wall: Moment::EPOCH, boot: BootTime::ZERO };
        match tool {
            Tool::Psi => {
                let session = Some(SessionId::new("one").expect("an id"));
                let context = PsiContext { session, live: 0, now };
                Some(match psi::parse(args, notation, &context).ok()? {
                    psi::Call::Create(_) => Op::Create,
                    psi::Call::List { .. } | psi::Call::Query(_) => Op::Query,
                    psi::Call::Cancel { .. } => Op::Cancel,
                })
            }
            Tool::SessionAction(tool) => {
                Some(match session_action::parse(tool, args, notation, now.wall).ok()? {
                    session_action::Call::Create(_) => Op::Create,
                    session_action::Call::List(_) => Op::Query,
                    session_action::Call::Cancel { .. } => Op::Cancel,
                    session_action::Call::RunNow { .. } => Op::Change,
                    session_action::Call::JobReady { .. } => Op::ReportJob,
                })
            }
            Tool::ClaudeCron(tool) => Some(match claude_cron::parse(tool, args, notation).ok()? {
                claude_cron::Call::Stop | claude_cron::Call::Delete { .. } => Op::Cancel,
                claude_cron::Call::List(_) => Op::Query,
                claude_cron::Call::Create(_)
                | claude_cron::Call::Wakeup(_)
                | claude_cron::Call::Monitor(_)
                | claude_cron::Call::Program(_) => Op::Create,
            }),
            Tool::Primitives(tool) => Some(match primitives::parse(tool, args, notation).ok()? {
                Call::Parallel(_) | Call::Background(Background::Launch { .. }) => Op::Call,
                Call::Background(Background::Cancel { .. }) => Op::Cancel,
                Call::Background(Background::List | Background::Wait { .. } | Background::Status { .. }) => {
                    Op::Query
                }
            }),
            Tool::Cron(_)
            | Tool::Reminder(_)
            | Tool::Watch(_)
            | Tool::Scheduler(_)
            | Tool::Native(_)
            | Tool::Channels(_)
            | Tool::Memory(_) => panic!("the operation of {tool:?} does not depend on its arguments"),
        }
    }

    /// The spellings of a key: as a keyword, as a text, and both in kebab case.
    fn keys(name: &str) -> Vec<Value> {
        let kebab = name.replace('_', "-");
        let mut keys = vec![Value::keyword(name), name.into()];
        if kebab != name {
            keys.extend([Value::keyword(&kebab), (&*kebab).into()]);
        }
        keys
    }

    /// Every pair of arguments in every spelling: what is admitted is what is done.
    #[test]
    fn a_call_is_admitted_as_what_its_tool_does() {
        for (tool, names, base) in CASES {
            let base = value(base).as_map().cloned().expect("a map");
            let one = |name: &&str| {
                let with = |key: Value| VALUES.iter().map(move |it| (key.clone(), value(it)));
                keys(name).into_iter().flat_map(with).collect::<Vec<_>>()
            };
            let given: Vec<(Value, Value)> = names.iter().flat_map(one).collect();
            let mut seen = Vec::new();
            let mut check = |args: Map| {
                let args = Value::Map(args);
                let done = |notation| done(*tool, &args, notation);
                for done in [Notation::Edn, Notation::Json].into_iter().filter_map(done) {
                    assert_eq!(op_of(*tool, &args), done, "{tool:?} {args}");
                    seen.push(done);
                }
            };
            for (at, first) in given.iter().enumerate() {
                check([first.clone()].into_iter().chain(base.clone()).collect());
                for second in &given[at + 1..] {
                    check([first.clone(), second.clone()].into_iter().chain(base.clone()).collect());
                }
            }
            seen.sort_unstable();
            seen.dedup();
            assert!(seen.len() > 1, "{tool:?}: {seen:?}");
        }
    }
}
