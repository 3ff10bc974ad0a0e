//! What is exported is the history: each change with its own time and revision, the same in each export, and what is missing
//! is said.

use std::num::NonZeroU32;

use reveille::app;
use reveille::domain::{
    Caller, CountFrom, Cursor, Dialect, Durability, Every, HostId, Lifetime, ScheduleId, Scope,
    SessionConfig, Settings, Span, Trigger, When,
};
use reveille::engine::{Command, NewSchedule, ScheduleChange};
use reveille::port::{Clock, FactRecord};
use reveille::runtime::codec;
use reveille::service::export::{ScheduleLog, restore};
use serde_json::Value as Json;

use super::log::Log;
use super::scene::{Scene, at, session};

fn scene() -> Scene {
    Scene::new("2026-06-01T00:00:00Z", "UTC")
}

/// Makes a job through the tool, and returns its id.
fn job(scene: &mut Scene, name: &str) -> ScheduleId {
    job_of(scene, "s", name)
}

fn job_of(scene: &mut Scene, owner: &str, name: &str) -> ScheduleId {
    let call = format!(
        r#"{{:name "{name}" :prompt "look" :schedule {{:kind :daily :time "08:00" :timezone "UTC"}}}}"#
    );
    let answer = scene.call(&Caller::session(session(owner)), "cron_create", &call);
    assert!(!answer.is_error, "{answer:?}");
    let found = scene.handle.view(|state| {
        let made =
            state.schedules().into_iter().find(|record| record.schedule().label.as_deref() == Some(name));
        made.map(|record| record.schedule().id.clone())
    });
    found.expect("it was made")
}

fn lines(text: &str) -> Vec<Json> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn second() -> Span {
    Span::from_millis(1_000)
}

/// A job that was created, paused, resumed, updated and deleted, one second apart.
fn changed(scene: &mut Scene) -> ScheduleId {
    let id = job(scene, "watch");
    scene.pass(second());
    scene.command(Command::PauseSchedule { which: Scene::any(&id), reason: None }).expect("it is there");
    scene.pass(second());
    scene.command(Command::ResumeSchedule(Scene::any(&id))).expect("it is there");
    scene.pass(second());
    let change = ScheduleChange { text: Some("look again".into()), ..ScheduleChange::default() };
    scene
        .command(Command::ChangeSchedule { which: Scene::any(&id), change: Box::new(change) })
        .expect("it is there");
    id
}

