//! The action `query` of psi-tool: an EQL query of the graph, as a string.
//!
//! This module reads the arguments and prints the answer. The runtime executes the query,
//! `dialect/excerpt.rs` cuts the answer. Invariant: an error is plain text with psi's prefix; an answer is EDN in which
//! instants are ISO strings.
//! Source: psi §6, psi-tool action "query".

use super::error::{PsiError, TEXT_PREFIX};
use crate::dialect::args::{Arg, Args};
use crate::dialect::excerpt::ANSWER_BYTES;
use crate::dialect::excerpt::{OF_QUERY, excerpt, weight};
use crate::dialect::{Answer, REQUEST_CAPS};
use crate::domain::{Code, Moment};
use crate::edn::{Map, Value, read_first, read_keeping_meta};
use crate::graph::eql::{self, Boundary, Expr, ExprKey, Join, JoinTarget, Prop, Query, QueryRefusal};
use crate::limits;

/// Parses the query and the entity. Both are strings of EDN, or EDN values from callers that write EDN.
pub(super) fn parse(args: &Args<'_>) -> Result<Boundary, Answer> {
    if let Some(unknown) = args.unknown_keys() {
        return Err(error(PsiError::from(unknown).message()));
    }
    let query = form(args, "query")?.ok_or_else(|| error("query is required"))?;
    // `as_items` accepts lists as well, and psi demands a vector.
    if query.as_items().is_none() || matches!(query.plain(), Value::List(_)) {
        return Err(error(&format!("the query must be a vector, not {}", query.type_name())));
    }
    let query = eql::parse(&query).map_err(|fault| error(&fault.to_string()))?;
    // Without an entity the caller's session is the root. A given entity replaces it, as in psi.
    let entity = match form(args, "entity")? {
        None => Map::new(),
        Some(entity) => match entity.as_map() {
            Some(map) => map.clone(),
            None => return Err(error(&format!("the entity must be a map, not {}", entity.type_name()))),
        },
    };
    Ok(Boundary { query, entity, lenient: None, as_of: None })
}

/// The answer to an executed query, cut to the maximum size of a tool's answer.
pub fn queried(boundary: &Boundary, answer: eql::QueryAnswer) -> Answer {
    let value = plain(boundary.reply(answer).into());
    if is_one_long_text(boundary, &value) {
        return Answer::whole(value);
    }
    Answer::done(excerpt(value, ANSWER_BYTES, &OF_QUERY))
}

/// Returns whether a query asks for attributes of one entity that it names, and only one text among them is long: then that
/// text is what was asked for. Its own bound bounds the answer.
fn is_one_long_text(boundary: &Boundary, answer: &Value) -> bool {
    let entity = match &boundary.query.exprs[..] {
        [Expr::Join(Join { key: ExprKey::Ident(..), target: JoinTarget::Query(query), .. })] => {
            let below =
                answer.as_map().and_then(|map| map.iter().next()).and_then(|(_, below)| below.as_map());
            below.filter(|_| has_attributes_only(query))
        }
        _ => answer.as_map().filter(|_| !boundary.entity.is_empty() && has_attributes_only(&boundary.query)),
    };
    let texts =
        entity.into_iter().flat_map(|entity| entity.iter().filter(|(_, value)| value.as_str().is_some()));
    let longest = texts.map(|(_, text)| text).max_by_key(|text| text.as_str().map_or(0, str::len));
    longest.is_some_and(|text| {
        let is_bounded = text.as_str().is_some_and(|text| text.len() as u64 <= limits::TEXT_BYTES.value);
        is_bounded && weight(answer) - weight(text) <= ANSWER_BYTES
    })
}

fn has_attributes_only(query: &Query) -> bool {
    query.exprs.iter().all(|expr| matches!(expr, Expr::Prop(Prop { key: ExprKey::Attr(_), .. })))
}

/// The answer to a query that exceeds a bound.
pub fn not_queried(refusal: &QueryRefusal) -> Answer {
    let told = match refusal.wait() {
        Some(wait) => format!("{refusal}; wait {} ms, and ask for less", wait.millis()),
        None => refusal.to_string(),
    };
    Answer { code: Some(Code::Limit), ..error(&told) }.after(refusal.wait())
}

/// Reads an argument as a form. Of a string, only the first form counts.
fn form(args: &Args<'_>, name: &str) -> Result<Option<Value>, Answer> {
    let Some(given) = args.get(name).map(Arg::value) else { return Ok(None) };
    let Some(text) = given.as_str() else { return Ok(Some(given.clone())) };
    let unreadable = |fault: crate::edn::ReadError| error(&format!("the {name} is no EDN: {fault}"));
    // EQL needs metadata, but the reader that keeps metadata rejects text after the first form, which psi ignores. So
    // the reader of the first form is the fallback.
    read_keeping_meta(text.as_bytes(), &REQUEST_CAPS)
        .or_else(|_| read_first(text.as_bytes(), &REQUEST_CAPS))
        .map(Some)
        .map_err(unreadable)
}

/// Converts instants to ISO strings, at every depth.
fn plain(value: Value) -> Value {
    match value {
        Value::Inst(inst) => {
            let moment = Moment::new(inst.seconds(), inst.nanos());
            Value::string(moment.map_or_else(|| inst.to_string(), |moment| moment.to_string()))
        }
        Value::Map(map) => {
            Value::Map(map.into_iter().map(|(key, value)| (plain(key), plain(value))).collect())
        }
        Value::Vector(items) => Value::vector(items.into_iter().map(plain).collect::<Vec<_>>()),
        Value::List(items) => Value::list(items.into_iter().map(plain).collect::<Vec<_>>()),
        Value::Set(set) => Value::set(set.into_iter().map(plain)),
        Value::Nil | Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_) => value,
        Value::BigDec(_) | Value::Ratio(_) | Value::Char(_) | Value::Str(_) | Value::Keyword(_) => value,
        Value::Symbol(_) | Value::Uuid(_) | Value::Tagged(_) | Value::Meta(_) => value,
    }
}

fn error(message: &str) -> Answer {
    Answer::refused(Value::string(format!("{TEXT_PREFIX}{message}")), Code::Validation)
}
