//! The registry: every attribute, entity, resolver and mutation, declared once.
//!
//! [`Builder`] takes declarations and checks them as a whole; [`Registry`] is what came of it, immutable,
//! with its indexes. Everything else is a walk over it: plans, introspection, and what other layers
//! generate.
//!
//! A world names what readers look at; an entity, how its key finds something, and how attributes are read
//! off that:
//!
//! ```
//! use reveille::edn::Value;
//! use reveille::graph::registry::{Attribute, Entity, Registry, Type, Visibility, World};
//!
//! struct Tasks;
//! impl World for Tasks {
//!     type View<'a> = &'a [&'static str];
//!     type Hand<'a> = ();
//! }
//!
//! let open = |ident, kind| Attribute::new(ident, kind).doc("…").visible_to(Visibility::Everyone);
//! let find: fn(&[&'static str], &Value) -> Option<usize> = |titles, key| {
//!     usize::try_from(key.as_int()?).ok().filter(|at| *at < titles.len())
//! };
//! let task = Entity::<Tasks, usize>::new("task", "task/id", find)
//!     .doc("Something to do.")
//!     .attribute(open("task/id", Type::Integer))
//!     .reads(open("task/title", Type::String), |titles, at, _params| Ok(titles[*at].into()));
//! let root = Entity::<Tasks, ()>::root("root").doc("All of it.").reads(
//!     open("tasks", Type::Reference("task")).many(),
//!     |titles, (), _params| Ok(Value::vector((0_i64..).zip(titles).map(|(at, _)| at.into()).collect::<Vec<_>>())),
//! );
//! let registry = Registry::builder().entity(task).entity(root).build();
//! assert_eq!(registry.map(|registry| registry.len()).ok(), Some(3));
//! ```
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
