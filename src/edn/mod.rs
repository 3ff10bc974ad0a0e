//! EDN: a value type, a reader, a writer and a framer.
//!
//! Lives here: the value type with Clojure's equality and a total order, the reader
//! ([`read`], [`read_first`], [`read_all`], [`read_keeping_meta`]), the writer ([`write`](fn@write)), the framer that
//! cuts a byte stream into forms ([`Framer`]), with feature `serde` the bridge to Rust types, and with feature `edn-rs`
//! conversions from and to that crate's values. Does not live here: any I/O, any clock, the scheduler's limits (they
//! come in as [`Caps`]) and every word of the product.
//!
//! Invariant: whatever [`write`](fn@write) prints, [`read`] reads back equal; and no input
//! panics, aborts, recurses deeper than [`Caps::DEPTH_CEILING`] or costs more than
//! n log n in its length.
//!
//! Where the EDN specification is stricter than Clojure, the specification wins; the list
//! of differences, each with its reason, is a table in `tests/edn/`.
//! Source: <https://github.com/edn-format/edn>, `clojure.lang.EdnReader` 1.11.

mod bigdec;
mod caps;
mod class;
#[cfg(feature = "edn-rs")]
mod edn_rs;
mod error;
mod frame;
mod hidden;
mod inst;
mod keyword;
mod locate;
mod map;
mod meta;
mod name;
mod order;
mod ratio;
mod read;
#[cfg(feature = "serde")]
mod serde;
mod set;
mod skip;
mod symbol;
mod tagged;
mod value;
mod write;

#[cfg(feature = "edn-rs")]
pub use self::edn_rs::EdnRsError;
#[cfg(feature = "serde")]
pub use self::serde::{SerdeError, from_value, to_value};
pub use bigdec::BigDec;
pub use caps::Caps;
pub use error::{ReadError, ReadErrorKind};
pub use frame::Framer;
pub(crate) use hidden::is_hidden;
pub(crate) use inst::Fraction;
pub use inst::Inst;
pub(crate) use inst::{civil_from_days, days_from_civil};
pub use keyword::Keyword;
pub use locate::locate;
pub use map::{Map, MapIter};
pub use meta::Meta;
pub use name::NameError;
pub use ratio::Ratio;
#[cfg(feature = "embed")]
pub(crate) use read::plain_len;
pub use read::{read, read_all, read_first, read_keeping_meta};
pub use set::Set;
pub use symbol::Symbol;
pub use tagged::Tagged;
pub use value::Value;
pub use write::write;
pub(crate) use write::write_string;

#[doc(no_inline)]
pub use num_bigint::BigInt;
#[doc(no_inline)]
pub use uuid::Uuid;
