//! EQL's grammar, held to the recorded answers of the real `eql` library.
//!
//! Lives here: `fixtures/eql/ast.txt` row by row, and where errors are found. Does not live here: what a
//! query means, see `pathom3.rs`.

use reveille::edn::{Caps, Value, read, read_keeping_meta};
use reveille::graph::eql::{ParseErrorKind, Query, parse};

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 64, digits_max: 64, forms_max: 10_000 };

fn query(text: &str) -> Query {
    parse(&form(text)).expect(text)
}

fn form(text: &str) -> Value {
    read_keeping_meta(text.as_bytes(), &CAPS).expect(text)
}

#[test]
fn rows_of_the_library_agree() {
    let text = include_str!("../../fixtures/eql/ast.txt");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(" | ").collect()).collect();
    assert_eq!(rows.len(), 33, "the fixture is read wrongly");
    for row in rows {
        let [input, valid, ast, back] = row[..] else { panic!("not four columns: {row:?}") };
        let parsed = parse(&form(input));
        // Of an invalid query the fixture shows what the library makes of it nevertheless.
        if valid == "valid? false" {
            assert!(parsed.is_err(), "{input} is not valid");
            continue;
        }
        let query = parsed.unwrap_or_else(|error| panic!("{input}: {error}"));
        assert_eq!(query.to_ast(), form(ast), "{input}");
        let back = back.strip_prefix("back ").unwrap_or_default();
        assert_eq!(query.to_value(), form(back), "{input} printed back");
        assert_eq!(parse(&query.to_value()), Ok(query), "{input} parsed again");
    }
}

#[test]
fn metadata_of_queries_is_kept() {
    let query = query("^{:k 1} [{:a ^:z [:b]}]");
    assert_eq!(query.meta.as_ref().map(|meta| Value::Map(meta.clone())), Some(form("{:k 1}")));
    assert_eq!(parse(&query.to_value()).as_ref(), Ok(&query), "metadata is printed back");
    assert!(query.to_ast().to_string().contains(":meta {:k 1}"));
}

/// Rule, path and byte of the first fault.
#[test]
fn faults_have_a_place() {
    use ParseErrorKind as Kind;
    for (text, kind, path, offset) in [
        ("{:a 1}", Kind::Query, "[]", 0),
        ("[:a \"s\"]", Kind::Expression, "[1]", 4),
        ("[:a nil]", Kind::Expression, "[1]", 4),
        ("[ #_x m/f]", Kind::Symbol, "[0]", 6),
        ("[:a {:b [1]}]", Kind::Expression, "[1 :b 0]", 9),
        ("[[:a]]", Kind::Ident, "[0]", 1),
        ("[[:a 1 2]]", Kind::Ident, "[0]", 1),
        ("[[\"a\" 1]]", Kind::Ident, "[0]", 1),
        ("[{:a [:b] :c [:d]}]", Kind::JoinEntries, "[0]", 1),
        ("[{}]", Kind::JoinEntries, "[0]", 1),
        ("[{* [:a]}]", Kind::JoinKey, "[0]", 1),
        ("[{:a nil}]", Kind::JoinTarget, "[0 :a]", 5),
        ("[{:a -1}]", Kind::JoinTarget, "[0 :a]", 5),
        ("[{:a {}}]", Kind::UnionEmpty, "[0 :a]", 5),
        ("[{:a {\"b\" []}}]", Kind::UnionKey, "[0 :a]", 5),
        ("[{:a {:b [:c] :d {}}}]", Kind::Query, "[0 :a :d]", 17),
        ("[{(m/f) ...}]", Kind::CallTarget, "[0 (m/f)]", 8),
        ("[()]", Kind::ListLength, "[0]", 1),
        ("[(:a {:p 1} {:q 2})]", Kind::ListLength, "[0]", 1),
        ("[(:a 1)]", Kind::Params, "[0 1]", 5),
        ("[((:a {:p 1}) {:q 2})]", Kind::ListHead, "[0 0]", 2),
        ("[({(m/f) [:r]} {:q 2})]", Kind::ListHead, "[0 0]", 2),
        ("[^:m {(:a {:p 1}) [:x ^:n {:b [\\c]}]}]", Kind::Expression, "[0 (:a {:p 1}) 1 :b 0]", 31),
    ] {
        let error = parse(&form(text)).expect_err(text);
        assert_eq!((error.kind, Value::vector(error.path.clone())), (kind, form(path)), "{text}");
        assert_eq!(error.offset(text.as_bytes(), &CAPS), Some(offset), "{text}");
        assert!(error.to_string().ends_with(&format!(", at {path}")), "{text}: {error}");
    }
}

#[test]
fn parameters_in_both_places_are_merged() {
    let both = query("[({(:a {:p 1 :q 1}) [:b]} {:q 2})]");
    assert_eq!(both, query("[({:a [:b]} {:p 1 :q 2})]"));
    assert_eq!(query("[(:a)]").to_value(), form("[(:a)]"));
}

#[test]
fn deep_forms_are_refused_by_the_reader() {
    let deep = "[{:a ".repeat(100_000);
    assert!(read(deep.as_bytes(), &CAPS).is_err());
    let most = format!("{}[]{}", "[{:a ".repeat(31), "}]".repeat(31));
    assert_eq!(query(&most).to_value(), form(&most));
}
