//! All figures of the repository at once.
//!
//! Lives here: what is measured of a file, the sums by layer, and what is measured of the crate as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::{ImplItem, Item, Type};

use crate::clones::{self, Pair};
use crate::cycles::{self, Weights};
use crate::functions::{Function, functions};
use crate::items::{Items, Reachable, count_items};
use crate::lines::{Lines, Words, count_lines, count_words};
use crate::project::{Project, project};
use crate::scope::{Scope, is_public};
use crate::source::{CHECKER, Source, is_for_tests, read_crate};
use crate::uses::{self, Edges};

/// What simulates and judges: the product's figures are also given without it.
const FOR_TESTS: [&str; 2] = ["testkit", CHECKER];

/// Functions longer than this are counted.
const LONG: usize = 60;

/// Functions with more parameters than this are counted.
const PARAMETERS: usize = 5;

/// The figures of a layer, or of several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) lines: Lines,
    pub(crate) words: Words,
    pub(crate) items: Items,
    /// Sorted.
    pub(crate) file_lengths: Vec<usize>,
    /// Sorted.
    pub(crate) function_lengths: Vec<usize>,
    pub(crate) long_functions: usize,
    pub(crate) wide_functions: usize,
}

impl Sums {
    fn add(&mut self, file: &Measured) {
        self.lines.code += file.lines.code;
        self.lines.doc += file.lines.doc;
        self.lines.comment += file.lines.comment;
        self.lines.length += file.lines.length;
        self.words.unwraps += file.words.unwraps;
        self.words.expects += file.words.expects;
        self.words.assertions += file.words.assertions;
        self.items.declared += file.items.declared;
        self.items.reachable += file.items.reachable;
        insert(&mut self.file_lengths, file.lines.length);
        for function in &file.functions {
            insert(&mut self.function_lengths, function.lines);
            self.long_functions += usize::from(function.lines > LONG);
            self.wide_functions += usize::from(function.parameters > PARAMETERS);
        }
    }

    /// Comment lines per hundred lines of code.
    pub(crate) fn comment_share(&self) -> f64 {
        share(self.lines.comment, self.lines.code) * 100.0
    }

    /// Assertions per thousand lines of code.
    pub(crate) fn assertion_share(&self) -> f64 {
        share(self.words.assertions, self.lines.code) * 1000.0
    }
}

