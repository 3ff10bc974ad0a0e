//! What Clojure answers, row by row (`fixtures/edn/clojure.json`), and where we differ on purpose.

use std::fmt::Write as _;

use reveille::edn::{Inst, ReadErrorKind, Value, read, read_all, read_first};

use super::CAPS;

/// Inputs that Clojure reads and we refuse, each with the reason. Clojure's answer is in
/// the fixture; a row here that begins to agree with it fails the test.
const DIFFERENCES: &[(&str, &str)] = &[
    (":a/b/c", "EDN specification, Symbols: '/' can be used once only"),
    ("a/b/c", "EDN specification, Symbols: '/' can be used once only"),
    (":/", "EDN specification, Keywords: ':/' is not a legal keyword"),
    (".5", "EDN specification, Symbols: behind a leading '.' the second character is non-numeric"),
    ("'a", "EDN specification, Symbols: a quote is no first character; it is a mistake made in Clojure code"),
    (
        "\u{feff}1",
        "EDN specification, Symbols: a byte order mark is no constituent; nobody can see it in a name",
    ),
    ("\"\\uD83D\"", "half of a surrogate pair cannot be held by a string of ours, nor sent as UTF-8"),
];

/// More of the same, outside of the recorded rows. Clojure's side is read off the source of
/// `EdnReader` 1.11.
const UNRECORDED_DIFFERENCES: &[(&str, &str)] = &[
    ("foo//", "EDN specification, Symbols: '/' can be used once only"),
    ("a/-1", "EDN specification, Symbols: the name behind '/' follows the rule of first characters"),
    ("a/:b", "EDN specification, Symbols: ':' and '#' are no first characters"),
    ("a\u{a0}b", "a space that cannot be told from others does not belong in a name"),
    ("a\u{202e}b", "a mark of direction cannot be seen in a name, and a name has no escape for it"),
    (":a\u{200d}b", "two keywords that look alike"),
    ("#a\u{e0041} 1", "a tag character cannot be seen in a name"),
    ("\u{2003}1", "whitespace is ASCII: a token could not be cut from a byte stream otherwise"),
    ("a\u{1}", "EDN specification, Symbols: a control character is no constituent"),
    ("## Inf", "'##' and its name are one token"),
    ("#: a{:b 1}", "'#:' and its namespace are one token"),
    ("#:a #_1 {:b 1}", "between a namespace and its map stands nothing but whitespace"),
    ("#:a{:1 2}", ":a/1 could not be read back, by Clojure neither"),
    ("#uuid \"1-1-1-1-1\"", "EDN specification: a UUID is given in its canonical form"),
    ("#inst \"0000-01-01T00:00+00:01\"", "an instant before the year 0000 could not be printed"),
];

#[test]
fn unrecorded_differences_are_refused() {
    for (input, reason) in UNRECORDED_DIFFERENCES {
        let error = read(input.as_bytes(), &CAPS).expect_err(reason);
        assert_eq!(error.kind(), ReadErrorKind::Syntax, "{input:?}");
    }
}

#[test]
fn clojure_rows_agree() {
    let mut differing = Vec::new();
    let rows = rows();
    assert!(rows.len() > 220, "the fixture is read wrongly: {} rows", rows.len());
    for (input, clojure) in &rows {
        let ours = answer(input, clojure);
        match DIFFERENCES.iter().find(|(different, _)| different == input) {
            Some((_, reason)) => {
                assert_ne!(&ours, clojure, "{input:?} agrees with Clojure; no longer different: {reason}");
                differing.push(input.as_str());
            }
            None => assert_eq!(&ours, clojure, "{input:?}"),
        }
    }
    assert_eq!(differing.len(), DIFFERENCES.len(), "a listed difference is not in the fixture");
}

/// Reads inputs and answers from the fixture. The escapes of JSON strings are escapes of
/// EDN strings too, so our own reader reads both.
fn rows() -> Vec<(String, String)> {
    let text = include_str!("../../../fixtures/edn/clojure.json");
    let field = |line: &str, name: &str| {
        let from = line.find(name)? + name.len();
        let value = read_first(&line.as_bytes()[from..], &CAPS).expect("a JSON string");
        value.as_str().map(str::to_owned)
    };
    let row = |line: &str| Some((field(line, "\"in\": ")?, field(line, "\"clojure\": ")?));
    text.lines().filter_map(row).collect()
}

