//! Measures the machine's limit: what a workload costs if nothing is left but the memory and the
//! clock that it needs.
//!
//! `peer-limits MEASURE [--quick]` prints lines of a name and a number. Invariant: sizes, delays
//! and messages are those of our own benchmark (`benches/table/workload.rs`), and no remaining step
//! could be left out.

use std::collections::BinaryHeap;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use rustix::thread::{ClockId, Timespec, clock_nanosleep_absolute};
use system::{boot_nanos, processor_time, resident_bytes, wait};
use workload::{Random, Sizes, message};

#[path = "../../../table/system.rs"]
mod system;
#[expect(dead_code, reason = "the product's bench needs more of it")]
#[path = "../../../table/workload.rs"]
mod workload;

type Figures = Vec<(&'static str, f64)>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let sizes = if is_quick { Sizes::QUICK } else { Sizes::FULL };
    let figures = match arguments.first().map(String::as_str) {
        Some("fill") => fill(&sizes),
        Some("burst") => burst(&sizes),
        Some("rate") => rate(&sizes),
        Some("idle") => idle(&sizes),
        Some("edn") => copy(&sizes),
        _ => return ExitCode::FAILURE,
    };
    for (name, value) in figures {
        println!("{name} {value}");
    }
    ExitCode::SUCCESS
}

/// A boxed message with a 16-byte id, and the deadline in a heap; removed again in random order.
fn fill(sizes: &Sizes) -> Figures {
    let (mut random, mut places) = (Random::new(), (0..sizes.pending).collect::<Vec<_>>());
    let before = resident_bytes();
    let start = boot_nanos();
    let mut records = Vec::with_capacity(sizes.pending);
    let mut deadlines = BinaryHeap::with_capacity(sizes.pending);
    for place in 0..sizes.pending {
        let id = [random.below(u64::MAX), random.below(u64::MAX)];
        // `BinaryHeap` is a max-heap: subtracting puts the earliest deadline on top.
        deadlines.push((u64::MAX - start - nanos(random.far_delay()), place));
        records.push(Some((id, message(place))));
    }
    let create = rate_of(sizes.pending, start);
    let memory = resident_bytes().saturating_sub(before) as f64 / sizes.pending as f64;
    random.shuffle(&mut places);
    let start = boot_nanos();
    for place in places {
        drop(black_box(records[place].take()));
    }
    black_box(deadlines);
    vec![("create", create), ("memory", memory), ("cancel", rate_of(sizes.pending, start))]
}

/// Messages at random places, each moved into its session's list.
fn burst(sizes: &Sizes) -> Figures {
    let (mut random, mut places) = (Random::new(), (0..sizes.pending).collect::<Vec<_>>());
    let mut records: Vec<_> = (0..sizes.pending).map(|place| Some(message(place))).collect();
    let mut inboxes: Vec<Vec<Box<str>>> = vec![Vec::new(); sizes.sessions];
    random.shuffle(&mut places);
    let start = boot_nanos();
    for place in &places[..sizes.burst] {
        inboxes[place % sizes.sessions].extend(records[*place].take());
    }
    let rate = rate_of(sizes.burst, start) * 1_000.0;
    black_box(inboxes);
    vec![("burst-rate", rate)]
}

/// The lateness with which the kernel wakes an otherwise idle thread.
fn rate(sizes: &Sizes) -> Figures {
    let count = sizes.rate_seconds * sizes.rate;
    let mut late = Vec::with_capacity(count);
    for _ in 0..count {
        let due = boot_nanos() + 1_000_000_000 / sizes.rate as u64;
        let until = Timespec {
            tv_sec: i64::try_from(due / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(due % 1_000_000_000).unwrap_or(0),
        };
        // A signal may interrupt the sleep.
        while clock_nanosleep_absolute(ClockId::Boottime, &until).is_err() {}
        late.push(boot_nanos().saturating_sub(due));
    }
    late.sort_unstable();
    let at = |permille: usize| late[(count * permille / 1_000).min(count - 1)] as f64 / 1e6;
    vec![("late-p50", at(500)), ("late-p99", at(990))]
}

/// The processor time of a process that only sleeps.
fn idle(sizes: &Sizes) -> Figures {
    let (time, processor) = (boot_nanos(), processor_time());
    wait(Duration::from_secs(sizes.idle_seconds));
    let used = (processor_time() - processor).as_nanos() as f64;
    vec![("idle", used * 100.0 / (boot_nanos() - time) as f64)]
}

/// Copies as many bytes as the EDN text has, to new memory.
fn copy(sizes: &Sizes) -> Figures {
    let from = vec![b'x'; sizes.edn_bytes];
    let mut best = u64::MAX;
    for _ in 0..50 {
        let start = boot_nanos();
        black_box(black_box(&from).clone());
        best = best.min(boot_nanos() - start);
    }
    let rate = sizes.edn_bytes as f64 * 1_000.0 / best.max(1) as f64;
    vec![("edn-read", rate), ("edn-write", rate)]
}

/// Millions per second since a reading of the clock.
fn rate_of(count: usize, start: u64) -> f64 {
    count as f64 * 1_000.0 / (boot_nanos() - start) as f64
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
