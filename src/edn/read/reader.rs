//! The reader's main loop.
//!
//! Lives here: walking the input form by form with an explicit stack of open brackets and
//! prefixes. Does not live here: what a token means, and what a closed bracket becomes.
//!
//! Invariant: `levels` is never longer than the depth cap, and every finished value either
//! is returned, joins the open bracket below it, or is consumed by a prefix.

use crate::edn::{Caps, Map, ReadError, ReadErrorKind, Value, class};

/// An error, boxed so that results stay as small as values.
pub(in crate::edn) type Fault = Box<ReadError>;

/// The state of reading one input.
pub(in crate::edn) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) caps: Caps,
    /// The items of all open brackets, innermost last.
    pub(super) values: Vec<Value>,
    levels: Vec<Level<'a>>,
    /// Whether metadata stays on its value; else it is checked and dropped.
    pub(super) keeps_meta: bool,
    /// The metadata that waits for its value, innermost last.
    metas: Vec<Map>,
    /// Bytes that namespaced maps have added to their keys.
    pub(super) added_bytes: usize,
    forms: u32,
    form_from: usize,
}

/// An open bracket, or a prefix that waits for its form.
#[derive(Clone, Copy)]
pub(super) struct Level<'a> {
    pub(super) kind: Kind<'a>,
    /// Offset of the opening.
    pub(super) from: usize,
    /// Offset behind the opening.
    pub(super) inner_from: usize,
    /// Where the items of this level begin in `Reader::values`.
    pub(super) values_from: usize,
}

