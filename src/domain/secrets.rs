//! Secrets in texts: tokens that begin with a prefix that everybody knows are replaced before a text is stored or sent.
//!
//! This catches what a model copies by mistake, and is no proof that a text holds no secret. Invariant: everything else in a text
//! stays as it is, and the text of a secret is nowhere in the result.

use std::borrow::Cow;

/// What stands in a text where a secret was.
pub const REDACTED: &str = "[REDACTED]";

/// What begins like this is a secret, if at least so many characters of a token follow.
const PREFIXES: &[(&str, usize)] =
    &[("sk-ant-", 8), ("sk-", 16), ("xoxb-", 8), ("ghp_", 16), ("glpat-", 8), ("AKIA", 12), ("dk_", 16)];

/// How long a part of a JSON web token is at least.
const PART_LEAST: usize = 4;

/// Words before a secret, which is what follows them behind blanks.
const SCHEMES: &[(&str, usize)] = &[("bearer", 8), ("basic", 8)];

/// Returns the text without secrets: ten kinds of tokens, by their prefixes. Source: SEED-001's code.
///
/// The time is in proportion to the length of the text, whatever stands in it: texts of agents pass here under the engine's lock.
pub fn redacted(text: &str) -> Cow<'_, str> {
    let mut clean = String::new();
    let (mut at, mut copied) = (0, 0);
    let mut tokens = Tokens { text, end: 0, dot: None };
    while at < text.len() {
        // A prefix within a word belongs to the word: `task-` ends like `sk-`.
        let is_inside = text[..at].chars().next_back().is_some_and(is_of_word);
        let secret = if is_inside { None } else { tokens.secret_at(at) };
        match secret {
            Some((from, length)) => {
                clean.push_str(&text[copied..at + from]);
                clean.push_str(REDACTED);
                at += from + length;
                copied = at;
            }
            None => at += text[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    // Every replacement moves `copied`, so nothing was replaced.
    if copied == 0 {
        return text.into();
    }
    clean.push_str(&text[copied..]);
    clean.into()
}

/// The tokens of a text, asked for from its beginning to its end. A token has many places at which a secret may begin, so where
/// it ends is searched once and not at each of them.
struct Tokens<'t> {
    text: &'t str,
    /// Where the token ends that was asked for last.
    end: usize,
    /// The first full stop from the place on that was asked for last, or the end of the text; `None` before the first question.
    dot: Option<usize>,
}

impl Tokens<'_> {
    /// The secret that begins here: how far from here it begins, and how long it is.
    fn secret_at(&mut self, at: usize) -> Option<(usize, usize)> {
        let rest = &self.text[at..];
        let prefixed = PREFIXES.iter().find_map(|(prefix, least)| {
            rest.starts_with(prefix).then_some(())?;
            let behind = self.token_len(at + prefix.len());
            (behind >= *least).then_some((0, prefix.len() + behind))
        });
        prefixed.or_else(|| self.web_token(at)).or_else(|| self.credentials(at))
    }

    /// A JSON web token: three parts of letters, of which the first begins an object.
    fn web_token(&mut self, at: usize) -> Option<(usize, usize)> {
        self.text[at..].starts_with("eyJ").then_some(())?;
        let end = at + 3 + self.token_len(at + 3);
        let dot = Some(self.dot_from(at)).filter(|dot| *dot < end)?;
        // Characters of tokens are ASCII, so the slices end between two characters.
        let second = self.text[dot + 1..end].bytes().take_while(|byte| *byte != b'.').take(PART_LEAST);
        (dot - at >= PART_LEAST && second.count() == PART_LEAST).then_some((0, end - at))
    }

    /// What follows the name of a scheme.
    fn credentials(&mut self, at: usize) -> Option<(usize, usize)> {
        SCHEMES.iter().find_map(|(scheme, least)| {
            let (word, behind) = self.text[at..].split_at_checked(scheme.len())?;
            // First the word: what follows is read only behind a scheme.
            word.eq_ignore_ascii_case(scheme).then_some(())?;
            let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
            let length = self.token_len(at + scheme.len() + blanks);
            let is_secret = blanks > 0 && length >= *least;
            // `basic understanding` is no secret: a word has no digit and no capital within.
            let is_word = || behind[blanks..blanks + length].bytes().all(|byte| byte.is_ascii_lowercase());
            (is_secret && !is_word()).then_some((scheme.len() + blanks, length))
        })
    }

    /// How long the token is that begins here.
    fn token_len(&mut self, at: usize) -> usize {
        if self.end <= at {
            let rest = &self.text[at..];
            let length = rest.find(|found| !is_of_token(found)).unwrap_or(rest.len());
            // A full stop ends the sentence and not the token.
            self.end = at + rest[..length].trim_end_matches('.').len();
        }
        self.end.saturating_sub(at)
    }

    /// Where the first full stop is from here on, or else the end of the text.
    fn dot_from(&mut self, at: usize) -> usize {
        let known = self.dot.filter(|dot| at <= *dot);
        let dot =
            known.unwrap_or_else(|| self.text[at..].find('.').map_or(self.text.len(), |found| at + found));
        self.dot = Some(dot);
        dot
    }
}

