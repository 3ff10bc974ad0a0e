//! Requests and answers as bytes: bodies, notations, errors.

pub(in crate::surface::http) mod body;
pub(in crate::surface::http) mod error;
pub(in crate::surface::http) mod notation;
pub(in crate::surface::http) mod reply;
pub(in crate::surface::http) mod scan;
pub(in crate::surface::http) mod waiting;
