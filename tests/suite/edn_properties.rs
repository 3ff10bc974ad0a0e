//! Laws of the EDN module over random input.
//!
//! Lives here: what holds for every value and for every sequence of bytes. Does not live
//! here: single cases, see `edn/`.

use proptest::collection::vec;
use proptest::prelude::*;
use reveille::edn::{
    BigDec, BigInt, Caps, Framer, Inst, Keyword, Ratio, ReadErrorKind, Symbol, Tagged, Uuid, Value, read,
    read_all, read_first,
};

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 64, digits_max: 512, forms_max: 100_000 };

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn printed_values_read_back(value in values()) {
        let text = value.to_string();
        prop_assert!(!text.chars().any(char::is_control), "one line, no control characters: {text:?}");
        let again = read(text.as_bytes(), &CAPS);
        prop_assert_eq!(again.as_ref(), Ok(&value));
        prop_assert_eq!(again.map(|again| again.to_string()), Ok(text));
    }

    #[test]
    fn order_is_total(a in values(), b in values(), c in values()) {
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a == b, a.cmp(&b).is_eq());
        prop_assert!(a.cmp(&a).is_eq());
        let mut sorted = [&a, &b, &c];
        sorted.sort();
        prop_assert!(sorted[0] <= sorted[1] && sorted[1] <= sorted[2] && sorted[0] <= sorted[2]);
    }

    #[test]
    fn framing_printed_values_yields_them(values in vec(values(), 0..6), size in 1_usize..40) {
        let mut text = String::from(" ; what came before\n");
        for value in &values {
            text.push_str(&value.to_string());
            text.push_str(" #_ (dropped #_ \"]\") ,");
        }
        prop_assert_eq!(framed(text.as_bytes(), size), Some(values));
    }

    #[test]
    fn bytes_never_panic(bytes in vec(any::<u8>(), 0..200), size in 1_usize..20) {
        laws(&bytes, size)?;
    }

    #[test]
    fn almost_edn_never_panics(pieces in vec(pieces(), 0..40), size in 1_usize..20) {
        laws(pieces.concat().as_bytes(), size)?;
    }

    #[test]
    fn instants_read_back(seconds in -62_167_219_200_i64..=253_402_300_799, nanos in 0_u32..1_000_000_000) {
        let inst = Inst::new(seconds, nanos);
        prop_assert_eq!(Inst::parse(&inst.expect("in range").to_string()), inst);
    }
}

/// What holds for every input: reading never panics, what is read prints and reads back
/// equal, framing does not depend on the pieces, and frames are the forms.
fn laws(bytes: &[u8], size: usize) -> Result<(), TestCaseError> {
    let all = read_all(bytes, &CAPS);
    let whole = framed(bytes, bytes.len().max(1));
    prop_assert_eq!(&framed(bytes, size), &whole);
    match &all {
        Ok(values) => {
            prop_assert_eq!(whole.as_ref(), Some(values));
            prop_assert_eq!(read_first(bytes, &CAPS).ok(), values.first().cloned());
            prop_assert_eq!(read(bytes, &CAPS).is_ok(), values.len() == 1);
            for value in values {
                prop_assert_eq!(read(value.to_string().as_bytes(), &CAPS), Ok(value.clone()));
            }
        }
        Err(error) => {
            prop_assert!(usize::try_from(error.offset()).is_ok_and(|offset| offset <= bytes.len()));
            prop_assert!(error.line() > 0 && error.column() > 0);
            prop_assert!(read(bytes, &CAPS).is_err());
            prop_assert!(error.kind() != ReadErrorKind::Empty);
        }
    }
    Ok(())
}

