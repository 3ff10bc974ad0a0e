//! Signs and verifies posts: HMAC-SHA256 over id, time and body. Source: Standard Webhooks 1.0.
//!
//! A receiver in Rust can verify with the same code. Invariants: a key is never printed; signatures
//! are compared in constant time; an id has no full stop, so the signed text splits into its parts
//! in only one way.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use thiserror::Error;

use crate::domain::Moment;
use crate::limits;

/// A secret that the owner of an endpoint and we share.
#[derive(Clone)]
pub struct SigningKey(Box<[u8]>);

/// Why a text is not a signing key. The text itself is never shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum KeyFault {
    /// The text does not have the prefix of a key.
    #[error("it must begin with {PREFIX}")]
    Prefix,
    /// The rest of the text is not base64.
    #[error("what follows {PREFIX} must be base64 with its padding")]
    Base64,
    /// The key is too short, or too long.
    #[error(
        "it has {bytes} bytes, and must have {} to {}; `openssl rand -base64 32` makes one",
        limits::SIGNING_KEY_BYTES_MIN.value,
        limits::SIGNING_KEY_BYTES.value
    )]
    Length {
        /// Number of bytes that the key has.
        bytes: usize,
    },
}

impl SigningKey {
    /// Parses `whsec_` and base64.
    ///
    /// # Errors
    /// [`KeyFault`] if the text is not a key of an allowed length.
    pub fn parse(text: &str) -> Result<SigningKey, KeyFault> {
        let text = text.strip_prefix(PREFIX).ok_or(KeyFault::Prefix)?;
        let bytes = STANDARD.decode(text).map_err(|_| KeyFault::Base64)?;
        let allowed = limits::SIGNING_KEY_BYTES_MIN.value..=limits::SIGNING_KEY_BYTES.value;
        if !allowed.contains(&(bytes.len() as u64)) {
            return Err(KeyFault::Length { bytes: bytes.len() });
        }
        Ok(SigningKey(bytes.into()))
    }

    fn hmac(&self, id: &str, seconds: i64, body: &[u8]) -> Hmac<Sha256> {
        let mut hmac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        for part in [id.as_bytes(), b".", seconds.to_string().as_bytes(), b".", body] {
            hmac.update(part);
        }
        hmac
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(…)")
    }
}

/// The id of a message, equal for all attempts, by which a receiver recognizes a repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageId(Box<str>);

impl MessageId {
    /// Makes an id of a text that is not empty. A byte that could be taken for a separator of the
    /// signed text, or that has no place in a header, is percent-encoded, so that different texts
    /// have different ids.
    pub fn of(text: &str) -> Option<MessageId> {
        let mut id = String::with_capacity(text.len());
        for byte in text.bytes() {
            // The full stop separates the parts of the signed text, and `%` begins an escape.
            if byte.is_ascii_graphic() && byte != b'.' && byte != b'%' {
                id.push(char::from(byte));
            } else {
                id.push_str(&format!("%{byte:02X}"));
            }
        }
        MessageId::checked(&id)
    }

    /// Checks an id that came from a sender.
    fn checked(text: &str) -> Option<MessageId> {
        let fits = (1..=limits::MESSAGE_ID_BYTES.value).contains(&(text.len() as u64));
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'.');
        (fits && is_plain).then(|| MessageId(text.into()))
    }

    /// Returns the value of the `webhook-id` header.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Makes the value of the `webhook-signature` header: one signature for each key, so that a
/// receiver that knows one of them accepts the post while keys are rotated.
pub fn sign(keys: &[SigningKey], id: &MessageId, seconds: i64, body: &[u8]) -> String {
    let signatures = keys.iter().map(|key| {
        let signature = key.hmac(&id.0, seconds, body).finalize().into_bytes();
        format!("{VERSION}{}", STANDARD.encode(signature))
    });
    signatures.collect::<Vec<_>>().join(" ")
}

/// The three headers of a signed post, as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// The value of `webhook-id`.
    pub id: &'a str,
    /// The value of `webhook-timestamp`.
    pub timestamp: &'a str,
    /// The value of `webhook-signature`.
    pub signature: &'a str,
}

/// Why a post is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SignatureFault {
    /// The id is empty, or holds a full stop or a blank.
    #[error("the webhook-id is empty, or has a full stop or a blank")]
    Id,
    /// The time is not a number of seconds.
    #[error("the webhook-timestamp is not a number of seconds")]
    Timestamp,
    /// The time is too far from the receiver's clock, which bounds replays.
    #[error("the timestamp is more than {} s away", limits::SIGNATURE_SECONDS.value)]
    Stale,
    /// No signature was made with one of the keys.
    #[error("no signature matches one of the keys")]
    NoMatch,
}

/// Verifies that a post was signed with one of the keys, and recently.
///
/// # Errors
/// [`SignatureFault`] if the post is rejected.
pub fn verify(
    keys: &[SigningKey],
    signed: Signed<'_>,
    body: &[u8],
    now: Moment,
) -> Result<(), SignatureFault> {
    let id = MessageId::checked(signed.id).ok_or(SignatureFault::Id)?;
    // Only digits: `parse` would accept a sign as well.
    let is_number = signed.timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = is_number.then(|| signed.timestamp.parse::<i64>().ok()).flatten();
    let seconds = seconds.ok_or(SignatureFault::Timestamp)?;
    if now.seconds().abs_diff(seconds) > limits::SIGNATURE_SECONDS.value {
        return Err(SignatureFault::Stale);
    }
    // Only so many signatures are tried, so that a forged header cannot make this expensive.
    let most = usize::try_from(limits::SIGNATURES.value).unwrap_or(usize::MAX);
    let given = signed.signature.split(' ').filter_map(|text| text.strip_prefix(VERSION));
    for signature in given.take(most).filter_map(|text| STANDARD.decode(text).ok()) {
        // Each comparison takes constant time, so it does not reveal how much of a guess is right.
        if keys.iter().any(|key| key.hmac(&id.0, seconds, body).verify_slice(&signature).is_ok()) {
            return Ok(());
        }
    }
    Err(SignatureFault::NoMatch)
}

const PREFIX: &str = "whsec_";
const VERSION: &str = "v1,";
