//! The log that the daemon leaves on disk, read when nobody has it open: is every slot accounted for?
//!
//! Each fact that consumes slots says which one comes next. Held against the checker's own search for slots, so that neither
//! a slot that nobody mentions nor one that is consumed twice gets through.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use reveille::domain::RunId;
use reveille::edn::{Map, Value};
use reveille_checker::{Day, Event, Moment, Span, Trigger, slots};

use crate::harness::ask::slot_of;
use crate::harness::daemon::{at, read, text};

/// What the log says of one schedule.
pub(crate) struct Account {
    trigger: Trigger,
    /// The slot that has to be dealt with next.
    next: Option<Moment>,
    pub(crate) is_cancelled: bool,
    /// The runs that are with their host.
    out: BTreeSet<String>,
    /// How often each run was handed over.
    pub(crate) attempts: BTreeMap<String, u64>,
    /// Each run, with the facts that ended it and the reason where there is one.
    pub(crate) runs: BTreeMap<String, Vec<(String, Option<String>)>>,
    pub(crate) skips: Vec<Event>,
}

pub(crate) struct Ledger {
    pub(crate) accounts: BTreeMap<String, Account>,
    /// When each life began.
    pub(crate) awakenings: Vec<Moment>,
    pub(crate) facts: u64,
}

impl Ledger {
    pub(crate) fn read(store: &Path) -> Ledger {
        let mut ledger = Ledger { accounts: BTreeMap::new(), awakenings: Vec::new(), facts: 0 };
        let connection = rusqlite::Connection::open(store).expect("it is there");
        let verdict: String =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("it can be checked");
        assert_eq!(verdict, "ok");
        let mut all = connection
            .prepare("SELECT at, nanos, payload FROM fact ORDER BY cursor")
            .expect("the table is there");
        let mut rows = all.query([]).expect("it can be read");
        while let Some(row) = rows.next().expect("it can be read") {
            let (seconds, nanos, payload): (i64, u32, Vec<u8>) =
                (row.get(0).expect("at"), row.get(1).expect("nanos"), row.get(2).expect("payload"));
            let fact = read(std::str::from_utf8(&payload).expect("UTF-8"));
            ledger.enter(Moment::new(seconds, nanos).expect("in range"), &fact);
            ledger.facts += 1;
        }
        ledger
    }

    fn enter(&mut self, now: Moment, fact: &Map) {
        let name = word(fact, "fact").expect("it says what it is");
        if name == "engine/awoke" {
            self.awakenings.push(now);
        } else if name == "schedule/created" {
            let definition = at(fact, &["schedule"]).and_then(Value::as_map).expect("a definition");
            let id = text(definition, &["id"]).expect("an id").to_owned();
            let trigger = trigger_of(definition);
            let account = Account {
                next: next(fact),
                trigger,
                is_cancelled: false,
                out: BTreeSet::new(),
                attempts: BTreeMap::new(),
                runs: BTreeMap::new(),
                skips: Vec::new(),
            };
            assert!(self.accounts.insert(id.clone(), account).is_none(), "{id} is created twice");
        } else if let Some(run) = text(fact, &["run"]) {
            let id = RunId::parse(run).expect("a run's id");
            self.account(&id.schedule.to_string()).enter_run(run, slot_of(&id), &name, fact);
        } else if let Some(id) = text(fact, &["schedule"]).filter(|_| name.starts_with("schedule/")) {
            let id = id.to_owned();
            self.account(&id).enter(&id, &name, fact);
        }
    }

    fn account(&mut self, id: &str) -> &mut Account {
        self.accounts.get_mut(id).unwrap_or_else(|| panic!("{id} was not created"))
    }

    /// Every slot up to the end has been dealt with, and every run has ended once.
    pub(crate) fn assert_settled(&self, end: Moment) {
        for (id, account) in &self.accounts {
            let is_open = !account.is_cancelled && account.next.is_some_and(|next| next < end);
            assert!(!is_open, "{id}: nothing became of the slot {:?}", account.next);
            for (run, ends) in &account.runs {
                assert_eq!(ends.len(), 1, "{run} ended {ends:?}");
                let (how, reason) = &ends[0];
                assert!(how == "run/delivered" || reason.is_some(), "{run}: {how} without a reason");
            }
        }
    }
}

impl Account {
    /// Nothing is to come, and nothing is under way.
    pub(crate) fn is_over(&self) -> bool {
        (self.is_cancelled || self.next.is_none()) && self.runs.values().all(|ends| !ends.is_empty())
    }

