//! The EDN reader, writer and framer through their public doors, on tables.
//!
//! Lives here: what Clojure answers and where we differ on purpose (`clojure`),
//! positions of errors, caps, framing, and inputs made to hurt. Does not live
//! here: laws over random input, see `edn_properties.rs`.

mod clojure;

use std::hash::{DefaultHasher, Hash, Hasher};

use reveille::edn::{
    BigDec, BigInt, Caps, Framer, Inst, Keyword, Map, NameError, ReadError, ReadErrorKind, Set, Symbol, Uuid,
    Value, read, read_all, read_first,
};

const CAPS: Caps = Caps { bytes_max: 8 << 20, depth_max: 64, digits_max: 512, forms_max: 4_000_000 };

/// What the fixture does not record: documented differences outside of its rows, and forms
/// that `EdnReader` reads by the same rules.
#[test]
fn readings() {
    for (input, expected) in [
        ("4/2", "2"),
        ("+1/2", "1/2"),
        ("08.5", "8.5"),
        ("1.", "1.0"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("-9223372036854775809", "-9223372036854775809N"),
        ("0x7fN", "127N"),
        ("010N", "8N"),
        ("1e400", "##Inf"),
        ("0.00M", "0.00M"),
        ("0.05M", "0.05M"),
        ("1.50e-20M", "150E-22M"),
        ("-1e+3M", "-1E3M"),
        ("\\o101", "\\A"),
        ("\\o377", "\\ÿ"),
        ("\\u", "\\u"),
        ("\\o", "\\o"),
        ("\\,", "\\,"),
        ("\\u0000", "\\u0000"),
        ("\\u3000", "\\u3000"),
        ("\\😀", "\\😀"),
        ("\\\u{202e}", "\\u202e"),
        ("\\\u{e0041}", "\\ue0041"),
        ("\"\\u0085\\u2028é\"", "\"\\u0085\\u2028é\""),
        ("\"\\0\\7\"", "\"\\u0000\\u0007\""),
        ("#^:a [1]", "[1]"),
        ("^{:a 1} ^:b ^\"s\" #{}", "#{}"),
        ("#:a {:b #:c{:d 1}, :_/e 2}", "{:a/b {:c/d 1} :e 2}"),
        ("#inst \"2026-05\"", "#inst \"2026-05-01T00:00:00.000-00:00\""),
        ("#inst \"2026-05-06T07\"", "#inst \"2026-05-06T07:00:00.000-00:00\""),
        ("#inst \"2026-05-06T12:30\"", "#inst \"2026-05-06T12:30:00.000-00:00\""),
        ("#inst \"2026-05+01:30\"", "#inst \"2026-04-30T22:30:00.000-00:00\""),
        ("#inst \"2026-05:00\"", "#inst \"2026-01-01T05:00:00.000-00:00\""),
        ("#inst \"2024-02-29T23:59:60.5Z\"", "#inst \"2024-03-01T00:00:00.500-00:00\""),
        ("#inst \"1969-12-31T23:59:59.000000001Z\"", "#inst \"1969-12-31T23:59:59.000000001-00:00\""),
        ("#inst \"2026-01-01T00:00:00.0001239999Z\"", "#inst \"2026-01-01T00:00:00.000123999-00:00\""),
        ("#a #b #_ 1 c", "#a #b c"),
        ("1 #_ 2 ;", "1"),
    ] {
        let value = read(input.as_bytes(), &CAPS).unwrap_or_else(|error| panic!("{input:?}: {error}"));
        assert_eq!(value.to_string(), expected, "{input:?}");
        assert_eq!(read(expected.as_bytes(), &CAPS), Ok(value), "{input:?} printed");
    }
}

#[test]
fn refusals_have_positions() {
    use ReadErrorKind::{Duplicate, Empty, Encoding, Syntax, Trailing, UnexpectedEnd};
    for (input, kind, offset, line, column) in [
        ("", Empty, 0, 1, 1),
        (" \n#_ 1\n", Empty, 7, 3, 1),
        ("[1\n 2)", Syntax, 5, 2, 3),
        ("é )", Syntax, 3, 1, 3),
        ("{:a 1\r\n :a 2}", Duplicate, 8, 2, 2),
        ("#{\"é\" #_x \"é\"}", Duplicate, 11, 1, 11),
        ("#{1 2 #_ #_ 3 4 1N}", Duplicate, 16, 1, 17),
        ("#:a{:b 1 :a/b 2}", Duplicate, 9, 1, 10),
        ("{:a}", Syntax, 3, 1, 4),
        ("1 2", Trailing, 2, 1, 3),
        ("1 #_ x 22", Trailing, 7, 1, 8),
        ("[#_]", Syntax, 3, 1, 4),
        ("(1", UnexpectedEnd, 2, 1, 3),
        ("\"a\n", UnexpectedEnd, 3, 2, 1),
        ("\\", UnexpectedEnd, 1, 1, 2),
        ("#", UnexpectedEnd, 1, 1, 2),
        ("#a", UnexpectedEnd, 2, 1, 3),
        ("\"ab\\q\"", Syntax, 3, 1, 4),
        ("\"\\08\"", Syntax, 1, 1, 2),
        ("\"\\400\"", Syntax, 1, 1, 2),
        ("\"\\uDE00\\uD83D\"", Encoding, 1, 1, 2),
        ("\\ud83d", Encoding, 0, 1, 1),
        ("\\o400", Syntax, 0, 1, 1),
        ("\\u+041", Syntax, 0, 1, 1),
        ("##inf", Syntax, 0, 1, 1),
        ("#inst \"2026-02-29\"", Syntax, 0, 1, 1),
        ("#inst \"0000-01-01T00:00+00:01\"", Syntax, 0, 1, 1),
        ("#uuid \"f81d4fae\"", Syntax, 0, 1, 1),
        ("#uuid \"f81d4fae7dec11d0a76500a0c91e6bf6\"", Syntax, 0, 1, 1),
        ("#nil 1", Syntax, 1, 1, 2),
        ("#<x>", Syntax, 0, 1, 1),
        ("#:a[1]", Syntax, 3, 1, 4),
        ("#::a{}", Syntax, 2, 1, 3),
        ("#:a{:1 2}", Syntax, 0, 1, 1),
        ("^1 []", Syntax, 0, 1, 1),
        ("^[a] []", Syntax, 0, 1, 1),
        ("^:a 1", Syntax, 0, 1, 1),
        ("^:a #foo []", Syntax, 0, 1, 1),
        ("1/0", Syntax, 0, 1, 1),
        ("1/-2", Syntax, 0, 1, 1),
        ("1_0N", Syntax, 0, 1, 1),
        ("1r0", Syntax, 0, 1, 1),
        ("37r1", Syntax, 0, 1, 1),
        ("1e9999999999M", Syntax, 0, 1, 1),
        ("a/-1", Syntax, 0, 1, 1),
        ("a\u{a0}b", Syntax, 0, 1, 1),
    ] {
        let error = read(input.as_bytes(), &CAPS).expect_err(input);
        let found = (error.kind(), error.offset(), error.line(), error.column());
        assert_eq!(found, (kind, offset, line, column), "{input:?}: {error}");
        assert!(!error.message().contains('\n'), "{input:?}");
    }
}

#[test]
fn names() {
    for text in ["a", "a/b", "1", "-1", "a:b", "a#", "+", "日本/語", "a.b/c'"] {
        let keyword = Keyword::new(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(read(keyword.to_string().as_bytes(), &CAPS), Ok(Value::Keyword(keyword)));
    }
    for (text, error) in [
        ("", NameError::Empty),
        ("/", NameError::Empty),
        ("a/", NameError::Empty),
        ("a/b/c", NameError::Slash),
        (":a", NameError::Colon),
        ("a::b", NameError::Colon),
        ("a:/b", NameError::Colon),
        ("a/1", NameError::First('1')),
        ("a b", NameError::Character(' ')),
        ("a@", NameError::Character('@')),
    ] {
        assert_eq!(Keyword::new(text), Err(error), "{text:?}");
        assert!(Symbol::new(text).is_err() || text == "/", "{text:?}");
    }
    assert_eq!(Symbol::new("nil"), Err(NameError::Reserved));
    assert_eq!(Symbol::new("1a"), Err(NameError::First('1')));
    let keyword = Keyword::new("ns/name").unwrap();
    assert_eq!((keyword.namespace(), keyword.name()), (Some("ns"), "name"));
}

#[test]
fn equality_is_clojures() {
    for (left, right, is_equal) in [
        ("1", "1N", true),
        ("1", "1.0", false),
        ("1", "1M", false),
        ("1.0M", "1.00M", true),
        ("100M", "1E2M", true),
        ("0M", "0.00M", true),
        ("0.0", "-0.0", true),
        ("##NaN", "##NaN", true),
        ("[1 2]", "(1 2)", true),
        ("[]", "nil", false),
        ("{:a 1 :b 2}", "{:b 2 :a 1}", true),
        ("{:a 1 :b 2}", "{:b 1 :a 2}", false),
        ("{[1] 1 :b 2}", "{:b 2 (1N) 1}", true),
        ("#{1 2 #{3 4}}", "#{#{4 3} 2 1}", true),
        ("\"a\"", "\\a", false),
        (":a", "a", false),
        ("#a 1", "#a 1N", true),
        ("#inst \"2026\"", "#inst \"2026-01-01T01:00:00+01:00\"", true),
    ] {
        let (a, b) = (one(left), one(right));
        assert_eq!(a == b, is_equal, "{left} {right}");
        assert_eq!(a.cmp(&b).is_eq(), is_equal, "{left} {right}");
        assert_eq!(a.cmp(&b), b.cmp(&a).reverse(), "{left} {right}");
        assert!(!is_equal || hash(&a) == hash(&b), "{left} {right}");
    }
}

#[test]
fn values_convert() {
    let map = Map::new().with("a", 1).with("b", "x").with("c", None::<bool>).with("a", true);
    assert_eq!(Value::from(map.clone()).to_string(), r#"{:a true :b "x" :c nil}"#);
    assert_eq!(map.keyword("b").and_then(Value::as_str), Some("x"));
    assert_eq!(map.get(&Value::keyword("a")).and_then(Value::as_bool), Some(true));
    assert!(map.text("b").is_none() && map.keyword("d").is_none());
    assert_eq!(map.keys().count(), 3);
    assert_eq!(Value::BigInt(Box::new(BigInt::from(7))).as_int(), Some(7));
    assert_eq!(Value::list([1.into(), 2.into()]).as_items().map(<[Value]>::len), Some(2));
    assert!(Value::Nil.is_nil() && !Value::Bool(false).is_truthy() && Value::from(0).is_truthy());
    let set: Set = [Value::from(1), Value::from(2), Value::from(1)].into_iter().collect();
    assert_eq!(Value::Set(set).to_string(), "#{1 2}");
    assert_eq!(Inst::new(253_402_300_800, 0), None);
    assert_eq!(Inst::new(0, 1_000_000_000), None);
    assert_eq!(BigDec::parse("1.5.0"), None);
    assert_eq!(Value::from(Uuid::nil()).type_name(), "uuid");
}

/// A map beyond the size where lookups scan, built both ways, with lookups of both kinds.
#[test]
fn large_maps() {
    let entry = |number: i64| (Value::keyword(&format!("k{number}")), Value::from(number));
    let built: Map = (0..1000).map(entry).collect();
    let mut inserted = Map::new();
    inserted.extend((0..1000).rev().map(entry));
    assert_eq!(inserted.insert(Value::keyword("k7"), Value::from(7)), Some(Value::from(7)));
    assert_eq!(built, inserted);
    assert_eq!(built.keyword("k999").and_then(Value::as_int), Some(999));
    assert_eq!(built.keyword("k1000"), None);
    assert_eq!(built.text("k1"), None);
    let repeated: Map = (0..1000).map(|number| (Value::from(number % 100), Value::from(number))).collect();
    assert_eq!(repeated.len(), 100);
    assert_eq!(repeated.get(&Value::from(3)), Some(&Value::from(903)));
}

#[test]
fn caps_hold() {
    let caps = Caps { bytes_max: 20, depth_max: 3, digits_max: 5, forms_max: 6 };
    for (input, expected) in [
        ("12345678901234567890\n", Some(("bytes", 20))),
        ("[[[1]]]", None),
        ("[[[[1]]]]", Some(("depth", 3))),
        ("#a #a #a #a 1", Some(("depth", 3))),
        ("^a ^a ^a ^a x", Some(("depth", 3))),
        ("#_ #_ #_ #_ 1", Some(("depth", 3))),
        ("12345", None),
        ("123456", Some(("digits", 5))),
        ("1/2345", Some(("digits", 5))),
        ("[1 2 3 4 5]", None),
        ("[1 2 3 4 5 6]", Some(("forms", 6))),
        ("[#_1 #_2 ^a b 5 6]", Some(("forms", 6))),
    ] {
        let found = match read(input.as_bytes(), &caps).map_err(|error| error.kind()) {
            Ok(_) => None,
            Err(ReadErrorKind::Limit { limit, max }) => Some((limit, max)),
            Err(kind) => panic!("{input:?}: {kind:?}"),
        };
        assert_eq!(found, expected, "{input:?}");
    }
}

#[test]
fn nesting_never_overflows() {
    let caps = Caps { depth_max: u16::MAX, ..CAPS };
    for opening in ["(", "[", "{", "#{", "#_", "^", "#a ", "#:a{", "{1 ", "[#_", "^{:a "] {
        let input = opening.repeat(200_000);
        let limit = Err(ReadErrorKind::Limit { limit: "depth", max: 512 });
        assert_eq!(read(input.as_bytes(), &caps).map_err(|error| error.kind()), limit, "{opening:?}");
        let mut framer = Framer::new(caps);
        framer.push(input.as_bytes());
        let framed = framer.next_frame().expect("a refusal").map_err(|error| error.kind());
        assert_eq!(framed.err(), limit.err(), "{opening:?}");
        assert!(framer.is_poisoned());
        framer.push(b"1 ");
        assert_eq!((framer.next_frame(), framer.finish()), (None, None));
    }
    let at_ceiling = move |opening: &str, closing: &str| {
        let input = format!("{}1{}", opening.repeat(512), closing.repeat(512));
        let value = read(input.as_bytes(), &caps).unwrap_or_else(|error| panic!("{opening:?}: {error}"));
        let again = read(value.to_string().as_bytes(), &caps).expect("printed");
        assert!(value == again && hash(&value) == hash(&again) && value.cmp(&again).is_eq());
    };
    let work = move || {
        for (opening, closing) in [("[", "]"), ("(", ")"), ("{1 ", "}"), ("#{", "}"), ("#a ", "")] {
            at_ceiling(opening, closing);
        }
    };
    let small = std::thread::Builder::new().stack_size(512 << 10);
    small.spawn(work).expect("a thread").join().expect("512 levels fit half a megabyte of stack");
}

#[test]
fn long_inputs_stay_linear() {
    let million = 1 << 20;
    let commas = ",".repeat(million);
    assert_eq!(read_all(commas.as_bytes(), &CAPS), Ok(Vec::new()));
    let discards = "#_1 ".repeat(million / 4);
    assert_eq!(read_all(discards.as_bytes(), &CAPS), Ok(Vec::new()));
    assert_eq!(
        read(format!("[{discards}]").as_bytes(), &CAPS).map(|value| value.to_string()),
        Ok("[]".into())
    );
    let comments = ";\n".repeat(million / 2);
    assert_eq!(read_all(comments.as_bytes(), &CAPS), Ok(Vec::new()));
    for long in ["1", "a", "\\u0041", "\"\\u0041", "\\", ":a:", "/", "1/", "^a", "\"\\"] {
        // Any answer will do; what counts is that it comes at once.
        let _ = read_all(long.repeat(million / long.len()).as_bytes(), &CAPS);
    }
    let digits = "9".repeat(million);
    let limit = ReadErrorKind::Limit { limit: "digits", max: 512 };
    for input in
        [digits.clone(), format!("-{digits}.{digits}M"), format!("1/{digits}"), format!("36r{digits}")]
    {
        assert_eq!(read(input.as_bytes(), &CAPS).map_err(|error| error.kind()), Err(limit));
    }
    let mut framer = Framer::new(Caps { bytes_max: 16, ..CAPS });
    for between in [&commas, &discards, &comments] {
        framer.push(between.as_bytes());
    }
    framer.push(b"#_ \"");
    framer.push(commas.as_bytes());
    framer.push(b"\" 1");
    assert_eq!(framer.finish(), Some(Ok(b"1".to_vec())));
}

#[test]
fn duplicates_are_found_fast() {
    type Key = fn(u32) -> String;
    let x20 = "xxxxxxxxxxxxxxxxxxxx";
    let rows: [(Key, String); 4] = [
        (|index| index.to_string(), "50000N".into()),
        (|index| format!("\"xxxxxxxxxxxxxxxxxxxx{index}\""), format!("\"{x20}50000\"")),
        (|index| format!("[:a {index}]"), "(:a 50000)".into()),
        (|index| format!("{index}.000M"), "50000.0M".into()),
    ];
    for (key, repeated) in rows {
        let keys = (0..100_000).map(key).collect::<Vec<_>>().join(" ");
        assert!(read(format!("#{{{keys}}}").as_bytes(), &CAPS).is_ok(), "{repeated}");
        let error = read(format!("#{{{keys} {repeated}}}").as_bytes(), &CAPS).expect_err("a duplicate");
        assert_eq!(error.kind(), ReadErrorKind::Duplicate, "{repeated}");
        assert_eq!(error.offset(), keys.len() as u64 + 3, "{repeated}");
        assert_eq!(error.message(), format!("the set holds {repeated} twice"));
    }
}

#[test]
fn inner_work_stays_bounded() {
    // A namespace is not copied to more keys than the length cap allows.
    let keys: String = (0..100_000).map(|index| format!(" :k{index} 1")).collect();
    let error = read(format!("#:{}{{{keys}}}", "n".repeat(1 << 20)).as_bytes(), &CAPS).expect_err("too long");
    assert_eq!(error.kind(), ReadErrorKind::Limit { limit: "bytes", max: u64::from(CAPS.bytes_max) });
    // Twice the size per level: sorting the inner sets anew at every comparison would take
    // the square of the length.
    let doubled = (0..15).fold("1".to_owned(), |inner, _| format!("#{{#{{{inner}}} [{inner}]}}"));
    let (value, again) = (one(&doubled), one(&doubled));
    assert!(value == again && hash(&value) == hash(&again));
    let doubled =
        (0..14).fold("1".to_owned(), |inner, level| format!("#{{[{level} {inner}] [{inner} {level}]}}"));
    assert_eq!(one(&doubled), one(&doubled));
}

#[test]
fn broken_encodings_are_refused_where_they_break() {
    let text = "{:é \"日本\" ;ü\n \\é 1}";
    for at in 0..=text.len() {
        for broken in [&b"\xFF"[..], b"\xC3", b"\xED\xA0\x80"] {
            let input = [&text.as_bytes()[..at], broken, &text.as_bytes()[at..]].concat();
            let error = read(&input, &CAPS).expect_err("not UTF-8");
            assert_eq!(error.kind(), ReadErrorKind::Encoding);
            let valid = std::str::from_utf8(&input).expect_err("not UTF-8").valid_up_to();
            assert_eq!(error.offset(), valid as u64);
            assert!(read_first(&input, &CAPS).is_err(), "the form touches what is broken");
        }
    }
    assert_eq!(read_first(b"a\xFF", &CAPS).map_err(|error| error.kind()), Err(ReadErrorKind::Encoding));
    assert_eq!(read_first(b"a \xFF", &CAPS), Ok(one("a")));
    assert_eq!(read_first(b"a ) \xFF", &CAPS), Ok(one("a")));
}

#[test]
fn streams_are_cut_into_forms() {
    for (input, expected) in [
        ("", "".split_terminator('|').collect::<Vec<_>>()),
        (" 1 ,a\n:b ", vec!["1", "a", ":b"]),
        ("{:a [1 (2)]}[3]", vec!["{:a [1 (2)]}", "[3]"]),
        ("\"a ] \\\" b\"c", vec!["\"a ] \\\" b\"", "c"]),
        ("[\\( \\newline \\)]\\[", vec!["[\\( \\newline \\)]", "\\["]),
        ("[1 ; ] \"\n2] ;x", vec!["[1 ; ] \"\n2]"]),
        ("#_ [1] 2 #_#_ 3 4 5", vec!["2", "5"]),
        ("#_ #a b 2", vec!["2"]),
        ("#a #_ 1 2 3", vec!["#a #_ 1 2", "3"]),
        ("^:a ^{:b 1} [c] d", vec!["^:a ^{:b 1} [c]", "d"]),
        ("#^a b c", vec!["#^a b", "c"]),
        ("#:a{:b 1} #:c {} 2", vec!["#:a{:b 1}", "#:c {}", "2"]),
        ("#{1}#{2} ##Inf", vec!["#{1}", "#{2}", "##Inf"]),
        ("1#_2 a#_2 -1#{} -a#b", vec!["1", "a#_2", "-1", "#{}", "-a#b"]),
        ("#inst\"2026\" #a[1]#b[2]", vec!["#inst\"2026\"", "#a[1]", "#b[2]"]),
        ("+ - +1 -a", vec!["+", "-", "+1", "-a"]),
        // Broken forms, and what comes after them.
        (") 1", vec![")", "1"]),
        ("[1)] 2\n3", vec!["[1)", "3"]),
        ("{:a []]}\n{:b 1}", vec!["{:a []]", "{:b 1}"]),
        ("{:a ]\r\n{:b 1}", vec!["{:a ]", "{:b 1}"]),
        ("[#a ) \"b\n\\\"] \" \\\" ; \"\n3", vec!["[#a )", "3"]),
        ("[)", vec!["[)"]),
        ("[) \"a\n3", vec!["[)"]),
        ("[) ; a\n3", vec!["[)", "3"]),
        ("[(1] 2", vec!["[(1]", "2"]),
        ("{[(1} 2", vec!["{[(1}", "2"]),
        ("[#_] 1", vec!["[#_]", "1"]),
        ("#\"re\" #(f %) 1", vec!["#\"re\"", "#(f %)", "1"]),
        ("# {1} 2", vec!["# {1}", "2"]),
        ("#_ (1] 2) 3\n4", vec!["ERR syntax", "4"]),
        ("#_ [(1] 3", vec!["ERR syntax", "3"]),
        ("[1 2", vec!["ERR unexpected-end"]),
        ("1 \"a", vec!["1", "ERR unexpected-end"]),
        ("#a", vec!["ERR unexpected-end"]),
        ("#_", vec!["ERR unexpected-end"]),
        ("#", vec!["ERR unexpected-end"]),
        ("^a", vec!["ERR unexpected-end"]),
        ("\\", vec!["ERR unexpected-end"]),
    ] {
        for size in 1..=input.len().max(1) {
            assert_eq!(frames(input.as_bytes(), CAPS, size), expected, "{input:?} in pieces of {size}");
        }
    }
    let small = Caps { bytes_max: 4, depth_max: 2, ..CAPS };
    for (input, expected) in [
        ("[12] 1234", vec!["[12]", "1234"]),
        ("1 [123] 2", vec!["1", "ERR limit"]),
        ("12345 6", vec!["ERR limit"]),
        ("\"123\" 6", vec!["ERR limit"]),
        ("[[]] [[[]]]", vec!["[[]]", "ERR limit"]),
        ("#_[[[]]] 1", vec!["ERR limit"]),
    ] {
        for size in 1..=input.len() {
            assert_eq!(frames(input.as_bytes(), small, size), expected, "{input:?} in pieces of {size}");
        }
    }
    assert_eq!(frames(b"[\xFF] 1", CAPS, 1)[1], "1");
}

/// Closers without a partner must not search the whole stack each.
#[test]
fn broken_streams_stay_linear() {
    let (open, closers) = ("[".repeat(500), ")".repeat(1 << 20));
    let mut framer = Framer::new(Caps { depth_max: 512, ..CAPS });
    framer.push(format!("{open}{closers}\n").as_bytes());
    // The first of them ends the frame; the others belong to the line that is dropped.
    assert_eq!(framer.next_frame(), Some(Ok(format!("{open})").into_bytes())));
    assert_eq!((framer.next_frame(), framer.finish()), (None, None));
    framer.push("[)\n".repeat(1 << 18).as_bytes());
    assert_eq!(std::iter::from_fn(|| framer.next_frame()).filter(Result::is_ok).count(), 1 << 18);
}

fn one(text: &str) -> Value {
    read(text.as_bytes(), &CAPS).expect("sound EDN")
}

fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Feeds the input in pieces of `size` bytes; errors become `ERR` and their kind.
fn frames(input: &[u8], caps: Caps, size: usize) -> Vec<String> {
    let print = |frame: Result<Vec<u8>, ReadError>| match frame {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => format!("ERR {}", error.kind()),
    };
    let mut framer = Framer::new(caps);
    let mut frames = Vec::new();
    for piece in input.chunks(size) {
        framer.push(piece);
        frames.extend(std::iter::from_fn(|| framer.next_frame()).map(print));
    }
    frames.extend(std::iter::from_fn(|| framer.finish()).map(print));
    frames
}
