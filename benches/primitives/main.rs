//! Benchmarks the execution primitives: watches whose checks see nothing new, parallel calls, and conditions.
//!
//! `cargo bench --bench primitives` measures everything once and prints the figures; `-- --quick` only shows that
//! everything runs. Each measurement has a process of its own: `-- --child checks` prints lines of a name and a number,
//! and `benches/peers` calls it so, beside the peer in Python. What lives elsewhere: the measured engine (`engine`),
//! tokio alone (`joined`). The tool of all calls does nothing, so what is left is the engine's own work. Invariant:
//! nothing here passes or fails by the clock.

use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use engine::{Engine, PER_SESSION, TOOL};
use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, Outcome, RunId, Span};
use reveille::edn::{Map, Value, read};
use reveille::engine::{Circumstances, Invocation, judge, parse_condition};
use reveille::service::{CallStyle, Called, Service};
use system::{boot_nanos, processor_time, resident_bytes, wait};

mod engine;
mod joined;
#[path = "../table/system.rs"]
mod system;

/// The named figures of one measurement.
type Figures = Vec<(&'static str, f64)>;

struct Sizes {
    /// Watches that are idle, and at the steady load.
    watches: usize,
    /// Watches of one second: more than an engine can check.
    hot: usize,
    idle: Duration,
    load: Duration,
    /// Parallel calls, and evaluations of a condition.
    repeats: usize,
}

const FULL: Sizes = Sizes {
    watches: 100_000,
    hot: 300_000,
    idle: Duration::from_secs(10),
    load: Duration::from_secs(10),
    repeats: 5_000,
};
const QUICK: Sizes = Sizes {
    watches: 1_000,
    hot: 1_000,
    idle: Duration::from_secs(1),
    load: Duration::from_secs(2),
    repeats: 50,
};

#[expect(clippy::print_stdout, reason = "the figures are what this program is for")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let is_quick = arguments.iter().any(|argument| argument == "--quick" || argument == "--test");
    let sizes = if is_quick { QUICK } else { FULL };
    let Some(place) = arguments.iter().position(|argument| argument == "--child") else {
        return all(is_quick);
    };
    let figures = match arguments.get(place + 1).map(String::as_str) {
        Some("watches") => watches(&sizes),
        Some("checks") => checks(&sizes),
        Some("steady") => steady(&sizes),
        Some("parallel") => parallel(&sizes),
        Some("tokio") => joined::figures(sizes.repeats),
        Some("conditions") => conditions(&sizes),
        Some(_) | None => return ExitCode::FAILURE,
    };
    for (name, value) in figures {
        println!("{name} {value}");
    }
    ExitCode::SUCCESS
}

