//! Compares Reveille with two peers on equal workloads in one run, and prints a table.
//!
//! `cargo bench --bench table` measures; `cargo bench --bench table -- --quick` only shows in
//! seconds that everything runs, with figures that mean nothing. Lives here: the arguments and the
//! order of the measurements. What lives elsewhere: the workloads' sizes (`workload`), the
//! competitors (`reveille`, `delay_queue`, `sleeps`), measurements without a peer here (`edn`,
//! `list`, `cron`; `benches/peers` has peers for them), the child processes (`child`) and the table
//! (`report`). Invariant: each measurement has a process of its own, so that no memory and no
//! allocator state is passed from one to the next; nothing here passes or fails.

use std::process::ExitCode;

use child::{Measure, Peer};
use workload::Sizes;

mod child;
mod cron;
mod delay_queue;
mod edn;
mod list;
mod peer;
mod report;
mod reveille;
mod rules;
mod schedules;
mod sleeps;
mod system;
mod workload;

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sizes =
        if arguments.iter().any(|argument| argument == "--quick") { Sizes::QUICK } else { Sizes::FULL };
    // A child gets its measurement and its competitor in the two following arguments.
    if let Some(place) = arguments.iter().position(|argument| argument == child::WORD) {
        let words = (arguments.get(place + 1), arguments.get(place + 2));
        let (Some(measure), Some(peer)) =
            (words.0.and_then(|word| Measure::named(word)), words.1.and_then(|word| Peer::named(word)))
        else {
            return ExitCode::FAILURE;
        };
        for (name, value) in child::measure(measure, peer, &sizes) {
            println!("{name} {value}");
        }
        return ExitCode::SUCCESS;
    }
    println!("{}", report::table(&child::measure_all(&sizes)));
    ExitCode::SUCCESS
}
