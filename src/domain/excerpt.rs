//! The beginning of a text, for lists that mention it in passing.
//!
//! Invariant: a text that was cut says so, and how long it is.

/// The beginning of a text and its length: `Sum up what has… (60,000 characters)`. A text that would not be shorter then is
/// whole.
pub(crate) fn excerpt(text: &str) -> String {
    let count = text.chars().count();
    if count <= SHOWN + NOTE {
        return text.to_owned();
    }
    let shown: String = text.chars().take(SHOWN).collect();
    format!("{}… ({} characters)", shown.trim_end(), grouped(count))
}

/// A number with commas: `60,000`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Characters that are shown of a text: enough to tell one thing from another.
const SHOWN: usize = 80;
/// Characters that the note of the length takes.
const NOTE: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_told_by_its_beginning_and_length() {
        for (given, expected) in [
            ("short", "short".to_owned()),
            (&"é".repeat(100), "é".repeat(100)),
            (&"é".repeat(101), format!("{}… (101 characters)", "é".repeat(80))),
            (&"a ".repeat(600_000), format!("{}… (1,200,000 characters)", "a ".repeat(40).trim_end())),
        ] {
            assert_eq!(excerpt(given), expected);
        }
    }
}
