//! Hours of steady work in little (T63): fifty deliveries a second, creations and cancels beside them, a kill now and then, a
//! clock that is set, a history that is cut; told are the slope of memory, descriptors, disk and the checker's verdict.
//!
//! `just soak MINUTES=15`.

use std::time::Duration;

use crate::faults::faketime::WallClock;
use crate::harness::ask::create;
use crate::harness::daemon::{Daemon, Home, PROMPT, Tick, now, pass};
use crate::harness::figures::{descriptors, disk, mib, rss, said};
use crate::harness::load::Dice;
use crate::harness::stalls::Stalls;
use crate::harness::stream::{Harness, Stream};

use reveille_checker::Event;

/// What is looked at every second.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Seconds of this life.
    age: f64,
    rss: u64,
    descriptors: usize,
    disk: u64,
}

struct Soak {
    home: Home,
    clock: Option<WallClock>,
    sessions: Vec<String>,
    dice: Dice,
    ahead: i64,
    received: usize,
    jumps: u64,
}

#[test]
fn steady_work_costs_no_more_in_the_end_than_at_the_start() {
    let length = said("MINUTES").map_or(Duration::from_secs(12), |minutes| Duration::from_secs(60 * minutes));
    let home = Home::new("soak");
    let (mut stalls, began) = (Stalls::watch(&home), now());
    let clock = WallClock::new(&home);
    let own = (0..SESSIONS).map(|number| format!("s{number}"));
    let sessions: Vec<String> = own.chain(["main".to_owned()]).collect();
    let mut soak = Soak { clock, home, sessions, dice: Dice::new(63), ahead: 0, received: 0, jumps: 0 };
    let life = (length / LIVES).min(Duration::from_secs(600));
    let mut lives: Vec<Vec<Sample>> = Vec::new();
    while began.elapsed_here() + life / 2 < length {
        lives.push(soak.live(life, lives.is_empty()));
    }
    soak.last_life();
    for (number, life) in lives.iter().enumerate() {
        let (first, last) = (life[life.len() / 4], life[life.len() - 1]);
        let most = life.iter().map(|sample| sample.descriptors).max().unwrap_or_default();
        println!(
            "life {number}: {:.0} s, memory {:.1} MiB then {:.1} MiB ({:+.1} MiB/h), at most {most} descriptors, disk {:.1} MiB",
            last.age,
            mib(first.rss),
            mib(last.rss),
            slope(&life[life.len() * 3 / 4..]),
            mib(last.disk)
        );
        assert!(most < 128, "{most} descriptors");
        assert!(last.disk < DISK_MAX, "{:.1} MiB on disk", mib(last.disk));
    }
    let report = crate::harness::diary::Diary::of(soak.home.path()).assert_clean(None, PROMPT + stalls.end());
    println!("{:?}, {} received, {} jumps: {report}", began.elapsed_here(), soak.received, soak.jumps);
    assert!(soak.received > usize::try_from(length.as_secs()).expect("few") * 25, "this is no load");
}

impl Soak {
    /// One life, cut short by a kill.
    fn live(&mut self, length: Duration, is_first: bool) -> Vec<Sample> {
        let (daemon, harness, mut stream) = self.start();
        if is_first {
            self.make_recurring(&mut stream);
        }
        let (began, mut samples, mut jumped) = (now(), Vec::new(), now());
        while began.elapsed_here() < length {
            self.ask(&mut stream);
            pass(Duration::from_millis(250));
            if samples.len() < usize::try_from(began.elapsed_here().as_secs()).expect("few") {
                samples.push(self.look(&daemon, began));
            }
            if jumped.elapsed_here() > (length / 4).min(Duration::from_secs(40)) {
                self.set_clock();
                jumped = now();
            }
        }
        daemon.kill();
        self.received += harness.finish().len();
        samples
    }

