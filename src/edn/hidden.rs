//! Characters that are not seen, or that move what is seen: marks of direction, joiners, tags.
//!
//! Invariant: the category Cf and the separators of lines and paragraphs, whole.
//! Source: Unicode 16.0, `DerivedGeneralCategory.txt`.

/// Whether a character is invisible, or changes the order or the lines of the text around it.
pub(crate) fn is_hidden(found: char) -> bool {
    // Most characters come before the first one of the table.
    found >= HIDDEN[0].0 && HIDDEN.iter().any(|(first, last)| (*first..=*last).contains(&found))
}

const HIDDEN: [(char, char); 19] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{fff9}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    // Tags, and the selectors of variants beside them.
    ('\u{e0000}', '\u{e0fff}'),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The query page hides nothing that we show: its script has the same characters.
    #[test]
    fn the_page_knows_the_same_characters() {
        let script = include_str!("../../web/graphql/visible.js");
        let number = |found: char| {
            let number = u32::from(found);
            if number > 0xffff { format!("\\u{{{number:x}}}") } else { format!("\\u{number:04x}") }
        };
        let range = |(first, last): &(char, char)| {
            if first == last { number(*first) } else { format!("{}-{}", number(*first), number(*last)) }
        };
        let class: String = HIDDEN.iter().map(range).collect();
        assert!(script.contains(&format!("const HIDDEN = /[{class}]/gu;")), "{class}");
    }
}
