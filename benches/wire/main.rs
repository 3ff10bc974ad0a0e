//! Benchmarks HTTP: a hundred rows with four fields out of a million schedules, by GraphQL and EQL,
//! compared with a static async-graphql schema and with hand-written JSON, in one run.
//!
//! `cargo bench --bench wire` measures; `cargo bench --bench wire -- --quick` only shows in seconds
//! that everything runs, at a tenth of the size. It needs `wrk`. Lives here: the arguments and the
//! order of the measurements. What lives elsewhere: our server (`ours`), the peers (`peer`), the
//! client (`wrk`), the concurrent writer (`writer`) and the tables (`report`).
//!
//! Invariant: all competitors send equal rows, answer on equally many threads, and are queried by
//! one client with a fixed number of connections; nothing here passes or fails by the clock.

use std::process::ExitCode;

use report::Results;
use writer::{Pace, Writer};

mod ours;
mod peer;
mod report;
mod writer;
mod wrk;

/// The sizes of a run.
struct Sizes {
    sessions: usize,
    schedules: usize,
    rounds: usize,
    seconds: u32,
    /// The duration in seconds as a child, equal to that of the peers in `benches/peers`.
    child_seconds: u32,
}

const FULL: Sizes = Sizes { sessions: 20_000, schedules: 1_000_000, rounds: 3, seconds: 8, child_seconds: 5 };
const QUICK: Sizes = Sizes { sessions: 2_000, schedules: 100_000, rounds: 1, seconds: 1, child_seconds: 1 };

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the tables are what this program is for")]
fn main() -> ExitCode {
    let sizes = if std::env::args().any(|argument| argument == "--quick") { QUICK } else { FULL };
    let is_child = std::env::args().any(|argument| argument == "--child");
    if !wrk::is_there() {
        eprintln!("this benchmark needs wrk: install it under this name");
        return ExitCode::FAILURE;
    }
    let ours = ours::Ours::start(&sizes);
    let theirs = peer::Peer::start(ours.rows());
    let contenders =
        [ours.graphql(), theirs.graphql(), theirs.by_hand(), ours.eql()].map(|(name, target)| (name, target));
    if is_child {
        // The format that `benches/peers` reads: one figure per line, prefixed with its peer unless
        // it is ours.
        let names = ["http-graphql", "async-graphql/http-graphql", "limit/http-graphql", "http-eql"];
        for (name, (_, target)) in names.iter().zip(&contenders) {
            println!("{name} {}", wrk::run(target, sizes.child_seconds).per_second);
        }
        return ExitCode::SUCCESS;
    }
    let mut results = Results::default();
    // Rounds outermost, so that a disturbance does not hit one competitor alone.
    for round in 0..sizes.rounds {
        for (name, target) in &contenders {
            eprintln!("round {} of {}: {name}", round + 1, sizes.rounds);
            results.note(name, wrk::run(target, sizes.seconds));
        }
    }
    println!("{}", results.table());
    let mut meanwhile = Vec::new();
    for pace in [Pace::Steady, Pace::AllTheTime] {
        // The first entry measures the writer alone, for comparison.
        for (name, target) in [None, Some(ours.graphql()), Some(ours.eql())].into_iter().map(Option::unzip) {
            let name = name.unwrap_or("nobody asks");
            eprintln!("writes, {}: {name}", pace.name());
            let writer = Writer::start(ours.handle().clone(), ours.writers(), pace);
            let load = target.map(|target| wrk::run(&target, sizes.seconds));
            if load.is_none() {
                writer::wait(std::time::Duration::from_secs(sizes.seconds.into()));
            }
            meanwhile.push((name, pace.name(), load, writer.stop()));
        }
    }
    println!("{}", report::writes(&meanwhile));
    ExitCode::SUCCESS
}
