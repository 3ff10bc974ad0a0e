//! The executor, held to the recorded answers of a real Pathom 3 over the toy world.
//!
//! Lives here: `fixtures/eql/pathom3.txt` row by row, strict and lenient, and the rows that differ on
//! purpose. Does not live here: what Pathom was not asked, see `eql_run.rs`.

use crate::toy::{ask, form, keys, toy};
use reveille::edn::Value;

/// Request, mode, our answer, why it is not Pathom's.
const DIFFERENCES: &[(&str, &str, &str, &str)] = &[
    (
        "[(task/none {})]",
        "lenient",
        "{task/none {:PCR/mutation-error {:PERR/error-message \"Mutation task/none not found\"
           :PERR/error-data {:PCO/op-name task/none}}}}",
        "the recording has a Java exception here; the same as data",
    ),
    (
        "[{[:task/id _] [:task/title]}]",
        "lenient",
        "{[:task/id _] {:PCR/attribute-errors {:task/title {:PERR/cause :PERR/node-errors
           :PERR/node-error-details {1 {:PERR/cause :PERR/node-exception
             :PERR/exception {:PERR/error-message \"the id is no number\" :PERR/error-data nil}}}}}}}",
        "the recording has the text of a Java class cast; same keys, same causes",
    ),
    (
        "[m/f]",
        "both",
        "{:PERR/error-message \"Invalid expression m/f\"
          :PERR/error-data {:type :error/invalid-expression :path [0]}}",
        "a bare symbol is no query by EQL's specification (fixtures/eql/ast.txt); the library lets it pass",
    ),
    (
        "{:pathom/eql [:a \"x\"]}",
        "both",
        "{:PERR/error-message \"Invalid expression x\"
          :PERR/error-data {:type :error/invalid-expression :path [1]}}",
        "the data also says where",
    ),
];

#[test]
fn rows_of_pathom_agree() {
    let text = include_str!("../../fixtures/eql/pathom3.txt");
    let mut lines = text.lines();
    let (mut rows, mut differing) = (0, 0);
    while let (Some(strict), Some(lenient)) = (lines.next(), lines.next()) {
        let (request, strict) = strict.split_once(" => ").expect("request => answer");
        let lenient = lenient.strip_prefix("  lenient => ").expect("the lenient answer");
        for (mode, theirs) in [("strict", strict), ("lenient", lenient)] {
            rows += 1;
            let ours = ask(&mut toy(), request, mode == "lenient").expect("within the limits");
            let is_row = |(row, modes, _, _): &&(&str, &str, &str, &str)| {
                *row == request && (*modes == "both" || *modes == mode)
            };
            let theirs = form(&keys(theirs));
            match DIFFERENCES.iter().find(is_row) {
                None => assert_eq!(ours, theirs, "{request} {mode}"),
                Some((_, _, expected, reason)) => {
                    differing += 1;
                    assert_ne!(ours, theirs, "{request} {mode} agrees; no longer different: {reason}");
                    assert_eq!(ours, form(&keys(expected)), "{request} {mode}");
                }
            }
        }
    }
    assert_eq!((rows, differing), (54, 6), "rows, and those that differ");
}

/// Where the shape is all that can be compared, the error attributes stand at the same places.
#[test]
fn differing_rows_have_the_same_keys() {
    let theirs = "{[:task/id _] {:PCR/attribute-errors {:task/title {:PERR/cause :PERR/node-errors
        :PERR/node-error-details {1 {:PERR/cause :PERR/node-exception
        :PERR/exception {:PERR/error-message \"…\" :PERR/error-data nil}}}}}}}";
    let ours = ask(&mut toy(), "[{[:task/id _] [:task/title]}]", true).expect("within the limits");
    assert_eq!(outline(&ours), outline(&form(&keys(theirs))));
}

/// A value with its strings left out.
fn outline(value: &Value) -> Value {
    match value.as_map() {
        Some(map) => Value::Map(map.iter().map(|(key, value)| (key.clone(), outline(value))).collect()),
        None if value.as_str().is_some() => Value::string(""),
        None => value.clone(),
    }
}
