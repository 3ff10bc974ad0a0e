//! JSON format of the question to an external guard, and of its answer.
//!
//! Invariant: an answer that is not clearly one of the three decisions is a failure, and a failure
//! counts as a refusal.

use crate::calendar;
use crate::dialect::{REQUEST_CAPS, json};
use crate::domain::{
    Actor, Creation, Descent, Failure, GuardAnswer, Lineage, Payload, Phase, Reason, Route, Schedule,
    SessionProvenance, Settings, Target,
};
use crate::edn::{Map, Value};
use crate::engine::GuardQuestion;
use crate::graph::mutation::{print_lifetime, print_policy};
use crate::graph::{psi_terms, session_config};

/// Prints the question as one JSON object. The definition is taken apart into all of its parts: a part that is added to it does
/// not compile before the guard is told of it.
pub(crate) fn print(question: &GuardQuestion) -> Vec<u8> {
    let schedule = &question.schedule;
    let Schedule {
        id,
        dialect,
        durability,
        label,
        owner,
        trigger,
        payload,
        created_at,
        creation,
        settings: _,
    } = schedule;
    // The target that applies to the payload, and not that of the settings.
    let Settings { description, key, shared, target: _, envelope, policy, lifetime } = schedule.settings();
    let plain = Creation::default();
    let Creation { by, chain, edited_by, editors, descents } = creation.as_deref().unwrap_or(&plain);
    let notice = match payload {
        Payload::Turn { text: _ } | Payload::NewSession(_) | Payload::Call(_) => None,
        Payload::Notice(notice) => Some(psi_terms::notice(notice)),
    };
    let call = payload.call().map(psi_terms::call);
    // With what it inherits: a guard that saw the schedule's own tools alone would let inherited ones pass.
    let config = question.config.as_ref();
    let tools = config.and_then(|config| config.tool_ids.as_ref());
    let tools = tools.map(|tools| tools.iter().map(|tool| Value::string(&**tool)).collect::<Vec<Value>>());
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let told = Map::new()
        .with("type", "reveille.guard.v1")
        .with("run_id", question.run.to_string())
        .with("digest", question.digest.to_string())
        .with("schedule_id", id.to_string())
        .with("revision", question.revision)
        .with("dialect", dialect.name())
        .with("durability", durability.name())
        .with("kind", payload.kind().name())
        .with("label", label.as_deref())
        .with("owner", owner.as_str())
        .with("made_by", by.as_ref().map(author))
        .with("edited_by", edited_by.as_ref().map(author))
        .with("editors", editors.iter().map(|by| author(by).into()).collect::<Vec<Value>>())
        .with("descents", descents.iter().map(|it| descent(it).into()).collect::<Vec<Value>>())
        .with("lineage", chain.as_ref().map(lineage))
        .with("text", payload.text())
        .with("memory", question.memory.as_deref())
        .with("notice", notice)
        .with("call", call)
        .with("description", description.as_deref())
        .with("envelope", envelope.name())
        .with("tools", tools)
        .with("config", config.map(session_config::whole))
        .with("target", target(schedule))
        .with("session", question.session.as_ref().map(|session| Value::string(session.as_str())))
        .with("provenance", question.provenance.as_ref().map(provenance))
        .with("trigger", calendar::print(trigger))
        .with("policy", print_policy(policy))
        .with("lifetime", print_lifetime(lifetime))
        .with("shared", *shared)
        .with("idempotency_key", key.as_deref())
        .with("created_at", created_at.to_string())
        .with("slot", question.run.slot.to_string())
        .with("cause", question.cause.name())
        .with("late_ms", whole(question.late.millis()))
        .with("folded", whole(question.folded))
        .with("attempt", i64::from(question.attempt))
        .with("patience_ms", whole(question.patience.millis()));
    line(told)
}

/// A line of JSON.
fn line(told: Map) -> Vec<u8> {
    let mut text = String::new();
    json::write(&told.into(), &mut text);
    text.push('\n');
    text.into_bytes()
}

