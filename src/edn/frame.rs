//! Framer: cuts a byte stream into top-level forms.
//!
//! Shape: a state for the current token, a stack of the open brackets and prefixes around it, and a
//! buffer with the bytes of the current frame. Costs: each byte is examined once, however the
//! stream is split into pieces. Limits: the buffer by `bytes_max`, the stack by `depth_max`; bytes
//! between frames are never buffered. Why not read and retry: a form that arrives byte by byte
//! would be scanned once per byte.
//!
//! Does not live here: validation of a frame. The framer knows brackets, tokens and prefixes only;
//! `read` finds everything else that is wrong with a frame. What is dropped behind a broken frame
//! is in `skip.rs`.
//!
//! Invariant: frames do not depend on how the stream was split, and on valid input they are exactly
//! the forms that the reader would read.

use std::collections::VecDeque;
use std::mem;

use super::skip::{Skip, len_until};
use super::{Caps, ReadError, ReadErrorKind, class};

/// Cuts a byte stream into top-level forms, one frame each.
///
/// Whitespace, commas, comments and discarded forms between frames are dropped at once,
/// however long; a discarded form is refused only when its brackets do not match. After a
/// broken form the stream goes on at the next one: a closing bracket whose partner is open
/// further out closes everything up to it. One without a partner ends the frame, which no reader
/// accepts, and what is left of its line is dropped: it belongs to the broken form, and a line for
/// each form is what clients write. It is a frame of its own if nothing is open. After a form that
/// exceeds a cap, the boundaries of later forms are unknown: the framer is poisoned and the stream
/// should be closed.
///
/// ```
/// use reveille::edn::{Caps, Framer};
/// let mut framer = Framer::new(Caps { bytes_max: 64, depth_max: 8, digits_max: 32, forms_max: 9 });
/// framer.push(b"{:a 1} [2 ; two");
/// assert_eq!(framer.next_frame(), Some(Ok(b"{:a 1}".to_vec())));
/// assert_eq!(framer.next_frame(), None);
/// framer.push(b"\n] 3");
/// assert_eq!(framer.next_frame(), Some(Ok(b"[2 ; two\n]".to_vec())));
/// assert_eq!(framer.finish(), Some(Ok(b"3".to_vec())));
/// assert_eq!(framer.finish(), None);
/// ```
#[derive(Debug)]
pub struct Framer {
    caps: Caps,
    state: State,
    stack: Vec<Level>,
    /// How many brackets of each kind are in the stack, so that a closer without a partner
    /// is known at once.
    open_counts: [u16; 3],
    buffer: Vec<u8>,
    /// Whether the form that is being dropped has brackets that do not match.
    is_dropped_broken: bool,
    is_poisoned: bool,
    ready: VecDeque<Result<Vec<u8>, ReadError>>,
}

/// The token that is being scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between tokens.
    Blank,
    Comment,
    /// Behind a `#` whose meaning the next byte tells.
    Hash,
    /// Behind a `+` or `-`, which may begin a number or a symbol.
    Sign,
    /// In a number, which ends at `#` too.
    Number,
    Token,
    /// In the name of a tag.
    Tag,
    /// In the namespace of a map, behind `#:`.
    Namespace,
    String,
    StringEscape,
    /// Behind a `\`, whose next byte is part of the character whatever it is.
    Character,
    /// Behind a broken frame, in what is left of its line.
    Skip(Skip),
}

/// An open bracket that waits for its closer, or a prefix that waits for a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Bracket(u8),
    Discard,
    Tag,
    Namespace,
    Meta,
    MetaTarget,
}

impl Framer {
    /// Makes a framer at the start of a stream. Of the caps, `bytes_max` and `depth_max`
    /// hold for each frame; the others are the reader's.
    pub fn new(caps: Caps) -> Self {
        Self {
            caps,
            state: State::Blank,
            stack: Vec::new(),
            open_counts: [0; 3],
            buffer: Vec::new(),
            is_dropped_broken: false,
            is_poisoned: false,
            ready: VecDeque::new(),
        }
    }

