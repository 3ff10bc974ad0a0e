//! The tokens of a file with their places, and what stands between them: comments.
//!
//! Lives here: the flat list of tokens, the comments, and their line numbers. The lexer is the one of `proc-macro2`.
//! Invariant: whatever no token covers is blank or a comment, so that `//` in a string is never taken for one.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Mark,
    Literal,
    /// A bracket, opening or closing.
    Bracket,
    /// `///`, `//!`, `/** */` or `/*! */`. A written `#[doc = ".."]` is code.
    Doc,
}

/// A token and the bytes of the file that it covers.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) bytes: Range<usize>,
}

/// All tokens of a stream that was parsed from `text`, in their order.
pub(crate) fn tokens(text: &str, stream: &TokenStream) -> Vec<Token> {
    let mut found = Vec::new();
    flatten(text, stream.clone(), &mut found);
    found
}

fn flatten(text: &str, stream: TokenStream, found: &mut Vec<Token>) {
    let mut trees = stream.into_iter();
    while let Some(tree) = trees.next() {
        let bytes = tree.span().byte_range();
        match tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                flatten(text, group.stream(), found);
            }
            TokenTree::Group(group) => {
                let (open, close) = (group.span_open().byte_range(), group.span_close().byte_range());
                found.push(Token { kind: Kind::Bracket, bytes: open });
                flatten(text, group.stream(), found);
                found.push(Token { kind: Kind::Bracket, bytes: close });
            }
            // The lexer turns a doc comment into `#[doc = ".."]`; all tokens of that have the comment's place.
            TokenTree::Punct(_) if text[bytes.clone()].starts_with("/") && bytes.len() > 1 => {
                found.push(Token { kind: Kind::Doc, bytes });
                let _ = trees.find(|tree| matches!(tree, TokenTree::Group(_)));
            }
            TokenTree::Punct(_) => found.push(Token { kind: Kind::Mark, bytes }),
            TokenTree::Ident(_) => found.push(Token { kind: Kind::Word, bytes }),
            TokenTree::Literal(_) => found.push(Token { kind: Kind::Literal, bytes }),
        }
    }
}

/// The comments between tokens, doc comments left out.
pub(crate) fn comments(text: &str, tokens: &[Token]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    let end = text.len()..text.len();
    for bytes in tokens.iter().map(|token| &token.bytes).chain([&end]) {
        while let Some(at) = text.get(from..bytes.start).and_then(|gap| gap.find('/')) {
            let comment = from + at..from + at + comment_length(&text[from + at..bytes.start]);
            from = comment.end;
            found.push(comment);
        }
        from = bytes.end;
    }
    found
}

/// The length of the comment that a text starts with; block comments nest.
fn comment_length(text: &str) -> usize {
    if !text.starts_with("/*") {
        return text.find('\n').unwrap_or(text.len());
    }
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Where the lines of a text begin, so that a place can be turned into a line number.
pub(crate) struct LineStarts(Vec<usize>);

impl LineStarts {
    pub(crate) fn of(text: &str) -> LineStarts {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        LineStarts(std::iter::once(0).chain(ends).collect())
    }

    /// The line that a byte is in; the first is 1.
    pub(crate) fn line(&self, byte: usize) -> usize {
        self.0.partition_point(|start| *start <= byte)
    }

    /// The lines that some bytes are in.
    pub(crate) fn lines(&self, bytes: &Range<usize>) -> Range<usize> {
        self.line(bytes.start)..self.line(bytes.end.saturating_sub(1).max(bytes.start)) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let stream: TokenStream = text.parse().expect("a sample has tokens");
        let found = comments(text, &tokens(text, &stream));
        let found: Vec<&str> = found.into_iter().map(|bytes| &text[bytes]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn comments_stand_between_tokens_only() {
        check("let a = 1; // why\n// and how\n", &["// why", "// and how"]);
        check("let a = \"// no\"; let b = '/'; let c = a / b;", &[]);
        check("let a = r#\"// \" no\"#; // yes", &["// yes"]);
        check("let a = b\"/*\"; let b = c\"//\";", &[]);
        check("f(/* one /* two */ // three */ a) // four", &["/* one /* two */ // three */", "// four"]);
        check("/// doc\n//! doc\n/** doc */ /*! doc */ //// none\n", &["//// none"]);
        check("// größer\nlet größe = \"ä // ö\"; // ü", &["// größer", "// ü"]);
    }

    #[test]
    fn a_line_number_is_that_of_its_byte() {
        let starts = LineStarts::of("ab\ncd\n\ne");
        assert_eq!([0, 2, 3, 6, 7].map(|byte| starts.line(byte)), [1, 1, 2, 3, 4]);
        assert_eq!(starts.lines(&(1..4)), 1..3);
        assert_eq!(starts.lines(&(0..3)), 1..2);
    }
}
