//! Measures other EDN crates, and serde_json with equal data as a reference: JSON parsers are the
//! most tuned ones.
//!
//! `peer-notation clojure-reader|edn-format|serde-json [--quick]` prints lines of a name and a
//! number: MB/s in the fastest of many rounds. `peer-notation --text [--quick]` prints the EDN
//! itself, for readers in other languages.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use schedules::schedules;

#[path = "../../../table/schedules.rs"]
mod schedules;

const ROUNDS: usize = 50;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let text = schedules(if is_quick { 1 << 16 } else { 1 << 20 });
    let (reading, writing) = match arguments.first().map(String::as_str) {
        Some("--text") => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Some("clojure-reader") => by_clojure_reader(&text),
        Some("edn-format") => by_edn_format(&text),
        Some("serde-json") => by_serde_json(&text),
        _ => return ExitCode::FAILURE,
    };
    println!("edn-read {reading}\nedn-write {writing}");
    ExitCode::SUCCESS
}

/// Measures `clojure-reader`, whose values borrow from the text, while ours own their contents.
fn by_clojure_reader(text: &str) -> (f64, f64) {
    let value = clojure_reader::edn::read_string(text).expect("it is EDN");
    let written = value.to_string();
    // A crate that loses data would be fast.
    assert!(clojure_reader::edn::read_string(&written).is_ok_and(|again| again == value));
    let reading = fastest(text.len(), || clojure_reader::edn::read_string(black_box(text)));
    (reading, fastest(written.len(), || black_box(&value).to_string()))
}

fn by_edn_format(text: &str) -> (f64, f64) {
    let value = edn_format::parse_str(text).expect("it is EDN");
    let written = edn_format::emit_str(&value);
    assert!(edn_format::parse_str(&written).is_ok_and(|again| again == value));
    let reading = fastest(text.len(), || edn_format::parse_str(black_box(text)));
    (reading, fastest(written.len(), || edn_format::emit_str(black_box(&value))))
}

/// Measures serde_json, with keywords as strings: JSON has nothing closer.
fn by_serde_json(text: &str) -> (f64, f64) {
    let value = json(&edn_format::parse_str(text).expect("it is EDN"));
    let written = value.to_string();
    let reading = fastest(written.len(), || serde_json::from_str::<serde_json::Value>(black_box(&written)));
    (reading, fastest(written.len(), || serde_json::to_string(black_box(&value))))
}

fn json(value: &edn_format::Value) -> serde_json::Value {
    match value {
        edn_format::Value::Nil => serde_json::Value::Null,
        edn_format::Value::String(text) => text.as_str().into(),
        edn_format::Value::Keyword(keyword) => keyword.name().into(),
        edn_format::Value::Vector(items) => items.iter().map(json).collect(),
        edn_format::Value::Map(entries) => {
            let entry = |(key, value): (&edn_format::Value, _)| {
                let key = json(key).as_str().expect("a keyword").to_owned();
                (key, json(value))
            };
            entries.iter().map(entry).collect::<serde_json::Map<_, _>>().into()
        }
        other => unreachable!("no {other} is among them"),
    }
}

fn fastest<T>(bytes: usize, round: impl Fn() -> T) -> f64 {
    let once = |_| {
        let begin = Instant::now();
        // Dropped within the measured time, as ours is.
        drop(black_box(round()));
        begin.elapsed()
    };
    let best = (0..ROUNDS).map(once).min().expect("there are rounds");
    bytes as f64 / 1e6 / best.as_secs_f64()
}
