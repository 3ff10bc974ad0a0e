//! The files of a crate, found the way the compiler finds them: from its root along its `mod` declarations.
//!
//! Lives here: which file is which module, and which bytes of it are tests. Features are ignored: a module behind one counts.
//! Invariant: a file that no module declares is an error, so that no file is left out without notice.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Item};

use crate::token::{self, Kind, LineStarts, Token};

/// One file outside the tests.
pub(crate) struct Source {
    /// From the root of the repository: `src/engine/state.rs`.
    pub(crate) path: String,
    /// `["crate", "engine", "state"]`; the root of the program is `["main"]`, those of the checker are in [`CHECKER`].
    pub(crate) module: Vec<String>,
    pub(crate) text: String,
    pub(crate) ast: syn::File,
    /// Without those of the tests.
    pub(crate) tokens: Vec<Token>,
    /// Without those of the tests.
    pub(crate) comments: Vec<Range<usize>>,
    pub(crate) starts: LineStarts,
    /// The bytes of items that only tests are built with.
    pub(crate) tests: Vec<Range<usize>>,
}

impl Source {
    /// A file's text as a module.
    pub(crate) fn parse(path: &str, module: &[&str], text: &str) -> Result<Source, String> {
        let failed = |why: String| format!("{path}: {why}");
        let stream: TokenStream = text.parse().map_err(|error| failed(format!("{error}")))?;
        let mut tokens = token::tokens(text, &stream);
        let mut comments = token::comments(text, &tokens);
        let ast: syn::File = syn::parse2(stream).map_err(|error| failed(error.to_string()))?;
        let mut tests = TestItems::default();
        tests.visit_file(&ast);
        let tests = tests.0;
        let is_test = |bytes: &Range<usize>| tests.iter().any(|test| test.contains(&bytes.start));
        tokens.retain(|token| !is_test(&token.bytes));
        comments.retain(|comment| !is_test(comment));
        let module = module.iter().map(|name| (*name).to_owned()).collect();
        let starts = LineStarts::of(text);
        Ok(Source {
            path: path.to_owned(),
            module,
            text: text.to_owned(),
            ast,
            tokens,
            comments,
            starts,
            tests,
        })
    }

    /// The top-level module that the file belongs to; `root` for the roots themselves. The checker is a layer as a whole.
    pub(crate) fn layer(&self) -> &str {
        if self.path.starts_with(CHECKER) {
            return CHECKER;
        }
        self.module.get(1).map_or("root", String::as_str)
    }

    /// The text of a token.
    pub(crate) fn word(&self, token: &Token) -> &str {
        &self.text[token.bytes.clone()]
    }

    /// The text of each token, doc comments left out.
    pub(crate) fn words(&self) -> Vec<&str> {
        let code = self.tokens.iter().filter(|token| token.kind != Kind::Doc);
        code.map(|token| self.word(token)).collect()
    }
}

/// The crate that judges histories: its folder, its layer and the root of its modules.
pub(crate) const CHECKER: &str = "checker";

/// The root file of each library and program that is measured, and the first name of its modules.
const ROOTS: [(&str, &str); 4] = [
    ("src/lib.rs", "crate"),
    ("src/main.rs", "main"),
    ("checker/src/lib.rs", CHECKER),
    ("checker/src/main.rs", "check_history"),
];

/// All files of the libraries and programs under `src` and `checker/src`, in the order of their paths.
pub(crate) fn read_crate(root: &Path) -> Result<Vec<Source>, String> {
    let (sources, seen) = load_crate(&|path| fs::read_to_string(root.join(path)).ok())?;
    let mut all = Vec::new();
    for folder in ["src", "checker/src"] {
        rust_files(root, Path::new(folder), &mut all)?;
    }
    match all.iter().find(|path| !seen.contains(*path)) {
        Some(path) => Err(format!("{}: no module declares this file", path.display())),
        None => Ok(sources),
    }
}

/// The files outside the tests, and the paths of all.
fn load_crate(read: Read<'_>) -> Result<(Vec<Source>, BTreeSet<PathBuf>), String> {
    let mut loader = Loader { read, sources: Vec::new(), seen: BTreeSet::new() };
    for (file, module) in ROOTS {
        if read(Path::new(file)).is_some() {
            loader.load(Path::new(file), &[module], true, false)?;
        }
    }
    loader.sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((loader.sources, loader.seen))
}

