//! Ids, and who did what.

pub(in crate::domain) mod actor;
pub(in crate::domain) mod address;
pub(in crate::domain) mod agent_kind;
pub(in crate::domain) mod caller;
pub(in crate::domain) mod cursor;
pub(in crate::domain) mod dialect;
pub(in crate::domain) mod entropy;
pub(in crate::domain) mod id;
pub(in crate::domain) mod lineage;
pub(in crate::domain) mod op;
pub(in crate::domain) mod provenance;
pub(in crate::domain) mod scope;
