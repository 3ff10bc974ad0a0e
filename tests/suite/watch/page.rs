//! The page for users, `docs/WATCHES.md`: its tables are generated, and all of its examples are run.
//!
//! An example stands in a fence that names its kind: `condition` (a condition, what it is judged by, and whether it holds),
//! `refused` (a text and the error), `watch` (the arguments of `watch_start`, then the answers of its checks, with
//! `=> notified` behind those of which the session is notified), `call` (arguments, and a part of the error that they are
//! answered with).

use std::fmt::Write as _;
use std::fs;

use reveille::dialect::watch::{Tool, filter_of, parse};
use reveille::dialect::{Notation, REQUEST_CAPS, json};
use reveille::domain::{Comparator, Edge, Filter, Gaps, NotifyWhen, Outcome, Show, Span};
use reveille::edn::{Keyword, Map, Value};
use reveille::engine::{Circumstances, judge, parse_condition};
use reveille::limits;
use reveille::service::TOOLBOX;

use super::{World, part, started};
use crate::generated;

#[test]
fn the_generated_tables_of_the_page_are_current() {
    let tables = [("strategies", strategies()), ("keys", keys()), ("operators", operators())];
    let page = tables.iter().fold(page(), |page, (name, table)| with_table(&page, name, table));
    generated::check(PAGE, &page);
}

/// The defaults and ranges in the table of keys are those of the parser.
#[test]
fn the_table_of_keys_says_what_the_parser_does() {
    let plain = filter_of(NotifyWhen::Always, &Value::Map(Map::new()));
    assert!(plain.is_some());
    for (key, schema) in declared() {
        if let Some(default) = default_of(&key) {
            assert_eq!(filter_with(&key, value(default)), plain, "{key}: {default} is not its default");
        }
        let (taken, refused) = samples(&schema);
        for sample in taken {
            assert!(filter_with(&key, sample.clone()).is_some(), "{key}: {sample} is refused");
        }
        for sample in refused {
            assert_eq!(filter_with(&key, sample.clone()), None, "{key}: {sample} is taken");
        }
    }
    assert_eq!(filter_with("cooldwn", Value::Int(5)), None);
}

/// Bounds and defaults that the text of the page names.
#[test]
fn the_text_of_the_page_has_the_bounds_of_the_rules() {
    let page = page();
    let [bytes, comparisons, levels, steps, chars] = [
        limits::CONDITION_BYTES,
        limits::CONDITION_COMPARISONS,
        limits::CONDITION_DEPTH,
        limits::PATH_STEPS,
        limits::DIFFERENCE_CHARS,
    ]
    .map(|limit| limit.value);
    let mut said = vec![
        format!(
            "{bytes} bytes, {comparisons} comparisons, {levels} levels of brackets and `not`, and {steps} steps in a path"
        ),
        format!("at most {chars} characters"),
    ];
    for tool in ["http.get", "http.head", "ping.age"] {
        let ignored = started(&value(&format!("{{\"name\":{tool:?}}}"))).filter.ignore;
        let ignored: Vec<String> = ignored.iter().map(|path| format!("`{path}`")).collect();
        said.push(format!("`{tool}` ignores {}", ignored.join(" and ")));
    }
    for words in said {
        assert!(page.contains(&words), "the page does not say: {words}");
    }
}

