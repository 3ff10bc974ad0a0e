//! The error texts of this dialect: the shared table with a few rows replaced, and the rules that only jobs have.

use crate::dialect::args::{ArgWords, TOOL_WORDS, Wording, arg_words, wordings};
use crate::domain::ZoneError;

pub(super) const CRON_WORDS: ArgWords = arg_words! {
    ..TOOL_WORDS;
    unknown_keys "unknown_field" "unknown field {field}: {place} may have {known}"
        "leave the field out, or spell it as in the list";
    not_one_of "unknown_word" "{field} must be one of {known}" "choose one of these words, in lower case";
    not_an_instant "not_a_timestamp" "{field} is no RFC 3339 timestamp"
        "write date, T, time with seconds, and offset, such as 2026-06-01T08:05:00+08:00";
};

wordings! {
    NOT_A_TIME "not_a_time" "{field} is no time of day" "write HH:MM or HH:MM:SS by the 24-hour clock, such as 08:00";
    NO_WEEKDAYS "no_weekdays" "{field} must be a list of at least one day" "list days as mon, tue, wed, thu, fri, sat, sun";
    NO_SESSION "no_session" "{field}: the caller is not a session, and the call names none"
        "name a session: {\"kind\": \"session\", \"session_id\": \"…\"}";
    NO_OWNER "no_owner" "{field}: the job would have no owner, because the caller is not a session"
        "call in the name of a session: it owns what it creates";
    EMPTY_PATCH "empty_patch" "{field} changes nothing" "name at least one field to change; null leaves a field as it is";
    #[cfg_attr(not(feature = "embed"), expect(dead_code, reason = "only a log can contradict itself"))]
    CONTRADICTS "contradiction" "{field} is not that of the job beside it" "write the same into both";
    NEVER_DUE "never_due" "{field} lies in the past, before {detail}: the job would never run"
        "choose an instant that is still to come";
}

/// The row for an unreadable zone; the detail says why it is unreadable.
pub(super) const fn zone(error: &ZoneError) -> Wording {
    let name = match error {
        ZoneError::Offset { .. } => "zone_offset_malformed",
        ZoneError::Name { .. } => "zone_name_malformed",
    };
    Wording::new(name, "{field}: {detail}", error.hint())
}