fn target(schedule: &Schedule) -> Value {
    match schedule.target() {
        Target::Session(session) => Value::string(session.as_str()),
        Target::Route(route) => {
            let Route { channel, conversation, thread } = &**route;
            let route = Map::new()
                .with("channel", &**channel)
                .with("conversation", &**conversation)
                .with("thread", thread.as_deref());
            route.into()
        }
        target @ (Target::Owner | Target::Fresh) => Value::string(target.name()),
    }
}

fn provenance(from: &SessionProvenance) -> Map {
    Map::new()
        .with("origin", from.origin.as_str())
        .with("schedule_id", from.schedule.to_string())
        .with("label", from.label.as_deref())
}

fn author(by: &Actor) -> Map {
    let Actor { scope, via, tool, as_model } = by;
    Map::new()
        .with("session", scope.session().map(|session| Value::string(session.as_str())))
        .with("entry", via.as_ref().map(|entry| Value::string(entry.name())))
        .with("token", via.as_ref().and_then(|entry| Some(Value::string(entry.token()?.as_str()))))
        .with("tool", tool.map(|tool| Value::string(tool.name())))
        .with("model", *as_model)
}

fn descent(from: &Descent) -> Map {
    let Descent { session, origin, root } = from;
    Map::new().with("session", session.as_str()).with("origin", origin.as_str()).with("root", root.as_str())
}

fn lineage(chain: &Lineage) -> Map {
    let Lineage { run, depth, root } = chain;
    Map::new()
        .with("run_id", run.to_string())
        .with("depth", *depth)
        .with("root_schedule_id", root.to_string())
}

/// Parses an answer.
pub(super) fn parse(answer: &[u8]) -> GuardAnswer {
    let Ok(value) = json::read(answer, &REQUEST_CAPS) else {
        return failed("its answer is no JSON, or longer than it may be");
    };
    let part = |name: &str| value.as_map().and_then(|map| map.text(name));
    let why = part("why").and_then(Value::as_str).map(short);
    match part("decision").and_then(Value::as_str) {
        Some("allow") => GuardAnswer::Allow,
        Some("hold") => GuardAnswer::Hold { why },
        Some("refuse") => GuardAnswer::Refuse { why },
        Some(_) | None => failed("its answer has no decision that is allow, hold or refuse"),
    }
}

pub(super) fn failed(detail: impl AsRef<str>) -> GuardAnswer {
    GuardAnswer::Failed { detail: short(detail.as_ref()) }
}

/// Cuts a text to the length that a record has room for.
fn short(text: &str) -> Box<str> {
    Failure::new(Phase::PromptSubmit, Reason::GuardFailed, text).message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_of_three_or_a_failure() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let said = match parse(text.as_bytes()) {
                GuardAnswer::Allow => "allow".to_owned(),
                GuardAnswer::Hold { why } => format!("hold {why:?}"),
                GuardAnswer::Refuse { why } => format!("refuse {why:?}"),
                GuardAnswer::Failed { .. } => "failed".to_owned(),
            };
            assert_eq!(said, expected, "{text}");
        }
        check(r#"{"decision": "allow"}"#, "allow");
        check(r#"{"decision": "allow", "why": "fine", "score": 0.1}"#, "allow");
        check(r#"{"decision": "hold", "why": "a look"}"#, "hold Some(\"a look\")");
        check(r#"{"decision": "refuse"}"#, "refuse None");
        for text in [
            "",
            "allow",
            "\"allow\"",
            "{}",
            "[]",
            r#"{"decision": "ALLOW"}"#,
            r#"{"decision": true}"#,
            r#"{"decision": "allow"} {"decision": "allow"}"#,
            r#"{"decision": "refuse", "decision": "allow"}"#,
            r#"{"decision": "allow""#,
            r#"{"verdict": "allow"}"#,
        ] {
            check(text, "failed");
        }
    }
}
