//! Bounds on one input of the reader.
//!
//! Lives here: the bounds as a type, the default for callers without limits of their own, and the one ceiling that
//! protects our own call stack. Does not live here: the bounds that the scheduler chose, see `limits.rs`.
//!
//! Invariant: no caller can raise the depth above [`Caps::DEPTH_CEILING`].

/// The bounds on one input: an input that exceeds one is refused with the bound's name and value.
///
/// ```
/// use reveille::edn::{Caps, read};
/// const CAPS: Caps = Caps { bytes_max: 1024, depth_max: 8, digits_max: 32, forms_max: 100 };
/// assert!(read(b"[[1] 2]", &CAPS).is_ok());
/// assert!(read(b"[[[[[[[[[1]]]]]]]]]", &CAPS).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Caps {
    /// Length of the whole input, or of one frame, in bytes.
    pub bytes_max: u32,
    /// Levels of nesting: brackets, tags, `#_` and `^` count one each. Values above
    /// [`Caps::DEPTH_CEILING`] mean the ceiling.
    pub depth_max: u16,
    /// Length of one number, in characters, before it is turned into a value.
    pub digits_max: u16,
    /// Forms in one input, inner, metadata and discarded ones included.
    pub forms_max: u32,
}

impl Caps {
    /// The deepest nesting that any cap allows. Comparing, printing and dropping a value
    /// recurse once per level; 512 levels fit every thread's stack many times over.
    pub const DEPTH_CEILING: u16 = 512;

    /// The bounds for a caller that has none of its own, such as `"[1 2]".parse::<Value>()`: enough for a long
    /// configuration file, and little enough to read what a stranger sent.
    pub const DEFAULT: Caps =
        Caps { bytes_max: 1 << 20, depth_max: 64, digits_max: 1_000, forms_max: 100_000 };

    /// Returns the depth that applies: the caller's, or the ceiling if that is lower.
    pub(super) fn depth(&self) -> usize {
        usize::from(self.depth_max.min(Self::DEPTH_CEILING))
    }
}

impl Default for Caps {
    /// Returns [`Caps::DEFAULT`].
    fn default() -> Caps {
        Caps::DEFAULT
    }
}
