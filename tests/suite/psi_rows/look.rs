//! The steps that only look.

use reveille::dialect::psi::{self, message, session_config};
use std::collections::BTreeSet;

use reveille::dialect::Notation;
use reveille::domain::{Caller, Decision, SessionId, Status, Transcript};
use reveille::edn::{Caps, Map, Value, read};
use reveille::engine::{Ledger, RunRecord, ScheduleRecord, SessionRecord, State};
use reveille::service::Service;

use super::pattern::number;
use super::play::{Args, Outcome, Verb};
use super::scene::Scene;
use crate::simulated;

pub(crate) const VERBS: &[(&str, Verb)] = &[
    ("state-of", state_of),
    ("schedules", schedules),
    ("statuses", statuses),
    ("session", session),
    ("sessions", sessions),
    ("pending-count", pending_count),
    ("transcript", transcript),
    ("prompts", prompts),
    ("ledger", |scene, _| Ok(Ok(ledger(scene.handle.view(State::ledger))))),
    ("due-in-ns", due_in_ns),
    ("next-wake-in-ns", next_wake_in_ns),
    ("events", events),
    ("query", query),
    ("sound-graph", sound_graph),
    ("now", |scene, _| Ok(Ok(scene.handle.now().wall.to_string().into()))),
];

/// `[:query "s" "[…]" "{…}"]`: psi-tool's answer to a query, whole.
fn query(scene: &mut Scene, args: &Args) -> Outcome {
    let call = Map::new().with("action", "query").with("query", args.get(1)?.clone());
    ask(scene, &args.session(0)?, call.with("entity", args.get(2).ok().cloned()))
}

fn ask(scene: &Scene, session: &SessionId, call: Map) -> Outcome {
    let answer = Service::new(scene.handle.clone()).call_tool(
        psi::TOOL,
        &Caller::session(session.clone()),
        &call.into(),
        Notation::Edn,
    );
    let answer = answer.map_err(|denial| denial.to_string())?.ok_or("psi-tool is always there")?;
    Ok(if answer.is_error { Err(answer.value) } else { Ok(answer.value) })
}

/// `[:sound-graph "s"]`: what must hold of `:psi.graph/*`, whatever the attributes are: ids of nodes are unique, edges
/// lead from and to nodes, counts are sizes, and everything that is called queryable is answered by one query.
fn sound_graph(scene: &mut Scene, args: &Args) -> Outcome {
    let session = args.session(0)?;
    let asked = |query: String| {
        let answer = ask(scene, &session, Map::new().with("query", query))?;
        answer.map_err(|error| error.to_string())
    };
    // In EQL and not by the tool, whose answer would be cut.
    let graph = simulated::ask(&scene.handle, &Caller::session(session.clone()), GRAPH, true);
    let graph = read(graph.as_bytes(), &Caps::DEFAULT).map_err(|error| error.to_string())?;
    let part = |name: &str| {
        let value = graph.as_map().and_then(|map| map.keyword(&format!("psi.graph/{name}")));
        value.and_then(Value::as_items).map(<[Value]>::to_vec).ok_or(format!("{name} is no vector"))
    };
    let of = |item: &Value, key: &str| item.as_map().and_then(|map| map.keyword(key)).cloned();
    let ids: Vec<Value> = part("nodes")?.iter().filter_map(|node| of(node, "id")).collect();
    let unique: BTreeSet<&Value> = ids.iter().collect();
    if unique.len() != ids.len() || ids.is_empty() {
        return Err("an id stands twice among the nodes".to_owned());
    }
    let leads = |edge: &Value, end| of(edge, end).is_some_and(|id| unique.contains(&id));
    if !part("edges")?.iter().all(|edge| leads(edge, "from") && leads(edge, "to")) {
        return Err("an edge leads nowhere".to_owned());
    }
    for kind in ["resolver", "mutation"] {
        let count = graph.as_map().and_then(|map| map.keyword(&format!("psi.graph/{kind}-count")));
        if count != Some(&number(part(&format!("{kind}-syms"))?.len())) {
            return Err(format!("the count of {kind}s is not their number"));
        }
    }
    let queryable = part("root-queryable-attrs")?;
    let answered = asked(Value::vector(queryable.clone()).to_string())?;
    let answered = answered.as_map().ok_or("an answer is a map")?;
    match queryable.iter().find(|attr| !answered.contains_key(attr)) {
        Some(attr) if !answered.contains_key(&Value::keyword("psi-tool/truncated")) => {
            Err(format!("{attr} is called queryable and is not answered"))
        }
        Some(_) | None => Ok(Ok(Value::keyword("ok"))),
    }
}

