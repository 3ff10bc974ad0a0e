//! The text of a calendar, in the iCalendar format.
//!
//! Source: RFC 5545, sections 3.1 (lines), 3.3.11 (text), 3.6.1 (events), 3.8.1.11 (status). Invariant: a foreign text makes no
//! line and no property of its own.

use std::fmt::Write as _;

use crate::domain::Moment;
use crate::edn::is_hidden;

/// An entry of a calendar: an instant, which takes no time.
pub(in crate::surface::http) struct Event {
    /// The same one for the same slot, so that a program which reads the calendar again knows it.
    pub(in crate::surface::http) uid: String,
    pub(in crate::surface::http) at: Moment,
    pub(in crate::surface::http) summary: String,
    pub(in crate::surface::http) description: String,
    /// `CONFIRMED`, `TENTATIVE` or `CANCELLED`.
    pub(in crate::surface::http) status: &'static str,
}

/// Writes a calendar.
pub(in crate::surface::http) fn ical(name: &str, now: Moment, events: &[Event]) -> String {
    let mut lines = Lines::default();
    lines.add("BEGIN", "VCALENDAR");
    lines.add("VERSION", "2.0");
    lines.add("PRODID", "-//Reveille//Reveille//EN");
    lines.add("METHOD", "PUBLISH");
    lines.add("X-WR-CALNAME", &text(name));
    // RFC 7986 has the first of these names; older programs read the second one.
    lines.add("REFRESH-INTERVAL;VALUE=DURATION", "PT15M");
    lines.add("X-PUBLISHED-TTL", "PT15M");
    for event in events {
        lines.add("BEGIN", "VEVENT");
        lines.add("UID", &text(&event.uid));
        lines.add("DTSTAMP", &instant(now));
        lines.add("DTSTART", &instant(event.at));
        lines.add("SUMMARY", &text(&event.summary));
        lines.add("DESCRIPTION", &text(&event.description));
        lines.add("STATUS", event.status);
        // An agent's turn keeps nobody busy.
        lines.add("TRANSP", "TRANSPARENT");
        lines.add("END", "VEVENT");
    }
    lines.add("END", "VCALENDAR");
    lines.0
}

/// The lines of a calendar, each of 75 bytes at most.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, property: &str, value: &str) {
        let mut length = 0;
        for found in property.chars().chain([':']).chain(value.chars()) {
            if length + found.len_utf8() > LINE_BYTES {
                // The blank says that the line goes on, and counts.
                self.0.push_str("\r\n ");
                length = 1;
            }
            self.0.push(found);
            length += found.len_utf8();
        }
        self.0.push_str("\r\n");
    }
}

/// A text as a value, with escapes for what the format uses itself, and numbers for what would not be seen.
fn text(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for found in value.chars() {
        match found {
            '\\' | ';' | ',' => out.extend(['\\', found]),
            '\n' => out.push_str("\\n"),
            // Writing to a string cannot fail.
            _ if found.is_control() || is_hidden(found) => drop(write!(out, "<U+{:04X}>", u32::from(found))),
            _ => out.push(found),
        }
    }
    out
}

/// An instant in UTC, to the second.
fn instant(at: Moment) -> String {
    let written = at.to_string();
    let digits =
        written.chars().take("2026-11-29T09:00:00".len()).filter(|found| !matches!(found, '-' | ':'));
    digits.chain(['Z']).collect()
}

const LINE_BYTES: usize = 75;

#[cfg(test)]
mod tests {
    use super::*;

    fn event(summary: &str) -> Event {
        let at = Moment::parse("2026-11-29T09:00:00.25Z").expect("an instant");
        Event {
            uid: "sch-1-1@reveille".to_owned(),
            at,
            summary: summary.to_owned(),
            description: "fires".to_owned(),
            status: "CONFIRMED",
        }
    }

    #[test]
    fn a_foreign_text_makes_no_line_of_its_own() {
        let forged = "a\r\nEND:VEVENT\nSUMMARY:b, c; d\\n\u{202e}\u{85}\u{2028}";
        let now = Moment::parse("2026-11-29T08:00:00Z").expect("an instant");
        let written = ical(forged, now, &[event(forged)]);
        assert_eq!(written.matches("\r\nEND:VEVENT").count(), 1, "{written}");
        assert_eq!(written.matches("\r\nSUMMARY:").count(), 1, "{written}");
        assert!(
            written.split("\r\n").all(|line| line.len() <= LINE_BYTES && !line.contains(char::is_control))
        );
        let unfolded = written.replace("\r\n ", "");
        let expected =
            "SUMMARY:a<U+000D>\\nEND:VEVENT\\nSUMMARY:b\\, c\\; d\\\\n<U+202E><U+0085><U+2028>\r\n";
        assert!(unfolded.contains(expected), "{unfolded}");
        assert!(unfolded.contains("DTSTART:20261129T090000Z\r\n"), "{unfolded}");
    }

    #[test]
    fn a_long_line_is_folded_between_characters() {
        let long = "é".repeat(200);
        let written =
            ical("all", Moment::parse("2026-11-29T08:00:00Z").expect("an instant"), &[event(&long)]);
        assert!(written.split("\r\n").all(|line| line.len() <= LINE_BYTES), "{written}");
        assert!(written.replace("\r\n ", "").contains(&format!("SUMMARY:{long}\r\n")));
    }
}
