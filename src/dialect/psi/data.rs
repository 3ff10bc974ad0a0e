//! The `:data` of error answers: one map per row of psi's table of errors.
//!
//! What lives elsewhere: the messages (`problem.rs`). Invariant: a row holds the keys of the table and no others,
//! in its order; where the table says so, that includes the lack of `:phase` or `:op`.

use super::call::Op;
use super::create;
use super::problem::Problem;
use crate::domain::{Kind, Refusal, Status};
use crate::edn::{Map, Value};
use crate::graph::shown;
use crate::limits;

/// The data of a refused call of `op`, as far as that is known.
pub(super) fn of(problem: &Problem, op: Option<Op>) -> Value {
    let call = of_call(op);
    let data = match problem {
        Problem::NotAMap { .. } => phase(),
        Problem::GivenTwice { name } => phase().with("field", Value::keyword(name)),
        Problem::UnknownAction { given } => {
            let supported = Value::vector(["query".into(), "scheduler".into()]);
            phase().with("action", given.clone()).with("supported-actions", supported)
        }
        Problem::UnknownOp { given } => {
            let supported: Vec<Value> = Op::ALL.iter().map(|op| op.name().into()).collect();
            of_action().with("op", given.clone()).with("supported-ops", supported)
        }
        Problem::NoSession | Problem::NoMessage | Problem::NoScheduleId => call,
        Problem::TwoDelays | Problem::NoDelay => call,
        Problem::NotText { field, value } => {
            call.with("field", Value::keyword(field)).with("value", value.clone())
        }
        Problem::TooLong { field, limit } => call
            .with("field", Value::keyword(field))
            .with("limit", limit.name)
            .with("max", integer(limit.value)),
        Problem::UnknownKind { given } => {
            let supported: Vec<Value> =
                create::KINDS.iter().map(|kind| Value::keyword(kind.name())).collect();
            call.with("kind", given.clone()).with("supported-kinds", supported)
        }
        Problem::ConfigForbidden => call.with("kind", Value::keyword(Kind::Message.name())),
        Problem::ConfigRequired => call.with("kind", Value::keyword(Kind::Session.name())),
        Problem::Config(error) => call.into_iter().chain(error.data()).collect(),
        Problem::DelayNotInteger { value } => Map::new().with("delay-ms", value.clone()),
        Problem::DelayTooShort { delay_ms } => {
            Map::new().with("delay-ms", *delay_ms).with("minimum", integer(limits::DELAY_MS_MIN.value))
        }
        Problem::DelayTooLong { delay_ms } => {
            Map::new().with("delay-ms", *delay_ms).with("maximum", integer(limits::DELAY_MS_MAX.value))
        }
        Problem::NotAnInstant { value } => {
            of_action().with("field", Value::keyword("at")).with("input", value.clone())
        }
        Problem::NoSuchSchedule { given } => unknown_schedule(given.clone()),
        Problem::Refused(refusal) => return of_refusal(refusal, op),
    };
    data.into()
}

/// What the engine refuses: psi's rows where psi has one, else what the refusal holds.
fn of_refusal(refusal: &Refusal, op: Option<Op>) -> Value {
    let data = match refusal {
        Refusal::SessionFull { max } => of_call(op).with("cap", *max),
        Refusal::UnknownSchedule { schedule } => unknown_schedule(schedule.to_string().into()),
        Refusal::NotCancellable { schedule, status } => {
            let data = Map::new()
                .with("schedule-id", schedule.to_string())
                .with("status", Value::keyword(shown::status(*status).name()));
            // psi has no word for a delivery under way, and calls it pending.
            if *status == Status::InFlight { data.with("in-flight?", true) } else { data }
        }
        Refusal::ScheduleExists { schedule } => Map::new().with("schedule-id", schedule.to_string()),
        Refusal::UnknownSession { session } | Refusal::SessionExists { session } => {
            Map::new().with("session-id", session.to_string())
        }
        Refusal::HostedElsewhere { session, host } => {
            Map::new().with("session-id", session.to_string()).with("host", host.to_string())
        }
        Refusal::UnknownHost { host } => Map::new().with("host", host.to_string()),
        Refusal::UnknownRun { run }
        | Refusal::NotInFlight { run }
        | Refusal::NotHeld { run }
        | Refusal::NotAsked { run }
        | Refusal::ApprovalConflict { run, .. } => Map::new().with("run-id", run.to_string()),
        Refusal::LimitReached { limit } => {
            Map::new().with("limit", limit.name).with("max", integer(limit.value))
        }
        Refusal::RevisionConflict { schedule, base, revision } => Map::new()
            .with("schedule-id", schedule.to_string())
            .with("base-revision", *base)
            .with("revision", *revision),
        Refusal::KeyTaken { schedule } => Map::new().with("schedule-id", schedule.to_string()),
        Refusal::WrongStatus { schedule, status } => Map::new()
            .with("schedule-id", schedule.to_string())
            .with("status", Value::keyword(shown::status(*status).name())),
        Refusal::Overlapping { run } => Map::new().with("run-id", run.to_string()),
        Refusal::NoSlot { reason } => Map::new().with("reason", Value::keyword(reason.name())),
        Refusal::Unkept { detail } => Map::new().with("detail", &**detail),
        Refusal::ChannelNotAllowed { channel } => Map::new().with("channel", &**channel),
        Refusal::TooDeep { depth, max } => Map::new().with("depth", *depth).with("max", *max),
        Refusal::BeyondCalendar | Refusal::NoStore | Refusal::WokenTurn | Refusal::Stopping => {
            return Value::Nil;
        }
    };
    data.into()
}

fn phase() -> Map {
    Map::new().with("phase", Value::keyword("validate"))
}

fn of_action() -> Map {
    phase().with("action", "scheduler")
}

fn of_call(op: Option<Op>) -> Map {
    of_action().with("op", op.map(Op::name))
}

fn unknown_schedule(given: Value) -> Map {
    Map::new().with("schedule-id", given).with("status", Value::Nil)
}

/// A number of ours as EDN; none is anywhere near the end of the range.
pub(super) fn integer(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}
