//! Parses the two delay forms, `:delay-ms` and `:at`: exactly one must be given, within the bounds.
//!
//! Source: SEED-002. Invariant: an `:at` keeps its nanoseconds, and may lie in the past. Only the check of the bounds
//! rounds down to whole milliseconds.

use super::error::{
    AT_NO_OFFSET, AT_TOO_FAR, AT_TOO_NEAR, DELAY_NOT_INTEGER, DELAY_TOO_LONG, DELAY_TOO_SHORT, NO_DELAY,
    NOT_AN_INSTANT, PsiError, PsiRule, TWO_DELAYS,
};
use super::value::{given, integer};
use crate::dialect::Notation;
use crate::dialect::args::{Arg, Args};
use crate::domain::{Moment, Span, When};
use crate::edn::{Map, Value};
use crate::limits;

pub(super) fn parse(args: &Args<'_>, now: Moment) -> Result<When, PsiError> {
    // As in Clojure, false counts as absent.
    let truthy = |name| args.get(name).filter(|arg| arg.value().is_truthy());
    match (truthy("delay-ms"), truthy("at")) {
        (Some(_), Some(_)) => Err(TWO_DELAYS.broken(Map::new())),
        (None, None) => Err(NO_DELAY.broken(Map::new())),
        (Some(delay), None) => after(delay),
        (None, Some(at)) => until(at, now),
    }
}

fn after(delay: Arg<'_>) -> Result<When, PsiError> {
    let delay_ms = match (delay.value(), delay.notation()) {
        (Value::Int(number), _) => Some(*number),
        // JSON Schema's integers include `1000.0`.
        (Value::Float(_), Notation::Json) => delay.integer().ok(),
        // Like psi, without a look at the number: `1000.0`, `1000N` and `"1000"` are refused in EDN.
        _ => None,
    };
    let Some(delay_ms) = delay_ms else {
        return Err(DELAY_NOT_INTEGER.broken(Map::new().with("delay-ms", given(Some(delay)))));
    };
    // A negative delay is below the minimum for certain, so its exact size is irrelevant.
    let millis = u64::try_from(delay_ms).unwrap_or(0);
    check_bounds(millis, delay_ms, &[DELAY_TOO_SHORT, DELAY_TOO_LONG])?;
    Ok(When::After(Span::from_millis(millis)))
}

fn until(at: Arg<'_>, now: Moment) -> Result<When, PsiError> {
    let moment = at.value().as_str().and_then(|text| Moment::parse(text).ok());
    let moment = moment.ok_or_else(|| {
        let data = Map::new().with("field", Value::keyword("at"));
        let lacks_offset = at.value().as_str().is_some_and(|text| Moment::parse(&format!("{text}Z")).is_ok());
        let words = if lacks_offset { AT_NO_OFFSET } else { NOT_AN_INSTANT };
        words.broken(data.with("input", given(Some(at))))
    })?;
    // Zero if the instant has passed or is less than a millisecond away. Then the schedule is due at once, and the
    // bounds do not apply.
    let millis = moment.millis_since(now);
    if millis > 0 {
        // psi overflows 32 bits for an instant some 25 days ahead. Here it exceeds the maximum like any other.
        check_bounds(millis, i64::try_from(millis).unwrap_or(i64::MAX), &[AT_TOO_NEAR, AT_TOO_FAR])?;
    }
    Ok(When::At(moment))
}

