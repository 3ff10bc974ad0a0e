//! Measures tokio-cron-scheduler: one job that runs once per schedule, on a tokio runtime with a
//! thread per processor.
//!
//! `peer-timers MEASURE [--quick]` prints lines of a name and a number. Twice a second the crate
//! scans all its jobs: this explains its lateness and its idle time, and is why it gets ten
//! thousand jobs instead of a million. It truncates the present and a delay to whole seconds, so a
//! job between two seconds comes up to two seconds early; the burst is therefore due on a whole
//! second. Its channels are as long as the burst, because it drops what does not fit into one.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use system::{boot_nanos, processor_time, resident_bytes};
use tokio::time::sleep;
use tokio_cron_scheduler::{Job, JobScheduler};
use uuid::Uuid;
use workload::{Random, message, number};

#[expect(dead_code, reason = "the product's bench needs more of it")]
#[path = "../../../table/system.rs"]
mod system;
#[expect(dead_code, reason = "the product's bench needs more of it")]
#[path = "../../../table/workload.rs"]
mod workload;

type Figures = Vec<(&'static str, f64)>;

struct Sizes {
    pending: usize,
    fires: usize,
    rate: usize,
    rate_seconds: usize,
    idle_seconds: u64,
}

const FULL: Sizes = Sizes { pending: 10_000, fires: 2_000, rate: 200, rate_seconds: 5, idle_seconds: 10 };
const QUICK: Sizes = Sizes { pending: 500, fires: 100, rate: 50, rate_seconds: 1, idle_seconds: 1 };

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sizes = if arguments.iter().any(|argument| argument == "--quick") { QUICK } else { FULL };
    let figures = match arguments.first().map(String::as_str) {
        Some("fill") => fill(&sizes).await,
        Some("burst") => burst(&sizes).await,
        Some("rate") => rate(&sizes).await,
        Some("idle") => idle(&sizes).await,
        _ => return ExitCode::FAILURE,
    };
    for (name, value) in figures {
        println!("{name} {value}");
    }
    ExitCode::SUCCESS
}

async fn fill(sizes: &Sizes) -> Figures {
    let scheduler = start(sizes).await;
    let mut random = Random::new();
    let (before, start) = (resident_bytes(), boot_nanos());
    let mut ids = Vec::with_capacity(sizes.pending);
    for place in 0..sizes.pending {
        ids.push(create(&scheduler, place, random.far_delay(), |_| ()).await);
    }
    let create = rate_of(sizes.pending, start);
    let memory = resident_bytes().saturating_sub(before) as f64 / sizes.pending as f64;
    random.shuffle(&mut ids);
    let start = boot_nanos();
    for id in &ids {
        scheduler.remove(id).await.expect("a pending job can be removed");
    }
    vec![("create", create), ("memory", memory), ("cancel", rate_of(sizes.pending, start))]
}

async fn burst(sizes: &Sizes) -> Figures {
    let scheduler = start(sizes).await;
    pending(&scheduler, sizes.pending - sizes.fires).await;
    let (arrived, last) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicU64::new(0)));
    let due = whole_second(lead_nanos(sizes.fires));
    for place in 0..sizes.fires {
        let (arrived, last) = (Arc::clone(&arrived), Arc::clone(&last));
        let note = move |_| {
            arrived.fetch_add(1, Ordering::Relaxed);
            last.fetch_max(boot_nanos(), Ordering::Relaxed);
        };
        // The remaining time, rounded up, plus the present, truncated by the crate, gives exactly
        // that second.
        let whole = Duration::from_secs(until(due).as_secs_f64().ceil() as u64);
        create(&scheduler, place, whole, note).await;
    }
    assert!(boot_nanos() < due, "creating took longer than the lead: the burst was cut");
    all_arrived(&arrived, sizes.fires).await;
    let took = last.load(Ordering::Relaxed).checked_sub(due).expect("nothing is due before a whole second");
    vec![("burst-rate", sizes.fires as f64 * 1e6 / took as f64)]
}

