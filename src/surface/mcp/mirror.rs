//! What a request over HTTP says twice: in its body, and in headers that whoever stands between can read.
//!
//! Invariant: the body counts, and a header that says otherwise is refused, because something between us may have let the
//! request pass for what the header says. Source: MCP 2026-07-28, Streamable HTTP, "Request Metadata".

use super::fault::Fault;

/// What one header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said<'a> {
    /// It is not there.
    Nothing,
    /// It is there once, in plain text.
    Once(&'a str),
    /// It is there twice, or in no text.
    Unclear,
}

/// The headers of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirror<'a> {
    /// [`Mirror::REVISION`].
    pub revision: Said<'a>,
    /// [`Mirror::METHOD`].
    pub method: Said<'a>,
    /// [`Mirror::NAME`].
    pub name: Said<'a>,
}

impl<'a> Mirror<'a> {
    /// The header that names the revision.
    pub const REVISION: &'static str = "mcp-protocol-version";
    /// The header that names the method.
    pub const METHOD: &'static str = "mcp-method";
    /// The header that names the tool or the resource.
    pub const NAME: &'static str = "mcp-name";

    /// The revision that the headers name.
    pub(super) fn revision(&self) -> Result<Option<&'a str>, Fault> {
        match self.revision {
            Said::Nothing => Ok(None),
            Said::Once(text) => Ok(Some(text)),
            Said::Unclear => Err(unclear(Mirror::REVISION)),
        }
    }

    /// Compares the revision with that of the body.
    pub(super) fn check_revision(&self, declared: &str) -> Result<(), Fault> {
        compare(Mirror::REVISION, self.revision, declared, false)
    }

    /// Compares the method, and the name if the method has one, with those of the body.
    pub(super) fn check(&self, method: &str, name: Option<&str>) -> Result<(), Fault> {
        compare(Mirror::METHOD, self.method, method, false)?;
        name.map_or(Ok(()), |name| compare(Mirror::NAME, self.name, name, true))
    }
}

fn compare(header: &str, said: Said<'_>, body: &str, may_be_coded: bool) -> Result<(), Fault> {
    let is_same = match said {
        Said::Unclear => return Err(unclear(header)),
        Said::Nothing => false,
        Said::Once(text) if may_be_coded => {
            match text.strip_prefix(OPEN).and_then(|it| it.strip_suffix(CLOSE)) {
                Some(coded) => decode(coded).is_some_and(|bytes| bytes == body.as_bytes()),
                None => text == body,
            }
        }
        Said::Once(text) => text == body,
    };
    if is_same {
        return Ok(());
    }
    Err(Fault::Mismatch { why: format!("the header {header} is missing, or is not what the body says") })
}

fn unclear(header: &str) -> Fault {
    Fault::Mismatch { why: format!("the header {header} must stand there once, in plain text") }
}

/// A value as a header may hold it.
pub(super) fn as_header(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && value.trim() == value;
    let looks_coded = value.starts_with(OPEN) && value.ends_with(CLOSE);
    if is_plain && !looks_coded {
        value.to_owned()
    } else {
        format!("{OPEN}{}{CLOSE}", encode(value.as_bytes()))
    }
}

/// Base64, with padding.
fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let index = (bits >> (18 - 6 * place) & 63) as usize;
            text.push(if place <= chunk.len() { char::from(ALPHABET[index]) } else { '=' });
        }
    }
    text
}

/// The bytes of a Base64 text with padding; `None` for anything else.
fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for chunk in digits.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for digit in chunk {
            let value = ALPHABET.iter().position(|known| known == digit)?;
            bits = bits << 6 | u32::try_from(value).ok()?;
        }
        bits <<= 6 * (4 - chunk.len());
        let [_, triple @ ..] = bits.to_be_bytes();
        // One digit alone is less than a byte.
        bytes.extend_from_slice(triple.get(..chunk.len().checked_sub(1)?)?);
    }
    Some(bytes)
}

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_header_can_hold_goes_in_base64() {
        for (value, expected) in [
            ("create", "create"),
            ("", ""),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(as_header(value), expected);
            assert_eq!(compare(Mirror::NAME, Said::Once(expected), value, true), Ok(()), "{value}");
        }
    }

    #[test]
    fn a_header_that_says_otherwise_is_refused() {
        for said in [
            Said::Nothing,
            Said::Unclear,
            Said::Once("list"),
            Said::Once("Create"),
            Said::Once("=?base64?Y3JlYXRl?"),
            Said::Once("=?base64?Y3JlYXRl=?="),
            Said::Once("=?base64?Y3J?="),
            Said::Once("=?base64?!!!!?="),
            Said::Once("=?base64?bGlzdA==?="),
        ] {
            assert!(compare(Mirror::NAME, said, "create", true).is_err(), "{said:?}");
        }
        assert_eq!(compare(Mirror::NAME, Said::Once("=?base64?Y3JlYXRl?="), "create", true), Ok(()));
        // Only names may be coded.
        assert!(compare(Mirror::METHOD, Said::Once("=?base64?Y3JlYXRl?="), "create", false).is_err());
    }
}
