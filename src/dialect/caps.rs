//! The caps on the size and shape of one request, in EDN or JSON.

use crate::edn::Caps;
use crate::limits;

/// The caps that the readers of requests enforce, taken from [`limits`].
#[expect(clippy::cast_possible_truncation, reason = "the assertions below prove that nothing is cut")]
pub const REQUEST_CAPS: Caps = Caps {
    bytes_max: limits::REQUEST_BYTES.value as u32,
    depth_max: limits::REQUEST_DEPTH.value as u16,
    digits_max: limits::REQUEST_DIGITS.value as u16,
    forms_max: limits::REQUEST_FORMS.value as u32,
};

const _: () = assert!(REQUEST_CAPS.bytes_max as u64 == limits::REQUEST_BYTES.value);
const _: () = assert!(REQUEST_CAPS.depth_max as u64 == limits::REQUEST_DEPTH.value);
const _: () = assert!(REQUEST_CAPS.digits_max as u64 == limits::REQUEST_DIGITS.value);
const _: () = assert!(REQUEST_CAPS.forms_max as u64 == limits::REQUEST_FORMS.value);
