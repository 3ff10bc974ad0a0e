//! From the text of a request to one EQL plan: parsed, checked, selected and compiled.

pub(super) mod cache;
pub(super) mod coerce;
pub(super) mod document;
pub(super) mod lower;
pub(super) mod prepare;
pub(super) mod request;
pub(super) mod scan;
pub(super) mod select;
mod suggest;
