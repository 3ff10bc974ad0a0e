//! A form as a log holds it, read in place: texts and keywords point into what was read, and only maps and vectors are
//! allocated. A start reads a million of them.
//!
//! Read here is what the printers of this module write, and they write little of EDN: nil, booleans, whole numbers, keywords,
//! strings, maps and vectors. [`Form::read`] passes on everything else, and everything doubtful, to the reader of all EDN, whose
//! values are forms as well ([`Form::of`]). Invariant: what it does read, that reader reads equal.

use std::borrow::Cow;

use crate::edn::{self, Caps, Map, Value};

/// A form.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::runtime) enum Form<'a> {
    Nil,
    Bool(bool),
    Int(i64),
    Keyword(&'a str),
    Text(Cow<'a, str>),
    Vector(Vec<Form<'a>>),
    Map(Entries<'a>),
    /// Anything else, which no part of a fact or a row is but within a session's configuration.
    Other(&'a Value),
}

/// The entries of a map, as they stand.
pub(in crate::runtime) type Entries<'a> = Vec<(Form<'a>, Form<'a>)>;

impl<'a> Form<'a> {
    /// Reads the one form that a text consists of; `None` if that takes the reader of all EDN.
    pub(in crate::runtime) fn read(text: &'a [u8]) -> Option<Form<'a>> {
        let mut reader = Reader { text: std::str::from_utf8(text).ok()?, at: 0 };
        let form = reader.form(DEPTH_MAX)?;
        (reader.at == text.len()).then_some(form)
    }

    /// A value as a form.
    pub(in crate::runtime) fn of(value: &'a Value) -> Form<'a> {
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

    /// A map as a form.
    pub(in crate::runtime) fn of_map(map: &'a Map) -> Form<'a> {
        Form::Map(map.iter().map(|(key, value)| (Form::of(key), Form::of(value))).collect())
    }

    /// The form as a value, for whoever reads values.
    pub(super) fn to_value(&self) -> Value {
        match self {
            Form::Nil => Value::Nil,
            Form::Bool(flag) => Value::Bool(*flag),
            Form::Int(number) => Value::Int(*number),
            Form::Keyword(word) => Value::keyword(word),
            Form::Text(text) => Value::string(&**text),
            Form::Vector(items) => Value::vector(items.iter().map(Form::to_value).collect::<Vec<Value>>()),
            Form::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| (key.to_value(), value.to_value()));
                Value::Map(entries.collect())
            }
            Form::Other(value) => (*value).clone(),
        }
    }

    /// What stands under a keyword; nil if nothing does, or if this is no map.
    pub(in crate::runtime) fn part(&self, key: &str) -> &Form<'a> {
        let Form::Map(entries) = self else { return &Form::Nil };
        let is_it = |entry: &&(Form<'a>, Form<'a>)| matches!(entry.0, Form::Keyword(word) if word == key);
        entries.iter().find(is_it).map_or(&Form::Nil, |(_, value)| value)
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
            // However it was written.
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

    pub(in crate::runtime) fn is_map(&self) -> bool {
        matches!(self, Form::Map(_))
    }
}

/// Shows the form that a payload holds.
///
/// # Errors
/// What is wrong with it, in words; whatever `take` says else.
pub(in crate::runtime) fn show<T>(
    payload: &[u8],
    take: impl FnOnce(&Form<'_>) -> Result<T, String>,
) -> Result<T, String> {
    if let Some(form) = Form::read(payload) {
        return take(&form);
    }
    let value = edn::read(payload, &PAYLOAD_CAPS).map_err(|error| error.to_string())?;
    take(&Form::of(&value))
}

/// A payload may hold a whole configuration, and is longer than a request.
const PAYLOAD_CAPS: Caps =
    Caps { bytes_max: 1 << 28, depth_max: 128, digits_max: 1_000, forms_max: u32::MAX };

/// Where the reader stands. Everything it compares is ASCII, so it never stops within a character.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn form(&mut self, depth: u32) -> Option<Form<'a>> {
        let begin = self.at;
        match self.next()? {
            b'{' => self.map(depth.checked_sub(1)?),
            b'[' => {
                let mut items = Vec::new();
                while !self.closes(b']') {
                    items.push(self.form(depth.checked_sub(1)?)?);
                    self.skip_space();
                }
                Some(Form::Vector(items))
            }
            b'"' => self.string(),
            b':' => {
                let word = self.token();
                is_plain(word).then_some(Form::Keyword(word))
            }
            b'-' | b'0'..=b'9' => {
                self.at = begin;
                let token = self.token();
                let number: i64 = token.parse().ok()?;
                // One spelling of each number: what is spelt otherwise may mean something else.
                let digits = token.strip_prefix('-').unwrap_or(token);
                (!digits.starts_with('0') || token == "0").then_some(Form::Int(number))
            }
            b'n' | b't' | b'f' => {
                self.at = begin;
                match self.token() {
                    "nil" => Some(Form::Nil),
                    "true" => Some(Form::Bool(true)),
                    "false" => Some(Form::Bool(false)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn map(&mut self, depth: u32) -> Option<Form<'a>> {
        let mut entries: Entries<'a> = Vec::with_capacity(ENTRIES);
        while !self.closes(b'}') {
            let key = self.form(depth)?;
            let Form::Keyword(word) = key else { return None };
            // Twice is an error, which the other reader tells.
            let is_new =
                |entry: &(Form<'a>, Form<'a>)| !matches!(entry.0, Form::Keyword(other) if other == word);
            if !entries.iter().all(is_new) {
                return None;
            }
            self.skip_space();
            entries.push((key, self.form(depth)?));
            self.skip_space();
        }
        Some(Form::Map(entries))
    }

    /// The rest of a string; one with an escape is copied.
    fn string(&mut self) -> Option<Form<'a>> {
        let begin = self.at;
        let bytes = self.text.as_bytes();
        let plain = bytes[begin..].iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        self.at += plain;
        if bytes[self.at] == b'"' {
            self.at += 1;
            return Some(Form::Text(Cow::Borrowed(&self.text[begin..begin + plain])));
        }
        let mut copy = self.text[begin..self.at].to_owned();
        loop {
            match self.next()? {
                b'"' => return Some(Form::Text(Cow::Owned(copy))),
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
                    let plain = bytes[from..].iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
                    self.at = from + plain;
                    copy.push_str(&self.text[from..self.at]);
                }
            }
        }
    }

    /// Everything up to what ends a token.
    fn token(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let ends = |byte: u8| matches!(byte, b' ' | b'}' | b']' | b'{' | b'[' | b'"');
        let length = rest.bytes().position(ends).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn closes(&mut self, with: u8) -> bool {
        let closes = self.text.as_bytes().get(self.at) == Some(&with);
        self.at += usize::from(closes);
        closes
    }

    fn skip_space(&mut self) {
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

/// Whether it is a keyword as ours are: lower case, at most one namespace. Others may be keywords, or not.
fn is_plain(word: &str) -> bool {
    // In one pass: every entry of every map comes by here.
    let (mut begins, mut has_namespace) = (true, false);
    for byte in word.bytes() {
        match byte {
            b'a'..=b'z' => begins = false,
            b'-' | b'?' if !begins => {}
            b'/' if !begins && !has_namespace => (begins, has_namespace) = (true, true),
            _ => return false,
        }
    }
    !begins
}

/// Most maps have no more entries than that.
const ENTRIES: usize = 8;
/// Deeper forms are the other reader's.
const DEPTH_MAX: u32 = 32;
