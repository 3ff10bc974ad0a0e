//! Measures GraphQL text before it is parsed: how deep its brackets nest, and how many tokens it has.
//!
//! Invariant: brackets in strings, block strings and comments do not count, and one pass with constant memory is enough.

/// The size of a text, which bounds the cost of parsing it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::surface::graphql) struct TextSize {
    /// The deepest nesting of `{}`, `[]` and `()`.
    pub(in crate::surface::graphql) depth: usize,
    /// Words, punctuation, strings and comments. Commas count too: they mean nothing, but the parser reads them.
    pub(in crate::surface::graphql) tokens: usize,
}

/// Measures a text.
pub(in crate::surface::graphql) fn measure(text: &str) -> TextSize {
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
            // Saturates, because a stray closing bracket must not compensate for an opening one behind it.
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    TextSize { depth: deepest, tokens }
}

fn is_word(byte: u8) -> bool {
    // Outside strings and comments no token contains a byte above ASCII. Such bytes are scanned as letters, so that one
    // character does not count as several tokens.
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the position after the string whose text begins at `at`. A string ends with its line at the latest, so that
/// an unclosed quote hides no brackets behind it.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\n' | b'\r' => return at,
            // Skips the escaped character, which may be a quote.
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the position after the block string whose text begins at `at`.
fn block_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        // The only escape in a block string is a backslash before three quotes.
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
            // An unclosed block string is a syntax error, whatever follows.
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
