//! Bridge between serde and EDN values.
//!
//! `ser.rs` turns types into values, `de.rs` values into types, `error.rs` says why not.
//! Field names and variants are keywords on the way out, and keywords, strings or symbols
//! on the way in; how they are spelled (`kebab-case`, a namespace) is each type's own
//! affair, through serde's attributes. Maps keep their keys as they are.
//!
//! Invariant: a type whose own `Serialize` and `Deserialize` agree comes back equal.

mod de;
mod error;
mod ser;

pub use de::from_value;
pub use error::SerdeError;
pub use ser::to_value;
