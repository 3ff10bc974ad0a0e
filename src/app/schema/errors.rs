//! Generates the index of errors: every class, and every error with its class, a sample message and a hint.

use std::fmt::Write as _;

use crate::dialect::{
    channels, claude_cron, cron, memory, native, primitives, psi, reminder, scheduler, session_action, watch,
};
use crate::domain::{Code, Moment, Refusal, Span};
use crate::edn::{Map, Symbol, Value};
use crate::graph::eql;
use crate::limits;
use crate::service::QUERY_LIMITS;
use crate::surface::http::ErrorCode;

/// The index as EDN, one error per line.
pub(super) fn text() -> String {
    let mut text = String::from(
        ";; Generated from the code: every class of errors, and every error. Do not edit.\n{:codes [\n",
    );
    for code in Code::ALL {
        let map = Map::new().with("code", code.name()).with("doc", code.doc());
        // Writing to a string cannot fail.
        let _ = writeln!(text, " {}", Value::Map(map));
    }
    text += "]\n :http [\n";
    for code in ErrorCode::ALL {
        let map = Map::new().with("code", code.name()).with("status", i64::from(code.status().as_u16()));
        let _ = writeln!(text, " {}", Value::Map(map.with("doc", code.doc())));
    }
    text += "]\n :errors [\n";
    let tools = tools("cron", cron::errors())
        .chain(tools("reminder", reminder::errors()))
        .chain(tools("session-action", session_action::errors()))
        .chain(tools("claude-cron", claude_cron::errors()))
        .chain(tools("channels", channels::errors()))
        .chain(tools("memory", memory::errors()))
        .chain(tools("primitives", primitives::errors()))
        .chain(tools("watch", watch::errors()))
        .chain(tools("scheduler", scheduler::errors()))
        .chain(tools("native", native::errors()));
    for entry in engine().into_iter().chain(psi_tool()).chain(tools).chain(graph()) {
        let _ = writeln!(text, " {}", Value::Map(entry));
    }
    text += "]}\n";
    text
}

fn entry(of: &str, name: &str, code: Code, message: impl Into<Value>) -> Map {
    Map::new()
        .with("error", Value::keyword(&format!("{of}/{name}")))
        .with("code", code.name())
        .with("message", message)
}

fn engine() -> Vec<Map> {
    let refusals = Refusal::samples().into_iter();
    let line = |it: Refusal| entry("engine", it.name(), it.code(), it.to_string()).with("hint", it.hint());
    refusals.map(line).collect()
}

fn psi_tool() -> Vec<Map> {
    let line = |(name, code, error): (&str, Code, Value)| {
        let part = |key: &str| error.as_map().and_then(|map| map.keyword(key)).cloned();
        entry("psi-tool", name, code, part("message")).with("phase", part("phase")).with("data", part("data"))
    };
    psi::errors().into_iter().map(line).collect()
}

/// The entries of tools whose errors have no phase: name, class, message and hint.
fn tools(of: &str, errors: Vec<(&'static str, Code, Value)>) -> impl Iterator<Item = Map> {
    errors.into_iter().map(move |(name, code, error)| {
        let part = |key: &str| error.as_map().and_then(|map| map.keyword(key)).cloned();
        entry(of, name, code, part("message")).with("hint", part("hint"))
    })
}

fn graph() -> Vec<Map> {
    let pruned = eql::QueryRefusal::Pruned { asked: Moment::EPOCH, first: Moment::EPOCH };
    let too_fast =
        eql::QueryRefusal::TooFast { limit: limits::QUERY_MS_PER_MINUTE, wait: Span::from_millis(1_000) };
    let limit = |limit, max| (limit, Code::Limit, eql::QueryRefusal::Limit { limit, max });
    let late = |limit: limits::Limit| (limit.name, Code::Limit, eql::QueryRefusal::PastLate { limit });
    let busy = |limit: limits::Limit| (limit.name, Code::Limit, eql::QueryRefusal::PastBusy { limit });
    let mut refusals = vec![
        limit("depth", QUERY_LIMITS.depth),
        limit("attributes", QUERY_LIMITS.attributes),
        limit("rows", QUERY_LIMITS.rows),
        limit("calls", QUERY_LIMITS.calls),
        limit("bytes", QUERY_LIMITS.bytes),
        late(limits::AS_OF_MS),
        busy(limits::AS_OF_WAITING),
        busy(limits::SESSION_AS_OF_WAITING),
        busy(limits::TOKEN_AS_OF_WAITING),
        ("too-fast", Code::Limit, too_fast),
        ("stopped", Code::Limit, eql::QueryRefusal::Stopped),
        ("forbidden", Code::Forbidden, eql::QueryRefusal::Forbidden("REASON".into())),
        ("past", Code::Validation, eql::QueryRefusal::Past("REASON".into())),
        ("history-pruned", Code::Validation, pruned),
    ];
    if let Ok(name) = Symbol::new("psi.scheduler/create") {
        refusals.push(("nested-mutation", Code::Validation, eql::QueryRefusal::NestedMutation(name)));
    }
    let line = |(name, code, it): (&str, Code, eql::QueryRefusal)| {
        entry("eql", name, code, it.to_string()).with("data", it.to_map())
    };
    refusals.into_iter().map(line).collect()
}
