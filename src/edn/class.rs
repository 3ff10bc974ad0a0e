//! Classes of bytes, as the scanners see them.
//!
//! Lives here: the table of byte classes that reader, framer and name checks share, so that they
//! always agree on where a token ends. Does not live here: any scanning.
//!
//! Invariant: a byte of a multi-byte character is [`ODD`] and never [`STOP`], so tokens
//! always end between characters.

/// Whitespace or comma. Source: `Character.isWhitespace` for ASCII, as Clojure uses it.
pub(super) const BLANK: u8 = 1;
/// Ends a token: whitespace, brackets, `"`, `;`, `^` and `\`.
pub(super) const STOP: u8 = 2;
/// Legal in a token, if at all, only under conditions: a name with it needs the full check.
pub(super) const ODD: u8 = 4;

/// Returns whether `byte` is of the class.
#[inline]
pub(super) fn is(byte: u8, class: u8) -> bool {
    CLASS[usize::from(byte)] & class != 0
}

/// Returns the classes of `byte`.
#[inline]
pub(super) fn of(byte: u8) -> u8 {
    CLASS[usize::from(byte)]
}

const CLASS: [u8; 256] = table();

const fn table() -> [u8; 256] {
    let mut table = [0; 256];
    // A constant cannot use `for`, and the condition of a `while` loop would overflow after 255.
    let mut byte: u8 = 0;
    loop {
        table[byte as usize] = class(byte);
        if byte == u8::MAX {
            return table;
        }
        byte += 1;
    }
}

const fn class(byte: u8) -> u8 {
    match byte {
        // 0x1C to 0x1F are separators of files, groups, records and units, which Java counts as
        // whitespace.
        b' ' | b',' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C | 0x1C..=0x1F => BLANK | STOP,
        b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'"' | b';' | b'^' | b'\\' => STOP,
        b'/' | b':' | b'#' | b'\'' | b'@' | b'`' | b'~' => ODD,
        // Bytes of multi-byte characters are among these: such a name is checked character by
        // character.
        0..=0x08 | 0x0E..=0x1B | 0x7F.. => ODD,
        _ => 0,
    }
}
