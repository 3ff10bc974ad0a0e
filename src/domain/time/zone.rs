//! Time zones as callers name them. The text is stored unchanged, and looked up again for every
//! slot.
//!
//! What lives elsewhere: the time zone database and the meaning of a name (`calendar::Zones`).
//! Invariant: a zone prints as a text that parses back equal, and a text that looks like an offset
//! is parsed as one or refused.

use std::fmt;

use crate::limits;

/// The zone in which a calendar rule reads the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Zone {
    /// Universal time.
    #[default]
    Utc,
    /// The zone of the machine, looked up each time: a label, never replaced by an offset.
    Local,
    /// A fixed offset from universal time.
    Offset(Offset),
    /// A name of the time zone database. An unknown name is read as [`Zone::Local`], with a warning
    /// to the caller.
    Named(ZoneName),
}

/// An offset from universal time: whole minutes, at most 18 hours either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset {
    minutes: i16,
}

/// The name of a zone: not blank, without control characters or quotes, at most
/// `limits::ZONE_BYTES` long.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ZoneName(Box<str>);

/// Why a text is not a time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZoneError {
    /// The text looks like an offset from universal time, but is not one.
    #[error("not an offset from UTC: {text}")]
    Offset {
        /// The text that was given.
        text: Box<str>,
    },
    /// The text is blank, too long, or has characters that no name has.
    #[error("not the name of a time zone: {text:?}")]
    Name {
        /// The text that was given, cut at the limit.
        text: Box<str>,
    },
}

impl Zone {
    /// Parses `local`, `UTC`, `utc`, `Z`, an offset such as `+08:00`, `+8:00` or `+0800`, or a
    /// name.
    ///
    /// # Errors
    /// [`ZoneError::Offset`] for a text that begins like an offset but is not one, such as
    /// `+25:00`, `+8` or `UTC+2`; [`ZoneError::Name`] for a text that cannot be the name of a zone.
    ///
    /// ```
    /// use reveille::domain::Zone;
    /// assert_eq!(Zone::parse("+0800")?.to_string(), "+08:00");
    /// assert_eq!(Zone::parse("Europe/Berlin")?.to_string(), "Europe/Berlin");
    /// assert!(Zone::parse("+24:00").is_err());
    /// # Ok::<(), reveille::domain::ZoneError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Zone, ZoneError> {
        let text = text.trim();
        // The order matters: an offset must be recognized before a name is tried, because any text
        // that is left counts as a name.
        if text.eq_ignore_ascii_case("local") {
            return Ok(Zone::Local);
        }
        // SEED-004's code takes a lower-case `z` for a name and so for local time, which is hardly ever meant.
        if text.eq_ignore_ascii_case("utc") || text.eq_ignore_ascii_case("z") {
            return Ok(Zone::Utc);
        }
        // The typographic minus is refused as an offset: as a name it would silently mean the local
        // zone.
        if text.starts_with(['+', '-', '\u{2212}']) || is_prefixed_offset(text) {
            let refusal = || ZoneError::Offset { text: cut(text) };
            return Offset::parse(text).map(Zone::Offset).ok_or_else(refusal);
        }
        ZoneName::new(text).map(Zone::Named)
    }
}

impl Offset {
    /// Makes an offset of this many minutes east of Greenwich, west if negative; `None` beyond 18
    /// hours.
    pub fn new(minutes: i16) -> Option<Offset> {
        (minutes.unsigned_abs() <= MINUTES_MAX).then_some(Offset { minutes })
    }

    /// Returns the minutes east of Greenwich.
    pub const fn minutes(self) -> i16 {
        self.minutes
    }

    fn parse(text: &str) -> Option<Offset> {
        let sign = match text.as_bytes().first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        // The sign is one byte, so the slice ends between two characters.
        let digits = &text[1..];
        let (hours, minutes) = match digits.split_once(':') {
            Some((hours, minutes)) => (hours, minutes),
            None if digits.len() == 4 && digits.is_ascii() => digits.split_at(2),
            // `+08` is refused although its meaning can be guessed. As a name it would silently mean the local zone.
            None => return None,
        };
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !(1..=2).contains(&hours.len()) || minutes.len() != 2 || !is_number(hours) || !is_number(minutes) {
            return None;
        }
        let (hours, minutes): (i16, i16) = (hours.parse().ok()?, minutes.parse().ok()?);
        (minutes < 60).then_some(())?;
        Offset::new(sign * (hours * 60 + minutes))
    }
}

