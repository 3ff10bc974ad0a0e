//! The texts of argument errors: a table with one row per kind. A dialect has a table of its own, or inherits one and
//! overrides some rows.
//!
//! Placeholders in braces are replaced with parts of the error (see `ArgError::part`). Braces around anything else
//! are literal.

use super::error_kind::ArgErrorKind;
use super::wording::Wording;

/// The texts of one dialect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArgWords {
    /// The name for the arguments as a whole.
    pub(crate) whole: &'static str,
    /// The prefix of each name in a list of names, and the separator between two.
    pub(crate) list: (&'static str, &'static str),
    pub(crate) not_a_map: Wording,
    pub(crate) unknown_keys: Wording,
    pub(crate) given_twice: Wording,
    pub(crate) missing: Wording,
    pub(crate) blank: Wording,
    pub(crate) not_text: Wording,
    pub(crate) not_a_boolean: Wording,
    pub(crate) not_whole: Wording,
    pub(crate) not_a_list: Wording,
    pub(crate) not_a: Wording,
    pub(crate) out_of_range: Wording,
    pub(crate) too_long: Wording,
    pub(crate) not_one_of: Wording,
    pub(crate) no_offset: Wording,
    pub(crate) not_an_instant: Wording,
    pub(crate) not_an_id: Wording,
}

impl ArgWords {
    /// The row for a kind.
    pub(super) fn of(&self, kind: &ArgErrorKind) -> Wording {
        match kind {
            ArgErrorKind::NotAMap { .. } => self.not_a_map,
            ArgErrorKind::UnknownKeys { .. } => self.unknown_keys,
            ArgErrorKind::GivenTwice => self.given_twice,
            ArgErrorKind::Missing => self.missing,
            ArgErrorKind::Blank => self.blank,
            ArgErrorKind::NotText { .. } => self.not_text,
            ArgErrorKind::NotABoolean => self.not_a_boolean,
            ArgErrorKind::NotWhole => self.not_whole,
            ArgErrorKind::NotAList { .. } => self.not_a_list,
            ArgErrorKind::NotA { .. } => self.not_a,
            ArgErrorKind::OutOfRange { .. } => self.out_of_range,
            ArgErrorKind::TooLong { .. } => self.too_long,
            ArgErrorKind::NotOneOf { .. } => self.not_one_of,
            ArgErrorKind::NoOffset => self.no_offset,
            ArgErrorKind::NotAnInstant => self.not_an_instant,
            ArgErrorKind::NotAnId => self.not_an_id,
            ArgErrorKind::Own { words, .. } => *words,
        }
    }

    /// Formats a list of names in this dialect's way.
    pub(super) fn list(&self, names: &[&str]) -> String {
        let (before, between) = self.list;
        names.iter().map(|name| format!("{before}{name}")).collect::<Vec<String>>().join(between)
    }
}

/// Builds a table of texts: name, message and hint per kind. Rows that are left out come from the base table.
macro_rules! arg_words {
    (
        $(@$setting:ident $value:expr;)*
        $(..$base:expr;)?
        $($row:ident $name:literal $message:literal $hint:literal $($code:ident)?;)+
    ) => {
        $crate::dialect::args::ArgWords {
            $($setting: $value,)*
            $($row: $crate::dialect::args::Wording::new($name, $message, $hint)$(.coded($crate::domain::Code::$code))?,)+
            $(..$base)?
        }
    };
}
pub(crate) use arg_words;

/// Declares the texts of a dialect's own rules, one constant per rule.
macro_rules! wordings {
    ($($(#[$meta:meta])* $rule:ident $name:literal $message:literal $hint:literal $($code:ident)?;)+) => {
        $($(#[$meta])* pub(crate) const $rule: $crate::dialect::args::Wording =
            $crate::dialect::args::Wording::new($name, $message, $hint)$(.coded($crate::domain::Code::$code))?;)+
    };
}
pub(crate) use wordings;

/// Replaces the placeholders in a text. Names that `part` does not know stay as they are, braces included.
pub(crate) fn fill(text: &str, part: impl Fn(&str) -> Option<String>) -> String {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, (name, after))) =
        rest.split_once('{').and_then(|(before, after)| Some((before, after.split_once('}')?)))
    {
        filled.push_str(before);
        filled.push_str(&part(name).unwrap_or_else(|| format!("{{{name}}}")));
        // The inserted text is not searched: braces in a caller's value are no placeholders.
        rest = after;
    }
    filled + rest
}

wordings! {
    /// Refusal of a tool that needs a session, if the caller is not a session and names none.
    NO_SESSION "no_session" "the caller is not a session, and the call names none"
        "call with the token of a session, or connect as one, as reveille mcp --session NAME does";
}

/// The texts of the tools that spell fields in snake case.
pub(crate) const TOOL_WORDS: ArgWords = arg_words! {
    @whole "the arguments";
    @list ("", ", ");
    not_a_map "not_an_object" "{field} must be an object, not {found}" "give an object with the fields that the tool describes";
    unknown_keys "unknown_field" "unknown field {field}: {place} may have {known}"
        "leave the field out, or spell it as in the list";
    given_twice "given_twice" "{field} is given twice, in two spellings" "give each field once, in snake case";
    missing "missing" "{field} is required" "add the field; the tool describes what it takes";
    blank "blank" "{field} must not be blank" "say something in it";
    not_text "not_a_string" "{field} must be a string, not {found}" "write a string, in quotes";
    not_a_boolean "not_a_boolean" "{field} must be true or false" "write true or false without quotes";
    not_whole "not_a_whole_number" "{field} must be a whole number" "write digits only, without quotes, unit or fraction";
    not_a_list "not_a_list" "{field} must be a list" "write a list, in brackets";
    not_a "wrong_type" "{field} must be {expected}, not {found}" "write {expected}";
    out_of_range "out_of_range" "{field} must be from {min} to {max}" "choose a number from {min} to {max}";
    too_long "too_long" "{field} is too long: {limit} is {max} {unit}" "shorten it to {max} {unit}" Limit;
    not_one_of "unknown_word" "{field} must be one of {known}" "choose one of these words";
    no_offset "no_offset" "{field} has no offset from UTC, so it could be any of many instants"
        "add the offset at the end, such as +08:00, or Z for UTC";
    not_an_instant "not_a_timestamp" "{field} is no ISO-8601 instant"
        "write date, T, time, and offset, such as 2026-04-11T09:00:00Z";
    not_an_id "not_an_id" "{field} cannot be an id: it has control characters"
        "leave out line breaks and other control characters";
};

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn names_in_braces_are_filled_in_and_other_braces_stay() {
        let part = |name: &str| (name == "field").then(|| "a.b".to_owned());
        for (text, expected) in [
            ("", ""),
            ("{field} is {field}", "a.b is a.b"),
            (r#"name a session: {"kind": "session"}"#, r#"name a session: {"kind": "session"}"#),
            ("{open", "{open"),
        ] {
            assert_eq!(fill(text, part), expected);
        }
    }
}
