//! What lists, the timeline and changes of many schedules say: filters, counts, and what a session sees of them.

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, SessionConfig, Settings, Span, When};
use reveille::edn::read;
use reveille::engine::NewSchedule;
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::testkit::SimClock;

use crate::simulated::{self, ask, session, token};
use crate::watching;

struct Scene {
    handle: Handle,
    clock: std::sync::Arc<SimClock>,
}

impl Scene {
    /// Two sessions: `one` has a schedule that comes every minute, a one-shot, and a fresh session that nobody can make;
    /// `two` has a cron job in another zone.
    fn new() -> Scene {
        let (handle, clock) = simulated::engine(&["one", "two"]);
        let scene = Scene { handle, clock };
        scene.create(":session-id \"one\" :message \"Look at the BUILD\" :label \"often\" :every-ms 60000");
        scene.create(":session-id \"one\" :message \"once\" :delay-ms 90000");
        scene.create(
            ":session-id \"two\" :message \"news\" :cron \"0 9 * * *\" :zone \"Europe/Berlin\" :durability :durable",
        );
        scene
    }

    fn create(&self, rest: &str) -> String {
        let made = self.ask(&format!("[(psi.scheduler/create {{:kind :message {rest}}})]"));
        made.split('"').find(|part| part.starts_with("sch-")).expect(&made).to_owned()
    }

    fn ask(&self, query: &str) -> String {
        ask(&self.handle, &Caller::OPERATOR, query, false)
    }

    fn pass(&self, seconds: u64) {
        for _ in 0..seconds {
            self.clock.advance(Span::from_millis(1_000));
            self.handle.run_due();
        }
    }

    /// How many entries a list has.
    #[track_caller]
    fn check(&self, list: &str, params: &str, entry: &str, expected: usize) {
        let answer = self.ask(&format!("[{{(:{list} {{{params}}}) [:{entry}]}}]"));
        assert!(!answer.contains("error"), "{params}: {answer}");
        assert_eq!(answer.matches(&format!(":{entry} ")).count(), expected, "{params}: {answer}");
    }

    #[track_caller]
    fn schedules(&self, params: &str, expected: usize) {
        self.check("psi.scheduler/schedules", params, "psi.scheduler/schedule-id", expected);
    }

    #[track_caller]
    fn runs(&self, params: &str, expected: usize) {
        self.check("reveille.engine/runs", params, "reveille.run/id", expected);
    }
}

#[test]
fn schedules_are_found_by_what_they_say_and_how_they_stand() {
    let scene = Scene::new();
    scene.schedules("", 3);
    scene.schedules(":text \"build\"", 1);
    scene.schedules(":text \"OFTEN\"", 1);
    scene.schedules(":text \"nothing like it\"", 0);
    scene.schedules(":dialect :cron", 0);
    scene.schedules(":dialect [:psi :native]", 3);
    scene.schedules(":zone \"Europe/Berlin\"", 1);
    scene.schedules(":paused false", 3);
    scene.ask("[(psi.agent-session/pause-all {:session-id \"one\"})]");
    scene.schedules(":paused true", 2);
    scene.schedules(":paused true :text \"once\"", 1);
    scene.schedules(":failing true", 0);
}

/// Of each schedule the last 20 runs are retained: a list that reaches further back lacks some, and this says whose.
#[test]
fn schedules_that_lack_runs_are_found() {
    let scene = Scene::new();
    scene.pass(1_500);
    for (since, expected) in [("00:00:30", 1), ("00:04:00", 1), ("00:07:00", 0), ("00:20:00", 0)] {
        scene.schedules(&format!(":runs-dropped-since #inst \"2026-01-01T{since}Z\""), expected);
    }
    let done = scene.ask("[{(:psi.scheduler/schedules {:text \"often\"}) [:psi.scheduler/open-run]}]");
    assert!(done.contains("open-run nil"), "{done}");
}

/// Manual runs take the room of others, and are no slots.
#[test]
fn schedules_that_lack_manual_runs_or_runs_because_of_them_are_found() {
    let rows = [
        // Ten slots and fifteen manual runs: the first five slots are dropped.
        ("often", 600, 15, [("00:00:30", 1), ("00:05:30", 1), ("00:06:30", 0)]),
        // It has no slot that day, and one manual run is dropped.
        ("news", 0, 21, [("00:00:00", 1), ("00:00:01", 1), ("00:00:02", 0)]),
        ("news", 0, 19, [("00:00:00", 0), ("00:00:01", 0), ("00:00:02", 0)]),
    ];
    for (text, seconds, manual, expected) in rows {
        let scene = Scene::new();
        let found = scene.ask(&format!(
            "[{{(:psi.scheduler/schedules {{:text {text:?}}}) [:psi.scheduler/schedule-id]}}]"
        ));
        let id = found.split('"').nth(1).expect(&found).to_owned();
        scene.pass(seconds);
        for _ in 0..manual {
            scene.pass(1);
            scene.ask(&format!("[(psi.scheduler/run-now {{:schedule-id {id:?}}})]"));
        }
        for (since, count) in expected {
            let since = format!(":text {text:?} :runs-dropped-since #inst \"2026-01-01T{since}Z\"");
            scene.schedules(&since, count);
        }
    }
}

