//! Cuts pages out of long lists, by cursors that stay valid while the list changes.
//!
//! Lives here: the requested window, and the page that it cuts out. Does not live here: what is listed and in which
//! order (`listing.rs`).
//!
//! Invariant: a cursor names a position in an order, not an entry, so it stays valid when the entry is gone.
//! Source: GraphQL Cursor Connections Specification, "Pagination algorithm".

use super::params::{CheckedParams, params, refused};
use super::registry::{ParamFault, ParamFaultKind, ResolverError};
use super::view::View;
use crate::edn::Value;
use crate::limits;

/// A page of a list.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// How many entries the whole list has.
    pub(crate) total: u64,
    /// The numbers of the entries, by which readers find them.
    pub(crate) numbers: Vec<u64>,
    /// Whether entries follow the page.
    pub(crate) has_next: bool,
    /// Whether entries precede the page.
    pub(crate) has_previous: bool,
    /// Returns the cursor of an entry. A function, because few queries read a cursor.
    cursor: CursorOf,
}

/// Returns the position of the entry with this number, as text.
type CursorOf = fn(&View<'_>, u64) -> Option<String>;

/// The part of a list that a query requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Window<C> {
    first: Option<usize>,
    last: Option<usize>,
    after: Option<C>,
    before: Option<C>,
}

params! {
    /// The part of a list to return.
    pub WindowParams {
        /// The largest number of entries to return, from the front.
        optional first: u32 = "first",
        /// A cursor: only entries after it are returned.
        optional after: Box<str> = "after",
        /// The largest number of entries to return, from the back. Not together with first.
        optional last: u32 = "last",
        /// A cursor: only entries before it are returned.
        optional before: Box<str> = "before",
    }
}

impl<C> Window<C> {
    /// Reads the window from the parameters of a query.
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
        // The specification allows both and advises against it: the result is confusing. An error is clearer.
        if let (Some(_), Some(given)) = (window.first, window.last) {
            return Err(wrong("last", Value::Int(given.into()), "left out where first is given"));
        }
        let (after, before) = (window.after.as_deref(), window.before.as_deref());
        Ok(Window { first, last, after: place("after", after)?, before: place("before", before)? })
    }

    /// Returns the range of a sorted list that the window selects; `place` compares an entry with a cursor.
    pub(super) fn cut<T>(
        &self,
        list: &[T],
        place: impl Fn(&T, &C) -> std::cmp::Ordering,
    ) -> std::ops::Range<usize> {
        // `after` skips an entry at the cursor, and `before` excludes it. Neither needs the entry to exist.
        let start = |cursor| list.partition_point(|entry| place(entry, cursor).is_le());
        let end = |cursor| list.partition_point(|entry| place(entry, cursor).is_lt());
        let from = self.after.as_ref().map_or(0, start);
        // A `before` in front of `after` selects nothing; the range must not run backwards.
        let to = self.before.as_ref().map_or(list.len(), end).max(from);
        match (self.first, self.last) {
            (Some(first), _) => from..to.min(from.saturating_add(first)),
            (None, Some(last)) => from.max(to.saturating_sub(last))..to,
            (None, None) => from..to,
        }
    }
}

impl Page {
    /// Returns the page that a window selects from a list.
    pub(super) fn of<T>(
        list: &[T],
        window: std::ops::Range<usize>,
        number: impl Fn(&T) -> u64,
        cursor: CursorOf,
    ) -> Page {
        let entries = list.get(window.clone()).unwrap_or_default();
        Page {
            // The list is filtered but not cut: the total does not depend on the page.
            total: list.len() as u64,
            numbers: entries.iter().map(number).collect(),
            has_next: window.end < list.len(),
            has_previous: window.start > 0,
            cursor,
        }
    }

    /// Returns the cursor of the first entry; `None` if the page is empty.
    pub(super) fn start(&self, view: &View<'_>) -> Option<String> {
        (self.cursor)(view, *self.numbers.first()?)
    }

    /// Returns the cursor of the last entry; `None` if the page is empty.
    pub(super) fn end(&self, view: &View<'_>) -> Option<String> {
        (self.cursor)(view, *self.numbers.last()?)
    }
}

/// Checks a requested page size.
fn size(given: Option<u32>) -> Result<Option<usize>, ResolverError> {
    let Some(size) = given else { return Ok(None) };
    // Refused, not reduced: a caller that got fewer entries than it requested could take the list for complete.
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
    let kind = ParamFaultKind::Wrong { name, value, expected: expected.to_owned(), nearest: None };
    ParamFault { path: Vec::new(), kind }.into_error(&LIST)
}

/// The name in errors of what takes the parameters: readers of many lists share this code.
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
        // The list has no entry 4, but the position of 4 is still valid.
        check(&Window { first: Some(2), after: Some(4), ..all.clone() }, &[5, 8]);
        check(&Window { last: Some(9), before: Some(4), ..all.clone() }, &[1, 2, 3]);
        check(&Window { after: Some(5), before: Some(2), ..all.clone() }, &[]);
        check(&Window { first: Some(0), ..all }, &[]);
    }
}
