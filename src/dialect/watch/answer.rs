//! Prints the answers to calls that succeeded: the seed's fields, and a hint what to do next.
//!
//! Errors are in `error.rs`, the shape of a watch in `view.rs`.

use super::view::{Watcher, number, past};
use crate::dialect::{Answer, PageRequest, brief};
use crate::domain::{Moment, PingName, WatchStatus};
use crate::edn::{Map, Value};

/// The warning in the answer to a `watch_start` of a process without a store.
pub const IN_MEMORY: &str =
    "this server has no store: the watch is in memory, and lost when the server stops";

/// The warning in the answer to a `watch_start` whose watch cannot hear of changes, for this reason.
pub fn unheard(why: &str) -> String {
    format!("changes between checks go unnoticed: {why}")
}

/// The answer to a `watch_start`.
pub fn started(watcher: &Watcher<'_>, warnings: &[String]) -> Answer {
    let hint =
        "You are told when there is something to tell; there is no need to ask. End it with watch_stop.";
    let answer = watcher.summary().with("hint", hint);
    if warnings.is_empty() {
        return Answer::done(answer);
    }
    let warnings: Vec<Value> = warnings.iter().map(|warning| Value::from(warning.as_str())).collect();
    Answer::done(answer.with("warnings", warnings))
}

/// The answer to a `watch_stop` of this watch, as it was before.
pub fn stopped(watcher: &Watcher<'_>) -> Answer {
    let (checks, told) = watcher.counts();
    let hint = format!(
        "Stopped after {checks} check(s) and {told} notification(s). You get no further notifications from it."
    );
    // The record is from before the stop, so its status is replaced.
    Answer::done(watcher.summary().with("status", Value::keyword("stopped")).with("hint", hint))
}

/// The answer to a `watch_pause`.
pub fn paused(watcher: &Watcher<'_>) -> Answer {
    Answer::done(watcher.summary().with("hint", "It makes no checks until watch_resume."))
}

/// The answer to a `watch_resume`.
pub fn resumed(watcher: &Watcher<'_>) -> Answer {
    Answer::done(watcher.summary().with("hint", "It makes its next check at its next interval."))
}

/// The answer to a `watch_status`.
pub fn status(watcher: &Watcher<'_>) -> Answer {
    Answer::whole(watcher.details())
}

/// The answer to a `watch_list`: one page.
pub fn listed(watchers: &[Watcher<'_>], page: &PageRequest) -> Answer {
    let count =
        |wanted: WatchStatus| watchers.iter().filter(|watcher| watcher.status == wanted).count() as u64;
    let hint = match watchers {
        [] => "There are no watches. Start one with watch_start.",
        [..] => "watch_status shows one of them, watch_history its checks.",
    };
    let (id, row) =
        (|watcher: &Watcher<'_>| watcher.id().to_string(), |watcher: &Watcher<'_>| watcher.summary().into());
    let put = page.put(Map::new(), "watchers", watchers, (id, row));
    let answer = |rows: Map| {
        rows.with("total", number(watchers.len() as u64))
            .with("running", number(count(WatchStatus::Running)))
            .with("paused", number(count(WatchStatus::Paused)))
            .with("hint", hint)
    };
    put.map_or_else(|answer| answer, |rows| Answer::done(answer(rows)))
}

/// The answer to a `ping.age` that is asked at this moment; `at` is when the last ping of the name came, if one has.
pub fn ping_age(name: &PingName, at: Option<Moment>, now: Moment) -> Answer {
    let age = at.map(|at| number(now.millis_since(at) / 1_000));
    let answer = Map::new()
        .with("name", name.as_str())
        .with("age_seconds", age)
        .with("at", at.map(brief::instant))
        .with("ok", at.is_some());
    Answer::done(answer)
}

/// The answer to a `watch_history` of so many checks.
pub fn history(watcher: &Watcher<'_>, last: usize) -> Answer {
    let entries: Vec<Value> = watcher.history(last).iter().map(past).collect();
    let (checks, _) = watcher.counts();
    let showing = number(entries.len() as u64);
    let summary = watcher.summary();
    let label = summary.keyword("label").cloned();
    let answer = Map::new()
        .with("watcher_id", watcher.id().to_string())
        .with("label", label)
        .with("total_checks", number(checks))
        .with("entries", entries);
    Answer::whole(watcher.noted(answer.with("showing", showing)))
}
