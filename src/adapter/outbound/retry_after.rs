//! Parser of the `Retry-After` header: seconds, or a date. Source: RFC 9110 §10.2.3.

use jiff::fmt::rfc2822::DateTimeParser;

use crate::domain::{Moment, Span};

/// Returns how long a `Retry-After` header asks to wait, from `now`; `None` if the text is neither
/// seconds nor a date.
pub fn retry_after(text: &str, now: Moment) -> Option<Span> {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number beyond 64 bits means "never again"; the caller bounds it.
        let seconds = text.parse::<u64>().or(if text.is_empty() { Err(()) } else { Ok(u64::MAX) }).ok()?;
        return Some(Span::from_millis(seconds.saturating_mul(1_000)));
    }
    // The HTTP date format is a subset of the dates of RFC 2822.
    let date = DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Span::from_millis(
        u64::try_from(date.as_second() - now.seconds()).unwrap_or(0).saturating_mul(1_000),
    ))
}
