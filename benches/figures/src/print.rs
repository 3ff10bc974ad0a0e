//! The figures as text and as JSON.
//!
//! Lives here: the table of layers, the figures of the whole, the ratchets, and the lists of cycles and clones.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::clones::file_pairs;
use crate::cycles::back_edges;
use crate::measure::{Report, Sums, percentile};
use crate::ratchets::{Bound, RATCHETS};

/// The columns of the table of layers, as wide as their cells need.
const HEAD: [&str; 13] = [
    "",
    "files",
    "code",
    "doc",
    "comments",
    "file 50/90/max",
    "fn 50/90/99/max",
    "fn>60",
    "par>5",
    "unwrap/expect",
    "pub",
    "named",
    "asserts",
];

/// The table of layers, the figures of the whole and the ratchets.
pub(crate) fn summary(report: &Report) -> String {
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(report.layers.iter().map(|(name, sums)| row(name, sums)));
    rows.push(row("total", &report.all));
    rows.push(row("- testkit", &report.without_testkit));
    let mut text = table(&rows);
    text.push_str(
        "\ncomments: lines with one that is no doc, % of code. pub: items declared so; named: those that can be named outside.\n\
         asserts: per 1,000 lines of code. Lengths are percentiles; tests are left out, from `- testkit` the checker too.\n\n",
    );
    let handle = report.handle;
    let tracked = report.project.tracked_files.map_or("unknown".to_owned(), |files| files.to_string());
    let figures = [
        (
            "files in cycles",
            format!(
                "{} of {} ({:.1} %), {} groups",
                report.files_in_cycles(),
                report.paths.len(),
                report.cycle_share(),
                report.cycles.len()
            ),
        ),
        (
            "folders in cycles",
            format!("{} groups, {} top-level modules", report.siblings.len(), report.layers_in_cycles()),
        ),
        (
            "identical clones",
            format!("{} pairs of files, {} pairs of places", file_pairs(&report.clones), report.clones.len()),
        ),
        (
            "methods of Handle",
            format!("{}, {} of them public, in {} files", handle.all, handle.public, handle.files),
        ),
        ("largest folder", format!("{}, {} files", report.largest_folder.0, report.largest_folder.1)),
        ("features", report.project.features.to_string()),
        ("test programs", report.project.test_programs.to_string()),
        ("tracked files", tracked),
    ];
    text.push_str(&table(&figures.map(|(name, figure)| [name.to_owned(), figure])));
    text.push('\n');
    text.push_str(&ratchets(report));
    text
}

fn row(name: &str, sums: &Sums) -> [String; 13] {
    let at = |lengths: &[usize], percents: &[usize]| {
        let cells: Vec<String> =
            percents.iter().map(|percent| percentile(lengths, *percent).to_string()).collect();
        cells.join("/")
    };
    [
        name.to_owned(),
        sums.file_lengths.len().to_string(),
        sums.lines.code.to_string(),
        sums.lines.doc.to_string(),
        format!("{} {:.1}%", sums.lines.comment, sums.comment_share()),
        at(&sums.file_lengths, &[50, 90, 100]),
        at(&sums.function_lengths, &[50, 90, 99, 100]),
        sums.long_functions.to_string(),
        sums.wide_functions.to_string(),
        format!("{}/{}", sums.words.unwraps, sums.words.expects),
        sums.items.declared.to_string(),
        sums.items.reachable.to_string(),
        format!("{} {:.1}", sums.words.assertions, sums.assertion_share()),
    ]
}

