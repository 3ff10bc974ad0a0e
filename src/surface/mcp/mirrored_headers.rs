//! Compares what a request over HTTP repeats in its headers, which proxies can read, with its body.
//!
//! Invariant: the body counts, and a contradicting header is an error, because a proxy may have admitted the request
//! for what its header says. Source: MCP 2026-07-28, Streamable HTTP, "Request Metadata".

use super::fault::McpFault;

/// The value of one header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirroredValue<'a> {
    /// The header is absent.
    Nothing,
    /// The header is present once, as plain text.
    Once(&'a str),
    /// The header is repeated, or not plain text.
    Unclear,
}

/// The headers of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MirroredHeaders<'a> {
    /// The value of [`MirroredHeaders::REVISION`].
    pub revision: MirroredValue<'a>,
    /// The value of [`MirroredHeaders::METHOD`].
    pub method: MirroredValue<'a>,
    /// The value of [`MirroredHeaders::NAME`].
    pub name: MirroredValue<'a>,
}

impl<'a> MirroredHeaders<'a> {
    /// The header that names the revision.
    pub const REVISION: &'static str = "mcp-protocol-version";
    /// The header that names the method.
    pub const METHOD: &'static str = "mcp-method";
    /// The header that names the tool or the resource.
    pub const NAME: &'static str = "mcp-name";

    /// The revision in the headers, if there is one.
    pub(super) fn revision(&self) -> Result<Option<&'a str>, McpFault> {
        match self.revision {
            MirroredValue::Nothing => Ok(None),
            MirroredValue::Once(text) => Ok(Some(text)),
            MirroredValue::Unclear => Err(unclear(MirroredHeaders::REVISION)),
        }
    }

    /// Checks that the header has the revision of the body.
    pub(super) fn check_revision(&self, declared: &str) -> Result<(), McpFault> {
        compare(MirroredHeaders::REVISION, self.revision, declared, false)
    }

    /// Checks that the headers have the method of the body, and the name if the method has one.
    pub(super) fn check(&self, method: &str, name: Option<&str>) -> Result<(), McpFault> {
        compare(MirroredHeaders::METHOD, self.method, method, false)?;
        name.map_or(Ok(()), |name| compare(MirroredHeaders::NAME, self.name, name, true))
    }
}

/// Checks that a header equals the body's value. With `may_be_coded` the header may also be Base64 in its envelope.
fn compare(header: &str, said: MirroredValue<'_>, body: &str, may_be_coded: bool) -> Result<(), McpFault> {
    let is_same = match said {
        MirroredValue::Unclear => return Err(unclear(header)),
        MirroredValue::Nothing => false,
        MirroredValue::Once(text) if may_be_coded => {
            match text.strip_prefix(OPEN).and_then(|it| it.strip_suffix(CLOSE)) {
                Some(coded) => decode(coded).is_some_and(|bytes| bytes == body.as_bytes()),
                None => text == body,
            }
        }
        MirroredValue::Once(text) => text == body,
    };
    if is_same {
        return Ok(());
    }
    Err(McpFault::Mismatch { why: format!("the header {header} is missing, or is not what the body says") })
}

fn unclear(header: &str) -> McpFault {
    McpFault::Mismatch { why: format!("the header {header} must stand there once, in plain text") }
}

/// A value in the form that a header can hold: plain, or as Base64 in its envelope.
pub(super) fn as_header(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && value.trim() == value;
    // A plain value in the form of the envelope would be decoded by the receiver, so it is encoded too.
    let looks_coded = value.starts_with(OPEN) && value.ends_with(CLOSE);
    if is_plain && !looks_coded {
        value.to_owned()
    } else {
        format!("{OPEN}{}{CLOSE}", encode(value.as_bytes()))
    }
}

/// Encodes Base64 with padding.
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

/// Decodes Base64 with padding; `None` if it is invalid.
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
        // A last group of fewer digits is filled up with zero bits, and gives fewer bytes.
        bits <<= 6 * (4 - chunk.len());
        let [_, triple @ ..] = bits.to_be_bytes();
        // A single digit has fewer bits than a byte, so it is invalid.
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
            assert_eq!(
                compare(MirroredHeaders::NAME, MirroredValue::Once(expected), value, true),
                Ok(()),
                "{value}"
            );
        }
    }

    #[test]
    fn a_header_that_says_otherwise_is_refused() {
        for said in [
            MirroredValue::Nothing,
            MirroredValue::Unclear,
            MirroredValue::Once("list"),
            MirroredValue::Once("Create"),
            MirroredValue::Once("=?base64?Y3JlYXRl?"),
            MirroredValue::Once("=?base64?Y3JlYXRl=?="),
            MirroredValue::Once("=?base64?Y3J?="),
            MirroredValue::Once("=?base64?!!!!?="),
            MirroredValue::Once("=?base64?bGlzdA==?="),
        ] {
            assert!(compare(MirroredHeaders::NAME, said, "create", true).is_err(), "{said:?}");
        }
        assert_eq!(
            compare(MirroredHeaders::NAME, MirroredValue::Once("=?base64?Y3JlYXRl?="), "create", true),
            Ok(())
        );
        // Only names may be coded.
        assert!(
            compare(MirroredHeaders::METHOD, MirroredValue::Once("=?base64?Y3JlYXRl?="), "create", false)
                .is_err()
        );
    }
}
