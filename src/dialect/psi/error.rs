//! The errors of psi's tool, and the answers that report them.
//!
//! There is one rule per row of psi's table of errors. The phase of an error comes from its data; the default is
//! `:scheduler`, as in psi. Invariants: messages contain the fragments that psi's tests match literally. The data of
//! an error has exactly the keys of its row, in that order; some rows lack `:phase` or `:op`.

use super::TOOL;
use super::op::Op;
use super::session_config::{self, ConfigError, PSI_WORDS};
use super::value::integer;
use crate::dialect::args::{ArgError, ArgErrorKind, ArgWords, arg_words, fill};
use crate::dialect::{Answer, refusal_data};
use crate::domain::{Code, PayloadKind, Refusal, Status};
use crate::edn::{Keyword, Map, Value};
use crate::graph::psi_terms::{self, ERROR_CLASS};
use crate::limits;

/// A refused call.
#[derive(Clone, Debug)]
pub(super) struct PsiError {
    message: String,
    code: Code,
    lead: Lead,
    /// The data after the lead; nil if the error has no data at all.
    data: Value,
}

/// The keys at the beginning of an error's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lead {
    /// No keys.
    Nothing,
    /// `:phase :validate`.
    Phase,
    /// `Phase`, and the action.
    Action,
    /// `Action`, and the operation.
    Call,
    /// No data: the answer is plain text, with the prefix of the action `query`, as long as no other action is known.
    Text,
}

/// A rule of psi. Placeholders in its message are filled from the data.
#[derive(Clone, Copy, Debug)]
pub(super) struct PsiRule {
    name: &'static str,
    message: &'static str,
    lead: Lead,
}

impl PsiRule {
    /// Creates the error for a call that violates the rule.
    pub(super) fn broken(self, data: Map) -> PsiError {
        let message = fill(self.message, |name| data.keyword(name).map(ToString::to_string));
        PsiError { message, code: Code::Validation, lead: self.lead, data: data.into() }
    }
}

/// Declares psi's table: lead, name and message of each rule.
macro_rules! rules {
    ($($rule:ident $lead:ident $name:literal $message:literal;)+) => {
        $(pub(super) const $rule: PsiRule = PsiRule { name: $name, message: $message, lead: Lead::$lead };)+
    };
}

rules! {
    UNKNOWN_ACTION Text "unknown-action" "unknown action: {action}; supported are \"query\" and \"scheduler\"";
    UNKNOWN_OP Action "unknown-op" "unknown scheduler op: {op}; use \"create\", \"list\" or \"cancel\"";
    LIST_HAS_NO_FILTER Call "list-has-no-filter"
        "list has no filters, so {unsupported-keys} would change nothing; leave them out, or query \
         :psi.scheduler/schedules with parameters";
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
    AT_TOO_NEAR Nothing "at-too-near"
        "at is too near, as delay-ms is below the minimum bound: {delay-ms} < {minimum} ms from now";
    AT_TOO_FAR Nothing "at-too-far"
        "at is too far ahead, as delay-ms exceeds the maximum bound: {delay-ms} > {maximum} ms (24 h) from now";
    AT_NO_OFFSET Action "at-no-offset"
        "at is not an instant: {input} has no offset from UTC; end it with Z, or with an offset such as +02:00";
    NOT_AN_INSTANT Action "not-an-instant"
        "at is not an instant: {input}; give an ISO 8601 string with seconds, such as \"2026-04-22T13:00:00Z\"";
    NO_SCHEDULE_ID Call "no-schedule-id" "schedule-id is required and must be a string";
    NO_SUCH_SCHEDULE Nothing "no-such-schedule"
        "schedule not found: {schedule-id}; list the schedules to see the ids that exist";
}

/// What to do about a schedule that ended with an earlier process.
const LOST_HINT: &str = "create it again: what this tool creates ends with the scheduler's process";

/// The beginning of an error that is plain text.
pub(super) const TEXT_PREFIX: &str = "EQL query error: ";

/// The kinds that psi knows; notices are not among them.
pub(super) const KINDS: [PayloadKind; 2] = [PayloadKind::Message, PayloadKind::Session];

/// The texts of errors in the arguments themselves.
const WORDS: ArgWords = arg_words! {
    @whole TOOL;
    ..PSI_WORDS;
    not_a_map "not-a-map" "the arguments must be a map, not {found}" "";
};

impl PsiError {
    /// Creates the error for an unknown schedule.
    pub(super) fn no_such_schedule(given: Value) -> PsiError {
        PsiError { code: Code::NotFound, ..NO_SUCH_SCHEDULE.broken(unknown_schedule(given)) }
    }

    /// Converts a refusal of the engine.
    pub(super) fn refused(refusal: &Refusal) -> PsiError {
        // psi checks the cap together with the arguments, so this refusal has the lead of a validation error.
        let lead = if matches!(refusal, Refusal::SessionFull { .. }) { Lead::Call } else { Lead::Nothing };
        // The engine's hint names durability, which this tool has no argument for.
        let is_lost = matches!(refusal, Refusal::ScheduleLost { .. });
        let hint = if is_lost { LOST_HINT } else { refusal.hint() };
        let message = format!("{refusal}; {hint}");
        PsiError { message, code: refusal.code(), lead, data: of_refusal(refusal) }
    }