    /// All that recurs is called off, and what is out comes home.
    fn last_life(&mut self) {
        let (daemon, harness, mut stream) = self.start();
        pass(PROMPT);
        let all = "[{(:psi.scheduler/schedules {:status [:pending :queued]}) [:psi.scheduler/schedule-id]}]";
        let found = stream.eql(all).expect("it lives").expect("it is answered");
        let list = crate::harness::daemon::at(&found, &["psi.scheduler/schedules"]);
        for schedule in list.and_then(reveille::edn::Value::as_items).expect("a list") {
            let id = schedule
                .as_map()
                .and_then(|it| crate::harness::daemon::text(it, &["psi.scheduler/schedule-id"]));
            cancel(&mut stream, id.expect("an id"));
        }
        assert_eq!(daemon.end("-TERM").code(), Some(0));
        self.received += harness.finish().len();
        self.home.assert_sound();
    }

    fn start(&self) -> (Daemon, Harness, Stream) {
        let mut serve = self.home.serve();
        self.clock.iter().for_each(|clock| _ = clock.on(&mut serve));
        let daemon = Daemon::start_with(&self.home, &mut serve);
        let harness = Harness::attach(&daemon.socket, &self.sessions).expect("it lives");
        let stream = Stream::connect(&daemon.socket).expect("it lives");
        (daemon, harness, stream)
    }

    fn make_recurring(&self, stream: &mut Stream) {
        for number in 0..PER_SECOND {
            let session = &self.sessions[usize::try_from(number % SESSIONS).expect("few")];
            let ask = format!(":durability :durable :message \"m\" {POLICY} :every-ms 1000");
            let id = crate::harness::ask::create_in(stream, session, &ask).expect("it is made");
            crate::harness::ask::note_created(stream, &id);
        }
    }

    /// A few that come once, and one that is called off.
    fn ask(&mut self, stream: &mut Stream) {
        let delay = 100 + self.dice.below(900);
        create(stream, &format!(":durability :durable :message \"m\" {POLICY} :delay-ms {delay}"))
            .expect("it is made");
        let id = create(stream, &format!(":durability :durable :message \"m\" {POLICY} :delay-ms 3600000"));
        cancel(stream, &id.expect("it is made"));
    }

    /// Ahead or back by up to half a minute, and never more than that from where it was.
    fn set_clock(&mut self) {
        let by = i64::try_from(self.dice.below(60)).expect("few") - 30 - self.ahead;
        if let Some(clock) = self.clock.as_mut().filter(|_| by != 0) {
            clock.jump(by);
            self.ahead += by;
            self.jumps += 1;
        }
    }

    fn look(&self, daemon: &Daemon, began: Tick) -> Sample {
        Sample {
            age: began.elapsed_here().as_secs_f64(),
            rss: rss(daemon.id()),
            descriptors: descriptors(daemon.id()),
            disk: disk(&self.home.state().join("store")),
        }
    }
}

fn cancel(stream: &mut Stream, id: &str) {
    let cancelled =
        stream.eql(&format!("[(psi.scheduler/cancel {{:schedule-id {id:?}}})]")).expect("it lives");
    if cancelled.is_ok() {
        // One that is out may still arrive for a moment.
        let at = crate::harness::ask::later(stream.diary.now(), 200);
        stream.diary.note(Event::Cancel { at, schedule: id.to_owned() });
    }
}

/// The line through the samples that is nearest to them, in MiB an hour. The last ones are looked at: what is kept for readers
/// (decisions, finished schedules) fills up first.
fn slope(samples: &[Sample]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "few")]
    let count = samples.len() as f64;
    let mean = |of: fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>() / count;
    let (age, memory) = (mean(|it| it.age), mean(|it| mib(it.rss)));
    let apart: f64 = samples.iter().map(|it| (it.age - age) * (mib(it.rss) - memory)).sum();
    let width: f64 = samples.iter().map(|it| (it.age - age).powi(2)).sum();
    if width > 0.0 { 3_600.0 * apart / width } else { 0.0 }
}

const PER_SECOND: u64 = 50;
const SESSIONS: u64 = 10;
const LIVES: u32 = 3;
const POLICY: &str = ":policy {:overlap :parallel :recovery :redeliver}";
/// The history's bound, the write-ahead log's, and room for what they do not count.
const DISK_MAX: u64 =
    reveille::limits::HISTORY_BYTES.value + reveille::limits::STORE_WAL_BYTES.value + (64 << 20);