/// Whether what follows this character is the middle of a word.
fn is_of_word(found: char) -> bool {
    found.is_alphanumeric() || matches!(found, '-' | '_')
}

fn is_of_token(found: char) -> bool {
    found.is_ascii_alphanumeric() || matches!(found, '-' | '_' | '.' | '+' | '/' | '=' | '~')
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "abcdefghij0123456789";

    /// One of each kind, with what of it may stay.
    fn secrets() -> Vec<(String, &'static str)> {
        let bare = ["sk-", "sk-ant-", "xoxb-", "ghp_", "glpat-", "AKIA", "dk_"];
        let bare = bare.into_iter().map(|prefix| (format!("{prefix}{LONG}"), ""));
        let others = [
            ("eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl".to_owned(), ""),
            (format!("Bearer {LONG}"), "Bearer "),
            ("Basic dXNlcjpwYXNz".to_owned(), "Basic "),
        ];
        bare.chain(others).collect()
    }

    #[test]
    fn a_secret_is_replaced_wherever_it_stands() {
        for (secret, stays) in secrets() {
            let gone = format!("{stays}{REDACTED}");
            for (before, behind) in [
                ("", ""),
                ("key: ", ""),
                ("", ", that is it"),
                ("ü \"", "\"}"),
                ("(", ")\n"),
                ("?key=", "."),
                ("/", ".\n"),
            ] {
                let text = format!("{before}{secret}{behind}");
                assert_eq!(redacted(&text), format!("{before}{gone}{behind}"), "{text}");
            }
            let two = format!("{secret} {secret}");
            assert_eq!(redacted(&two), format!("{gone} {gone}"));
        }
        let all: Vec<String> = secrets().into_iter().map(|(secret, _)| secret).collect();
        let json = format!("{{\"a\":\"{}\"}}", all.join("\",\"b\":\""));
        assert_eq!(redacted(&json).matches(REDACTED).count(), all.len(), "{json}");
        assert!(!redacted(&json).contains(LONG), "{json}");
    }

    #[test]
    fn secrets_that_overlap_are_gone_both() {
        for text in
            ["Bearer sk-ant-abcdefgh12345678", "sk-sk-ant-abcdefgh12345678", "Bearer ghp_abcdefgh12345678abc"]
        {
            assert!(!redacted(text).contains("12345678"), "{text}: {}", redacted(text));
        }
    }

    /// Each of these has a place at every few characters at which a secret may begin. If the rest of the text were read from
    /// each, this test would take hours.
    #[test]
    fn a_long_text_is_read_once() {
        for text in ["=", "/sk-", "/eyJ", "/eyJ.", "/eyJa.b", ".", "bearer ", "basic\t", "/sk-a.", "...a"] {
            let long = text.repeat((4 << 20) / text.len());
            assert!(redacted(&long).len() <= long.len(), "{text}");
        }
    }

    #[test]
    fn nothing_else_is_touched() {
        let texts = [
            "",
            "The task-force asks; ask-me-anything-about-this-project",
            "sk- and sk-short, AKIA, ghp_",
            "a basic understanding of bearer tokens",
            "Bearer of bad news",
            "eyJ is how they begin",
            "ü — 名前 sk",
        ];
        for text in texts {
            assert!(
                matches!(redacted(text), Cow::Borrowed(same) if same == text),
                "{text}: {}",
                redacted(text)
            );
        }
    }
}
