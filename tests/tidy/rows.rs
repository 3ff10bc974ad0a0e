//! Checks that every row of the table of what must be shown of SEED-001 is named by a test that shows it.
//!
//! A test names its rows where its doc comment begins: `T9, T14: what it shows.` Numbers elsewhere are of other tables.

use std::collections::BTreeSet;

use crate::files::File;

/// The rows up to `last` that no test names, and the rows beyond it that one does.
pub(crate) fn unshown(files: &[File], last: u32) -> Vec<String> {
    let lines = files.iter().flat_map(|file| file.text.lines());
    let heads = lines.filter_map(|line| line.trim().strip_prefix("/// T"));
    let named: BTreeSet<u32> = heads.flat_map(rows).collect();
    let missing = (1..=last).filter(|row| !named.contains(row));
    let beyond = named.iter().filter(|row| **row > last);
    let mut faults: Vec<String> = missing.map(|row| format!("T{row}: no test names it")).collect();
    faults.extend(beyond.map(|row| format!("T{row}: there is no such row")));
    faults
}

/// The rows at the beginning of a comment, whose first letter is gone.
fn rows(head: &str) -> impl Iterator<Item = u32> {
    let words = head.split([',', ' ', '.', ':']).map(|word| word.trim_start_matches('T'));
    words.filter(|word| !word.is_empty() && *word != "and").map_while(|word| word.parse().ok())
}
