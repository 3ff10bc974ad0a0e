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

macro_rules! limits {
    ($all:ident: $($(#[doc = $doc:literal])+ $name:ident = $value:literal $unit:literal as $text:literal;)+) => {
        $($(#[doc = $doc])+ pub const $name: Limit =
            Limit { name: $text, value: $value, unit: $unit, doc: concat!($($doc),+) };)+
        /// All bounds of this list, in the order of their declaration.
        pub(super) const $all: &[Limit] = &[$($name),+];
    };
}

pub(super) use limits;

/// Joins two lists of bounds.
pub(super) const fn joined<const COUNT: usize>(one: &[Limit], two: &[Limit]) -> [Limit; COUNT] {
    assert!(one.len() + two.len() == COUNT, "the count is that of both");
    let mut all = [one[0]; COUNT];
    let mut at = 0;
    while at < COUNT {
        all[at] = if at < one.len() { one[at] } else { two[at - one.len()] };
        at += 1;
    }
    all
}
