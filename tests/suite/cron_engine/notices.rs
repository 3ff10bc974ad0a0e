//! Messages that begin no turn: they wait for their session like prompts, and nothing waits for them.

use reveille::dialect::psi::message;
use reveille::domain::{
    About, Attachment, EndsWith, Notice, Payload, Policy, Role, ScheduleId, Settings, Span, Status, When,
};
use reveille::engine::{NewSchedule, ScheduleRecord};

use super::scene::{Scene, session};

const START: &str = "2026-06-01T00:00:00Z";

fn notice(seconds: u64, text: &str, file: Option<&str>) -> NewSchedule {
    let file = file.map(|path| Attachment { path: path.into(), name: Some("log".into()) });
    let notice = Notice { about: About::JobReady, text: text.into(), file };
    NewSchedule { payload: Payload::Notice(Box::new(notice)), ..prompt(seconds) }
}

fn prompt(seconds: u64) -> NewSchedule {
    NewSchedule::message(session("s"), When::After(Span::from_millis(1_000 * seconds)), "p")
}

fn pass(scene: &mut Scene, seconds: u64) -> Vec<String> {
    scene.pass(Span::from_millis(1_000 * seconds));
    scene.news()
}

fn status(scene: &Scene, id: &ScheduleId) -> Option<Status> {
    scene.handle.view(|state| state.schedule(id).map(ScheduleRecord::status))
}

#[test]
fn a_notice_is_in_the_transcript_and_says_that_it_is_none_of_the_models() {
    let mut scene = Scene::new(START, "UTC");
    scene.create(notice(1, "It is built.", Some("/tmp/build.log")));
    scene.create(notice(2, "", Some("/tmp/build.log")));
    scene.create(notice(3, "Drink water.", None));
    pass(&mut scene, 3);
    let transcript = scene.handle.sessions().transcript(&session("s")).expect("it is open");
    assert!(
        transcript.messages.iter().all(|message| message.role == Role::Assistant && !message.begins_turn())
    );
    let printed: Vec<String> =
        transcript.messages.iter().map(|one| message::print(one).to_string()).collect();
    let file = "{:type :file :path \"/tmp/build.log\" :name \"log\"}";
    for (printed, content) in printed.iter().zip([
        format!("[{{:type :text :text \"It is built.\"}} {file}]"),
        format!("[{file}]"),
        "[{:type :text :text \"Drink water.\"}]".to_owned(),
    ]) {
        assert!(printed.contains(&format!(":content {content}")), "{printed}");
        assert!(printed.ends_with(" :label nil :turn? false}"), "{printed}");
    }
}

#[test]
fn no_turn_is_presumed_after_a_notice() {
    let mut scene = Scene::new(START, "UTC");
    scene.attach(&[session("s")]);
    // One that would end with its turn ends with its receipt: there is none.
    let policy = Policy { ends_with: EndsWith::Turn, ..Policy::PLAIN };
    let settings = Some(Box::new(Settings { policy, ..Settings::PLAIN }));
    let first = scene.create(NewSchedule { settings, ..notice(1, "one", None) });
    scene.create(prompt(2));
    let last = scene.create(notice(3, "two", None));
    scene.news();
    assert_eq!(pass(&mut scene, 1), ["claim 00:00:01 (slot)", "00:00:01 out"]);
    assert_eq!(pass(&mut scene, 1), ["claim 00:00:02 (slot)", "00:00:02 waits: delivery-in-flight"]);
    // The prompt follows at once; after it, a turn is under way.
    scene.acknowledge().expect("it is owed");
    assert_eq!(scene.news(), ["00:00:01 ok", "00:00:02 out", "00:00:02 ok"]);
    assert_eq!(status(&scene, &first), Some(Status::Delivered));
    assert_eq!(pass(&mut scene, 1), ["claim 00:00:03 (slot)", "00:00:03 waits: turn-starting"]);
    scene.busy("s", true);
    scene.busy("s", false);
    scene.acknowledge().expect("it is owed");
    assert_eq!(scene.news(), ["00:00:03 out", "00:00:03 ok"]);
    assert_eq!(status(&scene, &last), Some(Status::Delivered));
}

#[test]
fn a_notice_waits_for_the_end_of_a_turn() {
    let mut scene = Scene::new(START, "UTC");
    scene.busy("s", true);
    scene.create(notice(1, "one", None));
    scene.news();
    assert_eq!(pass(&mut scene, 60), ["claim 00:00:01 (slot)", "00:00:01 waits: session-busy"]);
    scene.busy("s", false);
    assert_eq!(scene.news(), ["00:00:01 out", "00:00:01 ok"]);
}
