//! The hot paths. Each is prepared and then run once; preparing and dropping are not counted.

use std::hint::black_box;

use reveille::calendar::{Slots, Zones, parse_cron};
use reveille::domain::{Caller, Moment, ScheduleId, Scope, Span, Trigger, When, Zone};
use reveille::edn::{Caps, read, write};
use reveille::engine::NewSchedule;
use reveille::runtime::load_rows;
use reveille::service::Service;
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};

use crate::returns;
use crate::scene::{Engine, durable};

/// A path whose instructions are counted.
pub(crate) struct HotPath {
    pub(crate) name: &'static str,
    /// The unit that `times` counts.
    pub(crate) what: &'static str,
    pub(crate) times: u64,
    pub(crate) prepare: fn(u64) -> Work,
}

/// A prepared path. What it owns is dropped after the counting.
pub(crate) type Work = Box<dyn FnMut()>;

pub(crate) const PATHS: &[HotPath] = &[
    HotPath { name: "create", what: "a volatile create", times: 2_000, prepare: create },
    HotPath { name: "cancel", what: "a cancel, in no order", times: 2_000, prepare: cancel },
    HotPath { name: "burst", what: "a run of a burst, to its receipt", times: 2_000, prepare: burst },
    HotPath { name: "next-wake", what: "the next deadline", times: 10_000, prepare: next_wake },
    HotPath {
        name: "durable-create",
        what: "a durable create, printed",
        times: 1_000,
        prepare: durable_create,
    },
    HotPath {
        name: "durable-burst",
        what: "a durable run, to its receipt",
        times: 500,
        prepare: durable_burst,
    },
    HotPath { name: "take-up", what: "a row loaded at the start", times: 2_000, prepare: take_up },
    HotPath { name: SHORT, what: "the return of a check's call, 1 KB", times: 500, prepare: returns::short },
    HotPath { name: LONG, what: "the return of a check's call, 64 KB", times: 500, prepare: returns::long },
    HotPath { name: "eql-list", what: "EQL, 100 rows of 4 fields", times: 50, prepare: eql_list },
    HotPath { name: "graphql-list", what: "GraphQL, 100 rows of 4 fields", times: 50, prepare: graphql_list },
    HotPath { name: "edn-read", what: "a byte of EDN, read", times: MEBIBYTE, prepare: edn_read },
    HotPath { name: "edn-write", what: "a byte of EDN, written", times: MEBIBYTE, prepare: edn_write },
    HotPath { name: "cron-next", what: "the next slot of a cron rule", times: 1_000, prepare: cron_next },
    HotPath { name: "forecast", what: "a day of 1,000 schedules, through EQL", times: 1, prepare: forecast },
    HotPath { name: "explain", what: "an explanation, through EQL", times: 200, prepare: explain },
    HotPath { name: FOREIGN, what: "a session asks for another's schedule", times: 200, prepare: foreign },
    HotPath { name: ABSENT, what: "a session asks for no schedule", times: 200, prepare: absent },
];

/// Pairs of paths that take as long, and by how many thousandths they may differ. What is another's takes as long as what does
/// not exist, so that a caller cannot tell them apart. An answer is not read under the lock; a bulletin copies up to 2,000
/// characters of it, which is all that the longer one takes more.
pub(crate) const ALIKE: &[(&str, &str, i64)] = &[(FOREIGN, ABSENT, 10), (SHORT, LONG, 200)];
const SHORT: &str = "return-1k";
const LONG: &str = "return-64k";
const FOREIGN: &str = "foreign";
const ABSENT: &str = "absent";

const MEBIBYTE: u64 = 1 << 20;
/// The number of other pending schedules, so that the engine's indexes have realistic depths.
const PENDING: usize = 10_000;
const CAPS: Caps = Caps { bytes_max: 4 << 20, depth_max: 64, digits_max: 512, forms_max: 4_000_000 };

fn create(times: u64) -> Work {
    let engine = Engine::with(PENDING);
    let mut new: Vec<NewSchedule> = (0..size(times)).map(|place| engine.far(place)).collect();
    Box::new(move || new.drain(..).for_each(|new| drop(engine.schedule(new))))
}