fn rust_files(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries =
        fs::read_dir(root.join(folder)).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            rust_files(root, &path, found)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// The text of a file; `None` if there is none.
type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

struct Loader<'a> {
    read: Read<'a>,
    sources: Vec<Source>,
    seen: BTreeSet<PathBuf>,
}

impl Loader<'_> {
    /// Reads a file and the files of its modules. `owns_folder`: it is a root or a `mod` file, whose modules lie beside it.
    fn load(&mut self, file: &Path, module: &[&str], owns_folder: bool, is_test: bool) -> Result<(), String> {
        let text = (self.read)(file).ok_or_else(|| format!("{}: cannot be read", file.display()))?;
        let path = file.to_string_lossy().replace('\\', "/");
        let source = Source::parse(&path, module, &text)?;
        self.seen.insert(file.to_owned());
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let inner = if owns_folder { folder.clone() } else { file.with_extension("") };
        for Declared { names, path, is_test: item_is_test } in declared_modules(&source.ast.items, false) {
            let module: Vec<&str> = module.iter().copied().chain(names.iter().map(String::as_str)).collect();
            let is_test = is_test || item_is_test;
            if let Some(path) = path {
                // Next to the declaring file; within an inline module, in the folder of that.
                let folder = if names.len() == 1 { folder.clone() } else { inner_folder(&inner, &names) };
                self.load(&folder.join(path), &module, true, is_test)?;
                continue;
            }
            let folder = inner_folder(&inner, &names);
            let name = names.last().map_or("", String::as_str);
            let flat = folder.join(format!("{name}.rs"));
            if (self.read)(&flat).is_some() {
                self.load(&flat, &module, false, is_test)?;
            } else {
                self.load(&folder.join(name).join("mod.rs"), &module, true, is_test)?;
            }
        }
        if !is_test {
            self.sources.push(source);
        }
        Ok(())
    }
}

fn inner_folder(inner: &Path, names: &[String]) -> PathBuf {
    names[..names.len() - 1].iter().fold(inner.to_owned(), |folder, name| folder.join(name))
}

/// A `mod name;` of a file.
struct Declared {
    /// More than one name where it stands in inline modules.
    names: Vec<String>,
    /// Its `#[path = ".."]`.
    path: Option<String>,
    is_test: bool,
}

fn declared_modules(items: &[Item], is_test: bool) -> Vec<Declared> {
    let mut found = Vec::new();
    for item in items {
        let Item::Mod(module) = item else { continue };
        let name = module.ident.to_string();
        let is_test = is_test || is_for_tests(&module.attrs);
        let Some((_, items)) = &module.content else {
            found.push(Declared { names: vec![name], path: path_attribute(&module.attrs), is_test });
            continue;
        };
        for mut declared in declared_modules(items, is_test) {
            declared.names.insert(0, name.clone());
            found.push(declared);
        }
    }
    found
}

fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("path"))?;
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) = &pair.value else { return None };
    Some(path.value())
}

/// Whether an item is built for tests only: `#[test]`, `#[cfg(test)]` or `#[cfg(all(test, ..))]`.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Meta>().is_ok_and(|condition| needs_test(&condition)))
    })
}

fn needs_test(condition: &syn::Meta) -> bool {
    let syn::Meta::List(list) = condition else { return condition.path().is_ident("test") };
    let inner =
        list.parse_args_with(syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated);
    let inner = inner.unwrap_or_default();
    (list.path.is_ident("all") && inner.iter().any(needs_test))
        || (list.path.is_ident("any") && !inner.is_empty() && inner.iter().all(needs_test))
}

/// The bytes of what is built for tests only.
#[derive(Default)]
struct TestItems(Vec<Range<usize>>);

impl TestItems {
    /// Notes the node if it is a test; whether its inside is still to be looked at.
    fn passes(&mut self, attributes: &[Attribute], node: &dyn Fn() -> Range<usize>) -> bool {
        let is_test = is_for_tests(attributes);
        if is_test {
            self.0.push(node());
        }
        !is_test
    }
}

macro_rules! visit_nodes {
    ($($visit:ident: $node:ident),* $(,)?) => {$(
        fn $visit(&mut self, node: &syn::$node) {
            if self.passes(&node.attrs, &|| node.span().byte_range()) {
                visit::$visit(self, node);
            }
        }
    )*};
}