/// Checks the inclusive bounds. `delay_ms` is the figure that an error shows, in the words for below and above.
fn check_bounds(millis: u64, delay_ms: i64, [below, above]: &[PsiRule; 2]) -> Result<(), PsiError> {
    let data = || Map::new().with("delay-ms", delay_ms);
    if millis < limits::DELAY_MS_MIN.value {
        return Err(below.broken(data().with("minimum", integer(limits::DELAY_MS_MIN.value))));
    }
    if millis > limits::DELAY_MS_MAX.value {
        return Err(above.broken(data().with("maximum", integer(limits::DELAY_MS_MAX.value))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::psi::testing::{ask, check_refused, moment, now, read, session};
    use crate::dialect::psi::{self, Call, PsiContext};

    fn args(delay: &str) -> String {
        format!(r#"{{:action "scheduler" :op "create" :kind "message" :message "wake up" {delay}}}"#)
    }

    #[track_caller]
    fn check(delay: &str, expected: When) {
        let Ok(Call::Create(new)) = ask(&args(delay)) else { panic!("{delay} was refused") };
        assert_eq!(Some(new.when), Some(expected), "{delay}");
    }

    #[test]
    fn delays_have_inclusive_bounds() {
        check(":delay-ms 1000", When::After(Span::from_millis(1_000)));
        check(":delay-ms 86400000", When::After(Span::from_millis(86_400_000)));
        check(":delay-ms 1000 :at false", When::After(Span::from_millis(1_000)));
        check(":delay-ms 1000 :at nil", When::After(Span::from_millis(1_000)));
        for delay in ["999", "0", "-1", "-9223372036854775808"] {
            let data = format!("{{:delay-ms {delay} :minimum 1000}}");
            let words = "delay-ms is below the minimum bound";
            check_refused(&args(&format!(":delay-ms {delay}")), words, ":scheduler", &data);
        }
        for delay in ["86400001", "9223372036854775807"] {
            let data = format!("{{:delay-ms {delay} :maximum 86400000}}");
            let words = "delay-ms exceeds the maximum bound";
            check_refused(&args(&format!(":delay-ms {delay}")), words, ":scheduler", &data);
        }
    }

    #[test]
    fn delays_are_integers() {
        for delay in ["1000.0", "1000N", "9223372036854775808N", r#""1000""#, "true", "[]", "5/2"] {
            let data = format!("{{:delay-ms {delay}}}");
            check_refused(&args(&format!(":delay-ms {delay}")), "not an integer", ":scheduler", &data);
        }
    }

    #[test]
    fn a_delay_in_json_may_have_a_point() {
        let context = PsiContext { session: Some(session()), live: 0, now: now() };
        let call = |delay: &str| {
            let args = format!(
                r#"{{"action" "scheduler" "op" "create" "kind" "message" "message" "wake up" "delay-ms" {delay}}}"#
            );
            psi::parse(&read(&args), Notation::Json, &context)
        };
        let Ok(Call::Create(new)) = call("60000.0") else { panic!("it was refused") };
        assert_eq!(new.when, When::After(Span::from_millis(60_000)));
        for delay in ["1000.5", "999.0", "1e300", "\"1000\""] {
            assert!(call(delay).is_err(), "{delay}");
        }
    }

    #[test]
    fn there_is_one_delay_form() {
        let data = r#"{:phase :validate :action "scheduler" :op "create"}"#;
        for both in [
            r#":delay-ms 1000 :at "2026-04-22T13:00:00Z""#,
            r#":delay-ms 0 :at "x""#,
            r#":delay-ms 1000 :at """#,
        ] {
            check_refused(&args(both), "both delay-ms and at", ":validate", data);
        }
        for none in ["", ":delay-ms nil", ":delay-ms false :at nil", ":at false"] {
            check_refused(&args(none), "neither delay-ms nor at", ":validate", data);
        }
    }

    /// Source: psi's `at-resolution-matrix`; the moment of the call is 12:00:00.000250.
    #[test]
    fn instants_resolve_to_whole_milliseconds() {
        for at in [
            "2026-04-22T11:59:00Z",
            "-0001-01-01T00:00:00Z",
            "2026-04-22T12:00:00.000250Z",
            "2026-04-22T12:00:00.001249999Z",
            "2026-04-22T12:00:01.000250Z",
            "2026-04-22T12:00:05Z",
            "2026-04-22T15:00:00+02:00",
            "2026-04-23T12:00:00.001249999Z",
        ] {
            check(&format!(":at \"{at}\""), When::At(moment(at)));
        }
        for (at, delay) in [
            ("2026-04-22T12:00:00.001250Z", "1 :minimum 1000"),
            ("2026-04-22T12:00:00.500250Z", "500 :minimum 1000"),
            ("2026-04-22T12:00:01.000249999Z", "999 :minimum 1000"),
            ("2026-04-23T12:00:00.001250Z", "86400001 :maximum 86400000"),
            ("2026-05-22T12:00:00.000250Z", "2592000000 :maximum 86400000"),
            ("+999999999-12-31T23:59:59Z", "9223372036854775807 :maximum 86400000"),
        ] {
            let words = if delay.contains("minimum") { "below the minimum" } else { "exceeds the maximum" };
            check_refused(
                &args(&format!(":at \"{at}\"")),
                words,
                ":scheduler",
                &format!("{{:delay-ms {delay}}}"),
            );
        }
    }

    #[test]
    fn instants_are_strings_in_iso_form() {
        for at in [r#""""#, r#""tomorrow""#, r#""2026-04-22""#, r#""2026-04-22T13:00:00""#, "5", ":now"] {
            let data = format!(r#"{{:phase :validate :action "scheduler" :field :at :input {at}}}"#);
            check_refused(&args(&format!(":at {at}")), "at is not an instant", ":validate", &data);
        }
    }
}
