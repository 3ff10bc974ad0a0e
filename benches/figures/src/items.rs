//! Public items: how many are declared `pub`, and how many of them somebody outside the crate can name.
//!
//! Counted are `pub` functions, methods, structs, enums, unions, traits, types, constants, statics, modules and named fields.
//! Not counted are variants and items of traits, which come with their type, associated constants, fields of tuples and
//! re-exports. `pub(crate)` and its like are not public, and macros are not expanded.
//!
//! Reachable is what can be named from the root of the library through public modules and re-exports, without
//! `#[doc(hidden)]`; a method or a field is reachable where its type is. A type that only stands in a signature is not.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{Item, Type, Visibility};

use crate::scope::{Place, Scope, declared, is_hidden, is_public};
use crate::source::{Source, is_for_tests};

/// The public items of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Items {
    pub(crate) declared: usize,
    pub(crate) reachable: usize,
}

/// What can be named from outside, and so decides what is reachable.
pub(crate) struct Reachable(BTreeSet<Place>);

impl Reachable {
    /// Walks from the root of the library.
    pub(crate) fn of(scope: &Scope) -> Reachable {
        let mut reachable = Reachable(BTreeSet::new());
        if let Some(root) = scope.find(&["crate".to_owned()]) {
            reachable.enter(scope, root);
        }
        reachable
    }

    fn enter(&mut self, scope: &Scope, at: usize) {
        if !self.0.insert(Place { module: at, item: None }) {
            return;
        }
        let module = &scope.modules[at];
        for child in module.children.values().filter(|child| scope.modules[**child].is_public) {
            self.enter(scope, *child);
        }
        for (name, _) in module.items.iter().filter(|(_, is_public)| **is_public) {
            self.0.insert(Place { module: at, item: Some(name.clone()) });
        }
        for import in module.imports.iter().filter(|import| import.is_public) {
            match scope.resolve(at, &import.path) {
                // A glob of a private module, or a private module under another name.
                Some(Place { module, item: None }) => self.enter(scope, module),
                Some(place) => _ = self.0.insert(place),
                None => {}
            }
        }
    }

    fn has(&self, module: usize, item: Option<&str>) -> bool {
        self.0.contains(&Place { module, item: item.map(str::to_owned) })
    }
}

/// Counts the public items of a file.
pub(crate) fn count_items(source: &Source, scope: &Scope, reachable: &Reachable) -> Items {
    let module = scope.find(&source.module);
    let mut walk = Walk { scope, reachable, module, type_is_reachable: false, items: Items::default() };
    walk.visit_file(&source.ast);
    walk.items
}

struct Walk<'a> {
    scope: &'a Scope,
    reachable: &'a Reachable,
    /// The module around this place; `None` within a function, where nothing is reachable.
    module: Option<usize>,
    /// Whether the type that an `impl` or a struct is about can be named outside.
    type_is_reachable: bool,
    items: Items,
}

