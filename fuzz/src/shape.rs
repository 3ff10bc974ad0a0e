//! Fuzzes the bodies of posts to receivers: label, recipient, thread and text, separated by line
//! breaks. A receiver parses its body, which is within its bound, repeats to the byte, and has the
//! whole text if that fits. Nothing in a text is a mention.

use reveille::adapter::outbound::Shape;
use reveille::dialect::json;
use reveille::domain::{Cause, Dialect, Route, RunId, ScheduleId, Span};
use reveille::edn::{Caps, Value};
use reveille::engine::Parcel;

use super::scene::{moment, session};

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let mut parts = input.splitn(4, |byte| *byte == b'\n');
    let mut part = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let [label, conversation, thread, text] = [part(), part(), part(), part()];
    let given = |text: &str| (!text.is_empty()).then(|| text.into());
    let slot = moment("2026-04-22T13:00:00Z");
    let parcel = Parcel {
        run: RunId { schedule: ScheduleId::new("sch-1").expect("an id"), incarnation: 1, slot },
        route: Route {
            channel: "ops".into(),
            conversation: conversation.as_str().into(),
            thread: given(&thread),
        },
        at: slot,
        attempt: 1,
        cause: Cause::Slot,
        late: Span::ZERO,
        folded: 0,
        dialect: Dialect::Channels,
        session: session("main"),
        family: session("main"),
        is_operators: false,
        label: given(&label),
        text: text.as_str().into(),
        file: None,
    };
    let words = if label.is_empty() { text } else { format!("{label}\n\n{text}") };
    for shape in Shape::ALL {
        let body = shape.print(&parcel);
        let again = Parcel { attempt: 2, ..parcel.clone() };
        assert_eq!(shape.print(&again), body, "{}: a repetition differs", shape.name());
        match shape {
            Shape::Ntfy => {
                assert!(body.len() <= 4_096, "{} bytes", body.len());
                assert!(body == words || words.len() > 4_096);
            }
            Shape::Signed | Shape::Json => drop(parsed(&body)),
            Shape::Slack => {
                let text = at(&parsed(&body), &["text"]);
                assert!(!text.contains(['<', '>']), "{text}");
                let shown = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
                is_whole_or_cut(&shown, &words, 4_000);
            }
            Shape::Discord => {
                let body = parsed(&body);
                is_whole_or_cut(&at(&body, &["content"]), &words, 2_000);
                let mentions = step(&step(&body, "allowed_mentions"), "parse");
                assert_eq!(mentions.as_items().map(<[Value]>::len), Some(0), "somebody is mentioned");
            }
            Shape::Telegram => {
                let body = parsed(&body);
                is_whole_or_cut(&at(&body, &["text"]), &words, 4_096);
                assert_eq!(at(&body, &["chat_id"]), conversation);
            }
            Shape::Teams => {
                let text = at(&parsed(&body), &["attachments", "0", "content", "body", "0", "text"]);
                is_whole_or_cut(&text, &words, 4_000);
            }
        }
    }
}

#[track_caller]
fn is_whole_or_cut(shown: &str, words: &str, most: usize) {
    assert!(shown.chars().count() <= most, "{} characters of {most}", shown.chars().count());
    assert!(shown == words || words.chars().count() > most, "cut, although it fits");
}

fn parsed(body: &str) -> Value {
    let value = json::read(body.as_bytes(), &CAPS).expect("a receiver parses it");
    let has_something = value.as_map().is_some_and(|map| map.keys().next().is_some());
    assert!(has_something, "no object, or an empty one: {value}");
    value
}

fn step(value: &Value, key: &str) -> Value {
    let in_map = value.as_map().and_then(|map| map.text(key));
    let in_list = || value.as_items()?.get(key.parse::<usize>().ok()?);
    in_map.or_else(in_list).cloned().expect(key)
}

fn at(value: &Value, path: &[&str]) -> String {
    let found = path.iter().fold(value.clone(), |value, key| step(&value, key));
    found.as_str().expect("a text").to_owned()
}

const CAPS: Caps = Caps { bytes_max: 16_777_216, depth_max: 16, digits_max: 20, forms_max: 100_000 };
