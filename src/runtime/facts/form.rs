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
    /// Keys and values in turn, as they stand.
    Map(Vec<Form<'a>>),
    /// Anything else, which no part of a fact or a row is but within a session's configuration.
    Other(&'a Value),
}

impl<'a> Form<'a> {
    /// Reads the one form that a text consists of; `None` if that takes the reader of all EDN.
    pub(in crate::runtime) fn read(text: &'a [u8]) -> Option<Form<'a>> {
        let mut reader = Reader { text: std::str::from_utf8(text).ok()?, at: 0 };
        let mut forms = Vec::with_capacity(1);
        reader.form(DEPTH_MAX, &mut forms)?;
        forms.pop().filter(|_| reader.at == text.len())
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
        Form::Map(map.iter().flat_map(|(key, value)| [Form::of(key), Form::of(value)]).collect())
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
                let (entries, _) = entries.as_chunks();
                Value::Map(entries.iter().map(|[key, value]| (key.to_value(), value.to_value())).collect())
            }
            Form::Other(value) => (*value).clone(),
        }
    }

    /// What stands under a keyword; nil if nothing does, or if this is no map.
    pub(in crate::runtime) fn part(&self, key: &str) -> &Form<'a> {
        let Form::Map(entries) = self else { return &Form::Nil };
        let (entries, _) = entries.as_chunks();
        let is_it = |[word, _]: &&[Form<'a>; 2]| matches!(word, Form::Keyword(word) if *word == key);
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
    /// Appends the form that comes next. Where it is put it stays: forms that are handed from call to call took more time to
    /// move than to read.
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
                // One spelling of each number: what is spelt otherwise may mean something else.
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
            if self.next()? != b':' {
                return None;
            }
            let key = self.keyword()?;
            // Twice is an error, which the other reader tells.
            let (known, _) = entries.as_chunks();
            let is_it = |[other, _]: &[Form<'a>; 2]| matches!(other, Form::Keyword(other) if *other == key);
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

    /// The rest of a string; one with an escape is copied.
    fn string(&mut self, out: &mut Vec<Form<'a>>) -> Option<()> {
        let begin = self.at;
        let bytes = self.text.as_bytes();
        let plain = edn::plain_len(&bytes[begin..])?;
        self.at += plain;
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

    /// The rest of a keyword as ours are: lower case, at most one namespace. Others may be keywords, or not.
    fn keyword(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let (begin, mut part, mut at) = (self.at, self.at, self.at);
        // Mostly letters: every entry of every map comes by here.
        loop {
            match bytes.get(at) {
                Some(b'a'..=b'z') => {}
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

    /// Everything up to what ends a token.
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

fn ends_token(byte: u8) -> bool {
    matches!(byte, b' ' | b'}' | b']' | b'{' | b'[' | b'"')
}

/// Most maps have no more entries than that.
const ENTRIES: usize = 8;
/// Deeper forms are the other reader's.
const DEPTH_MAX: u32 = 32;
