//! Watches: which checks are told (T29, T30, T33, T34, T43 to T46, T50, T51), what is remembered, and what the tools refuse.

#![expect(clippy::panic, reason = "a helper of tests says which row it failed on")]

mod calls;
mod flapping;
mod memory;
mod page;

use std::fmt::Write as _;
use std::sync::Arc;

use reveille::dialect::Notation;
use reveille::dialect::watch::{Call, Tool, WatchDraft, parse};
use reveille::domain::{Downtime, Filter, Lasted, Moment, Outcome, Span, Watch, Weighed, Why};
use reveille::edn::{Caps, Map, Value, read};
use reveille::engine::{Checked, Look, read_outcome, remember_check, summed_up, weigh};

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 16, digits_max: 100, forms_max: 100_000 };

fn table(name: &str) -> Value {
    let path = format!("{}/fixtures/watch/{name}.edn", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the table is there");
    read(text.as_bytes(), &CAPS).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn part<'v>(row: &'v Value, key: &str) -> Option<&'v Value> {
    row.as_map().and_then(|row| row.keyword(key))
}

fn at(seconds: u64) -> Moment {
    Moment::EPOCH.checked_add(Span::from_millis(seconds * 1_000)).expect("within the calendar")
}

/// The watch that these arguments of `watch_start` describe; the tool is `http.get` unless they say otherwise.
fn started(args: &Value) -> WatchDraft {
    let mut all = Map::new();
    all.insert("name".into(), "http.get".into());
    all.extend(args.as_map().expect("a map").clone());
    match parse(Tool::Start, &Value::Map(all), Notation::Json) {
        Ok(Call::Start(draft)) => *draft,
        other => panic!("{args}: {other:?}"),
    }
}

/// A watch, its filter and its clock.
struct World {
    filter: Arc<Filter>,
    watch: Watch,
    now: Moment,
    interval: Span,
    max_checks: u64,
}

impl World {
    fn new(draft: WatchDraft) -> World {
        let WatchDraft { filter, interval, max_checks, .. } = draft;
        let (now, max_checks) = (at(0), u64::from(max_checks));
        World { filter: Arc::new(filter), watch: Watch::FRESH, now, interval, max_checks }
    }

    fn pass(&mut self, span: Span) {
        self.now = self.now.checked_add(span).expect("within the calendar");
    }

    /// Makes the next check, one interval later. What is told arrives at once.
    fn check(&mut self, outcome: Outcome) -> (Weighed, String) {
        self.pass(self.interval);
        let reading = read_outcome(&Look::of(&self.watch, Arc::clone(&self.filter)), Arc::new(outcome));
        let is_last = self.watch.tally.checks + 1 == self.max_checks;
        let check = Checked { since: at(0), at: self.now, is_last };
        let weighed = weigh(&self.watch, &self.filter, &reading, check);
        let batch = summed_up(&self.watch, &reading);
        let ends = (batch.newest.first().expect("one").check, batch.newest.last().expect("one").check);
        let told = weighed.told.map_or_else(|| "nil".to_owned(), |why| printed(why, ends));
        remember_check(&mut self.watch, &self.filter, &reading, &weighed, self.now);
        self.watch.has_arrived(weighed.tally.checks);
        (weighed, told)
    }
}

fn printed(why: Why, (first, last): (u64, u64)) -> String {
    match why {
        Why::Every => "every".to_owned(),
        Why::Changed(lasted) => format!("changed{}", length(lasted)),
        Why::Failed(lasted) => format!("failed{}", length(lasted)),
        Why::Recovered { errors, lasted } => format!("recovered {errors}{}", length(lasted)),
        Why::Holds(lasted) => format!("holds{}", length(lasted)),
        Why::Ceased(lasted) => format!("ceased{}", length(lasted)),
        Why::Batch => format!("batch {first}-{last}"),
        Why::Silent(span) => format!("silent {}s", span.millis() / 1_000),
        Why::Heard => "heard".to_owned(),
    }
}

fn length(lasted: Option<Lasted>) -> String {
    let Some(Lasted { checks, span, unseen }) = lasted else { return String::new() };
    let unseen = match unseen.millis() {
        0 => String::new(),
        millis => format!(" unseen {}s", millis / 1_000),
    };
    format!(" {checks}/{}s{unseen}", span.millis() / 1_000)
}

/// `(error "text")`, `(later 60)`, `(down 60)`: the word and what follows it.
fn special(check: &Value) -> Option<(&str, &Value)> {
    let Value::List(items) = check else { return None };
    let [word, argument] = &**items else { return None };
    Some((word.as_symbol()?.as_str(), argument))
}

fn outcome(check: &Value) -> Outcome {
    match special(check) {
        Some((_, text)) => Outcome::of_error(text.as_str().expect("a text"), Span::ZERO),
        None => Outcome::of_value(check.clone(), 10, Span::ZERO),
    }
}

/// T29, T30, T31, T33, T34, T43, T44, T45, T46, T50.
#[test]
fn the_table_of_strategies_holds() {
    let table = table("strategies");
    let rows = table.as_items().expect("rows");
    assert!(rows.len() > 45);
    let mut faults = String::new();
    for row in rows {
        let mut world = World::new(started(part(row, "start").expect("arguments")));
        let mut told = Vec::new();
        for check in part(row, "checks").and_then(Value::as_items).expect("checks") {
            let seconds = |argument: &Value| {
                let seconds = argument.as_int().and_then(|seconds| u64::try_from(seconds).ok());
                Span::from_millis(seconds.expect("seconds") * 1_000)
            };
            match special(check) {
                Some(("later", argument)) => world.pass(seconds(argument)),
                Some(("down", argument)) => {
                    let from = world.now;
                    world.pass(seconds(argument));
                    world.watch.was_unseen(&Downtime { from, until: world.now }, world.interval);
                }
                Some(_) | None => told.push(world.check(outcome(check)).1),
            }
        }
        let wanted = part(row, "told").and_then(Value::as_items).expect("what is told").iter();
        let wanted: Vec<_> = wanted.map(|why| why.as_str().unwrap_or("nil").to_owned()).collect();
        if told != wanted {
            writeln!(faults, "{row}\n  is {told:?}").expect("a string grows");
        }
    }
    assert!(faults.is_empty(), "{faults}");
}
