//! Benchmarks the execution primitives: watches whose checks see nothing new, parallel calls, and conditions.
//!
//! `cargo bench --bench primitives` measures everything once and prints the figures; `-- --quick` only shows that
//! everything runs. Each measurement has a process of its own: `-- --child checks` prints lines of a name and a number,
//! and `benches/peers` calls it so, beside the peer in Python. What lives elsewhere: the measured engine (`engine`),
//! tokio alone (`joined`), calls that all have a place (`wide`), an attached host and bulletins (`hosted`), notices
//! (`notices`), a store (`stored`), what needs no real time (`simulated`). The tool of all calls does nothing, so what is left
//! is the engine's own work. Invariant: nothing here passes or fails by the clock.

use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use engine::{Engine, PER_SESSION, TOOL};
use reveille::adapter::HostLocal;
use reveille::dialect::{Answer, Notation, REQUEST_CAPS};
use reveille::domain::{Caller, Outcome, RunId, SessionId, Span};
use reveille::edn::{Map, Value, read};
use reveille::engine::{Circumstances, Invocation, judge, parse_condition};
use reveille::service::{CallStyle, Called, Service, Waiter};
use system::{boot_nanos, processor_time, resident_bytes, wait};

mod engine;
#[path = "../durable/funnel.rs"]
mod funnel;
mod hosted;
mod joined;
mod notices;
mod simulated;
mod stored;
#[path = "../table/system.rs"]
mod system;
mod wide;

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
        Some("notices") => notices::figures(sizes.hot, sizes.load),
        Some("steady") => steady(&sizes),
        Some("parallel") => parallel(&sizes),
        Some("tokio") => joined::figures(sizes.repeats),
        Some("slow") => slow(&sizes),
        Some("slow-tokio") => vec![("parallel-slow", joined::sleeping(sizes.repeats / 50, SLOW, PLACES))],
        Some("wide") => wide::figures(sizes.repeats / 50),
        Some("wide-tokio") => vec![("parallel-wide", joined::sleeping(sizes.repeats / 50, SLOW, CALLS))],
        Some("host") => hosted::calls(sizes.repeats / 50),
        Some("bulletins") => vec![("bulletin", hosted::bulletins(sizes.repeats / 50, None))],
        Some("bulletins-durable") => stored::bulletins(sizes.repeats / 50),
        Some("flush") => stored::flush(sizes.repeats / 50),
        Some("ring") => simulated::ring(sizes.watches / 5),
        Some("returned") => simulated::returned(sizes.repeats / 50),
        Some("stored") => stored::figures(sizes.watches, sizes.load * 6),
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
    for measure in [
        "watches",
        "checks",
        "notices",
        "steady",
        "parallel",
        "tokio",
        "slow",
        "slow-tokio",
        "wide",
        "wide-tokio",
        "host",
        "bulletins",
        "bulletins-durable",
        "flush",
        "ring",
        "returned",
        "stored",
        "conditions",
    ] {
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

/// How late checks begin at a tenth of that load, and what they take of one processor.
fn steady(sizes: &Sizes) -> Figures {
    let late = Arc::new(engine::Latenesses::default());
    let noted = Arc::clone(&late);
    let engine = Engine::start(sizes.watches, move |invocation: &Invocation| {
        if let Some(run) = RunId::parse(&invocation.id) {
            noted.note(run.slot);
        }
    });
    engine.watch(sizes.watches, sizes.load);
    // Nothing is due in the first interval, and in the second no check has a baseline.
    wait(sizes.load * 2);
    let (time, processor) = (boot_nanos(), processor_time());
    wait(sizes.load);
    let (time, processor) = (boot_nanos() - time, processor_time() - processor);
    let mut figures = late.figures();
    figures.push(("check-share", processor.as_nanos() as f64 * 100.0 / time as f64));
    engine.leave();
    figures
}

/// How long fifty calls at once take, of tools that do nothing.
fn parallel(sizes: &Sizes) -> Figures {
    let sessions = sizes.repeats.div_ceil(CALLS_OF_ONE);
    let engine = Engine::start(sessions * PER_SESSION, |_: &Invocation| {});
    let service = Service::new(engine.handle().clone());
    let call = |place: usize| call_all(&service, &engine.session(place / CALLS_OF_ONE), TOOL);
    let times = (0..sizes.repeats).map(call).collect();
    engine.leave();
    percentiles(times)
}

/// How long fifty calls at once take, of tools that take a time: as many at a time as an executor has places.
fn slow(sizes: &Sizes) -> Figures {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
    let runtime = runtime.expect("the system gives what it needs");
    let sleeping = engine::Sleeping { runtime, time: SLOW, before: |_: &Invocation| {} };
    let engine = Engine::with(PER_SESSION, Arc::new(HostLocal::new()), Some(Arc::new(sleeping)));
    let service = Service::new(engine.handle().clone());
    let times = (0..sizes.repeats / 50).map(|_| call_all(&service, &engine.session(0), TOOL)).collect();
    engine.leave();
    vec![("parallel-slow", middle(times) / 1e3)]
}

/// How long a session's fifty calls of a tool at once take, in nanoseconds.
fn call_all(service: &Service, session: &SessionId, tool: &str) -> u64 {
    let begun = boot_nanos();
    let (answered, _waiter) = begin_calls(service, session, tool, CALLS);
    let answer = answered.recv().expect("it is answered");
    let time = boot_nanos() - begun;
    assert!(!answer.is_error, "{}", answer.value);
    time
}

/// Begins so many calls of a tool at once. The answer to all of them comes when the last one has ended; without the waiter they
/// are called off.
fn begin_calls(
    service: &Service,
    session: &SessionId,
    tool: &str,
    count: usize,
) -> (Receiver<Answer>, Option<Waiter>) {
    let action = Value::from(Map::new().with("name", tool));
    let mut args = Map::new();
    args.insert("actions".into(), Value::vector(vec![action; count]));
    let args = Value::from(args);
    let style = CallStyle { notation: Notation::Json, patience: None };
    let caller = Caller::session(session.clone()).as_model();
    let (tell, told) = channel();
    let waiter = match service.begin_tool("run_parallel", &caller, &args, style).expect("admitted") {
        Some(Called::Now(answer)) => {
            tell.send(answer).expect("the receiver is here");
            None
        }
        Some(Called::Later(pending)) => Some(pending.then(move |answer| _ = tell.send(answer))),
        None => unreachable!("the tool is there"),
    };
    (told, waiter)
}

/// What a slow tool takes.
const SLOW: Duration = Duration::from_millis(20);
/// The calls that a session may have out at a time.
#[expect(clippy::cast_possible_truncation, reason = "a few")]
const PLACES: usize = reveille::limits::CALLS_OF_SESSION.value as usize;
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

/// The middle of these times, in microseconds.
fn middle(mut times: Vec<u64>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2] as f64 / 1e3
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
    vec![
        ("condition-read", each(reading)),
        ("condition-judge", each(judging)),
        ("condition-worst", worst(sizes.repeats.min(200))),
    ]
}

