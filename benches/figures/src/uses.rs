//! Which file names what of which other file.
//!
//! Lives here: the edges between files, from the `use` declarations and from the paths in the code, macro calls included. An edge
//! leads to the file that declares the item, not to the module that re-exports it. No edge are: a `mod` declaration; a re-export
//! (`pub use`, `pub(crate) use`), which passes a name on; what a module names of the modules within it, since it is their root;
//! and the call of a method, which names no file.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::scope::Scope;
use crate::source::{Source, is_for_tests};
use crate::token::{Kind, Token};

/// The names that one file has of another, each with the first line where it stands.
pub(crate) type Names = BTreeMap<String, usize>;

/// From file to file, by index.
pub(crate) type Edges = BTreeMap<(usize, usize), Names>;

/// All edges between the files of a crate.
pub(crate) fn edges(sources: &[Source], scope: &Scope) -> Edges {
    let mut edges = Edges::new();
    for module in 0..scope.modules.len() {
        for import in scope.modules[module].imports.iter().filter(|import| !import.is_reexport) {
            add(&mut edges, scope, module, &import.path, import.line);
        }
    }
    for source in sources {
        let mut places = Places { scope, inline: Vec::new(), uses: Vec::new(), path: source.module.clone() };
        places.visit_file(&source.ast);
        for (path, token) in paths(source, &places.uses) {
            let inner = places.inline.iter().rfind(|(bytes, _)| bytes.contains(&token.bytes.start));
            let module = inner.map(|(_, module)| *module).or_else(|| scope.find(&source.module));
            if let Some(module) = module {
                add(&mut edges, scope, module, &path, source.starts.line(token.bytes.start));
            }
        }
    }
    edges
}

fn add(edges: &mut Edges, scope: &Scope, module: usize, path: &[String], line: usize) {
    let Some(place) = scope.resolve(module, path) else { return };
    let Some(item) = place.item else { return };
    let (from, to) = (&scope.modules[module], &scope.modules[place.module]);
    let is_root = to.path.starts_with(&from.path);
    let (from, to) = (from.file, to.file);
    if from != to && !is_root {
        let first = edges.entry((from, to)).or_default().entry(item).or_insert(line);
        *first = line.min(*first);
    }
}

/// The bytes of inline modules, outer ones first, and of each `use`.
struct Places<'a> {
    scope: &'a Scope,
    inline: Vec<(Range<usize>, usize)>,
    uses: Vec<Range<usize>>,
    path: Vec<String>,
}

impl<'ast> Visit<'ast> for Places<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.path.push(item.ident.to_string());
        if let (Some(module), true) = (self.scope.find(&self.path), item.content.is_some()) {
            self.inline.push((item.span().byte_range(), module));
        }
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
        self.path.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.uses.push(item.use_token.span.byte_range());
    }
}

/// The paths in the code of a file, `use` declarations left out.
fn paths<'a>(source: &'a Source, uses: &[Range<usize>]) -> Vec<(Vec<String>, &'a Token)> {
    let code: Vec<&Token> = source.tokens.iter().filter(|token| token.kind != Kind::Doc).collect();
    let word = |at: usize| code.get(at).map_or("", |token| source.word(token));
    let joined = |at: usize| word(at) == ":" && word(at + 1) == ":";
    let starts: BTreeSet<usize> = uses.iter().map(|bytes| bytes.start).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let token = code[at];
        if starts.contains(&token.bytes.start) {
            while at < code.len() && word(at) != ";" {
                at += 1;
            }
            continue;
        }
        let before = at.checked_sub(1).map_or("", word);
        let follows_path = at >= 2 && joined(at - 2);
        if token.kind != Kind::Word || before == "." || follows_path {
            at += 1;
            continue;
        }
        let mut path = vec![word(at).to_owned()];
        at += 1;
        while joined(at) && code.get(at + 2).is_some_and(|token| token.kind == Kind::Word) {
            path.push(word(at + 2).to_owned());
            at += 3;
        }
        let declares = ["fn", "let", "mod", "'", "mut", "ref"].contains(&before);
        if path.len() > 1 || (!declares && names_an_item(&path[0], word(at))) {
            found.push((path, token));
        }
    }
    found
}

