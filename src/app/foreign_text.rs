//! Text of agents on a terminal: what it contains is shown, and never acted on.
//!
//! Invariant: printed text stays on its line, in its order and in its place. All of it is seen: a line break, an escape
//! sequence or a change of direction is printed by its number.

use crate::edn::Value;

/// Returns a text as it is, or in quotes with escapes if a terminal would do more with it than show it.
pub(super) fn visible(text: &str) -> String {
    if text.chars().all(is_plain) { text.to_owned() } else { shown(&Value::string(text)) }
}

/// Returns a value as EDN, with escapes for what a terminal would not show.
pub(super) fn shown(value: &Value) -> String {
    let mut out = String::new();
    for found in value.to_string().chars() {
        if is_plain(found) {
            out.push(found);
        } else {
            out.extend(found.escape_unicode());
        }
    }
    out
}

/// Whether a terminal shows a character, and does nothing else with it.
fn is_plain(found: char) -> bool {
    !found.is_control() && !HIDDEN.iter().any(|(first, last)| (*first..=*last).contains(&found))
}

/// Characters that are not seen, or that move what is seen: the category Cf and the separators of lines and paragraphs.
/// Source: Unicode 16.0, `DerivedGeneralCategory.txt`.
const HIDDEN: [(char, char); 19] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{fff9}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    // Tags, and the selectors of variants beside them.
    ('\u{e0000}', '\u{e0fff}'),
];

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
            assert!(visible(text).chars().all(is_plain));
        }
    }
}
