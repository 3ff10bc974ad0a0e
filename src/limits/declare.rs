//! What a bound is, and the macro that declares bounds.

/// One bound, as data: what the engine's attributes, the docs and the refusals print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The name in kebab case, as it stands in refusals and attributes.
    pub name: &'static str,
    /// The value, in `unit`.
    pub value: u64,
    /// The unit of the value: `ms`, `bytes`, or what is counted.
    pub unit: &'static str,
    /// What the bound protects and where its figure comes from.
    pub doc: &'static str,
}

impl Limit {
    /// Whether a text is no longer than this bound, which counts characters if that is its unit, and otherwise bytes.
    pub(crate) fn admits(&self, text: &str) -> bool {
        let length = if self.unit == CHARACTERS { text.chars().count() } else { text.len() };
        u64::try_from(length).is_ok_and(|length| length <= self.value)
    }
}

/// The unit of texts that are bounded in characters: Unicode scalar values, as JSON Schema counts.
const CHARACTERS: &str = "characters";

macro_rules! limits {
    ($all:ident: $($(#[doc = $doc:literal])+ $name:ident = $value:literal $unit:literal as $text:literal;)+) => {
        $($(#[doc = $doc])+ pub const $name: Limit =
            Limit { name: $text, value: $value, unit: $unit, doc: concat!($($doc),+) };)+
        /// All bounds of this list, in the order of their declaration.
        pub(in crate::limits) const $all: &[Limit] = &[$($name),+];
    };
}

pub(super) use limits;

/// Returns how many bounds the lists have together.
pub(super) const fn count(lists: &[&[Limit]]) -> usize {
    let (mut count, mut list) = (0, 0);
    while list < lists.len() {
        count += lists[list].len();
        list += 1;
    }
    count
}

/// Joins lists of bounds. `COUNT` is their [`count`].
pub(super) const fn joined<const COUNT: usize>(lists: &[&[Limit]]) -> [Limit; COUNT] {
    let mut all = [lists[0][0]; COUNT];
    let (mut at, mut list) = (0, 0);
    // Iterators are not const.
    while list < lists.len() {
        let mut own = 0;
        while own < lists[list].len() {
            all[at] = lists[list][own];
            (at, own) = (at + 1, own + 1);
        }
        list += 1;
    }
    assert!(at == COUNT, "the count is that of the lists");
    all
}