/// Whether a single word is likely an item rather than a variable: a type, a constant or a call.
fn names_an_item(name: &str, next: &str) -> bool {
    name.starts_with(char::is_uppercase) || next == "("
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&[&str]; 4] = [&["crate"], &["crate", "a"], &["crate", "a", "b"], &["crate", "c"]];

    /// The edges between the files `crate`, `crate::a`, `crate::a::b` and `crate::c` as `from > to name:line ..`.
    fn check(texts: [&str; 3], expected: &[&str]) {
        let texts = ["mod a;\nmod c;", texts[0], texts[1], texts[2]];
        let parse =
            |(module, text): (&[&str], &str)| Source::parse("a.rs", module, text).expect("a sample parses");
        let sources: Vec<Source> = FILES.into_iter().zip(texts).map(parse).collect();
        let scope = Scope::of(&sources);
        let name = |file: usize| FILES[file][FILES[file].len() - 1];
        let text = |((from, to), names): (&(usize, usize), &Names)| {
            let names: Vec<String> = names.iter().map(|(name, line)| format!("{name}:{line}")).collect();
            format!("{} > {} {}", name(*from), name(*to), names.join(" "))
        };
        let found: Vec<String> = edges(&sources, &scope).iter().map(text).collect();
        assert_eq!(found, expected, "{texts:?}");
    }

    #[test]
    fn a_use_leads_to_the_file_that_declares() {
        check(["mod b;\nstruct A;", "use crate::a::A;", ""], &["b > a A:1"]);
        check(["mod b;\nstruct A;", "use super::{A as B, self as c};", ""], &["b > a A:1"]);
        check(["mod b;\npub(crate) use b::B;", "pub struct B;", "use super::a::B;"], &["c > b B:1"]);
        check(["mod b;\npub use b::*;", "pub struct B;", "use crate::a::*;\nfn f() -> B {}"], &["c > b B:2"]);
        check(
            ["mod b;\nuse std::fmt;", "use ::std::io;", "use crate::a;\nuse crate::a::b::{self as d};"],
            &[],
        );
    }

    #[test]
    fn a_path_in_the_code_is_an_edge() {
        let (a, b) = ("mod b;\npub use b::B;", "pub fn g() {}\npub enum B { C }");
        check([a, b, "use crate::a::b;\nfn f() { b::g() }"], &["c > b g:2"]);
        check([a, b, "fn f() { vec![crate::a::b::g()] }"], &["c > b g:1"]);
        check([a, b, "fn f(x: crate::a::B) {}"], &["c > b B:1"]);
        check([a, b, "pub(crate) use crate::a::B;"], &[]);
        check([a, b, "pub(crate) use crate::a::B;\nfn f() { B::C }"], &["c > b B:2"]);
        check([a, b, "const A: &str = \"crate::a::b::g\"; // crate::a::b::g"], &[]);
    }

    #[test]
    fn what_macros_declare_is_an_edge_to_their_module() {
        check(["mod b;", "names! { Made }", "use super::a::b::Made;"], &["c > b Made:1"]);
    }

    #[test]
    fn methods_variables_and_tests_are_no_edges() {
        check(["mod b;", "pub fn g() {}", "pub use crate::a::b::g;\nfn f(g: u8) { x.g(); g }"], &[]);
        let tests = "#[cfg(test)]\nmod tests { use crate::a::f; fn g() { crate::a::f() } }";
        check(["mod b;\npub(crate) fn f() {}", tests, "#[cfg(test)]\nuse crate::a::f;"], &[]);
    }

    #[test]
    fn a_root_may_name_what_is_within() {
        check(["mod b;\nfn f() { b::g() }", "pub fn g() {}", ""], &[]);
        check(["mod b;\nfn f() { b::g() }", "pub fn g() { super::f() }", ""], &["b > a f:1"]);
    }

    #[test]
    fn an_inline_module_has_names_of_its_own() {
        let inline = "mod d { fn g() { super::super::a::h(); i() } }\nfn i() {}";
        check(["mod b;\npub fn h() {}", "use crate::c::d::g;", inline], &["b > c g:1", "c > a h:1"]);
    }
}
