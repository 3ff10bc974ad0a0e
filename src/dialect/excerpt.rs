//! Shortens an answer that is too long, so that the result is still valid.
//!
//! psi cuts the text and keeps its beginning, which is useless for one long line. This module cuts values instead:
//! lists lose their last items and long strings their ends, outermost first. The answer lists the cuts and how to get
//! the rest.
//!
//! Invariant: the excerpt, including the list of cuts, does not exceed the bound, in EDN and in JSON.

use std::fmt::{self, Write as _};

use super::Answer;
use crate::edn::{Map, Value};
use crate::limits;

/// Cuts an answer to the bound on answers of tools, unless nothing of it is to be cut.
pub fn within_bound(answer: Answer) -> Answer {
    if answer.is_whole {
        return answer;
    }
    let is_psi = answer.value.as_map().is_some_and(|map| map.keyword("psi-tool/action").is_some());
    let words = if is_psi { &OF_PSI } else { &GENERAL };
    Answer { value: excerpt(answer.value, ANSWER_BYTES, words), ..answer }
}

/// The words of the notice about cuts.
#[derive(Debug)]
pub(super) struct NoticeWords {
    /// The key of the notice, and the key of a value that is no map.
    keys: [&'static str; 2],
    limit: &'static str,
    total: &'static str,
    /// The hint where a cut says how to go on.
    hint: &'static str,
    /// The hint where none does.
    no_page: &'static str,
}

/// Returns the value if it fits into `bytes`, otherwise an excerpt with a notice.
pub(super) fn excerpt(value: Value, bytes: usize, words: &NoticeWords) -> Value {
    let total = weight(&value);
    if total <= bytes {
        return value;
    }
    // The notice about cuts has to fit as well.
    let mut room = bytes.saturating_sub(NOTICE_BYTES);
    loop {
        let mut cuts = Vec::new();
        let cut = cut(&value, room, &mut Vec::new(), &mut cuts);
        let kept = cuts.len().min(CUTS_TOLD);
        let has_page =
            cuts.iter().any(|cut: &Value| cut.as_map().is_some_and(|cut| cut.keyword("next").is_some()));
        let notice = Map::new()
            .with(words.limit, count(bytes))
            .with(words.total, count(total))
            .with("cuts", cuts.drain(..kept).collect::<Vec<Value>>())
            .with("hint", if has_page { words.hint } else { words.no_page });
        let [truncated, whole] = words.keys;
        let told = match cut.as_map() {
            // Only a map has room for a key of its own; anything else is wrapped.
            Some(map) => map.clone().with(truncated, notice),
            None => Map::new().with(whole, cut).with(truncated, notice),
        };
        let told = Value::Map(told);
        // The notice can be longer than its reserve, and the markers of cuts take room. Halving the room terminates.
        if weight(&told) <= bytes || room == 0 {
            return told;
        }
        room /= 2;
    }
}

/// Cuts a value to roughly `room` bytes, and records each cut.
fn cut(value: &Value, room: usize, path: &mut Vec<Value>, cuts: &mut Vec<Value>) -> Value {
    if weight(value) <= room {
        return value.clone();
    }
    match value {
        Value::Map(map) => cut_map(map, room, path, cuts),
        Value::Vector(items) => Value::vector(cut_items(items, room, path, cuts)),
        Value::List(items) => Value::list(cut_items(items, room, path, cuts)),
        Value::Str(text) => {
            let kept = &text[..text.floor_char_boundary(room.saturating_sub(QUOTES).min(text.len()))];
            note(path, (kept.len(), text.len()), "bytes", None, cuts);
            Value::string(format!("{kept}…"))
        }
        // A beginning of these would be another value, so they stay whole.
        Value::Nil | Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_) => value.clone(),
        Value::BigDec(_) | Value::Ratio(_) | Value::Char(_) | Value::Keyword(_) => value.clone(),
        // These have no meaningful beginning to keep, so they become nil, and the cut is recorded.
        Value::Symbol(_) | Value::Set(_) | Value::Inst(_) | Value::Uuid(_) => left_out(path, cuts),
        Value::Tagged(_) | Value::Meta(_) => left_out(path, cuts),
    }
}

fn left_out(path: &[Value], cuts: &mut Vec<Value>) -> Value {
    note(path, (0, 1), "values", None, cuts);
    Value::Nil
}

/// Cuts a map. Entries within an equal share stay whole; the long ones divide the remaining room equally.
fn cut_map(map: &Map, room: usize, path: &mut Vec<Value>, cuts: &mut Vec<Value>) -> Value {
    let sizes: Vec<usize> = map.iter().map(|(key, value)| weight(key) + weight(value) + SPACES).collect();
    let share = room / map.len().max(1);
    if share < SHARE_BYTES {
        return first_entries(map, room, path, cuts);
    }
    let short: usize = sizes.iter().filter(|size| **size <= share).sum();
    let long = sizes.iter().filter(|size| **size > share).count();
    let each = room.saturating_sub(short) / long.max(1);
    let mut entries = Map::new();
    for ((key, value), size) in map.iter().zip(sizes) {
        if size <= share {
            entries.insert(key.clone(), value.clone());
            continue;
        }
        path.push(key.clone());
        let room = each.saturating_sub(weight(key) + SPACES);
        // Keys stay whole, because the list of cuts names each place by its keys.
        entries.insert(key.clone(), cut(value, room, path, cuts));
        path.pop();
    }
    Value::Map(entries)
}

