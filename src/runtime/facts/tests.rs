//! What is printed is read back equal, for one of each fact; what is not understood is refused.

use super::*;
use crate::dialect::REQUEST_CAPS;
use crate::edn::{Map, read};

/// One of each, as `schema/facts/v1.edn` has them.
const SAMPLES: &str = include_str!("../../../schema/facts/v1.edn");

fn samples() -> Vec<Map> {
    let forms = edn::read_all(SAMPLES.as_bytes(), &REQUEST_CAPS).expect("EDN");
    forms.iter().filter_map(|form| form.as_map().cloned()).collect()
}

#[test]
fn every_sample_is_read_and_printed_as_it_stands() {
    let mut kinds: Vec<_> = Vec::new();
    for sample in samples() {
        let fact = parse(&sample).unwrap_or_else(|error| unreachable!("{error}: {sample:?}"));
        assert_eq!(format!("{:?}", print(&fact)), format!("{sample:?}"));
        kinds.push(fact.kind().name());
    }
    kinds.sort_unstable();
    kinds.dedup();
    let all = crate::domain::DecisionKind::ALL.len();
    assert_eq!(kinds.len(), all, "one sample of each kind: {kinds:?}");
}

#[test]
fn what_is_not_understood_is_refused() {
    #[track_caller]
    fn check(form: &str, expected: &str) {
        let form = read(form.as_bytes(), &REQUEST_CAPS).expect("EDN");
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
                // Only what may be nil may be missing.
                assert_eq!(parse(&print(&fact)), Ok(fact), "{key} of {sample:?}");
            }
        }
    }
}
