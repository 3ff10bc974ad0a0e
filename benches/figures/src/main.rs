//! Measures the source: sizes, public items, cycles between files, clones, and what else a review asks for.
//!
//! `just figures` prints a table, and fails when a figure is worse than its ratchet allows (`ratchets.rs`). `--cycles` lists the
//! groups of files that import each other, with the edges whose removal would open them; `--clones` lists places with the same
//! code; `--json` prints all of it for a program. Tests are left out of every figure of the source.
//!
//! Lives here: what is asked on the command line. Invariant: the same tree gives the same figures, on any machine.

mod clones;
mod cycles;
mod functions;
mod items;
mod lines;
mod measure;
mod print;
mod project;
mod ratchets;
mod scope;
mod source;
mod token;
mod uses;

use std::path::Path;
use std::process::ExitCode;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const USAGE: &str = "usage: just figures [--cycles] [--clones] [--json]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) =
        arguments.iter().find(|argument| !["--cycles", "--clones", "--json"].contains(&argument.as_str()))
    {
        eprintln!("{unknown}: no such option; {USAGE}");
        return ExitCode::from(2);
    }
    let report = match measure::measure(Path::new(ROOT)) {
        Ok(report) => report,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    let asks = |option: &str| arguments.iter().any(|argument| argument == option);
    if asks("--json") {
        println!("{:#}", print::json(&report));
    } else {
        if asks("--cycles") {
            println!("{}", print::cycles(&report));
        }
        if asks("--clones") {
            println!("{}", print::clones(&report));
        }
        print!("{}", print::summary(&report));
    }
    let broken: Vec<&str> = ratchets::RATCHETS
        .iter()
        .filter(|ratchet| !ratchet.holds(ratchet.value(&report)))
        .map(|ratchet| ratchet.figure)
        .collect();
    if broken.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("worse than its ratchet allows: {}", broken.join("; "));
    ExitCode::FAILURE
}
