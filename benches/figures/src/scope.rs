//! Names: which module declares what, what it imports, and where a path leads.
//!
//! Lives here: the modules of the crate and the resolution of paths between them, by name as the compiler does it, re-exports and
//! globs included. What macros declare is not seen: a path to such an item leads to the module that it names.
//! Invariant: resolution ends; a chain of imports longer than [`DEPTH`] leads nowhere.

use std::collections::BTreeMap;

use syn::{Item, UseTree, Visibility};

use crate::source::{Source, is_for_tests};

/// How many imports a path may lead through.
const DEPTH: usize = 16;

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The index of the module.
    pub(crate) module: usize,
    /// The item in it; `None` is the module itself.
    pub(crate) item: Option<String>,
}

/// A name that a module has by `use`.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    /// The name in this module; `*` for all of another one.
    pub(crate) name: String,
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    /// With any visibility beyond this module, so that it passes a name on.
    pub(crate) is_reexport: bool,
    pub(crate) is_public: bool,
}

/// A module, in a file of its own or inline.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The index of its file.
    pub(crate) file: usize,
    pub(crate) path: Vec<String>,
    pub(crate) children: BTreeMap<String, usize>,
    /// Whether it is `pub` and shown in the docs.
    pub(crate) is_public: bool,
    /// Each item that is declared in it, and whether it is `pub` and shown in the docs.
    pub(crate) items: BTreeMap<String, bool>,
    pub(crate) imports: Vec<Import>,
}

/// All modules of a crate.
pub(crate) struct Scope {
    pub(crate) modules: Vec<Module>,
    by_path: BTreeMap<Vec<String>, usize>,
}

impl Scope {
    pub(crate) fn of(sources: &[Source]) -> Scope {
        let mut scope = Scope { modules: Vec::new(), by_path: BTreeMap::new() };
        for (file, source) in sources.iter().enumerate() {
            scope.declare(source, file, &source.module, &source.ast.items);
        }
        for at in 0..scope.modules.len() {
            let path = scope.modules[at].path.clone();
            if let Some(parent) = path.split_last().and_then(|(_, around)| scope.by_path.get(around).copied())
            {
                scope.modules[parent].children.insert(path[path.len() - 1].clone(), at);
            }
        }
        scope.set_visibility(sources);
        scope
    }

    pub(crate) fn find(&self, path: &[String]) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    fn declare(&mut self, source: &Source, file: usize, path: &[String], items: &[Item]) {
        let mut module = Module { file, path: path.to_vec(), ..Module::default() };
        let mut inline = Vec::new();
        for item in items {
            match item {
                Item::Use(item) if !is_for_tests(&item.attrs) => {
                    add_imports(source, item, &mut module.imports)
                }
                Item::Mod(item) if !is_for_tests(&item.attrs) => {
                    if let Some((_, items)) = &item.content {
                        inline.push((item.ident.to_string(), items));
                    }
                }
                _ => {
                    if let Some((name, visibility, attributes)) = declared(item)
                        && !is_for_tests(attributes)
                    {
                        let is_public = is_public(visibility) && !is_hidden(attributes);
                        *module.items.entry(name).or_default() |= is_public;
                    }
                }
            }
        }
        self.by_path.insert(path.to_vec(), self.modules.len());
        self.modules.push(module);
        for (name, items) in inline {
            let path: Vec<String> = path.iter().cloned().chain([name]).collect();
            self.declare(source, file, &path, items);
        }
    }

    fn set_visibility(&mut self, sources: &[Source]) {
        for source in sources {
            self.set_visibility_of(&source.module, &source.ast.items);
        }
    }

    fn set_visibility_of(&mut self, path: &[String], items: &[Item]) {
        for item in items {
            let Item::Mod(item) = item else { continue };
            let path: Vec<String> = path.iter().cloned().chain([item.ident.to_string()]).collect();
            if let Some(at) = self.find(&path) {
                self.modules[at].is_public = is_public(&item.vis) && !is_hidden(&item.attrs);
            }
            if let Some((_, items)) = &item.content {
                self.set_visibility_of(&path, items);
            }
        }
    }

    /// Where a path leads that is written in a module; `None` if it leaves the crate.
    pub(crate) fn resolve(&self, from: usize, path: &[String]) -> Option<Place> {
        self.resolve_within(from, path, DEPTH)
    }

    fn resolve_within(&self, from: usize, path: &[String], depth: usize) -> Option<Place> {
        let (first, mut rest) = path.split_first()?;
        let mut place = match first.as_str() {
            "crate" => self.module(self.find(&self.modules[from].path[..1])?),
            "self" => self.module(from),
            "super" => self.module(self.parent(from)?),
            // The program names the library by the name of its package.
            "reveille" if !self.modules[from].children.contains_key(first) => {
                self.module(self.find(&["crate".to_owned()])?)
            }
            _ => self.look_up(from, first, !rest.is_empty(), depth)?,
        };
        while let (None, Some((name, after))) = (&place.item, rest.split_first()) {
            rest = after;
            place = if name == "super" {
                self.module(self.parent(place.module)?)
            } else {
                let unseen = Place { module: place.module, item: Some(name.clone()) };
                self.look_up(place.module, name, !rest.is_empty(), depth).unwrap_or(unseen)
            };
        }
        Some(place)
    }