impl Walk<'_> {
    fn count(&mut self, visibility: &Visibility, is_reachable: bool) {
        if is_public(visibility) {
            self.items.declared += 1;
            self.items.reachable += usize::from(is_reachable);
        }
    }

    fn can_be_named(&self, name: &str) -> bool {
        self.module.is_some_and(|module| self.reachable.has(module, Some(name)))
    }

    fn self_type_is_reachable(&self, item: &syn::ItemImpl) -> bool {
        let (Some(module), Type::Path(path)) = (self.module, &*item.self_ty) else { return false };
        let path: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let place = self.scope.resolve(module, &path);
        place.is_some_and(|place| self.reachable.0.contains(&place))
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (outer_type, outer_module) = (self.type_is_reachable, self.module);
        match item {
            Item::Mod(item) if is_for_tests(&item.attrs) => return,
            Item::Mod(item) => {
                let name = item.ident.to_string();
                let child =
                    self.module.and_then(|module| self.scope.modules[module].children.get(&name).copied());
                self.count(&item.vis, child.is_some_and(|child| self.reachable.has(child, None)));
                self.module = child;
            }
            Item::Impl(item) if is_for_tests(&item.attrs) => return,
            Item::Impl(item) => self.type_is_reachable = self.self_type_is_reachable(item),
            _ => {
                let Some((name, visibility, attributes)) = declared(item) else { return };
                if is_for_tests(attributes) {
                    return;
                }
                self.type_is_reachable = self.can_be_named(&name);
                self.count(visibility, self.type_is_reachable);
            }
        }
        visit::visit_item(self, item);
        (self.type_is_reachable, self.module) = (outer_type, outer_module);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let module = self.module.take();
        visit::visit_block(self, block);
        self.module = module;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            self.count(&item.vis, self.type_is_reachable && !is_hidden(&item.attrs));
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if field.ident.is_some() && !is_for_tests(&field.attrs) {
            self.count(&field.vis, self.type_is_reachable && !is_hidden(&field.attrs));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&[&str], &str)], declared: usize, reachable: usize) {
        let parse =
            |(module, text): &(&[&str], &str)| Source::parse("a.rs", module, text).expect("a sample parses");
        let sources: Vec<Source> = files.iter().map(parse).collect();
        let scope = Scope::of(&sources);
        let named = Reachable::of(&scope);
        let counts: Vec<Items> = sources.iter().map(|source| count_items(source, &scope, &named)).collect();
        let sum = |of: fn(&Items) -> usize| counts.iter().map(of).sum::<usize>();
        assert_eq!(
            (sum(|items| items.declared), sum(|items| items.reachable)),
            (declared, reachable),
            "{files:?}"
        );
    }

    const LIB: &[&str] = &["crate"];
    const INNER: &[&str] = &["crate", "inner"];

    #[test]
    fn public_is_pub_and_nothing_less() {
        check(&[(LIB, "pub fn a() {}\npub(crate) fn b() {}\npub(super) fn c() {}\nfn d() {}")], 1, 1);
        check(&[(LIB, "#[cfg(test)]\nmod tests { pub fn a() {} }\n#[cfg(test)] pub fn b() {}")], 0, 0);
        check(&[(LIB, "fn a() { pub struct B { pub c: u8 } }")], 2, 0);
    }

    #[test]
    fn methods_and_fields_count_and_variants_do_not() {
        let text = "pub struct A { pub b: u8, c: u8 }\npub struct D(pub u8);\n\
            impl A { pub fn e(&self) {} fn f(&self) {} pub const G: u8 = 1; }\n\
            pub enum H { I { j: u8 } }\npub trait K { fn l(&self); }\nimpl K for A { fn l(&self) {} }";
        check(&[(LIB, text)], 6, 6);
    }

    #[test]
    fn a_private_module_hides_what_is_not_exported() {
        let inner = "pub struct A { pub b: u8 }\nimpl A { pub fn c() {} }\npub fn d() {}";
        check(&[(LIB, "mod inner;"), (INNER, inner)], 4, 0);
        check(&[(LIB, "pub mod inner;"), (INNER, inner)], 5, 5);
        check(&[(LIB, "mod inner;\npub use inner::A;"), (INNER, inner)], 4, 3);
        check(&[(LIB, "mod inner;\npub(crate) use inner::A;"), (INNER, inner)], 4, 0);
        check(&[(LIB, "mod inner;\npub use inner::*;"), (INNER, inner)], 4, 4);
        check(&[(LIB, "#[doc(hidden)]\npub mod inner;"), (INNER, inner)], 5, 0);
        check(&[(LIB, "mod inner;\npub use crate::inner::{A as B, d};"), (INNER, inner)], 4, 4);
    }

    #[test]
    fn a_method_is_reachable_with_its_type_wherever_it_stands() {
        let inner = "use super::A;\nimpl A { pub fn b() {} }\nimpl super::A { pub fn c() {} }\n\
            pub struct D;\nimpl D { pub fn e() {} }";
        check(&[(LIB, "pub struct A;\nmod inner;"), (INNER, inner)], 5, 3);
        check(&[(LIB, "pub struct A;\nimpl A {\n#[doc(hidden)]\npub fn b() {} }")], 2, 1);
    }
}