impl ZoneName {
    /// Checks a name, and makes a zone name of it.
    ///
    /// # Errors
    /// [`ZoneError::Name`] if the text cannot be the name of a zone.
    pub fn new(text: &str) -> Result<ZoneName, ZoneError> {
        let max = usize::try_from(limits::ZONE_BYTES.value).unwrap_or(usize::MAX);
        let is_sound = !text.is_empty() && text.len() <= max && text.trim() == text;
        // Phrases quote a name that is not a single word, so a quote within it would end the name.
        if !is_sound || text.chars().any(|c| c.is_control() || c == '"') {
            return Err(ZoneError::Name { text: cut(text) });
        }
        Ok(ZoneName(text.into()))
    }

    /// Returns the name as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ZoneError {
    /// Returns the error's code, in kebab case.
    pub const fn code(&self) -> &'static str {
        match self {
            ZoneError::Offset { .. } => "zone-offset-malformed",
            ZoneError::Name { .. } => "zone-name-malformed",
        }
    }

    /// Returns what the caller can do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            ZoneError::Offset { .. } => "write an offset as +08:00 or -03:30, at most 18:00 either way",
            ZoneError::Name { .. } => {
                "use a name such as Europe/Berlin, an offset such as +08:00, UTC, or local"
            }
        }
    }
}

/// Returns whether a text is like `UTC+2` or `GMT+2`. These are no names of zones, and `Etc/GMT+2`
/// means the opposite, so they must not be accepted as labels.
fn is_prefixed_offset(text: &str) -> bool {
    let Some((head, rest)) = text.split_at_checked(3) else {
        return false;
    };
    let is_prefix = head.eq_ignore_ascii_case("utc") || head.eq_ignore_ascii_case("gmt");
    // `GMT+0` and `GMT-0` are names in the time zone database, and unambiguous.
    is_prefix && rest.starts_with(['+', '-']) && !matches!(text, "GMT+0" | "GMT-0")
}

/// Cuts a text that came from a caller, because errors and logs echo it.
fn cut(text: &str) -> Box<str> {
    text.chars().take(ECHO_CHARS).collect::<String>().into()
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Zone::Utc => f.write_str("UTC"),
            Zone::Local => f.write_str("local"),
            Zone::Offset(offset) => fmt::Display::fmt(offset, f),
            Zone::Named(name) => f.write_str(name.as_str()),
        }
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.minutes < 0 { '-' } else { '+' };
        let minutes = self.minutes.unsigned_abs();
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// Largest offset. Source: `java.time.ZoneOffset`, and what [`crate::domain::Moment::parse`] accepts.
const MINUTES_MAX: u16 = 18 * 60;
const ECHO_CHARS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let answer = Zone::parse(text).map_or_else(|error| error.code().to_owned(), |zone| format!("{zone}"));
        assert_eq!(answer, expected, "{text:?}");
        if let Ok(zone) = Zone::parse(text) {
            assert_eq!(Zone::parse(&zone.to_string()), Ok(zone), "{text:?} printed");
        }
    }

    /// Source: SEED-004, "Timezone values", and its code's `parse_timezone`.
    #[test]
    fn zones_read_as_the_seed_names_them() {
        for text in ["UTC", "utc", "Z", " UTC "] {
            check(text, "UTC");
        }
        check("local", "local");
        for text in ["+08:00", "+0800", "+8:00"] {
            check(text, "+08:00");
        }
        check("-08:30", "-08:30");
        check("-00:00", "+00:00");
        check("+18:00", "+18:00");
        for name in [
            "Europe/Berlin",
            "America/Argentina/Buenos_Aires",
            "EST5EDT",
            "GMT+0",
            "Etc/GMT+5",
            "Mars/Phobos",
        ] {
            check(name, name);
        }
        check("Pacific Standard Time", "Pacific Standard Time");
    }

    #[test]
    fn what_looks_like_an_offset_is_one_or_is_refused() {
        for text in [
            "+24:00",
            "+18:01",
            "-25",
            "+8",
            "+08",
            "+08:60",
            "+8:0",
            "+080",
            "+08:00:00",
            "+",
            "-:",
            "+é:00",
        ] {
            check(text, "zone-offset-malformed");
        }
        for text in ["UTC+2", "GMT-03:00", "utc+02:00", "\u{2212}08:00", "+٠٨:٠٠"] {
            check(text, "zone-offset-malformed");
        }
        for text in ["", "  ", "a\nb", "say \"hi\"", &"x".repeat(65)] {
            check(text, "zone-name-malformed");
        }
    }
}