impl Visit<'_> for TestItems {
    visit_nodes! {
        visit_arm: Arm, visit_field: Field, visit_field_value: FieldValue, visit_impl_item_const: ImplItemConst,
        visit_impl_item_fn: ImplItemFn, visit_impl_item_type: ImplItemType, visit_item_const: ItemConst,
        visit_item_enum: ItemEnum, visit_item_fn: ItemFn, visit_item_impl: ItemImpl, visit_item_macro: ItemMacro,
        visit_item_mod: ItemMod, visit_item_static: ItemStatic, visit_item_struct: ItemStruct,
        visit_item_trait: ItemTrait, visit_item_type: ItemType, visit_item_use: ItemUse, visit_local: Local,
        visit_stmt_macro: StmtMacro, visit_trait_item_const: TraitItemConst, visit_trait_item_fn: TraitItemFn,
        visit_variant: Variant,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files that a crate of some files consists of, as `path module`; and those among them that are tests alone.
    fn check(files: &[(&str, &str)], expected: &[&str], tests: &[&str]) {
        let read = |path: &Path| {
            let file = files.iter().find(|(name, _)| Path::new(name) == path)?;
            Some(file.1.to_owned())
        };
        let (sources, seen) = load_crate(&read).expect("samples parse");
        let found: Vec<String> =
            sources.iter().map(|source| format!("{} {}", source.path, source.module.join("::"))).collect();
        assert_eq!(found, expected, "{files:?}");
        let is_source = |path: &Path| sources.iter().any(|source| Path::new(&source.path) == path);
        let left_out: Vec<&PathBuf> = seen.iter().filter(|path| !is_source(path)).collect();
        assert_eq!(left_out, tests.iter().map(Path::new).collect::<Vec<_>>(), "{files:?}");
    }

    #[test]
    fn files_are_found_along_their_modules() {
        let files = [
            ("src/lib.rs", "mod a;\npub mod b;"),
            ("src/a.rs", "mod c;"),
            ("src/a/c.rs", ""),
            ("src/b/mod.rs", "mod d;"),
            ("src/b/d.rs", ""),
            ("src/main.rs", "fn main() {}"),
            ("checker/src/lib.rs", "mod e;"),
            ("checker/src/e.rs", ""),
        ];
        let expected = [
            "checker/src/e.rs checker::e",
            "checker/src/lib.rs checker",
            "src/a.rs crate::a",
            "src/a/c.rs crate::a::c",
            "src/b/d.rs crate::b::d",
            "src/b/mod.rs crate::b",
            "src/lib.rs crate",
            "src/main.rs main",
        ];
        check(&files, &expected, &[]);
    }

    #[test]
    fn a_path_attribute_names_the_file() {
        let files = [
            ("src/lib.rs", "#[path = \"other/x.rs\"]\nmod a;"),
            ("src/other/x.rs", "mod b;"),
            ("src/other/b.rs", ""),
        ];
        check(&files, &["src/lib.rs crate", "src/other/b.rs crate::a::b", "src/other/x.rs crate::a"], &[]);
    }

    #[test]
    fn an_inline_module_is_a_folder() {
        let files = [("src/lib.rs", "mod a { mod b; }"), ("src/a/b.rs", "")];
        check(&files, &["src/a/b.rs crate::a::b", "src/lib.rs crate"], &[]);
    }

    #[test]
    fn a_file_of_tests_is_left_out_with_all_within() {
        let files = [("src/lib.rs", "#[cfg(test)]\nmod a;"), ("src/a.rs", "mod b;"), ("src/a/b.rs", "")];
        check(&files, &["src/lib.rs crate"], &["src/a/b.rs", "src/a.rs"]);
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let failed = load_crate(&|path| (path == Path::new("src/lib.rs")).then(|| "mod a;".to_owned()));
        assert_eq!(failed.map(|_| ()), Err("src/a/mod.rs: cannot be read".to_owned()));
    }

    #[test]
    fn only_conditions_that_need_a_test_are_tests() {
        let check = |condition: &str, expected: bool| {
            let item: syn::ItemFn =
                syn::parse_str(&format!("{condition} fn a() {{}}")).expect("a sample parses");
            assert_eq!(is_for_tests(&item.attrs), expected, "{condition}");
        };
        check("#[test]", true);
        check("#[cfg(test)]", true);
        check("#[cfg(all(unix, test))]", true);
        check("#[cfg(any(test, feature = \"testkit\"))]", false);
        check("#[cfg(not(test))]", false);
        check("#[cfg(feature = \"test\")]", false);
        check("#[cfg_attr(test, derive(Debug))]", false);
    }
}
