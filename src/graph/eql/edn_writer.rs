//! Answers as EDN text: written during the walk where the fast path applies, else printed from the finished value.
//!
//! Invariant: the fast path writes exactly the text that the answer's value would print.

use std::fmt::Write;

use super::fast_path::{FastAbort, FastPath, Position};
use super::{QueryAnswer, QueryFailure, QueryRefusal, QueryRequest, run};
use crate::edn::{self, Fraction, Inst, Value};
use crate::graph::registry::{Access, Datum, Registry, World};

/// The outcome of writing an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum WriteOutcome {
    /// The answer was written.
    Done,
    /// Nothing was written: the strict request failed.
    Failed(QueryFailure),
}

/// Answers a request as text, by the fast path if the plan has one, else by the general path.
///
/// # Errors
///
/// Returns the limit that the request exceeds, or [`QueryRefusal::Stopped`]. Nothing is written in that case.
pub fn write<W: World>(
    registry: &Registry<W>,
    request: &QueryRequest<'_>,
    access: &mut dyn Access<W>,
    out: &mut String,
) -> Result<WriteOutcome, QueryRefusal> {
    if request.plan.fast.is_some() {
        let start = out.len();
        let mut walked = Err(FastAbort::SlowPath);
        access.with_view(&mut |view| {
            let walk = FastPath::begin(registry, request, view);
            walked = walk.and_then(|mut walk| map(&mut walk, Position::ROOT, out));
        });
        match walked {
            Ok(()) => return Ok(WriteOutcome::Done),
            Err(FastAbort::Refused(refusal)) => {
                out.truncate(start);
                return Err(refusal);
            }
            // The general path starts over, from a snapshot of its own. What the walk has written is discarded.
            Err(FastAbort::SlowPath) => out.truncate(start),
        }
    }
    match run(registry, request, access)? {
        QueryAnswer::Done(map) => {
            edn::write(&Value::Map(map), out);
            Ok(WriteOutcome::Done)
        }
        QueryAnswer::Failed(failure) => Ok(WriteOutcome::Failed(failure)),
    }
}

/// Writes Clojure's form of an instant, as `edn::write` prints it, without building a value.
fn write_inst(inst: Inst, out: &mut String) {
    out.push_str("#inst \"");
    inst.push(out, Fraction::Always);
    out.push_str("-00:00\"");
}

fn map<W: World>(
    walk: &mut FastPath<'_, '_, W>,
    position: Position,
    out: &mut String,
) -> Result<(), FastAbort> {
    out.push('{');
    for (place, fast_field) in walk.fields(position).iter().enumerate() {
        if place > 0 {
            out.push(' ');
        }
        out.push_str(&fast_field.text);
        match walk.read_field(position, fast_field)? {
            // Charged before the walk goes below, so that a limit is checked before the work that it bounds.
            Datum::Entity(number) => {
                let below = walk.join(position, place, 1)?;
                map(walk, below.of(number), out)?;
            }
            Datum::Entities(numbers) => {
                let below = walk.join(position, place, numbers.len())?;
                out.push('[');
                for (at, number) in numbers.iter().enumerate() {
                    if at > 0 {
                        out.push(' ');
                    }
                    map(walk, below.of(*number), out)?;
                    walk.wrote(out.len())?;
                }
                out.push(']');
            }
            Datum::Nil => out.push_str("nil"),
            Datum::Bool(flag) => out.push_str(if flag { "true" } else { "false" }),
            Datum::Name(name) => {
                out.push(':');
                out.push_str(name);
            }
            Datum::Inst(inst) => write_inst(inst, out),
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

/// Writes displayed text as a string. Ids rarely need escaping, so the text is written first and copied only if it
/// does.
fn write_shown(shown: &dyn std::fmt::Display, out: &mut String) -> std::fmt::Result {
    out.push('"');
    let start = out.len();
    write!(out, "{shown}")?;
    // The loop has no early exit, so that the compiler can vectorize it. Beyond ASCII are line separators and control characters.
    let is_special = |byte: u8| byte == b'"' || byte == b'\\' || !(b' '..DELETE).contains(&byte);
    if out.as_bytes()[start..].iter().fold(false, |found, byte| found | is_special(*byte)) {
        let text = out.split_off(start);
        out.pop();
        return edn::write_string(&text, out);
    }
    out.push('"');
    Ok(())
}

/// The last control character of ASCII; larger bytes are of no ASCII character.
const DELETE: u8 = 0x7f;

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character that a text may have is written alike on both paths.
    #[test]
    fn shown_text_is_escaped_like_any_other() {
        let planes = (0..0x3000_u32).chain([0xfeff, 0xfffd, 0x1f980, 0xe0001]);
        for text in planes.filter_map(char::from_u32).map(|found| format!("sch-{found}1")) {
            let (mut shown, mut written) = (String::new(), String::new());
            write_shown(&text, &mut shown).expect("a string takes it");
            edn::write_string(&text, &mut written).expect("a string takes it");
            assert_eq!(shown, written, "{text:?}");
        }
    }
}
