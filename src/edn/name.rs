//! The rule for names of keywords and symbols.
//!
//! Lives here: the check that reader and constructors share. Does not live here: the types
//! themselves, see `keyword.rs` and `symbol.rs`.
//!
//! Invariant: a name that passes is read back as that same name by this reader and by
//! Clojure's. Structure follows the EDN specification (one `/` between two non-empty
//! parts, restricted first characters); the set of characters follows Clojure, which
//! takes every visible character that is no delimiter, and not the specification's list,
//! which leaves out `'`, `|` and all letters beyond ASCII that real data has.

use super::class;
use super::hidden::is_hidden;

/// Why a text is not the name of a keyword or symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name, or a part of it beside `/`, is empty.
    #[error("a name, and each part of it beside '/', needs at least one character")]
    Empty,
    /// A character that no name can hold.
    #[error("a name cannot hold the character {0:?}")]
    Character(char),
    /// A character that no name can begin with, or that cannot follow a leading sign or dot.
    #[error("a name cannot begin with {0:?}")]
    First(char),
    /// More than one `/`.
    #[error("a name can hold '/' only once, between namespace and name")]
    Slash,
    /// A colon at the end of a part, or two in a row.
    #[error("a name cannot hold '::' or end in ':'")]
    Colon,
    /// `nil`, `true` or `false` as a symbol.
    #[error("nil, true and false are not symbols")]
    Reserved,
}

/// Checks the text of a keyword, without its colon.
///
/// The keyword's colon counts as its first character, so `:1` and `:-1` are keywords, as
/// they are in Clojure.
pub(super) fn check_keyword(text: &str) -> Result<(), NameError> {
    match text.chars().next() {
        None => return Err(NameError::Empty),
        // `::a` takes its namespace from the code around it, which data does not have.
        Some(':') => return Err(NameError::Colon),
        Some(_) => {}
    }
    check_characters(text)?;
    check_parts(text)
}

/// Checks the text of a symbol.
pub(super) fn check_symbol(text: &str) -> Result<(), NameError> {
    // `/` alone is the division function of Clojure, and the one name without parts.
    match text {
        "/" => return Ok(()),
        "nil" | "true" | "false" => return Err(NameError::Reserved),
        _ => {}
    }
    check_characters(text)?;
    check_parts(text)?;
    check_first(text)
}

/// Splits a checked name at its `/`.
pub(super) fn split(text: &str) -> (Option<&str>, &str) {
    match text.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() => (Some(namespace), name),
        // Also the symbol `/`, which is a name and not a separator.
        Some(_) | None => (None, text),
    }
}

fn check_characters(text: &str) -> Result<(), NameError> {
    match text.chars().find(|character| !is_constituent(*character)) {
        Some(character) => Err(NameError::Character(character)),
        None => Ok(()),
    }
}

/// Returns whether a character can be part of a name. Control characters, spaces of all kinds and characters that
/// are not seen are refused: names have no escapes, so two of them could look the same.
fn is_constituent(character: char) -> bool {
    match u8::try_from(character) {
        Ok(byte @ 0..0x80) => {
            !class::is(byte, class::STOP) && !matches!(byte, b'@' | b'`' | b'~') && !byte.is_ascii_control()
        }
        Ok(_) | Err(_) => !character.is_whitespace() && !character.is_control() && !is_hidden(character),
    }
}

fn check_parts(text: &str) -> Result<(), NameError> {
    if text.contains("::") || text.ends_with(':') {
        return Err(NameError::Colon);
    }
    let Some((namespace, name)) = text.split_once('/') else {
        return if text.is_empty() { Err(NameError::Empty) } else { Ok(()) };
    };
    if namespace.is_empty() || name.is_empty() {
        Err(NameError::Empty)
    } else if name.contains('/') {
        Err(NameError::Slash)
    } else if namespace.ends_with(':') {
        Err(NameError::Colon)
    } else {
        check_first(name)
    }
}

/// Source: EDN specification, "Symbols": names begin with a non-numeric character, and
/// when that is `-`, `+` or `.`, the second is non-numeric too.
fn check_first(part: &str) -> Result<(), NameError> {
    let mut characters = part.chars();
    let (first, second) = (characters.next(), characters.next());
    match (first, second) {
        (None, _) => Err(NameError::Empty),
        (Some(first @ ('0'..='9' | ':' | '#' | '\'')), _) => Err(NameError::First(first)),
        (Some(first @ ('-' | '+' | '.')), Some('0'..='9')) => Err(NameError::First(first)),
        (Some(_), _) => Ok(()),
    }
}
