//! Suggests the known name that is nearest to a misspelled one, by edit distance.

/// The one of these names that is nearest to a wrong one, with what belongs to it; `None` if none is near.
pub(crate) fn nearest<'n, T>(names: impl Iterator<Item = (T, &'n str)>, wrong: &str) -> Option<T> {
    let near = names.filter_map(|(it, name)| Some((slips(name, wrong)?, it)));
    near.min_by_key(|(slips, _)| *slips).map(|(_, it)| it)
}

/// As [`nearest`], but only a name that is one slip away.
pub(crate) fn one_slip_away<'n, T>(mut names: impl Iterator<Item = (T, &'n str)>, wrong: &str) -> Option<T> {
    names.find(|(_, name)| slips(name, wrong) == Some(1)).map(|(it, _)| it)
}

/// As [`nearest`], but `None` if two are equally near.
pub(crate) fn clearly_nearest<'n, T>(names: impl Iterator<Item = (T, &'n str)>, wrong: &str) -> Option<T> {
    let mut near: Vec<(usize, T)> = names.filter_map(|(it, name)| Some((slips(name, wrong)?, it))).collect();
    near.sort_by_key(|(slips, _)| *slips);
    let mut near = near.into_iter();
    let (least, it) = near.next()?;
    near.next().is_none_or(|(slips, _)| slips > least).then_some(it)
}

/// How many slips lead from one name to the other, if they are few: a letter left out, put in, changed, or swapped with the
/// one beside it.
fn slips(name: &str, wrong: &str) -> Option<usize> {
    // Also bounds the cost: `wrong` comes from a caller, and the work grows with the product of both lengths.
    if name.len().abs_diff(wrong.len()) > SLIPS_MAX || name.len() > NAME_MAX {
        return None;
    }
    let (name, wrong) = (name.as_bytes(), wrong.as_bytes());
    // The distances of the beginnings of one name from all beginnings of the other: of this line, and of the two before it.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=wrong.len()).collect();
    for (row, letter) in name.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in wrong.iter().enumerate() {
            let changed = last[column] + usize::from(letter != other);
            let mut least = changed.min(last[column + 1] + 1).min(line[column] + 1);
            // Two swapped letters are one slip of the hand and not two, so `lable` is near `label`.
            let is_swapped = row > 0 && column > 0 && name[row - 1] == *other && wrong[column - 1] == *letter;
            if is_swapped {
                least = least.min(before[column - 1] + 1);
            }
            line.push(least);
        }
        before = std::mem::replace(&mut last, line);
    }
    // A short name with another letter is another name: `foo` is not `for`. With its letters swapped, it may be meant.
    if wrong.len() <= SHORT && name.len() == wrong.len() && !has_same_letters(name, wrong) {
        return None;
    }
    // With more slips, a short name would be near to every other short name.
    let most = (wrong.len() / LETTERS_PER_SLIP).clamp(1, SLIPS_MAX);
    last.last().copied().filter(|slips| *slips <= most)
}

fn has_same_letters(one: &[u8], other: &[u8]) -> bool {
    let [mut one, mut other] = [one.to_vec(), other.to_vec()];
    one.sort_unstable();
    other.sort_unstable();
    one == other
}

/// Letters of a name that is short.
const SHORT: usize = 3;
/// The most slips that a suggestion may need; with more, it is another name.
const SLIPS_MAX: usize = 3;
/// Letters per slip: a short name may have fewer slips than `SLIPS_MAX`.
const LETTERS_PER_SLIP: usize = 3;
/// Longer than any name of ours.
const NAME_MAX: usize = 128;

#[cfg(test)]
mod tests {
    use super::slips;

    #[test]
    fn a_few_slips_are_counted_and_more_are_another_name() {
        let rows = [
            ("status", "status", Some(0)),
            ("status", "staus", Some(1)),
            ("status", "statuss", Some(1)),
            ("status", "statos", Some(1)),
            ("status", "sattus", Some(1)),
            ("psi.scheduler/schedules", "psi.schedulr/scheduls", Some(2)),
            ("statuses", "statuss", Some(1)),
            ("status", "sta", None),
            ("status", "label", None),
            ("boom", "nope", None),
            ("task", "tasks", Some(1)),
            ("for", "foo", None),
            ("for", "fro", Some(1)),
            ("for", "fr", Some(1)),
            ("for", "four", Some(1)),
            ("a", "b", None),
            ("", "a", Some(1)),
            ("a", "", Some(1)),
            ("", "abcd", None),
        ];
        for (name, wrong, expected) in rows {
            assert_eq!(slips(name, wrong), expected, "{name} {wrong}");
        }
    }
}