#[test]
fn the_conditions_on_the_page_hold_as_it_says() {
    let (mut faults, mut count) = (String::new(), 0);
    for line in blocks("condition").iter().flat_map(|block| block.lines()) {
        let (left, says) = line.rsplit_once(" => ").unwrap_or_else(|| panic!("{line}"));
        let (text, given) = left.split_once(" ; ").unwrap_or_else(|| panic!("{line}"));
        let condition = parse_condition(text).unwrap_or_else(|error| panic!("{line}: {error}"));
        let given = value(given);
        let given = given.as_map().unwrap_or_else(|| panic!("{line}"));
        let answered = |key: &str| given.text(key).map(|it| Outcome::of_value(it.clone(), 0, Span::ZERO));
        let failed = || Some(Outcome::of_error(given.text("error")?.as_str()?, Span::ZERO));
        let now = answered("result").or_else(failed).unwrap_or_else(|| panic!("{line}"));
        let streak =
            given.text("streak").and_then(Value::as_int).and_then(|streak| u32::try_from(streak).ok());
        let (before, streak) = (answered("previous"), streak.unwrap_or_else(|| u32::from(!now.ok)));
        let holds = judge(&condition, Circumstances { now: &now, before: before.as_ref(), streak }).holds;
        if holds.to_string() != says {
            writeln!(faults, "{line}: it is {holds}").expect("a string grows");
        }
        count += 1;
    }
    assert!(faults.is_empty() && count > 40, "{count} conditions\n{faults}");
}

#[test]
fn the_texts_on_the_page_are_refused_as_it_says() {
    let mut faults = String::new();
    let blocks = blocks("refused");
    let lines: Vec<&str> = blocks.iter().flat_map(|block| block.lines()).collect();
    for line in &lines {
        let (text, says) = line.rsplit_once(" => ").unwrap_or_else(|| panic!("{line}"));
        let error = parse_condition(text).map_or_else(|error| error.to_string(), |_| "accepted".to_owned());
        if error != says {
            writeln!(faults, "{line}: it is {error}").expect("a string grows");
        }
    }
    assert!(faults.is_empty() && lines.len() > 12, "{faults}");
}

#[test]
fn the_watches_on_the_page_notify_as_it_says() {
    let mut faults = String::new();
    let blocks = blocks("watch");
    for block in &blocks {
        let mut lines = block.lines();
        let mut world = World::new(started(&value(lines.next().unwrap_or_else(|| panic!("{block}")))));
        for line in lines {
            let answer = line.strip_suffix(" => notified");
            let (answer, says) = (answer.unwrap_or(line), answer.is_some());
            let outcome = match answer.strip_prefix("error: ") {
                Some(error) => Outcome::of_error(error, Span::ZERO),
                None => Outcome::of_value(value(answer), 10, Span::ZERO),
            };
            if world.check(outcome).0.told.is_some() != says {
                writeln!(faults, "{block}\n  is otherwise at {line}").expect("a string grows");
            }
        }
    }
    assert!(faults.is_empty() && blocks.len() >= 8, "{faults}");
}

#[test]
fn the_calls_on_the_page_are_refused_as_it_says() {
    let blocks = blocks("call");
    let calls: Vec<&str> = blocks.iter().flat_map(|block| block.split("\n\n")).collect();
    for call in &calls {
        let (args, says) = call.split_once('\n').unwrap_or_else(|| panic!("{call}"));
        let answer = parse(Tool::Start, &value(args), Notation::Json).expect_err(call);
        let error = part(&answer.value, "error").unwrap_or_else(|| panic!("{answer:?}"));
        for (key, expected) in value(says).as_map().unwrap_or_else(|| panic!("{call}")) {
            let found = key.as_str().and_then(|key| part(error, key));
            let found = found.and_then(|it| it.as_str().or_else(|| it.as_keyword().map(Keyword::as_str)));
            assert_eq!(found, expected.as_str(), "{key} of {call}");
        }
    }
    assert!(calls.len() >= 7);
}

