//! Makes an outcome out for a watch: what it is compared by, how it differs, whether the condition holds.
//!
//! This walks the outcome, which can be large, so it happens before the engine's lock is taken; a transition gets the
//! [`Reading`] and decides by that alone (`watching.rs`).

mod difference;
mod digest;

use std::sync::Arc;

use super::condition::{Circumstances, judge};
use super::json_text::{beginning, json_line};
use super::plain::{self, Plain};
use crate::domain::{Filter, Glimpse, Outcome, Reading, Span, Watch};
use crate::edn::Value;
use crate::limits;

/// What an outcome is evaluated against. It goes out with the call of a check, whose checks never overlap, so that it still holds
/// when the call returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// The filter of the watch.
    pub(crate) filter: Arc<Filter>,
    /// What the check before came to.
    pub(crate) last: Option<Arc<Outcome>>,
    /// What the model was shown last.
    pub(crate) shown: Option<Arc<Outcome>>,
    /// How many checks in a row have failed.
    pub(crate) errors: u32,
}

impl Look {
    /// What the next outcome of a watch is evaluated against.
    pub fn of(watch: &Watch, filter: Arc<Filter>) -> Look {
        let shown = watch.shown.clone().or_else(|| watch.last.clone());
        Look { filter, last: watch.last.clone(), shown, errors: watch.tally.errors.checks }
    }
}

/// Makes an outcome out.
pub fn read_outcome(look: &Look, outcome: Arc<Outcome>) -> Reading {
    let filter = &look.filter;
    let again_after = asks_to_wait(&outcome);
    // A tool that gets its last answer may say that nothing has changed. Its last answer is the result then.
    let unchanged = look.last.clone().filter(|last| last.ok && says_unchanged(&outcome));
    let outcome = unchanged.unwrap_or(outcome);
    let streak = if outcome.ok { 0 } else { look.errors.saturating_add(1) };
    let circumstances = Circumstances { now: &outcome, before: look.last.as_deref(), streak };
    let judged = filter.condition.as_deref().map(|condition| judge(condition, circumstances));
    // The outcome that was shown, if the tool said that nothing has changed: there is nothing to compare.
    let is_same = look.shown.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, &outcome));
    let shown = look.shown.as_deref().filter(|_| !is_same);
    Reading {
        digest: digest::digest(&outcome, filter),
        holds: judged.is_some_and(|judged| judged.holds),
        is_known: judged.is_none_or(|judged| judged.is_known),
        glimpse: Arc::new(glimpse(&outcome)),
        change: shown.and_then(|shown| difference::difference(shown, &outcome, filter)),
        outcome,
        again_after,
    }
}

/// How long an endpoint asks to wait that is busy, as `http.get` shows it: in seconds. A date is not understood.
fn asks_to_wait(outcome: &Outcome) -> Option<Span> {
    let Plain::Map(map) = Plain::of(outcome.value.as_deref()?) else { return None };
    let status = plain::get(map, "status_code").and_then(Value::as_int)?;
    let Plain::Map(headers) = Plain::of(plain::get(map, "headers")?) else { return None };
    let seconds: u64 = plain::get(headers, "retry-after").and_then(Value::as_str)?.trim().parse().ok()?;
    let most = limits::WATCH_SECONDS_MAX.value;
    BUSY.contains(&status).then(|| Span::from_millis(seconds.min(most) * 1_000))
}

fn says_unchanged(outcome: &Outcome) -> bool {
    let value = outcome.value.as_deref().filter(|_| outcome.ok).map(Plain::of);
    let Some(Plain::Map(map)) = value else { return false };
    plain::get(map, NOT_MODIFIED).is_some_and(|flag| flag.as_bool() == Some(true))
}

/// What a history keeps of an outcome.
fn glimpse(outcome: &Outcome) -> Glimpse {
    if !outcome.ok {
        let error = outcome.error.as_deref().unwrap_or_default();
        return Glimpse::Error(
            beginning(error, limits::HISTORY_CHARS.value).map_or(error, |(cut, _)| cut).into(),
        );
    }
    let value = outcome.value.clone().unwrap_or_else(|| Arc::new(Value::Nil));
    let line = json_line(&value);
    match beginning(&line, limits::HISTORY_CHARS.value) {
        Some((beginning, _)) => Glimpse::Preview(beginning.into()),
        None => Glimpse::Result(value),
    }
}

/// Too many requests, and unavailable.
const BUSY: [i64; 2] = [429, 503];
/// The key under which a tool says that its answer is the one before.
const NOT_MODIFIED: &str = "not_modified";
