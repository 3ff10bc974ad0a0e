//! `attributes!`, which declares attributes of an entity together with their readers.
//!
//! A row has the documentation as a doc comment, who may see the attribute (`own`, `everyone` or `operators`), its name and
//! type, its settings (the methods of [`Attribute`](crate::graph::registry::Attribute)), and its reader:
//!
//! - `|view, key, params| …` gets the view, what `find` returned, and the parameters.
//! - `|record| …` gets what the function after `by` passes on, if the entity still exists.
//! - Without a reader, a caller provides the attribute, or the answer of a mutation contains it.

/// Adds attributes to an entity.
macro_rules! attributes {
    ($entity:expr; $($rows:tt)+) => { attributes!($entity, by none; $($rows)+) };
    ($entity:expr, by $by:ident; $(
        $(#[doc = $doc:literal])+
        $seen_by:ident $name:literal: $kind:expr $(, $setting:ident $(($argument:expr))?)*
        $(=> |$($given:pat_param),+| $value:expr)?;
    )+) => {{
        let entity = $entity;
        $(let entity = {
            // Each line of a doc comment begins with a space, which separates the lines when they are joined.
            let attribute = $seen_by($name, $kind).doc(concat!($($doc),+).trim_ascii())$(.$setting($($argument)?))*;
            attributes!(@add entity, attribute, $by $(, |$($given),+| $value)?)
        };)+
        entity
    }};
    (@add $entity:ident, $attribute:ident, $by:ident) => { $entity.attribute($attribute) };
    (@add $entity:ident, $attribute:ident, $by:ident,
        |$view:pat_param, $key:pat_param, $params:pat_param| $value:expr) => {
        $entity.reads($attribute, |$view, $key, $params| $value)
    };
    (@add $entity:ident, $attribute:ident, $by:ident, |$($record:pat_param),+| $value:expr) => {
        $entity.reads($attribute, |view, key, _| $by(view, key, |$($record),+| $value))
    };
}
pub(super) use attributes;
