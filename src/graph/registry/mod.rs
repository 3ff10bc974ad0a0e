//! The registry: every attribute, entity, resolver and mutation, declared once.
//!
//! [`Builder`] takes declarations and checks them as a whole; [`Registry`] is what came of it, immutable,
//! with its indexes. Everything else is a walk over it: plans, introspection, and what other layers
//! generate.
//!
//! Invariant: in a registry that was built, every attribute that an operation names is declared, has a
//! rule of who may see it, and can come from somewhere.

mod attribute;
mod build;
mod builder;
mod capability;
mod entity;
mod fault;
mod introspect;
mod mutation;
mod operation;
mod pathom;
mod reach;
mod resolver;
mod table;
mod world;

pub use attribute::{Attribute, Cardinality, Stability, Type, Viewer, Visibility};
pub use builder::Builder;
pub use entity::{Entity, Reader};
pub use fault::Fault;
pub use introspect::{Graph, Introspected};
pub use mutation::Mutation;
pub use operation::ResolverError;
pub use resolver::Resolver;
pub use table::{AttrId, EntityInfo, Registry};
pub use world::{Access, World};

pub(super) use entity::{Ask, ReadRow};
pub(super) use operation::{Input, Operation, Run};
pub(super) use reach::Reach;
