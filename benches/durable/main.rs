//! Benchmarks the engine with its store: durable creates, a start with a million schedules, and a
//! burst of ten thousand.
//!
//! `cargo bench --bench durable` measures; `-- --quick` only shows that everything runs. Each
//! figure is compared with SQLite alone in this run, with equal bytes and settings. First comes the
//! disk's time for one flush: a single caller cannot be faster than that. `STORE_BENCH_DIR` chooses
//! the disk. Lives here: the order of the measurements and the table. What lives elsewhere: the
//! measured engine (`engine`), how its store is filled quickly (`funnel`), SQLite alone and the
//! bare flush (`bare`). `-- --child creates` or `start` measures once and prints lines of a name
//! and a number, those of SQLite alone with the prefix `limit/`; `benches/peers` calls it so.
//! Invariant: nothing here passes or fails.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reveille::port::{FactRecord, RowRecord};

use engine::Engine;

mod bare;
mod engine;
mod funnel;

struct Sizes {
    rounds: usize,
    for_each: Duration,
    schedules: u64,
    due: usize,
    lead_ms: u64,
}

const FULL: Sizes = Sizes {
    rounds: 3,
    for_each: Duration::from_millis(1_200),
    schedules: 1_000_000,
    due: 10_000,
    lead_ms: 3_000,
};
const QUICK: Sizes =
    Sizes { rounds: 1, for_each: Duration::from_millis(100), schedules: 10_000, due: 500, lead_ms: 2_000 };

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let says = |word: &str| arguments.iter().any(|argument| argument == word);
    let sizes = if says("--quick") || says("--test") { QUICK } else { FULL };
    let only = ["creates", "start", "burst"].into_iter().find(|part| says(part));
    let wants = |part: &str| only.is_none_or(|only| only == part);
    let base = std::env::var_os("STORE_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = base.join(format!("reveille-bench-durable-{}", std::process::id()));
    if says("--child") {
        if wants("start") {
            child_start(&dir, &sizes);
        } else {
            child_creates(&dir, &sizes);
        }
        let _ = std::fs::remove_dir_all(&dir);
        return;
    }
    println!("| workload | Reveille | SQLite alone | ratio | target |\n|---|---|---|---|---|");
    let flushes = bare::flushes(&dir, 200);
    println!("| one flush of 8 KiB, written over: µs | | {} | | |", Shown(&flushes, false));
    if wants("creates") {
        // One caller shows the latency of a flush, many show how flushes are shared.
        for (callers, target) in [(1, "≥ 4000"), (64, "≥ 40000"), (256, "≥ 40000")] {
            creates(&dir, &sizes, callers, target);
        }
    }
    if wants("start") {
        start(&dir, &sizes);
    }
    if wants("burst") {
        burst(&dir, &sizes);
    }
    let _ = std::fs::remove_dir_all(&dir);
}

/// Measures creates per second by this many callers, each waiting for its commit.
fn creates(dir: &Path, sizes: &Sizes, callers: usize, target: &str) {
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..sizes.rounds {
        let (engine, alone) = creates_once(dir, sizes, callers);
        ours.push(engine);
        bare.push(alone);
    }
    print(&format!("creates, {callers} callers: /s"), &ours, &bare, true, target);
}

/// Creates per second: ours, and those of SQLite alone with equal bytes.
fn creates_once(dir: &Path, sizes: &Sizes, callers: usize) -> (f64, f64) {
    let engine = Engine::fresh(dir);
    let sessions = engine.open_sessions(SESSIONS);
    let ours = rate(sizes.for_each, callers, |turn| engine.create_later(&sessions[turn % SESSIONS]));
    // SQLite alone inserts copies of what the engine really wrote.
    let written = engine.created();
    engine.leave();
    (ours, bare::inserts(dir, &written, callers, sizes.for_each))
}

#[expect(clippy::print_stdout, reason = "a child prints what it measured")]
fn child_creates(dir: &Path, sizes: &Sizes) {
    for callers in [1, 64, 256] {
        let (ours, bare) = creates_once(dir, sizes, callers);
        println!("durable-{callers} {ours}\nlimit/durable-{callers} {bare}");
    }
}

/// Prints thousands of schedules per second: ours from opening the store until all are pending,
/// SQLite's from its first row to its last.
#[expect(clippy::print_stdout, reason = "a child prints what it measured")]
fn child_start(dir: &Path, sizes: &Sizes) {
    engine::fill(dir, sizes.schedules);
    let (opened, taken_up) = start_once(dir, sizes);
    let per_second = |took_ms: f64| sizes.schedules as f64 / took_ms;
    println!("restart {}\nlimit/restart {}", per_second(opened + taken_up), per_second(bare::read_rows(dir)));
}

