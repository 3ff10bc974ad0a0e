//! Parses one call of the tool, and makes the checks that all operations share.
//!
//! Checks run in psi's order: the action, the operation, the session, then the operation's own checks. Invariant: the
//! session in a [`Call`] is the caller's.

use super::context::PsiContext;
use super::create;
use super::error::{LIST_HAS_NO_FILTER, NO_SCHEDULE_ID, NO_SESSION, PsiError, UNKNOWN_ACTION, UNKNOWN_OP};
use super::op::Op;
use super::query;
use super::value::given;
use crate::dialect::args::{Arg, Args, Choices, Keys, Style};
use crate::dialect::{Answer, Notation};
use crate::domain::{ScheduleId, SessionId};
use crate::edn::{Map, Value};
use crate::engine::NewSchedule;
use crate::graph::eql::Boundary;

/// A parsed and checked call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Create a schedule.
    Create(NewSchedule),
    /// List a session's pending and queued schedules.
    List {
        /// The calling session.
        session: SessionId,
    },
    /// Cancel one of a session's schedules.
    Cancel {
        /// The calling session.
        session: SessionId,
        /// The schedule to cancel.
        schedule: ScheduleId,
    },
    /// Query the graph.
    Query(Boundary),
}

impl Call {
    /// The requested operation; `None` for a query.
    pub fn op(&self) -> Option<Op> {
        match self {
            Call::Create(_) => Some(Op::Create),
            Call::List { .. } => Some(Op::List),
            Call::Cancel { .. } => Some(Op::Cancel),
            Call::Query(_) => None,
        }
    }
}

/// Parses the arguments of one call.
///
/// # Errors
/// The complete error answer to an invalid call. Its duration is 0, because nothing was executed.
pub fn parse(args: &Value, notation: Notation, context: &PsiContext) -> Result<Call, Answer> {
    let style = Style { notation, keys: Keys::Plain, choices: Choices::Exact, short_times: false };
    // Unknown keys are checked only after the action is known, because each action has its own form of error.
    let args =
        Arg::new(args, style).open_map(&NAMES).map_err(|error| PsiError::from(error).answer(None, 0))?;
    let Some(op) = asked(&args).map_err(|error| error.answer(None, 0))? else {
        return query::parse(&args).map(Call::Query);
    };
    call(op, &args, notation, context).map_err(|error| error.answer(Some(op), 0))
}

/// All arguments of all operations. Models often send every argument, nil if unused, so an operation ignores those of
/// other operations; only a list refuses those that look like filters.
const NAMES: [&str; 11] = [
    "action",
    "op",
    "kind",
    "message",
    "label",
    "delay-ms",
    "at",
    "schedule-id",
    "session-config",
    "query",
    "entity",
];

/// The requested operation; `None` for a query. Older callers send a query without an action.
fn asked(args: &Args<'_>) -> Result<Option<Op>, PsiError> {
    let names = |all: &[&str]| all.iter().map(|name| Value::from(*name)).collect::<Vec<Value>>();
    let action = args.get("action");
    match action.and_then(Arg::name) {
        Some("scheduler") => {
            let op = args.get("op");
            let unknown = || {
                let data = Map::new().with("op", given(op));
                UNKNOWN_OP.broken(data.with("supported-ops", names(Op::NAMES)))
            };
            op.and_then(Arg::name).and_then(Op::parse).map(Some).ok_or_else(unknown)
        }
        Some("query") => Ok(None),
        // Only if the action is absent: an unknown action with a query is still an error.
        None if action.is_none() && args.get("query").is_some() => Ok(None),
        Some(_) | None => Err(UNKNOWN_ACTION.broken(Map::new().with("action", given(action)))),
    }
}

fn call(op: Op, args: &Args<'_>, notation: Notation, context: &PsiContext) -> Result<Call, PsiError> {
    if let Some(error) = args.unknown_keys() {
        return Err(error.into());
    }
    // After the unknown keys: a misspelled argument is reported to callers without a session too.
    let session = context.session.clone().ok_or_else(|| NO_SESSION.broken(Map::new()))?;
    match op {
        Op::Create => create::parse(args, notation, session, context).map(Call::Create),
        Op::List => unfiltered(args).map(|()| Call::List { session }),
        // The engine decides whether the schedule exists for this session.
        Op::Cancel => Ok(Call::Cancel { session, schedule: schedule_id(args)? }),
    }
}

