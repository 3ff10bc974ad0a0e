//! Examples of correct calls, for error answers.
//!
//! Invariant: every example is a complete, valid call of its tool, and shows the faulty field.

use super::tool::Tool;
use crate::edn::{Map, Value};

/// A call of the tool that shows the field with this path.
pub(super) fn example(tool: Tool, field: &str) -> Map {
    match tool {
        Tool::Create => draft(field),
        Tool::List => Map::new().with("include_disabled", true),
        Tool::Get => Map::new().with("job_id", JOB_ID),
        Tool::Update => {
            let field = field.strip_prefix("patch").map_or("", |rest| rest.trim_start_matches('.'));
            based().with("patch", part(field).unwrap_or_else(|| Map::new().with("name", NAME)))
        }
        Tool::Delete | Tool::Pause | Tool::Resume => based(),
    }
}

fn based() -> Map {
    Map::new().with("job_id", JOB_ID).with("base_revision", 1)
}

fn draft(field: &str) -> Map {
    let map = Map::new().with("name", NAME).with("schedule", schedule(field)).with("prompt", PROMPT);
    match part(field).filter(|_| field != "enabled") {
        // A new job is always enabled, and `cron_create` has no such argument.
        Some(part) => map.into_iter().chain(part).collect(),
        None => map,
    }
}

/// The part of a job that the field belongs to; `None` for an unknown field.
fn part(field: &str) -> Option<Map> {
    let (head, tail) = field.split_once('.').unwrap_or((field, ""));
    match head {
        "name" => Some(Map::new().with("name", NAME)),
        "prompt" => Some(Map::new().with("prompt", PROMPT)),
        "description" => Some(Map::new().with("description", "For the stand-up.")),
        "enabled" => Some(Map::new().with("enabled", true)),
        "schedule" => Some(Map::new().with("schedule", schedule(field))),
        "target" => Some(Map::new().with("target", target(tail))),
        "policy" => Some(Map::new().with("policy", policy())),
        _ => None,
    }
}

fn schedule(field: &str) -> Map {
    let kind = |kind: &str| Map::new().with("kind", Value::keyword(kind));
    // Each kind of schedule has fields of its own, so the faulty field decides which kind is shown.
    match field.strip_prefix("schedule.").unwrap_or_default() {
        "at" => kind("once").with("at", AT),
        "every_seconds" | "anchor" => kind("interval").with("every_seconds", 3_600).with("anchor", AT),
        "weekdays" => {
            let days = ["mon", "wed", "fri"].map(Value::keyword);
            kind("weekly").with("weekdays", days.to_vec()).with("time", TIME).with("timezone", ZONE)
        }
        _ => kind("daily").with("time", TIME).with("timezone", ZONE),
    }
}

fn target(field: &str) -> Map {
    let kind = |kind: &str| Map::new().with("kind", Value::keyword(kind));
    match field {
        "channel" | "conversation_id" | "thread_id" => {
            kind("gateway").with("channel", "telegram").with("conversation_id", "42")
        }
        _ => kind("session").with("session_id", "s-1"),
    }
}

fn policy() -> Map {
    Map::new()
        .with("overlap", Value::keyword("skip"))
        .with("missed_run", Value::keyword("run_once"))
        .with("timeout_seconds", 1_800)
}

const JOB_ID: &str = "job_019e812a5b707c3f9d4e1f2a3b4c5d6e";
const NAME: &str = "Morning news";
const PROMPT: &str = "Sum up what has changed since yesterday.";
/// Far enough ahead to be in the future for any reader.
const AT: &str = "2100-06-01T08:05:00+08:00";
const TIME: &str = "08:00";
const ZONE: &str = "local";