fn insert(sorted: &mut Vec<usize>, value: usize) {
    sorted.insert(sorted.partition_point(|other| *other <= value), value);
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The value that so many of a hundred are at or below, of sorted values.
pub(crate) fn percentile(sorted: &[usize], percent: usize) -> usize {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

/// What is measured of one file.
struct Measured {
    lines: Lines,
    words: Words,
    items: Items,
    functions: Vec<Function>,
}

/// Modules of one module that reach each other, each with all that lies within it: at the top level, or where one is a folder.
pub(crate) struct Siblings {
    /// The module that they are in.
    pub(crate) parent: String,
    pub(crate) group: Vec<String>,
    /// From a member to a member; with the names, `file > file: names` to a line.
    pub(crate) back: Vec<(String, String, Vec<String>)>,
}

/// All figures.
pub(crate) struct Report {
    /// The path of each file.
    pub(crate) paths: Vec<String>,
    pub(crate) layers: BTreeMap<String, Sums>,
    pub(crate) all: Sums,
    pub(crate) without_testkit: Sums,
    pub(crate) edges: Edges,
    pub(crate) weights: Weights,
    pub(crate) cycles: Vec<Vec<usize>>,
    pub(crate) siblings: Vec<Siblings>,
    pub(crate) clones: Vec<Pair>,
    pub(crate) handle: Methods,
    /// The folder under `src` with the most files, and how many.
    pub(crate) largest_folder: (String, usize),
    pub(crate) project: Project,
}

impl Report {
    pub(crate) fn files_in_cycles(&self) -> usize {
        self.cycles.iter().map(Vec::len).sum()
    }

    /// Files in cycles of a hundred.
    pub(crate) fn cycle_share(&self) -> f64 {
        share(self.files_in_cycles(), self.paths.len()) * 100.0
    }

    pub(crate) fn layers_in_cycles(&self) -> usize {
        let top = self.siblings.iter().filter(|siblings| siblings.parent == "crate");
        top.map(|siblings| siblings.group.len()).sum()
    }
}

/// Measures the repository.
pub(crate) fn measure(root: &Path) -> Result<Report, String> {
    let sources = read_crate(root)?;
    let scope = Scope::of(&sources);
    let reachable = Reachable::of(&scope);
    let (mut all, mut without_testkit) = (Sums::default(), Sums::default());
    let mut layers: BTreeMap<String, Sums> = BTreeMap::new();
    for source in &sources {
        let file = Measured {
            lines: count_lines(source),
            words: count_words(source),
            // It is not published: what it declares is nobody's interface.
            items: if source.layer() == CHECKER {
                Items::default()
            } else {
                count_items(source, &scope, &reachable)
            },
            functions: functions(source),
        };
        all.add(&file);
        layers.entry(source.layer().to_owned()).or_default().add(&file);
        if !FOR_TESTS.contains(&source.layer()) {
            without_testkit.add(&file);
        }
    }
    let edges = uses::edges(&sources, &scope);
    let weights: Weights = edges.iter().map(|(edge, names)| (*edge, names.len())).collect();
    Ok(Report {
        cycles: cycles::groups(sources.len(), &weights),
        siblings: siblings(&sources, &edges),
        clones: clones::pairs(&sources),
        handle: methods_of(&sources, "Handle"),
        largest_folder: largest_folder(&sources),
        project: project(root)?,
        paths: sources.iter().map(|source| source.path.clone()).collect(),
        layers,
        all,
        without_testkit,
        edges,
        weights,
    })
}

/// The cycles between the modules of each module, those of the crate first.
fn siblings(sources: &[Source], edges: &Edges) -> Vec<Siblings> {
    let modules: Vec<&[String]> = sources.iter().map(|source| &source.module[..]).collect();
    let parents: BTreeSet<(usize, &[String])> = modules
        .iter()
        .flat_map(|module| (1..module.len()).map(|length| (length, &module[..length])))
        .collect();
    let mut found = Vec::new();
    for (length, parent) in parents {
        let children: BTreeSet<&str> = modules
            .iter()
            .filter(|module| module.len() > length && module.starts_with(parent))
            .map(|module| module[length].as_str())
            .collect();
        let children: Vec<&str> = children.into_iter().collect();
        let child = |file: usize| {
            let name = modules[file].starts_with(parent).then(|| modules[file].get(length)).flatten()?;
            children.binary_search(&name.as_str()).ok()
        };
        let mut weights = Weights::new();
        let mut names: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
        for ((from, to), items) in edges {
            let (Some(start), Some(end)) = (child(*from), child(*to)) else { continue };
            if start != end {
                *weights.entry((start, end)).or_default() += items.len();
                let items: Vec<&str> = items.keys().map(String::as_str).collect();
                let (from, to) = (&sources[*from].path, &sources[*to].path);
                names.entry((start, end)).or_default().push(format!("{from} > {to}: {}", items.join(", ")));
            }
        }
        let is_folder = |child: &usize| {
            let within =
                |module: &&&[String]| module.starts_with(parent) && module[length] == children[*child];
            modules.iter().filter(|module| module.len() > length).filter(within).count() > 1
        };
        for group in cycles::groups(children.len(), &weights) {
            // A cycle of files alone is in `Report::cycles`.
            if length > 1 && !group.iter().any(is_folder) {
                continue;
            }
            let back = cycles::back_edges(&group, &weights).into_iter().map(|(from, to)| {
                (children[from].to_owned(), children[to].to_owned(), names[&(from, to)].clone())
            });
            found.push(Siblings {
                parent: parent.join("::"),
                back: back.collect(),
                group: group.iter().map(|child| children[*child].to_owned()).collect(),
            });
        }
    }
    found
}

/// The methods of one type, over all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Methods {
    pub(crate) files: usize,
    pub(crate) all: usize,
    pub(crate) public: usize,
}

/// Counts the functions in `impl` blocks of a type, those of traits left out.
fn methods_of(sources: &[Source], name: &str) -> Methods {
    let mut methods = Methods::default();
    for source in sources {
        let blocks = source.ast.items.iter().filter_map(|item| match item {
            Item::Impl(item)
                if item.trait_.is_none() && !is_for_tests(&item.attrs) && is_of(&item.self_ty, name) =>
            {
                Some(item)
            }
            _ => None,
        });
        let mut here = Methods::default();
        for item in blocks.flat_map(|block| &block.items) {
            if let ImplItem::Fn(item) = item
                && !is_for_tests(&item.attrs)
            {
                here.all += 1;
                here.public += usize::from(is_public(&item.vis));
            }
        }
        methods.files += usize::from(here.all > 0);
        methods.all += here.all;
        methods.public += here.public;
    }
    methods
}

fn is_of(self_type: &Type, name: &str) -> bool {
    let Type::Path(path) = self_type else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident == name)
}

