//! Counts the instructions of the hot paths. Other load on the machine does not change these
//! figures, so they can serve as a gate.
//!
//! `just count` runs each path in a process of its own under valgrind's callgrind, which counts
//! only what runs within [`counted`], and compares the counts with `baseline.txt`. A path fails if
//! it takes [`MORE`] thousandths more instructions than the baseline. It also fails if it takes
//! [`FEWER`] thousandths less, because with an outdated baseline the gain could be lost again
//! unnoticed. `just count --update` writes the baseline; never edit it by hand. Names of paths as
//! further arguments run these alone.
//!
//! Lives here: the command line and the comparison. Invariant: one build always gives equal counts,
//! within a thousandth: clock and randomness are simulated, and each path runs on one thread.

mod baseline;
mod callgrind;
mod paths;
mod returns;
mod scene;

use std::hint::black_box;
use std::process::ExitCode;

use baseline::Baseline;
use paths::{ALIKE, HotPath, PATHS};

/// How many thousandths more instructions than the baseline a path may take.
const MORE: i64 = 30;
/// How many thousandths fewer it may take before the baseline has to be renewed.
const FEWER: i64 = 50;
/// The tolerance if another compiler or architecture made the baseline.
const ELSEWHERE: i64 = 250;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = &arguments[..]
        && flag == callgrind::ALONE
    {
        let path = PATHS.iter().find(|path| path.name == name).expect("a path's own name");
        let mut work = (path.prepare)(path.times);
        counted(&mut *work);
        return ExitCode::SUCCESS;
    }
    match compare(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the work; callgrind counts from entering to leaving this function.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
    // Keeps the call above from becoming a tail call, after which callgrind would see no return
    // from here.
    black_box(());
}

/// Counts, prints the table, and returns whether every path is within its tolerance.
fn compare(arguments: &[String]) -> Result<bool, String> {
    let (flags, names): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| argument.starts_with("--"));
    let is_update = flags.iter().any(|flag| *flag == "--update");
    if let Some(unknown) = names.iter().find(|name| PATHS.iter().all(|path| path.name != **name)) {
        let known: Vec<&str> = PATHS.iter().map(|path| path.name).collect();
        return Err(format!("there is no path {unknown}; there are: {}", known.join(", ")));
    }
    let is_asked = |path: &&HotPath| names.is_empty() || names.iter().any(|name| *name == path.name);
    let asked: Vec<&HotPath> = PATHS.iter().filter(is_asked).collect();
    let mut baseline = Baseline::read()?;
    let here = baseline::made_here()?;
    // Another compiler shifts every count, so only large differences mean something.
    let (more, fewer) = if baseline.made_by == here { (MORE, FEWER) } else { (ELSEWHERE, ELSEWHERE) };
    if baseline.made_by != here && !is_update {
        println!("The baseline was made by {}, this by {here}: the bounds are wide.\n", baseline.made_by);
    }
    println!("| path | times | instructions each | baseline | ratio | |\n|---|---|---|---|---|---|");
    let mut is_well = true;
    for (path, count) in callgrind::count_all(&asked)? {
        let before = baseline.counts.insert(path.name.to_owned(), count);
        let (ratio, verdict) = match before {
            None => (String::new(), if is_update { "new" } else { "not in the baseline" }),
            Some(before) => {
                (format!("{:.4}", count as f64 / before as f64), judge(count, before, more, fewer))
            }
        };
        is_well &= verdict.is_empty();
        let before = before.map_or_else(String::new, |before| (before / path.times).to_string());
        let (name, times, each) = (path.what, path.times, count / path.times);
        println!("| {name} | {times} | {each} | {before} | {ratio} | {verdict} |");
    }
    is_well &= are_alike(&baseline);
    if is_update {
        baseline.made_by = here;
        baseline.counts.retain(|name, _| PATHS.iter().any(|path| path.name == name));
        baseline.write()?;
        return Ok(true);
    }
    if !is_well {
        println!("\nIf that is as it should be: `just count --update`, and say why in the commit.");
    }
    Ok(is_well)
}

/// Compares the paths that must take as long; a baseline does not excuse a difference.
fn are_alike(counted: &Baseline) -> bool {
    ALIKE.iter().all(|(one, two, apart)| {
        let (Some(a), Some(b)) = (counted.counts.get(*one), counted.counts.get(*two)) else { return true };
        println!("\n{one} against {two}: {:.4}", *a as f64 / *b as f64);
        judge(*a, *b, *apart, *apart).is_empty()
    })
}

/// The verdict on a count; empty if it is within the tolerance.
fn judge(count: u64, before: u64, more: i64, fewer: i64) -> &'static str {
    let per_mille = (i128::from(count) - i128::from(before)) * 1_000 / i128::from(before.max(1));
    if per_mille > i128::from(more) {
        "MORE"
    } else if per_mille < -i128::from(fewer) {
        "fewer: renew the baseline"
    } else {
        ""
    }
}
