//! In which parts what is asked now differs from what was approved before.
//!
//! Both are compared as operators are shown them, so what differs and is shown is found. What lives elsewhere: those parts
//! (`approval.rs`).

use crate::edn::{Map, Value};
use crate::graph::params::field;
use crate::graph::registry::Record;

/// The fields of each of the [`differences`].
pub(super) const DIFFERENCE: Record = Record {
    name: "approval-difference",
    doc: "A part in which what is asked now differs from what was approved last.",
    params: &[
        field::<Box<str>>(
            "part",
            "The part, named as in the approval. Of a part of a part, both names with a dot between them.",
        ),
        field::<Box<str>>("before", "What was approved. Nil if there was nothing.").or_nil(),
        field::<Box<str>>("now", "What is asked now. Nil if there is nothing.").or_nil(),
    ],
};

/// Returns the parts that differ, in the order of what is asked now.
pub(crate) fn differences(before: &Map, now: &Map) -> Vec<Value> {
    let mut found = Vec::new();
    compare("", before, now, &mut found);
    found
}

fn compare(within: &str, before: &Map, now: &Map, found: &mut Vec<Value>) {
    for key in now.keys().chain(before.keys().filter(|key| !now.contains_key(key))) {
        let part = |of: &Map| of.get(key).cloned().unwrap_or(Value::Nil);
        let (was, is) = (part(before), part(now));
        let Some(name) = key.as_keyword().map(crate::edn::Keyword::name) else { continue };
        if was == is || name == SUMMARY {
            continue;
        }
        let name = if within.is_empty() { name.to_owned() } else { format!("{within}.{name}") };
        match (record(&was), record(&is)) {
            (Some(was), Some(is)) => compare(&name, was, is, found),
            (None, _) | (_, None) => {
                let difference = Map::new().with("part", name);
                found.push(difference.with("before", text(&was)).with("now", text(&is)).into());
            }
        }
    }
}

/// A summary of the configuration, which is compared whole.
const SUMMARY: &str = "session-config";

/// A value with parts of ours. The keys of a call's arguments are its author's words, so these are compared as a whole.
fn record(value: &Value) -> Option<&Map> {
    value.as_map().filter(|map| map.keys().all(|key| key.as_keyword().is_some()))
}

/// A value as text: a text as it is, a word of ours without its colon, and everything else as EDN.
fn text(value: &Value) -> Option<String> {
    let word = value.as_keyword().map(|word| word.name().to_owned());
    let text = word.or_else(|| value.as_str().map(str::to_owned));
    text.or_else(|| (!value.is_nil()).then(|| value.to_string()))
}
