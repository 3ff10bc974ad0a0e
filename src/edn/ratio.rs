//! Ratios of two integers.
//!
//! Lives here: the type and its reduction to lowest terms. Does not live here: ratios that
//! are whole numbers, which become integers.
//!
//! Invariant: the denominator is at least 2, and no integer above 1 divides both parts.

use std::cmp::Ordering;
use std::fmt;

use super::{BigInt, Value};

/// A ratio in lowest terms, such as `1/3`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Ratio {
    numerator: BigInt,
    denominator: BigInt,
}

impl Ratio {
    /// Divides: `2/4` is the ratio `1/2`, `4/2` the integer `2`, and nothing is divided
    /// by zero.
    ///
    /// ```
    /// use reveille::edn::Ratio;
    /// assert_eq!(Ratio::divide(2.into(), 4.into()).unwrap().to_string(), "1/2");
    /// assert_eq!(Ratio::divide(4.into(), 2.into()).unwrap().to_string(), "2");
    /// ```
    pub fn divide(numerator: BigInt, denominator: BigInt) -> Option<Value> {
        let zero = BigInt::ZERO;
        if denominator == zero {
            return None;
        }
        let mut divisor = greatest_common_divisor(numerator.clone(), denominator.clone());
        // The divisor takes the sign of the denominator, so that the result's denominator is
        // positive.
        if (denominator < zero) != (divisor < zero) {
            divisor = -divisor;
        }
        let (numerator, denominator) = (numerator / &divisor, denominator / &divisor);
        // A whole number is no ratio, so that `4/2` equals `2`.
        if denominator == BigInt::from(1) {
            Some(i64::try_from(&numerator).map_or_else(|_| Value::BigInt(Box::new(numerator)), Value::Int))
        } else {
            Some(Value::Ratio(Box::new(Self { numerator, denominator })))
        }
    }

    /// Returns the part above the line, which carries the sign.
    pub fn numerator(&self) -> &BigInt {
        &self.numerator
    }

    /// Returns the part below the line, at least 2.
    pub fn denominator(&self) -> &BigInt {
        &self.denominator
    }
}

/// Computes the greatest common divisor by Euclid's algorithm; the sign of the result has no
/// meaning.
fn greatest_common_divisor(mut left: BigInt, mut right: BigInt) -> BigInt {
    while right != BigInt::ZERO {
        let rest = left % &right;
        left = std::mem::replace(&mut right, rest);
    }
    left
}

/// Ratios in lowest terms are equal exactly when their parts are, so comparing crosswise
/// agrees with equality.
impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.numerator, self.denominator)
    }
}

impl fmt::Debug for Ratio {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}
