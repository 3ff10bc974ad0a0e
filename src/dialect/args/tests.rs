//! Tests of the argument parser: paths, suggestions, and the styles of dialects.

use super::{Arg, Args, Choices, Keys, Style, TOOL_WORDS};
use crate::dialect::{Notation, REQUEST_CAPS};
use crate::edn::{Value, read};
use crate::limits;

fn value(text: &str) -> Value {
    read(text.as_bytes(), &REQUEST_CAPS).expect("EDN")
}

/// Reads `{:a {:list [{:some-name text} …]}}`. Returns the message, the path and the suggestion.
fn refused(text: &str, style: Style) -> (String, String, Option<&'static str>) {
    let item =
        |item: Arg<'_>| item.map(&["some_name"])?.required_text("some_name", limits::LABEL_BYTES).map(|_| ());
    let list = |arg: Arg<'_>| arg.items(limits::CONFIG_ITEMS, item);
    let value = value(text);
    let read = Args::of_call(&value, style, &["a"])
        .and_then(|args| args.required("a", |arg| arg.map(&["list"])?.required("list", list)));
    let error = read.expect_err(text);
    (error.message(&TOOL_WORDS), error.path().to_owned(), error.nearest())
}

#[test]
fn an_error_has_the_whole_path() {
    let tools = Style::tools(Notation::Edn);
    for (text, message, path) in [
        ("nil", "a is required", "a"),
        ("7", "the arguments must be an object, not integer", ""),
        ("{:a []}", "a must be an object, not vector", "a"),
        ("{:a {:list 1}}", "a.list must be a list", "a.list"),
        (r#"{:a {:list [{:some-name "x"} {}]}}"#, "a.list[1].some_name is required", "a.list[1].some_name"),
        (
            r#"{:a {:list [{:some-name 1}]}}"#,
            "a.list[0].some_name must be a string, not integer",
            "a.list[0].some_name",
        ),
        (
            r#"{:a {:list [{:some-name "x" "some_name" "y"}]}}"#,
            "a.list[0].some_name is given twice, in two spellings",
            "a.list[0].some_name",
        ),
    ] {
        assert_eq!(refused(text, tools), (message.to_owned(), path.to_owned(), None), "{text}");
    }
}

#[test]
fn an_unknown_field_is_named_with_the_one_that_was_meant_at_every_depth() {
    let tools = Style::tools(Notation::Edn);
    let json = Style::tools(Notation::Json);
    let psi = Style { keys: Keys::Notated, choices: Choices::Exact, ..tools };
    for (text, style, path, nearest) in [
        ("{:b 1}", tools, "b", None),
        ("{:a {:lsit []}}", tools, "a.lsit", Some("list")),
        ("{:a {:list [{} {:some-nme 1}]}}", tools, "a.list[0].some_name", None),
        (r#"{:a {:list [{:some-nme 1}]}}"#, tools, "a.list[0].some-nme", Some("some_name")),
        (r#"{"a" {"list" [{"some-name" "x"}]}}"#, json, "a.list[0].some-name", Some("some_name")),
        (r#"{:a {"list" []}}"#, psi, "a.list", Some("list")),
        ("{:a {:whatever []}}", psi, "a.whatever", None),
    ] {
        let (_, found, meant) = refused(text, style);
        assert_eq!((found.as_str(), meant), (path, nearest), "{text}");
    }
    let call = value("{:interval_secs 60}");
    let args = Args::of_call(&call, tools, &["interval_seconds"]).err().expect("it is refused");
    let answer = args.answer(&TOOL_WORDS, None).value.to_string();
    let shown = r#":field "interval_secs" :value 60 :did_you_mean "interval_seconds" :hint"#;
    assert!(answer.contains(shown), "{answer}");
}

#[test]
fn names_are_compared_in_the_style_of_the_dialect() {
    const NAMES: &[&str] = &["one-time", "run_once"];
    let tools = Style::tools(Notation::Edn);
    let styles = [
        tools,
        Style { choices: Choices::Snake, ..tools },
        Style { choices: Choices::Snake, notation: Notation::Json, ..tools },
        Style { choices: Choices::Exact, ..tools },
    ];
    for (text, found) in [
        ("\"run_once\"", [true, true, true, true]),
        (":run_once", [true, true, true, true]),
        (":run-once", [true, true, false, false]),
        ("\" run_once \"", [true, true, true, false]),
        ("\"Run_Once\"", [true, false, false, false]),
        ("7", [false, false, false, false]),
    ] {
        let value = value(text);
        let read = |style: Style| Arg::new(&value, style).one_of(NAMES, &[1, 2]) == Ok(2);
        assert_eq!(styles.map(read), found, "{text}");
    }
}

#[test]
fn instants_may_leave_out_seconds_where_the_dialect_does() {
    let tools = Style::tools(Notation::Edn);
    let read = |text: &str, short_times| {
        let value = Value::from(text);
        let read = Arg::new(&value, Style { short_times, ..tools }).instant();
        read.map(|moment| moment.to_string()).map_err(|error| error.name(&TOOL_WORDS))
    };
    let nine = Ok("2026-04-11T09:00:00Z".to_owned());
    assert_eq!(read("2026-04-11T09:00Z", true), nine);
    assert_eq!(read(" 2026-04-11T11:00:00+02:00 ", false), nine);
    assert_eq!(read("2026-04-11T09:00Z", false), Err("not_a_timestamp"));
    assert_eq!(read("2026-04-11T09:00", true), Err("no_offset"));
    assert_eq!(read("2026-04-11T09:00:00", false), Err("no_offset"));
    assert_eq!(read("tomorrow", true), Err("not_a_timestamp"));
}

#[test]
fn an_integer_may_be_written_as_a_big_one_or_with_a_point_and_a_larger_one_is_clamped() {
    // Whether it is an integer, and whether it is one from 1 on.
    for (text, integer, bounded) in [
        ("5N", Some(5), Some(5)),
        ("99999999999999999999", Some(i64::MAX), None),
        ("-99999999999999999999", Some(i64::MIN), None),
        ("60.0", Some(60), Some(60)),
        ("6e1", Some(60), Some(60)),
        ("-0.0", Some(0), None),
        ("-5.0", Some(-5), None),
        ("1e300", Some(i64::MAX), None),
        ("-1e300", Some(i64::MIN), None),
        ("60.5", None, None),
        ("1e-9", None, None),
        ("##Inf", None, None),
        ("##NaN", None, None),
        ("\"60\"", None, None),
    ] {
        let value = value(text);
        for notation in [Notation::Edn, Notation::Json] {
            let arg = Arg::new(&value, Style::tools(notation));
            assert_eq!((arg.integer().ok(), arg.int_in(1, u64::MAX).ok()), (integer, bounded), "{text}");
        }
    }
}

#[test]
fn a_text_is_as_long_as_its_limit_counts() {
    let (bytes, characters) = (limits::ID_BYTES, limits::JOB_NAME_CHARS);
    for (limit, text, fits) in [
        (bytes, "a".repeat(128), true),
        (bytes, "\u{4e2d}".repeat(42), true),
        (bytes, "\u{4e2d}".repeat(43), false),
        (characters, "a".repeat(64), true),
        (characters, "a".repeat(65), false),
        (characters, "\u{4e2d}".repeat(64), true),
        (characters, "\u{4e2d}".repeat(65), false),
        (characters, "\u{1f980}".repeat(64), true),
        (characters, "\u{1f980}".repeat(65), false),
    ] {
        let value = Value::from(text.as_str());
        let read = Arg::new(&value, Style::tools(Notation::Json)).raw_text(limit);
        assert_eq!(read.is_ok(), fits, "{} {text}", limit.name);
    }
}
