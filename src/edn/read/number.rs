//! Parses numbers.
//!
//! Lives here: integers in all radixes, ratios, floats and decimals. Does not live here: `##Inf`,
//! `##-Inf` and `##NaN`.
//!
//! Invariant: the digits are counted against their cap before anything is computed from
//! them. Source: `EdnReader.matchNumber`: `intPat`, `ratioPat`, `floatPat`.

use super::reader::{Fault, Reader, shown};
use crate::edn::{BigDec, BigInt, Ratio, Value, class};

impl Reader<'_> {
    /// Reads a number, which ends where a name would end, or at `#`.
    pub(super) fn number(&mut self) -> Result<Value, Fault> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let ends = |byte: &u8| class::is(*byte, class::STOP) || *byte == b'#';
        let len = rest.iter().position(ends).unwrap_or(rest.len());
        // Before the conversion, whose cost grows faster than the number of digits.
        if len > usize::from(self.caps.digits_max) {
            return Err(self.limit("digits", u64::from(self.caps.digits_max), self.at));
        }
        let text = self.slice(self.at, self.at + len);
        let value = short(text).or_else(|| parse(text));
        let value = value.ok_or_else(|| self.syntax(format!("{} is not a number", shown(text)), self.at))?;
        self.at += len;
        Ok(value)
    }
}

/// Parses the integers that nearly all data has: decimal, of at most 18 digits, which 64 bits
/// always hold.
fn short(text: &str) -> Option<Value> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits.as_bytes()),
        None => (false, text.as_bytes()),
    };
    let is_plain = matches!(digits, [b'0'] | [b'1'..=b'9', ..]) && digits.len() <= 18;
    if !is_plain || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
    Some(Value::Int(if is_negative { -number } else { number }))
}

fn parse(text: &str) -> Option<Value> {
    let (sign, body) = match text.strip_prefix('-') {
        Some(body) => ("-", body),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    // Floats come last, because their pattern would accept the digits of the other forms.
    if let Some((numerator, denominator)) = body.split_once('/') {
        // The sign belongs to the numerator.
        return Ratio::divide(big(sign, numerator, 10)?, big("", denominator, 10)?);
    }
    if let Some(value) = integer(sign, body) {
        return Some(value);
    }
    // All digits, but no integer: `08` has a leading zero and is not octal.
    if body.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if let Some(decimal) = body.strip_suffix('M') {
        return BigDec::parse(&format!("{sign}{decimal}")).map(|number| Value::BigDec(Box::new(number)));
    }
    if is_float(body) { format!("{sign}{body}").parse().ok().map(Value::Float) } else { None }
}

fn integer(sign: &str, body: &str) -> Option<Value> {
    // A radix of 24 and more has `N` as a digit, so a radix takes no suffix.
    if let Some((radix, digits)) = body.split_once(['r', 'R'])
        && matches!(radix.as_bytes(), [b'1'..=b'9'] | [b'1'..=b'9', b'0'..=b'9'])
    {
        let radix = radix.parse().ok().filter(|radix| (2..=36).contains(radix))?;
        return big(sign, digits, radix).map(smallest);
    }
    let (digits, is_big) = body.strip_suffix('N').map_or((body, false), |digits| (digits, true));
    let number = if let Some(digits) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        big(sign, digits, 16)?
    // A leading zero means octal, as in Clojure.
    } else if digits.len() > 1 && digits.starts_with('0') {
        big(sign, digits, 8)?
    } else {
        big(sign, digits, 10)?
    };
    Some(if is_big { Value::BigInt(Box::new(number)) } else { smallest(number) })
}

/// Reads digits of any length; the check keeps out the signs and underscores that the
/// parser would take.
fn big(sign: &str, digits: &str, radix: u32) -> Option<BigInt> {
    let is_digits = digits.chars().all(|digit| digit.is_digit(radix));
    if digits.is_empty() || !is_digits {
        return None;
    }
    let number = BigInt::parse_bytes(digits.as_bytes(), radix)?;
    Some(if sign == "-" { -number } else { number })
}

fn smallest(number: BigInt) -> Value {
    i64::try_from(&number).map_or_else(|_| Value::BigInt(Box::new(number)), Value::Int)
}

/// Returns whether a text is a float: digits, an optional point with optional digits, and an
/// optional exponent.
fn is_float(body: &str) -> bool {
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (body, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_exponent = |text: &str| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        !digits.is_empty() && is_digits(digits)
    };
    !whole.is_empty() && is_digits(whole) && is_digits(fraction) && exponent.is_none_or(is_exponent)
}
