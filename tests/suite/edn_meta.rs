//! Metadata, where the reader is asked to keep it, and the place of a part in its text.

use std::hash::{DefaultHasher, Hash, Hasher};

use reveille::edn::{Caps, Value, locate, read, read_keeping_meta};

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 64, digits_max: 512, forms_max: 10_000 };

/// Metadata as `EdnReader.MetaReader` merges it: the outer wins. It changes neither equality nor text.
#[test]
fn metadata_is_kept_where_asked_for() {
    for (input, meta, plain) in [
        ("^:a [1]", Some("{:a true}"), "[1]"),
        ("#^{:a 1} ^{:a 2 :b 3} (x)", Some("{:a 1 :b 3}"), "(x)"),
        ("^a ^\"b\" x", Some("{:tag a}"), "x"),
        ("^^:m {:a 1} #{}", Some("{:a 1}"), "#{}"),
        ("#:n{^:a b 1}", None, "{n/b 1}"),
        ("{^:a b 1, c 2}", None, "{c 2 b 1}"),
        ("[^:a {:b 1}]", None, "[{:b 1}]"),
    ] {
        let value = read_keeping_meta(input.as_bytes(), &CAPS).expect(input);
        let text = |text: &str| read(text.as_bytes(), &CAPS).expect(text);
        assert_eq!(value.meta().map(|meta| Value::Map(meta.clone())), meta.map(text), "{input}");
        assert_eq!(value, text(plain), "{input}");
        assert_eq!(hash(&value), hash(&text(plain)), "{input}");
        assert_eq!(value.cmp(&text(plain)), std::cmp::Ordering::Equal, "{input}");
        assert_eq!(text(&value.to_string()), value, "{input}");
    }
    assert!(read(b"^:a [1]", &CAPS).expect("dropped").meta().is_none());
}

/// A path as for `get-in`, and the byte at which the part begins.
#[test]
fn parts_are_located() {
    for (input, path, offset) in [
        ("[1 2]", "[]", Some(0)),
        (" ^:a [1 #_x ^:b y]", "[1]", Some(16)),
        ("[:a {:b [7]}]", "[1 :b 0]", Some(9)),
        ("#:n{:a [1]}", "[:n/a 0]", None),
        ("{{:k 1} ({} {:x 2})}", "[{:k 1} 1 :x]", Some(16)),
        ("[1", "[0]", Some(1)),
        ("[1]", "[1]", None),
        ("[1]", "[:a]", None),
        ("{:a 1}", "[:b]", None),
        ("", "[]", None),
    ] {
        let path = read(path.as_bytes(), &CAPS).expect("a path");
        let found = locate(input.as_bytes(), path.as_items().unwrap_or_default(), &CAPS);
        assert_eq!(found, offset, "{input} at {path}");
    }
}

fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