/// The first entries that fit, of a map with so many that the keys alone might not.
fn first_entries(map: &Map, room: usize, path: &[Value], cuts: &mut Vec<Value>) -> Value {
    let mut left = room;
    let fits = |(key, value): &(&Value, &Value)| {
        let size = weight(key) + weight(value) + SPACES;
        let fits = size <= left;
        left = left.saturating_sub(size);
        fits
    };
    let kept: Map = map.iter().take_while(fits).map(|(key, value)| (key.clone(), value.clone())).collect();
    note(path, (kept.len(), map.len()), "entries", None, cuts);
    Value::Map(kept)
}

/// The first items that fit. If not even the first one fits, it is cut.
fn cut_items(items: &[Value], room: usize, path: &mut Vec<Value>, cuts: &mut Vec<Value>) -> Vec<Value> {
    let mut left = room;
    let mut kept = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let size = weight(item) + SPACES;
        if size > left {
            // An empty list would say nothing about its items, so a part of the first one stays.
            if at == 0 {
                path.push(Value::Int(0));
                kept.push(cut(item, left.saturating_sub(SPACES), path, cuts));
                path.pop();
            }
            break;
        }
        left -= size;
        kept.push(item.clone());
    }
    if kept.len() < items.len() {
        note(path, (kept.len(), items.len()), "items", kept.last().and_then(id), cuts);
    }
    kept
}

/// The id of an item. As the parameter `:after` it leads to the next page.
fn id(item: &Value) -> Option<&Value> {
    let map = item.as_map()?;
    IDS.iter().find_map(|id| map.keyword(id))
}

fn note(
    path: &[Value],
    (kept, of): (usize, usize),
    unit: &str,
    after: Option<&Value>,
    cuts: &mut Vec<Value>,
) {
    let note = Map::new()
        .with("path", Value::vector(path.to_vec()))
        .with("kept", count(kept))
        .with("of", count(of))
        .with("unit", Value::keyword(unit));
    cuts.push(match after {
        Some(id) => note.with("next", Map::new().with("first", count(kept)).with("after", id.clone())).into(),
        None => note.into(),
    });
}

/// An upper bound on the bytes of a value in EDN and in JSON.
pub(super) fn weight(value: &Value) -> usize {
    // JSON writes what EDN writes, but quotes keywords and spells out nil: at most one byte more for each value.
    let mut printed = Length(0);
    // It cannot fail: nothing is written.
    let _ = write!(printed, "{value}");
    printed.0 + values(value)
}

/// Counts the bytes of what is written to it.
struct Length(usize);

impl fmt::Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

fn values(value: &Value) -> usize {
    let inner: usize = match value {
        Value::List(items) | Value::Vector(items) => items.iter().map(values).sum(),
        Value::Set(set) => set.iter().map(values).sum(),
        Value::Map(map) => map.iter().map(|(key, value)| values(key) + values(value)).sum(),
        Value::Tagged(tagged) => values(&tagged.value),
        Value::Meta(meta) => values(meta.value()),
        Value::Nil | Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_) => 0,
        Value::BigDec(_) | Value::Ratio(_) | Value::Char(_) | Value::Str(_) | Value::Keyword(_) => 0,
        Value::Symbol(_) | Value::Inst(_) | Value::Uuid(_) => 0,
    };
    inner + 1
}

fn count(number: usize) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

/// Attributes whose values identify an item of a list.
const IDS: &[&str] = &[
    "psi.scheduler/schedule-id",
    "psi.agent-session/session-id",
    "reveille.decision/cursor",
    "reveille.message/id",
];

/// The notice in the answer to a query.
pub(super) const OF_QUERY: NoticeWords = NoticeWords {
    keys: ["psi-tool/truncated", "psi-tool/value"],
    limit: "limit-bytes",
    total: "total-bytes",
    hint: "ask for fewer attributes, or page with the :next of a cut as parameters: \
           [{(:psi.scheduler/schedules {:first 20 :after \"…\"}) […]}]",
    no_page: "ask for fewer attributes, or narrow the list by a parameter: \
              [{(:psi.graph/attributes {:entity :schedule}) [:reveille.attribute/ident :reveille.attribute/doc]}]; \
              a text is whole if its entity is asked for alone: \
              [{[:psi.scheduler/schedule-id \"…\"] [:psi.scheduler/message]}]",
};
/// The bound on an answer as a length.
#[expect(clippy::cast_possible_truncation, reason = "the assertion below proves that nothing is cut")]
pub(super) const ANSWER_BYTES: usize = limits::TOOL_ANSWER_BYTES.value as usize;
const _: () = assert!(ANSWER_BYTES as u64 == limits::TOOL_ANSWER_BYTES.value);
/// The notice in any other answer of psi's tool.
const OF_PSI: NoticeWords = NoticeWords { hint: ONE_OF_PSI, no_page: ONE_OF_PSI, ..OF_QUERY };
const ONE_OF_PSI: &str = "query a text of one schedule, by its id, for the whole of it";
/// The notice in any other answer.
const GENERAL: NoticeWords = NoticeWords {
    keys: ["truncated", "value"],
    limit: "limit_bytes",
    total: "total_bytes",
    hint: ONE,
    no_page: ONE,
};
const ONE: &str = "ask for one thing by its id to see its texts whole";

