//! The eight worst sessions at once beside a good one: it is served as if it were alone, and so is the operator.
//!
//! Ten seconds in the gate, where only what any machine can keep is asserted. `just neighbour SECONDS=600` runs ten minutes
//! of it on a release build, and holds the good session's times against those of its time alone.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::attacks::agent::Agent;
use crate::attacks::greedy::{ATTACKS, Attacker, CHANNEL};
use crate::harness::ask::only;
use crate::harness::daemon::{Daemon, Home, PATIENCE, at, eventually, now, pass, text, wall};
use crate::harness::figures::{disk, mib, rss, said, said_text, stolen};
use crate::harness::sockets::{connect, say};
use crate::harness::stream::{Harness, Stream};

/// The good session, its harness, and the operator who looks in, over a time.
#[derive(Default)]
struct Seen {
    /// How long creations took, by durability, in microseconds.
    durable: Times,
    volatile: Times,
    /// How late deliveries came, by durability, in microseconds. A durable run is on disk before it is handed over.
    durable_late: Times,
    volatile_late: Times,
    /// How long an operator's questions took, over HTTP and the Unix socket.
    operator: Times,
    /// What the operator, or the good session over HTTP, was not answered.
    failures: Vec<String>,
    rss_max: u64,
    disk_max: u64,
    /// The processor time in seconds that the machine's host took from it, by the second in which it did.
    stolen: BTreeMap<i64, f64>,
}

/// How long something took, in microseconds, each with the second in which it was over.
type Times = Vec<(i64, u64)>;

impl Seen {
    fn print(&self, when: &str) {
        println!("{when}, p50 / p99 / max in ms:");
        for (what, times) in [
            ("durable creates", &self.durable),
            ("volatile creates", &self.volatile),
            ("durable deliveries late by", &self.durable_late),
            ("volatile deliveries late by", &self.volatile_late),
            ("operator's questions", &self.operator),
        ] {
            let [p50, p99, max] = [50, 99, 100].map(|percent| shown(times, percent));
            let undisturbed = self.undisturbed(times);
            println!(
                "  {what}: {p50} / {p99} / {max} ({}); p99 while the machine had its processors: {} ({})",
                times.len(),
                shown(&undisturbed, 99),
                undisturbed.len()
            );
        }
        println!("  memory {:.0} MiB, disk {:.0} MiB at most", mib(self.rss_max), mib(self.disk_max));
        let (stolen, seconds) = (self.stolen.values().sum::<f64>(), self.stolen.len());
        println!("  processor time that its host took from the machine: {stolen:.2} s in {seconds} s");
    }

    /// Those that are held to the bound: all, as long as the host takes next to nothing in the whole run, and else those of
    /// the seconds in which it took next to nothing. What the host takes is nothing that sessions cost each other.
    fn counted(&self, times: &Times) -> Times {
        let per_second =
            self.stolen.values().sum::<f64>() / f64::from(u32::try_from(self.stolen.len()).expect("few"));
        if per_second <= STOLEN_PER_SECOND_MAX { times.clone() } else { self.undisturbed(times) }
    }

    /// Those of the seconds in which the machine had its processors.
    fn undisturbed(&self, times: &Times) -> Times {
        let is_whole =
            |second: i64| self.stolen.get(&second).is_none_or(|stolen| *stolen <= STOLEN_PER_SECOND_MAX);
        // One that was over early in a second may have waited in the one before.
        times.iter().filter(|(second, _)| is_whole(*second) && is_whole(second - 1)).copied().collect()
    }
}

/// Says when something took long, to be held against what the machine did then.
fn print_outlier(what: &str, took: u64) {
    if took > OUTLIER_MICROS {
        println!("{} {what}: {:.0} ms", wall(), millis(took));
    }
}

/// Nothing, where nothing was measured: the host may take from the processors in each second of a short run.
fn percentile(times: &[(i64, u64)], percent: usize) -> Option<u64> {
    let mut times: Vec<u64> = times.iter().map(|(_, took)| *took).collect();
    times.sort_unstable();
    times.get(times.len() * percent / 100).or(times.last()).copied()
}

/// In milliseconds.
fn shown(times: &[(i64, u64)], percent: usize) -> String {
    percentile(times, percent).map_or_else(|| "none".to_owned(), |took| format!("{:.2}", millis(took)))
}

fn millis(micros: u64) -> f64 {
    Duration::from_micros(micros).as_secs_f64() * 1_000.0
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).expect("it fits")
}

struct Good<'d> {
    home: &'d Home,
    daemon: &'d Daemon,
    agent: Agent<'d>,
    stream: Stream,
    harness: Harness,
    /// Each schedule that was acknowledged: whether it is durable, and how often it has come.
    came: BTreeMap<String, (bool, u64)>,
}

