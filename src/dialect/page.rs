//! Pages of the lists in tools' answers: as many rows as fit into the bound of an answer, and how to go on.
//!
//! Invariant: a list is cut at a row, never within one, and the answer to a list that was cut has the cursor of the rest.

use super::args::{ArgError, Args};
use super::excerpt::{ANSWER_BYTES, weight};
use super::{Answer, brief, tool_error};
use crate::domain::Code;
use crate::edn::{Map, Value};
use crate::limits;

/// Which part of a list a call asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// The most rows; without it, as many as fit.
    pub(crate) first: Option<u64>,
    /// The id of the row before the first one.
    pub(crate) after: Option<Box<str>>,
}

impl PageRequest {
    /// Reads the arguments `first` and `after`.
    pub(super) fn read(args: &Args<'_>) -> Result<PageRequest, ArgError> {
        let first = args.int_in("first", 1, limits::TOOL_PAGE_MAX.value)?;
        let after = args.opt_text("after", limits::LABEL_BYTES)?;
        Ok(PageRequest { first, after: after.map(Into::into) })
    }

    /// Adds the page of a list to an answer: its rows under a name and, unless these are all, their total number and the cursor
    /// of the rest. `id` and `row` print an item.
    ///
    /// # Errors
    /// The answer to a cursor that is not in the list.
    pub(super) fn put<T>(
        &self,
        answer: Map,
        name: &str,
        items: &[T],
        (id, row): (impl Fn(&T) -> String, impl Fn(&T) -> Value),
    ) -> Result<Map, Answer> {
        let from = match &self.after {
            None => 0,
            Some(after) => {
                let place = items.iter().position(|item| id(item) == **after);
                place.ok_or_else(|| no_such_cursor(after))? + 1
            }
        };
        let first = self.first.and_then(|first| usize::try_from(first).ok()).unwrap_or(usize::MAX);
        let rest = items.get(from..).unwrap_or_default();
        let rows = fitting(rest.iter().take(first).map(row), ROOM);
        let next = rest.len() > rows.len();
        let last = rows.len().checked_sub(1).and_then(|last| rest.get(last)).map(&id);
        let answer = answer.with(name, rows);
        if !next && from == 0 {
            return Ok(answer);
        }
        let answer = answer.with("total", i64::try_from(items.len()).unwrap_or(i64::MAX));
        Ok(answer.with_some("after", last.filter(|_| next)))
    }
}

/// The first rows that fit into this many bytes, at least one.
pub(super) fn fitting(rows: impl Iterator<Item = Value>, bytes: usize) -> Vec<Value> {
    measured(rows, bytes).0
}

/// The first rows that fit into this many bytes, at least one, and how many bytes they take.
pub(super) fn measured(rows: impl Iterator<Item = Value>, bytes: usize) -> (Vec<Value>, usize) {
    let (mut used, mut kept) = (0, Vec::new());
    for row in rows {
        // One byte more for what separates two rows.
        let size = weight(&row) + 1;
        if used + size > bytes && !kept.is_empty() {
            break;
        }
        used += size;
        kept.push(row);
    }
    (kept, used)
}

/// The answer to a cursor that is not in the list.
pub(super) fn no_such_cursor(after: &str) -> Answer {
    let error =
        tool_error::error("unknown_cursor", Code::NotFound, "after names nothing that is in the list now")
            .with("field", "after")
            .with("value", brief::text(after))
            .with("hint", "list again without after, from the beginning");
    tool_error::finish(error, Code::NotFound)
}

/// Room for the rows of a list; the rest of the bound is for what stands around them.
pub(super) const ROOM: usize = ANSWER_BYTES - 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the rows, and what the answer says of the rest.
    #[track_caller]
    fn check(request: (Option<u64>, Option<&str>), bytes: usize, expected: &str) {
        let request = PageRequest { first: request.0, after: request.1.map(Into::into) };
        let items: Vec<i64> = (1..=5).collect();
        let text = "x".repeat(bytes);
        let row = |number: &i64| Value::vector([Value::Int(*number), text.as_str().into()]);
        let answer = request.put(Map::new(), "rows", &items, (|number: &i64| number.to_string(), row));
        let shown = answer.map_or_else(
            |answer| {
                answer
                    .value
                    .as_map()
                    .and_then(|map| map.keyword("error")?.as_map()?.keyword("kind"))
                    .unwrap()
                    .to_string()
            },
            |map| Value::Map(map).to_string().replace(&format!(" \"{text}\""), ""),
        );
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_page_has_what_fits_and_says_how_to_go_on() {
        check((None, None), 1, "{:rows [[1] [2] [3] [4] [5]]}");
        check((Some(2), None), 1, "{:rows [[1] [2]] :total 5 :after \"2\"}");
        check((Some(2), Some("2")), 1, "{:rows [[3] [4]] :total 5 :after \"4\"}");
        check((Some(2), Some("4")), 1, "{:rows [[5]] :total 5}");
        check((None, Some("5")), 1, "{:rows [] :total 5}");
        check((None, None), 6_000, "{:rows [[1] [2]] :total 5 :after \"2\"}");
        // A row that fits nowhere is shown nevertheless: the bound on the answer cuts it, and the list goes on.
        check((None, Some("3")), 20_000, "{:rows [[4]] :total 5 :after \"4\"}");
        check((None, Some("9")), 1, ":unknown_cursor");
    }
}