/// Room for each entry of a map below which whole entries are left out: a key and the beginning of a value.
const SHARE_BYTES: usize = 64;
/// Room reserved for the notice about cuts.
const NOTICE_BYTES: usize = 4_096;
/// The maximum number of cuts in the notice; with nested cuts, the first ones.
const CUTS_TOLD: usize = 16;
/// The separator between two forms, at most two bytes.
const SPACES: usize = 2;
/// The two quotes, and the ellipsis that marks a cut string.
const QUOTES: usize = 5;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dialect::REQUEST_CAPS;

    fn read(text: &str) -> Value {
        crate::edn::read(text.as_bytes(), &REQUEST_CAPS).expect("it is EDN")
    }

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(excerpt(read("{:a [1 2]}"), 15, &OF_QUERY), read("{:a [1 2]}"));
    }

    #[test]
    fn a_list_loses_its_tail_and_says_how_to_go_on() {
        let item = |at: i64| Map::new().with("psi.scheduler/schedule-id", format!("sch-{at:04}"));
        let items: Vec<Value> = (0..1_000).map(|at| item(at).into()).collect();
        let whole = Value::Map(Map::new().with("n", 1).with("psi.scheduler/schedules", items));
        let cut = excerpt(whole, 10_000, &OF_QUERY);
        assert!(weight(&cut) <= 10_000);
        let map = cut.as_map().unwrap();
        assert_eq!(map.keyword("n"), Some(&Value::Int(1)));
        let kept = map.keyword("psi.scheduler/schedules").and_then(Value::as_items).unwrap();
        assert!(kept.len() > 100, "{} of 1000 kept", kept.len());
        let truncated = map.keyword("psi-tool/truncated").and_then(Value::as_map).unwrap();
        let expected = format!(
            "[{{:path [:psi.scheduler/schedules] :kept {n} :of 1000 :unit :items \
              :next {{:first {n} :after \"sch-{last:04}\"}}}}]",
            n = kept.len(),
            last = kept.len() - 1
        );
        assert_eq!(truncated.keyword("cuts").unwrap().to_string(), expected);
    }

    #[test]
    fn a_map_of_many_keys_loses_entries() {
        let entries =
            (0..500).map(|at| (Value::keyword(&format!("attribute-{at:04}")), Value::from("x".repeat(40))));
        let cut = excerpt(Value::Map(entries.collect()), 16_384, &OF_QUERY);
        assert!(weight(&cut) <= 16_384);
        let map = cut.as_map().unwrap();
        assert!(map.len() > 100 && map.keyword("attribute-0000").is_some(), "{} kept", map.len());
        let cuts = map.keyword("psi-tool/truncated").and_then(|it| it.as_map()?.keyword("cuts")).unwrap();
        let kept = map.len() - 1;
        assert_eq!(cuts.to_string(), format!("[{{:path [] :kept {kept} :of 500 :unit :entries}}]"));
    }

    #[test]
    fn one_long_text_keeps_its_beginning() {
        let whole =
            Value::vector([Value::Map(Map::new().with("text", "é".repeat(60_000)).with("role", "user"))]);
        let cut = excerpt(whole, 16_384, &OF_QUERY).to_string();
        assert!(cut.len() <= 16_384 && cut.len() > 10_000, "{}", cut.len());
        assert!(cut.contains(":role \"user\"") && cut.contains("é…\""));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![any::<i64>().prop_map(Value::Int), "[a-zé\"]{0,40}".prop_map(Value::string)];
        leaf.prop_recursive(4, 200, 12, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..12).prop_map(Value::vector),
                prop::collection::vec(("[a-z]{1,8}", inner), 0..8).prop_map(|entries| Value::Map(
                    entries.into_iter().map(|(key, value)| (Value::keyword(&key), value)).collect()
                )),
            ]
        })
    }

    proptest! {
        /// Every excerpt fits, and can be read back.
        #[test]
        fn an_excerpt_fits(value in values(), bytes in 600_usize..2_000) {
            let cut = excerpt(value, bytes + NOTICE_BYTES, &GENERAL);
            #[cfg(feature = "embed")]
            {
                let mut printed = String::new();
                crate::dialect::json::write(&cut, &mut printed);
                prop_assert!(printed.len() <= bytes + NOTICE_BYTES);
            }
            prop_assert!(weight(&cut) <= bytes + NOTICE_BYTES);
            prop_assert_eq!(read(&cut.to_string()), cut);
        }
    }
}
