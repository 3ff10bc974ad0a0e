//! Runs each measurement in a process of its own: the program starts itself and reads what the
//! child prints.
//!
//! A child prints lines of a name and a number. Invariant: measurements run one after the other,
//! never in parallel, and repetitions are spread over the run, so that a disturbance does not hit
//! all of them.

use std::process::{Command, Stdio};

use crate::workload::Sizes;
use crate::{cron, delay_queue, edn, list, reveille, sleeps};

/// The argument that makes a process a child.
pub(crate) const WORD: &str = "--child";

/// The named figures of one child.
pub(crate) type Figures = Vec<(&'static str, f64)>;

/// The measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Creates all schedules, measures their memory, and cancels them in random order.
    Fill,
    /// Many schedules due at one instant.
    Burst,
    /// A steady load.
    Rate,
    /// Idle: nothing is due.
    Idle,
    /// Reading and writing of EDN.
    Edn,
    /// A session's schedules by GraphQL and by EQL, text to text.
    List,
    /// The next slot of cron rules.
    Cron,
}

/// The competitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// This crate.
    Reveille,
    /// `tokio_util::time::DelayQueue`.
    DelayQueue,
    /// One task with a `tokio::time::sleep` per schedule.
    Sleeps,
}

impl Measure {
    const ALL: [Measure; 7] = [
        Measure::Fill,
        Measure::Burst,
        Measure::Rate,
        Measure::Idle,
        Measure::Edn,
        Measure::List,
        Measure::Cron,
    ];

    fn name(self) -> &'static str {
        match self {
            Measure::Fill => "fill",
            Measure::Burst => "burst",
            Measure::Rate => "rate",
            Measure::Idle => "idle",
            Measure::Edn => "edn",
            Measure::List => "list",
            Measure::Cron => "cron",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Measure> {
        Measure::ALL.into_iter().find(|measure| measure.name() == name)
    }
}

impl Peer {
    /// All competitors, ours first.
    pub(crate) const ALL: [Peer; 3] = [Peer::Reveille, Peer::DelayQueue, Peer::Sleeps];

    fn name(self) -> &'static str {
        match self {
            Peer::Reveille => "reveille",
            Peer::DelayQueue => "delay-queue",
            Peer::Sleeps => "sleeps",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Peer> {
        Peer::ALL.into_iter().find(|peer| peer.name() == name)
    }
}

/// All figures of a run, one entry per child and figure.
#[derive(Debug, Default)]
pub(crate) struct Results {
    figures: Vec<(Peer, String, f64)>,
}

impl Results {
    /// The values of one figure, in ascending order.
    pub(crate) fn of(&self, peer: Peer, name: &str) -> Vec<f64> {
        let figures = self.figures.iter();
        let mut values: Vec<f64> = figures
            .filter(|(whose, what, _)| *whose == peer && what == name)
            .map(|(_, _, value)| *value)
            .collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    }
}

/// Measures in this process, which is a child.
pub(crate) fn measure(measure: Measure, peer: Peer, sizes: &Sizes) -> Figures {
    match (measure, peer) {
        (Measure::Edn, _) => edn::measure(sizes),
        (Measure::List, _) => list::measure(sizes),
        (Measure::Cron, _) => cron::measure(),
        (_, Peer::Reveille) => reveille::measure(measure, sizes),
        (_, Peer::DelayQueue) => delay_queue::measure(measure, sizes),
        (_, Peer::Sleeps) => sleeps::measure(measure, sizes),
    }
}

/// Runs every measurement in a process of its own.
#[expect(clippy::print_stderr, reason = "a run takes minutes: it says where it is")]
pub(crate) fn measure_all(sizes: &Sizes) -> Results {
    let mut results = Results::default();
    // Rounds outermost: the repetitions of a measurement are spread over the run.
    for round in 0..sizes.repeats.into_iter().max().unwrap_or(0) {
        for measure in Measure::ALL {
            for (peer, repeats) in Peer::ALL.into_iter().zip(sizes.repeats) {
                let repeats = match measure {
                    Measure::Idle => sizes.idle_repeats,
                    // These have no peer in this program.
                    Measure::Edn | Measure::List | Measure::Cron if peer != Peer::Reveille => 0,
                    Measure::Fill | Measure::Burst | Measure::Rate => repeats,
                    Measure::Edn | Measure::List | Measure::Cron => repeats,
                };
                if round < repeats {
                    eprintln!("round {} {} {}", round + 1, measure.name(), peer.name());
                    run_child(measure, peer, sizes, &mut results);
                }
            }
        }
    }
    results
}

fn run_child(measure: Measure, peer: Peer, sizes: &Sizes, results: &mut Results) {
    let program = std::env::current_exe().expect("a running program has a path");
    let mut command = Command::new(program);
    command.args([WORD, measure.name(), peer.name()]);
    // A child chooses its sizes by its own arguments.
    if sizes.pending == Sizes::QUICK.pending {
        command.arg("--quick");
    }
    let output =
        command.stderr(Stdio::inherit()).output().expect("this program can be started, since it was");
    assert!(output.status.success(), "{} of {} ended with {}", measure.name(), peer.name(), output.status);
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some((name, value)) = line.split_once(' ')
            && let Ok(value) = value.parse()
        {
            results.figures.push((peer, name.to_owned(), value));
        }
    }
}
