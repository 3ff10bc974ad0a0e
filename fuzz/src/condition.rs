//! Fuzzes conditions of watches. A parsed condition prints and parses back; it holds exactly when its denial does not; the
//! bounds on its size hold.

use reveille::domain::{Clause, Condition, Outcome, Span};
use reveille::edn::{Caps, Value, read};
use reveille::engine::{Circumstances, judge, parse_condition, parse_path};
use reveille::limits;

const CAPS: Caps = Caps { bytes_max: 1_000, depth_max: 8, digits_max: 100, forms_max: 100 };

/// What conditions are judged by: an answer with values of all kinds, and the one before it.
const NOW: &str =
    r#"{"a" [1 2.5 {"b" nil}] :b "a != b" "status_code" 503 "n" 12345678901234567890N "t" #{true}}"#;
const BEFORE: &str = r#"{"a" [] "status_code" 200 "n" 1}"#;

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(path) = parse_path(text) {
        assert!(path.steps.len() as u64 <= limits::PATH_STEPS.value);
    }
    match parse_condition(text) {
        Ok(condition) => understood(&condition),
        Err(error) => {
            assert!((1..=text.chars().count() + 1).contains(&error.at), "{error}");
            assert!(!error.fault.code().is_empty() && !error.fault.hint().is_empty());
        }
    }
}

fn understood(condition: &Condition) {
    assert_eq!(parse_condition(condition.as_str()).as_ref(), Ok(condition), "printed");
    assert!(comparisons(condition.root()) <= limits::CONDITION_COMPARISONS.value);
    let value = |text: &str| -> Value { read(text.as_bytes(), &CAPS).expect("EDN") };
    let now = Outcome::of_value(value(NOW), 0, Span::ZERO);
    let before = Outcome::of_value(value(BEFORE), 0, Span::ZERO);
    let failed = Outcome::of_error("a != b", Span::ZERO);
    let denial = parse_condition(&format!("not ({condition})"));
    for (now, before) in [(&now, Some(&before)), (&before, None), (&failed, Some(&now))] {
        let circumstances = Circumstances { now, before, streak: 2 };
        let judged = judge(condition, circumstances);
        assert_eq!(judge(condition, circumstances), judged, "twice");
        // A denial is longer and deeper, so it may be over a bound.
        if let Ok(denial) = &denial {
            assert_ne!(judge(denial, circumstances).holds, judged.holds, "{condition}");
        }
    }
}

fn comparisons(clause: &Clause) -> u64 {
    match clause {
        Clause::All(clauses) | Clause::Any(clauses) => clauses.iter().map(comparisons).sum(),
        Clause::Not(clause) => comparisons(clause),
        Clause::Compare(_) | Clause::Changed(_) | Clause::Exists(_) => 1,
    }
}
