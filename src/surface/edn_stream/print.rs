//! Prints pushes as EDN. Instants are written as `#inst`.

use crate::adapter::Push;
use crate::dialect::psi::{message, session_config};
use crate::domain::{Decision, Moment, RunId, SessionId};
use crate::edn::{Inst, Map, Value};
use crate::engine::Invocation;
use crate::service::Opening;

/// Prints what became of a request to open a session or take it over.
pub(super) fn opening(session: &SessionId, opening: &Opening) -> Map {
    let answer = Map::new().with("session-id", session.as_str());
    match opening {
        Opening::Opened(token) => answer.with("opened?", true).with("token", token.reveal()),
        // Of the token that the session has already, only a hash is stored.
        Opening::Attached { ignored } => {
            let answer = answer.with("opened?", false);
            let ignored: Vec<Value> = ignored.iter().map(|key| Value::keyword(key)).collect();
            if ignored.is_empty() { answer } else { answer.with("ignored", ignored) }
        }
    }
}

/// Prints a push to a harness: a delivery, or a session opened or closed.
pub(super) fn push(push: &Push) -> Value {
    match push {
        Push::Delivery { run, session, message, with } => {
            let part = |run: &RunId| {
                let part = Map::new().with("run-id", run.to_string());
                Value::from(part.with("schedule-id", run.schedule.to_string()))
            };
            let parts = [run].into_iter().chain(with).map(part).collect::<Vec<Value>>();
            let map = Map::new()
                .with("push", Value::keyword("delivery"))
                .with("delivery-id", run.to_string())
                .with("session-id", session.as_str())
                .with("message", message::print(message));
            // Several bulletins in one delivery: a part for each text, in order.
            if with.is_empty() { map.into() } else { map.with("parts", parts).into() }
        }
        Push::ToolCall(call) => tool_call(call),
        Push::ToolCancelled { id } => {
            Map::new().with("push", Value::keyword("tool/cancel")).with("call-id", &**id).into()
        }
        Push::SessionClosed { session } => Map::new()
            .with("push", Value::keyword("session/closed"))
            .with("session-id", session.as_str())
            .into(),
        Push::SessionOpened { session, config, provenance } => {
            let from = provenance.as_ref();
            Map::new()
                .with("push", Value::keyword("session/opened"))
                .with("session-id", session.as_str())
                .with("session-config", session_config::print(config))
                .with("scheduled-origin-session-id", from.map(|from| Value::string(from.origin.as_str())))
                .with("scheduled-from-schedule-id", from.map(|from| from.schedule.to_string()))
                .with("scheduled-from-label", from.and_then(|from| from.label.as_deref()).map(Value::string))
                .into()
        }
    }
}

/// Prints the push of a call to the harness that offers its tool.
fn tool_call(call: &Invocation) -> Value {
    Map::new()
        .with("push", Value::keyword("tool/call"))
        .with("call-id", &*call.id)
        .with("session-id", call.session.as_str())
        .with("tool", call.tool.as_str())
        .with("args", Value::clone(&call.args))
        .with("timeout-ms", i64::try_from(call.timeout.millis()).unwrap_or(i64::MAX))
        .with("attempt", i64::from(call.attempt))
        .with("for", Value::keyword(call.purpose.name()))
        .into()
}

/// Prints the push to a waiter that waits no more: another one has its place, or the conversation is over.
pub(super) fn released() -> Value {
    Map::new().with("push", Value::keyword("agent/released")).into()
}

/// Prints one decision of the feed.
pub(super) fn event(decision: &Decision, is_operator: bool) -> Value {
    let event = Map::new()
        .with("kind", Value::keyword(decision.kind.name()))
        .with("at", instant(decision.at))
        .with("reason", decision.reason.map(|reason| Value::keyword(reason.name())))
        .with("session-id", decision.session.as_ref().map(|session| Value::string(session.as_str())))
        .with("schedule-id", decision.schedule().map(|schedule| Value::string(schedule.to_string())))
        .with("detail", decision.detail.as_deref().map(Value::string));
    // Only operators see who did it.
    let event =
        event.with_some("by", decision.by.as_deref().filter(|_| is_operator).map(ToString::to_string));
    Map::new()
        .with("push", Value::keyword("event"))
        .with("cursor", cursor(decision.cursor))
        .with("event", event)
        .into()
}

/// Prints the notice that events after this cursor have been dropped from the feed.
pub(super) fn truncated(after: crate::domain::Cursor) -> Value {
    Map::new().with("push", Value::keyword("truncated")).with("after", cursor(after)).into()
}

/// Prints a cursor as a number.
pub(super) fn cursor(cursor: crate::domain::Cursor) -> Value {
    Value::Int(i64::try_from(cursor.number()).unwrap_or(i64::MAX))
}

fn instant(moment: Moment) -> Value {
    Inst::new(moment.seconds(), moment.nanos()).map_or(Value::Nil, Value::from)
}
