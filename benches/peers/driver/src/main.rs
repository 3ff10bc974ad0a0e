//! Measures Reveille, its peers and the machine's limit in one run, and writes one table.
//!
//! `bench` measures everything three times and writes `docs/bench/RESULT.md`. `bench NAME...`
//! measures only the workloads or peers of these names. `--quick` only shows in two minutes that
//! everything runs, with figures that mean nothing. `--build` only prepares everything, and prints
//! the programs. Lives here: the order of a run. What lives elsewhere: the list of competitors
//! (`contenders`), how programs are built and installed (`program`), one measurement (`child`), the
//! figures (`results`), the table (`rows`, `report`), the machine (`machine`).
//!
//! Invariant: measurements run one after the other, repetitions spread over the run. A competitor
//! that cannot be measured is listed with the reason, and does not end the run.

use std::process::ExitCode;

use contenders::{ALL, Contender, OURS};
use program::{Start, Workshop};
use results::Results;

mod child;
mod contenders;
mod machine;
mod program;
mod report;
mod results;
mod rows;

const ROUNDS: usize = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (flags, names): (Vec<&str>, Vec<&str>) =
        arguments.iter().map(String::as_str).partition(|word| word.starts_with("--"));
    if let Some(fault) = fault(&flags, &names) {
        eprintln!("{fault}");
        return ExitCode::FAILURE;
    }
    let is_quick = flags.contains(&"--quick");
    let mut workshop = Workshop::new(is_quick);
    let mut results = Results::default();
    let contenders = ready(&names, &mut workshop, &mut results);
    if flags.contains(&"--build") {
        for (contender, start) in &contenders {
            println!("{} {}: {start:?}", contender.measure, contender.peer);
        }
        print!("{}", report::table(&results));
        return ExitCode::SUCCESS;
    }
    let before = machine::load();
    measure(&contenders, is_quick, &mut results);
    let page = format!("{}\n{}", report::table(&results), machine::describe(&workshop, &before));
    println!("{page}");
    if is_quick {
        println!("These figures mean nothing: the sizes are those that show that everything runs.");
    } else if names.is_empty() {
        let path = workshop.result();
        let written = std::fs::create_dir_all(path.parent().unwrap_or(&path))
            .and_then(|()| std::fs::write(&path, format!("{HEAD}{page}")));
        match written {
            Ok(()) => eprintln!("written to {}", path.display()),
            Err(fault) => eprintln!("{} cannot be written: {fault}", path.display()),
        }
    }
    ExitCode::SUCCESS
}

/// The error in the arguments, if there is one.
fn fault(flags: &[&str], names: &[&str]) -> Option<String> {
    if let Some(flag) = flags.iter().find(|flag| !["--quick", "--build"].contains(flag)) {
        return Some(format!("no `{flag}`; there are --quick and --build"));
    }
    let is_known =
        |name: &str| ALL.iter().any(|contender| contender.measure == name || contender.peer == name);
    let unknown = names.iter().find(|name| !is_known(name))?;
    let mut known: Vec<&str> = ALL.iter().flat_map(|contender| [contender.measure, contender.peer]).collect();
    known.sort_unstable();
    known.dedup();
    Some(format!("nothing is called `{unknown}`; there are: {}", known.join(", ")))
}

/// The competitors of this run and how to start them; those that cannot be started are reported.
fn ready(names: &[&str], workshop: &mut Workshop, results: &mut Results) -> Vec<(&'static Contender, Start)> {
    let is_asked = |contender: &&Contender| {
        names.is_empty() || names.iter().any(|name| contender.measure == *name || contender.peer == *name)
    };
    let mut contenders = Vec::new();
    for contender in ALL.iter().filter(is_asked) {
        // All HTTP measurements use wrk.
        let client = if contender.measure == "http" { program::has("wrk", "--version") } else { Ok(()) };
        match client.and_then(|()| workshop.ready(contender.program)) {
            Ok(start) => contenders.push((contender, start)),
            Err(why) => {
                eprintln!("SKIPPED: {} at {}: {why}", contender.peer, contender.measure);
                results.miss(contender, &why);
            }
        }
    }
    contenders
}

fn measure(contenders: &[(&Contender, Start)], is_quick: bool, results: &mut Results) {
    let rounds = if is_quick { 1 } else { ROUNDS };
    for round in 0..rounds {
        for (contender, start) in contenders {
            // Idle time is measured once: it takes long and varies little.
            if contender.measure == "idle" && round > 0 {
                continue;
            }
            eprintln!("round {} of {rounds}: {} {}", round + 1, contender.measure, contender.peer);
            match child::run(start, contender.words, is_quick) {
                Ok(lines) => results.note(contender, lines),
                Err(why) => {
                    let loudly = if contender.peer == OURS { "WE FAILED" } else { "FAILED" };
                    eprintln!("{loudly}: {} at {}: {why}", contender.peer, contender.measure);
                    results.miss(contender, &why);
                }
            }
        }
    }
}

const HEAD: &str = "# The table\n\n\
    Written by `just bench`, never by hand. In each cell the median of three repetitions, for Reveille the best of them too\n\
    where it differs. A ratio says how many times better Reveille is, by the medians: above 1 Reveille wins, below 1 the\n\
    other does. What each line measures, at which sizes, and what the peers lack is in [BENCH.md](../BENCH.md).\n\n";
