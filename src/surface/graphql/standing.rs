//! The mutations of GraphQL that change where a schedule, a session's schedules or everything stands, and what is allowed.

use super::roots::{Kind, Mutation, Param, Payload};
use super::scheduler::{SESSION_ID, of_schedule, optional, required};
use crate::graph::attr::mutation;

/// What changes where a schedule, or everything, stands.
pub(super) fn all() -> Vec<Mutation> {
    let mut all = of_schedules();
    all.extend(decided());
    all
}

fn of_schedules() -> Vec<Mutation> {
    vec![
        of_one(
            "runScheduleNow",
            "Begins a run at once; its slots stay as they are.",
            mutation::RUN_NOW,
            vec![],
        ),
        of_one(
            "pauseSchedule",
            "Gives no slot of a schedule a run until it is resumed.",
            mutation::PAUSE,
            vec![why()],
        ),
        of_one("resumeSchedule", "Lets a paused schedule go on.", mutation::RESUME, vec![]),
        of_one("skipNextSlot", "Lets the next slot pass without a run.", mutation::SKIP_NEXT, vec![]),
        of_session_all(
            "cancelAllSchedules",
            "Cancels all schedules of a session that are not with a host.",
            mutation::CANCEL_ALL,
            vec![],
        ),
        of_session_all(
            "pauseAllSchedules",
            "Pauses all schedules of a session.",
            mutation::PAUSE_ALL,
            vec![why()],
        ),
        of_session_all(
            "resumeAllSchedules",
            "Lets all paused schedules of a session go on.",
            mutation::RESUME_ALL,
            vec![],
        ),
        of_all(
            "holdAll",
            "Claims nothing and hands nothing over until all is released.",
            mutation::HOLD_ALL,
            vec![why()],
        ),
        of_all("releaseAll", "Lets everything go on.", mutation::RELEASE_ALL, vec![]),
    ]
}

/// What operators decide about what others may do.
fn decided() -> Vec<Mutation> {
    vec![
        of_run(
            "approveRun",
            "Approves a run that is held, as it was shown.",
            mutation::APPROVE,
            required("digest", "digest", "What was shown: approvalDigest of the run.", Kind::String),
        ),
        of_run("denyRun", "Denies a run that is held, which fails.", mutation::DENY, why()),
        Mutation {
            name: "setSessionGrant",
            doc: "Changes what a session may do, its schedules' runs included.",
            symbol: mutation::SET_GRANT,
            params: vec![
                required("sessionId", "session-id", "The session.", Kind::Id),
                optional(
                    "right",
                    "right",
                    "change, read, or none, which ends its token; as it is if left out.",
                    Kind::String,
                ),
                optional(
                    "dialects",
                    "dialects",
                    "By tools of which dialects; null for all; as it is if left out.",
                    Kind::ListOf(Box::new(Kind::String)),
                ),
                optional(
                    "depth",
                    "depth",
                    "How deep in a line of turns that schedules began it may schedule more; as it is if left out.",
                    Kind::Int,
                ),
            ],
            has_input: false,
            payload: vec![("sessionId", Payload::Attribute(SESSION_ID))],
        },
    ]
}

fn why() -> Param {
    optional("reason", "reason", "Why, in the caller's words.", Kind::String)
}

pub(super) fn base() -> Param {
    optional("baseRevision", "base-revision", "The revision seen; a later one is a conflict.", Kind::Int)
}

fn of_one(name: &'static str, doc: &'static str, symbol: &'static str, more: Vec<Param>) -> Mutation {
    let mut params = vec![of_schedule(), base()];
    params.extend(more);
    let payload = vec![("schedule", Payload::Entity("schedule"))];
    Mutation { name, doc, symbol, params, has_input: false, payload }
}

fn of_run(name: &'static str, doc: &'static str, symbol: &'static str, more: Param) -> Mutation {
    let params = vec![required("runId", "run-id", "The run.", Kind::Id), more];
    let payload = vec![("run", Payload::Entity("run"))];
    Mutation { name, doc, symbol, params, has_input: false, payload }
}

fn of_session_all(name: &'static str, doc: &'static str, symbol: &'static str, more: Vec<Param>) -> Mutation {
    let mut params = vec![required("sessionId", "session-id", "The session.", Kind::Id)];
    params.extend(more);
    let payload = vec![
        ("session", Payload::Entity("session")),
        ("changed", Payload::Attribute("psi.agent-session/changed-count")),
        ("left", Payload::Attribute("psi.agent-session/left-count")),
    ];
    Mutation { name, doc, symbol, params, has_input: false, payload }
}

fn of_all(name: &'static str, doc: &'static str, symbol: &'static str, params: Vec<Param>) -> Mutation {
    let payload = vec![("held", Payload::Attribute("reveille.engine/held"))];
    Mutation { name, doc, symbol, params, has_input: false, payload }
}
