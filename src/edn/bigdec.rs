//! Exact decimals, such as `1.50M`.
//!
//! Shape: a sign, the decimal digits of the unscaled number, and a power of ten, as in
//! `java.math.BigDecimal`. Digits stay text: we read, compare and print decimals and never
//! compute with them, and text does all three in linear time.
//!
//! Invariant: `digits` is not empty, holds ASCII digits only, and has no leading zero
//! unless it is `0`; zero is never negative.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// An exact decimal number: an unscaled integer times a power of ten.
///
/// The scale is kept for printing, and ignored by equality, as in Clojure: `1.50M` prints
/// as it was written and equals `1.5M`.
///
/// ```
/// use reveille::edn::BigDec;
/// let price = BigDec::parse("1.50").unwrap();
/// assert_eq!((price.unscaled(), price.exponent()), ("150".to_owned(), -2));
/// assert_eq!(price.to_string(), "1.50M");
/// ```
#[derive(Clone)]
pub struct BigDec {
    is_negative: bool,
    digits: Box<str>,
    exponent: i32,
}

impl BigDec {
    /// Reads a decimal such as `-1.50` or `15e-1`, without the `M`; returns nothing when
    /// the text is none, or when its power of ten does not fit 32 bits.
    pub fn parse(text: &str) -> Option<Self> {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, power.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        // As in Clojure's grammar: a digit is required before the point, and none behind it.
        if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let places = i64::try_from(fraction.len()).ok()?;
        let exponent = i32::try_from(power.checked_sub(places)?).ok()?;
        let all = format!("{whole}{fraction}");
        // Without leading zeros, so that the number of digits is the size of the number.
        let digits = match all.trim_start_matches('0') {
            "" => "0",
            trimmed => trimmed,
        };
        Some(Self { is_negative: is_negative && digits != "0", digits: digits.into(), exponent })
    }

    /// Returns the unscaled integer in decimal: `-150` of `-1.50M`.
    pub fn unscaled(&self) -> String {
        let sign = if self.is_negative { "-" } else { "" };
        format!("{sign}{}", self.digits)
    }

    /// Returns the power of ten that the unscaled integer is multiplied by: -2 of `1.50M`.
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    fn is_zero(&self) -> bool {
        &*self.digits == "0"
    }

    /// Returns the digits without trailing zeros.
    fn significant(&self) -> &str {
        self.digits.trim_end_matches('0')
    }

    /// Returns the power of ten of the first digit; with the significant digits it says
    /// all about the size of a number that is not zero.
    fn magnitude(&self) -> i64 {
        i64::from(self.exponent).saturating_add(i64::try_from(self.digits.len()).unwrap_or(i64::MAX))
    }

    fn sign(&self) -> i8 {
        match (self.is_zero(), self.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

impl Ord for BigDec {
    fn cmp(&self, other: &Self) -> Ordering {
        // Both numbers are `0.SIGNIFICANT` times ten to the magnitude. Without trailing zeros the
        // digits compare like fractions: character by character, and a prefix is smaller. Nothing
        // is aligned, so `1E999999999M` costs as much as `1M`.
        let by_size = || {
            let by_magnitude = self.magnitude().cmp(&other.magnitude());
            by_magnitude.then_with(|| self.significant().cmp(other.significant()))
        };
        match (self.sign(), other.sign()) {
            (1, 1) => by_size(),
            (-1, -1) => by_size().reverse(),
            (left, right) => left.cmp(&right),
        }
    }
}

impl PartialOrd for BigDec {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for BigDec {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for BigDec {}

impl Hash for BigDec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.sign().hash(state);
        // Only what equality looks at: `1.50M` and `1.5M` must hash alike.
        if !self.is_zero() {
            self.magnitude().hash(state);
            self.significant().hash(state);
        }
    }
}

/// Prints the decimal with its `M`: with a point where one fits between the digits,
/// else with an exponent, so that the length never depends on the exponent.
impl fmt::Display for BigDec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_negative {
            out.write_str("-")?;
        }
        // 0 for a positive exponent, which no point can show.
        let places = usize::try_from(-i64::from(self.exponent)).unwrap_or(0);
        let whole_len = self.digits.len().checked_sub(places);
        match whole_len {
            _ if self.exponent == 0 => write!(out, "{}M", self.digits),
            Some(whole_len) if places > 0 && whole_len > 0 => {
                let (whole, fraction) = self.digits.split_at(whole_len);
                write!(out, "{whole}.{fraction}M")
            }
            Some(_) | None if (1..=PLACES_MAX).contains(&places) => {
                write!(out, "0.{:0>places$}M", self.digits)
            }
            Some(_) | None => write!(out, "{}E{}M", self.digits, self.exponent),
        }
    }
}

impl fmt::Debug for BigDec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Numbers below one are written out up to this many decimal places, as Java does.
const PLACES_MAX: usize = 6;
