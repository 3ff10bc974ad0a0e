//! The EDN Query Language: text to tree to plan to answer.
//!
//! [`parse`](fn@parse) makes the tree of `ast.rs`, `print.rs` prints it back.
//!
//! Source: <https://github.com/edn-query-language/eql>, and Pathom 3 where EQL leaves the meaning open.

mod ast;
mod parse;
mod parse_error;
mod print;

pub use ast::{Call, Expr, Join, Key, Prop, Query, Target};
pub use parse::parse;
pub use parse_error::{ParseError, ParseErrorKind};