impl<'d> Good<'d> {
    fn new(home: &'d Home, daemon: &'d Daemon) -> Good<'d> {
        let agent = Agent::open(daemon, "good");
        let harness = Harness::attach(&daemon.socket, &["good".to_owned()]).expect("it lives");
        let stream = agent.stream();
        Good { home, daemon, agent, stream, harness, came: BTreeMap::new() }
    }

    /// Works for so long: five creations a second, each delivered a second later, and what it and the operator ask beside.
    fn work(&mut self, time: Duration) -> Seen {
        let (mut seen, is_on, began) = (Seen::default(), AtomicBool::new(true), now());
        let daemon = self.daemon;
        let operator = std::thread::scope(|scope| {
            let operator = scope.spawn(|| oversee(daemon, &is_on));
            let mut number = 0_u32;
            while began.elapsed_here() < time {
                self.create(&mut seen, number.is_multiple_of(2));
                self.receive(&mut seen, Duration::from_millis(200) * (number + 1), || began.elapsed_here());
                if number.is_multiple_of(5) {
                    self.ask(&mut seen);
                }
                number += 1;
            }
            is_on.store(false, Ordering::Relaxed);
            operator.join().expect("it only asks")
        });
        let all_came = |good: &Good<'_>| good.came.values().all(|(_, count)| *count > 0);
        let is_done = eventually(PATIENCE, || {
            self.receive(&mut seen, Duration::ZERO, || Duration::ZERO);
            all_came(self)
        });
        if is_done.is_none() {
            let missing = self.came.values().filter(|(_, count)| *count == 0).count();
            seen.failures
                .push(format!("{missing} deliveries of the good session are not there after {PATIENCE:?}"));
        }
        assert!(self.came.values().all(|(_, count)| *count <= 1), "twice: {:?}", self.came);
        seen.failures.extend(operator.failures);
        Seen { operator: operator.operator, stolen: operator.stolen, ..seen }
    }

    fn create(&mut self, seen: &mut Seen, is_durable: bool) {
        let durability = if is_durable { "durable" } else { "volatile" };
        let create = format!(
            "[(psi.scheduler/create {{:session-id \"good\" :kind :message :message \"wake up\" :delay-ms 1000 \
             :durability :{durability}}})]"
        );
        let began = now();
        let answer = self.stream.eql(&create).expect("the good session's stream stays");
        let took = micros(began.elapsed_here());
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                let why = at(&error, &["ok", "reveille.error/why"]).map(ToString::to_string);
                seen.failures
                    .push(format!("the good session: {}", why.unwrap_or_else(|| format!("{error:?}"))));
                return;
            }
        };
        let id = text(only(&answer), &["psi.scheduler/schedule-id"]).expect("an id").to_owned();
        self.came.insert(id, (is_durable, 0));
        print_outlier(&format!("a {durability} create"), took);
        let took = (wall().seconds(), took);
        if is_durable { seen.durable.push(took) } else { seen.volatile.push(took) }
    }

    /// Notes what comes up to that time.
    fn receive(&mut self, seen: &mut Seen, end: Duration, elapsed: impl Fn() -> Duration) {
        while let Some(receipt) =
            self.harness.next(end.saturating_sub(elapsed()).max(Duration::from_millis(1)))
        {
            let late = receipt.at.since(receipt.slot()).nanos() / 1_000;
            let schedule = receipt.run.schedule.to_string();
            let (is_durable, count) = self.came.get_mut(&schedule).expect("it was acknowledged");
            *count += 1;
            print_outlier(if *is_durable { "a durable delivery" } else { "a volatile delivery" }, late);
            let late = (receipt.at.seconds(), late);
            if *is_durable { seen.durable_late.push(late) } else { seen.volatile_late.push(late) }
        }
        seen.rss_max = seen.rss_max.max(rss(self.daemon.id()));
        seen.disk_max = seen.disk_max.max(disk(&self.home.state()) + disk(&self.home.state().join("store")));
    }

    /// A request of its own on a connection of its own: there is a seat.
    fn ask(&self, seen: &mut Seen) {
        let asked = ask_once(self.daemon, self.agent.token(), "[:psi.scheduler/pending-count]");
        seen.failures.extend(asked.err().map(|why| format!("the good session over HTTP: {why}")));
    }
}

/// One query on a connection of its own, or what came of it.
fn ask_once(daemon: &Daemon, token: &str, query: &str) -> Result<(), String> {
    let mut stream = connect(daemon, Ipv4Addr::LOCALHOST).ok_or("it does not listen")?;
    let length = query.len();
    let rest = format!(
        "Connection: close\r\nContent-Type: application/edn\r\nContent-Length: {length}\r\n\r\n{query}"
    );
    say(&mut stream, daemon, "POST /eql", token, &rest);
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(|error| error.to_string())?;
    if answer.starts_with("HTTP/1.1 200") { Ok(()) } else { Err(answer) }
}

