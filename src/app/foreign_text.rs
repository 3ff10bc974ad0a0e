//! Text of agents on a terminal: what it contains is shown, and never acted on.
//!
//! Invariant: printed text stays on its line, in its order and in its place. All of it is seen: a line break, an escape
//! sequence or a change of direction is printed by its number.

use crate::domain::is_shown;
use crate::edn::Value;

/// Returns a text as it is, or in quotes with escapes if a terminal would do more with it than show it.
pub(super) fn visible(text: &str) -> String {
    if text.chars().all(is_shown) { text.to_owned() } else { shown(&Value::string(text)) }
}

/// Returns a value as EDN, with escapes for what a terminal would not show.
pub(super) fn shown(value: &Value) -> String {
    let mut out = String::new();
    for found in value.to_string().chars() {
        if is_shown(found) {
            out.push(found);
        } else {
            out.extend(found.escape_unicode());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_shown() {
        for (text, expected) in [
            ("Nice morning review", "Nice morning review"),
            ("grün, 日本語, C:\\temp", "grün, 日本語, C:\\temp"),
            ("a\n  rule  safe", "\"a\\n  rule  safe\""),
            ("\u{1b}]0;pwned\u{7}\u{1b}[2J", "\"\\u001b]0;pwned\\u0007\\u001b[2J\""),
            ("\u{9b}2J", "\"\\u009b2J\""),
            ("tfel\u{202e}right", "\"tfel\\u{202e}right\""),
            ("a\u{200b}b", "\"a\\u{200b}b\""),
            ("\u{e0041}\u{e0042}", "\"\\u{e0041}\\u{e0042}\""),
        ] {
            assert_eq!(visible(text), expected);
            assert!(visible(text).chars().all(is_shown));
        }
    }
}