/// What a level is.
#[derive(Clone, Copy)]
pub(super) enum Kind<'a> {
    List,
    Vector,
    Map,
    NamespacedMap(&'a str),
    Set,
    Discard,
    Tag(&'a str),
    Meta,
    MetaTarget,
}

impl<'a> Reader<'a> {
    pub(in crate::edn) fn new(text: &'a str, caps: &Caps) -> Self {
        Self {
            text,
            at: 0,
            caps: *caps,
            values: Vec::new(),
            levels: Vec::new(),
            keeps_meta: false,
            metas: Vec::new(),
            added_bytes: 0,
            forms: 0,
            form_from: 0,
        }
    }

    /// Returns where the next form is looked for.
    pub(in crate::edn) fn offset(&self) -> usize {
        self.at
    }

    /// Moves to where the next form begins, past whitespace, comments, `#_` and metadata.
    pub(in crate::edn) fn skip_to_form(&mut self) -> Option<()> {
        loop {
            self.skip_blank();
            match (self.peek(0)?, self.peek(1)) {
                // The metadata itself is a form, which is read and dropped below.
                (b'^', _) => self.advance(1),
                (b'#', Some(b'_' | b'^')) => self.advance(2),
                (b')' | b']' | b'}', _) => return None,
                _ => return Some(()),
            }
            self.form().ok()??;
        }
    }

    /// Moves `count` bytes on.
    pub(in crate::edn) fn advance(&mut self, count: usize) {
        self.at += count;
    }

    /// Returns where the form that was read last begins.
    pub(super) fn form_from(&self) -> usize {
        self.form_from
    }

    /// Reads the next form; nothing when the input ends before one begins.
    pub(in crate::edn) fn form(&mut self) -> Result<Option<Value>, Fault> {
        loop {
            self.skip_blank();
            // Only a top-level form has its position noted: errors about whole forms refer to it.
            if self.levels.is_empty() {
                self.form_from = self.at;
            }
            let Some(byte) = self.peek(0) else {
                return self.end();
            };
            let Some(value) = self.step(byte)? else {
                continue;
            };
            if let Some(value) = self.deliver(value)? {
                return Ok(Some(value));
            }
        }
    }

    /// Reads one token. An opening yields no value yet.
    fn step(&mut self, byte: u8) -> Result<Option<Value>, Fault> {
        match byte {
            b':' => self.keyword().map(Some),
            b'"' => self.string().map(Some),
            b'(' => self.open(Kind::List, self.at + 1),
            b'[' => self.open(Kind::Vector, self.at + 1),
            b'{' => self.open(Kind::Map, self.at + 1),
            b'^' => self.open(Kind::Meta, self.at + 1),
            b')' | b']' | b'}' => self.close(byte).map(Some),
            b'#' => self.dispatch(),
            b'\\' => self.character().map(Some),
            b'0'..=b'9' => self.number().map(Some),
            b'+' | b'-' if self.peek(1).is_some_and(|next| next.is_ascii_digit()) => self.number().map(Some),
            _ => self.symbol().map(Some),
        }
    }

    /// Reads what begins with `#`.
    fn dispatch(&mut self) -> Result<Option<Value>, Fault> {
        let from = self.at;
        match self.peek(1) {
            Some(b'_') => self.open(Kind::Discard, from + 2),
            Some(b'{') => self.open(Kind::Set, from + 2),
            // The old spelling of `^`, which Clojure still reads.
            Some(b'^') => self.open(Kind::Meta, from + 2),
            Some(b'#') => self.symbolic().map(Some),
            Some(b':') => self.namespace(),
            Some(b'a'..=b'z' | b'A'..=b'Z' | 0x80..) => self.tag(),
            Some(_) => Err(self.syntax("a tag begins with a letter behind '#'", from)),
            None => Err(self.fault(ReadErrorKind::UnexpectedEnd, "the input ends behind '#'", from + 1)),
        }
    }

    /// Opens a level whose content begins at `inner_from`.
    pub(super) fn open(&mut self, kind: Kind<'a>, inner_from: usize) -> Result<Option<Value>, Fault> {
        // Prefixes count like brackets: comparing and dropping a tagged value recurses as well.
        if self.levels.len() >= self.caps.depth() {
            let max = u64::from(self.caps.depth_max.min(Caps::DEPTH_CEILING));
            return Err(self.limit("depth", max, self.at));
        }
        let values_from = self.values.len();
        self.levels.push(Level { kind, from: self.at, inner_from, values_from });
        self.at = inner_from;
        Ok(None)
    }

    /// Closes the innermost level with `closer` and makes its value.
    fn close(&mut self, closer: u8) -> Result<Value, Fault> {
        let at = self.at;
        let Some(level) = self.levels.pop() else {
            return Err(self.syntax(format!("nothing is open for '{}'", char::from(closer)), at));
        };
        match level.kind.closer() {
            Some(expected) if expected == closer => {
                self.at += 1;
                self.collection(level)
            }
            Some(expected) => {
                let (expected, found) = (char::from(expected), char::from(closer));
                let message =
                    format!("expected '{expected}' to close {}, found '{found}'", level.kind.noun());
                Err(self.syntax(message, at))
            }
            None => Err(self.syntax(format!("{} is followed by no form", level.kind.noun()), at)),
        }
    }

    /// Hands a finished value to the levels that wait for it; returns it when none does.
    fn deliver(&mut self, mut value: Value) -> Result<Option<Value>, Fault> {
        self.forms = self.forms.saturating_add(1);
        // Discarded forms and metadata count as well: they cost time like any other.
        if self.forms > self.caps.forms_max {
            return Err(self.limit("forms", u64::from(self.caps.forms_max), self.at));
        }
        loop {
            let Some(level) = self.levels.last().copied() else {
                return Ok(Some(value));
            };
            match level.kind {
                Kind::List | Kind::Vector | Kind::Map | Kind::NamespacedMap(_) | Kind::Set => {
                    self.values.push(value);
                    return Ok(None);
                }
                Kind::Discard => {
                    self.levels.pop();
                    return Ok(None);
                }
                Kind::Meta => {
                    self.check_metadata(&value, level)?;
                    if self.keeps_meta {
                        self.metas.push(value.into_meta());
                    }
                    // The level stays in place and now waits for the value that the metadata
                    // belongs to.
                    self.levels.pop();
                    self.levels.push(Level { kind: Kind::MetaTarget, ..level });
                    return Ok(None);
                }
                Kind::MetaTarget => {
                    self.check_metadata_target(&value, level)?;
                    // Without `keeps_meta` there is none, and the checked metadata ends here.
                    if let Some(meta) = self.metas.pop() {
                        value = value.with_meta(meta);
                    }
                }
                Kind::Tag(tag) => value = self.tagged(tag, value, level)?,
            }
            // The prefix is done with its form, which goes on to the level around the prefix.
            self.levels.pop();
        }
    }

    /// Ends the input, which is fine only between forms.
    fn end(&self) -> Result<Option<Value>, Fault> {
        let Some(level) = self.levels.last() else {
            return Ok(None);
        };
        let message =
            format!("the input ends inside {} that begins at byte {}", level.kind.noun(), level.from);
        Err(self.fault(ReadErrorKind::UnexpectedEnd, message, self.at))
    }

    /// Skips whitespace, commas and comments.
    pub(super) fn skip_blank(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if class::is(*byte, class::BLANK) {
                self.at += 1;
            } else if *byte == b';' {
                let rest = bytes.get(self.at..).unwrap_or_default();
                // A carriage return alone ends a comment too, as in Clojure.
                let line = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                self.at += line.unwrap_or(rest.len());
            } else {
                return;
            }
        }
    }

    /// Returns the byte that stands `ahead` bytes from here.
    pub(in crate::edn) fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Returns the text between two offsets that lie between characters.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    pub(super) fn syntax(&self, message: impl Into<Box<str>>, at: usize) -> Fault {
        self.fault(ReadErrorKind::Syntax, message, at)
    }

    #[cold]
    pub(super) fn fault(&self, kind: ReadErrorKind, message: impl Into<Box<str>>, at: usize) -> Fault {
        Box::new(ReadError::new(kind, message, self.text.as_bytes(), at))
    }

    #[cold]
    pub(super) fn limit(&self, limit: &'static str, max: u64, at: usize) -> Fault {
        Box::new(ReadError::limit(limit, max, self.text.as_bytes(), at))
    }
}

impl Kind<'_> {
    fn closer(self) -> Option<u8> {
        match self {
            Self::List => Some(b')'),
            Self::Vector => Some(b']'),
            Self::Map | Self::NamespacedMap(_) | Self::Set => Some(b'}'),
            Self::Discard | Self::Tag(_) | Self::Meta | Self::MetaTarget => None,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::List => "a list",
            Self::Vector => "a vector",
            Self::Map | Self::NamespacedMap(_) => "a map",
            Self::Set => "a set",
            Self::Discard => "a discard '#_'",
            Self::Tag(_) => "a tag",
            Self::Meta | Self::MetaTarget => "metadata '^'",
        }
    }
}

/// Returns the start of a piece of input, fit to stand in a message of one line.
pub(super) fn shown(text: &str) -> String {
    let visible = |character: char| if character.is_control() { ' ' } else { character };
    let mut shown: String = text.chars().take(SHOWN_MAX).map(visible).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Characters of the input that a message repeats at most.
const SHOWN_MAX: usize = 40;
