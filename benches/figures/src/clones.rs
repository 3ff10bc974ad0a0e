//! Clones: places whose lines of code are the same.
//!
//! Lives here: pairs of places that share [`LINES`] lines of code or more. Not compared are indentation, comments, docs, blank
//! lines, lines of brackets alone, `use` declarations and tests. A pair is as long as it can be. The figure counts pairs of
//! files (a file with itself is one), so that long clones of one file do not weigh more than short ones of many.

use std::collections::{BTreeMap, BTreeSet};

use crate::lines::code_lines;
use crate::source::Source;

/// How many lines make a clone.
const LINES: usize = 6;

/// A file, and the first and the last line of a place in it.
type Place = (usize, usize, usize);

/// Two places with the same code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    pub(crate) places: [Place; 2],
    /// How many lines of code they share.
    pub(crate) lines: usize,
}

/// All pairs of places with the same code, in the order of the files.
pub(crate) fn pairs(sources: &[Source]) -> Vec<Pair> {
    let files: Vec<Vec<(usize, String)>> = sources.iter().map(code_lines).collect();
    let mut windows: BTreeMap<Vec<&str>, Vec<(usize, usize)>> = BTreeMap::new();
    for (file, lines) in files.iter().enumerate() {
        for (at, window) in lines.windows(LINES).enumerate() {
            let window: Vec<&str> = window.iter().map(|(_, text)| text.as_str()).collect();
            windows.entry(window).or_default().push((file, at));
        }
    }
    let mut pairs = Vec::new();
    for places in windows.values() {
        for (index, first) in places.iter().enumerate() {
            pairs.extend(places[index + 1..].iter().filter_map(|second| pair(&files, *first, *second)));
        }
    }
    pairs.sort();
    pairs
}

/// How many pairs of files have such places in common.
pub(crate) fn file_pairs(pairs: &[Pair]) -> usize {
    let files = pairs.iter().map(|pair| pair.places.map(|(file, ..)| file));
    files.collect::<BTreeSet<_>>().len()
}

/// The pair that starts at two lines; `None` where the lines before are the same too, or where it overlaps itself.
fn pair(files: &[Vec<(usize, String)>], first: (usize, usize), second: (usize, usize)) -> Option<Pair> {
    let text = |(file, at): (usize, usize), after: usize| files[file].get(at + after).map(|(_, text)| text);
    let before = |(file, at): (usize, usize)| at.checked_sub(1).and_then(|at| text((file, at), 0));
    if before(first).is_some_and(|line| before(second) == Some(line)) {
        return None;
    }
    let same = |after: &usize| text(first, *after).is_some_and(|line| text(second, *after) == Some(line));
    let mut lines = (0..).take_while(same).count();
    if first.0 == second.0 {
        lines = lines.min(second.1 - first.1);
    }
    let place = |(file, at): (usize, usize)| (file, files[file][at].0, files[file][at + lines - 1].0);
    (lines >= LINES).then(|| Pair { places: [place(first), place(second)], lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIX: &str = "fn a() {\n    b();\n    c();\n    d();\n    e();\n    f(); }\n";

    fn check(texts: &[&str], expected: &[(usize, [Place; 2])]) {
        let parse = |text: &&str| Source::parse("a.rs", &["crate"], text).expect("a sample parses");
        let found = pairs(&texts.iter().map(parse).collect::<Vec<_>>());
        let found: Vec<_> = found.into_iter().map(|pair| (pair.lines, pair.places)).collect();
        assert_eq!(found, expected, "{texts:?}");
    }

    #[test]
    fn six_lines_are_a_clone_and_five_are_none() {
        check(&[SIX, SIX], &[(6, [(0, 1, 6), (1, 1, 6)])]);
        check(&[SIX, &SIX.replace("e();", "g();")], &[]);
        check(&[&format!("{SIX}{SIX}")], &[(6, [(0, 1, 6), (0, 7, 12)])]);
    }

    #[test]
    fn a_longer_clone_counts_once() {
        let seven = SIX.replace("b();", "b();\n    b();");
        check(&[&seven, &seven], &[(7, [(0, 1, 7), (1, 1, 7)])]);
        check(
            &[SIX, SIX, SIX],
            &[(6, [(0, 1, 6), (1, 1, 6)]), (6, [(0, 1, 6), (2, 1, 6)]), (6, [(1, 1, 6), (2, 1, 6)])],
        );
    }

    #[test]
    fn a_pair_of_files_counts_once() {
        let pair = |first, second| Pair { places: [(first, 1, 6), (second, 1, 6)], lines: 6 };
        assert_eq!(file_pairs(&[pair(0, 1), pair(0, 1), pair(0, 0), pair(1, 2)]), 3);
    }

    #[test]
    fn comments_blanks_and_uses_make_no_difference() {
        check(&[SIX, &SIX.replace("c();", "c(); // why\n\n    /* how */")], &[(6, [(0, 1, 6), (1, 1, 8)])]);
        let brackets = SIX.replace("c();", "{\n}\nc();");
        check(&[SIX, &brackets], &[(6, [(0, 1, 6), (1, 1, 8)])]);
        let uses = "use a::{\n    b,\n    c,\n    d,\n    e,\n    f,\n};\n";
        check(&[uses, uses], &[]);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{SIX}}}\n");
        check(&[&tests, &tests], &[]);
    }
}