/// Of a watch one check that worked is retained, and bulletins do not make up for the others.
#[test]
fn watches_that_lack_checks_are_found() {
    let scene = watching::Scene::new();
    let begun = scene.handle().now().wall;
    scene.start(r#"{"name" "http.get" "interval" 60 "notify_when" "always"}"#);
    for _ in 0..4 {
        scene.pass(60);
        scene.rest();
    }
    assert!(scene.told().len() >= 3, "{:?}", scene.told());
    let asked = format!("[(:psi.scheduler/schedule-count {{:runs-dropped-since #inst \"{begun}\"}})]");
    let answer = ask(scene.handle(), &Caller::OPERATOR, &asked, false);
    assert!(answer.contains("schedule-count 1"), "{answer}");
}

#[test]
fn runs_are_listed_by_slot_state_and_session() {
    let scene = Scene::new();
    scene.pass(200);
    scene.runs("", 4);
    scene.runs(":state :delivered", 4);
    scene.runs(":state [:failed :queued]", 0);
    scene.runs(":session-id \"one\"", 4);
    scene.runs(":session-id \"two\"", 0);
    scene.runs(":cause :slot :first 2", 2);
    scene.runs(":late-ms 0", 4);
    scene.runs(":late-ms 1000", 0);
    scene.runs(":from #inst \"2026-01-01T00:01:30Z\"", 3);
    scene.runs(":from #inst \"2026-01-01T00:01:00Z\" :to #inst \"2026-01-01T00:02:00Z\"", 2);
    // The latest slot comes first, and a page goes on where the last one ended.
    let page = |after: &str| {
        let of = ":reveille.run-page/end-cursor {:reveille.run-page/runs [:reveille.run/slot]}";
        scene.ask(&format!("[{{(:reveille.engine/run-page {{:first 3 {after}}}) [{of}]}}]"))
    };
    let first = page("");
    assert!(first.contains("00:03:00.000") && !first.contains("00:01:00.000"), "{first}");
    let cursor = first.split("end-cursor \"").nth(1).and_then(|rest| rest.split('"').next()).expect(&first);
    let rest = page(&format!(":after {cursor:?}"));
    assert!(rest.contains("00:01:00.000") && !rest.contains("00:03:00.000"), "{rest}");
    // A session sees its own, and no others.
    let own = ask(&scene.handle, &token("two"), "[{:reveille.engine/runs [:reveille.run/id]}]", false);
    assert_eq!(own, "{:reveille.engine/runs []}");
}

#[test]
fn decisions_are_found_by_time_reason_and_run() {
    let scene = Scene::new();
    scene.pass(61);
    let kinds = |params: &str| {
        scene.ask(&format!("[{{(:reveille.engine/decisions {{{params}}}) [:reveille.decision/kind]}}]"))
    };
    let late = kinds(":from #inst \"2026-01-01T00:01:00Z\"");
    assert!(late.contains(":run-claimed") && !late.contains(":schedule-created"), "{late}");
    let early = kinds(":to #inst \"2026-01-01T00:01:00Z\"");
    assert!(early.contains(":schedule-created") && !early.contains(":run-claimed"), "{early}");
    let run = scene.ask("[{:reveille.engine/runs [:reveille.run/id]}]");
    let run = run.split('"').nth(1).expect(&run);
    let about = kinds(&format!(":run-id {run:?}"));
    assert!(about.contains(":run-delivered") && !about.contains("session-opened"), "{about}");
    assert_eq!(kinds(":reason :session-busy"), "{:reveille.engine/decisions []}");
}

/// The cells of a timeline as `start state count`, one a line.
fn timeline(handle: &Handle, caller: &Caller, params: &str) -> String {
    let of = "[:reveille.timeline-cell/start :reveille.timeline-cell/of :reveille.timeline-cell/state \
              :reveille.timeline-cell/count :reveille.timeline-cell/at :reveille.timeline-cell/more?]";
    ask(handle, caller, &format!("[{{(:reveille/timeline {{{params}}}) {of}}}]"), false)
}

/// What another session shares can be looked up by its id, and takes no place in what a session is told of its own future.
#[test]
fn what_others_share_is_in_no_forecast_and_no_timeline_of_a_session() {
    let scene = Scene::new();
    let settings = Settings { shared: true, ..Settings::PLAIN };
    let new = NewSchedule::message(session("one"), When::After(Span::from_millis(60_000)), "for all");
    let shared = scene.handle.schedule(NewSchedule { settings: Some(Box::new(settings)), ..new });
    let shared = shared.expect("it is created").to_string();
    let forecast = |caller: &Caller, params: &str| {
        let query = format!("[{{(:reveille/forecast {{{params}}}) [:reveille.slot/schedule-id]}}]");
        ask(&scene.handle, caller, &query, false)
    };
    let own = forecast(&token("two"), ":first 1");
    assert!(own.contains("\"sch-") && !own.contains(&shared), "{own}");
    let range = ":from #inst \"2026-01-01T00:00:00Z\" :to #inst \"2026-01-01T00:10:00Z\"";
    assert_eq!(timeline(&scene.handle, &token("two"), range), "{:reveille/timeline []}");
    let named = forecast(&token("two"), &format!(":schedule-id {shared:?}"));
    assert!(named.contains(&shared), "{named}");
    assert!(forecast(&Caller::OPERATOR, "").contains(&shared));
}

#[test]
fn a_timeline_counts_each_slot_once_in_the_past_and_in_the_future() {
    let scene = Scene::new();
    scene.pass(200);
    let range = ":from #inst \"2026-01-01T00:00:00Z\" :to #inst \"2026-01-01T00:10:00Z\" :bucket-ms 300000";
    let cells = timeline(&scene.handle, &Caller::OPERATOR, range);
    let count = |state: &str| -> u64 {
        let before = format!("/state {state} :reveille.timeline-cell/count ");
        let parts = cells.split(&before).skip(1);
        parts
            .map(|part| part.split(' ').next().and_then(|number| number.parse::<u64>().ok()).expect(part))
            .sum()
    };
    // Three minutes and the one-shot are past; the minutes 4 to 9 are to come.
    assert_eq!((count(":delivered"), count(":will-fire"), count(":failed")), (4, 6, 0), "{cells}");
    assert!(!cells.contains("more? true"), "{cells}");
    let by = timeline(&scene.handle, &Caller::OPERATOR, &format!("{range} :by :session :text \"once\""));
    assert!(by.contains(":reveille.timeline-cell/of \"one\"") && by.matches("/count 1").count() == 1, "{by}");
    // One slot alone stands at its own instant, and several have none.
    assert!(by.contains("/count 1 :reveille.timeline-cell/at #inst \"2026-01-01T00:01:30"), "{by}");
    let fourth = "/count 1 :reveille.timeline-cell/at #inst \"2026-01-01T00:04:00";
    assert!(cells.contains("/count 4 :reveille.timeline-cell/at nil") && cells.contains(fourth), "{cells}");
    // A session sees its own, and a pause is no promise.
    assert_eq!(timeline(&scene.handle, &token("two"), range), "{:reveille/timeline []}");
    scene.ask("[(psi.agent-session/pause-all {:session-id \"one\"})]");
    let paused = timeline(&scene.handle, &Caller::OPERATOR, range);
    assert!(paused.contains(":stopped") && !paused.contains(":will-fire"), "{paused}");
    for (params, word) in [
        (":from #inst \"2026-01-02\" :to #inst \"2026-01-01\"", "after from"),
        (":bucket-ms 1", "at most 1440 buckets"),
    ] {
        let answer = timeline(&scene.handle, &Caller::OPERATOR, params);
        assert!(answer.contains(word), "{params}: {answer}");
    }
}

/// A picture has room for some rows: the others are counted together, and no slot is left out.
#[test]
fn a_timeline_of_some_rows_counts_the_others_together() {
    let scene = Scene::new();
    let range = ":from #inst \"2026-01-01T00:00:00Z\" :to #inst \"2026-01-02T00:00:00Z\" :bucket-ms 86400000 :by :session";
    let cells = |rows: &str| {
        let of = "[:reveille.timeline-cell/of :reveille.timeline-cell/count :reveille.timeline-cell/others]";
        scene.ask(&format!("[{{(:reveille/timeline {{{range} {rows}}}) {of}}}]"))
    };
    let row = |of: &str, count: u32, others: &str| {
        format!(
            "{{:reveille.timeline-cell/of {of} :reveille.timeline-cell/count {count} :reveille.timeline-cell/others {others}}}"
        )
    };
    // A day of minutes and a one-shot in one session, and a morning's news in the other.
    let own = row("\"one\"", 1440, "nil");
    for (rows, other) in [
        ("", row("\"two\"", 1, "nil")),
        (":rows 2", row("\"two\"", 1, "nil")),
        (":rows 1", row("nil", 1, "1")),
    ] {
        assert_eq!(cells(rows), format!("{{:reveille/timeline [{own} {other}]}}"), "{rows}");
    }
    for rows in [":rows 0", ":rows 14401"] {
        assert!(cells(rows).contains("rows must be"), "{}", cells(rows));
        assert!(!cells(rows).contains("cell/of \"one\""), "{}", cells(rows));
    }
}

/// What a filter leaves out takes no place among the slots to come.
#[test]
fn a_filtered_timeline_has_its_slots_however_many_others_come_before() {
    let scene = Scene::new();
    // More slots before the morning than a forecast lists.
    scene.create(":session-id \"one\" :message \"m\" :every-ms 1000");
    let all = timeline(&scene.handle, &Caller::OPERATOR, "");
    assert!(all.contains("more? true"), "{all}");
    let news = timeline(&scene.handle, &Caller::OPERATOR, ":text \"news\"");
    assert!(news.contains("/count 1 ") && !news.contains("more? true"), "{news}");
}

#[test]
fn what_was_delivered_is_counted_for_a_single_slot_too() {
    let scene = Scene::new();
    scene.pass(200);
    let counts = scene.ask(
        "[{(:psi.scheduler/schedules {:text \"once\"}) [:psi.scheduler/run-count :psi.scheduler/delivered-count \
           :psi.scheduler/failed-count]}]",
    );
    assert!(
        counts.contains("run-count 1 :psi.scheduler/delivered-count 1 :psi.scheduler/failed-count 0"),
        "{counts}"
    );
}

#[test]
fn many_are_changed_only_if_they_are_as_many_as_was_said() {
    let scene = Scene::new();
    let change = |rest: &str| scene.ask(&format!("[(psi.scheduler/change-many {{{rest}}})]"));
    let dry = change(":action :pause :session-id \"one\" :dry-run true");
    assert!(dry.contains("matched-count 2") && dry.contains("changed-count 0"), "{dry}");
    scene.schedules(":paused true", 0);
    for refused in ["", ":expect-count 3"] {
        let answer = change(&format!(":action :pause :session-id \"one\" {refused}"));
        assert!(answer.contains("mutation-error") && answer.contains(":matched-count 2"), "{answer}");
        scene.schedules(":paused true", 0);
    }
    let done = change(":action :pause :session-id \"one\" :expect-count 2 :pause-reason \"quiet\"");
    assert!(done.contains("changed-count 2") && done.contains("unchanged-count 0"), "{done}");
    scene.schedules(":paused true", 2);
    assert!(change(":action :resume :expect-count 2").contains("changed-count 2"));
    // A session changes its own, whatever its filter says.
    let own = "[(psi.scheduler/change-many {:action :cancel :dry-run true})]";
    let answer = ask(&scene.handle, &token("two"), own, false);
    assert!(answer.contains("matched-count 1"), "{answer}");
}

#[test]
fn what_failed_is_tried_again_and_nothing_else() {
    let scene = Scene::new();
    scene.pass(200);
    let retry = |id: &str| scene.ask(&format!("[(psi.scheduler/retry {{:schedule-id {id:?}}})]"));
    let delivered = scene.ask("[{(:psi.scheduler/schedules {:text \"once\"}) [:psi.scheduler/schedule-id]}]");
    let delivered = delivered.split('"').nth(1).expect(&delivered);
    assert!(retry(delivered).contains("is delivered"), "{}", retry(delivered));
    // A job whose session is closed fails, and goes on once the session is there again.
    let job = "{:name \"j\" :prompt \"p\" :schedule {:kind \"once\" :at \"2026-01-01T00:10:00Z\"} \
               :target {:kind \"session\" :session_id \"gone\"}}";
    let args = read(job.as_bytes(), &REQUEST_CAPS).expect(job);
    let service = Service::new(scene.handle.clone());
    let caller = Caller::session(session("two"));
    let made =
        service.call_tool("cron_create", &caller, &args, Notation::Edn).expect("it may").expect("a tool");
    let made = made.value.to_string();
    let job = made.split('"').find(|part| part.starts_with("job_")).expect(&made);
    scene.pass(500);
    scene.schedules(":failing true", 1);
    simulated::open(&scene.handle, "gone", SessionConfig::default());
    let busy =
        |busy| scene.ask(&format!("[(psi.agent-session/set-busy {{:session-id \"gone\" :busy {busy}}})]"));
    busy(true);
    let again = retry(job);
    assert!(!again.contains("mutation-error"), "{again}");
    scene.pass(1);
    // It has not recovered as long as its run waits.
    scene.schedules(":failing true", 1);
    busy(false);
    scene.pass(1);
    scene.runs(&format!(":schedule-id {job:?} :state :delivered"), 1);
    scene.schedules(":failing true", 0);
    assert!(retry("sch-unknown").contains("schedule not found"), "{}", retry("sch-unknown"));
}