async fn rate(sizes: &Sizes) -> Figures {
    let fires = sizes.rate * sizes.rate_seconds;
    let scheduler = start(sizes).await;
    pending(&scheduler, sizes.pending - fires).await;
    let (mut random, mut dues) = (Random::new(), Vec::with_capacity(fires));
    let arrived = Arc::new(AtomicUsize::new(0));
    let receptions: Arc<Vec<AtomicU64>> = Arc::new((0..fires).map(|_| AtomicU64::new(0)).collect());
    let first = boot_nanos() + lead_nanos(fires);
    for place in 0..fires {
        let (arrived, receptions) = (Arc::clone(&arrived), Arc::clone(&receptions));
        let note = move |place: usize| {
            receptions[place].store(boot_nanos(), Ordering::Relaxed);
            arrived.fetch_add(1, Ordering::Release);
        };
        let due = first + u64::try_from(random.within(sizes.rate_seconds).as_nanos()).unwrap_or(0);
        create(&scheduler, place, until(due), note).await;
        dues.push(due);
    }
    assert!(boot_nanos() < first, "creating took longer than the lead: the load was cut");
    all_arrived(&arrived, fires).await;
    let seen = receptions.iter().map(|at| at.load(Ordering::Relaxed));
    let late: Vec<f64> = dues.iter().zip(seen).map(|(due, at)| (at as f64 - *due as f64) / 1e6).collect();
    let early = late.iter().filter(|late| **late < 0.0).count();
    // An early delivery is as wrong as a late one, so the distance counts.
    let mut off: Vec<f64> = late.into_iter().map(f64::abs).collect();
    off.sort_unstable_by(f64::total_cmp);
    let at = |permille: usize| off[(fires * permille / 1_000).min(fires - 1)];
    vec![("late-p50", at(500)), ("late-p99", at(990)), ("early", early as f64)]
}

async fn idle(sizes: &Sizes) -> Figures {
    let scheduler = start(sizes).await;
    pending(&scheduler, sizes.pending).await;
    // Lets the work of filling end before the idle time is measured.
    sleep(Duration::from_secs(1)).await;
    let (time, processor) = (boot_nanos(), processor_time());
    sleep(Duration::from_secs(sizes.idle_seconds)).await;
    let used = (processor_time() - processor).as_nanos() as f64;
    vec![("idle", used * 100.0 / (boot_nanos() - time) as f64)]
}

async fn start(sizes: &Sizes) -> JobScheduler {
    let channel = (2 * sizes.fires).next_power_of_two();
    let scheduler = JobScheduler::new_with_channel_size(channel).await.expect("it has a store in memory");
    scheduler.start().await.expect("it starts");
    scheduler
}

async fn pending(scheduler: &JobScheduler, count: usize) {
    let mut random = Random::new();
    for place in 0..count {
        create(scheduler, place, random.far_delay(), |_| ()).await;
    }
}

/// Creates a job that records the number of its message once.
async fn create(
    scheduler: &JobScheduler,
    place: usize,
    after: Duration,
    note: impl Fn(usize) + Send + Sync + 'static,
) -> Uuid {
    let text = message(place);
    let job = Job::new_one_shot(after, move |_, _| note(number(&text))).expect("a delay and a closure");
    scheduler.add(job).await.expect("it is taken")
}

/// The lead before the first deadline: half a millisecond per create, and two seconds.
fn lead_nanos(creates: usize) -> u64 {
    2_000_000_000 + creates as u64 * 500_000
}

/// The first whole second of the wall clock after `lead`, as a boot time.
fn whole_second(lead: u64) -> u64 {
    let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is after 1970");
    let wall = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX) + lead;
    boot_nanos() + lead + wall.next_multiple_of(1_000_000_000) - wall
}

fn until(due: u64) -> Duration {
    Duration::from_nanos(due.saturating_sub(boot_nanos()))
}

async fn all_arrived(arrived: &AtomicUsize, count: usize) {
    while arrived.load(Ordering::Acquire) < count {
        sleep(Duration::from_millis(20)).await;
    }
}

/// Millions per second since a reading of the clock.
fn rate_of(count: usize, start: u64) -> f64 {
    count as f64 * 1_000.0 / (boot_nanos() - start) as f64
}
