//! The entity `turn`: what an agent did in the turn that a run began. Its number is that of the run.
//!
//! Turns are in memory only: after a restart a run has none. Delivered is not completed: a run is delivered when the agent shows
//! that it has the prompt, and its turn has an outcome of its own.

use std::sync::Arc;

use super::{Read, attributes, instant, integer, maybe, own, text};
use crate::domain::{
    Digest, Moment, PermissionAnswer, Question, RunId, Scope, SessionId, ToolCall, Turn, TurnOutcome, Usage,
};
use crate::edn::{Map, Value};
use crate::engine::Key;
use crate::graph::params::{IdText, field};
use crate::graph::psi_terms;
use crate::graph::registry::{Datum, Entity, Param, ParamType, Record, Type, ViewOf};
use crate::graph::view::Scheduler;

pub(super) fn turn() -> Entity<Scheduler, Key> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<Key> = |view, key| {
        let key = view.state.run_key(&RunId::parse(text(key)?)?)?;
        look_up(view, key).map(|_| key)
    };
    let entity = Entity::<Scheduler, Key>::new("turn", "reveille.turn/run-id", find)
        .doc("What an agent did in the turn that a run began. It is kept in memory only, and only of the latest turns.")
        .whole(WHOLE);
    agent(attributes! { entity, by read;
        /// The id of the run that began the turn.
        own "reveille.turn/run-id": Type::String => |turn| Datum::shown(&turn.run);
        /// The run that began the turn.
        own "reveille.turn/run": Type::Reference("run") => |_, key, _| Ok(Datum::Entity(key.number().into()));
        /// When the prompt was sent.
        own "reveille.turn/started-at": Type::Instant => |turn| instant(turn.started_at);
        /// When the agent first showed that it has the prompt. Nil before that.
        own "reveille.turn/receipt-at": Type::Instant, nullable => |turn| maybe(turn.receipt_at, instant);
        /// When the turn ended. Nil while it goes on.
        own "reveille.turn/ended-at": Type::Instant, nullable => |turn| maybe(turn.ended_at, instant);
        /// How the turn ended. Nil while it goes on. A turn that is doubtful ended as usual, without a word or deed of the agent.
        own "reveille.turn/outcome": Type::Enum(TurnOutcome::NAMES), nullable =>
            |turn| maybe(turn.outcome, |outcome| Datum::Name(outcome.name()));
        /// Why the turn ended, in the agent's words. Nil if it did not say.
        own "reveille.turn/stop-reason": Type::String, nullable =>
            |turn| maybe(turn.stop_reason.as_deref(), Datum::shown);
        /// The last message of the agent in the turn, or the beginning of it. Empty if it said nothing.
        own "reveille.turn/text": Type::String => |turn| Datum::shown(&turn.text);
        /// The tokens that the turn used, and what the conversation has cost so far, as far as the agent says.
        own "reveille.turn/usage": Type::Record(&USAGE) => |turn| usage(&turn.usage).into();
        /// The tools that the agent called, in order.
        own "reveille.turn/tool-calls": Type::Record(&TOOL_CALL), many =>
            |turn| turn.tool_calls.iter().map(tool_call).collect::<Vec<Value>>().into();
        /// What the agent asked permission for, in order, and how it was answered.
        own "reveille.turn/permissions": Type::Record(&PERMISSION), many => |view, key, _| {
            let turn = look_up(view, key);
            let shown = |question| permission(question, view.scope);
            Ok(turn.iter().flat_map(|turn| turn.questions.iter().map(shown)).collect::<Vec<Value>>().into())
        };
    })
}

/// Declares the agent of a turn.
fn agent(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// The agent's conversation: AGENT:CONVERSATION.
        own "reveille.turn/address": Type::String => |turn| Datum::shown(&turn.address);
        /// The process of the agent. Nil if it is not known.
        own "reveille.turn/process": Type::Integer, nullable => |turn| maybe(turn.process, |id| integer(id.into()));
        /// The agent's name and version, in its own words. Nil if it did not say.
        own "reveille.turn/version": Type::String, nullable => |turn| maybe(turn.version.as_deref(), Datum::shown);
    }
}

/// The attributes of a turn that is asked for as a whole.
const WHOLE: &[&str] = &[
    "reveille.turn/run-id",
    "reveille.turn/outcome",
    "reveille.turn/text",
    "reveille.turn/stop-reason",
    "reveille.turn/started-at",
    "reveille.turn/receipt-at",
    "reveille.turn/ended-at",
];

/// The fields of [`usage`](fn@usage).
const USAGE: Record = Record {
    name: "turn-usage",
    doc: "What a turn used, as far as the agent says.",
    params: &[
        Param::shown("input-tokens", ParamType::COUNT, "The tokens that the model read.").or_nil(),
        Param::shown("output-tokens", ParamType::COUNT, "The tokens that the model wrote.").or_nil(),
        Param::shown("total-tokens", ParamType::COUNT, "The tokens in all.").or_nil(),
        field::<Box<str>>("cost", "What the conversation has cost so far, a decimal number.").or_nil(),
        field::<Box<str>>("currency", "The currency of the cost.").or_nil(),
    ],
};

fn usage(usage: &Usage) -> Value {
    let count = |tokens: Option<u64>| tokens.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
    let (cost, currency) = usage.cost.as_ref().map(|(cost, currency)| (&**cost, &**currency)).unzip();
    Map::new()
        .with("input-tokens", count(usage.input_tokens))
        .with("output-tokens", count(usage.output_tokens))
        .with("total-tokens", count(usage.total_tokens))
        .with("cost", cost)
        .with("currency", currency)
        .into()
}

