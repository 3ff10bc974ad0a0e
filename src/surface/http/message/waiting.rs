//! Counts the bytes of answers that are written and wait to be sent.
//!
//! A client that does not read leaves its answers in memory until it is cut off. Invariant: an
//! answer counts until hyper has dropped its last byte, sent or not.

use std::sync::Arc;

use axum::body::Bytes;

use crate::limits::{self, Limit};
use crate::service::{Holder, Quota, Share};
use crate::surface::graphql::GraphqlError;
use crate::surface::http::message::error::HttpError;

/// The part of the quota that one answer holds; `None` for an answer that is too short to count.
pub(in crate::surface::http) type Held = Option<Arc<Share>>;

/// Counts an answer of so many bytes to this holder, which is not asked for if the answer is too short to count.
///
/// # Errors
/// The limit that it would exceed: the answer must not be kept then.
pub(in crate::surface::http) fn hold(
    answers: &Arc<Quota>,
    holder: impl FnOnce() -> Holder,
    bytes: u64,
) -> Result<Held, Limit> {
    if bytes < limits::ANSWER_BYTES_COUNTED.value {
        return Ok(None);
    }
    answers.take(&holder(), bytes).map(|share| Some(Arc::new(share)))
}

/// Bytes that count until the last copy of them is dropped.
pub(in crate::surface::http) fn counted(bytes: Bytes, held: &Held) -> Bytes {
    match held {
        Some(share) => Bytes::from_owner(Counted { bytes, _share: Arc::clone(share) }),
        None => bytes,
    }
}

struct Counted {
    bytes: Bytes,
    // Held for its drop, which gives the bytes back to the quota.
    _share: Arc<Share>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The error in place of an answer that must not be kept.
pub(in crate::surface::http) fn unsent(limit: Limit) -> HttpError {
    // Every other bound is that of one caller.
    HttpError::used_up(limit, limit != limits::ANSWERS_BYTES).with("unsent", true)
}

/// The error in GraphQL's words.
pub(in crate::surface::http) fn unsent_in_graphql(limit: Limit) -> Vec<GraphqlError> {
    let message =
        "the answer is not sent, because too many bytes of answers wait to be read; changes were made";
    vec![GraphqlError::limit(limit, message)]
}
