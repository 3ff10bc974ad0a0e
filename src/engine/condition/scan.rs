//! The cursor over the text of a condition: blanks, words, signs, and where something stands.

use super::error::{ConditionError, ConditionFault};

/// A place in a text.
pub(super) struct Scan<'t> {
    text: &'t str,
    /// In bytes.
    at: usize,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str) -> Scan<'t> {
        Scan { text, at: 0 }
    }

    /// What is still ahead.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// What stands from an earlier place up to here.
    pub(super) fn since(&self, from: usize) -> &'t str {
        &self.text[from..self.at]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Goes past this many bytes of what is ahead.
    pub(super) fn pass(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Goes back to an earlier place.
    pub(super) fn back(&mut self, to: usize) {
        self.at = to;
    }

    pub(super) fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Goes past this sign if it is next, and says whether it was.
    pub(super) fn sign(&mut self, sign: &str) -> bool {
        let is_next = self.rest().starts_with(sign);
        if is_next {
            self.at += sign.len();
        }
        is_next
    }

    /// Goes past this word if it is next and no name goes on behind it, and says whether it was.
    pub(super) fn word(&mut self, word: &str) -> bool {
        // A dot behind it makes the word the first key of a path: `not.empty`.
        let rest = self.rest().strip_prefix(word);
        let is_next = rest.is_some_and(|rest| !rest.starts_with(|next| is_of_name(next) || next == '.'));
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    /// Goes past a name and returns it; empty if none is next.
    pub(super) fn name(&mut self) -> &'t str {
        let rest = self.rest();
        let name = &rest[..rest.find(|next| !is_of_name(next)).unwrap_or(rest.len())];
        self.at += name.len();
        name
    }

    /// Goes past a text in quotes, whose first quote is next. Behind a backslash, a quote or a backslash stands for itself.
    pub(super) fn quoted(&mut self, quote: char) -> Result<String, ConditionError> {
        let from = self.at;
        self.at += quote.len_utf8();
        let mut text = String::new();
        let mut characters = self.rest().char_indices().peekable();
        while let Some((place, character)) = characters.next() {
            if character == quote {
                self.at += place + quote.len_utf8();
                return Ok(text);
            }
            // A backslash before any other character stands for itself.
            let is_escape = |next: &(usize, char)| next.1 == quote || next.1 == '\\';
            let escaped = if character == '\\' { characters.next_if(is_escape) } else { None };
            text.push(escaped.map_or(character, |(_, escaped)| escaped));
        }
        Err(self.fault_at(from, ConditionFault::Unclosed { opened: quote }))
    }

    pub(super) fn fault(&self, fault: ConditionFault) -> ConditionError {
        self.fault_at(self.at, fault)
    }

    pub(super) fn fault_at(&self, at: usize, fault: ConditionFault) -> ConditionError {
        ConditionError { fault, at: self.text[..at].chars().count() + 1 }
    }
}

/// Whether a character can be a part of a name.
pub(super) fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '$' | '@' | '/')
}
