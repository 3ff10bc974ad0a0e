//! From an EDN form to a query.
//!
//! Contains EQL's grammar. What the names mean is decided in `plan.rs`.
//!
//! Invariants: exactly the forms that EQL's specification calls valid are accepted; the tree is never deeper than the
//! form, whose reader bounds it. Source: `edn-query-language.core`, `::query-expr` and below.

use super::{Expr, ExprKey, Join, JoinTarget, MutationCall, ParseError, ParseErrorKind, Prop, Query};
use crate::edn::{Map, Value};

/// Parses a form, such as [`read_keeping_meta`](crate::edn::read_keeping_meta) returns.
///
/// # Errors
///
/// Returns the first form that breaks a rule, and its path.
pub fn parse(form: &Value) -> Result<Query, ParseError> {
    query(form, &FormPath::Top)
}

/// The path of a form as a list from the inside out. It lives on the stack, so a valid query allocates no path.
#[derive(Clone, Copy)]
enum FormPath<'a> {
    Top,
    Index(usize, &'a FormPath<'a>),
    Key(&'a Value, &'a FormPath<'a>),
}

fn query(form: &Value, place: &FormPath<'_>) -> Result<Query, ParseError> {
    let Value::Vector(items) = form.plain() else {
        return Err(place.error(ParseErrorKind::Query, form));
    };
    let exprs = items.iter().enumerate().map(|(index, item)| expr(item, &FormPath::Index(index, place)));
    Ok(Query { exprs: exprs.collect::<Result<_, _>>()?, meta: form.meta().cloned() })
}

fn expr(form: &Value, place: &FormPath<'_>) -> Result<Expr, ParseError> {
    match form.plain() {
        Value::Keyword(_) | Value::Vector(_) => Ok(Expr::Prop(Prop { key: key(form, place)?, params: None })),
        Value::Map(map) => join(form, map, place),
        Value::List(items) => list(form, items, place),
        Value::Symbol(symbol) if symbol.as_str() == "*" => Ok(Expr::Wildcard),
        Value::Symbol(_) => Err(place.error(ParseErrorKind::Symbol, form)),
        Value::Nil
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::BigDec(_) => Err(place.error(ParseErrorKind::Expression, form)),
        Value::Ratio(_)
        | Value::Char(_)
        | Value::Str(_)
        | Value::Set(_)
        | Value::Inst(_)
        | Value::Uuid(_) => Err(place.error(ParseErrorKind::Expression, form)),
        Value::Tagged(_) | Value::Meta(_) => Err(place.error(ParseErrorKind::Expression, form)),
    }
}

/// Parses a keyword or an ident.
fn key(form: &Value, place: &FormPath<'_>) -> Result<ExprKey, ParseError> {
    // A keyword cannot have metadata, so it needs no `plain`.
    if let Value::Keyword(attr) = form {
        return Ok(ExprKey::Attr(attr.clone()));
    }
    let Value::Vector(items) = form.plain() else {
        return Err(place.error(ParseErrorKind::JoinKey, form));
    };
    match &**items {
        [Value::Keyword(attr), value] => Ok(ExprKey::Ident(attr.clone(), value.clone())),
        _ => Err(place.error(ParseErrorKind::Ident, form)),
    }
}

fn join(form: &Value, map: &Map, place: &FormPath<'_>) -> Result<Expr, ParseError> {
    let mut entries = map.iter();
    // A join is a map with exactly one entry.
    let (Some((by, target)), None) = (entries.next(), entries.next()) else {
        return Err(place.error(ParseErrorKind::JoinEntries, form));
    };
    let inner = FormPath::Key(by, place);
    let Value::List(items) = by.plain() else {
        return Ok(Expr::Join(Join {
            key: key(by, place)?,
            params: None,
            target: self::target(target, &inner)?,
        }));
    };
    // A list with a symbol in front is a mutation: its join takes a query, but no union and no recursion.
    match list_parts(by, items, place)? {
        (Value::Symbol(name), params) => {
            let Value::Vector(_) = target.plain() else {
                return Err(inner.error(ParseErrorKind::CallTarget, target));
            };
            let query = Some(query(target, &inner)?);
            Ok(Expr::Call(MutationCall {
                name: name.clone(),
                params: params.cloned().unwrap_or_default(),
                query,
            }))
        }
        (head, params) => {
            let params = Some(params.cloned().unwrap_or_default());
            Ok(Expr::Join(Join { key: key(head, place)?, params, target: self::target(target, &inner)? }))
        }
    }
}

