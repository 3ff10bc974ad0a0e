//! Tests of the conversions from and to edn-rs: what goes both ways, and what each crate cannot hold.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// Converts a text of ours to edn-rs and back. `expected` is edn-rs' text, or why there is none.
#[track_caller]
fn check(text: &str, expected: &str) {
    let value = read_keeping_meta(text.as_bytes(), &Caps::DEFAULT).unwrap();
    match Edn::try_from(value.clone()) {
        Ok(edn) => {
            assert_eq!(edn.to_string(), expected, "{text}");
            assert_eq!(Value::try_from(edn), Ok(value), "{text}, back");
        }
        Err(error) => assert_eq!(error.to_string(), expected, "{text}"),
    }
}

/// Reads a text with edn-rs and converts it. `expected` is our text, or why there is none.
#[track_caller]
fn check_theirs(text: &str, expected: &str) {
    let answer = Value::try_from(text.parse::<Edn>().unwrap());
    assert_eq!(answer.map_or_else(|error| error.to_string(), |value| value.to_string()), expected, "{text}");
}

#[track_caller]
fn check_refused(edn: Edn, expected: &str) {
    assert_eq!(Value::try_from(edn).unwrap_err().to_string(), expected);
}

#[test]
fn what_both_have_goes_both_ways() {
    check("[nil true false]", "[nil true false]");
    check(
        "[0 -1 9223372036854775807 -9223372036854775808]",
        "[0 -1 9223372036854775807 -9223372036854775808]",
    );
    check("[9223372036854775808 18446744073709551615 7N]", "[9223372036854775808 18446744073709551615 7]");
    check("[0.1 -2.5]", "[0.1 -2.5]");
    check("[1/3 -22/7]", "[1/3 -22/7]");
    check("[\\a \\newline \\space \\u00e4]", "[\\a \\newline \\space \\ä]");
    check("\"a \\\"b\\\" \\n\"", "\"a \\\"b\\\" \\n\"");
    check("[:a :ns/b c ns/d /]", "[:a :ns/b c ns/d /]");
    check("(1 [2 #{4 3}])", "(1 [2 #{3 4}])");
    check("{:b 1 :a {\"k\" nil} [1 2] x 1.5 y}", "{1.5 y, :a {\"k\" nil}, :b 1, [1 2] x}");
    check("#inst \"2026-04-22T13:00:00Z\"", "#inst \"2026-04-22T13:00:00.000-00:00\"");
    check("#inst \"2026-04-22T13:00:00.123456789Z\"", "#inst \"2026-04-22T13:00:00.123456789-00:00\"");
    check("#uuid \"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"", "#uuid \"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"");
    check("#task/id [7]", "#task/id [7]");
}

/// The value arrives whole; that edn-rs prints another one is its own affair.
#[test]
fn floats_that_edn_rs_prints_as_something_else_go_both_ways() {
    check("1.0", "1");
    check("[##Inf ##-Inf ##NaN]", "[inf -inf NaN]");
}

#[test]
fn what_edn_rs_cannot_hold_is_refused() {
    check("18446744073709551616", "edn-rs cannot hold an integer beyond 64 bits");
    check("-9223372036854775809", "edn-rs cannot hold an integer beyond 64 bits");
    check("[1.50M]", "edn-rs cannot hold a decimal");
    check("[^:open [1]]", "edn-rs cannot hold metadata");
    check("{1.0 x}", "the key 1.0 of a map does not survive as edn-rs' text");
    check("{##NaN x}", "the key ##NaN of a map does not survive as edn-rs' text");
    check("{\"\\u0007\" x}", "the key \"\\u0007\" of a map does not survive as edn-rs' text");
    check("{1M x}", "edn-rs cannot hold a decimal");
    let tag = Symbol::new("inst").unwrap();
    let tagged = Value::Tagged(Box::new(Tagged { tag, value: "2026".into() }));
    assert_eq!(Edn::try_from(tagged), Err(EdnRsError::NoType("a tag #inst or #uuid that is only a tag")));
}

#[test]
fn what_edn_rs_misreads_is_refused_or_as_it_holds_it() {
    check_theirs("#:ns{:a 1}", "\":ns{:a\" is not a name: a name cannot hold the character '{'");
    check_theirs("[##Inf 1]", "\"#Inf\" is not a name: a name cannot begin with '#'");
    check_theirs("^:open", "\"^:open\" is not a name: a name cannot hold the character '^'");
    check_theirs("::a", "\"::a\" is not a name: a name cannot hold '::' or end in ':'");
    check_theirs(
        ":a/b/c",
        "\":a/b/c\" is not a name: a name can hold '/' only once, between namespace and name",
    );
    check_theirs("1.5/2", "\"1.5/2\" is not a ratio");
    check_theirs("4/2", "2");
    check_theirs("1/0", "\"1/0\" is not a ratio");
    check_theirs("; only a comment\n", "edn-rs' Empty is no value");
    check_theirs("#inst \"yesterday\"", "\"\\\"yesterday\\\"\" is not an instant");
    check_theirs(
        "#inst \"2026-04-22T13:00:00.1234567891Z\"",
        "\"\\\"2026-04-22T13:00:00.1234567891Z\\\"\" is not an instant",
    );
    check_theirs("#uuid 7", "\"7\" is not a UUID");
    check_theirs("#{[1] (1)}", "two keys or items are equal: (1)");
    check_theirs("{[1] a (1) b}", "two keys or items are equal: [1]");
}

#[test]
fn what_programs_build_is_checked() {
    let set = [Edn::Int(1), Edn::UInt(1)].into_iter().collect::<BTreeSet<_>>();
    check_refused(Edn::Set(edn::Set::new(set)), "two keys or items are equal: 1");
    for key in ["", "1 2", "\"open", "\\"] {
        let map = BTreeMap::from([(key.to_owned(), Edn::Nil)]);
        check_refused(
            Edn::Map(edn::Map::new(map)),
            &format!("the key {key} of a map does not survive as edn-rs' text"),
        );
    }
    check_refused(Edn::Symbol("nil".into()), "\"nil\" is not a name: nil, true and false are not symbols");
    check_refused(
        Edn::Tagged("1".into(), Box::new(Edn::Nil)),
        "\"1\" is not a name: a name cannot begin with '1'",
    );
}

#[test]
fn depth_is_bounded_in_both_directions() {
    let (mut edn, mut value) = (Edn::Nil, Value::Nil);
    for _ in 1..Caps::DEPTH_CEILING {
        (edn, value) = (Edn::Vector(edn::Vector::new(vec![edn])), Value::vector([value]));
    }
    assert_eq!(Value::try_from(edn.clone()), Ok(value.clone()));
    assert_eq!(Edn::try_from(value.clone()), Ok(edn.clone()));
    let deeper = Edn::Vector(edn::Vector::new(vec![edn]));
    check_refused(deeper, "the value nests deeper than 512 levels");
    assert_eq!(Edn::try_from(Value::vector([value])), Err(EdnRsError::Depth));
}
