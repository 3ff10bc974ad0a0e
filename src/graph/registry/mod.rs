//! The registry: every attribute, entity and mutation, declared once.
//!
//! [`Builder`] collects declarations and checks them as a whole. [`Registry`] is the result: immutable, with its
//! indexes. Plans, introspection, and what other layers generate are walks over it.
//!
//! A world names what readers read from. An entity declares how it is found by its key, and how its attributes are
//! read:
//!
//! ```
//! use reveille::edn::Value;
//! use reveille::graph::registry::{Attribute, Datum, Entity, Registry, Type, Visibility, World};
//!
//! struct Tasks;
//! impl World for Tasks {
//!     type View<'a> = [&'static str];
//!     type Hand<'a> = ();
//!     type Call = ();
//! }
//!
//! let open = |ident, kind| Attribute::new(ident, kind).doc("…").visible_to(Visibility::Everyone);
//! let find: fn(&[&'static str], &Value) -> Option<u64> = |titles, key| {
//!     u64::try_from(key.as_int()?).ok().filter(|at| *at < titles.len() as u64)
//! };
//! let task = Entity::<Tasks, u64>::new("task", "task/id", find)
//!     .doc("Something to do.")
//!     .reads(open("task/id", Type::Integer), |_, at, _params| Ok(Datum::Int(at as i64)))
//!     .reads(open("task/title", Type::String), |titles, at, _params| Ok(Datum::Text(titles[at as usize])));
//! let root = Entity::<Tasks, ()>::root("root").doc("All of it.").reads(
//!     open("tasks", Type::Reference("task")).many(),
//!     |titles, (), _params| Ok(Datum::Entities((0..titles.len() as u64).collect())),
//! );
//! let registry = Registry::builder().entity(task).entity(root).build();
//! assert_eq!(registry.map(|registry| registry.attributes().count()).ok(), Some(3));
//! ```
//!
//! Invariant: in a registry that was built, every attribute that an operation names is declared, has a rule for who
//! may see it, and can be obtained.

mod attr_id;
mod attribute;
mod attribute_meta;
mod build;
mod builder;
mod capability;
mod datum;
mod entity;
mod fault;
mod introspect;
mod mutation;
mod param;
mod pathom;
mod resolver_error;
mod suggest;
mod table;
mod world;

pub use attr_id::AttrId;
pub use attribute::{Attribute, Cardinality, Stability, Type, Viewer, Visibility};
pub use builder::Builder;
pub use datum::{Datum, RowKey};
pub use entity::{Entity, Reader};
pub use fault::RegistryFault;
pub use introspect::{Graph, Introspected};
pub use mutation::{Mutation, MutationInfo};
pub use param::{Param, ParamFault, ParamFaultKind, ParamGroup, ParamGroups, ParamType, Record, check};
pub use resolver_error::ResolverError;
pub use table::{EntityInfo, Registry};
pub use world::{Access, ViewOf, World};

pub(super) use entity::ReadRow;
pub(super) use param::name_of;
pub(super) use table::Operation;
