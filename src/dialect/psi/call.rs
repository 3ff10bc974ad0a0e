//! One call of the tool: what it asks for, and the checks that all operations share.
//!
//! Their order is psi's: the action, the operation, the session, then the operation's own checks. Invariant: a
//! [`Call`] names a session, and that is the caller's.

use super::args::{Args, word};
use super::create;
use super::problem::Problem;
use super::query;
use crate::dialect::echo;
use crate::dialect::{Answer, Notation};
use crate::domain::{Now, ScheduleId, SessionId, names};
use crate::edn::Value;
use crate::engine::NewSchedule;
use crate::graph::eql::Boundary;

names! {
    /// What can be done with schedules. Source: SEED-002.
    Op {
        /// Create one.
        Create = "create",
        /// List the unfinished ones.
        List = "list",
        /// Cancel one.
        Cancel = "cancel",
    }
}

/// What the checks must know of the world.
#[derive(Clone, Debug)]
pub struct Context {
    /// The session that calls, if the caller is one.
    pub session: Option<SessionId>,
    /// How many of its schedules have not ended. The engine checks the cap again, at the moment of creation.
    pub live: usize,
    /// The moment of the call.
    pub now: Now,
}

/// One call, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Create a schedule.
    Create(NewSchedule),
    /// List a session's pending and queued schedules.
    List {
        /// The session that asks.
        session: SessionId,
    },
    /// Cancel one of a session's schedules.
    Cancel {
        /// The session that asks.
        session: SessionId,
        /// Which one.
        schedule: ScheduleId,
    },
    /// Ask the graph.
    Query(Boundary),
}

impl Call {
    /// The operation asked for; a query is none.
    pub fn op(&self) -> Option<Op> {
        match self {
            Call::Create(_) => Some(Op::Create),
            Call::List { .. } => Some(Op::List),
            Call::Cancel { .. } => Some(Op::Cancel),
            Call::Query(_) => None,
        }
    }
}

/// Reads the arguments of one call.
///
/// # Errors
/// The finished answer to a call that makes no sense; its duration is 0, because nothing was executed.
pub fn parse(args: &Value, notation: Notation, context: &Context) -> Result<Call, Answer> {
    let unasked = |problem: Problem| problem.answer(None, 0);
    let args = Args::new(args).map_err(unasked)?;
    let Some(op) = asked(&args).map_err(unasked)? else {
        return query::parse(&args).map(Call::Query);
    };
    call(op, &args, notation, context).map_err(|problem| problem.answer(Some(op), 0))
}

/// The operation; none for a query, which from older callers comes without an action.
fn asked(args: &Args<'_>) -> Result<Option<Op>, Problem> {
    let action = args.get("action");
    match word(action) {
        Some("scheduler") => {
            let op = args.get("op");
            word(op).and_then(Op::parse).map(Some).ok_or_else(|| Problem::UnknownOp { given: echo(op) })
        }
        Some("query") => Ok(None),
        None if action.is_nil() && !args.get("query").is_nil() => Ok(None),
        Some(_) | None => Err(Problem::UnknownAction { given: echo(action) }),
    }
}

fn call(op: Op, args: &Args<'_>, notation: Notation, context: &Context) -> Result<Call, Problem> {
    let session = context.session.clone().ok_or(Problem::NoSession)?;
    match op {
        Op::Create => create::parse(args, notation, session, context).map(Call::Create),
        Op::List => Ok(Call::List { session }),
        Op::Cancel => Ok(Call::Cancel { session, schedule: schedule_id(args)? }),
    }
}

