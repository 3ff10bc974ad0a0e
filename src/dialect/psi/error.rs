//! Everything that psi's tool refuses, and the error answer that says so.
//!
//! One rule per row of psi's table of errors; the phase of an error is its data's own, else `:scheduler`, as in psi.
//! Invariants: the literal fragments that psi's tests match stand in the messages. A row's data holds the keys of the table and
//! no others, in its order; where the table says so, that includes the lack of `:phase` or `:op`.

use super::TOOL;
use super::call::Op;
use super::session_config::{self, ConfigError, PSI_WORDS};
use crate::dialect::args::{ArgError, ArgErrorKind, ArgWords, arg_words, fill};
use crate::dialect::{Answer, refusal_data};
use crate::domain::{Code, Refusal, Status};
use crate::edn::{Keyword, Map, Value};
use crate::graph::shown::{self, ERROR_CLASS};
use crate::limits;

/// A call that is refused.
#[derive(Clone, Debug)]
pub(super) struct PsiError {
    message: String,
    code: Code,
    lead: Lead,
    /// What follows the lead; nil where there is no data at all.
    data: Value,
}

/// What the data of an error begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lead {
    Nothing,
    /// `:phase :validate`.
    Phase,
    /// That, and the action.
    Action,
    /// That, and the operation.
    Call,
}

/// A rule of psi's, whose message is filled in with the data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    name: &'static str,
    message: &'static str,
    lead: Lead,
}

impl Rule {
    /// A call that breaks the rule.
    pub(super) fn broken(self, data: Map) -> PsiError {
        let message = fill(self.message, |name| data.keyword(name).map(ToString::to_string));
        PsiError { message, code: Code::Validation, lead: self.lead, data: data.into() }
    }
}

/// psi's table: of each rule the beginning of its data, its name, and its message.
macro_rules! rules {
    ($($rule:ident $lead:ident $name:literal $message:literal;)+) => {
        $(pub(super) const $rule: Rule = Rule { name: $name, message: $message, lead: Lead::$lead };)+
    };
}

rules! {
    UNKNOWN_ACTION Phase "unknown-action" "unknown action: {action}; supported are \"query\" and \"scheduler\"";
    UNKNOWN_OP Action "unknown-op" "unknown scheduler op: {op}; use \"create\", \"list\" or \"cancel\"";
    NO_SESSION Call "no-session" "scheduler operations need an invoking session, and this caller has none";
    NO_MESSAGE Call "no-message" "message is required and must not be blank";
    UNKNOWN_KIND Call "unknown-kind" "kind is invalid: {kind}; use \"message\" or \"session\"";
    CONFIG_FORBIDDEN Call "config-forbidden"
        "session-config is not allowed for kind \"message\"; leave it out, or use kind \"session\"";
    CONFIG_REQUIRED Call "config-required" "session-config is required for kind \"session\"; an empty map will do";
    TWO_DELAYS Call "two-delays" "both delay-ms and at are given; give exactly one of them";
    NO_DELAY Call "no-delay" "neither delay-ms nor at is given; give exactly one of them";
    DELAY_NOT_INTEGER Nothing "delay-not-integer" "delay-ms is not an integer: {delay-ms}; give whole milliseconds";
    DELAY_TOO_SHORT Nothing "delay-too-short" "delay-ms is below the minimum bound: {delay-ms} < {minimum} ms";
    DELAY_TOO_LONG Nothing "delay-too-long" "delay-ms exceeds the maximum bound: {delay-ms} > {maximum} ms (24 h)";
    NOT_AN_INSTANT Action "not-an-instant"
        "at is not an instant: {input}; give an ISO 8601 string with seconds, such as \"2026-04-22T13:00:00Z\"";
    NO_SCHEDULE_ID Call "no-schedule-id" "schedule-id is required and must be a string";
    NO_SUCH_SCHEDULE Nothing "no-such-schedule"
        "schedule not found: {schedule-id}; list the schedules to see the ids that exist";
}