fn target(form: &Value, place: &FormPath<'_>) -> Result<JoinTarget, ParseError> {
    if let Value::Vector(_) = form.plain() {
        return query(form, place).map(JoinTarget::Query);
    }
    if let Some(map) = form.as_map() {
        return union(form, map, place);
    }
    let is_unbounded = form.as_symbol().is_some_and(|symbol| symbol.as_str() == "...");
    // A negative depth is no depth, and is refused like any other value.
    let depth = if let Value::Int(depth) = form { u64::try_from(*depth).ok() } else { None };
    match depth {
        Some(depth) => Ok(JoinTarget::Depth(depth)),
        None if is_unbounded => Ok(JoinTarget::Unbounded),
        None => Err(place.error(ParseErrorKind::JoinTarget, form)),
    }
}

fn union(form: &Value, map: &Map, place: &FormPath<'_>) -> Result<JoinTarget, ParseError> {
    if map.is_empty() {
        return Err(place.error(ParseErrorKind::UnionEmpty, form));
    }
    let entries = map.iter().map(|(key, form)| match key.as_keyword() {
        Some(keyword) => Ok((keyword.clone(), query(form, &FormPath::Key(key, place))?)),
        None => Err(place.error(ParseErrorKind::UnionKey, key)),
    });
    entries.collect::<Result<_, _>>().map(JoinTarget::Union)
}

/// Parses a list: `(:a {…})`, `([:a 1] {…})`, `({:a [:b]} {…})` or `(a/b {…})`.
fn list(form: &Value, items: &[Value], place: &FormPath<'_>) -> Result<Expr, ParseError> {
    let (head, params) = list_parts(form, items, place)?;
    // Errors of the head are at its position in the list.
    let place = FormPath::Index(0, place);
    if let Value::Symbol(name) = head {
        let params = params.cloned().unwrap_or_default();
        return Ok(Expr::Call(MutationCall { name: name.clone(), params, query: None }));
    }
    if let Value::Map(map) = head {
        let Expr::Join(mut join) = join(head, map, &place)? else {
            return Err(place.error(ParseErrorKind::ListHead, head));
        };
        // A join may have parameters inside and outside, as in `({(:a {…}) [:b]} {…})`. The outer ones win.
        let mut merged = join.params.unwrap_or_default();
        merged.extend(params.cloned().unwrap_or_default());
        join.params = Some(merged);
        return Ok(Expr::Join(join));
    }
    if !matches!(head, Value::Keyword(_) | Value::Vector(_)) {
        return Err(place.error(ParseErrorKind::ListHead, head));
    }
    Ok(Expr::Prop(Prop { key: key(head, &place)?, params: Some(params.cloned().unwrap_or_default()) }))
}

/// Splits a list into its head and its parameters.
fn list_parts<'f>(
    form: &Value,
    items: &'f [Value],
    place: &FormPath<'_>,
) -> Result<(&'f Value, Option<&'f Map>), ParseError> {
    match items {
        [head] => Ok((head.plain(), None)),
        [head, params] => match params.as_map() {
            Some(map) => Ok((head.plain(), Some(map))),
            None => Err(FormPath::Index(1, place).error(ParseErrorKind::Params, params)),
        },
        _ => Err(place.error(ParseErrorKind::ListLength, form)),
    }
}

impl FormPath<'_> {
    #[cold]
    fn error(&self, kind: ParseErrorKind, form: &Value) -> ParseError {
        // The list runs from the inside out, so the path is reversed at the end.
        let (mut path, mut place) = (Vec::new(), self);
        loop {
            match place {
                FormPath::Top => break,
                FormPath::Index(index, outer) => {
                    path.push(Value::Int(i64::try_from(*index).unwrap_or(i64::MAX)));
                    place = outer;
                }
                FormPath::Key(key, outer) => {
                    path.push((*key).clone());
                    place = outer;
                }
            }
        }
        path.reverse();
        ParseError { kind, form: form.clone(), path }
    }
}
