//! The depth of brackets in GraphQL text and the number of its tokens, before any parser sees it.
//!
//! Invariant: brackets in strings, block strings and comments do not count, and one pass of constant memory finds the
//! answer.

/// What a text costs to parse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextSize {
    /// The deepest nesting of `{}`, `[]` and `()`.
    pub(super) depth: usize,
    /// Words, signs, strings, comments, and commas, which mean nothing and are read nevertheless.
    pub(super) tokens: usize,
}

/// Measures a text.
pub(super) fn measure(text: &str) -> TextSize {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut deepest, mut tokens) = (0, 0_usize, 0, 0);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        tokens += usize::from(!is_space);
        match byte {
            _ if is_word(*byte) => at += bytes[at..].iter().take_while(|byte| is_word(**byte)).count(),
            b'#' => at += bytes[at..].iter().take_while(|byte| !matches!(byte, b'\n' | b'\r')).count(),
            b'"' if bytes[at..].starts_with(b"\"\"") => at = block_end(bytes, at + 2),
            b'"' => at = string_end(bytes, at),
            b'{' | b'[' | b'(' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    TextSize { depth: deepest, tokens }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Just behind the string whose text begins at `at`. A string ends with its line at the latest: what follows is read
/// as the document that it would be then, so that an open quote hides nothing.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\n' | b'\r' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Just behind the block string whose text begins at `at`.
fn block_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        if bytes[at..].starts_with(b"\\\"\"\"") {
            at += 4;
        } else if bytes[at..].starts_with(b"\"\"\"") {
            return at + 3;
        } else {
            at += 1;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_of_the_document_count() {
        for (text, expected) in [
            ("", 0),
            ("{ a }", 1),
            ("{ a(b: [{ c: 1 }]) { d } }", 4),
            ("{ a } { b { c } }", 2),
            ("# {{{{\n{ a }", 1),
            ("# {{{{\r{ a }", 1),
            (r#"{ a(b: "{{{\"{{") }"#, 2),
            (r#"{ a(b: """{{ \""" {{ " {{""") { c } }"#, 2),
            ("{ a(b: \"{{{\n{ c", 3),
            ("}}}{", 1),
            (r#""""""" {"#, 1),
            // An open block string is no document at all.
            ("\"\"\" {", 0),
        ] {
            assert_eq!(measure(text).depth, expected, "{text}");
        }
        assert_eq!(measure(&"[".repeat(100_000)), TextSize { depth: 100_000, tokens: 100_000 });
    }

    #[test]
    fn tokens_are_counted() {
        for (text, expected) in
            [("", 0), (" \n", 0), ("{ ab, c }", 5), ("# x y\n a", 2), (r#"a(b: "x y")"#, 6)]
        {
            assert_eq!(measure(text).tokens, expected, "{text}");
        }
    }
}
