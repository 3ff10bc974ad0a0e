//! The EDN Query Language: text to tree to plan to answer.
//!
//! [`parse`](fn@parse) makes the tree of `ast.rs`, [`plan`](fn@plan) decides what will be called, and
//! [`run`](fn@run) calls it, level by level. [`Boundary`] is Pathom's request, as it comes over a wire.
//!
//! Invariant: one query looks at one moment of the world; nothing here recurses deeper than the limits say.
//!
//! Source: <https://github.com/edn-query-language/eql>, and Pathom 3 where EQL leaves the meaning open.

mod assemble;
mod ast;
mod below;
mod boundary;
mod decode;
mod direct;
mod failure;
mod fault;
mod fetch;
mod level;
mod limits;
mod missing;
mod names;
mod parse;
mod parse_error;
mod plan;
mod print;
mod row;
mod run;
mod steps;
mod text;
mod walk;

pub use ast::{Call, Expr, Join, Key, Prop, Query, Target};
pub(in crate::graph) use boundary::instant_of;
pub use boundary::{Boundary, Caller};
pub use failure::{Cause, Failure};
pub use limits::{Limits, Refusal};
pub use parse::parse;
pub use parse_error::{ParseError, ParseErrorKind};
pub use plan::{Plan, Planning, plan};
pub use run::{Answer, Request, run};
pub use text::{Written, write};

pub use walk::{Spot, Stop, Walk};
