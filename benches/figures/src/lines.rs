//! Lines of one file: code, docs, comments; and how often some words stand in it.
//!
//! Lives here: what is counted by lines and by tokens. Tests are left out throughout.

use crate::source::Source;
use crate::token::Kind;

/// What the lines of a file are. A line may hold code and a comment, and counts as both then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) code: usize,
    pub(crate) doc: usize,
    /// Lines with a comment that is no doc comment.
    pub(crate) comment: usize,
    /// All lines outside the tests, blank ones included.
    pub(crate) length: usize,
}

/// Counts the lines of a file.
pub(crate) fn count_lines(source: &Source) -> Lines {
    let whole = source.text.lines().count();
    let mut is = [(); 4].map(|()| vec![false; whole + 2]);
    for token in &source.tokens {
        let kind = usize::from(token.kind == Kind::Doc);
        source.starts.lines(&token.bytes).for_each(|line| is[kind][line] = true);
    }
    for comment in &source.comments {
        source.starts.lines(comment).for_each(|line| is[2][line] = true);
    }
    for test in &source.tests {
        source.starts.lines(test).for_each(|line| is[3][line] = true);
    }
    // A blank line within a string of several lines is no line of code.
    for (line, text) in (1..).zip(source.text.lines()) {
        is[0][line] &= !text.trim().is_empty();
    }
    let [code, doc, comment, tests] = is.map(|is| is.into_iter().filter(|is| *is).count());
    Lines { code, doc, comment, length: whole - tests }
}

/// The lines of code as text, without comments and indentation. Left out are `use` declarations and lines of brackets alone.
pub(crate) fn code_lines(source: &Source) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut end = 0;
    for token in source.tokens.iter().filter(|token| token.kind != Kind::Doc) {
        let line = source.starts.line(token.bytes.start);
        let word = source.word(token);
        match lines.last_mut() {
            Some((last, text)) if *last == line => {
                if token.bytes.start > end {
                    text.push(' ');
                }
                text.push_str(word);
            }
            _ => lines.push((line, word.to_owned())),
        }
        end = token.bytes.end;
    }
    let uses: Vec<_> = source.ast.items.iter().filter_map(use_bytes).collect();
    let is_use = |line: usize| uses.iter().any(|bytes| source.starts.lines(bytes).contains(&line));
    lines.retain(|(line, text)| text.contains(char::is_alphanumeric) && !is_use(*line));
    lines
}

fn use_bytes(item: &syn::Item) -> Option<std::ops::Range<usize>> {
    use syn::spanned::Spanned;
    match item {
        syn::Item::Use(item) => Some(item.span().byte_range()),
        _ => None,
    }
}

/// Words of which a figure is how often they stand in the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) unwraps: usize,
    pub(crate) expects: usize,
    /// `assert!`, `assert_eq!`, `assert_ne!` and their `debug_` forms, in constants too.
    pub(crate) assertions: usize,
}

/// Counts the calls of `.unwrap()` and `.expect(..)`, and the assertions.
pub(crate) fn count_words(source: &Source) -> Words {
    let words = source.words();
    let mut counts = Words::default();
    for window in words.windows(4) {
        counts.unwraps += usize::from(window == [".", "unwrap", "(", ")"]);
        counts.expects += usize::from(window[..3] == [".", "expect", "("]);
    }
    for pair in words.windows(2) {
        let name = pair[0].strip_prefix("debug_").unwrap_or(pair[0]);
        let is_assertion = ["assert", "assert_eq", "assert_ne"].contains(&name) && pair[1] == "!";
        counts.assertions += usize::from(is_assertion);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::parse("sample.rs", &["crate"], text).expect("a sample parses")
    }

    #[test]
    fn a_line_counts_by_what_stands_in_it() {
        let text =
            "//! Page.\n\n// why\nfn a() {} // and how\n/// Doc.\n#[doc = \"written\"]\nfn b() {\n\n}\n";
        let expected = Lines { code: 4, doc: 2, comment: 2, length: 9 };
        assert_eq!(count_lines(&source(text)), expected);
    }

    #[test]
    fn a_string_is_code_and_no_comment() {
        let text = "const A: &str = \"\n// no\n\n\";\nconst B: &str = r#\"/* \"// no */\"#;\n";
        assert_eq!(count_lines(&source(text)), Lines { code: 4, length: 5, ..Lines::default() });
    }

    #[test]
    fn tests_count_for_nothing() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n// why\n/// Doc.\n\
            fn b() { assert!(c.unwrap()) }\n}\n#[test]\nfn c() {}\n";
        let source = source(text);
        assert_eq!(count_lines(&source), Lines { code: 1, length: 1, ..Lines::default() });
        assert_eq!(count_words(&source), Words::default());
        let inner = "impl A {\n#[cfg(all(test, feature = \"x\"))]\nfn a() {}\n#[cfg(any(test, feature = \"x\"))]\nfn b() {}\n}\n";
        assert_eq!(count_lines(&self::source(inner)).code, 4);
    }

    #[test]
    fn words_are_counted_in_code_only() {
        let text = "fn a() { b.unwrap(); b.unwrap_or(1); c\n.expect(\"// .expect(\"); // d.unwrap()\n\
            assert!(e); debug_assert_eq!(f, g); }\nconst _: () = assert!(h);";
        let expected = Words { unwraps: 1, expects: 1, assertions: 3 };
        assert_eq!(count_words(&source(text)), expected);
    }

    #[test]
    fn lines_of_code_are_normalised() {
        let text = "use a::{\n    b,\n};\nfn a() { // why\n    b( c ,\n\td)\n}";
        let lines = code_lines(&source(text));
        let expected = [(4, "fn a() {"), (5, "b( c ,"), (6, "d)")];
        assert_eq!(lines, expected.map(|(line, text)| (line, text.to_owned())));
    }
}