/// The texts of errors in the arguments themselves.
const WORDS: ArgWords = arg_words! {
    @whole TOOL;
    ..PSI_WORDS;
    not_a_map "not-a-map" "the arguments must be a map, not {found}" "";
};

impl PsiError {
    /// A schedule that is not there.
    pub(super) fn no_such_schedule(given: Value) -> PsiError {
        PsiError { code: Code::NotFound, ..NO_SUCH_SCHEDULE.broken(unknown_schedule(given)) }
    }

    /// What the engine refused.
    pub(super) fn refused(refusal: &Refusal) -> PsiError {
        let lead = if matches!(refusal, Refusal::SessionFull { .. }) { Lead::Call } else { Lead::Nothing };
        let message = format!("{refusal}; {}", refusal.hint());
        PsiError { message, code: refusal.code(), lead, data: of_refusal(refusal) }
    }

    /// The message, for the actions that answer with text alone.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// The finished answer to a call of `op`, as far as that is known.
    pub(super) fn answer(&self, op: Option<Op>, duration_ms: u64) -> Answer {
        let data: Value = match self.data.as_map() {
            Some(own) => self.lead.map(op).into_iter().chain(own.clone()).collect::<Map>().into(),
            None => Value::Nil,
        };
        let phase = data.as_map().and_then(|data| data.keyword("phase")).cloned();
        let error = Map::new()
            .with("message", &*self.message)
            .with("class", ERROR_CLASS)
            .with("phase", phase.unwrap_or_else(|| Value::keyword("scheduler")))
            .with("data", data);
        let value = Map::new()
            .with("psi-tool/action", Value::keyword("scheduler"))
            .with("psi-tool/scheduler-op", self.op(op))
            .with("psi-tool/duration-ms", integer(duration_ms))
            .with("psi-tool/overall-status", Value::keyword("error"))
            .with("psi-tool/error", error);
        Answer::refused(value, self.code)
    }

    /// The operation as a keyword, an unknown one included, or nil.
    fn op(&self, op: Option<Op>) -> Value {
        let given =
            self.data.as_map().filter(|_| self.lead == Lead::Action).and_then(|data| data.keyword("op"));
        let name = match given {
            Some(op) => op.as_str().or_else(|| op.as_keyword().map(Keyword::as_str)),
            None => op.map(Op::name),
        };
        name.and_then(|name| Keyword::new(name).ok()).into()
    }
}

impl From<ArgError> for PsiError {
    fn from(error: ArgError) -> PsiError {
        let is_no_map = matches!(error.kind(), ArgErrorKind::NotAMap { .. });
        let is_twice = matches!(error.kind(), ArgErrorKind::GivenTwice);
        let lead = if is_no_map || is_twice { Lead::Phase } else { Lead::Call };
        let data = if is_no_map { Map::new() } else { session_config::error_data(&error, None) };
        PsiError { message: error.message(&WORDS), code: error.code(&WORDS), lead, data: data.into() }
    }
}

impl From<ConfigError> for PsiError {
    fn from(error: ConfigError) -> PsiError {
        let data = error.data().into();
        PsiError { message: error.to_string(), code: Code::Validation, lead: Lead::Call, data }
    }
}

impl Lead {
    fn map(self, op: Option<Op>) -> Map {
        let phase = || Map::new().with("phase", Value::keyword("validate"));
        let action = || phase().with("action", "scheduler");
        match self {
            Lead::Nothing => Map::new(),
            Lead::Phase => phase(),
            Lead::Action => action(),
            Lead::Call => action().with("op", op.map(Op::name)),
        }
    }
}

