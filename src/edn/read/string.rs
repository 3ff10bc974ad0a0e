//! Parses strings and their escapes.
//!
//! Lives here: finding a string's end and decoding what stands between. Does not live
//! here: character tokens.
//!
//! Invariant: a string without escapes is copied in one go; one with escapes is copied in
//! stretches. Source: `EdnReader.StringReader`.

use super::reader::{Fault, Reader};
use crate::edn::{ReadErrorKind, Value, class};

impl Reader<'_> {
    /// Reads a string.
    pub(super) fn string(&mut self) -> Result<Value, Fault> {
        let from = self.at + 1;
        let end = self.plain_end(from)?;
        let plain = self.slice(from, end);
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(Value::Str(plain.into()));
        }
        // With an escape: copy the plain stretches, and decode what is between them.
        let mut decoded = String::from(plain);
        let mut at = end;
        while self.text.as_bytes().get(at) == Some(&b'\\') {
            let (character, behind) = self.escape(at)?;
            decoded.push(character);
            at = self.plain_end(behind)?;
            decoded.push_str(self.slice(behind, at));
        }
        self.at = at + 1;
        Ok(Value::Str(decoded.into()))
    }

    /// Finds the next `"` or `\`.
    fn plain_end(&self, from: usize) -> Result<usize, Fault> {
        let bytes = self.text.as_bytes();
        if let Some(len) = plain_len(bytes.get(from..).unwrap_or_default()) {
            return Ok(from + len);
        }
        let message = format!("the input ends inside a string that begins at byte {}", self.at);
        Err(self.fault(ReadErrorKind::UnexpectedEnd, message, bytes.len()))
    }

    /// Decodes the escape at `at` and returns the offset behind it.
    fn escape(&self, at: usize) -> Result<(char, usize), Fault> {
        let character = match self.text.as_bytes().get(at + 1) {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            // `\f`, `\b`, `\u` and octal escapes are Clojure's. The EDN specification has only `\t`, `\r`, `\n`, `\\` and `\"`.
            Some(b'f') => '\u{C}',
            Some(b'b') => '\u{8}',
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'u') => return self.unicode_escape(at),
            // 8 and 9 as well, so that the error speaks of octal digits.
            Some(b'0'..=b'9') => return self.octal_escape(at),
            Some(_) => return Err(self.syntax("a string has no such escape", at)),
            None => {
                return Err(self.fault(ReadErrorKind::UnexpectedEnd, "the input ends behind '\\'", at + 1));
            }
        };
        Ok((character, at + 2))
    }

    /// Decodes `\uXXXX`, or two of them that are a surrogate pair.
    fn unicode_escape(&self, at: usize) -> Result<(char, usize), Fault> {
        let Some(unit) = self.code_unit(at) else {
            return Err(self.syntax("'\\u' needs four hexadecimal digits", at));
        };
        if let Some(character) = char::from_u32(unit) {
            // The length of one escape, `\uXXXX`.
            return Ok((character, at + 6));
        }
        // A high surrogate needs a low one right behind it. Source: UTF-16, RFC 2781.
        let low = self.code_unit(at + 6).filter(|low| (0xDC00..0xE000).contains(low));
        let pair =
            low.filter(|_| unit < 0xDC00).map(|low| 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
        match pair.and_then(char::from_u32) {
            Some(character) => Ok((character, at + 12)),
            None => Err(self.fault(ReadErrorKind::Encoding, "half of a surrogate pair is no character", at)),
        }
    }

    /// Reads `\uXXXX` as a number.
    fn code_unit(&self, at: usize) -> Option<u32> {
        let (escape, digits) = self.text.as_bytes().get(at..at + 6)?.split_at(2);
        let digit = |unit, byte: &u8| Some(unit * 16 + char::from(*byte).to_digit(16)?);
        if escape == b"\\u" { digits.iter().try_fold(0, digit) } else { None }
    }

    /// Decodes one to three octal digits. Where fewer than three stand, Clojure wants
    /// whitespace or a delimiter behind them, so that `\08` is a mistake and not `\0` and 8.
    fn octal_escape(&self, at: usize) -> Result<(char, usize), Fault> {
        let rest = self.text.as_bytes().get(at + 1..).unwrap_or_default();
        let digits = rest.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7'));
        let code = digits.clone().fold(0, |code, digit| code * 8 + u32::from(digit - b'0'));
        let count = digits.count();
        let ends = |byte: &u8| class::is(*byte, class::STOP) || *byte == b'#';
        let is_ended = count == 3 || (count > 0 && rest.get(count).is_none_or(ends));
        match u8::try_from(code) {
            Ok(code) if is_ended => Ok((char::from(code), at + 1 + count)),
            Ok(_) | Err(_) => Err(self.syntax("an octal escape has one to three octal digits up to 377", at)),
        }
    }
}

/// Returns the number of bytes before the next `"` or `\`, found eight at a time; `None` if there
/// is neither.
pub(crate) fn plain_len(bytes: &[u8]) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    for (place, word) in words.iter().enumerate() {
        // In this order the lowest bits are those of the first byte, whatever the machine's own order.
        let word = u64::from_le_bytes(*word);
        let hits = zero_bytes(word ^ repeat(b'"')) | zero_bytes(word ^ repeat(b'\\'));
        if hits != 0 {
            // The lowest set bit is exact; only bits above it can be false positives.
            return Some(place * 8 + byte_index(hits));
        }
    }
    let index = tail.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    Some(words.len() * 8 + index)
}

const fn repeat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Sets the highest bit of every zero byte of `word`, and perhaps of bytes above one. Source: "Bit
/// Twiddling Hacks", "Determine if a word has a zero byte".
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(repeat(0x01)) & !word & repeat(0x80)
}

fn byte_index(hits: u64) -> usize {
    usize::try_from(hits.trailing_zeros() / 8).unwrap_or(0)
}
