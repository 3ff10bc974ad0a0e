//! Measures how deep the brackets of a text nest, on its bytes, before a parser sees it.
//!
//! Brackets in strings, characters and comments do not count. Prefixes of EDN do not either: the
//! EDN reader does not recurse, and counts and limits tags itself. An invalid text gets some depth
//! too; its parser reports the error. Invariant: one pass, no memory, no panic.

/// The syntax of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Strings with `"`, characters with `\`, comments from `;` on.
    Edn,
    /// Strings with `"`.
    Json,
    /// Strings with `"` and `"""`, comments from `#` on.
    GraphQl,
}

/// The deepest nesting of `()`, `[]` and `{}`.
pub fn depth(text: &[u8], syntax: Syntax) -> usize {
    let (mut depth, mut deepest, mut at) = (0_usize, 0, 0);
    while at < text.len() {
        match text[at] {
            b'"' => at = string_end(text, at, syntax),
            // The byte after a backslash is part of a character, even if it is a bracket.
            b'\\' if syntax == Syntax::Edn => at += 2,
            b';' if syntax == Syntax::Edn => at = line_end(text, at),
            b'#' if syntax == Syntax::GraphQl => at = line_end(text, at),
            b'(' | b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
                at += 1;
            }
            b')' | b']' | b'}' => {
                // A surplus closing bracket must not hide the depth of what follows.
                depth = depth.saturating_sub(1);
                at += 1;
            }
            _ => at += 1,
        }
    }
    deepest
}

/// The position after the string that begins at `at`.
fn string_end(text: &[u8], at: usize, syntax: Syntax) -> usize {
    if syntax == Syntax::GraphQl && text[at..].starts_with(BLOCK) {
        return block_end(text, at + BLOCK.len());
    }
    let mut at = at + 1;
    while at < text.len() && text[at] != b'"' {
        // A line break in a GraphQL string is an error and ends the string: brackets after it
        // count.
        if syntax == Syntax::GraphQl && matches!(text[at], b'\n' | b'\r') {
            return at;
        }
        // This may lead past the end of the text, so every loop compares before it reads.
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// The position after the block string whose text begins at `at`.
fn block_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        if text[at] == b'\\' && text[at + 1..].starts_with(BLOCK) {
            at += 1 + BLOCK.len();
        } else if text[at..].starts_with(BLOCK) {
            return at + BLOCK.len();
        } else {
            at += 1;
        }
    }
    at
}

fn line_end(text: &[u8], at: usize) -> usize {
    let rest = &text[at..];
    at + rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len())
}

const BLOCK: &[u8] = b"\"\"\"";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::edn::{Caps, read};

    #[track_caller]
    fn check(syntax: Syntax, text: &str, expected: usize) {
        assert_eq!(depth(text.as_bytes(), syntax), expected, "{syntax:?} {text}");
    }

    #[test]
    fn brackets_nest() {
        for syntax in [Syntax::Edn, Syntax::Json, Syntax::GraphQl] {
            check(syntax, "", 0);
            check(syntax, "1", 0);
            check(syntax, "[[][]]", 2);
            check(syntax, "[{(]", 3);
            check(syntax, "]]][[", 2);
            check(syntax, &"[".repeat(100_000), 100_000);
            check(syntax, r#"["[[[", "\"[[", "\\"]"#, 1);
            check(syntax, r#"["\\", ["#, 2);
            check(syntax, "\"[[[", 0);
            check(syntax, "\"\\", 0);
        }
    }

    #[test]
    fn each_syntax_has_its_own_words() {
        check(Syntax::Edn, r"[\( \[ \\ \{ [] \newline]", 2);
        check(Syntax::Edn, "[ ; [[[\n [] ]", 2);
        check(Syntax::Edn, "\\", 0);
        check(Syntax::Edn, r#"[\" [ \"]"#, 2);
        check(Syntax::Edn, "#{[#_ [] ]}", 3);
        check(Syntax::Edn, "#a #a\n_;", 0);
        check(Syntax::Json, "[ ; [[", 3);
        check(Syntax::GraphQl, "{ a # {{{{\n { b } }", 2);
        check(Syntax::GraphQl, "{ a # {{{{\r { b } }", 2);
        check(Syntax::GraphQl, r#"{ a(x: """ {{{ \""" {{{ "quoted" """) { b } }"#, 2);
        check(Syntax::GraphQl, r#"{ a(x: "", y: [""]) }"#, 3);
        check(Syntax::GraphQl, "{ a(x: \"{{\n{{{{", 6);
        check(Syntax::GraphQl, "\"\"\"{{", 0);
    }

    proptest! {
        /// The scan never finds less depth than the reader, prefixes aside, so nothing deeper
        /// reaches a parser.
        #[test]
        fn the_scan_agrees_with_the_reader(text in "[\\[\\]{}()\"\\\\;#_a1 \n]{0,40}") {
            let found = depth(text.as_bytes(), Syntax::Edn);
            let caps = Caps { bytes_max: 1_000, depth_max: 1_000, digits_max: 100, forms_max: 1_000 };
            if read(text.as_bytes(), &caps).is_ok() {
                let prefixes = text.bytes().filter(|byte| *byte == b'#').count();
                let tight = Caps { depth_max: u16::try_from(found + prefixes).unwrap_or(u16::MAX), ..caps };
                prop_assert!(read(text.as_bytes(), &tight).is_ok(), "{} in {:?}", found, text);
            }
        }
    }
}
