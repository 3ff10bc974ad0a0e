//! What bare words of a condition are probably not: a text.
//!
//! A watch whose second comparison is taken for a text is silent for ever, so such words are refused. A text that is meant as one
//! is put in quotes.

use super::scan::is_of_name;

/// Where a sign of a comparison stands in the words.
pub(super) fn sign_at(words: &str) -> Option<usize> {
    ["==", "!=", "<", ">"].iter().filter_map(|sign| words.find(sign)).min()
}

/// Where anything else of the grammar stands in the words: one of its words between two others, a call of a function, or a
/// semicolon.
pub(super) fn operator_at(words: &str) -> Option<usize> {
    [word_at(words), call_at(words), words.find(';')].into_iter().flatten().min()
}

/// Returns the number that a text begins with; `None` if it begins with none.
pub(super) fn number_of(words: &str) -> Option<&str> {
    let is_digit = |digit: char| digit.is_ascii_digit();
    let whole = words.strip_prefix(['-', '+']).unwrap_or(words).trim_start_matches(is_digit);
    // A dot without digits behind it is no part of the number.
    let fraction = whole.strip_prefix('.').filter(|fraction| fraction.starts_with(is_digit));
    let behind = fraction.map_or(whole, |fraction| fraction.trim_start_matches(is_digit));
    let number = &words[..words.len() - behind.len()];
    number.ends_with(is_digit).then_some(number)
}

/// The first word that joins or compares. It has something before it, as an operator has: `not found` is a text. `in` and
/// `contains` have something behind them too: `sign in` is one.
fn word_at(words: &str) -> Option<usize> {
    let mut begin = 0;
    for word in words.split_inclusive(char::is_whitespace) {
        let (at, end) = (begin, begin + word.len());
        begin = end;
        // A bracket ends a word, as in `AND(a == 1)`.
        let name = word.split('(').next().unwrap_or_default().trim_end();
        let joins = ["and", "or", "not"].iter().any(|it| name.eq_ignore_ascii_case(it));
        let compares = ["in", "contains"].contains(&name) && end < words.len();
        if at > 0 && (joins || compares) {
            return Some(at);
        }
    }
    None
}

fn call_at(words: &str) -> Option<usize> {
    let is_call = |at: usize, function: &str| {
        let opens = words[at + function.len()..].trim_start().starts_with('(');
        opens && !words[..at].ends_with(|before| is_of_name(before) || before == '.')
    };
    let first =
        |function: &&str| words.match_indices(*function).map(|(at, _)| at).find(|at| is_call(*at, function));
    FUNCTIONS.iter().filter_map(first).min()
}

/// The functions by name.
pub(super) const FUNCTIONS: [&str; 4] = ["len", "delta", "changed", "exists"];
