//! Characters that are not seen, or that move what is seen: marks of direction, joiners, fillers, selectors of variants, tags.
//!
//! Invariant: the category Cf, the separators of lines and paragraphs, and the property Default_Ignorable_Code_Point, whole but
//! for U+FE0E and U+FE0F, which say whether a sign such as ⚠ is an emoji; and the characters that are blank and no white space
//! (U+2800, U+13441, U+13442, U+16FE4 and U+1D159).
//! Source: Unicode 16.0, `DerivedGeneralCategory.txt` and `DerivedCoreProperties.txt`; for the blank ones, their names.

/// Whether a character is invisible, or changes the order or the lines of the text around it.
pub(crate) fn is_hidden(found: char) -> bool {
    // Most characters come before the first one of the table.
    found >= HIDDEN[0].0 && HIDDEN.iter().any(|(first, last)| (*first..=*last).contains(&found))
}

const HIDDEN: [(char, char); 29] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0d}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{13441}', '\u{13442}'),
    ('\u{16fe4}', '\u{16fe4}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d159}', '\u{1d159}'),
    ('\u{1d173}', '\u{1d17a}'),
    // Tags, and the selectors of variants beside them.
    ('\u{e0000}', '\u{e0fff}'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_no_trace_on_a_screen_is_hidden() {
        let ignorable = "\u{34f}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{180b}\u{180e}\u{180f}\u{2065}\u{3164}\u{fe00}\u{fe0d}\u{ffa0}\
                         \u{fff0}\u{1bca0}\u{1d173}\u{e0100}\u{e01ef}\u{e0fff}";
        let blank = "\u{2800}\u{13441}\u{16fe4}\u{1d159}";
        let formats = "\u{ad}\u{200b}\u{200d}\u{202e}\u{feff}\u{fffb}\u{e0041}";
        for found in [ignorable, blank, formats].iter().flat_map(|set| set.chars()) {
            assert!(is_hidden(found), "U+{:04X}", u32::from(found));
        }
        for found in "aé\u{301}\u{a0}\u{1100}\u{1161}가\u{2801}\u{3000}\u{3163}ﾡ\u{fffc}☎⚠\u{fe0f}😀".chars()
        {
            assert!(!is_hidden(found), "U+{:04X}", u32::from(found));
        }
        assert!(HIDDEN.is_sorted_by(|before, after| before.1 < after.0), "the first one is the lowest");
    }

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