/// Runs each measurement in a process of its own, so that no memory is passed from one to the next.
fn all(is_quick: bool) -> ExitCode {
    let program = std::env::current_exe().expect("a running program has a path");
    for measure in ["watches", "checks", "steady", "parallel", "tokio", "conditions"] {
        let mut command = Command::new(&program);
        command.args(["--child", measure]).args(is_quick.then_some("--quick"));
        let status = command.stderr(Stdio::inherit()).status().expect("this program can be started");
        if !status.success() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// What an idle watch takes of memory, and all of them of a processor.
fn watches(sizes: &Sizes) -> Figures {
    let engine = Engine::start(sizes.watches, |_: &Invocation| {});
    let before = resident_bytes();
    engine.watch(sizes.watches, Duration::from_secs(3_600));
    let memory = resident_bytes().saturating_sub(before) as f64 / sizes.watches as f64;
    // Lets the work of creating end before the idle time is measured.
    wait(Duration::from_secs(1));
    let (time, processor) = (boot_nanos(), processor_time());
    wait(sizes.idle);
    let used = (processor_time() - processor).as_nanos() as f64;
    let idle = used * 100.0 / (boot_nanos() - time) as f64;
    engine.leave();
    vec![("watch-memory", memory), ("watch-idle", idle)]
}

/// How many checks an engine makes that has more to check than it can, and what each takes of a processor.
fn checks(sizes: &Sizes) -> Figures {
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    let engine = Engine::start(sizes.hot, move |_: &Invocation| _ = counted.fetch_add(1, Ordering::Relaxed));
    engine.watch(sizes.hot, Duration::from_secs(1));
    // The first checks have no baseline, and are not measured.
    wait(Duration::from_secs(3));
    let (time, processor, begun) = (boot_nanos(), processor_time(), count.load(Ordering::Relaxed));
    wait(sizes.load);
    let (time, processor) = (boot_nanos() - time, processor_time() - processor);
    let made = (count.load(Ordering::Relaxed) - begun) as f64;
    engine.leave();
    vec![("check-rate", made * 1e6 / time as f64), ("check-cpu", processor.as_nanos() as f64 / made / 1e3)]
}

/// How late checks begin at a tenth of that load.
fn steady(sizes: &Sizes) -> Figures {
    let late = Arc::new(engine::Latenesses::default());
    let noted = Arc::clone(&late);
    let engine = Engine::start(sizes.watches, move |invocation: &Invocation| {
        if let Some(run) = RunId::parse(&invocation.id) {
            noted.note(run.slot);
        }
    });
    engine.watch(sizes.watches, sizes.load);
    // Each watch is checked once and then again.
    wait(sizes.load * 2 + Duration::from_secs(1));
    let figures = late.figures();
    engine.leave();
    figures
}

/// How long fifty calls at once take, of tools that do nothing.
fn parallel(sizes: &Sizes) -> Figures {
    let sessions = sizes.repeats.div_ceil(CALLS_OF_ONE);
    let engine = Engine::start(sessions * PER_SESSION, |_: &Invocation| {});
    let service = Service::new(engine.handle().clone());
    let action = Value::from(Map::new().with("name", TOOL));
    let mut args = Map::new();
    args.insert("actions".into(), Value::vector(vec![action; CALLS]));
    let args = Value::from(args);
    let style = CallStyle { notation: Notation::Json, patience: None };
    let mut times = Vec::with_capacity(sizes.repeats);
    for place in 0..sizes.repeats {
        let caller = Caller::session(engine.session(place / CALLS_OF_ONE)).as_model();
        let begun = boot_nanos();
        let answer = match service.begin_tool("run_parallel", &caller, &args, style).expect("admitted") {
            Some(Called::Now(answer)) => answer,
            Some(Called::Later(pending)) => {
                let (tell, told) = channel();
                let _waiter = pending.then(move |answer| _ = tell.send(answer.clone()));
                told.recv().expect("it is answered")
            }
            None => unreachable!("the tool is there"),
        };
        times.push(boot_nanos() - begun);
        assert!(!answer.is_error, "{}", answer.value);
    }
    engine.leave();
    percentiles(times)
}

/// The calls of one `run_parallel`: as many as it takes.
const CALLS: usize = 50;
/// The calls that one session makes: fewer than it may make in a minute.
const CALLS_OF_ONE: usize = 500;

/// The times in ascending order, as microseconds at the middle and near the end.
fn percentiles(mut times: Vec<u64>) -> Figures {
    times.sort_unstable();
    let at = |permille: usize| times[(times.len() * permille / 1_000).min(times.len() - 1)] as f64 / 1e3;
    vec![("parallel-p50", at(500)), ("parallel-p99", at(990))]
}

/// What it takes to read a condition, and to judge a result by it.
fn conditions(sizes: &Sizes) -> Figures {
    let value = read(br#"{"status_code" 200 "body" {"count" 4 "name" "a"}}"#, &REQUEST_CAPS).expect("EDN");
    let outcome = Outcome::of_value(value, 40, Span::ZERO);
    let rounds = sizes.repeats * 20;
    let begun = boot_nanos();
    for _ in 0..rounds {
        std::hint::black_box(parse_condition(std::hint::black_box(CONDITION))).expect("a condition");
    }
    let reading = boot_nanos() - begun;
    let condition = parse_condition(CONDITION).expect("a condition");
    let begun = boot_nanos();
    for _ in 0..rounds {
        let circumstances = Circumstances { now: std::hint::black_box(&outcome), before: None, streak: 0 };
        assert!(judge(&condition, circumstances).holds);
    }
    let judging = boot_nanos() - begun;
    let each = |time: u64| time as f64 / rounds as f64 / 1e3;
    vec![("condition-read", each(reading)), ("condition-judge", each(judging))]
}

const CONDITION: &str = "result.status_code == 200 and result.body.count > 3";