/// Measures a start: from an empty engine until all stored schedules are pending.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn start(dir: &Path, sizes: &Sizes) {
    let begin = Instant::now();
    engine::fill(dir, sizes.schedules);
    println!(
        "| {} creates that wait for no flush: /s | {:.0} | | | |",
        sizes.schedules,
        sizes.schedules as f64 / begin.elapsed().as_secs_f64()
    );
    let (mut opened, mut ours, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..sizes.rounds {
        let (opening, taking_up) = start_once(dir, sizes);
        opened.push(opening);
        ours.push(taking_up);
        bare.push(bare::read_rows(dir));
    }
    // The size belongs to the figure: opening checks and indexes every byte.
    let size = std::fs::metadata(dir.join("store.db")).map_or(0, |found| found.len()) >> 20;
    print(&format!("open {size} MB, checked and indexed: ms"), &opened, &[], false, "");
    print(&format!("take up {} schedules: ms", sizes.schedules), &ours, &bare, false, "≤ 2000");
}

/// The milliseconds to open the store, and those to load it.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn start_once(dir: &Path, sizes: &Sizes) -> (f64, f64) {
    let begin = Instant::now();
    let store = engine::open(dir);
    let opened = millis(begin);
    let begin = Instant::now();
    let engine = Engine::over(store);
    let taken_up = millis(begin);
    assert_eq!(engine.pending(), sizes.schedules, "all of them came back");
    engine.leave();
    (opened, taken_up)
}

/// Measures a burst, from its instant until the host has the last delivery, each claimed on disk
/// before.
fn burst(dir: &Path, sizes: &Sizes) {
    let (mut ours, mut bare, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..sizes.rounds {
        let engine = Engine::fresh(dir);
        let burst = engine.prepare_burst(sizes.due, sizes.lead_ms);
        let (handed, kept, written) = engine.await_burst(&burst, sizes.due as u64);
        ours.push(handed);
        told.push(kept);
        engine.leave();
        bare.push(bare::write_again(dir, &written));
    }
    print(&format!("{} due at once, all handed over: ms", sizes.due), &ours, &bare, false, "≤ 3000");
    print("until the last of it is kept: ms", &told, &[], false, "");
}

/// The rate at which `threads` threads together perform `act`. Each starts with its own number and
/// counts on.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn rate(for_each: Duration, threads: usize, act: impl Fn(usize) + Sync) -> f64 {
    let begin = Instant::now();
    let done: u64 = std::thread::scope(|scope| {
        let act = &act;
        let each = |thread: usize| {
            scope.spawn(move || {
                let mut done = 0_u64;
                while begin.elapsed() < for_each {
                    // Callers begin at different sessions, so they rarely use one at once.
                    act(thread + usize::try_from(done).unwrap_or(0));
                    done += 1;
                }
                done
            })
        };
        let threads: Vec<_> = (0..threads).map(each).collect();
        threads.into_iter().map(|thread| thread.join().expect("nobody panics")).sum()
    });
    done as f64 / begin.elapsed().as_secs_f64()
}

/// Enough sessions for all creates, because a session takes a limited number of schedules.
const SESSIONS: usize = 256;

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn millis(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1_000.0
}

/// Shows the median and the best of some figures; the flag says whether more is better.
struct Shown<'a>(&'a [f64], bool);

impl Shown<'_> {
    fn median(&self) -> f64 {
        let mut sorted = self.0.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    fn best(&self) -> f64 {
        let better = |one: f64, two: f64| if self.1 { one.max(two) } else { one.min(two) };
        self.0.iter().copied().reduce(better).unwrap_or_default()
    }
}

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0} (best {:.0})", self.median(), self.best())
    }
}

/// Prints one line. A ratio above 1 means that Reveille is better, by the medians.
#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn print(title: &str, ours: &[f64], bare: &[f64], is_rate: bool, target: &str) {
    let ours = Shown(ours, is_rate);
    if bare.is_empty() {
        println!("| {title} | {ours} | | | {target} |");
        return;
    }
    let bare = Shown(bare, is_rate);
    let ratio = if is_rate { ours.median() / bare.median() } else { bare.median() / ours.median() };
    println!("| {title} | {ours} | {bare} | {ratio:.2}× | {target} |");
}

/// Records that the engine wrote, for SQLite alone to write again.
#[derive(Default)]
struct Written {
    facts: Vec<FactRecord>,
    rows: Vec<RowRecord>,
}