/// Refuses what looks like a filter of the list. Psi passes over it, and the caller takes all schedules for those it asked for.
fn unfiltered(args: &Args<'_>) -> Result<(), PsiError> {
    let is_given =
        |value: &Value| !value.is_nil() && value.as_str().is_none_or(|text| !text.trim().is_empty());
    let given = FILTERS.iter().filter(|name| args.get(name).is_some_and(|arg| is_given(arg.value())));
    let given: Vec<Value> = given.map(|name| Value::keyword(name)).collect();
    match given.is_empty() {
        true => Ok(()),
        false => Err(LIST_HAS_NO_FILTER.broken(Map::new().with("unsupported-keys", given))),
    }
}

/// Arguments of other operations that would be filters of a list.
const FILTERS: [&str; 7] = ["kind", "message", "label", "delay-ms", "at", "schedule-id", "session-config"];

fn schedule_id(args: &Args<'_>) -> Result<ScheduleId, PsiError> {
    let id = args.get("schedule-id");
    let text = id.and_then(|id| id.value().as_str()).ok_or_else(|| NO_SCHEDULE_ID.broken(Map::new()))?;
    // A text that cannot be an id is the id of no schedule, so the error is the same as for an unknown id.
    ScheduleId::new(text).map_err(|_| PsiError::no_such_schedule(given(id)))
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
            // As plain text, as psi answers it.
            let answer = ask(&format!("{{{given}}}")).unwrap_err();
            let text = format!(
                "EQL query error: unknown action: {shown}; supported are \"query\" and \"scheduler\""
            );
            assert_eq!((answer.value, answer.is_error), (Value::from(text), true));
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
            let context = PsiContext { session: None, live: 0, now: now() };
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
            r#"{"action" "scheduler" :op "list" :label nil :message "" "query" "of another action"}"#,
        ] {
            assert_eq!(ask(args), call, "{args}");
        }
    }

    /// All schedules in the place of a few would be taken for these.
    #[test]
    fn a_list_with_filters_is_refused() {
        for (given, keys) in [
            (r#":kind "session" :label "l2""#, "[:kind :label]"),
            (r#":schedule-id "sch-1""#, "[:schedule-id]"),
            (":delay-ms 1000", "[:delay-ms]"),
            (r#""message" "m" :session-config {}"#, "[:message :session-config]"),
        ] {
            let args = format!(r#"{{:action "scheduler" :op "list" {given}}}"#);
            let data = format!(r#"{{{VALID} :op "list" :unsupported-keys {keys}}}"#);
            check_refused(&args, &format!("so {keys} would change nothing"), ":validate", &data);
        }
    }

    /// psi ignores unknown arguments, so a misspelled label is silently lost there.
    #[test]
    fn unknown_arguments_are_refused() {
        let lead = |op: &str| format!(r#"{VALID} :op "{op}" :unsupported-keys"#);
        for (op, given, words, keys) in [
            (
                "create",
                r#":lable "x""#,
                "psi-tool has unsupported keys: :lable; supported are :action :op",
                "[:lable] :did-you-mean :label",
            ),
            ("create", ":delay_ms 1000", "; did you mean :delay-ms?", "[:delay_ms] :did-you-mean :delay-ms"),
            ("list", r#""every" 1"#, "unsupported keys: \"every\";", r#"["every"]"#),
            ("list", ":z nil :lable 1 [1] 2", "unsupported keys: :lable :z [1];", "[:lable :z [1]]"),
            (
                "cancel",
                r#":scheduleid "sch-1""#,
                "did you mean :schedule-id?",
                "[:scheduleid] :did-you-mean :schedule-id",
            ),
        ] {
            let args = format!(r#"{{:action "scheduler" :op "{op}" {given}}}"#);
            check_refused(&args, words, ":validate", &format!("{{{} {keys}}}", lead(op)));
        }
        let answer =
            ask(r#"{:action "query" :query "[:psi.scheduler/pending-count]" :entty "{}"}"#).unwrap_err();
        let text = "EQL query error: psi-tool has unsupported keys: :entty; ";
        assert!(answer.value.as_str().unwrap().starts_with(text), "{}", answer.value);
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

    /// Generates plausible and implausible values.
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
        /// Any arguments lead to a call or to an answer that can be read back.
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
            let context = PsiContext { session: Some(session()), live: 0, now: now() };
            if let Err(answer) = parse(&args.into(), notation, &context) {
                prop_assert_eq!(read(&answer.value.to_string()), answer.value);
            }
        }
    }

    const ARGUMENTS: [&str; 9] =
        ["action", "op", "kind", "message", "label", "delay-ms", "at", "schedule-id", "session-config"];
}