fn cancel(times: u64) -> Work {
    let engine = Engine::with(PENDING);
    let ids: Vec<ScheduleId> = (0..size(times)).map(|place| engine.schedule(engine.far(place))).collect();
    // 619 is prime to the number of ids, so this visits each of them once, in scattered order.
    let mut ids: Vec<ScheduleId> = (0..ids.len()).map(|place| ids[place * 619 % ids.len()].clone()).collect();
    Box::new(move || {
        for id in ids.drain(..) {
            engine.handle.cancel(Scope::Operator, id).expect("it is pending");
        }
    })
}

/// A burst with about ten runs per session, delivered one after the other.
fn burst(times: u64) -> Work {
    let mut engine = Engine::with(PENDING);
    for place in 0..size(times) {
        engine.schedule(engine.due(place, When::After(Span::from_millis(1))));
    }
    engine.clock.advance(Span::from_millis(1));
    Box::new(move || engine.turn_to_rest())
}

fn next_wake(times: u64) -> Work {
    let engine = Engine::with(PENDING);
    Box::new(move || {
        (0..times)
            .for_each(|_| _ = black_box(engine.handle.view(|state| state.next_wake(engine.handle.now()))))
    })
}

fn durable_create(times: u64) -> Work {
    let engine = Engine::for_schedules(size(times)).keeping();
    let mut new: Vec<NewSchedule> = (0..size(times)).map(|place| durable(engine.far(place))).collect();
    Box::new(move || new.drain(..).for_each(|new| drop(engine.schedule(new))))
}

fn durable_burst(times: u64) -> Work {
    let mut engine = Engine::for_schedules(size(times)).keeping();
    for place in 0..size(times) {
        engine.schedule(durable(engine.due(place, When::After(Span::from_millis(1)))));
    }
    engine.clock.advance(Span::from_millis(1));
    Box::new(move || engine.turn_to_rest())
}

fn take_up(times: u64) -> Work {
    let earlier = Engine::for_schedules(size(times)).keeping();
    for place in 0..size(times) {
        earlier.schedule(durable(earlier.far(place)));
    }
    let rows = earlier.rows();
    let later = Engine::for_schedules(0);
    Box::new(move || load_rows(&later.handle, &rows).expect("the rows are ours"))
}

fn hundred() -> Engine {
    let engine = Engine::for_schedules(1);
    (0..100).for_each(|place| drop(engine.schedule(engine.far(place))));
    engine
}

fn eql_list(times: u64) -> Work {
    let (engine, query) = (hundred(), LIST);
    let caller = engine.first_session();
    // Checked before the counting: a query that fails would be cheap.
    assert_eq!(engine.ask(&caller, query).matches(":pending").count(), 100);
    Box::new(move || (0..times).for_each(|_| drop(black_box(engine.ask(&caller, query)))))
}

fn graphql_list(times: u64) -> Work {
    let service = GraphqlService::new(&Service::new(hundred().handle.clone())).expect("sound roots");
    let request =
        GraphqlRequest::new("{ schedules(first: 100) { nodes { scheduleId kind status fireAt } } }");
    let answer = move || service.answer(&Caller::OPERATOR, &request, true).body;
    assert_eq!(answer().matches("PENDING").count(), 100);
    Box::new(move || (0..times).for_each(|_| drop(black_box(answer()))))
}

/// A mebibyte of EDN, as lists are answered.
fn lists() -> String {
    let engine = hundred();
    let list = engine.ask(&engine.first_session(), LIST);
    let count = size(MEBIBYTE).div_ceil(list.len());
    format!("[{}]", vec![list; count].join(" "))
}

fn edn_read(_: u64) -> Work {
    let text = lists();
    Box::new(move || drop(black_box(read(text.as_bytes(), &CAPS).expect("it was written by us"))))
}

fn edn_write(_: u64) -> Work {
    let value = read(lists().as_bytes(), &CAPS).expect("it was written by us");
    Box::new(move || {
        let mut text = String::new();
        write(&value, &mut text);
        black_box(text);
    })
}

