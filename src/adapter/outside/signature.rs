//! Signatures of posts, made and checked: HMAC-SHA256 over id, time and body. Source: Standard Webhooks 1.0.
//!
//! A receiver in Rust checks with the same code. Invariants: a key is never printed; signatures are compared in constant
//! time; an id without a full stop leaves one way only to take what is signed apart.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use thiserror::Error;

use crate::domain::Moment;
use crate::limits;

/// A key that an endpoint's owner and we share.
#[derive(Clone)]
pub struct SigningKey(Box<[u8]>);

/// What is wrong with a key. The key itself is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum KeyFault {
    /// It does not say what it is.
    #[error("it must begin with {PREFIX}")]
    Prefix,
    /// It is not base64.
    #[error("what follows {PREFIX} must be base64 with its padding")]
    Base64,
    /// It is too short, or too long.
    #[error(
        "it has {bytes} bytes, and must have {} to {}; `openssl rand -base64 32` makes one",
        limits::SIGNING_KEY_BYTES_MIN.value,
        limits::SIGNING_KEY_BYTES.value
    )]
    Length {
        /// How many it has.
        bytes: usize,
    },
}

impl SigningKey {
    /// Reads `whsec_` and base64.
    ///
    /// # Errors
    /// [`KeyFault`].
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

/// The id of a message, the same for each attempt: what a receiver knows a repetition by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageId(Box<str>);

impl MessageId {
    /// An id of any text that is not empty: what could be taken for a part of the signed text, or for the end of a header,
    /// is percent-encoded, so that different texts have different ids.
    pub fn of(text: &str) -> Option<MessageId> {
        let mut id = String::with_capacity(text.len());
        for byte in text.bytes() {
            if byte.is_ascii_graphic() && byte != b'.' && byte != b'%' {
                id.push(char::from(byte));
            } else {
                id.push_str(&format!("%{byte:02X}"));
            }
        }
        MessageId::checked(&id)
    }

    /// The id that a sender has written.
    fn checked(text: &str) -> Option<MessageId> {
        let fits = (1..=limits::MESSAGE_ID_BYTES.value).contains(&(text.len() as u64));
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'.');
        (fits && is_plain).then(|| MessageId(text.into()))
    }

    /// The text of the `webhook-id` header.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text of the `webhook-signature` header: one signature by each key, so that a receiver that knows one of them is
/// content while keys are exchanged.
pub fn sign(keys: &[SigningKey], id: &MessageId, seconds: i64, body: &[u8]) -> String {
    let signatures = keys.iter().map(|key| {
        let signature = key.hmac(&id.0, seconds, body).finalize().into_bytes();
        format!("{VERSION}{}", STANDARD.encode(signature))
    });
    signatures.collect::<Vec<_>>().join(" ")
}

/// The three headers of a post, as they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// `webhook-id`.
    pub id: &'a str,
    /// `webhook-timestamp`.
    pub timestamp: &'a str,
    /// `webhook-signature`.
    pub signature: &'a str,
}

/// Why a post is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SignatureFault {
    /// An id with a full stop, a blank, or nothing in it.
    #[error("the id is none")]
    Id,
    /// A time that is no number of seconds.
    #[error("the timestamp is none")]
    Timestamp,
    /// It was sent too long ago, or will be.
    #[error("the timestamp is more than {} s away", limits::SIGNATURE_SECONDS.value)]
    Stale,
    /// None of its signatures is by one of the keys.
    #[error("no signature fits")]
    NoMatch,
}

/// Whether a post is by somebody who has one of the keys, and of now.
///
/// # Errors
/// [`SignatureFault`].
pub fn verify(
    keys: &[SigningKey],
    signed: Signed<'_>,
    body: &[u8],
    now: Moment,
) -> Result<(), SignatureFault> {
    let id = MessageId::checked(signed.id).ok_or(SignatureFault::Id)?;
    let is_number = signed.timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = is_number.then(|| signed.timestamp.parse::<i64>().ok()).flatten();
    let seconds = seconds.ok_or(SignatureFault::Timestamp)?;
    if now.seconds().abs_diff(seconds) > limits::SIGNATURE_SECONDS.value {
        return Err(SignatureFault::Stale);
    }
    let most = usize::try_from(limits::SIGNATURES.value).unwrap_or(usize::MAX);
    let given = signed.signature.split(' ').filter_map(|text| text.strip_prefix(VERSION));
    for signature in given.take(most).filter_map(|text| STANDARD.decode(text).ok()) {
        // Each comparison takes the same time wherever the two differ.
        if keys.iter().any(|key| key.hmac(&id.0, seconds, body).verify_slice(&signature).is_ok()) {
            return Ok(());
        }
    }
    Err(SignatureFault::NoMatch)
}

const PREFIX: &str = "whsec_";
const VERSION: &str = "v1,";
