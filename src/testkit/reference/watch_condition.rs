//! The conditions that watches of worlds have, each with what it means, written by hand.
//!
//! Invariant: nothing here parses or judges by the engine's code.

use crate::domain::{Condition, Outcome};
use crate::edn::Value;

/// What a condition is judged by.
pub(in crate::testkit) struct Sight<'o> {
    pub(in crate::testkit) now: &'o Outcome,
    /// What the check before came to, if that is known.
    pub(in crate::testkit) before: Option<&'o Outcome>,
    /// How many checks in a row have failed, this one included.
    pub(in crate::testkit) streak: u32,
}

/// A condition.
pub(in crate::testkit) struct KnownCondition {
    pub(in crate::testkit) text: &'static str,
    /// Whether it holds, and whether every path in it leads to a value.
    pub(in crate::testkit) judge: fn(&Sight<'_>) -> (bool, bool),
}

/// The conditions of worlds.
pub(in crate::testkit) const CONDITIONS: &[KnownCondition] = &[
    KnownCondition {
        text: "result.count > 1",
        judge: |sight| (sight.count().is_some_and(|it| it > 1), sight.count().is_some()),
    },
    KnownCondition {
        text: "result.state == \"down\"",
        judge: |sight| (sight.state() == Some("down"), sight.state().is_some()),
    },
    KnownCondition {
        text: "result.state != 'up'",
        judge: |sight| (sight.state() != Some("up"), sight.state().is_some()),
    },
    KnownCondition {
        text: "delta(result.count) >= 1",
        judge: |sight| {
            let delta = sight.count().zip(sight.count_before()).map(|(now, before)| now - before);
            (delta.is_some_and(|it| it >= 1), delta.is_some())
        },
    },
    KnownCondition {
        text: "changed(result.state)",
        judge: |sight| {
            let before = sight.before.map(state_of);
            (before.is_some_and(|before| before != sight.state()), before.is_some())
        },
    },
    KnownCondition { text: "exists(result.state)", judge: |sight| (sight.state().is_some(), true) },
    KnownCondition {
        text: "result.count > previous.count",
        judge: |sight| {
            let both = sight.count().zip(sight.count_before());
            (both.is_some_and(|(now, before)| now > before), both.is_some())
        },
    },
    KnownCondition {
        text: "not result.count > 1 and exists(result.state)",
        judge: |sight| {
            let is_small = sight.count().is_none_or(|it| it <= 1);
            (is_small && sight.state().is_some(), sight.count().is_some())
        },
    },
    KnownCondition {
        text: "error contains 'wrong'",
        judge: |sight| (sight.now.error.as_ref().is_some_and(|error| error.contains("wrong")), true),
    },
    KnownCondition { text: "streak >= 2", judge: |sight| (sight.streak >= 2, true) },
    KnownCondition {
        text: "result.state == 'down' or streak >= 3",
        judge: |sight| (sight.state() == Some("down") || sight.streak >= 3, sight.state().is_some()),
    },
];

/// The condition of a watch of `ping.age`: there was no ping, or the last one is too old.
pub(in crate::testkit) const OVERDUE: KnownCondition = KnownCondition {
    text: "result.ok == false or result.age_seconds > 40",
    judge: |sight| {
        let (is_there, age) = (sight.value("ok"), sight.value("age_seconds"));
        let is_none = is_there.and_then(Value::as_bool) == Some(false);
        let is_old = age.and_then(Value::as_int).is_some_and(|age| age > 40);
        // The second test is made only if the first one does not hold.
        (is_none || is_old, is_there.is_some() && (is_none || age.is_some()))
    },
};

/// What the reference knows of a condition; `None` for one that no world has.
pub(in crate::testkit) fn condition_of(condition: &Condition) -> Option<&'static KnownCondition> {
    let mut all = CONDITIONS.iter().chain(std::iter::once(&OVERDUE));
    all.find(|known| known.text == condition.as_str())
}

impl Sight<'_> {
    fn value(&self, key: &str) -> Option<&Value> {
        value_of(self.now, key)
    }

    fn count(&self) -> Option<i64> {
        self.value("count").and_then(Value::as_int)
    }

    fn count_before(&self) -> Option<i64> {
        value_of(self.before?, "count").and_then(Value::as_int)
    }

    fn state(&self) -> Option<&str> {
        state_of(self.now)
    }
}

fn state_of(outcome: &Outcome) -> Option<&str> {
    value_of(outcome, "state").and_then(Value::as_str)
}

/// The value under a key of a result. A check that failed has none.
fn value_of<'o>(outcome: &'o Outcome, key: &str) -> Option<&'o Value> {
    let map = outcome.value.as_deref().filter(|_| outcome.ok)?.as_map()?;
    map.keyword(key).or_else(|| map.text(key))
}