/// The names to the left, the cells to the right.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let mut line = format!("{:<w$}", row[0], w = width(0));
        for (column, cell) in row.iter().enumerate().skip(1) {
            let _ = if N == 2 {
                write!(line, "  {cell}")
            } else {
                write!(line, "  {cell:>w$}", w = width(column))
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn ratchets(report: &Report) -> String {
    let mut rows = vec![["ratchet", "value", "limit", "target", ""].map(str::to_owned)];
    for ratchet in &RATCHETS {
        let value = ratchet.value(report);
        let sign = if ratchet.bound == Bound::AtMost { "<=" } else { ">=" };
        rows.push([
            ratchet.figure.to_owned(),
            value.to_string(),
            format!("{sign} {}", ratchet.limit),
            ratchet.target.to_string(),
            ratchet.verdict(value),
        ]);
    }
    table(&rows)
}

/// Each group of files in a cycle, and the edges that would open it; then the same of modules beside each other.
pub(crate) fn cycles(report: &Report) -> String {
    let mut text = String::new();
    for group in &report.cycles {
        let _ = writeln!(text, "{} files", group.len());
        for file in group {
            let _ = writeln!(text, "    {}", report.paths[*file]);
        }
        for (from, to) in back_edges(group, &report.weights) {
            let names: Vec<String> = report.edges[&(from, to)]
                .iter()
                .map(|(name, line)| format!("{name} (line {line})"))
                .collect();
            let (from, to) = (&report.paths[from], &report.paths[to]);
            let _ = writeln!(text, "  back: {from} > {to}: {}", names.join(", "));
        }
    }
    for siblings in &report.siblings {
        let _ = writeln!(text, "modules of {}: {}", siblings.parent, siblings.group.join(", "));
        for (from, to, edges) in &siblings.back {
            let _ = writeln!(text, "  back: {from} > {to}");
            edges.iter().for_each(|edge| _ = writeln!(text, "    {edge}"));
        }
    }
    text
}

/// Each pair of places with the same code.
pub(crate) fn clones(report: &Report) -> String {
    let mut text = String::new();
    for pair in &report.clones {
        let [first, second] =
            pair.places.map(|(file, first, last)| format!("{}:{first}-{last}", report.paths[file]));
        let _ = writeln!(text, "{} lines: {first} = {second}", pair.lines);
    }
    text
}

/// All figures, cycles and clones included.
pub(crate) fn json(report: &Report) -> Value {
    let path = |file: usize| report.paths[file].as_str();
    let cycles = report.cycles.iter().map(|group| {
        let back = back_edges(group, &report.weights).into_iter().map(|(from, to)| {
            json!({"from": path(from), "to": path(to), "names": report.edges[&(from, to)].keys().collect::<Vec<_>>()})
        });
        json!({
            "files": group.iter().map(|file| path(*file)).collect::<Vec<_>>(),
            "back": back.collect::<Vec<_>>(),
        })
    });
    let siblings = report.siblings.iter().map(|siblings| {
        let back =
            siblings.back.iter().map(|(from, to, edges)| json!({"from": from, "to": to, "edges": edges}));
        json!({"parent": siblings.parent, "modules": siblings.group, "back": back.collect::<Vec<_>>()})
    });
    let clones = report.clones.iter().map(|pair| {
        let place = |(file, first, last)| json!({"file": path(file), "first_line": first, "last_line": last});
        json!({"lines": pair.lines, "places": pair.places.map(place)})
    });
    let ratchets = RATCHETS.iter().map(|ratchet| {
        let value = ratchet.value(report);
        let bound = if ratchet.bound == Bound::AtMost { "at most" } else { "at least" };
        json!({
            "figure": ratchet.figure, "value": value, "bound": bound, "limit": ratchet.limit,
            "target": ratchet.target, "holds": ratchet.holds(value),
        })
    });
    json!({
        "layers": report.layers.iter().map(|(name, sums)| (name.clone(), of_sums(sums))).collect::<serde_json::Map<_, _>>(),
        "total": of_sums(&report.all),
        "without_testkit": of_sums(&report.without_testkit),
        "files_in_cycles": report.files_in_cycles(),
        "top_level_modules_in_cycles": report.layers_in_cycles(),
        "cycles": cycles.collect::<Vec<_>>(),
        "module_cycles": siblings.collect::<Vec<_>>(),
        "clone_file_pairs": file_pairs(&report.clones),
        "clones": clones.collect::<Vec<_>>(),
        "handle": {"methods": report.handle.all, "public": report.handle.public, "files": report.handle.files},
        "largest_folder": {"path": report.largest_folder.0, "files": report.largest_folder.1},
        "features": report.project.features,
        "test_programs": report.project.test_programs,
        "tracked_files": report.project.tracked_files,
        "ratchets": ratchets.collect::<Vec<_>>(),
    })
}

fn of_sums(sums: &Sums) -> Value {
    let file = |percent| percentile(&sums.file_lengths, percent);
    let function = |percent| percentile(&sums.function_lengths, percent);
    json!({
        "files": sums.file_lengths.len(),
        "code_lines": sums.lines.code,
        "doc_lines": sums.lines.doc,
        "comment_lines": sums.lines.comment,
        "file_length": {"p50": file(50), "p90": file(90), "max": file(100)},
        "functions": sums.function_lengths.len(),
        "function_length": {"p50": function(50), "p90": function(90), "p99": function(99), "max": function(100)},
        "functions_over_60_lines": sums.long_functions,
        "functions_over_5_parameters": sums.wide_functions,
        "unwraps": sums.words.unwraps,
        "expects": sums.words.expects,
        "assertions": sums.words.assertions,
        "public_items": sums.items.declared,
        "reachable_items": sums.items.reachable,
    })
}
