//! The calls that SEED-001 gives as examples, as they stand there (`fixtures/primitives/examples.jsonl`), one after the other.

use std::sync::{Arc, Mutex};

use reveille::domain::{Caller, Channel, ChannelKind, Cursor, Primitives, Span};
use reveille::edn::Value;
use reveille::engine::Parcel;
use reveille::port::{Carried, Courier};
use reveille::service::Service;
use reveille::testkit::ToolPlan;

use super::world::{World, session};

/// Takes what goes to channels, and remembers it.
#[derive(Clone, Default)]
struct Desk(Arc<Mutex<Vec<String>>>);

impl Courier for Desk {
    fn carry(&self, parcel: Parcel, carried: Carried) {
        let text = format!("{}: {}", parcel.route.channel, parcel.text);
        self.0.lock().expect("no test panics in it").push(text);
        carried(Ok(()));
    }
}

fn world(desk: &Desk) -> World {
    let after = |millis: u64, value: &str| ToolPlan::After(Span::from_millis(millis), Value::from(value));
    let world = World::new(|it| {
        it.with("filesystem.read", after(300, "text"))
            .with("shell.bash", after(100, "1 passed"))
            .with("database.sql", after(12_300, "VACUUM"))
            .with("http.get", after(50, "healthy"))
    });
    world.handle.tools().switch(Primitives::all());
    world.open("s");
    let channel = |name: &str| Channel {
        name: name.into(),
        kind: ChannelKind::Webhook,
        goes_to: "https://hooks.example.com".into(),
        agents: true,
        agents_manage: false,
    };
    let channels = vec![channel("email_reports"), channel("slack_alerts")];
    assert!(world.handle.outside().open_channels(Arc::new(desk.clone()), channels));
    world
}

/// Makes a call as it stands, and says what was answered once it was, at the latest after so long.
fn answer(world: &World, call: &str, millis: u64) -> String {
    let call: serde_json::Value = serde_json::from_str(call).expect("JSON");
    let name = call["name"].as_str().expect("a name");
    let caller = Caller::session(session("s")).as_model();
    let (said, _waiter) = world.begin(name, &caller, &call["arguments"].to_string());
    world.run_for(millis);
    said.text()
}

#[test]
fn the_examples_of_the_page_do_what_it_says() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/primitives/examples.jsonl");
    let text = std::fs::read_to_string(file).expect("the examples are there");
    let calls: Vec<&str> = text.lines().collect();
    let [parallel, launch, status, cancel, wait, list, summary, health, remind, alert] = calls[..] else {
        unreachable!("{} calls", calls.len())
    };
    let desk = Desk::default();
    let world = world(&desk);
    let has = |answer: &str, words: &[&str]| {
        assert!(words.iter().all(|words| answer.contains(words)), "{words:?} in {answer}");
    };

    // The results in the order of the actions, whichever ends first.
    let said = answer(&world, parallel, 400);
    let order = ["\"text\"", "\"text\"", "\"1 passed\""];
    let places: Vec<_> = said.match_indices("\"text\"").chain(said.match_indices("\"1 passed\"")).collect();
    assert_eq!(places.iter().map(|(_, found)| *found).collect::<Vec<_>>(), order, "{said}");
    assert!(places.is_sorted(), "{said}");

    // The id of the page is no task's, and the answer says so for each of its modes.
    for mode in [status, cancel, wait] {
        has(&answer(&world, mode, 0), &["a1b2c3d4e5f6", "error"]);
    }
    let said = answer(&world, launch, 1_000);
    let id =
        said.split("\"task_id\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect(&said).to_owned();
    let of_it = |call: &str| call.replace("a1b2c3d4e5f6", &id);
    has(&answer(&world, &of_it(status), 0), &["\"status\":\"running\"", "database.sql"]);
    has(&answer(&world, list, 0), &[&id, "database.sql"]);
    has(&answer(&world, &of_it(wait), 12_000), &["\"status\":\"completed\"", "VACUUM"]);
    // Who waited for the end is not told of it again.
    assert_eq!(world.told(), Vec::<String>::new());
    answer(&world, launch, 20_000);
    let told = world.told();
    has(&told[0], &["[BACKGROUND TASK COMPLETED] task_id=", "tool=database.sql elapsed=12.3s"]);
    let said = answer(&world, launch, 1_000);
    let second = said.split("\"task_id\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect(&said);
    has(&answer(&world, &cancel.replace("a1b2c3d4e5f6", second), 100), &["cancelled"]);

    has(&answer(&world, summary, 0), &["\"job_id\":\"cron_", "tomorrow_summary"]);
    has(&answer(&world, health, 0), &["\"job_id\":\"cron_", "weekday_health_check"]);
    has(&answer(&world, remind, 121_000), &["\"job_id\":\"cron_"]);
    let told = world.told();
    let reminder = told.last().expect("it was reminded");
    assert!(reminder.starts_with("[REMINDER from cron] "), "{reminder}");
    assert!(reminder.ends_with("\nMessage: Check whether the build passed and tell the user."), "{reminder}");

    let sent = || desk.0.lock().expect("no test panics in it").clone();
    answer(&world, alert, 1_000);
    assert_eq!(sent(), ["slack_alerts: Build failed on main."]);
    // 1 January 2026 is a Thursday, and the world began at midnight: a day later both jobs have run.
    // A job that calls a tool of Reveille's own needs the service to be there when it is due. It works on a thread, so time
    // stands still until it has sent.
    let _service = Service::new(world.handle.clone());
    let mut feed = world.handle.subscribe(Cursor::START);
    world.run_for(86_400_000 - 122_000);
    while sent().len() < 2 {
        feed.next_batch(64).expect("the feed goes on");
    }
    let told = world.told().join("\n");
    assert_eq!(sent()[1..], ["email_reports: Daily summary..."], "{told}");
    has(&told, &["[SCHEDULED JOB] job_id=cron_default_weekday_health_check", "\"healthy\""]);
}

#[test]
fn the_settings_that_the_page_shows_for_watches_are_understood() {
    let world = world(&Desk::default());
    for (when, config) in [
        ("on_threshold", r#"{"expression": "result.status_code != 200"}"#),
        ("summary", r#"{"batch_size": 10}"#),
    ] {
        let call = format!(
            r#"{{"name":"watch_start","arguments":{{"name":"http.get","notify_when":"{when}","notify_config":{config}}}}}"#
        );
        let said = answer(&world, &call, 0);
        assert!(said.contains("watcher_id"), "{said}");
    }
}