/// Cuts the input, fed in pieces, and reads each frame; nothing when any of it fails.
fn framed(bytes: &[u8], size: usize) -> Option<Vec<Value>> {
    let mut framer = Framer::new(CAPS);
    let mut frames = Vec::new();
    for piece in bytes.chunks(size) {
        framer.push(piece);
        frames.extend(std::iter::from_fn(|| framer.next_frame()));
    }
    frames.extend(std::iter::from_fn(|| framer.finish()));
    frames.into_iter().map(|frame| read(&frame.ok()?, &CAPS).ok()).collect()
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::Bool),
        (-3_i64..3).prop_map(Value::Int),
        any::<i64>().prop_map(Value::Int),
        any::<i128>().prop_map(|number| Value::BigInt(Box::new(BigInt::from(number)))),
        any::<f64>().prop_map(Value::Float),
        Just(Value::Float(f64::NAN)),
        Just(Value::Float(f64::INFINITY)),
        "-?[0-9]{1,12}(\\.[0-9]{0,12})?(e-?[0-9]{1,3})?"
            .prop_map(|text| { Value::BigDec(Box::new(BigDec::parse(&text).expect("a decimal"))) }),
        (any::<i32>(), 1_i32..9).prop_map(|(numerator, denominator)| {
            Ratio::divide(BigInt::from(numerator), BigInt::from(denominator)).expect("not divided by zero")
        }),
        any::<char>().prop_map(Value::Char),
        prop::char::range('\0', '\u{A0}').prop_map(Value::Char),
        any::<String>().prop_map(Value::from),
        "[\"\\\\\u{0}-\u{A0}\u{2028}]{0,8}".prop_map(Value::from),
        name().prop_map(|name| Value::Keyword(Keyword::new(&name).expect("a keyword"))),
        name().prop_map(|name| Value::Symbol(Symbol::new(&name).expect("a symbol"))),
        (0_i64..4_000_000_000, 0_u32..1_000_000_000)
            .prop_map(|(seconds, nanos)| Value::Inst(Inst::new(seconds, nanos).expect("an instant"))),
        any::<u128>().prop_map(|bits| Value::Uuid(Uuid::from_u128(bits))),
    ];
    leaf.prop_recursive(4, 60, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec(inner.clone(), 0..6).prop_map(Value::list),
            vec(inner.clone(), 0..20).prop_map(Value::set),
            vec((inner.clone(), inner.clone()), 0..20)
                .prop_map(|entries| Value::Map(entries.into_iter().collect())),
            (name(), inner).prop_filter_map("not one of the two known tags", |(name, value)| {
                let tag = Symbol::new(&name).ok().filter(|_| name != "inst" && name != "uuid")?;
                Some(Value::Tagged(Box::new(Tagged { tag, value })))
            }),
        ]
    })
}

/// Names that are keywords, symbols and tags alike.
fn name() -> impl Strategy<Value = String> {
    "([a-m][a-z0-9.*+!_?$%&=<>'#é|-]{0,6}/)?[a-m][a-z0-9.*+!_?$%&=<>'#日|-]{1,6}"
        .prop_filter("a word", |name| !matches!(name.as_str(), "nil" | "true" | "false"))
}

/// Pieces of EDN that make sense in some order, and nonsense in most.
fn pieces() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "#{",
        "#_",
        "#",
        "^",
        ":a",
        ":a/b",
        "b",
        "1",
        "-",
        "+",
        "1N",
        "2.5",
        "1/2",
        "3M",
        "\"",
        "\"s\"",
        "\\",
        "\\a",
        "\\newline",
        "\\(",
        ";",
        "\n",
        " ",
        ",",
        "#inst ",
        "#uuid ",
        "#t ",
        "\"2026\"",
        "#:n",
        "##Inf",
        "##",
        "'",
        "é",
        "\u{2028}",
        "/",
        ":",
        "nil",
        "true",
        "\\u0041",
        "\\o1",
        "@",
    ])
}

#[cfg(feature = "serde")]
mod bridge {
    //! Rust types go to values and come back.

    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use reveille::edn::{Value, from_value, read, to_value};
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
    enum Shape {
        Empty,
        OneNumber(u64),
        Pair(i8, String),
        WithFields { is_round: bool, sides: Option<u32> },
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Meters(f64);

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Thing {
        #[serde(rename = "thing/id")]
        id: i64,
        shapes: Vec<Shape>,
        by_name: BTreeMap<String, i32>,
        by_number: BTreeMap<i16, Option<char>>,
        length: Meters,
        big: i128,
        bytes: (u8, (), bool),
        #[serde(default)]
        note: Option<String>,
    }

