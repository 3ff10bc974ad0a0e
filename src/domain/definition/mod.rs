//! A schedule's definition: what is delivered, where, under which policy.

pub(in crate::domain) mod durability;
pub(in crate::domain) mod lifetime;
pub(in crate::domain) mod notice;
pub(in crate::domain) mod payload;
pub(in crate::domain) mod policy;
pub(in crate::domain) mod schedule;
pub(in crate::domain) mod settings;
pub(in crate::domain) mod target;
