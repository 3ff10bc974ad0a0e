//! The EDN Query Language: from text to tree to plan to answer.
//!
//! [`parse`](fn@parse) builds the tree of `ast.rs`, [`plan`](fn@plan) decides what to call, and [`run`](fn@run) calls
//! it, level by level. [`Boundary`] is a request of Pathom as it arrives over the wire.
//!
//! Invariants: a query without mutations reads one snapshot of the world; nothing here recurses deeper than the
//! limits allow.
//!
//! Source: <https://github.com/edn-query-language/eql>, and Pathom 3 where EQL leaves the meaning open.

mod assemble;
mod ast;
mod boundary;
mod decode;
mod edn_writer;
mod failure;
mod fast_path;
mod fast_plan;
mod fault;
mod fetch;
mod joins;
mod level;
mod limits;
mod missing;
mod names;
mod parse;
mod parse_error;
mod plan;
mod plan_fault;
mod print;
mod request_keys;
mod row;
mod run;

pub use ast::{Expr, ExprKey, Join, JoinTarget, MutationCall, Prop, Query};
pub(in crate::graph) use boundary::instant_of;
pub use boundary::{Boundary, QueryCaller};
pub use edn_writer::{WriteOutcome, write};
pub use failure::{Cause, QueryFailure};
pub use limits::{Limits, QueryRefusal};
pub use parse::parse;
pub use parse_error::{ParseError, ParseErrorKind};
pub use plan::{Plan, Planning, plan};
pub use run::{QueryAnswer, QueryRequest, run};

pub use fast_path::{FastAbort, FastPath, Position};
