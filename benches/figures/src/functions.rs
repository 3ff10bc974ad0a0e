//! Functions: how long they are, and how many parameters they have.
//!
//! Lives here: functions and methods with a body, outside the tests. A function's lines go from its signature to its closing
//! bracket, attributes and docs left out, and blank lines and comments included. Invariant: a line belongs to one function: those
//! of a function within another count for the inner one alone.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::source::{Source, is_for_tests};

/// A function outside the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) lines: usize,
    /// The receiver included.
    pub(crate) parameters: usize,
}

/// All functions of a file, inner ones before those around them.
pub(crate) fn functions(source: &Source) -> Vec<Function> {
    let mut walk = Walk { source, found: Vec::new(), inner: vec![0] };
    walk.visit_file(&source.ast);
    walk.found
}

struct Walk<'a> {
    source: &'a Source,
    found: Vec<Function>,
    /// Of each function around this place: the lines of those within.
    inner: Vec<usize>,
}

impl Walk<'_> {
    fn meet(&mut self, signature: &syn::Signature, body: &syn::Block, walk: impl FnOnce(&mut Self)) {
        self.inner.push(0);
        walk(self);
        let inner = self.inner.pop().unwrap_or_default();
        let bytes = signature.span().byte_range().start..body.span().byte_range().end;
        let whole = self.source.starts.lines(&bytes).len();
        if let Some(around) = self.inner.last_mut() {
            *around += whole;
        }
        let (name, parameters) = (signature.ident.to_string(), signature.inputs.len());
        self.found.push(Function { name, lines: whole - inner.min(whole), parameters });
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let start = item.span().byte_range().start;
        if !self.source.tests.iter().any(|test| test.contains(&start)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.meet(&item.sig, &item.block, |walk| visit::visit_item_fn(walk, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            self.meet(&item.sig, &item.block, |walk| visit::visit_impl_item_fn(walk, item));
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.meet(&item.sig, body, |walk| visit::visit_trait_item_fn(walk, item));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, usize, usize)]) {
        let source = Source::parse("sample.rs", &["crate"], text).expect("a sample parses");
        let found = functions(&source);
        let found: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.lines, one.parameters)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_function_goes_from_its_signature_to_its_bracket() {
        check(
            "/// Doc.\n#[must_use]\npub fn a(b: u8, c: u8) -> u8\n{\n\n    // why\n    b\n}",
            &[("a", 6, 2)],
        );
        check("fn a() {}", &[("a", 1, 0)]);
    }

    #[test]
    fn an_inner_function_counts_once() {
        check("fn a() {\n    fn b() {\n        c\n    }\n    b()\n}", &[("b", 3, 0), ("a", 3, 0)]);
        check("fn a() {\n    let b = || {\n        c\n    };\n}", &[("a", 5, 0)]);
    }

    #[test]
    fn methods_count_and_declarations_and_tests_do_not() {
        check("impl A {\n    fn b(&self, c: u8) {\n    }\n}", &[("b", 2, 2)]);
        check("trait A {\n    fn b(&self);\n    fn c(&self) {}\n}", &[("c", 1, 1)]);
        check("#[test]\nfn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\nfn c() {}", &[("c", 1, 0)]);
    }
}
