//! Answers as EDN text: written while they are read where that can be done, else printed when they are there.
//!
//! Invariant: what is written by the short way is, letter for letter, what the answer's value prints.

use std::fmt::Write;

use super::walk::{Spot, Stop, Walk};
use super::{Answer, Failure, Refusal, Request, run};
use crate::edn::{self, Fraction, Value};
use crate::graph::registry::{Access, Datum, Registry, World};

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// The answer.
    Done,
    /// Nothing: in strict mode, why there is no answer.
    Failed(Failure),
}

/// Answers a request into a text: by the short way if there is one, else by the long one.
///
/// # Errors
///
/// A limit that the request exceeds, or the callback's word to stop; nothing is written then.
pub fn write<W: World>(
    registry: &Registry<W>,
    request: &Request<'_>,
    access: &mut dyn Access<W>,
    out: &mut String,
) -> Result<Written, Refusal> {
    if request.plan.direct.is_some() {
        let start = out.len();
        let mut walked = Err(Stop::LongWay);
        access.look(&mut |view| {
            let walk = Walk::begin(registry, request, view);
            walked = walk.and_then(|mut walk| map(&mut walk, Spot::ROOT, out));
        });
        match walked {
            Ok(()) => return Ok(Written::Done),
            Err(Stop::Refused(refusal)) => {
                out.truncate(start);
                return Err(refusal);
            }
            Err(Stop::LongWay) => out.truncate(start),
        }
    }
    match run(registry, request, access)? {
        Answer::Done(map) => {
            edn::write(&Value::Map(map), out);
            Ok(Written::Done)
        }
        Answer::Failed(failure) => Ok(Written::Failed(failure)),
    }
}

/// The key of a map's entry, as it stands before its value.
pub(super) fn key(key: &Value) -> String {
    let mut text = key.to_string();
    text.push(' ');
    text
}

fn map<W: World>(walk: &mut Walk<'_, '_, W>, spot: Spot, out: &mut String) -> Result<(), Stop> {
    out.push('{');
    for (place, cell) in walk.cells(spot).iter().enumerate() {
        if place > 0 {
            out.push(' ');
        }
        out.push_str(&cell.text);
        match walk.read_cell(spot, cell)? {
            Datum::Entity(number) => {
                let below = walk.join(spot, place, 1)?;
                map(walk, below.of(number), out)?;
            }
            Datum::Entities(numbers) => {
                let below = walk.join(spot, place, numbers.len())?;
                out.push('[');
                for (at, number) in numbers.iter().enumerate() {
                    if at > 0 {
                        out.push(' ');
                    }
                    map(walk, below.of(*number), out)?;
                }
                out.push(']');
            }
            Datum::Nil => out.push_str("nil"),
            Datum::Bool(flag) => out.push_str(if flag { "true" } else { "false" }),
            Datum::Name(name) => {
                out.push(':');
                out.push_str(name);
            }
            Datum::Inst(inst) => {
                out.push_str("#inst \"");
                inst.push(out, Fraction::Always);
                out.push_str("-00:00\"");
            }
            Datum::Value(value) => edn::write(&value, out),
            // Writing to a string cannot fail.
            Datum::Int(number) => drop(write!(out, "{number}")),
            Datum::Text(text) => drop(edn::write_string(text, out)),
            Datum::Shown(shown) => drop(write_shown(shown, out)),
        }
    }
    out.push('}');
    Ok(())
}

/// An id may hold what must be escaped; mostly it does not, and no copy is made to find out.
fn write_shown(shown: &dyn std::fmt::Display, out: &mut String) -> std::fmt::Result {
    out.push('"');
    let start = out.len();
    write!(out, "{shown}")?;
    // Looked at to the end, because a loop without a way out takes many bytes at a time.
    let is_special = |byte: u8| byte == b'"' || byte == b'\\' || byte < b' ';
    if out.as_bytes()[start..].iter().fold(false, |found, byte| found | is_special(*byte)) {
        let text = out.split_off(start);
        out.pop();
        return edn::write_string(&text, out);
    }
    out.push('"');
    Ok(())
}
