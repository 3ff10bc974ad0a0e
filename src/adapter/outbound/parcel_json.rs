//! Our own form of a delivery: one line of JSON.

use crate::dialect::json;
use crate::edn::{Map, Value};
use crate::engine::Parcel;

/// Prints a parcel as one line of JSON. Nothing in it depends on the attempt.
pub fn envelope(parcel: &Parcel) -> String {
    let text = |text: &Option<Box<str>>| text.as_deref().map_or(Value::Nil, Value::from);
    let data = Map::new()
        .with("run-id", parcel.run.to_string())
        .with("schedule-id", parcel.run.schedule.to_string())
        .with("slot", parcel.run.slot.to_string())
        .with("cause", parcel.cause.name())
        .with("folded", i64::try_from(parcel.folded).unwrap_or(i64::MAX))
        .with("session-id", parcel.session.as_str())
        .with("dialect", parcel.dialect.name())
        .with("label", text(&parcel.label))
        .with("channel", &*parcel.route.channel)
        .with("conversation", &*parcel.route.conversation)
        .with("thread", text(&parcel.route.thread))
        .with("text", &*parcel.text)
        .with("file", parcel.file.as_ref().map_or(Value::Nil, |file| Value::from(&*file.path)));
    let map = Map::new()
        .with("type", "reveille.delivery")
        .with("timestamp", parcel.run.slot.to_string())
        .with("data", data);
    let mut out = String::new();
    json::write(&map.into(), &mut out);
    out
}