fn cron_next(times: u64) -> Work {
    let zones = Zones::bundled();
    let cron = parse_cron("30 9 * * MON-FRI").expect("it is sound");
    let trigger = Trigger::Cron(cron.into(), Zone::parse("Europe/Berlin").expect("a zone").into());
    let begin = Moment::parse("2026-05-05T12:34:56Z").expect("an instant");
    Box::new(move || {
        let slots = Slots::new(&trigger, &zones);
        let mut at = begin;
        for _ in 0..times {
            at = slots.first_after(black_box(at)).expect("there is no end of them");
        }
    })
}

fn forecast(times: u64) -> Work {
    let engine = crons();
    let query = "[{(:reveille/forecast {:first 10000}) \
         [:reveille.slot/at :reveille.slot/schedule-id :reveille.slot/will]}]";
    assert!(engine.ask(&Caller::OPERATOR, query).matches("slot/at").count() >= 1_000);
    Box::new(move || (0..times).for_each(|_| drop(black_box(engine.ask(&Caller::OPERATOR, query)))))
}

fn explain(times: u64) -> Work {
    let mut engine = crons();
    // Three days of history, so that there is something to explain.
    for _ in 0..3 {
        engine.clock.advance(Span::from_millis(86_400_000));
        engine.turn_to_rest();
    }
    let ids = engine.handle.view(|state| {
        let schedules = state.schedules().into_iter().take(size(times));
        schedules.map(|record| record.schedule().id.clone()).collect::<Vec<ScheduleId>>()
    });
    let query = |id: &ScheduleId| format!("[{{(:reveille/explain {{:schedule-id \"{id}\"}}) {EXPLAINED}}}]");
    let queries: Vec<String> = ids.iter().map(query).collect();
    assert_eq!(queries.len(), size(times));
    assert!(engine.ask(&Caller::OPERATOR, &queries[0]).contains("sentence"));
    Box::new(move || {
        for query in &queries {
            black_box(engine.ask(&Caller::OPERATOR, query));
        }
    })
}

fn foreign(times: u64) -> Work {
    strange(times, |id| id)
}

fn absent(times: u64) -> Work {
    strange(times, |mut id| {
        // Of the same shape, and in no engine: ids end in a hexadecimal digit.
        let last = id.pop();
        id.push(if last == Some('0') { '1' } else { '0' });
        id
    })
}

/// A session reads, has explained and cancels schedules that are not its own, in the midst of many.
fn strange(times: u64, of: fn(String) -> String) -> Work {
    let engine = Engine::with(PENDING);
    let own = engine.first_session();
    let ids = engine.handle.view(|state| {
        let records = state.schedules().into_iter().map(|record| record.schedule());
        let others = records.filter(|schedule| !own.scope.covers(&schedule.owner));
        others.take(size(times)).map(|schedule| of(schedule.id.to_string())).collect::<Vec<String>>()
    });
    let queries: Vec<String> = ids
        .iter()
        .map(|id| {
            format!(
                "{{:pathom/eql [{{[:psi.scheduler/schedule-id \"{id}\"] [:psi.scheduler/status]}} \
                 {{(:reveille/explain {{:schedule-id \"{id}\"}}) {EXPLAINED}}} \
                 (psi.scheduler/cancel {{:schedule-id \"{id}\"}})] :pathom/lenient-mode? true}}"
            )
        })
        .collect();
    assert_eq!(queries.len(), size(times));
    assert!(engine.ask(&own, &queries[0]).contains("schedule not found"));
    Box::new(move || queries.iter().for_each(|query| drop(black_box(engine.ask(&own, query)))))
}

/// An engine with a thousand cron schedules.
fn crons() -> Engine {
    let engine = Engine::for_schedules(1_000);
    (0..1_000).for_each(|place| drop(engine.schedule(engine.by_cron(place))));
    engine
}

pub(crate) fn size(count: u64) -> usize {
    usize::try_from(count).expect("it is small")
}

const LIST: &str = "[{:psi.scheduler/schedules [:psi.scheduler/schedule-id :psi.scheduler/kind \
     :psi.scheduler/status :psi.scheduler/fire-at]}]";
const EXPLAINED: &str = "[:reveille.explanation/verdict :reveille.explanation/reason :reveille.explanation/slot \
     :reveille.explanation/obstacles :reveille.explanation/next-fire-at :reveille.explanation/sentence]";
