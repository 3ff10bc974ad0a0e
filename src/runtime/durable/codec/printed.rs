//! A form under construction, as text. Each step writes several forms to the disk, and none is
//! needed as a value before.
//!
//! Invariant: the text is what the EDN writer prints for the same map, with the entries in the order in which they
//! were added. Entries that are nil are omitted.

use std::fmt::Write;

use crate::domain::Moment;
use crate::edn::{Value, write_string};

/// An EDN map, printed on one line, which [`edn::read`](crate::edn::read) accepts.
#[derive(Clone, Debug)]
pub struct Printed(String);

impl Printed {
    /// The empty map.
    pub(super) fn new() -> Printed {
        // Most forms are longer than this, and growing to it would take five steps.
        let mut text = String::with_capacity(FORM_BYTES);
        text.push('{');
        Printed(text)
    }

    /// Adds an entry, unless it is nil. The key must not be in the map yet.
    #[must_use]
    pub(in crate::runtime) fn with(mut self, key: &str, part: impl Part) -> Printed {
        if part.is_nil() {
            return self;
        }
        if self.0.len() > 1 {
            self.0.push(' ');
        }
        self.0.push(':');
        self.0.push_str(key);
        self.0.push(' ');
        part.print(&mut self.0);
        self
    }

    /// The complete text.
    pub fn into_text(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// The first capacity of a form's text.
const FORM_BYTES: usize = 128;

/// A value that can be printed into a form.
pub(in crate::runtime) trait Part {
    /// Appends the value's text.
    fn print(self, out: &mut String);

    /// True if the entry can be omitted: readers take a missing entry for nil.
    fn is_nil(&self) -> bool {
        false
    }
}

/// The part; `None` if it equals the default.
#[expect(clippy::needless_pass_by_value, reason = "the two are alike")]
pub(super) fn unless<T: PartialEq>(plain: T, part: T) -> Option<T> {
    (part != plain).then_some(part)
}

/// A keyword. Its name comes from this crate, so it needs no check.
pub(super) struct Word<'a>(pub(super) &'a str);

/// An instant as a string, because `#inst` ends with the year 9999, and slots may be later.
pub(super) struct Instant(pub(super) Moment);

/// An instant after another one, as nanoseconds between them. One that is earlier, or centuries later, is printed as such.
pub(super) struct After(pub(super) Moment, pub(super) Moment);

impl Part for Printed {
    fn print(self, out: &mut String) {
        (&self).print(out);
    }
}

impl Part for &Printed {
    fn print(self, out: &mut String) {
        out.push_str(&self.0);
        out.push('}');
    }
}

impl Part for Word<'_> {
    fn print(self, out: &mut String) {
        out.push(':');
        out.push_str(self.0);
    }
}

impl Part for Instant {
    fn print(self, out: &mut String) {
        // Writing to a string cannot fail, here and below.
        let _ = write!(out, "\"{}\"", self.0);
    }
}

impl Part for After {
    fn print(self, out: &mut String) {
        let After(first, at) = self;
        let between = at.since(first);
        // `since` is zero for an earlier instant, and at most 584 years. The sum shows both.
        let is_exact = i64::try_from(between.nanos()).is_ok() && first.checked_add(between) == Some(at);
        if is_exact { between.nanos().print(out) } else { Instant(at).print(out) }
    }
}

impl Part for &str {
    fn print(self, out: &mut String) {
        let _ = write_string(self, out);
    }
}

impl Part for String {
    fn print(self, out: &mut String) {
        self.as_str().print(out);
    }
}

impl Part for bool {
    fn print(self, out: &mut String) {
        out.push_str(if self { "true" } else { "false" });
    }
}

impl Part for u32 {
    fn print(self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
}

impl Part for i32 {
    fn print(self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
}

impl Part for u64 {
    fn print(self, out: &mut String) {
        let _ = write!(out, "{self}");
        // A plain integer has 64 bits with a sign. A slot in the year 9999 is more nanoseconds away than that.
        if i64::try_from(self).is_err() {
            out.push('N');
        }
    }
}

impl Part for Value {
    fn print(self, out: &mut String) {
        crate::edn::write(&self, out);
    }
}

impl Part for &Value {
    fn print(self, out: &mut String) {
        crate::edn::write(self, out);
    }

    fn is_nil(&self) -> bool {
        Value::is_nil(self)
    }
}

impl<T: Part> Part for Option<T> {
    fn print(self, out: &mut String) {
        match self {
            Some(part) => part.print(out),
            None => out.push_str("nil"),
        }
    }

    fn is_nil(&self) -> bool {
        self.is_none()
    }
}

impl<T: Part> Part for Vec<T> {
    fn print(self, out: &mut String) {
        out.push('[');
        for (place, part) in self.into_iter().enumerate() {
            if place > 0 {
                out.push(' ');
            }
            part.print(out);
        }
        out.push(']');
    }
}