    fn shape() -> impl Strategy<Value = Shape> {
        prop_oneof![
            Just(Shape::Empty),
            any::<u64>().prop_map(Shape::OneNumber),
            (any::<i8>(), any::<String>()).prop_map(|(number, text)| Shape::Pair(number, text)),
            (any::<bool>(), any::<Option<u32>>())
                .prop_map(|(is_round, sides)| Shape::WithFields { is_round, sides }),
        ]
    }

    prop_compose! {
        fn thing()(
            id in any::<i64>(),
            shapes in prop::collection::vec(shape(), 0..4),
            by_name in prop::collection::btree_map(any::<String>(), any::<i32>(), 0..4),
            by_number in prop::collection::btree_map(any::<i16>(), any::<Option<char>>(), 0..4),
            length in any::<f64>(),
            big in any::<i128>(),
            byte in any::<u8>(),
            note in any::<Option<String>>(),
        ) -> Thing {
            Thing { id, shapes, by_name, by_number, length: Meters(length), big, bytes: (byte, (), true), note }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        #[test]
        fn types_come_back(thing in thing()) {
            let value = to_value(&thing).expect("a value");
            prop_assert_eq!(from_value::<Thing>(&value), Ok(thing.clone()));
            let again = read(value.to_string().as_bytes(), &super::CAPS).expect("EDN");
            prop_assert_eq!(from_value::<Thing>(&again), Ok(thing));
        }
    }

    #[test]
    fn shapes_have_this_text() {
        for (shape, text) in [
            (Shape::Empty, ":empty"),
            (Shape::OneNumber(u64::MAX), "{:one-number 18446744073709551615N}"),
            (Shape::Pair(-1, "a".into()), "{:pair [-1 \"a\"]}"),
            (Shape::WithFields { is_round: true, sides: None }, "{:with-fields {:is-round true :sides nil}}"),
        ] {
            let value = to_value(&shape).expect("a value");
            assert_eq!(value.to_string(), text);
            assert_eq!(from_value::<Shape>(&value), Ok(shape));
        }
    }

    #[test]
    fn names_may_be_strings_or_symbols() {
        let read = |text: &str| read(text.as_bytes(), &super::CAPS).expect("EDN");
        assert_eq!(from_value(&read("\"empty\"")), Ok(Shape::Empty));
        assert_eq!(from_value(&read("empty")), Ok(Shape::Empty));
        let fields = read("{\"with-fields\" {is-round false \"sides\" 3N}}");
        assert_eq!(from_value(&fields), Ok(Shape::WithFields { is_round: false, sides: Some(3) }));
        assert_eq!(from_value::<f64>(&read("2")), Ok(2.0));
        assert_eq!(from_value::<f64>(&read("2.5M")), Ok(2.5));
        assert_eq!(
            from_value::<String>(&read("#inst \"2026\"")).as_deref(),
            Ok("2026-01-01T00:00:00.000-00:00")
        );
        assert_eq!(from_value::<Vec<u8>>(&read("#{1 2}")), Ok(vec![1, 2]));
        assert_eq!(from_value::<&str>(&read(":a/b")).ok(), Some("a/b"));
    }

    #[test]
    fn misfits_are_refused() {
        let read = |text: &str| read(text.as_bytes(), &super::CAPS).expect("EDN");
        for text in
            [":square", "{:pair [1]}", "{:pair [1 \"a\" 2]}", "{:a 1 :b 2}", "{}", "7", "{:one-number -1}"]
        {
            assert!(from_value::<Shape>(&read(text)).is_err(), "{text}");
        }
        assert!(from_value::<f64>(&read("1/3")).is_err());
        #[derive(Serialize)]
        struct Odd {
            #[serde(rename = "not a name")]
            field: u8,
        }
        let error = to_value(&Odd { field: 1 }).expect_err("no keyword");
        assert_eq!(
            error.to_string(),
            "\"not a name\" is not a keyword: a name cannot hold the character ' '"
        );
        assert_eq!(to_value(&[0.5_f32]), Ok(Value::vector([Value::Float(0.5)])));
    }
}