/// The operator asks ten times a second, by turns over HTTP and the Unix socket, each time on a new connection.
fn oversee(daemon: &Daemon, is_on: &AtomicBool) -> Seen {
    let (mut seen, mut before) = (Seen::default(), stolen());
    let query = "[:reveille.engine/now :psi.scheduler/pending-count]";
    while is_on.load(Ordering::Relaxed) {
        for by_socket in [false, true] {
            let began = now();
            let failure = if by_socket {
                let answer = Stream::connect(&daemon.socket).and_then(|mut stream| stream.eql(query));
                (!matches!(answer, Some(Ok(_)))).then(|| format!("the operator over the socket: {answer:?}"))
            } else {
                ask_once(daemon, daemon.token(), query)
                    .err()
                    .map(|why| format!("the operator over HTTP: {why}"))
            };
            let took = micros(began.elapsed_here());
            print_outlier(
                if by_socket { "the operator over the socket" } else { "the operator over HTTP" },
                took,
            );
            seen.operator.push((wall().seconds(), took));
            let stolen = stolen();
            *seen.stolen.entry(wall().seconds()).or_default() += stolen - before;
            before = stolen;
            seen.failures.extend(failure);
            pass(Duration::from_millis(100));
        }
    }
    seen
}

/// Lets the eight attack while this is done. Returns what was seen, and how often they asked.
fn attack(daemon: &Daemon, work: impl FnOnce() -> Seen) -> (Seen, u64) {
    let (is_on, asked) = (AtomicBool::new(true), AtomicU64::new(0));
    let seen = std::thread::scope(|scope| {
        let (is_on, asked) = (&is_on, &asked);
        // Some alone show what they cost the others: `NEIGHBOUR_ATTACKS=as-of,edits`.
        let only = said_text("NEIGHBOUR_ATTACKS");
        for (session, attack) in ATTACKS
            .into_iter()
            .filter(|(name, _)| only.as_deref().is_none_or(|only| only.split(',').any(|it| it == *name)))
        {
            scope.spawn(move || Attacker::new(daemon, session, is_on, asked).run(attack));
        }
        // A failure must not leave them at work, since the scope waits for them.
        let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        is_on.store(false, Ordering::Relaxed);
        seen
    });
    (seen.unwrap_or_else(|panic| std::panic::resume_unwind(panic)), asked.into_inner())
}

#[test]
fn a_good_session_does_not_notice_eight_greedy_ones() {
    let home = Home::new("neighbour");
    std::fs::write(home.path().join("channels.toml"), CHANNEL).expect("ours");
    let daemon = Daemon::start_with(&home, home.serve().args(["--config", "channels.toml"]));
    let asked_for = said("NEIGHBOUR_SECONDS");
    let time = Duration::from_secs(asked_for.unwrap_or(10));
    let mut good = Good::new(&home, &daemon);
    let alone = good.work(time.min(Duration::from_secs(480)) / 4);
    alone.print("alone");
    let (beside, asked) = attack(&daemon, || good.work(time));
    beside.print(&format!("beside eight that asked {asked} times in {time:?}"));
    assert_eq!(
        (&alone.failures, &beside.failures),
        (&vec![], &vec![]),
        "the good session and the operator are always served"
    );
    assert!(beside.rss_max < RSS_MAX, "{:.0} MiB of memory", mib(beside.rss_max));
    assert!(beside.disk_max < DISK_MAX, "{:.0} MiB on disk", mib(beside.disk_max));
    if asked_for.is_some() {
        for (what, of) in [
            ("durable creates", (|seen| &seen.durable) as fn(&Seen) -> &Times),
            ("volatile creates", |seen| &seen.volatile),
            ("durable deliveries", |seen| &seen.durable_late),
            ("volatile deliveries", |seen| &seen.volatile_late),
        ] {
            let times = beside.counted(of(&beside));
            assert!(times.len() * 2 > of(&beside).len(), "its host takes the processors from this machine");
            let [alone, beside] = [&alone.counted(of(&alone)), &times]
                .map(|times| percentile(times, 99).expect("something was measured"));
            assert!(beside <= alone + MORE_MICROS, "{what}: p99 {beside} µs, {alone} µs alone");
        }
    }
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_sound();
}

/// By how much the good session may be slower than alone.
const MORE_MICROS: u64 = 10_000;
/// What the host may take from the machine, in seconds a second, where the times count: a hundredth of two processors.
const STOLEN_PER_SECOND_MAX: f64 = 0.02;
/// What is told one by one.
const OUTLIER_MICROS: u64 = 100_000;
/// Ten minutes of it took half of that, of which half was in use.
const RSS_MAX: u64 = 1_024 << 20;
/// The log's bytes, its write-ahead log, and the rows of eight sessions by their budgets.
const DISK_MAX: u64 = 1 << 30;
