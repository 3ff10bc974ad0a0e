//! Characters: `\a`, `\newline`, `\u03bb`, `\ue0041`, `\o101`.
//!
//! Lives here: the character token. Does not live here: escapes inside strings, which
//! follow rules of their own.
//!
//! Invariant: the first character behind `\` belongs to the token whatever it is, so that
//! `\(` and `\"` open nothing. Source: `EdnReader.CharacterReader`.

use super::reader::{Fault, Reader, shown};
use crate::edn::{ReadErrorKind, Value};

impl Reader<'_> {
    /// Reads a character.
    pub(super) fn character(&mut self) -> Result<Value, Fault> {
        let from = self.at + 1;
        let Some(first) = self.slice(from, self.text.len()).chars().next() else {
            return Err(self.fault(ReadErrorKind::UnexpectedEnd, "the input ends behind '\\'", from));
        };
        // Behind the first character, which may itself be one that ends tokens.
        let (end, _) = self.token_end(from + first.len_utf8());
        let token = self.slice(from, end);
        let character = match token {
            "newline" => '\n',
            "return" => '\r',
            "space" => ' ',
            "tab" => '\t',
            "backspace" => '\u{8}',
            "formfeed" => '\u{C}',
            // A single character stands for itself, whatever it is; so `\u` and `\o` alone are
            // letters.
            _ if token.len() == first.len_utf8() => first,
            _ if first == 'u' => self.unicode(token)?,
            _ if first == 'o' => self.octal(token)?,
            _ => return Err(self.syntax(format!("no character is named {}", shown(token)), self.at)),
        };
        self.at = end;
        Ok(Value::Char(character))
    }

    fn unicode(&self, token: &str) -> Result<char, Fault> {
        // More than four digits only beyond U+FFFF, where Clojure has no characters.
        let code = code(token, 16).filter(|code| token.len() == 5 || (token.len() <= 7 && *code > 0xFFFF));
        let code = code.ok_or_else(|| self.syntax("'\\u' needs four hexadecimal digits", self.at))?;
        char::from_u32(code).ok_or_else(|| {
            let message = "half of a surrogate pair is no character";
            self.fault(ReadErrorKind::Encoding, message, self.at)
        })
    }

    fn octal(&self, token: &str) -> Result<char, Fault> {
        let code = code(token, 8).and_then(|code| u8::try_from(code).ok()).filter(|_| token.len() <= 4);
        code.map(char::from)
            .ok_or_else(|| self.syntax("'\\o' needs one to three octal digits up to 377", self.at))
    }
}

/// Parses the digits behind the first letter of a token; a sign is not a digit.
fn code(token: &str, radix: u32) -> Option<u32> {
    let digits = token.get(1..)?;
    let is_number = digits.chars().all(|digit| digit.is_digit(radix));
    if is_number { u32::from_str_radix(digits, radix).ok() } else { None }
}
