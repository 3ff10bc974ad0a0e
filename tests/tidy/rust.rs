//! A small Rust reader: tokens without comments and literals, and the paths that code names.

/// One token. `::` is one token; comments and string literals are none; a number is a word.
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let is = |at: usize, c: char| chars.get(at) == Some(&c);
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while at < chars.len() {
        let start = at;
        let word = word_end(&chars, at);
        let quote = word + chars[word..].iter().take_while(|c| **c == '#').count();
        let prefix: String = chars[at..word].iter().collect();
        if is(at, '/') && is(at + 1, '/') {
            at += chars[at..].iter().take_while(|c| **c != '\n').count();
        } else if is(at, '/') && is(at + 1, '*') {
            at = comment_end(&chars, at);
        } else if ["r", "br", "cr"].contains(&prefix.as_str()) && is(quote, '"') {
            at = raw_string_end(&chars, quote, quote - word);
        } else if ["", "b", "c"].contains(&prefix.as_str()) && is(word, '"') {
            at = quoted_end(&chars, word);
        // A quote begins a character or a lifetime: `'a'` or `'a`.
        } else if ["", "b"].contains(&prefix.as_str()) && is(word, '\'') {
            let is_char = is(word + 1, '\\') || is(word + 2, '\'');
            at = if is_char { quoted_end(&chars, word) } else { word_end(&chars, word + 1) };
        // A raw identifier: `r#type`.
        } else if prefix == "r" && is(word, '#') {
            at = word + 1;
        } else if !chars[at].is_whitespace() {
            let is_path = is(at, ':') && is(at + 1, ':');
            at = if word > at { word } else { at + 1 + usize::from(is_path) };
            tokens.push(Token { text: chars[start..at].iter().collect(), line });
        } else {
            at += 1;
        }
        line += chars[start..at].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

pub(crate) fn word_end(chars: &[char], at: usize) -> usize {
    at + chars[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count()
}

/// The position after the comment that begins at `at`; comments nest.
pub(crate) fn comment_end(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < chars.len() {
        match chars[at..].get(..2) {
            Some(['/', '*']) => (depth, at) = (depth + 1, at + 2),
            Some(['*', '/']) if depth == 1 => return at + 2,
            Some(['*', '/']) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    at
}

/// The position after the quote that closes the one at `at`.
pub(crate) fn quoted_end(chars: &[char], at: usize) -> usize {
    let mut end = at + 1;
    while end < chars.len() && chars[end] != chars[at] {
        end += if chars[end] == '\\' { 2 } else { 1 };
    }
    chars.len().min(end + 1)
}

/// The position after the end of a raw string: a quote followed by as many `#` as precede its
/// start.
pub(crate) fn raw_string_end(chars: &[char], at: usize, hashes: usize) -> usize {
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let body = &chars[at + 1..];
    let length = body.windows(close.len()).position(|window| window == close);
    length.map_or(chars.len(), |length| at + 1 + length + close.len())
}

/// A path named by code, from the crate's root if it leads there: `crate::engine::State`.
pub(crate) struct Named {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
}

/// All paths of at least two segments. `use` trees are flattened, `self` and `super` resolved,
/// inline modules included.
pub(crate) fn paths(module: &[String], tokens: &[Token]) -> Vec<Named> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut here: Vec<String> = std::iter::once("crate".to_owned()).chain(module.iter().cloned()).collect();
    let (mut named, mut opened, mut depth, mut at) = (Vec::new(), Vec::new(), 0_usize, 0);
    while at < tokens.len() {
        let continues = at >= 2 && text(at - 1) == "::" && is_segment(text(at - 2));
        match text(at) {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                // This brace closes an inline module.
                if opened.last() == Some(&depth) {
                    opened.pop();
                    here.pop();
                }
            }
            "mod" if text(at + 2) == "{" => {
                opened.push(depth);
                here.push(text(at + 1).to_owned());
            }
            // `use crate as x` names the root itself, which no rule may miss.
            "crate" if text(at + 1) == "as" => flatten(tokens, at, &here, &[], &mut named),
            word if is_segment(word) && is_word(word) && text(at + 1) == "::" && !continues => {
                flatten(tokens, at, &here, &[], &mut named);
                // `flatten` has read the whole tree; its inner paths must not be read again.
                at = tree_end(tokens, at);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    named
}

/// Adds the paths of the `use` tree at `at`, below the `base` read before it.
pub(crate) fn flatten(tokens: &[Token], at: usize, here: &[String], base: &[String], named: &mut Vec<Named>) {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut path = base.to_vec();
    match text(at) {
        "{" => {
            let mut branch = at + 1;
            while branch < tokens.len() && text(branch) != "}" {
                if text(branch) != "," {
                    flatten(tokens, branch, here, base, named);
                }
                branch = if text(branch) == "," { branch + 1 } else { branch_end(tokens, branch) };
            }
            return;
        }
        "self" if base.is_empty() => path = here.to_vec(),
        "self" => {}
        "super" if base.is_empty() => path = here[..here.len() - 1].to_vec(),
        // Within a tree, `super` removes the segment before it.
        "super" => drop(path.pop()),
        "reveille" if base.is_empty() => path.push("crate".to_owned()),
        word => path.push(word.to_owned()),
    }
    let follows = text(at + 1) == "::" && (is_word(text(at + 2)) || ["{", "*"].contains(&text(at + 2)));
    if follows {
        flatten(tokens, at + 2, here, &path, named);
    } else if !path.is_empty() {
        named.push(Named { segments: path, line: tokens[at].line });
    }
}

/// The position after the path that starts at `at`, its tree included.
pub(crate) fn tree_end(tokens: &[Token], mut at: usize) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    while text(at + 1) == "::" && (is_word(text(at + 2)) || text(at + 2) == "*") {
        at += 2;
    }
    if text(at + 1) != "::" || text(at + 2) != "{" {
        return at + 1;
    }
    at += 3;
    while at < tokens.len() && text(at) != "}" {
        at = branch_end(tokens, at) + usize::from(text(branch_end(tokens, at)) == ",");
    }
    at + 1
}

/// The position of the comma or brace that ends a branch of a tree.
pub(crate) fn branch_end(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            "," | "}" if depth == 0 => break,
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

pub(crate) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether a `::` after this word continues a path; after `use` or a sign it starts one.
pub(crate) fn is_segment(text: &str) -> bool {
    let opens = ["use", "as", "in", "dyn", "impl", "for", "mut", "return", "where"];
    text == ">" || is_word(text) && !opens.contains(&text)
}

/// The name and the length in lines of every function with a body.
pub(crate) fn functions(tokens: &[Token]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        if pair[0].text != "fn" || !is_word(&pair[1].text) {
            continue;
        }
        let mut depth = 0_usize;
        for token in &tokens[at..] {
            match token.text.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                "}" if depth == 1 => {
                    found.push((pair[1].text.clone(), token.line + 1 - pair[0].line));
                    break;
                }
                "}" => depth = depth.saturating_sub(1),
                // A declaration without a body, as in a trait.
                ";" if depth == 0 => break,
                _ => {}
            }
        }
    }
    found
}
