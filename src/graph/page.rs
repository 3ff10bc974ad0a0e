//! Pages: a part of a long list, by cursors that stay good while the list changes.
//!
//! Lives here: cutting, and what is told of a page. Does not live here: what is listed and in which order
//! (`listing.rs`).
//!
//! Invariant: a cursor names a place in an order, not an entry: when the entry is gone, the place is still there.
//! Source: GraphQL Cursor Connections Specification, "Pagination algorithm".

use super::params::Params;
use super::registry::ResolverError;
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

/// The parameters of a window.
pub(super) const WINDOW: &[&str] = &["first", "after", "last", "before"];

impl<C> Window<C> {
    /// Reads it off the parameters of a query.
    pub(super) fn read(
        params: &Params<'_>,
        cursor: impl Fn(&str) -> Option<C>,
    ) -> Result<Window<C>, ResolverError> {
        let place = |name: &'static str| {
            let Some(value) = params.get(name) else { return Ok(None) };
            let found = value.as_str().and_then(&cursor);
            found.map(Some).ok_or_else(|| params.wrong(name, "a cursor of this list"))
        };
        let (first, last) = (size(params, "first")?, size(params, "last")?);
        if first.is_some() && last.is_some() {
            return Err(params.wrong("last", "left out where first is given"));
        }
        Ok(Window { first, last, after: place("after")?, before: place("before")? })
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
fn size(params: &Params<'_>, name: &'static str) -> Result<Option<usize>, ResolverError> {
    let Some(value) = params.get(name) else { return Ok(None) };
    let size = value.as_int().and_then(|size| usize::try_from(size).ok());
    let size = size.ok_or_else(|| params.wrong(name, "a whole number, 0 or more"))?;
    if size as u64 > limits::PAGE_ROWS.value {
        let message = format!("a page has at most {} {}", limits::PAGE_ROWS.value, limits::PAGE_ROWS.unit);
        let data = crate::edn::Map::new()
            .with("limit", limits::PAGE_ROWS.name)
            .with("max", Value::Int(i64::try_from(limits::PAGE_ROWS.value).unwrap_or(i64::MAX)))
            .with("given", value.clone());
        return Err(ResolverError::new(message, data).coded(crate::domain::Code::Limit));
    }
    Ok(Some(size))
}

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
