//! Pages: a part of a long list, by cursors that stay good while the list changes.
//!
//! Lives here: cutting, and what is told of a page. Does not live here: what is listed and in which order
//! (`listing.rs`).
//!
//! Invariant: a cursor names a place in an order, not an entry: when the entry is gone, the place is still there.
//! Source: GraphQL Cursor Connections Specification, "Pagination algorithm".

use super::params::{CheckedParams, params, refused};
use super::registry::{ParamFault, ParamFaultKind, ResolverError};
use super::view::View;
use crate::edn::Value;
use crate::limits;

/// A part of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// How many entries the whole list has.
    pub total: u64,
    /// The entries, by the numbers under which readers find them.
    pub numbers: Vec<u64>,
    /// Whether there is something behind.
    pub has_next: bool,
    /// Whether there is something before.
    pub has_previous: bool,
    /// Makes the cursor of an entry, by its number: few ask for one.
    cursor: CursorOf,
}

/// The place of an entry of this number in its list, as text.
type CursorOf = fn(&View<'_>, u64) -> Option<String>;

/// Which part is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Window<C> {
    first: Option<usize>,
    last: Option<usize>,
    after: Option<C>,
    before: Option<C>,
}

params! {
    /// Which part of a list is asked for.
    pub WindowParams {
        /// At most so many, from the front.
        optional first: u32 = "first",
        /// Only what stands behind this cursor.
        optional after: Box<str> = "after",
        /// At most so many, from the back.
        optional last: u32 = "last",
        /// Only what stands before this cursor.
        optional before: Box<str> = "before",
    }
}

impl<C> Window<C> {
    /// Reads it off the parameters of a query.
    pub(super) fn read(
        given: &CheckedParams<'_>,
        cursor: impl Fn(&str) -> Option<C>,
    ) -> Result<Window<C>, ResolverError> {
        let window = WindowParams::read(given).map_err(refused(LIST))?;
        let place = |name: &'static str, text: Option<&str>| match text {
            None => Ok(None),
            Some(text) => match cursor(text) {
                Some(cursor) => Ok(Some(cursor)),
                None => Err(wrong(name, text.into(), "a cursor of this list")),
            },
        };
        let (first, last) = (size(window.first)?, size(window.last)?);
        if let (Some(_), Some(given)) = (window.first, window.last) {
            return Err(wrong("last", Value::Int(given.into()), "left out where first is given"));
        }
        let (after, before) = (window.after.as_deref(), window.before.as_deref());
        Ok(Window { first, last, after: place("after", after)?, before: place("before", before)? })
    }

    /// Cuts the window out of a list that is in order; `place` compares an entry with a cursor.
    pub(super) fn cut<T>(
        &self,
        list: &[T],
        place: impl Fn(&T, &C) -> std::cmp::Ordering,
    ) -> std::ops::Range<usize> {
        let start = |cursor| list.partition_point(|entry| place(entry, cursor).is_le());
        let end = |cursor| list.partition_point(|entry| place(entry, cursor).is_lt());
        let from = self.after.as_ref().map_or(0, start);
        let to = self.before.as_ref().map_or(list.len(), end).max(from);
        match (self.first, self.last) {
            (Some(first), _) => from..to.min(from.saturating_add(first)),
            (None, Some(last)) => from.max(to.saturating_sub(last))..to,
            (None, None) => from..to,
        }
    }
}

impl Page {
    /// The page that a window cuts out of a list of so many entries.
    pub(super) fn of<T>(
        list: &[T],
        window: std::ops::Range<usize>,
        number: impl Fn(&T) -> u64,
        cursor: CursorOf,
    ) -> Page {
        let entries = list.get(window.clone()).unwrap_or_default();
        Page {
            total: list.len() as u64,
            numbers: entries.iter().map(number).collect(),
            has_next: window.end < list.len(),
            has_previous: window.start > 0,
            cursor,
        }
    }

    /// The cursor of the first entry.
    pub(super) fn start(&self, view: &View<'_>) -> Option<String> {
        (self.cursor)(view, *self.numbers.first()?)
    }

    /// The cursor of the last entry.
    pub(super) fn end(&self, view: &View<'_>) -> Option<String> {
        (self.cursor)(view, *self.numbers.last()?)
    }
}

/// How many entries a page may have at most.
fn size(given: Option<u32>) -> Result<Option<usize>, ResolverError> {
    let Some(size) = given else { return Ok(None) };
    if u64::from(size) > limits::PAGE_ROWS.value {
        let message = format!("a page has at most {} {}", limits::PAGE_ROWS.value, limits::PAGE_ROWS.unit);
        let data = crate::edn::Map::new()
            .with("limit", limits::PAGE_ROWS.name)
            .with("max", Value::Int(i64::try_from(limits::PAGE_ROWS.value).unwrap_or(i64::MAX)))
            .with("given", i64::from(size));
        return Err(ResolverError::new(message, data).coded(crate::domain::Code::Limit));
    }
    Ok(usize::try_from(size).ok())
}

fn wrong(name: &'static str, value: Value, expected: &str) -> ResolverError {
    let kind = ParamFaultKind::Wrong { name, value, expected: expected.to_owned() };
    ParamFault { path: Vec::new(), kind }.into_error(&LIST)
}

/// What parameters of a window belong to, as errors say it.
pub(super) const LIST: &str = "the list";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(window: &Window<i32>, expected: &[i32]) {
        let list = [1, 2, 3, 5, 8];
        let range = window.cut(&list, Ord::cmp);
        assert_eq!(&list[range], expected);
    }

    #[test]
    fn a_window_is_cut_by_places() {
        let all = Window { first: None, last: None, after: None, before: None };
        check(&all.clone(), &[1, 2, 3, 5, 8]);
        check(&Window { first: Some(2), ..all.clone() }, &[1, 2]);
        check(&Window { last: Some(2), ..all.clone() }, &[5, 8]);
        check(&Window { first: Some(2), after: Some(2), ..all.clone() }, &[3, 5]);
        // The entry of the cursor is gone, its place is not.
        check(&Window { first: Some(2), after: Some(4), ..all.clone() }, &[5, 8]);
        check(&Window { last: Some(9), before: Some(4), ..all.clone() }, &[1, 2, 3]);
        check(&Window { after: Some(5), before: Some(2), ..all.clone() }, &[]);
        check(&Window { first: Some(0), ..all }, &[]);
    }
}
