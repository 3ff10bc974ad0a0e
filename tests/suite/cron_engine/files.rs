//! The engine's jobs as files, and back.

use std::fs;
use std::path::PathBuf;

use reveille::app;
use reveille::dialect::cron::jsonl::import;
use reveille::dialect::cron::{JobState, JobView, views};
use reveille::domain::{Caller, Scope, Span};
use reveille::engine::Command;
use reveille::port::Clock;

use super::log::Log;
use super::scene::{Scene, session};

/// An engine with jobs of every kind: one that ran, one that failed, one that was skipped, one paused, one deleted.
fn lived() -> Scene {
    let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
    let caller = Caller::session(session("s"));
    let calls = [
        r#"{:name "Ran" :prompt "p" :schedule {:kind :once :at "2026-06-01T00:05:00Z"}}"#,
        r#"{:name "Fails" :description "d" :prompt "p" :schedule {:kind :interval :every_seconds 300}
            :target {:kind :session :session_id "t"}}"#,
        r#"{:name "Skipped" :prompt "p" :schedule {:kind :daily :time "00:06"} :policy {:missed_run :skip}}"#,
        r#"{:name "Paused" :prompt "p" :schedule {:kind :weekly :weekdays [:mon] :time "08:00" :timezone "Europe/Berlin"}}"#,
        r#"{:name "Gone" :prompt "p" :schedule {:kind :interval :every_seconds 60}}"#,
        r#"{:name "Routed" :prompt "p" :schedule {:kind :daily :time "12:00"}
            :target {:kind :gateway :channel "c" :conversation_id "1"}}"#,
        r#"{:name "Ahead" :prompt "p" :schedule {:kind :once :at "2026-07-01T00:00:00Z"}}"#,
    ];
    for call in calls {
        assert!(!scene.call(&caller, "cron_create", call).is_error, "{call}");
    }
    scene.pass(Span::from_millis(301_000));
    scene.down(Span::from_millis(120_000));
    for (name, pause) in [("Paused", true), ("Gone", false)] {
        let id = state(&scene, name).job.id;
        let which = Scene::any(&id);
        let command = Command::PauseSchedule { which, reason: None };
        scene.command(if pause { command } else { Command::DeleteSchedule(Scene::any(&id)) }).expect("done");
    }
    scene
}

fn state(scene: &Scene, name: &str) -> JobView {
    let (views, _) = scene.handle.view(|state| views(state, &Scope::Operator));
    views.into_iter().find(|view| &*view.job.name == name).expect("the job")
}

#[test]
fn files_of_the_engine_replay_to_its_jobs() {
    let scene = lived();
    let exported = Log::of(&scene).export();
    assert_eq!(exported.said, Vec::<String>::new());
    let replayed = exported.replayed();
    assert_eq!(replayed.warnings.list, []);
    let (views, _) = scene.handle.view(|state| views(state, &Scope::Operator));
    assert_eq!(replayed.profile.jobs.len(), views.len());
    assert_eq!(replayed.profile.tombstones.len(), 1);
    for view in views {
        let kept = &replayed.profile.jobs[&view.job.id];
        assert_eq!(kept.job, view.job);
        // When it runs next is never in the files.
        assert_eq!(kept.state, JobState { next_run_at: None, ..view.state }, "{}", view.job.name);
    }
}

#[test]
fn jobs_of_the_files_go_on_in_another_engine() {
    let scene = lived();
    let now = scene.stage.clock.now().wall;
    let replayed = Log::of(&scene).export().replayed();
    let plan = import(&replayed.profile, None, now);
    let mut left_out: Vec<&str> = plan.left_out.iter().filter_map(|line| line.split(": ").nth(1)).collect();
    left_out.sort_unstable();
    assert_eq!(left_out, ["it goes to a channel, and --owner names no session to own it", "it has run"]);
    let plan = import(&replayed.profile, Some(&session("s")), now);
    assert_eq!((plan.schedules.len(), plan.left_out.len()), (5, 1));
    let mut other = Scene::new(&now.to_string(), "UTC");
    other.open("t");
    for imported in plan.schedules {
        let id = other.create(imported.new);
        if imported.paused {
            let which = Scene::any(&id);
            other.command(Command::PauseSchedule { which, reason: None }).expect("it is live");
        }
        let job = state(&other, &replayed.profile.jobs[&id].job.name);
        assert_eq!(job.job.schedule.trigger(job.job.created_at), {
            let was = &replayed.profile.jobs[&id].job;
            was.schedule.trigger(was.created_at)
        });
        assert_eq!(job.job.enabled, !imported.paused);
    }
    // Its grid is the one it had.
    assert_eq!(state(&other, "Fails").state.next_run_at, state(&scene, "Fails").state.next_run_at);
}

/// A directory of this name that is not there.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    path
}

#[test]
fn directories_are_written_once_and_read_with_care() {
    let scene = lived();
    let path = directory("export");
    assert!(app::import::read(&path).is_err(), "there is nothing");
    let log = Log::of(&scene);
    assert_eq!(log.export_to(&path).expect("it is written"), Vec::<String>::new());
    let again = log.export_to(&path).expect_err("it is there");
    assert!(again.contains("jobs.jsonl"), "{again}");
    let replayed = app::import::read(&path).expect("it is read").replayed;
    assert_eq!((replayed.profile.jobs.len(), replayed.warnings.list.len()), (6, 0));
    // What was cut off is told, and the rest taken.
    let jobs = fs::read(path.join("jobs.jsonl")).expect("the file");
    fs::write(path.join("jobs.jsonl"), &jobs[..jobs.len() - 9]).expect("it is cut");
    let torn = app::import::read(&path).expect("it is read").replayed;
    assert!(
        torn.warnings.list.iter().any(|warning| warning.to_string().contains("cut off")),
        "{:?}",
        torn.warnings.list
    );
    let mut other = Scene::new("2026-06-01T00:10:00Z", "UTC");
    other.open("t");
    let taken = app::import::import(&other.handle, &replayed, Some(&session("s")));
    assert_eq!((taken.taken.len(), taken.left_out.len()), (5, 1));
    let twice = app::import::import(&other.handle, &replayed, Some(&session("s")));
    assert_eq!((twice.taken.len(), twice.left_out.len()), (0, 6));
    // A file that says nothing is not taken for an empty one.
    fs::write(path.join("jobs.jsonl"), "no event\n").expect("it is spoilt");
    assert!(app::import::read(&path).is_err());
    fs::remove_dir_all(&path).expect("it goes");
}
