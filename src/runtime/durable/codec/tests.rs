//! What is printed is parsed back equal, for one fact of each kind; what is not understood is refused.

use super::*;
use crate::dialect::REQUEST_CAPS;
use crate::edn::{self, Map};

/// One fact of each kind, as in `schema/facts/v1.edn`.
const SAMPLES: &str = include_str!("../../../../schema/facts/v1.edn");
/// The samples with all defaults spelt out. A default must not change without a new version.
const SPELT_OUT: &str = include_str!("../../../../fixtures/facts/spelt_out.edn");

fn samples() -> Vec<Map> {
    let forms = edn::read_all(SAMPLES.as_bytes(), &REQUEST_CAPS).expect("EDN");
    forms.iter().filter_map(|form| form.as_map().cloned()).collect()
}

#[test]
fn every_sample_is_read_and_printed_as_it_stands() {
    let mut kinds: Vec<_> = Vec::new();
    for sample in samples() {
        let fact = parse(&sample).unwrap_or_else(|error| unreachable!("{error}: {sample:?}"));
        assert_eq!(print(&fact).into_text(), format!("{sample:?}"));
        kinds.push(fact.kind().name());
    }
    kinds.sort_unstable();
    kinds.dedup();
    let all = crate::domain::DecisionKind::ALL.len();
    assert_eq!(kinds.len(), all, "one sample of each kind: {kinds:?}");
}

#[test]
fn what_goes_without_saying_may_be_spelt_out() {
    let forms = edn::read_all(SPELT_OUT.as_bytes(), &REQUEST_CAPS).expect("EDN");
    let (spelt_out, samples) = (forms.iter().filter_map(Value::as_map), samples());
    assert_eq!(forms.len(), samples.len());
    for (sample, spelt_out) in samples.iter().zip(spelt_out) {
        assert_eq!(parse(sample), parse(spelt_out), "{sample:?}");
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    #[track_caller]
    fn check(form: &str, expected: &str) {
        let form = edn::read(form.as_bytes(), &REQUEST_CAPS).expect("EDN");
        assert_eq!(parse(form.as_map().expect("a map")).expect_err("no fact").to_string(), expected);
    }
    check("{}", "there is no fact nil");
    check("{:fact :run/vanished}", "there is no fact :run/vanished");
    check("{:fact :run/delivered}", ":run must be a string, not nil");
    check("{:fact :run/delivered :run \"\"}", ":run must be a run's id, not \"\"");
    check("{:fact :host/lost :host -1}", ":host must be a host's number, not -1");
    check(
        "{:fact :run/queued :run \"s~1~2026-04-22T13:00:00Z\" :reason :boredom}",
        ":reason must be one of a closed list of keywords, not :boredom",
    );
    for sample in samples() {
        for key in sample.keys() {
            let without: Map = sample
                .iter()
                .filter(|(other, _)| *other != key)
                .map(|(a, b)| (a.clone(), b.clone()))
                .collect();
            if let Ok(fact) = parse(&without) {
                // Only optional parts may be missing.
                assert_eq!(read(print(&fact).into_text().as_bytes()), Ok(fact), "{key} of {sample:?}");
            }
        }
    }
}

#[test]
fn a_form_read_in_place_is_the_one_that_all_of_edn_reads() {
    let in_place =
        samples().into_iter().filter(|sample| is_read_in_place(&Value::Map(sample.clone()).to_string()));
    assert!(in_place.count() * 2 > samples().len(), "most of what is printed");
    for text in [
        "nil",
        ":a/b-c?",
        "true",
        "-7",
        "0",
        "9223372036854775807",
        "{}",
        "[]",
        "[[] {}]",
        "{:a-b? {:c [1 :d]}  :e nil }",
        r#""""#,
        r#""a\nb \"c\" \\ d""#,
        r#"{:a "é — 漢"}"#,
        r#"{:a"b":c[1 2]}"#,
    ] {
        assert!(is_read_in_place(text), "{text}");
    }
}

#[test]
fn a_doubtful_form_is_left_to_the_reader_of_all_edn() {
    // The full reader accepts some of them.
    for text in [
        "",
        " nil",
        "nil ",
        "nil nil",
        "nill",
        "{:a 1 :a 2}",
        "{:a}",
        "{:a 1",
        "{1 2}",
        "[1 2",
        "1N",
        "1.0",
        "+1",
        "007",
        "-0",
        "9223372036854775808",
        ":a//b",
        ":a/",
        ":/b",
        ":a/b/c",
        ":",
        ":?",
        ":A",
        "#{}",
        "(1)",
        "\\a",
        "#inst \"2026-01-01T00:00:00Z\"",
        "a",
        "^:a {}",
        "[1,2]",
        "[1\n2]",
        r#""\u0041""#,
        r#""a"#,
        r#""\"#,
        r#"["a"b]"#,
        "{:a 1};",
        "[1];",
        "]",
        "\u{feff}nil",
        "[nil]]",
    ] {
        assert!(!is_read_in_place(text), "{text}");
    }
    assert!(!is_read_in_place(&("[".repeat(40) + &"]".repeat(40))), "too deep to be read in place");
}

/// Whether a form is read in place. Asserts that the full reader agrees about it.
fn is_read_in_place(text: &str) -> bool {
    let Some(form) = Form::read(text.as_bytes()) else { return false };
    let value =
        edn::read(text.as_bytes(), &REQUEST_CAPS).unwrap_or_else(|error| unreachable!("{error}: {text}"));
    assert_eq!(form, Form::of(&value), "{text}");
    assert_eq!(form.to_value(), value, "{text}");
    true
}
