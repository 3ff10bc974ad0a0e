//! The wall clock jumps under a living daemon (T20): what counts by its delay does not notice, what counts by the clock
//! follows it, and nothing fires twice.

use std::collections::BTreeSet;
use std::time::Duration;

use reveille::edn::Value;
use reveille_checker::Moment;

use crate::faults::faketime::WallClock;
use crate::harness::ask::create;
use crate::harness::daemon::{Daemon, Home, Tick, at, now};
use crate::harness::stream::{Harness, Receipt, Stream};

struct Site {
    clock: WallClock,
    harness: Harness,
    stream: Stream,
    daemon: Daemon,
    home: Home,
}

impl Site {
    fn start(name: &str) -> Option<Site> {
        let home = Home::new(name);
        let clock = WallClock::new(&home)?;
        let daemon = Daemon::start_with(&home, clock.on(&mut home.serve()));
        let harness = Harness::attach(&daemon.socket, &["main".to_owned()]).expect("it lives");
        let stream = Stream::connect(&daemon.socket).expect("it lives");
        let mut site = Site { clock, harness, stream, daemon, home };
        // Or all that follows would be of no worth.
        site.clock.jump(7_200);
        let shown = site.shown();
        site.assert_shown(shown);
        site.clock.jump(-7_200);
        Some(site)
    }

    /// What the daemon's clock shows.
    fn shown(&mut self) -> Moment {
        let answer = self.stream.eql("[:reveille.engine/now]").expect("it lives").expect("it is answered");
        let now = at(&answer, &["reveille.engine/now"]).and_then(Value::as_inst).expect("an instant");
        Moment::new(now.seconds(), now.nanos()).expect("in range")
    }

    fn assert_shown(&self, shown: Moment) {
        let apart = self.clock.now().since(shown).millis().max(shown.since(self.clock.now()).millis());
        assert!(apart < 2_000, "its clock was not set: it shows {shown}, and should {}", self.clock.now());
    }

    fn durable_at(&mut self, when: Moment) -> String {
        let ask = format!(":durability :durable :message \"m\" :at \"{when}\"");
        create(&mut self.stream, &ask).expect("it lies ahead")
    }

    /// Nothing is missing or twice in all that was seen, by the clock as it was set.
    fn end(self) {
        assert_eq!(self.daemon.end("-TERM").code(), Some(0));
        self.home.assert_history();
    }

    /// Everything that comes within the time, with when it came.
    fn listen(&self, time: Duration) -> Vec<(Tick, Receipt)> {
        let began = now();
        let mut heard = Vec::new();
        while let Some(left) = time.checked_sub(began.elapsed_here()) {
            heard.extend(self.harness.next(left).map(|receipt| (now(), receipt)));
        }
        heard
    }
}

fn of<'r>(heard: &'r [(Tick, Receipt)], id: &str) -> Vec<&'r (Tick, Receipt)> {
    heard.iter().filter(|(_, receipt)| receipt.run.schedule.to_string() == id).collect()
}

const HOUR: i64 = 3_600;
const YEAR: i64 = 365 * 86_400;

