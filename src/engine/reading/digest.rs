//! The digest of what is compared of an outcome.
//!
//! Invariant: two outcomes have one digest if they differ in nothing but the order of keys, the spelling of numbers, blanks at
//! the ends of lines, line breaks of another system, and the paths that are left out.

use sha2::{Digest as _, Sha256};

use crate::domain::{Digest, Filter, Outcome, PathRoot, Step, ValuePath};
use crate::edn::Value;
use crate::engine::condition::find;
use crate::engine::plain::{Plain, key_text};

/// The digest of an outcome, for this filter.
pub(super) fn digest(outcome: &Outcome, filter: &Filter) -> Digest {
    let mut hash = Sha256::new();
    if !outcome.ok {
        // The prefix tells an error from a result with that text.
        hash.update(b"error");
        add_text(outcome.error.as_deref().unwrap_or_default(), &mut hash);
        return Digest(hash.finalize().into());
    }
    let value = outcome.value.as_deref().unwrap_or(&Value::Nil);
    let ignored: Vec<&[Step]> = filter.ignore.iter().filter_map(inside).collect();
    if filter.only.is_empty() {
        add(value, &ignored, &mut hash);
    }
    for path in filter.only.iter().filter_map(inside) {
        match find(value, path) {
            // What is ignored is named from the whole result.
            Some(value) => {
                let below: Vec<&[Step]> =
                    ignored.iter().filter_map(|ignored| ignored.strip_prefix(path)).collect();
                hash.update(b"=");
                add(value, &below, &mut hash);
            }
            // A missing value is not null, which adds an `n`.
            None => hash.update(b"?"),
        }
    }
    Digest(hash.finalize().into())
}

/// The steps of a path into the result.
pub(super) fn inside(path: &ValuePath) -> Option<&[Step]> {
    (path.root == PathRoot::Result).then_some(&*path.steps)
}

/// Adds a value without what is at these paths below it. Each kind begins with a letter of its own, and each text with its
/// length, so that no two values add the same bytes.
fn add(value: &Value, ignored: &[&[Step]], hash: &mut Sha256) {
    if ignored.iter().any(|path| path.is_empty()) {
        return;
    }
    match Plain::of(value) {
        Plain::Nil => hash.update(b"n"),
        Plain::Bool(flag) => hash.update(if flag { b"t" } else { b"f" }),
        Plain::Number(number) => {
            hash.update(b"#");
            add_text(&number.canonical(), hash);
        }
        Plain::Text(text) => add_text(&folded(&text), hash),
        Plain::List(items) => {
            hash.update(b"[");
            hash.update((items.len() as u64).to_le_bytes());
            for (place, item) in items.iter().enumerate() {
                let is_this =
                    |step: &Step| step.place.is_some_and(|known| usize::try_from(known) == Ok(place));
                add(item, &below(ignored, is_this), hash);
            }
        }
        Plain::Map(map) => {
            hash.update(b"{");
            let mut entries: Vec<_> = map.iter().map(|(key, value)| (key_text(key), value)).collect();
            // Sorted, because tools write the keys of a map in any order.
            entries.sort_by(|(left, _), (right, _)| left.cmp(right));
            for (key, value) in entries {
                let below = below(ignored, |step| *step.key == *key);
                // An ignored key adds nothing, not even its name, so that it may also be absent.
                if below.iter().all(|path| !path.is_empty()) {
                    add_text(&key, hash);
                    add(value, &below, hash);
                }
            }
            hash.update(b"}");
        }
    }
}

/// What is left of the paths whose first step is this one.
pub(super) fn below<'p>(paths: &[&'p [Step]], is_this: impl Fn(&Step) -> bool) -> Vec<&'p [Step]> {
    let rest = |path: &&'p [Step]| path.split_first().filter(|(step, _)| is_this(step)).map(|(_, rest)| rest);
    paths.iter().filter_map(rest).collect()
}

fn add_text(text: &str, hash: &mut Sha256) {
    hash.update(b"\"");
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
}

/// A text without blanks at the ends of its lines and without empty lines at its end.
pub(super) fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.lines() {
        folded.push_str(line.trim_end());
        folded.push('\n');
    }
    folded.truncate(folded.trim_end_matches('\n').len());
    folded
}