    /// The message alone, for actions that answer in plain text.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// Builds the complete answer. `op` is `None` if the operation is not known.
    pub(super) fn answer(&self, op: Option<Op>, duration_ms: u64) -> Answer {
        if self.lead == Lead::Text {
            return Answer::refused(Value::string(format!("{TEXT_PREFIX}{}", self.message)), self.code);
        }
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
        // psi's order of keys. In a successful answer the duration comes last instead.
        let value = Map::new()
            .with("psi-tool/action", Value::keyword("scheduler"))
            .with("psi-tool/scheduler-op", self.op(op))
            .with("psi-tool/duration-ms", integer(duration_ms))
            .with("psi-tool/overall-status", Value::keyword("error"))
            .with("psi-tool/error", error);
        Answer::refused(value, self.code)
    }

    /// The operation as a keyword, even an unsupported one; nil if it is absent or cannot be a keyword.
    fn op(&self, op: Option<Op>) -> Value {
        // Of the rules with this lead, only `UNKNOWN_OP` has `:op` in its own data: the name as given.
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
        // Both faults are found before the action is known, so the data cannot name it.
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
            Lead::Nothing | Lead::Text => Map::new(),
            Lead::Phase => phase(),
            Lead::Action => action(),
            Lead::Call => action().with("op", op.map(Op::name)),
        }
    }
}

/// The data of an engine refusal: psi's row if psi has one, otherwise the refusal's own fields.
fn of_refusal(refusal: &Refusal) -> Value {
    let data = refusal_data(refusal, "run-id");
    let with_status =
        |data: Map, status: Status| data.with("status", Value::keyword(psi_terms::status(status).name()));
    if let Refusal::NotCancellable { status, .. } = refusal {
        let data = with_status(data, *status);
        // psi has no status for a delivery in flight and shows it as pending.
        return if *status == Status::InFlight { data.with("in-flight?", true) } else { data }.into();
    }
    if let Refusal::WrongStatus { status, .. } = refusal {
        return with_status(data, *status).into();
    }
    if let Refusal::HostedElsewhere { host, .. } = refusal {
        return data.with("host", host.to_string()).into();
    }
    if let Refusal::UnknownSchedule { schedule } | Refusal::ScheduleLost { schedule, .. } = refusal {
        return unknown_schedule(schedule.to_string().into()).into();
    }
    if data.is_empty() { Value::Nil } else { data.into() }
}

fn unknown_schedule(given: Value) -> Map {
    Map::new().with("schedule-id", given).with("status", Value::Nil)
}

/// All errors of psi's own tool, with name, class and example, for the index of errors.
pub fn errors() -> Vec<(&'static str, Code, Value)> {
    let entry = |(name, error): (&'static str, PsiError)| {
        let answer = error.answer(Some(Op::Create), 0).value;
        let text = answer.as_str().map(|text| Map::new().with("message", text).into());
        let shown = answer.as_map().and_then(|map| map.keyword("psi-tool/error")).cloned().or(text);
        (name, error.code, shown.unwrap_or(Value::Nil))
    };
    samples().into_iter().map(entry).collect()
}

/// One sample of each error, except those of the engine. The values are invented.
fn samples() -> Vec<(&'static str, PsiError)> {
    let value = || Value::string("…");
    let of = |name: &str| Map::new().with(name, value());
    let argument = |path: &str, kind| PsiError::from(ArgError::new(path, kind).with(&value()));
    let broken = |rule: PsiRule, data: Map| (rule.name, rule.broken(data));
    let none = Map::new;
    let found = "integer";
    let keys = vec![Value::keyword("lable")];
    let unknown = ArgErrorKind::UnknownKeys { keys, known: &["message", "label"], nearest: Some("label") };
    let twice = ArgError::new("op", ArgErrorKind::GivenTwice);
    let supported_ops: Vec<Value> = Op::NAMES.iter().map(|name| Value::from(*name)).collect();
    let kinds: Vec<Value> = KINDS.iter().map(|kind| Value::keyword(kind.name())).collect();
    let delay = |ms: i64| Map::new().with("delay-ms", ms);
    vec![
        ("not-a-map", argument("", ArgErrorKind::NotAMap { found })),
        ("given-twice", twice.into()),
        ("unknown-argument", argument("lable", unknown)),
        broken(UNKNOWN_ACTION, of("action")),
        broken(UNKNOWN_OP, of("op").with("supported-ops", supported_ops)),
        broken(LIST_HAS_NO_FILTER, Map::new().with("unsupported-keys", vec![Value::keyword("kind")])),
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
        broken(AT_TOO_NEAR, delay(1).with("minimum", integer(limits::DELAY_MS_MIN.value))),
        broken(AT_TOO_FAR, delay(86_400_001).with("maximum", integer(limits::DELAY_MS_MAX.value))),
        broken(AT_NO_OFFSET, Map::new().with("field", Value::keyword("at")).with("input", value())),
        broken(NOT_AN_INSTANT, Map::new().with("field", Value::keyword("at")).with("input", value())),
        broken(NO_SCHEDULE_ID, none()),
        (NO_SUCH_SCHEDULE.name, PsiError::no_such_schedule(value())),
    ]
}