fn schedule_id(args: &Args<'_>) -> Result<ScheduleId, Problem> {
    let text = args.get("schedule-id").as_str().ok_or(Problem::NoScheduleId)?;
    // What cannot be an id is the id of no schedule.
    ScheduleId::new(text).map_err(|_| Problem::NoSuchSchedule { given: echo(args.get("schedule-id")) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dialect::psi::testing::{ask, check_error, check_refused, now, read, session};
    use crate::edn::Map;

    const VALID: &str = r#":phase :validate :action "scheduler""#;

    #[test]
    fn a_call_needs_action_and_op() {
        check_refused("[1]", "must be a map, not vector", ":validate", "{:phase :validate}");
        check_refused("nil", "must be a map, not nil", ":validate", "{:phase :validate}");
        let twice = "{:phase :validate :field :op}";
        check_refused(
            r#"{:action "scheduler" :op "list" "op" "cancel"}"#,
            "op is given twice",
            ":validate",
            twice,
        );
        for (given, shown) in
            [("", "nil"), (r#":action "Scheduler""#, r#""Scheduler""#), (":action :queries", ":queries")]
        {
            let data =
                format!(r#"{{:phase :validate :action {shown} :supported-actions ["query" "scheduler"]}}"#);
            check_refused(&format!("{{{given}}}"), "unknown action", ":validate", &data);
        }
        for (given, shown) in
            [("", "nil"), (r#":op "Create""#, r#""Create""#), (":op :pause", ":pause"), (":op 1", "1")]
        {
            let data = format!(r#"{{{VALID} :op {shown} :supported-ops ["create" "list" "cancel"]}}"#);
            check_refused(
                &format!(r#"{{:action "scheduler" {given}}}"#),
                "unknown scheduler op",
                ":validate",
                &data,
            );
        }
    }

    #[test]
    fn the_answer_names_the_operation_as_a_keyword() {
        #[track_caller]
        fn check(args: &str, expected: &str) {
            let answer = ask(args).unwrap_err();
            let op = answer.value.as_map().and_then(|map| map.keyword("psi-tool/scheduler-op"));
            assert_eq!(op.unwrap().to_string(), expected, "{args}");
        }
        check(r#"{:action "other" :op "create"}"#, "nil");
        check(r#"{:action "scheduler"}"#, "nil");
        check(r#"{:action "scheduler" :op "pause"}"#, ":pause");
        check(r#"{:action "scheduler" :op :pause}"#, ":pause");
        check(r#"{:action "scheduler" :op "not a name"}"#, "nil");
        check(r#"{:action "scheduler" :op "create"}"#, ":create");
        check(r#"{:action "scheduler" :op "cancel"}"#, ":cancel");
    }

    #[test]
    fn every_operation_needs_a_session() {
        for op in Op::ALL {
            let args = read(&format!(r#"{{:action "scheduler" :op "{}"}}"#, op.name()));
            let context = Context { session: None, live: 0, now: now() };
            let answer = parse(&args, Notation::Edn, &context).unwrap_err();
            let data = format!(r#"{{{VALID} :op "{}"}}"#, op.name());
            check_error(&answer, "need an invoking session", ":validate", &data);
        }
    }

    #[test]
    fn names_are_keywords_or_strings() {
        let call = Ok(Call::List { session: session() });
        for args in [
            r#"{:action "scheduler" :op "list"}"#,
            "{:action :scheduler :op :list}",
            r#"{"action" "scheduler" "op" "list"}"#,
            r#"{"action" "scheduler" :op "list" :other-tools-argument 1}"#,
        ] {
            assert_eq!(ask(args), call, "{args}");
        }
    }

    #[test]
    fn cancel_needs_an_id() {
        let args = |id: &str| format!(r#"{{:action "scheduler" :op "cancel" :schedule-id {id}}}"#);
        for id in ["nil", "7", ":sch-1"] {
            let data = format!(r#"{{{VALID} :op "cancel"}}"#);
            check_refused(&args(id), "schedule-id is required", ":validate", &data);
        }
        for id in [r#""""#, r#"" ""#, r#""a\nb""#] {
            let data = format!("{{:schedule-id {id} :status nil}}");
            check_refused(&args(id), "schedule not found", ":scheduler", &data);
        }
        let long = ask(&args(&format!("\"{}\"", "a".repeat(129)))).unwrap_err();
        assert!(long.value.to_string().contains("schedule not found"));
        let schedule = ScheduleId::new("sch-1").unwrap();
        assert_eq!(ask(&args(r#""sch-1""#)), Ok(Call::Cancel { session: session(), schedule }));
    }

    /// Values that somebody might send, and a few that nobody should.
    fn values() -> impl Strategy<Value = Value> {
        let samples = [
            "nil",
            "false",
            "true",
            "0",
            "1000",
            "-1",
            "86400001",
            "1000N",
            "1.5",
            "1/2",
            "2.50M",
            "##NaN",
            "\\a",
            "x",
            ":message",
            ":session",
            ":user",
            ":text",
            ":user/text",
            "\"session\"",
            "\"scheduler\"",
            "\" \"",
            "\"\"",
            "\"sch-1\"",
            "\"{:session-name 5}\"",
            "\"{:a\"",
            "\"2026-04-22T13:00:00Z\"",
            "#inst \"2026\"",
            "#x/y 1",
        ];
        let leaf = prop::sample::select(samples.map(read).to_vec());
        let keys = [
            "session-name",
            "model",
            "provider",
            "id",
            "skills",
            "name",
            "description",
            "preloaded-messages",
            "role",
            "content",
            "type",
            "text",
            "timestamp",
            "tool-ids",
            "cache-breakpoints",
            "components",
        ];
        let key = prop_oneof![
            4 => prop::sample::select(keys.to_vec()).prop_map(Value::keyword),
            1 => leaf.clone(),
        ];
        leaf.prop_recursive(60, 200, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::vector),
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::set),
                prop::collection::vec((key.clone(), inner), 0..4)
                    .prop_map(|entries| Value::Map(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Whatever is asked, there is a call or an answer, and the answer reads back.
        #[test]
        fn any_arguments_get_an_answer(
            op in prop::sample::select(vec!["create", "list", "cancel", "other"]),
            given in prop::collection::vec((prop::sample::select(ARGUMENTS.to_vec()), values()), 0..6),
            is_json in any::<bool>(),
        ) {
            let mut args = Map::new()
                .with("action", "scheduler").with("op", op).with("kind", "session").with("message", "m");
            args.extend(given.into_iter().map(|(name, value)| (Value::keyword(name), value)));
            let notation = if is_json { Notation::Json } else { Notation::Edn };
            let context = Context { session: Some(session()), live: 0, now: now() };
            if let Err(answer) = parse(&args.into(), notation, &context) {
                prop_assert_eq!(read(&answer.value.to_string()), answer.value);
            }
        }
    }

    const ARGUMENTS: [&str; 9] =
        ["action", "op", "kind", "message", "label", "delay-ms", "at", "schedule-id", "session-config"];
}
