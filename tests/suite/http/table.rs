//! Reading the tables in `fixtures/http/`.

use std::fs;
use std::path::Path;

use reveille::edn::{Caps, Map, Value, read};

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 64, digits_max: 100, forms_max: 100_000 };

pub(crate) fn table(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/http").join(name);
    let text = fs::read(&path).expect("the table is there");
    read(&text, &CAPS).expect("the table is EDN")
}

pub(crate) fn items<'a>(map: &'a Map, key: &str) -> Vec<&'a Map> {
    rows(map.keyword(key).expect("the key is there"))
}

pub(crate) fn rows(value: &Value) -> Vec<&Map> {
    let items = value.as_items().expect("a vector");
    items.iter().map(|row| row.as_map().expect("a map")).collect()
}

pub(crate) fn text<'a>(row: &'a Map, key: &str) -> Option<&'a str> {
    row.keyword(key).and_then(Value::as_str)
}

pub(crate) fn number(row: &Map, key: &str) -> Option<u16> {
    row.keyword(key).and_then(Value::as_int).and_then(|number| u16::try_from(number).ok())
}

pub(crate) fn texts(row: &Map, key: &str) -> Vec<String> {
    let items = row.keyword(key).and_then(Value::as_items).unwrap_or_default();
    items.iter().map(|item| item.as_str().expect("a string").to_owned()).collect()
}
