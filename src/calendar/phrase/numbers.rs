//! Numbers in phrases: `5`, `five`, `twenty five`, and ordinals: `1st`, `third`.

use super::words::Words;

/// Consumes a whole number in words, if one comes next.
pub(super) fn take_word(words: &mut Words<'_>) -> Option<u64> {
    let word = words.peek()?;
    // `forty-five` is one word, `forty five` are two.
    if let Some((tens, ones)) = word.split_once('-') {
        let number = ten(tens)? + one(ones).filter(|ones| (1..10).contains(ones))?;
        words.next();
        return Some(number);
    }
    if let Some(tens) = ten(word) {
        words.next();
        // `twenty eleven` is no number.
        let ones = words.peek().and_then(one).filter(|ones| (1..10).contains(ones));
        if ones.is_some() {
            words.next();
        }
        return Some(tens + ones.unwrap_or(0));
    }
    let number = one(word)?;
    words.next();
    Some(number)
}

/// Returns whether the next word is a number in letters.
pub(super) fn starts(words: &Words<'_>) -> bool {
    take_word(&mut words.clone()).is_some()
}

/// Returns the number that an ordinal such as `3rd` or `third` stands for.
pub(super) fn ordinal(word: &str) -> Option<u8> {
    let place = ORDINALS.iter().position(|ordinal| *ordinal == word);
    if let Some(number) = place.and_then(|place| u8::try_from(place + 1).ok()) {
        return Some(number);
    }
    let digits = ["st", "nd", "rd", "th"].into_iter().find_map(|end| word.strip_suffix(end))?;
    let is_number = (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

fn one(word: &str) -> Option<u64> {
    let place = ONES.iter().position(|one| *one == word)?;
    u64::try_from(place).ok()
}

fn ten(word: &str) -> Option<u64> {
    let place = TENS.iter().position(|ten| *ten == word)?;
    u64::try_from(place + 2).ok().map(|tens| tens * 10)
}

const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const ORDINALS: [&str; 10] =
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
