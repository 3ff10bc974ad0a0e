//! A form, read in place: strings and keywords point into the text that was read, and only maps and vectors are
//! allocated. A start may read a million forms.
//!
//! The reader here accepts what the printers of this module write, which is little of EDN: nil, booleans, integers,
//! keywords, strings, maps and vectors. [`Form::read`] gives up on everything else, and on everything doubtful. Then
//! the full EDN reader is used, whose values convert to forms ([`Form::of`]). Invariant: what this reader accepts,
//! the full reader reads as an equal form.

use std::borrow::Cow;

use crate::edn::{self, Caps, Map, Value};

/// A form of EDN.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form<'a> {
    Nil,
    Bool(bool),
    Int(i64),
    Keyword(&'a str),
    Text(Cow<'a, str>),
    Vector(Vec<Form<'a>>),
    /// Keys and values in turn, in the order of the text.
    Map(Vec<Form<'a>>),
    /// Anything else. Only a session's configuration contains such values.
    Other(&'a Value),
}

impl<'a> Form<'a> {
    /// Reads a text that consists of one form; `None` if that needs the full EDN reader.
    pub(crate) fn read(text: &'a [u8]) -> Option<Form<'a>> {
        let mut reader = Reader { text: std::str::from_utf8(text).ok()?, at: 0 };
        let mut forms = Vec::with_capacity(1);
        reader.form(DEPTH_MAX, &mut forms)?;
        forms.pop().filter(|_| reader.at == text.len())
    }

    /// Converts a value to a form.
    pub(crate) fn of(value: &'a Value) -> Form<'a> {
        match value {
            Value::Nil => Form::Nil,
            Value::Bool(flag) => Form::Bool(*flag),
            Value::Int(number) => Form::Int(*number),
            Value::Keyword(word) => Form::Keyword(word.as_str()),
            Value::Str(text) => Form::Text(Cow::Borrowed(text)),
            Value::Vector(items) => Form::Vector(items.iter().map(Form::of).collect()),
            Value::Map(map) => Form::of_map(map),
            Value::Meta(meta) => Form::of(meta.value()),
            Value::BigInt(_) | Value::Float(_) | Value::BigDec(_) | Value::Ratio(_) | Value::Char(_) => {
                Form::Other(value)
            }
            Value::Symbol(_) | Value::List(_) | Value::Set(_) | Value::Inst(_) | Value::Uuid(_) => {
                Form::Other(value)
            }
            Value::Tagged(_) => Form::Other(value),
        }
    }

    /// Converts a map to a form.
    pub(crate) fn of_map(map: &'a Map) -> Form<'a> {
        Form::Map(map.iter().flat_map(|(key, value)| [Form::of(key), Form::of(value)]).collect())
    }

    /// Converts the form to a value.
    pub(super) fn to_value(&self) -> Value {
        match self {
            Form::Nil => Value::Nil,
            Form::Bool(flag) => Value::Bool(*flag),
            Form::Int(number) => Value::Int(*number),
            Form::Keyword(word) => Value::keyword(word),
            Form::Text(text) => Value::string(&**text),
            Form::Vector(items) => Value::vector(items.iter().map(Form::to_value).collect::<Vec<Value>>()),
            Form::Map(entries) => {
                let (entries, _) = entries.as_chunks();
                Value::Map(entries.iter().map(|[key, value]| (key.to_value(), value.to_value())).collect())
            }
            Form::Other(value) => (*value).clone(),
        }
    }

    /// The value under a keyword; nil if it is missing, or if this is not a map.
    pub(crate) fn part(&self, key: &str) -> &Form<'a> {
        let Form::Map(entries) = self else { return &Form::Nil };
        let (entries, _) = entries.as_chunks();
        let is_it = |[word, _]: &&[Form<'a>; 2]| matches!(word, Form::Keyword(word) if is_equal(word, key));
        entries.iter().find(is_it).map_or(&Form::Nil, |[_, value]| value)
    }

    pub(super) fn is_nil(&self) -> bool {
        matches!(self, Form::Nil)
    }

    pub(super) fn as_bool(&self) -> Option<bool> {
        if let Form::Bool(flag) = self { Some(*flag) } else { None }
    }

    pub(super) fn as_int(&self) -> Option<i64> {
        match self {
            Form::Int(number) => Some(*number),
            // A number in another notation, such as `7N`.
            Form::Other(value) => value.as_int(),
            Form::Nil | Form::Bool(_) | Form::Keyword(_) | Form::Text(_) | Form::Vector(_) | Form::Map(_) => {
                None
            }
        }
    }

    pub(super) fn as_keyword(&self) -> Option<&'a str> {
        if let Form::Keyword(word) = self { Some(word) } else { None }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        if let Form::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn as_items(&self) -> Option<&[Form<'a>]> {
        if let Form::Vector(items) = self { Some(items) } else { None }
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self, Form::Map(_))
    }
}

/// Parses a payload and passes its form to `take`.
///
/// # Errors
/// A description of what is wrong with the payload, or the error of `take`.
pub(crate) fn show<T>(
    payload: &[u8],
    take: impl FnOnce(&Form<'_>) -> Result<T, String>,
) -> Result<T, String> {
    if let Some(form) = Form::read(payload) {
        return take(&form);
    }
    let value = edn::read(payload, &PAYLOAD_CAPS).map_err(|error| error.to_string())?;
    take(&Form::of(&value))
}

/// A payload may contain a whole configuration, so it may be longer than a request.
const PAYLOAD_CAPS: Caps =
    Caps { bytes_max: 1 << 28, depth_max: 128, digits_max: 1_000, forms_max: u32::MAX };

/// The reader's position. Everything it compares is ASCII, so it never stops within a character.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Appends the next form to `out`, where it stays: returning forms from call to call took
    /// longer than reading them.
    fn form(&mut self, depth: u32, out: &mut Vec<Form<'a>>) -> Option<()> {
        let begin = self.at;
        match self.next()? {
            b'{' => self.map(depth.checked_sub(1)?, out)?,
            b'[' => {
                let (depth, mut items) = (depth.checked_sub(1)?, Vec::new());
                while !self.closes(b']') {
                    self.form(depth, &mut items)?;
                    self.skip_space();
                }
                out.push(Form::Vector(items));
            }
            b'"' => self.string(out)?,
            b':' => out.push(Form::Keyword(self.keyword()?)),
            b'-' | b'0'..=b'9' => {
                self.at = begin;
                let token = self.token();
                let number: i64 = token.parse().ok()?;
                // Only the canonical spelling. The full reader decides about others, such as `007` and `-0`.
                let digits = token.strip_prefix('-').unwrap_or(token);
                (!digits.starts_with('0') || token == "0").then(|| out.push(Form::Int(number)))?;
            }
            b'n' | b't' | b'f' => {
                self.at = begin;
                out.push(match self.token() {
                    "nil" => Form::Nil,
                    "true" => Form::Bool(true),
                    "false" => Form::Bool(false),
                    _ => return None,
                });
            }
            _ => return None,
        }
        Some(())
    }

    fn map(&mut self, depth: u32, out: &mut Vec<Form<'a>>) -> Option<()> {
        let mut entries = Vec::with_capacity(2 * ENTRIES);
        while !self.closes(b'}') {
            // The printers of this module write no keys but keywords.
            if self.next()? != b':' {
                return None;
            }
            let key = self.keyword()?;
            // A duplicate key is an error, which the full reader reports.
            let (known, _) = entries.as_chunks();
            let is_it =
                |[other, _]: &[Form<'a>; 2]| matches!(other, Form::Keyword(other) if is_equal(other, key));
            if known.iter().any(is_it) {
                return None;
            }
            entries.push(Form::Keyword(key));
            self.skip_space();
            self.form(depth, &mut entries)?;
            self.skip_space();
        }
        out.push(Form::Map(entries));
        Some(())
    }

    /// The rest of a string; a string with an escape is copied.
    fn string(&mut self, out: &mut Vec<Form<'a>>) -> Option<()> {
        let begin = self.at;
        let bytes = self.text.as_bytes();
        let plain = edn::plain_len(&bytes[begin..])?;
        self.at += plain;
        // In bounds: `plain_len` ends at a quote or a backslash, or finds neither and gives up.
        if bytes[self.at] == b'"' {
            self.at += 1;
            out.push(Form::Text(Cow::Borrowed(&self.text[begin..begin + plain])));
            return Some(());
        }
        let mut copy = self.text[begin..self.at].to_owned();
        loop {
            match self.next()? {
                b'"' => {
                    out.push(Form::Text(Cow::Owned(copy)));
                    return Some(());
                }
                b'\\' => copy.push(match self.next()? {
                    b'n' => '\n',
                    b't' => '\t',
                    b'r' => '\r',
                    b'"' => '"',
                    b'\\' => '\\',
                    _ => return None,
                }),
                _ => {
                    let from = self.at - 1;
                    let plain = edn::plain_len(&bytes[from..])?;
                    self.at = from + plain;
                    copy.push_str(&self.text[from..self.at]);
                }
            }
        }
    }

    /// The rest of a keyword, if it is one that the printers write: lower case, at most one namespace. The full
    /// reader decides about others.
    fn keyword(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let (begin, mut part, mut at) = (self.at, self.at, self.at);
        // Letters first, because most bytes are: every key of every map passes through this loop.
        loop {
            match bytes.get(at) {
                Some(b'a'..=b'z') => {}
                // Neither begins a word.
                Some(b'-' | b'?') if at > part => {}
                Some(b'/') if at > part && part == begin => part = at + 1,
                Some(byte) if !ends_token(*byte) => return None,
                Some(_) | None => break,
            }
            at += 1;
        }
        self.at = at;
        (at > part).then(|| &self.text[begin..at])
    }

    /// Everything up to the end of the token.
    fn token(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.bytes().position(ends_token).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn closes(&mut self, with: u8) -> bool {
        let closes = self.text.as_bytes().get(self.at) == Some(&with);
        self.at += usize::from(closes);
        closes
    }

    fn skip_space(&mut self) {
        // Only the blank that the printers write. Any other whitespace is left to the full reader.
        while self.text.as_bytes().get(self.at) == Some(&b' ') {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Option<u8> {
        let byte = *self.text.as_bytes().get(self.at)?;
        self.at += 1;
        Some(byte)
    }
}

/// Compares two keywords. Most of those with equal lengths differ in their first byte, which costs less to
/// compare than a call of `memcmp`.
fn is_equal(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.as_bytes().first() == b.as_bytes().first() && a == b
}

fn ends_token(byte: u8) -> bool {
    matches!(byte, b' ' | b'}' | b']' | b'{' | b'[' | b'"')
}

/// The initial capacity of a map, in entries. Most maps have no more.
const ENTRIES: usize = 8;
/// Maximum depth. Deeper forms are left to the full reader.
const DEPTH_MAX: u32 = 32;