    /// Accepts the next bytes of the stream. Buffers at most the current frame and the frames that
    /// `bytes` complete; take those out before the next push.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((byte, behind)) = rest.split_first() {
            if self.is_poisoned {
                return;
            }
            // Most bytes only prolong a token: they are found and copied as one slice.
            let (dull, interesting) = rest.split_at(self.dull_len(rest));
            if dull.is_empty() {
                self.step(*byte);
                rest = behind;
            } else {
                self.keep(dull);
                rest = interesting;
            }
        }
    }

    /// Takes out the next complete frame.
    ///
    /// # Errors
    ///
    /// `Limit` for a frame over a cap, which poisons the framer; `Syntax` for a discarded
    /// form whose brackets do not match. Positions count from the start of the frame.
    pub fn next_frame(&mut self) -> Option<Result<Vec<u8>, ReadError>> {
        self.ready.pop_front()
    }

    /// Ends the stream and takes out a remaining frame; to be called until it returns nothing. A
    /// token that the stream's end terminates is complete.
    ///
    /// # Errors
    ///
    /// As [`Framer::next_frame`], and `UnexpectedEnd` when the stream ends inside a form.
    pub fn finish(&mut self) -> Option<Result<Vec<u8>, ReadError>> {
        if matches!(self.state, State::Sign | State::Number | State::Token) {
            self.state = State::Blank;
            self.complete();
        }
        // In any other state, or with anything open, the last form is incomplete.
        let is_between = matches!(self.state, State::Comment | State::Blank | State::Skip(_));
        if !is_between || !self.stack.is_empty() {
            self.fail(ReadErrorKind::UnexpectedEnd, "the stream ends inside a form");
            self.stack.clear();
            self.open_counts = [0; 3];
        }
        self.state = State::Blank;
        self.ready.pop_front()
    }

    /// Returns whether a form exceeded a cap, after which all bytes are ignored.
    pub fn is_poisoned(&self) -> bool {
        self.is_poisoned
    }

    /// Counts the bytes ahead that only prolong the current token.
    fn dull_len(&self, bytes: &[u8]) -> usize {
        match self.state {
            State::Blank => len_until(bytes, |byte| !class::is(byte, class::BLANK)),
            State::Comment => len_until(bytes, |byte| matches!(byte, b'\n' | b'\r')),
            State::Number => len_until(bytes, |byte| class::is(byte, class::STOP) || byte == b'#'),
            State::Token | State::Tag | State::Namespace => {
                len_until(bytes, |byte| class::is(byte, class::STOP))
            }
            State::String => len_until(bytes, |byte| matches!(byte, b'"' | b'\\')),
            State::Skip(skip) => skip.dull_len(bytes),
            State::Hash | State::Sign | State::StringEscape | State::Character => 0,
        }
    }

    /// Accepts one byte that changes the current state.
    fn step(&mut self, byte: u8) {
        match self.state {
            State::Blank => self.begin(byte),
            State::Comment => {
                self.keep(&[byte]);
                self.state = State::Blank;
            }
            State::Hash => self.dispatch(byte),
            State::Sign => {
                self.state = if byte.is_ascii_digit() { State::Number } else { State::Token };
                // A lone sign is a symbol: the byte ends it, as it ends any other token.
                if class::is(byte, class::STOP) {
                    self.step(byte);
                } else {
                    self.keep(&[byte]);
                }
            }
            // The byte ends the token and begins the next one, so it is handled twice.
            State::Number | State::Token => {
                self.state = State::Blank;
                self.complete();
                self.begin(byte);
            }
            State::Tag => self.begin_after(Level::Tag, byte),
            State::Namespace => self.begin_after(Level::Namespace, byte),
            State::String => {
                self.keep(&[byte]);
                if byte == b'"' {
                    self.state = State::Blank;
                    self.complete();
                } else {
                    self.state = State::StringEscape;
                }
            }
            // Any escaped byte belongs to the string, even a quote. The reader judges the escape.
            State::StringEscape => self.enter(State::String, byte),
            State::Character => self.enter(State::Token, byte),
            State::Skip(skip) => self.state = skip.behind(byte).map_or(State::Blank, State::Skip),
        }
    }

    /// Accepts a byte between tokens.
    fn begin(&mut self, byte: u8) {
        match byte {
            b'(' => self.open(b')', byte),
            b'[' => self.open(b']', byte),
            b'{' => self.open(b'}', byte),
            b')' | b']' | b'}' => self.close(byte),
            b'"' => self.enter(State::String, byte),
            b';' => self.enter(State::Comment, byte),
            b'\\' => self.enter(State::Character, byte),
            b'#' => self.enter(State::Hash, byte),
            b'+' | b'-' => self.enter(State::Sign, byte),
            b'0'..=b'9' => self.enter(State::Number, byte),
            b'^' => {
                // The level first: between frames, `keep` drops every byte.
                self.descend(Level::Meta);
                self.keep(&[byte]);
            }
            blank if class::is(blank, class::BLANK) => self.keep(&[byte]),
            _ => self.enter(State::Token, byte),
        }
    }

    /// Accepts the byte behind `#`.
    fn dispatch(&mut self, byte: u8) {
        match byte {
            b'{' => {
                self.state = State::Blank;
                self.open(b'}', byte);
            }
            b'_' => {
                // At top level a discarded form belongs to no frame: forget its `#` as well.
                if self.stack.is_empty() {
                    self.buffer.clear();
                }
                self.state = State::Blank;
                self.descend(Level::Discard);
                self.keep(&[byte]);
            }
            b'^' => {
                self.state = State::Blank;
                self.descend(Level::Meta);
                self.keep(&[byte]);
            }
            b':' => self.enter(State::Namespace, byte),
            b'#' => self.enter(State::Token, byte),
            // This is no form, but what follows belongs to the mistake: `#"pattern"`, `#(f %)`.
            stop if class::is(stop, class::STOP) => self.begin_after(Level::Tag, byte),
            _ => self.enter(State::Tag, byte),
        }
    }

    fn enter(&mut self, state: State, byte: u8) {
        self.state = state;
        self.keep(&[byte]);
    }

    /// Ends the name of a prefix with the byte behind it.
    fn begin_after(&mut self, level: Level, byte: u8) {
        self.state = State::Blank;
        self.descend(level);
        // The new level may have exceeded the depth, after which the byte belongs to nothing.
        if !self.is_poisoned {
            self.begin(byte);
        }
    }

    fn open(&mut self, closer: u8, byte: u8) {
        // The namespace and the map behind it are one level, as for the reader.
        if self.stack.last() == Some(&Level::Namespace) {
            self.stack.pop();
        }
        self.descend(Level::Bracket(closer));
        self.keep(&[byte]);
    }

    fn close(&mut self, closer: u8) {
        if self.stack.is_empty() {
            // Not by `keep`, which drops what is between frames.
            self.buffer.push(closer);
            return self.complete();
        }
        // From here on the closer belongs to the frame, whether it matches or not: `read` reports
        // it.
        self.keep(&[closer]);
        if self.is_poisoned {
            return;
        }
        // Only prefixes are open, such as `#_` or a tag, and no form follows them.
        if self.open_counts == [0; 3] {
            return self.abandon("a discarded form is missing");
        }
        // No bracket of this kind is open, so no reader accepts this frame, whatever follows.
        if self.open_counts[kind_index(closer)] == 0 {
            self.abandon("the brackets of a discarded form do not match");
            self.state = State::Skip(Skip::Line);
            return;
        }
        // The partner is open further out: everything inside it is closed with it. Errors thus stay
        // within one frame, and the stream goes on behind it.
        while let Some(level) = self.ascend()
            && level != Level::Bracket(closer)
        {
            self.is_dropped_broken = true;
        }
        self.complete();
    }

    /// Ends the frame with a closing bracket that shows that no form will come of it. `message`
    /// says what is wrong with a form that was to be discarded, which is no frame.
    fn abandon(&mut self, message: &str) {
        let is_dropped = self.stack.first() == Some(&Level::Discard);
        self.stack.clear();
        self.open_counts = [0; 3];
        if is_dropped {
            self.fail(ReadErrorKind::Syntax, message);
        } else {
            self.complete();
        }
    }

    /// Hands a finished form to the levels that wait for it, or out as a frame.
    fn complete(&mut self) {
        if self.is_poisoned {
            return;
        }
        while let Some(level) = self.stack.last_mut() {
            // A form completes every prefix in front of it, innermost first, up to an open bracket.
            match level {
                Level::Bracket(_) => return,
                Level::Meta => {
                    *level = Level::MetaTarget;
                    return;
                }
                Level::Tag | Level::Namespace | Level::MetaTarget => {
                    self.stack.pop();
                }
                Level::Discard => {
                    self.stack.pop();
                    if self.stack.is_empty() && self.is_dropped_broken {
                        self.fail(ReadErrorKind::Syntax, "the brackets of a discarded form do not match");
                    }
                    return;
                }
            }
        }
        self.is_dropped_broken = false;
        self.ready.push_back(Ok(mem::take(&mut self.buffer)));
    }

    fn descend(&mut self, level: Level) {
        if self.stack.len() < self.caps.depth() {
            self.stack.push(level);
            if let Level::Bracket(closer) = level {
                self.open_counts[kind_index(closer)] += 1;
            }
        } else {
            self.poison("depth", u64::from(self.caps.depth_max.min(Caps::DEPTH_CEILING)));
        }
    }

    fn ascend(&mut self) -> Option<Level> {
        let level = self.stack.pop()?;
        if let Level::Bracket(closer) = level {
            self.open_counts[kind_index(closer)] -= 1;
        }
        Some(level)
    }

    /// Appends bytes to the current frame, unless they are between frames.
    fn keep(&mut self, bytes: &[u8]) {
        let is_between =
            self.stack.is_empty() && matches!(self.state, State::Blank | State::Comment | State::Skip(_));
        // The bytes of a discarded form are not buffered either, so it may be of any length.
        let is_dropped = self.stack.first() == Some(&Level::Discard);
        if is_between || is_dropped || self.is_poisoned {
            return;
        }
        let bytes_max = usize::try_from(self.caps.bytes_max).unwrap_or(usize::MAX);
        if bytes.len() <= bytes_max.saturating_sub(self.buffer.len()) {
            self.buffer.extend_from_slice(bytes);
        } else {
            self.poison("bytes", u64::from(self.caps.bytes_max));
        }
    }

    fn poison(&mut self, limit: &'static str, max: u64) {
        // Made before the buffer is released, because the position counts its bytes.
        let error = ReadError::limit(limit, max, &self.buffer, self.buffer.len());
        self.ready.push_back(Err(error));
        self.is_poisoned = true;
        self.state = State::Blank;
        // Release all memory: a poisoned framer may live as long as its connection.
        self.stack = Vec::new();
        self.open_counts = [0; 3];
        self.buffer = Vec::new();
    }

    fn fail(&mut self, kind: ReadErrorKind, message: &str) {
        self.ready.push_back(Err(ReadError::new(kind, message, &self.buffer, self.buffer.len())));
        self.is_dropped_broken = false;
        self.buffer.clear();
    }
}

fn kind_index(closer: u8) -> usize {
    match closer {
        b')' => 0,
        b']' => 1,
        _ => 2,
    }
}
