//! Checks the table of planted faults, `fixtures/planted.txt`: whether each fault can still be
//! planted. `tests/planted/run` plants them, and explains the marks of the table.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A part of a file that a fault replaces, and the fault's name.
type Part<'a> = (Range<usize>, &'a str);

/// The reasons why faults of a table cannot be planted, one per line.
pub(crate) fn unplantable(table: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut names = BTreeSet::new();
    let mut taken: BTreeMap<&str, Vec<Part<'_>>> = BTreeMap::new();
    for block in table.split("\n# ").skip(1) {
        let mut lines = block.lines().filter(|line| !line.is_empty() && !line.starts_with(';'));
        let (name, breaks, path) = (lines.next(), lines.next(), lines.next());
        let (Some(name), Some(_), Some(path)) = (name, breaks, path) else {
            faults.push(format!(
                "{block:?}: a fault has a name, what becomes of the program, a file and texts"
            ));
            continue;
        };
        if !names.insert(name) {
            faults.push(format!("{name}: two faults have this name"));
        }
        let lines: Vec<&str> = lines.collect();
        let text = |mark: char| {
            let lines = lines.iter().filter_map(|line| line.strip_prefix(mark));
            lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
        };
        for suite in text('?').split_whitespace().filter(|suite| *suite != "lib") {
            let path = suite.replace("::", "/");
            let places = [".rs", "/main.rs", "/mod.rs"].map(|end| format!("tests/{path}{end}"));
            let modules = [".rs", "/mod.rs"].map(|end| format!("tests/suite/{path}{end}"));
            if places.iter().chain(&modules).all(|place| read(place).is_none()) {
                faults.push(format!("{name}: there are no tests called {suite}"));
            }
        }
        let (was, becomes) = (text('-'), text('+'));
        let (head, rest) = was.split_once('«').unwrap_or(("", &was));
        let (inner, tail) = rest.split_once('»').unwrap_or((rest, ""));
        if inner.is_empty() || inner == becomes {
            faults.push(format!("{name}: nothing is replaced by something else"));
        }
        let file = read(path).unwrap_or_default();
        let whole = [head, inner, tail].concat();
        let (Some(at), 1) = (file.find(&whole), file.matches(&whole).count()) else {
            faults.push(format!("{name}: its text does not stand exactly once in {path}"));
            continue;
        };
        // Only the part in « » is replaced; the text around it makes the place unique.
        let part = at + head.len()..at + head.len() + inner.len();
        let others = taken.entry(path).or_default();
        // All faults are planted in one copy of the file, so their parts must not overlap.
        let crossed = others.iter().find(|(other, _)| part.start < other.end && other.start < part.end);
        faults.extend(crossed.map(|(_, other)| format!("{name}: it replaces what {other} replaces")));
        others.push((part, name));
    }
    faults
}
