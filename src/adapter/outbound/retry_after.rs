//! Parser of the `Retry-After` header: seconds, or a date. Source: RFC 9110 §10.2.3.

use jiff::fmt::rfc2822::DateTimeParser;

use crate::dialect::{REQUEST_CAPS, json};
use crate::domain::{Moment, Span};
use crate::edn::{Map, Value};

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

/// Returns how long the JSON of a refusal asks to wait: seconds under `retry_after`, which may be a part of `parameters`. Source:
/// Discord, "Rate limits"; Telegram, `ResponseParameters`.
pub(super) fn in_body(body: &[u8]) -> Option<Span> {
    let answer = json::read(body, &REQUEST_CAPS).ok()?;
    let map = answer.as_map()?;
    let parts = || map.text("parameters").and_then(Value::as_map);
    let asked = |map: &Map| map.text("retry_after").and_then(seconds);
    asked(map).or_else(|| asked(parts()?))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked, and casts of floats are bounded"
)]
fn seconds(value: &Value) -> Option<Span> {
    let Value::Float(seconds) = value else {
        return value.as_int().and_then(|seconds| u64::try_from(seconds).ok()).map(whole_seconds);
    };
    (seconds.is_finite() && *seconds >= 0.0).then(|| Span::from_millis((seconds * 1_000.0).ceil() as u64))
}

fn whole_seconds(seconds: u64) -> Span {
    Span::from_millis(seconds.saturating_mul(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_in_its_body_how_long_to_wait() {
        for (body, ms) in [
            (
                r#"{"message": "You are being rate limited.", "retry_after": 1.336, "global": false}"#,
                Some(1_336),
            ),
            (r#"{"ok": false, "error_code": 429, "parameters": {"retry_after": 5}}"#, Some(5_000)),
            (r#"{"retry_after": "soon"}"#, None),
            (r#"{"retry_after": -1}"#, None),
            ("rate limited", None),
            ("", None),
        ] {
            assert_eq!(in_body(body.as_bytes()).map(Span::millis), ms, "{body}");
        }
    }
}
