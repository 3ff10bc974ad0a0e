//! Tables for people: one line for each row, columns as wide as their widest cell.

use super::foreign_text::{shown, visible};
use crate::domain::RunId;
use crate::edn::Value;

/// Formats rows below their heads.
pub(super) fn of<const N: usize>(heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = std::iter::once(heads.map(str::to_owned)).chain(rows).collect();
    // Count characters, not bytes: labels may be in any script.
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        // An empty last column must not leave trailing blanks.
        format!("{}\n", cells.collect::<Vec<String>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// A value of an entity as plain text; empty if there is none.
pub(super) fn cell(entity: &Value, column: &str) -> String {
    match entity.as_map().and_then(|entity| entity.keyword(column)) {
        None | Some(Value::Nil) => String::new(),
        Some(value) => word(value),
    }
}

/// The short id of a run, by which commands take it.
pub(super) fn run_id(entity: &Value, column: &str) -> String {
    RunId::brief_of(&cell(entity, column))
}

/// The label of a schedule, or in quotes the beginning of its message if it has none.
pub(super) fn label(schedule: &Value) -> String {
    let message = schedule.as_map().and_then(|it| it.keyword("psi.scheduler/message-excerpt"));
    let label = cell(schedule, "psi.scheduler/label");
    message.filter(|_| label.is_empty()).map_or(label, shown)
}

/// A value as plain text, without EDN's quotes and tags unless a terminal would do more with it than show it.
fn word(value: &Value) -> String {
    let keyword = || value.as_keyword().map(|keyword| keyword.as_str().to_owned());
    let text = || value.as_str().map(visible);
    keyword().or_else(text).unwrap_or_else(|| shown(value))
}
