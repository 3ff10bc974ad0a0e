//! The words of a phrase, consumed in order, with their original spelling for errors.

use super::error::{Part, PhraseError};

/// The words of a phrase, and how many of them are consumed.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    given: Vec<&'a str>,
    lower: Vec<String>,
    at: usize,
}

impl<'a> Words<'a> {
    /// Splits a text into words at blanks and commas.
    pub(super) fn new(text: &'a str) -> Words<'a> {
        // A comma separates days as a space does. The commas of cron never get here.
        let given: Vec<&str> =
            text.split([' ', '\t', '\n', '\r', ',']).filter(|word| !word.is_empty()).collect();
        let lower = given.iter().map(|word| lower(word)).collect();
        Words { given, lower, at: 0 }
    }

    /// Returns the next word in lower case, if there is one.
    pub(super) fn peek(&self) -> Option<&str> {
        self.lower.get(self.at).map(String::as_str)
    }

    /// Returns the n-th word after the next one, in lower case.
    pub(super) fn peek_at(&self, n: usize) -> Option<&str> {
        self.lower.get(self.at + n).map(String::as_str)
    }

    /// Returns whether any word that is left is like this.
    pub(super) fn any(&self, is_like: impl Fn(&str) -> bool) -> bool {
        self.lower.iter().skip(self.at).any(|word| is_like(word))
    }

    /// Returns whether these words come somewhere, one after the other.
    pub(super) fn contains(&self, run: &[&str]) -> bool {
        let rest = self.lower.get(self.at..).unwrap_or_default();
        rest.windows(run.len()).any(|words| words == run)
    }

    /// Consumes the next word.
    pub(super) fn next(&mut self) -> Option<&str> {
        let word = self.lower.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    /// Consumes the next word, and returns it as it was given.
    pub(super) fn next_given(&mut self) -> Option<&'a str> {
        let word = self.given.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    /// Consumes the next word if it is one of these.
    pub(super) fn take(&mut self, any_of: &[&str]) -> bool {
        let found = self.peek().is_some_and(|word| any_of.contains(&word));
        self.at += usize::from(found);
        found
    }

    /// Consumes the next words if they are these.
    pub(super) fn take_all(&mut self, run: &[&str]) -> bool {
        let found = self.lower.get(self.at..).is_some_and(|rest| {
            rest.len() >= run.len() && rest.iter().zip(run).all(|(word, expected)| word == expected)
        });
        self.at += if found { run.len() } else { 0 };
        found
    }

    /// Steps back over the word consumed last.
    pub(super) fn back(&mut self) {
        self.at = self.at.saturating_sub(1);
    }

    /// Makes an error of the next word, or says what is missing if there is none.
    pub(super) fn refuse(&self, part: Part) -> PhraseError {
        match self.given.get(self.at) {
            Some(word) => PhraseError::UnknownWord { word: cut(word) },
            None => PhraseError::Missing { after: cut(&self.given.join(" ")), part },
        }
    }

    /// Refuses the remaining words, if there are any.
    pub(super) fn finish(&self) -> Result<(), PhraseError> {
        if self.at < self.given.len() { Err(self.refuse(Part::Time)) } else { Ok(()) }
    }
}

/// Returns a word in lower case, and `a.m.` as `am`.
fn lower(word: &str) -> String {
    let lower = word.to_ascii_lowercase();
    let plain = lower.replace('.', "");
    // Only before am and pm, because `3.5` needs its dot.
    if plain.ends_with("am") || plain.ends_with("pm") { plain } else { lower }
}

/// Cuts a text that came from a caller, because errors and logs echo it.
pub(super) fn cut(text: &str) -> Box<str> {
    text.chars().take(ECHO_CHARS).collect::<String>().into()
}

const ECHO_CHARS: usize = 64;
