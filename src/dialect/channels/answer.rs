//! Prints the answers to calls that succeeded.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::view::{Provider, number};
use crate::dialect::Answer;
use crate::domain::{ChannelEvent, ChannelKind, Reason, RunId, ScheduleId, SessionId, Ways};
use crate::edn::{Map, Value};

/// The answer to a message that is on its way: its status, how many attempts were made, and why it waits or has failed.
pub fn sent(channel: &str, run: &RunId, (status, attempts, reason): (&str, u16, Option<Reason>)) -> Answer {
    let answer = Map::new()
        // It may wait or be tried again; only an end without a delivery is none.
        .with("success", status != "failed")
        .with("channel", channel)
        .with("delivery_id", run.to_string())
        .with("status", status)
        .with("attempts", i64::from(attempts));
    Answer::done(match reason {
        Some(reason) => answer.with("reason", Value::keyword(reason.name())),
        None => answer,
    })
}

/// The answer to a simulated event; without a schedule, the channel's condition left it out.
pub fn arrived(channel: &str, event: &str, schedule: Option<&ScheduleId>) -> Answer {
    let answer = Map::new().with("success", true).with("channel", channel).with("event_id", event);
    Answer::done(match schedule {
        Some(schedule) => answer.with("schedule_id", schedule.to_string()),
        None => answer.with("filtered", true),
    })
}

/// The answer to a pause or its end: how the channel is now, and whether it was so before. `takes` says whether anything comes in
/// by it.
pub fn paused(channel: &str, takes: bool, ways: Ways, is_paused: bool, was_so: bool) -> Answer {
    let message = match (is_paused, was_so) {
        (true, true) => "Already paused.",
        (true, false) => "Paused.",
        (false, true) => "Already active.",
        (false, false) => "Resumed.",
    };
    let answer = Answer::done(
        Map::new()
            .with("success", true)
            .with("provider", channel)
            .with("direction", ways.name())
            .with("status", if is_paused { "paused" } else { "active" })
            .with("message", message),
    );
    // The way in is meant if none is named, and a model that forgets the other one believes that nothing goes out.
    let is_idle = ways == Ways::Inbound && !takes;
    answer.warned("warnings", is_idle.then(|| NOTHING_COMES_IN.to_owned()))
}

const NOTHING_COMES_IN: &str =
    "nothing comes in by this channel anyway: what goes out has the direction outbound";

/// The answer to a broadcast: what became of each.
pub fn broadcast(results: Vec<(Box<str>, Result<RunId, String>)>) -> Answer {
    let count = results.iter().filter(|(_, result)| result.is_ok()).count();
    let failed = results.len() - count;
    let each = |(channel, result): (Box<str>, Result<RunId, String>)| {
        let map = Map::new().with("provider", &*channel).with("success", result.is_ok());
        Value::from(match result {
            Ok(run) => map.with("delivery_id", run.to_string()),
            Err(error) => map.with("error", error),
        })
    };
    let results: Vec<Value> = results.into_iter().map(each).collect();
    let answer =
        Map::new().with("results", results).with("sent", number(count)).with("failed", number(failed));
    Answer::done(answer.with("success", count > 0))
}

/// The answer to `list_providers`.
pub fn listed(providers: &[Provider], with_status: bool) -> Answer {
    let rows: Vec<Value> = providers.iter().map(|provider| provider.to_map(with_status).into()).collect();
    let adapters: Vec<Value> = ChannelKind::NAMES.iter().map(|name| Value::from(*name)).collect();
    let answer = Map::new().with("providers", rows).with("configured_count", number(providers.len()));
    Answer::done(answer.with("available_adapters", adapters))
}

/// The answer to `provider_status`.
pub fn status(provider: &Provider) -> Answer {
    let map = provider.to_map(true).with("capabilities", provider.capabilities());
    Answer::done(map.with("last_event_at", provider.last_event_at()))
}

/// The answer to `provider_history`: the newest events first.
pub fn history(providers: &[Provider], limit: usize, is_asked: impl Fn(&ChannelEvent) -> bool) -> Answer {
    let mut events: Vec<(&Provider, &ChannelEvent)> = providers
        .iter()
        .flat_map(|provider| provider.events.iter().map(move |event| (provider, event)))
        .filter(|(_, event)| is_asked(event))
        .collect();
    // Those of one instant stay in their order, the latest first.
    events.reverse();
    events.sort_by_key(|(_, event)| Reverse(event.at));
    let total = number(events.len());
    let events: Vec<Value> =
        events.into_iter().take(limit).map(|(provider, event)| provider.event(event)).collect();
    Answer::done(Map::new().with("events", events).with("total", total))
}

/// The answer to `stats`.
pub fn stats(providers: &[Provider]) -> Answer {
    let (mut received, mut sent, mut kept) = (0, 0, 0);
    let mut sessions = BTreeSet::<&SessionId>::new();
    for provider in providers {
        let (into, out) = provider.counts();
        (received, sent, kept) = (received + into, sent + out, kept + provider.events.len());
        sessions.extend(provider.events.iter().map(|event| &event.session));
    }
    let active = providers.iter().filter(|provider| provider.status() == "active").count();
    Answer::done(
        Map::new()
            .with("providers_count", number(providers.len()))
            .with("active_count", number(active))
            .with("total_events_received", number(received))
            .with("total_events_sent", number(sent))
            .with("active_sessions", number(sessions.len()))
            .with("history_size", number(kept)),
    )
}