const GRAPH: &str = "[:psi.graph/nodes :psi.graph/edges :psi.graph/resolver-count :psi.graph/mutation-count \
                      :psi.graph/resolver-syms :psi.graph/mutation-syms :psi.graph/root-queryable-attrs]";

/// `[:state-of id]`: the twelve keys of the summary, and what the engine knows besides.
fn state_of(scene: &mut Scene, args: &Args) -> Outcome {
    let id = args.schedule(0)?;
    Ok(Ok(scene.handle.view(|state| state.schedule(&id).map_or(Value::Nil, |record| full(state, record)))))
}

fn full(state: &State, record: &ScheduleRecord) -> Value {
    let map = summary(state, record).as_map().cloned().unwrap_or_default();
    let run = state.newest_run(record).map(RunRecord::run);
    let reason = run.and_then(|run| run.reason);
    let waits_for = state.waits_for(record).map(|reason| Value::keyword(reason.name()));
    map.with("in-flight?", record.status() == Status::InFlight)
        .with("reason", reason.map(|reason| Value::keyword(reason.name())))
        .with("waits-for", waits_for)
        .with("started-at", run.and_then(|run| run.started_at).map(|at| at.to_string()))
        .with("ended-at", run.and_then(|run| run.ended_at).map(|at| at.to_string()))
        .into()
}

fn summary(state: &State, record: &ScheduleRecord) -> Value {
    let answer = psi::created(state, record, 0).value;
    let tool = answer.as_map().and_then(|map| map.keyword("psi-tool/scheduler"));
    tool.and_then(Value::as_map).and_then(|map| map.keyword("schedule")).cloned().unwrap_or(Value::Nil)
}

/// `[:schedules "s"]`: all of them, finished ones too, in the order of psi's graph.
fn schedules(scene: &mut Scene, args: &Args) -> Outcome {
    let session = args.session(0)?;
    let all = |state: &State| {
        let records = state.schedules_of(&session).into_iter();
        records.map(|record| summary(state, record)).collect::<Vec<_>>()
    };
    Ok(Ok(scene.handle.view(all).into()))
}

/// `[:statuses "s"]`: how many schedules there are of each status.
fn statuses(scene: &mut Scene, args: &Args) -> Outcome {
    let session = args.session(0)?;
    let count = |state: &State, status: Status| {
        let found =
            state.schedules_of(&session).into_iter().filter(|record| record.status() == status).count();
        (Value::keyword(status.name()), number(found))
    };
    let counts = scene.handle.view(|state| Status::ALL.iter().map(|one| count(state, *one)).collect::<Map>());
    let some = counts.into_iter().filter(|(_, count)| *count != Value::Int(0));
    Ok(Ok(Value::Map(some.collect())))
}

/// `[:session "s"]`: nil once it is closed.
fn session(scene: &mut Scene, args: &Args) -> Outcome {
    let session = args.session(0)?;
    Ok(Ok(scene.handle.view(|state| state.session(&session).map_or(Value::Nil, attributes))))
}

