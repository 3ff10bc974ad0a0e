//! Conditions of watches: the table of what holds and what is refused (T31, T32), and random texts.

#![expect(clippy::panic, reason = "a helper of tests says which row it failed on")]

use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use reveille::dialect::watch::filter_of;
use reveille::domain::{Clause, NotifyWhen, Outcome, Span};
use reveille::edn::{Caps, Map, Value, read};
use reveille::engine::{Circumstances, judge, parse_condition, parse_path};
use reveille::limits;

use crate::calendar::laws::cases;

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 16, digits_max: 100, forms_max: 100_000 };

fn table() -> Value {
    let path = format!("{}/fixtures/condition/rows.edn", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the table is there");
    read(text.as_bytes(), &CAPS).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn part<'v>(row: &'v Value, key: &str) -> Option<&'v Value> {
    row.as_map().and_then(|row| row.keyword(key))
}

fn outcome(row: &Value, value: &str) -> Option<Outcome> {
    let value = part(row, value).map(|value| Outcome::of_value(value.clone(), 0, Span::ZERO));
    let error = || part(row, "error")?.as_str().map(|error| Outcome::of_error(error, Span::ZERO));
    value.or_else(error)
}

/// T31: the operators and spellings of SEED-001, and what is ours.
#[test]
fn the_table_of_conditions_holds() {
    let table = table();
    let rows = part(&table, "rows").and_then(Value::as_items).expect("rows");
    assert!(rows.len() > 120);
    let mut faults = String::new();
    for row in rows {
        let text = part(row, "if").and_then(Value::as_str).expect("a condition");
        let condition = parse_condition(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parse_condition(condition.as_str()).as_ref(), Ok(&condition), "{text}");
        let now = outcome(row, "result").expect("a result or an error");
        let before = part(row, "previous").map(|value| Outcome::of_value(value.clone(), 0, Span::ZERO));
        let streak = part(row, "streak").and_then(Value::as_int).unwrap_or(0).try_into().expect("small");
        let judged = judge(&condition, Circumstances { now: &now, before: before.as_ref(), streak });
        let wanted = |key: &str, usual| part(row, key).and_then(Value::as_bool).unwrap_or(usual);
        if (judged.holds, judged.is_known) != (wanted("holds", false), wanted("known", true)) {
            writeln!(faults, "{row} is {judged:?}").expect("a string grows");
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// T32: what is refused says what is wrong, where, and what to write.
#[test]
fn what_is_no_condition_is_refused_with_its_place() {
    let table = table();
    let rows = part(&table, "refused").and_then(Value::as_items).expect("rows");
    assert!(rows.len() >= 12);
    let mut faults = String::new();
    for row in rows {
        let [text, code, at] = row.as_items().expect("three") else { panic!("{row}") };
        let (text, code, at) = (text.as_str().expect("text"), code.as_str(), at.as_int());
        match parse_condition(text) {
            Err(error) if Some(error.fault.code()) == code && i64::try_from(error.at).ok() == at => {
                assert!(!error.fault.hint().is_empty());
                assert!(error.to_string().ends_with(&format!("at character {}", error.at)), "{error}");
            }
            other => writeln!(faults, "{text:?} is {other:?}, not {code:?} at {at:?}").expect("it grows"),
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// A watch that was stored with bare words that a new one may not have is loaded: the daemon starts, and it goes on as it was.
#[test]
fn a_stored_watch_goes_on_with_words_that_a_new_one_may_not_have() {
    for text in ["result.code >= 500 AND exists(result.b)", "result.share > 0%"] {
        assert!(parse_condition(text).is_err(), "{text}");
        let mut config = Map::new();
        config.insert("expression".into(), text.into());
        let filter = filter_of(NotifyWhen::OnThreshold, &Value::Map(config));
        let condition = filter.and_then(|filter| filter.condition);
        assert_eq!(condition.as_ref().map(|condition| condition.as_str()), Some(text));
    }
}

#[test]
fn the_bounds_are_exact() {
    let code = |text: &str| parse_condition(text).err().map(|error| error.fault.code());
    let bytes = usize::try_from(limits::CONDITION_BYTES.value).expect("small");
    let long = format!("a == {}", "x".repeat(bytes - 5));
    assert_eq!((code(&long), code(&format!("{long}x"))), (None, Some("condition-too-long")));
    let depth = usize::try_from(limits::CONDITION_DEPTH.value).expect("small");
    let nested = |depth: usize| format!("{}a == 1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!((code(&nested(depth)), code(&nested(depth + 1))), (None, Some("condition-too-deep")));
    let denied = |depth: usize| format!("{}a == 1", "!".repeat(depth));
    assert_eq!((code(&denied(depth)), code(&denied(depth + 1))), (None, Some("condition-too-deep")));
    // Brackets beside each other are not deeper.
    assert_eq!(code(&vec!["(a == 1)"; depth + 1].join(" or ")), None);
    let most = usize::try_from(limits::CONDITION_COMPARISONS.value).expect("small");
    let many = |count: usize| vec!["a == 1"; count].join(" or ");
    assert_eq!((code(&many(most)), code(&many(most + 1))), (None, Some("condition-too-many")));
    let steps = usize::try_from(limits::PATH_STEPS.value).expect("small");
    let path = |steps: usize| format!("result{}", ".a".repeat(steps));
    assert_eq!(parse_path(&path(steps)).map(|path| path.steps.len()), Ok(steps));
    assert_eq!(parse_path(&path(steps + 1)).map_err(|error| error.fault.code()), Err("condition-long-path"));
    for text in ["(".repeat(1_000), "!".repeat(1_000), "not ".repeat(250), "[".repeat(1_000)] {
        assert!(parse_condition(&text).is_err());
    }
}

/// Pieces of conditions, so that random texts get far into the grammar.
const PIECES: &[&str] = &[
    "result",
    "previous",
    "error",
    "streak",
    "a",
    ".",
    ".0",
    "[0]",
    "['x']",
    " == ",
    "!=",
    " > ",
    "<=",
    " in ",
    " contains ",
    "[1, 2]",
    "'x",
    "\"y\"",
    "1",
    "-1.5e3",
    "true",
    "None",
    " and ",
    " or ",
    "&&",
    "||",
    "not ",
    "!",
    "(",
    ")",
    "len(",
    "delta(",
    "changed(",
    "exists(",
    " ",
    "é",
    "\u{1F600}",
    "\\",
    ",",
    "]",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![8 => prop::sample::select(PIECES).prop_map(str::to_owned), 1 => ".{0,3}"];
    prop_oneof![
        4 => prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat()),
        1 => ".{0,200}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4_096), ..ProptestConfig::default() })]

    #[test]
    fn random_texts_are_understood_or_refused(text in text()) {
        let value = "{\"a\" [1 {\"x\" \"y\"}] :b 2.5}";
        let now = Outcome::of_value(read(value.as_bytes(), &CAPS).expect("EDN"), 0, Span::ZERO);
        match parse_condition(&text) {
            Ok(condition) => {
                prop_assert_eq!(parse_condition(condition.as_str()), Ok(condition.clone()));
                let judged = judge(&condition, Circumstances { now: &now, before: Some(&now), streak: 0 });
                let negated = parse_condition(&format!("not ({condition})"));
                // One level deeper, and longer: it may be over a bound.
                if let Ok(negated) = negated {
                    let other = judge(&negated, Circumstances { now: &now, before: Some(&now), streak: 0 });
                    prop_assert_eq!(other.holds, !judged.holds);
                }
            }
            Err(error) => prop_assert!(error.at >= 1 && error.at <= text.chars().count() + 1),
        }
        if let Ok(path) = parse_path(&text) {
            prop_assert!(path.steps.len() as u64 <= limits::PATH_STEPS.value);
        }
    }
}

/// How many comparisons a condition has, and how deep it is.
fn size(clause: &Clause) -> (u64, u64) {
    match clause {
        Clause::All(clauses) | Clause::Any(clauses) => {
            let sizes: Vec<(u64, u64)> = clauses.iter().map(size).collect();
            let deepest = sizes.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
            (sizes.iter().map(|(count, _)| count).sum(), deepest + 1)
        }
        Clause::Not(clause) => {
            let (count, depth) = size(clause);
            (count, depth + 1)
        }
        Clause::Compare(_) | Clause::Changed(_) | Clause::Exists(_) => (1, 1),
    }
}

/// A condition of any size and depth, far beyond the bounds.
fn large() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["a==1", "exists(a)", "changed(a)", "len(a)>2", "a in [1]"]);
    leaf.prop_map(str::to_owned).prop_recursive(24, 256, 16, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| format!("!({inner})")),
            prop::collection::vec(inner.clone(), 1..16).prop_map(|parts| format!("({})", parts.join("&&"))),
            prop::collection::vec(inner, 1..16).prop_map(|parts| parts.join("||")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1_024), ..ProptestConfig::default() })]

    /// T32: what is accepted is within the bounds, however it is written, so that judging it has a bound too; what is beyond
    /// them is refused for that, and for nothing else.
    #[test]
    fn no_condition_costs_more_than_its_bound(text in large()) {
        match parse_condition(&text) {
            Ok(condition) => {
                let (count, depth) = size(condition.root());
                prop_assert!(count <= limits::CONDITION_COMPARISONS.value, "{} comparisons", count);
                // A list of alternatives, of which each is a list of conditions, is a level of its own beside the brackets.
                prop_assert!(depth <= 3 * limits::CONDITION_DEPTH.value + 3, "{} deep", depth);
                prop_assert!(text.len() as u64 <= limits::CONDITION_BYTES.value);
            }
            Err(error) => prop_assert!(error.fault.code().starts_with("condition-too-"), "{}", error),
        }
    }
}

/// T32: the largest condition over a large value ends soon: the work is the number of comparisons times the size of the value.
#[test]
fn the_largest_condition_costs_little() {
    let items: Vec<Value> = (0..10_000).map(Value::Int).collect();
    let now = Outcome { value: Some(Arc::new(Value::vector(items))), ..Outcome::of_error("", Span::ZERO) };
    let now = Outcome { ok: true, error: None, ..now };
    let most = usize::try_from(limits::CONDITION_COMPARISONS.value).expect("small");
    let text = vec!["result in x"; most].join(" or ");
    let condition = parse_condition(&text).expect("within the bounds");
    assert!(!judge(&condition, Circumstances { now: &now, before: None, streak: 0 }).holds);
    let text = vec!["result == previous.x"; 40].join(" or ");
    let condition = parse_condition(&text).expect("within the bounds");
    assert!(!judge(&condition, Circumstances { now: &now, before: Some(&now), streak: 0 }).holds);
}