/// What the dearest of the texts that are built to be dear takes, whether it is refused or judged by a result of 64 KB.
fn worst(rounds: usize) -> f64 {
    let outcome = Outcome::of_value(Value::from("x".repeat(65_000)), 65_000, Span::ZERO);
    let texts = [
        "(".repeat(1_024),
        "not ".repeat(256),
        "!".repeat(1_024),
        format!("result{}", ".a".repeat(509)),
        format!("result{} == 1", "[0]".repeat(335)),
        vec!["result contains y"; 53].join(" or "),
        vec!["len(result) > 9"; 54].join(" and "),
        format!("result in [{}]", vec!["1"; 480].join(", ")),
        format!("result == {}", "x".repeat(1_000)),
        format!("result == \"{}", "\\".repeat(1_000)),
        "a ".repeat(512),
        "\u{1f600}".repeat(256),
    ];
    let dear = |text: &String| {
        let times = (0..rounds).map(|_| {
            let begun = boot_nanos();
            if let Ok(condition) = parse_condition(std::hint::black_box(text)) {
                let circumstances = Circumstances { now: &outcome, before: None, streak: 0 };
                std::hint::black_box(judge(&condition, circumstances).holds);
            }
            boot_nanos() - begun
        });
        middle(times.collect())
    };
    texts.iter().map(dear).fold(0.0, f64::max)
}

const CONDITION: &str = "result.status_code == 200 and result.body.count > 3";