fn attributes(record: &SessionRecord) -> Value {
    let provenance = record.provenance();
    Map::new()
        .with("session-id", record.id().as_str())
        .with("scheduled-origin-session-id", provenance.map(|from| from.origin.to_string()))
        .with("scheduled-from-schedule-id", provenance.map(|from| from.schedule.to_string()))
        .with("scheduled-from-label", provenance.and_then(|from| from.label.clone()).map(String::from))
        .with("host", record.host().to_string())
        .with("hosted?", record.is_hosted())
        .with("busy?", record.is_busy())
        .with("delivery-in-flight?", record.has_delivery_in_flight())
        .with("session-config", session_config::print(record.config()))
        .into()
}

fn sessions(scene: &mut Scene, _: &Args) -> Outcome {
    let ids =
        |state: &State| state.sessions().iter().map(|one| one.id().as_str().into()).collect::<Vec<Value>>();
    Ok(Ok(scene.handle.view(ids).into()))
}

/// `[:pending-count "s"]`: psi counts pending and queued; a session that is not there has none.
fn pending_count(scene: &mut Scene, args: &Args) -> Outcome {
    let session = args.session(0)?;
    let count = scene.handle.view(|state| state.session(&session).map_or(0, SessionRecord::live_count));
    Ok(Ok(number(count)))
}

/// `[:transcript "s"]`: nil where there is none.
fn transcript(scene: &mut Scene, args: &Args) -> Outcome {
    let messages = scene.handle.sessions().transcript(&args.session(0)?);
    let print = |kept: Transcript| {
        Value::from(kept.messages.iter().map(|one| message::print(one)).collect::<Vec<_>>())
    };
    Ok(Ok(messages.map_or(Value::Nil, print)))
}

/// `[:prompts "host"]`: the prompts that reached it, in order.
fn prompts(scene: &mut Scene, args: &Args) -> Outcome {
    let prompts = scene.host(args.text(0)?).prompts();
    let print = |session: &str, text: &str| Map::new().with("session-id", session).with("text", text).into();
    let prompts = prompts.iter().map(|one| print(one.session.as_str(), &one.text));
    Ok(Ok(Value::from(prompts.collect::<Vec<Value>>())))
}

fn ledger(ledger: Ledger) -> Value {
    let entries = [
        ("expected", ledger.expected),
        ("delivered", ledger.delivered),
        ("left", ledger.left),
        ("skipped", ledger.skipped),
        ("cancelled", ledger.cancelled),
        ("failed", ledger.failed),
        ("lost", ledger.lost),
        ("pending", ledger.pending),
    ];
    Value::Map(entries.into_iter().map(|(name, count)| (Value::keyword(name), nanos(count))).collect())
}

/// `[:due-in-ns id]`: what its timer is set to; nil where none is set.
fn due_in_ns(scene: &mut Scene, args: &Args) -> Outcome {
    let (id, now) = (args.schedule(0)?, scene.handle.now());
    let deadline = scene.handle.view(|state| state.deadline(&id));
    Ok(Ok(deadline.map(|deadline| nanos(deadline.since(now.boot).nanos())).into()))
}

fn next_wake_in_ns(scene: &mut Scene, _: &Args) -> Outcome {
    let now = scene.handle.now();
    let next = scene.handle.view(|state| state.next_wake(scene.handle.now()));
    Ok(Ok(next.map(|next| nanos(next.since(now.boot).nanos())).into()))
}

/// `[:events]`: what the feed shows since the last such step.
fn events(scene: &mut Scene, _: &Args) -> Outcome {
    let batch = scene.feed.poll(usize::MAX);
    Ok(Ok(Value::from(batch.decisions.iter().map(event).collect::<Vec<_>>())))
}

fn event(decision: &Decision) -> Value {
    Map::new()
        .with("kind", Value::keyword(decision.kind.name()))
        .with("at", decision.at.to_string())
        .with("reason", decision.reason.map(|reason| Value::keyword(reason.name())))
        .with("schedule-id", decision.schedule().map(ToString::to_string))
        .with("session-id", decision.session.as_ref().map(ToString::to_string))
        .with("detail", decision.detail.as_deref())
        .into()
}

fn nanos(count: u64) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}
