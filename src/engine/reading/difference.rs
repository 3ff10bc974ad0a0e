//! How a result differs from an earlier one, on one line: `status_code: 200 -> 503; body: 2 lines`.

use super::digest::{below, folded, inside};
use crate::domain::{Filter, Outcome, Step};
use crate::edn::{Map, Value};
use crate::engine::json_text::{beginning, json_line};
use crate::engine::plain::{self, Items, Plain, key_text};
use crate::limits;

/// How one result differs from an earlier one; `None` if in nothing that is compared, or if one of the calls failed.
pub(super) fn difference(earlier: &Outcome, now: &Outcome, filter: &Filter) -> Option<Box<str>> {
    if !(earlier.ok && now.ok) {
        return None;
    }
    // The comparison walks both results, so their size bounds its cost.
    if earlier.bytes.max(now.bytes) > limits::DIFFERENCE_BYTES.value {
        return Some("too large to compare".into());
    }
    let only: Vec<&[Step]> = filter.only.iter().filter_map(inside).collect();
    let ignored: Vec<&[Step]> = filter.ignore.iter().filter_map(inside).collect();
    let mut differences = Differences { only, found: Vec::new(), more: 0 };
    let [earlier, now] = [earlier, now].map(|outcome| outcome.value.as_deref().unwrap_or(&Value::Nil));
    differences.compare(&mut Vec::new(), Some(earlier), Some(now), &ignored);
    let Differences { found, more, .. } = differences;
    if found.is_empty() {
        return None;
    }
    let more = if more == 0 { String::new() } else { format!("; {more} more") };
    Some(format!("{}{more}", found.join("; ")).into())
}

struct Differences<'f> {
    only: Vec<&'f [Step]>,
    found: Vec<String>,
    more: usize,
}

impl Differences<'_> {
    fn compare(
        &mut self,
        path: &mut Vec<Step>,
        earlier: Option<&Value>,
        now: Option<&Value>,
        ignored: &[&[Step]],
    ) {
        // An empty rest means that a path to be ignored ends here. All below it is left out as well.
        if ignored.iter().any(|path| path.is_empty()) || !self.is_compared(path) {
            return;
        }
        match (earlier.map(Plain::of), now.map(Plain::of)) {
            (Some(Plain::Map(earlier)), Some(Plain::Map(now))) => {
                self.compare_maps(path, earlier, now, ignored);
            }
            (Some(Plain::List(earlier)), Some(Plain::List(now))) if earlier.len() == now.len() => {
                self.compare_lists(path, earlier, now, ignored);
            }
            (Some(Plain::List(earlier)), Some(Plain::List(now))) => {
                self.add(path, &format!("{} -> {} items", earlier.len(), now.len()));
            }
            (Some(Plain::Text(earlier)), Some(Plain::Text(now))) => {
                // Folded as for the digest, so that both agree on whether a text has changed.
                let (earlier, now) = (folded(&earlier), folded(&now));
                if earlier == now {
                    return;
                }
                let is_long = earlier.contains('\n') || now.contains('\n');
                let shown = if is_long { lines(&earlier, &now) } else { step(&earlier.into(), &now.into()) };
                self.add(path, &shown);
            }
            (Some(before), Some(after)) if before.same(&after) => {}
            (before, after) => {
                let shown = match (earlier, now) {
                    (None, Some(now)) => format!("added {}", short(now)),
                    (Some(earlier), None) => format!("removed, was {}", short(earlier)),
                    (Some(earlier), Some(now)) => step(earlier, now),
                    (None, None) => return,
                };
                // The plain values were only compared.
                drop((before, after));
                self.add(path, &shown);
            }
        }
    }

    fn compare_maps(&mut self, path: &mut Vec<Step>, earlier: &Map, now: &Map, ignored: &[&[Step]]) {
        let added = now.keys().filter(|key| plain::get(earlier, &key_text(key)).is_none());
        for key in earlier.keys().chain(added) {
            let key = key_text(key);
            let below = below(ignored, |step| *step.key == *key);
            path.push(Step { key: key.as_ref().into(), place: None });
            self.compare(path, plain::get(earlier, &key), plain::get(now, &key), &below);
            path.pop();
        }
    }

    fn compare_lists(
        &mut self,
        path: &mut Vec<Step>,
        earlier: Items<'_>,
        now: Items<'_>,
        ignored: &[&[Step]],
    ) {
        for (place, (earlier, now)) in earlier.iter().zip(now.iter()).enumerate() {
            let this = Step::new(&place.to_string());
            let below = below(ignored, |step| step.place.is_some() && step.place == this.place);
            path.push(this);
            self.compare(path, Some(earlier), Some(now), &below);
            path.pop();
        }
    }

    /// Whether a path is one of those that are compared alone, or above or below one.
    fn is_compared(&self, path: &[Step]) -> bool {
        let is_same = |(one, other): (&Step, &Step)| one.key == other.key;
        // `zip` ends with the shorter path: one that leads to a path to be compared counts, and so does one below it.
        self.only.is_empty() || self.only.iter().any(|only| path.iter().zip(*only).all(is_same))
    }

    fn add(&mut self, path: &[Step], shown: &str) {
        if self.found.len() >= LISTED {
            self.more += 1;
            return;
        }
        let path = crate::domain::ValuePath { root: crate::domain::PathRoot::Result, steps: path.into() };
        self.found.push(format!("{path}: {shown}"));
    }
}

fn step(earlier: &Value, now: &Value) -> String {
    format!("{} -> {}", short(earlier), short(now))
}

fn short(value: &Value) -> String {
    let line = json_line(value);
    beginning(&line, SHOWN_CHARS).map_or_else(|| line.clone(), |(beginning, _)| format!("{beginning}..."))
}

/// How many lines differ between the lines that are the same at both ends.
fn lines(earlier: &str, now: &str) -> String {
    let (earlier, now): (Vec<&str>, Vec<&str>) = (earlier.lines().collect(), now.lines().collect());
    let same = earlier.iter().zip(&now).take_while(|(one, other)| one == other).count();
    let (earlier, now) = (&earlier[same..], &now[same..]);
    let same = earlier.iter().rev().zip(now.iter().rev()).take_while(|(one, other)| one == other).count();
    match earlier.len().max(now.len()) - same {
        1 => "1 line".to_owned(),
        several => format!("{several} lines"),
    }
}

/// Differences that are listed; the others are counted.
const LISTED: usize = 20;
/// Characters of one value in a difference.
const SHOWN_CHARS: u64 = 80;