fn page() -> String {
    let path = format!("{}/{PAGE}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(path).expect("the page is there")
}

fn value(text: &str) -> Value {
    json::read(text.as_bytes(), &REQUEST_CAPS).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The contents of the fences of this kind. A fence of a kind that no test runs is a fault.
fn blocks(kind: &str) -> Vec<String> {
    let page = page();
    let (mut blocks, mut rest) = (Vec::new(), page.as_str());
    while let Some((_, after)) = rest.split_once("\n```") {
        let (found, after) = after.split_once('\n').expect("a fence has an end");
        let (block, after) = after.split_once("\n```").expect("a fence has an end");
        assert!(KINDS.contains(&found), "{found:?}: no test runs {block}");
        if found == kind {
            blocks.push(block.to_owned());
        }
        rest = after;
    }
    blocks
}

/// The page with this table between the two marks of its name.
fn with_table(page: &str, name: &str, table: &str) -> String {
    let begin = format!("<!-- generated: {name}; UPDATE=1 cargo test --test suite generated -->\n");
    let (before, after) = page.split_once(&begin).unwrap_or_else(|| panic!("{PAGE} has no mark for {name}"));
    let (_, after) = after.split_once(END).unwrap_or_else(|| panic!("{PAGE} has no end for {name}"));
    format!("{before}{begin}{table}{END}{after}")
}

fn strategies() -> String {
    let schema = schema("notify_when");
    let names = part(&schema, "enum").and_then(Value::as_items).expect("words");
    assert_eq!(names.len(), NotifyWhen::ALL.len());
    let mut table = String::from("| strategy | what is told |\n|---|---|\n");
    for (name, when) in names.iter().zip(NotifyWhen::ALL) {
        let name = name.as_str().expect("a word");
        writeln!(table, "| `{name}` | {} |", when.doc()).expect("a string grows");
    }
    table
}

fn operators() -> String {
    let mut table = String::from("| operator | it holds if |\n|---|---|\n");
    for operator in Comparator::ALL {
        writeln!(table, "| `{}` | {} |", operator.name(), operator.doc()).expect("a string grows");
    }
    table
}

fn keys() -> String {
    let mut table = String::from("| key | type | range | default | what it does |\n|---|---|---|---|---|\n");
    for (key, schema) in declared() {
        let (kind, range) = shape(&schema);
        let default =
            default_of(&key).map_or_else(|| "–".to_owned(), |it| format!("`{}`", it.trim_matches('"')));
        let mut about = part(&schema, "description").and_then(Value::as_str).expect("a sentence").to_owned();
        for (word, doc) in words_of(&key) {
            write!(about, " `{word}`: {doc}").expect("a string grows");
        }
        writeln!(table, "| `{key}` | {kind} | {range} | {default} | {about} |").expect("a string grows");
    }
    table
}

/// The declaration of an argument of `watch_start`.
fn schema(argument: &str) -> Value {
    let tool = TOOLBOX.iter().find(|tool| tool.name == Tool::Start.name()).expect("a tool");
    let schema = tool.input_schema();
    part(&schema, "properties").and_then(|all| part(all, argument)).cloned().expect("an argument")
}

/// The keys of `notify_config` as they are declared, in that order.
fn declared() -> Vec<(String, Value)> {
    let config = schema("notify_config");
    let keys = part(&config, "properties").and_then(Value::as_map).expect("keys");
    let name = |key: &Value| key.as_keyword().expect("a keyword").as_str().to_owned();
    keys.iter().map(|(key, schema)| (name(key), schema.clone())).collect()
}

/// The type of a key and its range, in words.
fn shape(schema: &Value) -> (&'static str, String) {
    let number = |name: &str| part(schema, name).map(ToString::to_string).unwrap_or_default();
    let from_to = || format!("{} to {}", number("minimum"), number("maximum"));
    match (part(schema, "type").and_then(Value::as_str), part(schema, "enum").and_then(Value::as_items)) {
        (Some("string"), Some(words)) => {
            let words: Vec<String> =
                words.iter().filter_map(Value::as_str).map(|it| format!("`{it}`")).collect();
            ("word", words.join(", "))
        }
        (Some("string"), None) if is_span(schema) => {
            ("length of time", format!("0s to {}d", limits::WATCH_SPAN_MS.value / DAY_MS))
        }
        (Some("string"), None) => ("condition", format!("1 to {} bytes", number("maxLength"))),
        (Some("integer"), None) => ("whole number", from_to()),
        (Some("number"), None) => ("number", from_to()),
        (Some("array"), None) => ("list of paths", format!("at most {}", number("maxItems"))),
        (Some("boolean"), None) => ("true or false", "–".to_owned()),
        _ => panic!("the page has no words for {schema}"),
    }
}

fn is_span(schema: &Value) -> bool {
    part(schema, "maxLength").and_then(Value::as_int) == Some(SPAN_BYTES)
}

/// Values of a key at the ends of its range, and values beyond them.
fn samples(schema: &Value) -> (Vec<Value>, Vec<Value>) {
    let number = |name: &str| part(schema, name).and_then(Value::as_int).expect("a bound");
    let texts = |texts: &[String]| -> Vec<Value> { texts.iter().map(|text| text.as_str().into()).collect() };
    let list = |items: i64| Value::vector((0..items).map(|_| Value::from("a")).collect::<Vec<_>>());
    match (part(schema, "type").and_then(Value::as_str), part(schema, "enum").and_then(Value::as_items)) {
        (Some("string"), Some(words)) => (words.to_vec(), vec!["other".into(), Value::Int(1)]),
        (Some("string"), None) if is_span(schema) => {
            let days = limits::WATCH_SPAN_MS.value / DAY_MS;
            (
                texts(&["0s".to_owned(), format!("{days}d")]),
                texts(&[format!("{}d", days + 1), "long".to_owned()]),
            )
        }
        (Some("string"), None) => {
            let of_bytes =
                |bytes: i64| format!("a == {}", "x".repeat(usize::try_from(bytes - 5).expect("small")));
            let most = number("maxLength");
            (texts(&[of_bytes(most)]), texts(&[of_bytes(most + 1), String::new()]))
        }
        (Some("integer" | "number"), None) => {
            let (min, max) = (number("minimum"), number("maximum"));
            ([min, max].map(Value::Int).into(), [min - 1, max + 1].map(Value::Int).into())
        }
        (Some("array"), None) => {
            let most = number("maxItems");
            (vec![list(0), list(most)], vec![list(most + 1), "a".into()])
        }
        (Some("boolean"), None) => ([true, false].map(Value::Bool).into(), vec![Value::Int(1)]),
        _ => panic!("no values are known for {schema}"),
    }
}

/// The filter of a configuration with this key alone, if it is taken.
fn filter_with(key: &str, value: Value) -> Option<Filter> {
    let mut config = Map::new();
    config.insert(key.into(), value);
    filter_of(NotifyWhen::Always, &Value::Map(config))
}

/// The default of a key, as JSON; `None` if leaving it out is not the same as any value.
fn default_of(key: &str) -> Option<&'static str> {
    let (_, default) =
        DEFAULTS.iter().find(|(known, _)| *known == key).unwrap_or_else(|| panic!("{key}: no default"));
    (!default.is_empty()).then_some(default)
}

/// What the words of a key mean.
fn words_of(key: &str) -> Vec<(&'static str, &'static str)> {
    match key {
        "gaps" => Gaps::ALL.iter().map(|word| (word.name(), word.doc())).collect(),
        "edge" => Edge::ALL.iter().map(|word| (word.name(), word.doc())).collect(),
        "show" => Show::ALL.iter().map(|word| (word.name(), word.doc())).collect(),
        _ => Vec::new(),
    }
}

const PAGE: &str = "docs/WATCHES.md";
const END: &str = "<!-- end -->";
const KINDS: [&str; 4] = ["condition", "refused", "watch", "call"];
/// The longest text of a length of time, by which the declarations of those are known.
const SPAN_BYTES: i64 = 16;
const DAY_MS: u64 = 86_400_000;
/// The default of each key, as JSON; empty where leaving the key out is not the same as any value.
const DEFAULTS: [(&str, &str); 16] = [
    ("expression", ""),
    ("batch_size", "10"),
    ("for", "\"0s\""),
    ("for_checks", "1"),
    ("gaps", "\"keep\""),
    ("cooldown", "\"0s\""),
    ("recall", "0"),
    ("edge", "\"level\""),
    ("again", ""),
    ("silence", ""),
    ("ignore", "[]"),
    ("only", "[]"),
    ("show", ""),
    ("backoff", "false"),
    ("backoff_max", ""),
    ("jitter", "0"),
];