#[test]
fn jumps_of_the_clock_move_no_delay_and_wake_what_they_make_due() {
    let Some(mut site) = Site::start("clock") else { return };
    let (mut worst, mut slowest) = (Duration::ZERO, Duration::ZERO);
    for jump in [HOUR, -HOUR, -1, 10 * YEAR, -10 * YEAR] {
        let delay = Duration::from_millis(1_500);
        let asked = now();
        let volatile =
            create(&mut site.stream, ":durability :volatile :delay-ms 1500 :message \"m\"").expect("it is");
        // Due half a minute before where a jump ahead leads to, or far away for the others.
        let ahead = Duration::from_secs(u64::try_from(jump - 30).unwrap_or(2 * HOUR as u64));
        let due = site.clock.ahead(ahead);
        let durable = site.durable_at(due);
        // And one that has fired before the clock goes back over it.
        let fired = (jump < 0).then(|| {
            let soon = site.clock.ahead(Duration::from_millis(200));
            let id = site.durable_at(soon);
            let heard = site.listen(Duration::from_millis(1_300));
            assert_eq!(of(&heard, &id).len(), 1, "{jump}: before the jump");
            id
        });
        site.clock.jump(jump);
        let jumped = now();
        let heard = site.listen(Duration::from_millis(2_400));
        let in_time = of(&heard, &volatile);
        assert_eq!(in_time.len(), 1, "{jump}: the delay");
        let came = asked.elapsed_here() - in_time[0].0.elapsed_here();
        assert!(came >= delay, "{jump}: {came:?} is early");
        worst = worst.max(came - delay);
        assert!(came < delay + Duration::from_millis(500), "{jump}: {:?} late", came - delay);
        let followed = of(&heard, &durable);
        assert_eq!(followed.len(), usize::from(jump > 0), "{jump}: what the clock went over");
        if let Some((came, _)) = followed.first() {
            let after = jumped.elapsed_here() - came.elapsed_here();
            slowest = slowest.max(after);
            assert!(after < Duration::from_secs(2), "{jump}: {after:?} after the jump");
        }
        fired.iter().for_each(|id| assert_eq!(of(&heard, id).len(), 0, "{jump}: a second time"));
        let shown = site.shown();
        site.assert_shown(shown);
    }
    println!(
        "delays at most {worst:?} late over five jumps; what a jump made due came at most {slowest:?} after it"
    );
    site.end();
}

/// Nothing else wakes this daemon: it has been idle for longer than it takes to fall asleep for long.
#[test]
fn a_jump_is_noticed_by_a_daemon_that_waits_for_nothing_else() {
    let Some(mut site) = Site::start("clock-alone") else { return };
    assert!(site.listen(Duration::from_millis(1_500)).is_empty());
    let due = site.clock.ahead(Duration::from_secs(3_570));
    let id = site.durable_at(due);
    assert!(site.listen(Duration::from_millis(300)).is_empty());
    site.clock.jump(HOUR);
    let jumped = now();
    let receipt = site.harness.next(Duration::from_secs(2)).expect("within two seconds of the jump");
    println!("noticed {:?} after the jump", jumped.elapsed_here());
    assert_eq!(receipt.run.schedule.to_string(), id);
    site.end();
}

#[test]
fn a_clock_that_is_set_again_and_again_fires_nothing_twice() {
    let Some(mut site) = Site::start("clock-steps") else { return };
    let every =
        create(&mut site.stream, ":durability :durable :every-ms 1000 :message \"m\"").expect("it is made");
    let count = 16;
    let asked = now();
    let volatile: Vec<(String, u64)> = (1..=count)
        .map(|place| {
            let delay = place * 1_000;
            let ask = format!(":durability :volatile :delay-ms {delay} :message \"m\"");
            (create(&mut site.stream, &ask).expect("it is made"), delay)
        })
        .collect();
    let mut heard = Vec::new();
    let mut worst = Duration::ZERO;
    for jump in [25, -25, 25, -25, 25] {
        heard.extend(site.listen(Duration::from_secs(3)));
        site.clock.jump(jump);
    }
    heard.extend(site.listen(Duration::from_millis(2_500)));
    for (id, delay) in &volatile {
        let came = of(&heard, id);
        assert_eq!(came.len(), 1, "delay {delay}");
        // What the requests themselves took is in the figure.
        let came = asked.elapsed_here() - came[0].0.elapsed_here();
        let late = came
            .checked_sub(Duration::from_millis(*delay))
            .unwrap_or_else(|| panic!("{delay} came after {came:?}"));
        assert!(late < Duration::from_millis(500), "delay {delay}: {late:?} late");
        worst = worst.max(late);
    }
    let slots: Vec<Moment> = of(&heard, &every).iter().map(|(_, receipt)| receipt.slot()).collect();
    let once: BTreeSet<Moment> = slots.iter().copied().collect();
    assert_eq!(once.len(), slots.len(), "a slot fired twice: {slots:?}");
    assert!(slots.is_sorted(), "{slots:?}");
    // A slot in each second, but for two stretches of three seconds that repeat what was; and one late for each jump ahead.
    let ahead = asked.elapsed_here().as_secs() - 6;
    let most = usize::try_from(ahead + 4).expect("a test is short");
    println!("delays at most {worst:?} late over five steps; the interval fired {} times", slots.len());
    assert!((6..=most).contains(&slots.len()), "{} times: {slots:?}", slots.len());
    site.end();
}