/// Answers in the notation of the fixture. Of a refusal the fixture holds Clojure's words,
/// which are repeated, for only the fact counts.
fn answer(input: &str, clojure: &str) -> String {
    let first = match read_first(input.as_bytes(), &CAPS) {
        Ok(value) => canonical(&value, clojure),
        Err(error) if error.kind() == ReadErrorKind::Empty => return "EOF".into(),
        Err(_) if clojure.starts_with("ERR ") => return clojure.into(),
        Err(error) => return format!("ERR {error}"),
    };
    match (read(input.as_bytes(), &CAPS), read_all(input.as_bytes(), &CAPS)) {
        (Ok(value), Ok(_)) => canonical(&value, clojure),
        (Err(_), Ok(all)) if all.len() > 1 => format!("{first} TRAILING {}", canonical(&all[1], clojure)),
        (Err(_), Err(_)) => format!("{first} TRAILERR"),
        other => format!("read and read_all disagree: {other:?}"),
    }
}

fn canonical(value: &Value, clojure: &str) -> String {
    let all = |items: &[Value]| {
        let items: Vec<String> = items.iter().map(|item| canonical(item, clojure)).collect();
        items.join(" ")
    };
    let sorted = |mut items: Vec<String>| {
        items.sort();
        items.join(" ")
    };
    match value {
        Value::Nil | Value::Bool(_) => value.to_string(),
        Value::Int(number) => format!("i:{number}"),
        Value::BigInt(number) => format!("N:{number}"),
        Value::Float(number) if number.is_nan() => "f:NaN".into(),
        Value::Float(number) if number.is_infinite() => {
            format!("f:{}Inf", if *number < 0.0 { "-" } else { "" })
        }
        Value::Float(number) => format!("f:{:016x}", number.to_bits()),
        Value::BigDec(number) => format!("M:{}e{}", number.unscaled(), number.exponent()),
        Value::Ratio(number) => format!("r:{number}"),
        Value::Char(character) => format!("c:{:x}", u32::from(*character)),
        Value::Str(text) => text.encode_utf16().fold("s:".to_owned(), |mut hex, unit| {
            let _ = write!(hex, "{unit:04x}");
            hex
        }),
        Value::Keyword(keyword) => format!("k:{keyword}"),
        Value::Symbol(symbol) => format!("y:{symbol}"),
        Value::List(items) => format!("({})", all(items)),
        Value::Vector(items) => format!("[{}]", all(items)),
        Value::Map(map) => {
            let entry = |(key, value)| format!("{} {}", canonical(key, clojure), canonical(value, clojure));
            format!("{{{}}}", sorted(map.iter().map(entry).collect()))
        }
        Value::Set(set) => {
            format!("#{{{}}}", sorted(set.iter().map(|item| canonical(item, clojure)).collect()))
        }
        Value::Tagged(tagged) => format!("#{} {}", tagged.tag, canonical(&tagged.value, clojure)),
        Value::Meta(meta) => canonical(meta.value(), clojure),
        // The fixture keeps the text of these two, which may be any of several for one value.
        Value::Inst(inst) => same_text(clojure, "#inst s:", |text| Inst::parse(text) == Some(*inst)),
        Value::Uuid(uuid) => same_text(clojure, "#uuid s:", |text| text.parse() == Ok(*uuid)),
    }
}

/// Returns Clojure's answer when the text in it means the same value as ours.
fn same_text(clojure: &str, prefix: &str, is_same: impl Fn(&str) -> bool) -> String {
    let hex = clojure.strip_prefix(prefix).unwrap_or_default().as_bytes();
    let unit = |digits: &[u8]| u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let units: Vec<u16> = hex.chunks(4).filter_map(unit).collect();
    let text = String::from_utf16_lossy(&units);
    if is_same(&text) { clojure.to_owned() } else { format!("not {text:?}") }
}
