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
    // Parts that are asked now come first, then those that only the earlier approval had.
    for key in now.keys().chain(before.keys().filter(|key| !now.contains_key(key))) {
        let part = |of: &Map| of.get(key).cloned().unwrap_or(Value::Nil);
        let (was, is) = (part(before), part(now));
        let Some(name) = key.as_keyword().map(crate::edn::Keyword::name) else { continue };
        // Only ours is a summary: an argument of a call may have its name.
        if was == is || (within.is_empty() && name == SUMMARY) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edn::{Caps, read};

    fn check(before: &str, now: &str, expected: &str) {
        let map = |text: &str| {
            let value = read(text.as_bytes(), &Caps::default()).expect("EDN");
            value.as_map().expect("a map").clone()
        };
        assert_eq!(Value::from(differences(&map(before), &map(now))).to_string(), expected, "{before} {now}");
    }

    #[test]
    fn parts_are_compared_down_to_what_others_wrote() {
        check("{:a 1 :b nil}", "{:a 1}", "[]");
        check("{:kind :call}", "{:kind :notice}", r#"[{:part "kind" :before "call" :now "notice"}]"#);
        check(
            "{:a \"x\"}",
            "{:b 1}",
            r#"[{:part "b" :before nil :now "1"} {:part "a" :before "x" :now nil}]"#,
        );
        check("{:p {:q {:r 1 :s 2}}}", "{:p {:q {:r 1 :s 3}}}", r#"[{:part "p.q.s" :before "2" :now "3"}]"#);
        check("{:p nil}", "{:p {:q 1}}", r#"[{:part "p" :before nil :now "{:q 1}"}]"#);
        // The names in the arguments of a call are no parts of ours.
        let args = r#"[{:part "call.args" :before "{\"q\" 1}" :now "{\"q\" 2}"}]"#;
        check(r#"{:call {:args {"q" 1}}}"#, r#"{:call {:args {"q" 2}}}"#, args);
        check("{:session-config {:a 1}}", "{:session-config {:a 2}}", "[]");
        let named = r#"[{:part "call.args.session-config" :before "1" :now "2"}]"#;
        check("{:call {:args {:session-config 1}}}", "{:call {:args {:session-config 2}}}", named);
    }
}