    fn module(&self, module: usize) -> Place {
        Place { module, item: None }
    }

    fn parent(&self, module: usize) -> Option<usize> {
        let path = &self.modules[module].path;
        self.find(&path[..path.len() - 1])
    }

    /// What a name is in a module. `leads_on`: more of the path follows, so that a module is meant rather than a function.
    fn look_up(&self, module: usize, name: &str, leads_on: bool, depth: usize) -> Option<Place> {
        let depth = depth.checked_sub(1)?;
        let here = &self.modules[module];
        let child = here.children.get(name).map(|child| self.module(*child));
        let item = here.items.contains_key(name).then(|| Place { module, item: Some(name.to_owned()) });
        let import = || {
            let mut named = here.imports.iter().filter(|import| import.name == name);
            named.find_map(|import| self.resolve_within(module, &import.path, depth))
        };
        let found = if leads_on { child.or(item).or_else(import) } else { item.or_else(import).or(child) };
        found.or_else(|| {
            let mut globs = here.imports.iter().filter(|import| import.name == "*");
            globs.find_map(|glob| {
                let place = self.resolve_within(module, &glob.path, depth)?;
                if place.item.is_some() || place.module == module {
                    return None;
                }
                self.look_up(place.module, name, leads_on, depth)
            })
        })
    }
}

fn add_imports(source: &Source, item: &syn::ItemUse, imports: &mut Vec<Import>) {
    if item.leading_colon.is_some() {
        return;
    }
    let mut leaves = Vec::new();
    flatten(&item.tree, &mut Vec::new(), &mut leaves);
    for (path, name, byte) in leaves {
        let line = source.starts.line(byte);
        let is_reexport = !matches!(item.vis, Visibility::Inherited);
        let is_public = is_public(&item.vis) && !is_hidden(&item.attrs);
        imports.push(Import { name, path, line, is_reexport, is_public });
    }
}

/// The paths of a `use` tree, each with its name here and the byte where it ends.
fn flatten(tree: &UseTree, around: &mut Vec<String>, leaves: &mut Vec<(Vec<String>, String, usize)>) {
    let start = |ident: &syn::Ident| ident.span().byte_range().start;
    match tree {
        UseTree::Path(path) => {
            around.push(path.ident.to_string());
            flatten(&path.tree, around, leaves);
            around.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, around, leaves)),
        UseTree::Glob(glob) => {
            let byte = syn::spanned::Spanned::span(glob).byte_range().start;
            leaves.push((around.clone(), "*".to_owned(), byte));
        }
        UseTree::Name(name) if name.ident == "self" => {
            let here = around.last().cloned().unwrap_or_default();
            leaves.push((around.clone(), here, start(&name.ident)));
        }
        UseTree::Name(name) => {
            let path = around.iter().cloned().chain([name.ident.to_string()]).collect();
            leaves.push((path, name.ident.to_string(), start(&name.ident)));
        }
        UseTree::Rename(rename) => {
            let last = Some(rename.ident.to_string()).filter(|name| name != "self");
            let path = around.iter().cloned().chain(last).collect();
            leaves.push((path, rename.rename.to_string(), start(&rename.ident)));
        }
    }
}

/// `pub` and nothing less: `pub(crate)` and its like are private to the crate.
pub(crate) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Whether the docs leave it out.
pub(crate) fn is_hidden(attributes: &[syn::Attribute]) -> bool {
    let hidden = |attribute: &&syn::Attribute| {
        attribute.path().is_ident("doc")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "hidden")
    };
    attributes.iter().any(|attribute| hidden(&attribute))
}

/// The name, visibility and attributes of an item that has a name.
pub(crate) fn declared(item: &Item) -> Option<(String, &Visibility, &[syn::Attribute])> {
    Some(match item {
        Item::Const(item) => (item.ident.to_string(), &item.vis, &item.attrs),
        Item::Enum(item) => (item.ident.to_string(), &item.vis, &item.attrs),
        Item::Fn(item) => (item.sig.ident.to_string(), &item.vis, &item.attrs),
        Item::Static(item) => (item.ident.to_string(), &item.vis, &item.attrs),
        Item::Struct(item) => (item.ident.to_string(), &item.vis, &item.attrs),
        Item::Trait(item) => (item.ident.to_string(), &item.vis, &item.attrs),
        Item::Type(item) => (item.ident.to_string(), &item.vis, &item.attrs),
        Item::Union(item) => (item.ident.to_string(), &item.vis, &item.attrs),
        _ => return None,
    })
}