/// What the engine refuses: psi's rows where psi has one, else what the refusal holds.
fn of_refusal(refusal: &Refusal) -> Value {
    let data = refusal_data(refusal, "run-id");
    let with_status =
        |data: Map, status: Status| data.with("status", Value::keyword(shown::status(status).name()));
    if let Refusal::NotCancellable { status, .. } = refusal {
        let data = with_status(data, *status);
        // psi has no word for a delivery under way, and calls it pending.
        return if *status == Status::InFlight { data.with("in-flight?", true) } else { data }.into();
    }
    if let Refusal::WrongStatus { status, .. } = refusal {
        return with_status(data, *status).into();
    }
    if let Refusal::HostedElsewhere { host, .. } = refusal {
        return data.with("host", host.to_string()).into();
    }
    if let Refusal::UnknownSchedule { schedule } = refusal {
        return unknown_schedule(schedule.to_string().into()).into();
    }
    if data.is_empty() { Value::Nil } else { data.into() }
}

fn unknown_schedule(given: Value) -> Map {
    Map::new().with("schedule-id", given).with("status", Value::Nil)
}

/// A number of ours as EDN; none is anywhere near the end of the range.
pub(super) fn integer(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Every error of psi's tool itself, with its name, its class and an example, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let entry = |(name, error): (&'static str, PsiError)| {
        let answer = error.answer(Some(Op::Create), 0).value;
        let shown = answer.as_map().and_then(|map| map.keyword("psi-tool/error")).cloned();
        (name, error.code, shown.unwrap_or(Value::Nil))
    };
    samples().into_iter().map(entry).collect()
}

/// One of each but the engine's; what they are about is made up.
fn samples() -> Vec<(&'static str, PsiError)> {
    let value = || Value::string("…");
    let of = |name: &str| Map::new().with(name, value());
    let argument = |path: &str, kind| PsiError::from(ArgError::new(path, kind).with(&value()));
    let broken = |rule: Rule, data: Map| (rule.name, rule.broken(data));
    let none = Map::new;
    let found = "integer";
    let keys = vec![Value::keyword("lable")];
    let unknown = ArgErrorKind::UnknownKeys { keys, known: &["message", "label"], nearest: Some("label") };
    let twice = ArgError::new("op", ArgErrorKind::GivenTwice);
    let supported = |name: &str, all: &[&str]| {
        let all: Vec<Value> = all.iter().map(|name| Value::from(*name)).collect();
        Map::new().with(name, value()).with(&format!("supported-{name}s"), all)
    };
    let kinds: Vec<Value> = super::create::KINDS.iter().map(|kind| Value::keyword(kind.name())).collect();
    let delay = |ms: i64| Map::new().with("delay-ms", ms);
    vec![
        ("not-a-map", argument("", ArgErrorKind::NotAMap { found })),
        ("given-twice", twice.into()),
        ("unknown-argument", argument("lable", unknown)),
        broken(UNKNOWN_ACTION, supported("action", &["query", "scheduler"])),
        broken(UNKNOWN_OP, supported("op", Op::NAMES)),
        broken(NO_SESSION, none()),
        broken(NO_MESSAGE, none()),
        ("not-text", argument("label", ArgErrorKind::NotText { found })),
        ("too-long", argument("message", ArgErrorKind::TooLong { limit: limits::TEXT_BYTES })),
        broken(UNKNOWN_KIND, of("kind").with("supported-kinds", kinds)),
        broken(CONFIG_FORBIDDEN, Map::new().with("kind", Value::keyword("message"))),
        broken(CONFIG_REQUIRED, Map::new().with("kind", Value::keyword("session"))),
        ("config", ConfigError::not_a_map(&Value::Int(1)).into()),
        broken(TWO_DELAYS, none()),
        broken(NO_DELAY, none()),
        broken(DELAY_NOT_INTEGER, of("delay-ms")),
        broken(DELAY_TOO_SHORT, delay(1).with("minimum", integer(limits::DELAY_MS_MIN.value))),
        broken(DELAY_TOO_LONG, delay(86_400_001).with("maximum", integer(limits::DELAY_MS_MAX.value))),
        broken(NOT_AN_INSTANT, Map::new().with("field", Value::keyword("at")).with("input", value())),
        broken(NO_SCHEDULE_ID, none()),
        (NO_SUCH_SCHEDULE.name, PsiError::no_such_schedule(value())),
    ]
}