    fn enter(&mut self, id: &str, name: &str, fact: &Map) {
        match name {
            "schedule/changed" => {
                let definition = at(fact, &["definition"]).and_then(Value::as_map).expect("a definition");
                self.trigger = trigger_of(definition);
                self.next = next(fact);
            }
            "schedule/skipped" => {
                let (from, until) = (moment(fact, "from"), moment(fact, "until"));
                let count = at(fact, &["count"]).and_then(Value::as_int).expect("a count");
                self.consume(id, (from, until), count, next(fact));
                let reason = word(fact, "reason").expect("a reason");
                let count = u64::try_from(count).expect("it counts");
                self.skips.push(Event::Skip { schedule: id.into(), from, until, count, reason });
            }
            "schedule/cancelled" => {
                let reason = word(fact, "reason");
                assert!(reason.is_some(), "{id}: called off without a reason");
                self.is_cancelled = true;
                // With it go those of its runs that wait.
                let waits =
                    |(run, ends): &(&String, &mut Vec<_>)| ends.is_empty() && !self.out.contains(*run);
                let waiting = self.runs.iter_mut().filter(waits);
                waiting.for_each(|(_, ends)| ends.push((name.to_owned(), reason.clone())));
            }
            "schedule/armed" => self.next = next(fact),
            _ => {}
        }
    }

    fn enter_run(&mut self, run: &str, slot: Moment, name: &str, fact: &Map) {
        match name {
            "run/claimed" => {
                assert!(self.runs.insert(run.to_owned(), Vec::new()).is_none(), "{run} is claimed twice");
                let folded = at(fact, &["folded"]).and_then(Value::as_int).expect("a count");
                let first = self.next.unwrap_or_else(|| panic!("{run}: there was no slot left"));
                self.consume(run, (first, slot), folded + 1, next(fact));
            }
            "run/dispatched" => {
                assert!(!self.is_cancelled, "{run} is handed over, and its schedule was called off");
                self.out.insert(run.to_owned());
                *self.attempts.entry(run.to_owned()).or_default() += 1;
            }
            "run/queued" | "run/retrying" => _ = self.out.remove(run),
            "run/delivered" | "run/failed" | "run/cancelled" => {
                self.out.remove(run);
                let ends = self.runs.get_mut(run).unwrap_or_else(|| panic!("{run} was not claimed"));
                ends.push((name.to_owned(), word(fact, "reason")));
            }
            _ => {}
        }
    }

    /// Slots are dealt with: those that come next, as many as it says, and the one after them is the next.
    fn consume(&mut self, what: &str, (from, until): (Moment, Moment), count: i64, next: Option<Moment>) {
        assert!(!self.is_cancelled, "{what}: it is called off");
        assert_eq!(Some(from), self.next, "{what}: another slot was to come");
        let just_before = from.checked_sub(Span::from_nanos(1)).expect("in range");
        let found = slots(&self.trigger, just_before, until).expect("a trigger");
        let ends = (found.first(), found.last(), i64::try_from(found.len()).ok());
        assert_eq!(ends, (Some(&from), Some(&until), Some(count)), "{what}");
        if let Some(next) = next {
            let after = slots(&self.trigger, until, next).expect("a trigger");
            assert_eq!(after, [next], "{what}: a slot is left out");
        }
        self.next = next;
    }
}

/// A trigger in the checker's words.
pub(crate) fn trigger(trigger: &Map) -> Trigger {
    match word(trigger, "kind").as_deref() {
        Some("at") => Trigger::At { at: moment(trigger, "at") },
        Some("every") => Trigger::Every {
            period_ms: at(trigger, &["period-ms"])
                .and_then(Value::as_int)
                .and_then(|it| u64::try_from(it).ok())
                .expect("a period"),
            anchor: Some(moment(trigger, "anchor")),
            from: serde_json::from_value(word(trigger, "from").expect("a word").into())
                .expect("the words are the same"),
        },
        Some("calendar") => Trigger::Calendar {
            weekdays: at(trigger, &["weekdays"])
                .and_then(Value::as_items)
                .expect("days")
                .iter()
                .map(day)
                .collect(),
            time: text(trigger, &["time"]).expect("a time").into(),
            zone: text(trigger, &["zone"]).expect("a zone").into(),
        },
        Some("cron") => Trigger::Cron {
            expr: text(trigger, &["expr"]).expect("an expression").into(),
            zone: text(trigger, &["zone"]).expect("a zone").into(),
        },
        other => panic!("no test asks for {other:?}"),
    }
}

fn trigger_of(definition: &Map) -> Trigger {
    trigger(at(definition, &["trigger"]).and_then(Value::as_map).expect("a trigger"))
}

fn day(day: &Value) -> Day {
    let name = day.as_keyword().expect("a word").as_str();
    serde_json::from_value(name.into()).expect("the words are the same")
}

fn next(fact: &Map) -> Option<Moment> {
    at(fact, &["next"])
        .and_then(Value::as_map)
        .filter(|next| next.keyword("slot").is_some())
        .map(|next| moment(next, "slot"))
}

fn moment(map: &Map, key: &str) -> Moment {
    Moment::parse(text(map, &[key]).unwrap_or_else(|| panic!("no {key}"))).expect("an instant")
}

pub(crate) fn word(map: &Map, key: &str) -> Option<String> {
    at(map, &[key]).and_then(Value::as_keyword).map(|word| word.as_str().to_owned())
}
