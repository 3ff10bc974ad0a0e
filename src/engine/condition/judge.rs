//! Says whether a condition holds.
//!
//! Invariant: a missing value is null; `==` and `!=` are by value; an order exists between two numbers or two texts only. The
//! cost is bounded: each of at most `limits::CONDITION_COMPARISONS` comparisons walks the values that it names once.

use super::path::find;
use crate::domain::{
    Clause, Comparator, Comparison, Condition, Measure, Operand, Outcome, PathRoot, ValuePath,
};
use crate::edn::Value;
use crate::engine::plain::{self, Number, Plain};

/// What a condition is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'o> {
    /// What the call came to.
    pub now: &'o Outcome,
    /// What the call of the check before came to, if there was one.
    pub before: Option<&'o Outcome>,
    /// How many checks in a row have failed, this one included.
    pub streak: u32,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether it holds.
    pub holds: bool,
    /// Whether every path that was followed led to a value. Where one did not, nothing has been crossed.
    pub is_known: bool,
}

/// Judges a condition.
pub fn judge(condition: &Condition, circumstances: Circumstances<'_>) -> Judgement {
    let mut judge = Judge { circumstances, is_known: true };
    let holds = judge.holds(condition.root());
    Judgement { holds, is_known: judge.is_known }
}

struct Judge<'o> {
    circumstances: Circumstances<'o>,
    is_known: bool,
}

impl<'o> Judge<'o> {
    fn holds(&mut self, clause: &Clause) -> bool {
        match clause {
            // The first clause that decides ends the walk. Paths behind it are not followed, so nothing is missing there.
            Clause::All(clauses) => clauses.iter().all(|clause| self.holds(clause)),
            Clause::Any(clauses) => clauses.iter().any(|clause| self.holds(clause)),
            Clause::Not(clause) => !self.holds(clause),
            Clause::Exists(path) => self.at(path).is_some(),
            Clause::Changed(path) => self.has_changed(path),
            Clause::Compare(comparison) => self.compare(comparison),
        }
    }

    fn compare(&mut self, comparison: &Comparison) -> bool {
        let Comparison { left, how, right } = comparison;
        let left = match left {
            Measure::Value(path) => self.known(path),
            Measure::Length(path) => self.length(path),
            Measure::Delta(path) => self.delta(path),
        };
        match right {
            Operand::Literal(value) => relate(&left, *how, &Plain::of(value)),
            Operand::Path(path) => {
                let right = self.known(path);
                relate(&left, *how, &right)
            }
        }
    }

    /// The value at a path; null, and noted, if there is none.
    fn known(&mut self, path: &ValuePath) -> Plain<'o> {
        let found = self.at(path);
        self.noted(found)
    }

    fn noted(&mut self, found: Option<Plain<'o>>) -> Plain<'o> {
        self.is_known &= found.is_some();
        found.unwrap_or(Plain::Nil)
    }

    fn length(&mut self, path: &ValuePath) -> Plain<'o> {
        let length = self.at(path).and_then(|value| value.length());
        let length = length.map(|length| Number::Whole(i64::try_from(length).unwrap_or(i64::MAX)));
        self.noted(length.map(Plain::Number))
    }

    fn delta(&mut self, path: &ValuePath) -> Plain<'o> {
        let number = |outcome: &'o Outcome| {
            let value = outcome.value.as_deref()?;
            if let Plain::Number(number) = Plain::of(find(value, &path.steps)?) { Some(number) } else { None }
        };
        let Circumstances { now, before, .. } = self.circumstances;
        let delta = || number(now)?.minus(&number(before?)?);
        self.noted(delta())
    }

    /// Whether the value at a path is another one than before; false where there is no before.
    fn has_changed(&mut self, path: &ValuePath) -> bool {
        let Circumstances { now, before, .. } = self.circumstances;
        let Some(before) = before else {
            self.is_known = false;
            return false;
        };
        let (now, before) = (reach(now, path), reach(before, path));
        match (now, before) {
            (Some(now), Some(before)) => !now.same(&before),
            (now, before) => now.is_some() != before.is_some(),
        }
    }

    fn at(&self, path: &ValuePath) -> Option<Plain<'o>> {
        let Circumstances { now, before, streak } = self.circumstances;
        match path.root {
            PathRoot::Result | PathRoot::Error => reach(now, path),
            PathRoot::Previous => reach(before?, path),
            PathRoot::Streak if path.steps.is_empty() => {
                Some(Plain::Number(Number::Whole(i64::from(streak))))
            }
            PathRoot::Streak => None,
        }
    }
}

/// The value at a path into the result or the error of an outcome.
fn reach<'o>(outcome: &'o Outcome, path: &ValuePath) -> Option<Plain<'o>> {
    match path.root {
        PathRoot::Error if path.steps.is_empty() => {
            // No error is an answer to the question, and not a missing value.
            Some(outcome.error.as_deref().map_or(Plain::Nil, |error| Plain::Text(error.into())))
        }
        PathRoot::Error => None,
        // What a call said before it failed is no result.
        PathRoot::Result | PathRoot::Previous | PathRoot::Streak => {
            if !outcome.ok {
                return None;
            }
            match outcome.value.as_deref() {
                Some(value) => find(value, &path.steps).map(Plain::of),
                // The call answered nothing: the whole result is null, and no path leads into it.
                None => path.steps.is_empty().then_some(Plain::Nil),
            }
        }
    }
}

fn relate(left: &Plain<'_>, how: Comparator, right: &Plain<'_>) -> bool {
    match how {
        Comparator::Equal => left.same(right),
        Comparator::Unequal => !left.same(right),
        Comparator::AtLeast => left.order(right).is_some_and(std::cmp::Ordering::is_ge),
        Comparator::AtMost => left.order(right).is_some_and(std::cmp::Ordering::is_le),
        Comparator::Greater => left.order(right).is_some_and(std::cmp::Ordering::is_gt),
        Comparator::Less => left.order(right).is_some_and(std::cmp::Ordering::is_lt),
        Comparator::Contains => contains(left, right),
        Comparator::In => contains(right, left),
    }
}

fn contains(whole: &Plain<'_>, part: &Plain<'_>) -> bool {
    match (whole, part) {
        (Plain::Text(whole), Plain::Text(part)) => whole.contains(&**part),
        (Plain::List(items), part) => items.iter().any(|item: &Value| Plain::of(item).same(part)),
        (Plain::Map(map), Plain::Text(key)) => plain::get(map, key).is_some(),
        (Plain::Nil | Plain::Bool(_) | Plain::Number(_) | Plain::Text(_) | Plain::Map(_), _) => false,
    }
}
