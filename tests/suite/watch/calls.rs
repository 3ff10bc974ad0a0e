//! The arguments of the watch tools: what is taken, and what is refused with which field, kind and hint (T28, T34, T48).

use reveille::dialect::Notation;
use reveille::dialect::watch::{Call, Tool, WatchDraft, parse};
use reveille::domain::{Filter, NotifyWhen, Span};
use reveille::edn::{Keyword, Value};

use super::{part, started, table};

/// T28, T34, T48.
#[test]
fn what_is_refused_says_why() {
    for row in table("calls").as_items().expect("rows") {
        let tool = Tool::parse(part(row, "tool").and_then(Value::as_str).unwrap_or("watch_start"));
        let args = part(row, "args").expect("arguments");
        let answer = parse(tool.expect("a tool"), args, Notation::Json).expect_err(&row.to_string());
        let error = answer.value.as_map().and_then(|map| map.keyword("error")).expect("an error");
        let text = |key: &str| {
            let value = part(error, key);
            value.and_then(|value| value.as_str().or_else(|| value.as_keyword().map(Keyword::as_str)))
        };
        assert_eq!(text("kind"), part(row, "kind").and_then(Value::as_str), "{row} {error}");
        assert_eq!(text("field"), part(row, "field").and_then(Value::as_str), "{row} {error}");
        let says = part(row, "says").and_then(Value::as_str).expect("a part of the words");
        let told = ["message", "hint"].map(|part| text(part).expect("both are said")).join("; ");
        assert!(told.contains(says), "{row} {error}");
        assert!(text("hint").is_some_and(|hint| !hint.is_empty()), "{row} {error}");
        if part(row, "unmeant").is_some() {
            assert_eq!((part(error, "did_you_mean"), part(error, "example")), (None, None), "{row} {error}");
        }
        if let Some(meant) = part(row, "meant") {
            assert_eq!(text("did_you_mean"), meant.as_str(), "{row} {error}");
        }
    }
}

fn read(args: &str) -> Value {
    reveille::edn::read(args.as_bytes(), &super::CAPS).expect("EDN")
}

#[test]
fn the_defaults_are_the_seeds() {
    let WatchDraft { tool, interval, label, max_checks, filter, warnings, params } = started(&read("{}"));
    assert_eq!(
        (tool.as_str(), interval, label, max_checks),
        ("http.get", Span::from_millis(30_000), None, 0)
    );
    let plain = Filter::plain(NotifyWhen::OnChange);
    assert_eq!(Filter { ignore: Box::default(), ..filter }, plain);
    assert!(warnings.is_empty());
    assert_eq!(params, read("{}"));
}

/// T34.
#[test]
fn one_check_by_the_default_is_told() {
    let draft = started(&read(r#"{"max_checks" 1}"#));
    assert_eq!((draft.filter.when, draft.warnings.len()), (NotifyWhen::Always, 1));
    // Asked for by name, there is nothing to warn of.
    assert!(started(&read(r#"{"max_checks" 1 "notify_when" "always"}"#)).warnings.is_empty());
    assert_eq!(started(&read(r#"{"notify_when" "always"}"#)).warnings, ["every check wakes you"]);
    assert!(started(&read(r#"{"notify_when" "always" "interval" 60}"#)).warnings.is_empty());
}

/// An expression does not choose the strategy.
#[test]
fn an_expression_that_is_not_used_is_warned_of() {
    let given = |when: &str| {
        let args = format!(r#"{{{when} "notify_config" {{"expression" "result.ok == false"}}}}"#);
        started(&read(&args)).warnings
    };
    let unused = ["notify_config.expression is not used: only notify_when = on_threshold uses it"];
    assert_eq!(given(""), unused);
    assert_eq!(given(r#""notify_when" "on_error""#), unused);
    assert!(given(r#""notify_when" "on_threshold""#).is_empty());
}

#[test]
fn arguments_of_the_tool_lose_what_only_the_scheduler_may_say() {
    let draft = started(&read(r#"{"params" {"url" "x" "_approved" true :_token 1 :deep {"_kept" 1}}}"#));
    assert_eq!(draft.params, read(r#"{"url" "x" "deep" {"_kept" 1}}"#));
}

#[test]
fn lengths_of_time_are_texts_or_seconds() {
    for (given, millis) in [
        ("\"90s\"", 90_000),
        ("\"5 m\"", 300_000),
        ("\"2h\"", 7_200_000),
        ("\"1d\"", 86_400_000),
        ("\"250ms\"", 250),
        ("90", 90_000),
        ("1.5", 1_500),
        ("0", 0),
    ] {
        let draft = started(&read(&format!("{{\"notify_config\" {{\"cooldown\" {given}}}}}")));
        assert_eq!(draft.filter.cooldown.millis(), millis, "{given}");
    }
    for (given, millis) in [("5", 5_000), ("7.25", 7_250), ("3600", 3_600_000), ("5.001", 5_001)] {
        let draft = started(&read(&format!("{{\"interval\" {given}}}")));
        assert_eq!(draft.interval.millis(), millis, "{given}");
    }
}

/// T48.
#[test]
fn a_history_shows_ten_checks_unless_somebody_says() {
    let call = |args: &str| parse(Tool::History, &read(args), Notation::Json);
    let last = |args: &str| match call(args) {
        Ok(Call::History { last, .. }) => Some(last),
        _ => None,
    };
    assert_eq!(last(r#"{"watcher_id" "a"}"#), Some(10));
    assert_eq!(last(r#"{"watcher_id" "a" "last_n" 1}"#), Some(1));
    assert_eq!(last(r#"{"watcher_id" "a" "last_n" 100}"#), Some(100));
    assert_eq!(last(r#"{"watcher_id" "a" "last_n" 0}"#), None);
    assert_eq!(last(r#"{"watcher_id" "a" "last_n" 101}"#), None);
}