/// The fields of [`tool_call`](fn@tool_call).
const TOOL_CALL: Record = Record {
    name: "turn-tool-call",
    doc: "A tool that an agent called.",
    params: &[
        field::<Box<str>>("title", "What the agent shows to people."),
        field::<Box<str>>("kind", "The kind of tool, in the agent's word."),
        field::<Box<str>>("status", "How the call stands, in the agent's word."),
    ],
};

fn tool_call(call: &ToolCall) -> Value {
    Map::new().with("title", &*call.title).with("kind", &*call.kind).with("status", &*call.status).into()
}

/// The fields of [`permission`](fn@permission).
const PERMISSION: Record = Record {
    name: "turn-permission",
    doc: "What an agent asked permission for.",
    params: &[
        field::<Box<str>>("title", "What the agent shows to people."),
        field::<Box<str>>("kind", "The kind of tool, in the agent's word."),
        field::<Box<str>>(
            "details",
            "What the tool is to do, as JSON, while the question waits. Nil if the agent says nothing of it.",
        )
        .or_nil(),
        field::<PermissionAnswer>("answer", "How it was answered. Nil while it waits for an operator.")
            .or_nil(),
        field::<Box<str>>(
            "by",
            "The operator who answered, as far as the caller may know. Nil if a rule did, or nobody.",
        )
        .or_nil(),
    ],
};

fn permission(question: &Question, viewer: &Scope) -> Value {
    let by = question.by.as_ref().and_then(|by| by.seen_by(viewer));
    Map::new()
        .with("title", &*question.title)
        .with("kind", &*question.kind)
        .with("details", question.details.as_deref())
        .with("answer", question.answer.map(|answer| Value::keyword(answer.name())))
        .with("by", by.map(|by| by.to_string()))
        .into()
}

/// Declares what agents ask operators.
pub(super) fn of_engine(entity: Entity<Scheduler, ()>) -> Entity<Scheduler, ()> {
    attributes! { entity;
        /// What agents ask permission for and nobody has answered, of the turn that began first in front. Approve or deny the
        /// run with the digest.
        own "reveille.engine/open-questions": Type::Record(&OPEN_QUESTION), many =>
            |view, (), _| Ok(open_questions(view).into());
    }
}

/// The fields of an [open question](open_questions).
const OPEN_QUESTION: Record = Record {
    name: "open-question",
    doc: "What an agent asks permission for, while it waits for an operator.",
    params: &[
        field::<RunId>("run-id", "The run that began the turn."),
        field::<IdText>("session-id", "The session in which the turn is."),
        field::<Box<str>>("address", "The agent's conversation: AGENT:CONVERSATION."),
        field::<Box<str>>("title", "What the agent shows to people."),
        field::<Box<str>>("kind", "The kind of tool, in the agent's word."),
        field::<Box<str>>("details", "What the tool is to do, as JSON. Nil if the agent says nothing of it.")
            .or_nil(),
        field::<Digest>("digest", "Stands for the question when it is answered."),
        field::<Moment>("until", "When it is refused, if nobody has answered.").or_nil(),
    ],
};

fn open_questions(view: ViewOf<'_, Scheduler>) -> Vec<Value> {
    // A question is left out if its run is not retained, or if the run or its session is hidden from the caller.
    let turns = view.transcripts.asking().into_iter().filter_map(|run| {
        let key = view.state.run_key(&run)?;
        let session = view.run(key)?.1.run().session.clone()?;
        Some((session, look_up(view, key)?))
    });
    let shown = |(session, turn): (SessionId, Arc<Turn>)| {
        let waiting = turn.questions.iter().filter(|question| question.answer.is_none());
        waiting.map(|question| open_question(&session, &turn, question)).collect::<Vec<Value>>()
    };
    turns.flat_map(shown).collect()
}

fn open_question(session: &SessionId, turn: &Turn, question: &Question) -> Value {
    Map::new()
        .with("run-id", turn.run.to_string())
        .with("session-id", session.as_str())
        .with("address", turn.address.to_string())
        .with("title", &*question.title)
        .with("kind", &*question.kind)
        .with("details", question.details.as_deref())
        .with("digest", question.digest.to_string())
        .with("until", question.until.map(psi_terms::instant))
        .into()
}

/// Returns the number of the turn that a run began, if there is one that the caller may see.
pub(super) fn of_run(view: ViewOf<'_, Scheduler>, key: Key) -> Option<u64> {
    look_up(view, key).map(|_| key.number().into())
}

/// Finds the turn of a run. It shows what is in a session, so the session has to be visible too.
fn look_up(view: ViewOf<'_, Scheduler>, key: Key) -> Option<Arc<Turn>> {
    let (_, run) = view.run(key)?;
    // Of the turn of a shared schedule, another session may see the run but not the conversation.
    view.session_key(run.run().session.as_ref()?)?;
    view.transcripts.turn(&view.state.run_id(run)?)
}

/// Reads an attribute off a copy of the turn, because it is not borrowed for the length of the query.
fn read<'a>(
    view: ViewOf<'a, Scheduler>,
    key: Key,
    attribute: impl FnOnce(&Turn) -> Datum<'static>,
) -> Read<'a> {
    Ok(look_up(view, key).map_or(Datum::Nil, |turn| attribute(&turn)))
}
