//! The schema: generated from the registry and the declared roots, and printed by async-graphql.

pub(super) mod async_graphql_schema;
pub(super) mod build;
pub(super) mod inputs;
pub(super) mod model;
pub(super) mod names;
pub(super) mod record;
pub(super) mod roots;
pub(super) mod scheduler;
