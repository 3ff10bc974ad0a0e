//! From an EDN form to a query.
//!
//! Lives here: EQL's grammar. Does not live here: what the names mean, see `plan.rs`.
//!
//! Invariant: exactly what EQL's specification calls valid is taken; the tree is never deeper than the
//! form, whose reader bounds it. Source: `edn-query-language.core`, `::query-expr` and below.

use super::{Call, Expr, Join, Key, ParseError, ParseErrorKind, Prop, Query, Target};
use crate::edn::{Map, Value};

/// Makes a query of a form, such as [`read_keeping_meta`](crate::edn::read_keeping_meta) returns.
///
/// # Errors
///
/// The first form that breaks a rule, and its place.
pub fn parse(form: &Value) -> Result<Query, ParseError> {
    query(form, &Place::Top)
}

/// Where a form stands, as a list that ends at the top.
#[derive(Clone, Copy)]
enum Place<'a> {
    Top,
    Index(usize, &'a Place<'a>),
    Key(&'a Value, &'a Place<'a>),
}

fn query(form: &Value, place: &Place<'_>) -> Result<Query, ParseError> {
    let Value::Vector(items) = form.plain() else {
        return Err(place.error(ParseErrorKind::Query, form));
    };
    let exprs = items.iter().enumerate().map(|(index, item)| expr(item, &Place::Index(index, place)));
    Ok(Query { exprs: exprs.collect::<Result<_, _>>()?, meta: form.meta().cloned() })
}

fn expr(form: &Value, place: &Place<'_>) -> Result<Expr, ParseError> {
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

/// A keyword, or an ident.
fn key(form: &Value, place: &Place<'_>) -> Result<Key, ParseError> {
    if let Value::Keyword(attr) = form {
        return Ok(Key::Attr(attr.clone()));
    }
    let Value::Vector(items) = form.plain() else {
        return Err(place.error(ParseErrorKind::JoinKey, form));
    };
    match &**items {
        [Value::Keyword(attr), value] => Ok(Key::Ident(attr.clone(), value.clone())),
        _ => Err(place.error(ParseErrorKind::Ident, form)),
    }
}

fn join(form: &Value, map: &Map, place: &Place<'_>) -> Result<Expr, ParseError> {
    let mut entries = map.iter();
    let (Some((by, target)), None) = (entries.next(), entries.next()) else {
        return Err(place.error(ParseErrorKind::JoinEntries, form));
    };
    let inner = Place::Key(by, place);
    let Value::List(items) = by.plain() else {
        return Ok(Expr::Join(Join {
            key: key(by, place)?,
            params: None,
            target: self::target(target, &inner)?,
        }));
    };
    match list_parts(by, items, place)? {
        (Value::Symbol(name), params) => {
            let Value::Vector(_) = target.plain() else {
                return Err(inner.error(ParseErrorKind::CallTarget, target));
            };
            let query = Some(query(target, &inner)?);
            Ok(Expr::Call(Call { name: name.clone(), params: params.cloned().unwrap_or_default(), query }))
        }
        (head, params) => {
            let params = Some(params.cloned().unwrap_or_default());
            Ok(Expr::Join(Join { key: key(head, place)?, params, target: self::target(target, &inner)? }))
        }
    }
}

fn target(form: &Value, place: &Place<'_>) -> Result<Target, ParseError> {
    if let Value::Vector(_) = form.plain() {
        return query(form, place).map(Target::Query);
    }
    if let Some(map) = form.as_map() {
        return union(form, map, place);
    }
    let is_unbounded = form.as_symbol().is_some_and(|symbol| symbol.as_str() == "...");
    let depth = if let Value::Int(depth) = form { u64::try_from(*depth).ok() } else { None };
    match depth {
        Some(depth) => Ok(Target::Depth(depth)),
        None if is_unbounded => Ok(Target::Unbounded),
        None => Err(place.error(ParseErrorKind::JoinTarget, form)),
    }
}

fn union(form: &Value, map: &Map, place: &Place<'_>) -> Result<Target, ParseError> {
    if map.is_empty() {
        return Err(place.error(ParseErrorKind::UnionEmpty, form));
    }
    let entries = map.iter().map(|(key, form)| match key.as_keyword() {
        Some(keyword) => Ok((keyword.clone(), query(form, &Place::Key(key, place))?)),
        None => Err(place.error(ParseErrorKind::UnionKey, key)),
    });
    entries.collect::<Result<_, _>>().map(Target::Union)
}

/// `(:a {…})`, `([:a 1] {…})`, `({:a [:b]} {…})` or `(a/b {…})`.
fn list(form: &Value, items: &[Value], place: &Place<'_>) -> Result<Expr, ParseError> {
    let (head, params) = list_parts(form, items, place)?;
    let place = Place::Index(0, place);
    if let Value::Symbol(name) = head {
        let params = params.cloned().unwrap_or_default();
        return Ok(Expr::Call(Call { name: name.clone(), params, query: None }));
    }
    if let Value::Map(map) = head {
        let Expr::Join(mut join) = join(head, map, &place)? else {
            return Err(place.error(ParseErrorKind::ListHead, head));
        };
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

/// What a list begins with, and its parameters.
fn list_parts<'f>(
    form: &Value,
    items: &'f [Value],
    place: &Place<'_>,
) -> Result<(&'f Value, Option<&'f Map>), ParseError> {
    match items {
        [head] => Ok((head.plain(), None)),
        [head, params] => match params.as_map() {
            Some(map) => Ok((head.plain(), Some(map))),
            None => Err(Place::Index(1, place).error(ParseErrorKind::Params, params)),
        },
        _ => Err(place.error(ParseErrorKind::ListLength, form)),
    }
}

impl Place<'_> {
    #[cold]
    fn error(&self, kind: ParseErrorKind, form: &Value) -> ParseError {
        let (mut path, mut place) = (Vec::new(), self);
        loop {
            match place {
                Place::Top => break,
                Place::Index(index, outer) => {
                    path.push(Value::Int(i64::try_from(*index).unwrap_or(i64::MAX)));
                    place = outer;
                }
                Place::Key(key, outer) => {
                    path.push((*key).clone());
                    place = outer;
                }
            }
        }
        path.reverse();
        ParseError { kind, form: form.clone(), path }
    }
}