fn largest_folder(sources: &[Source]) -> (String, usize) {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for source in sources {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *folders.entry(folder).or_default() += 1;
    }
    let largest = folders.into_iter().max_by_key(|(_, files)| *files);
    largest.map(|(folder, files)| (folder.to_owned(), files)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(module: &[&str], text: &str) -> Source {
        let path = format!("src/{}.rs", module[1..].join("/"));
        Source::parse(&path, module, text).expect("a sample parses")
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values: Vec<usize> = (1..=100).collect();
        assert_eq!([50, 90, 99, 100].map(|percent| percentile(&values, percent)), [50, 90, 99, 100]);
        assert_eq!(percentile(&[3, 5], 50), 3);
        assert_eq!(percentile(&[7], 99), 7);
        assert_eq!(percentile(&[], 50), 0);
    }

    #[test]
    fn folders_can_be_in_a_cycle_without_their_files() {
        let sources = [
            source(&["crate"], "mod a;\nmod b;"),
            source(&["crate", "a"], "mod one;\nmod two;"),
            source(&["crate", "a", "one"], "use crate::b::three::F;"),
            source(&["crate", "a", "two"], "pub struct G;"),
            source(&["crate", "b"], "mod three;\nmod four;"),
            source(&["crate", "b", "three"], "pub struct F;"),
            source(&["crate", "b", "four"], "use crate::a::two::G;"),
        ];
        let edges = uses::edges(&sources, &Scope::of(&sources));
        let weights: Weights = edges.iter().map(|(edge, names)| (*edge, names.len())).collect();
        assert!(cycles::groups(sources.len(), &weights).is_empty());
        let found = siblings(&sources, &edges);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].parent.as_str(), &found[0].group[..]),
            ("crate", &["a".to_owned(), "b".to_owned()][..])
        );
        assert_eq!(found[0].back[0].2, ["src/b/four.rs > src/a/two.rs: G"]);
    }

    #[test]
    fn methods_of_a_type_are_counted_in_all_files() {
        let sources = [
            source(
                &["crate", "a"],
                "impl Handle { pub fn a() {} fn b() {} }\nimpl Clone for Handle { fn c() {} }",
            ),
            source(
                &["crate", "b"],
                "impl super::a::Handle { pub(crate) fn d() {}\n#[cfg(test)]\nfn e() {} }\nimpl B { fn f() {} }",
            ),
        ];
        assert_eq!(methods_of(&sources, "Handle"), Methods { files: 2, all: 3, public: 1 });
    }
}