#[test]
fn each_change_of_a_job_is_a_line_with_its_own_time_and_revision() {
    let mut scene = scene();
    let id = changed(&mut scene);
    scene.pass(second());
    scene.command(Command::DeleteSchedule(Scene::any(&id))).expect("it is there");
    // Nothing is told of when the export was made.
    scene.pass(Span::from_millis(3_600_000));
    let log = Log::of(&scene);
    let exported = log.export();
    assert_eq!(exported.said, Vec::<String>::new());
    let jobs = lines(exported.file("jobs.jsonl"));
    let told = |line: &Json| {
        let revision =
            line.pointer("/revision").or_else(|| line.pointer("/job/revision")).and_then(Json::as_u64);
        let text = |key: &str| line.pointer(key).and_then(Json::as_str).expect("a text").to_owned();
        (text("/type"), text("/timestamp"), revision.expect("a number"))
    };
    let kinds = ["job_created", "job_updated", "job_updated", "job_updated", "job_deleted"];
    let expected = (0..5).map(|place: usize| {
        (kinds[place].to_owned(), format!("2026-06-01T00:00:0{place}Z"), place as u64 + 1)
    });
    assert_eq!(jobs.iter().map(told).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let patches: Vec<String> =
        jobs.iter().filter_map(|line| line.get("patch")).map(Json::to_string).collect();
    let prompt = r#"{"task":{"kind":"agent_prompt","prompt":"look again"}}"#;
    assert_eq!(patches, [r#"{"enabled":false}"#, r#"{"enabled":true}"#, prompt]);
    assert_eq!(log.export().files, exported.files, "two exports are equal to the byte");
    let ids: std::collections::BTreeSet<String> =
        jobs.iter().map(|line| line["event_id"].to_string()).collect();
    assert_eq!(ids.len(), 5);
    assert_eq!(exported.replayed().warnings.list, []);
}

#[test]
fn what_was_pruned_is_said() {
    let mut scene = scene();
    changed(&mut scene);
    let late = changed_once(&mut scene);
    let mut log = Log::of(&scene);
    let whole = log.export();
    // The creations were pruned, and the row is all that says what the jobs are.
    log.facts.retain(|fact| &*fact.kind != "schedule-created");
    log.lost.beginning = true;
    let exported = log.export();
    assert_eq!(exported.said.len(), 2, "{:?}", exported.said);
    assert!(
        exported.said[0].contains("the history of 2 schedules was pruned in part"),
        "{:?}",
        exported.said
    );
    assert!(exported.said[1].contains("facts before 2026-06-01T00:00:0"), "{:?}", exported.said);
    let jobs = lines(exported.file("jobs.jsonl"));
    let told =
        |line: &Json| (line["job"]["revision"].as_u64(), line["history_since"].as_str().map(str::to_owned));
    assert_eq!(
        jobs.iter().map(told).collect::<Vec<_>>(),
        [
            (Some(4), Some("2026-06-01T00:00:03Z".to_owned())),
            (Some(2), Some("2026-06-01T00:00:04Z".to_owned()))
        ]
    );
    let [former, replayed] = [whole.replayed(), exported.replayed()];
    assert_eq!(replayed.warnings.list, []);
    assert_eq!(
        replayed.profile.jobs[&late].job, former.profile.jobs[&late].job,
        "it is the job all the same"
    );
    assert_eq!(log.export().files, exported.files);
}

/// A job that was paused one second after its creation.
fn changed_once(scene: &mut Scene) -> ScheduleId {
    let id = job(scene, "late");
    scene.pass(second());
    scene.command(Command::PauseSchedule { which: Scene::any(&id), reason: None }).expect("it is there");
    id
}

#[test]
fn other_dialects_are_in_a_file_of_their_own_and_come_back() {
    let mut scene = scene();
    let native = |text: &str, when: When| NewSchedule {
        durability: Durability::Durable,
        label: Some("native".into()),
        ..NewSchedule::message(session("s"), when, text)
    };
    let psi = NewSchedule { dialect: Dialect::Psi, ..native("psi", When::At(at("2026-06-02T00:00:00Z"))) };
    let each = scene.create(native("each", When::Each(Span::from_millis(3_600_000))));
    let psi = scene.create(psi);
    let ran = scene.create(native("ran", When::After(second())));
    scene.pass(Span::from_millis(2_000));
    scene.command(Command::PauseSchedule { which: Scene::any(&psi), reason: None }).expect("it is there");
    // A job that was given a trigger for which the seed's files have no words.
    let wordless = job(&mut scene, "wordless");
    let when = Some(When::After(Span::from_millis(90_000_000)));
    let fresh = Some(reveille::domain::Target::Fresh);
    let change = ScheduleChange { when, target: fresh, ..ScheduleChange::default() };
    scene
        .command(Command::ChangeSchedule { which: Scene::any(&wordless), change: Box::new(change) })
        .expect("it is there");
    let exported = Log::of(&scene).export();
    assert_eq!((exported.file("jobs.jsonl"), exported.file("runs.jsonl")), ("", ""));
    assert_eq!(exported.said.len(), 1, "{:?}", exported.said);
    assert!(exported.said[0].starts_with(&wordless.to_string()), "{:?}", exported.said);
    let text = exported.file("schedules.jsonl");
    let told = |line: &Json| {
        let text = |key: &str| line[key].as_str().expect("a text").to_owned();
        (text("type"), text("schedule_id"), line["revision"].as_u64().expect("a number"))
    };
    let told: Vec<_> = lines(text).iter().map(told).collect();
    for (kind, id, revision) in [
        ("schedule-created", &each, 1),
        ("schedule-created", &psi, 1),
        ("run-claimed", &ran, 1),
        ("run-delivered", &ran, 1),
        ("schedule-paused", &psi, 2),
        ("schedule-changed", &wordless, 2),
    ] {
        assert!(told.contains(&(kind.to_owned(), id.to_string(), revision)), "{kind} {id}: {told:?}");
    }
    let now = scene.stage.clock.now().wall;
    let log = ScheduleLog::read(text.as_bytes());
    assert_eq!(log.warnings.list, Vec::<String>::new());
    let restored = restore(log, now);
    assert_eq!((restored.ended, restored.left_out.len()), (1, 0));
    let mut other = Scene::new(&now.to_string(), "UTC");
    let mut outcome = app::import::Outcome::default();
    app::import::import_schedules(&other.handle, restored, &mut outcome);
    let row = |scene: &Scene, id: &ScheduleId| {
        let row = scene.handle.view(|state| state.schedule_row(id)).expect("it is there");
        (
            row.schedule.trigger,
            row.schedule.payload,
            row.schedule.label,
            row.schedule.dialect,
            row.status,
            row.next,
        )
    };
    for id in [&each, &psi, &wordless] {
        assert!(outcome.taken.contains(id), "{outcome:?}");
        assert_eq!(row(&other, id), row(&scene, id));
    }
    assert_eq!(outcome.taken.len(), 3);
    other.pass(second());
    // A line that is cut off is told, and the rest taken.
    let torn = ScheduleLog::read(&text.as_bytes()[..text.len() - 9]);
    assert_eq!(torn.warnings.list.len(), 1, "{:?}", torn.warnings.list);
}

/// Has a fact carry a row of its schedule.
fn carry(fact: &mut FactRecord, row: &str) {
    let payload = String::from_utf8(fact.payload.to_vec()).expect("text");
    fact.payload = format!("{} :row {row}}}", payload.trim_end_matches('}')).into_bytes().into();
}

/// A claim carries its job's row now and then. Where what came before was pruned, the history begins there, with the runs of
/// the row.
#[test]
fn a_history_begins_with_the_first_fact_that_has_all_of_the_job() {
    let mut scene = scene();
    let id = changed(&mut scene);
    scene.pass(Span::from_millis(8 * 3_600_000));
    let row =
        codec::print_schedule(&scene.handle.view(|state| state.schedule_row(&id)).expect("it is there"));
    scene.pass(second());
    scene.command(Command::PauseSchedule { which: Scene::any(&id), reason: None }).expect("it is there");
    let mut log = Log::of(&scene);
    let place = log.facts.iter().rposition(|fact| fact.run.is_some()).expect("it has run");
    carry(&mut log.facts[place], &row.into_text());
    let at = log.facts[place].at;
    log.facts.drain(..place);
    let exported = log.export();
    let jobs = lines(exported.file("jobs.jsonl"));
    let told: Vec<_> =
        jobs.iter().map(|line| (line["job"]["revision"].as_u64(), line["history_since"].as_str())).collect();
    assert_eq!(told, [(Some(4), Some(at.to_string().as_str())), (Some(5), None)]);
    let runs = lines(exported.file("runs.jsonl"));
    assert_eq!(
        runs.iter().map(|line| line["type"].as_str()).collect::<Vec<_>>(),
        [Some("run_started"), Some("run_finished")]
    );
    let replayed = exported.replayed();
    assert_eq!(replayed.warnings.list, []);
    assert_eq!(
        replayed.profile.jobs[&id].state.last_scheduled_for,
        Some(super::scene::at("2026-06-01T08:00:00Z"))
    );
}

/// A schedule that is defined anew under its id begins again: neither the end of the former one nor its runs are its own.
#[test]
fn what_is_defined_anew_comes_back_as_new() {
    for has_run in [false, true] {
        let mut scene = scene();
        let id = ScheduleId::new("again").expect("an id");
        let lifetime = Lifetime { max_runs: Some(NonZeroU32::MIN), ..Lifetime::PLAIN };
        let settings = Some(Box::new(Settings { lifetime, ..Settings::PLAIN }));
        let new = |delay_ms| NewSchedule {
            id: Some(id.clone()),
            durability: Durability::Durable,
            settings: settings.clone(),
            ..NewSchedule::message(session("s"), When::After(Span::from_millis(delay_ms)), "look")
        };
        scene.command(Command::CreateSchedule(new(2_000))).expect("there is room");
        if has_run {
            scene.pass(Span::from_millis(3_000));
        } else {
            scene.pass(second());
            scene.command(Command::CancelSchedule(Scene::any(&id))).expect("it is there");
        }
        scene.pass(second());
        scene.command(Command::Supersede { new: new(3_600_000), of: None }).expect("its id is free again");
        let exported = Log::of(&scene).export();
        let restored = restore(
            ScheduleLog::read(exported.file("schedules.jsonl").as_bytes()),
            scene.stage.clock.now().wall,
        );
        assert_eq!((restored.ended, restored.left_out.len()), (0, 0), "the former one has run: {has_run}");
        let other = Scene::new(&scene.stage.clock.now().wall.to_string(), "UTC");
        let mut outcome = app::import::Outcome::default();
        app::import::import_schedules(&other.handle, restored, &mut outcome);
        assert!(outcome.taken.contains(&id), "the former one has run: {has_run}: {outcome:?}");
    }
}

/// A row may have a run that was left. Its end is told with the row, and its delivery later is no second end.
#[test]
fn a_run_that_was_left_ends_once() {
    let mut scene = scene();
    let opened = scene.handle.open_session(Some(session("away")), HostId::INBOX, SessionConfig::default());
    opened.expect("the session opens");
    let id = job_of(&mut scene, "away", "watch");
    scene.pass(Span::from_millis(8 * 3_600_000));
    let row =
        codec::print_schedule(&scene.handle.view(|state| state.schedule_row(&id)).expect("it is there"));
    scene.attach(&[session("away")]);
    scene.pass(second());
    scene.acknowledge().expect("the host has it");
    scene.busy("away", true);
    scene.busy("away", false);
    let mut log = Log::of(&scene);
    let place = log.facts.iter().rposition(|fact| &*fact.kind == "run-left").expect("nobody listened");
    assert!(log.facts[place..].iter().any(|fact| &*fact.kind == "run-delivered"), "and then somebody did");
    carry(&mut log.facts[place], &row.into_text());
    log.facts.drain(..place);
    let runs = lines(log.export().file("runs.jsonl"));
    let told: Vec<_> = runs.iter().map(|line| line["type"].as_str()).collect();
    assert_eq!(told, [Some("run_started"), Some("run_finished")]);
}

#[test]
fn of_a_session_or_schedule_over_its_share_only_the_whole_part_is_told() {
    let mut scene = scene();
    let id = changed(&mut scene);
    for is_of_session in [true, false] {
        let mut log = Log::of(&scene);
        let last = log.facts.last().expect("there are facts").cursor;
        for fact in &mut log.facts {
            fact.session = Some("s".into());
        }
        let through = Cursor::new(last.number() - 1);
        if is_of_session {
            log.lost.sessions.insert("s".into(), through);
        } else {
            log.lost.schedules.insert(id.to_string().into(), through);
        }
        let exported = log.export();
        let said = &exported.said;
        assert!(said[0].contains("the history of 1 schedules was pruned in part"), "{said:?}");
        let jobs = lines(exported.file("jobs.jsonl"));
        assert_eq!((jobs.len(), jobs[0]["job"]["revision"].as_u64()), (1, Some(4)));
        assert_eq!(exported.replayed().profile.jobs[&id].job.revision, 4);
        // Without its row, nothing says what it was.
        log.rows.clear();
        let said = log.export().said;
        assert!(said.iter().any(|note| note.contains("1 deleted schedules are left out")), "{said:?}");
    }
}

/// A schedule that runs often loses its oldest facts: the runs that they were of count all the same.
#[test]
fn an_import_grants_no_run_again_whose_fact_was_pruned() {
    let mut scene = scene();
    let every = Every::new(Span::from_millis(3_600_000), at("2026-06-01T01:00:00Z"), CountFrom::Slot);
    let lifetime = Lifetime { max_runs: NonZeroU32::new(5), ..Settings::PLAIN.lifetime };
    let often = NewSchedule {
        durability: Durability::Durable,
        settings: Some(Box::new(Settings { lifetime, ..Settings::PLAIN })),
        ..NewSchedule::message(
            session("s"),
            When::By(Trigger::Every(Box::new(every.expect("a period")))),
            "m",
        )
    };
    let id = scene.create(often);
    scene.pass(Span::from_millis(4 * 3_600_000));
    let mut log = Log::of(&scene);
    let claims: Vec<Cursor> =
        log.facts.iter().filter(|fact| &*fact.kind == "run-claimed").map(|fact| fact.cursor).collect();
    assert_eq!(claims.len(), 4);
    log.facts.retain(|fact| !claims[..2].contains(&fact.cursor));
    log.lost.schedules.insert(id.to_string().into(), claims[1]);
    let exported = log.export();
    assert!(exported.said[0].contains("the history of 1 schedules"), "{:?}", exported.said);
    let read = ScheduleLog::read(exported.file("schedules.jsonl").as_bytes());
    let restored = format!("{:?}", restore(read, scene.stage.clock.now().wall));
    assert!(restored.contains("max_runs: Some(1)"), "{restored}");
}

/// What stood still because of a hold is told with the hold.
#[test]
fn holds_and_releases_are_lines_that_an_import_passes_over() {
    let mut scene = scene();
    let hold = Command::HoldAll { by: Scope::Operator.into(), reason: Some("an incident".into()) };
    for command in [hold, Command::ReleaseAll { by: Scope::Operator.into() }] {
        scene.command(command).expect("it is an operator");
    }
    let exported = Log::of(&scene).export();
    let text = exported.file("schedules.jsonl");
    let told = lines(text);
    let types: Vec<_> = told.iter().map(|line| line["type"].as_str()).collect();
    assert_eq!(types, [Some("engine-held"), Some("engine-released")]);
    assert!(told[0]["fact"].as_str().is_some_and(|fact| fact.contains("\"an incident\"")), "{told:?}");
    assert!(
        told.iter().all(|line| line["event_id"].is_string() && line["timestamp"].is_string()),
        "{told:?}"
    );
    let log = ScheduleLog::read(text.as_bytes());
    assert_eq!(log.warnings.list, Vec::<String>::new());
    let restored = restore(log, scene.stage.clock.now().wall);
    assert_eq!((restored.sessions().count(), restored.left_out.len()), (0, 0));
}

/// Nobody has received a run that waits: it comes again. That everything was held is said.
#[test]
fn what_waits_under_a_hold_is_imported() {
    let mut scene = scene();
    let once = NewSchedule {
        durability: Durability::Durable,
        ..NewSchedule::message(session("s"), When::At(at("2026-06-02T00:00:00Z")), "once")
    };
    let id = scene.create(once);
    let hold = Command::HoldAll { by: Scope::Operator.into(), reason: Some("an incident".into()) };
    scene.command(hold).expect("it is an operator");
    scene.command(Command::BringForward(Scene::any(&id))).expect("it is there");
    let exported = Log::of(&scene).export();
    let log = ScheduleLog::read(exported.file("schedules.jsonl").as_bytes());
    let restored = restore(log, scene.stage.clock.now().wall);
    assert_eq!((restored.sessions().count(), restored.ended), (1, 0), "{restored:?}");
    assert!(restored.left_out[0].starts_with("everything was held (an incident)"), "{:?}", restored.left_out);
}
