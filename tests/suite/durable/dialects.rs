//! Reminders and delayed actions through restarts: set in one life, carried out in another, and listed there as they stand.

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, DecisionKind, SessionId, Span};
use reveille::edn::{Value, read};
use reveille::service::Service;

use super::lives::{Life, Lives};

/// What a tool says, in one line.
fn call(life: &Life, session: &SessionId, tool: &str, args: &str) -> String {
    let args = read(args.as_bytes(), &REQUEST_CAPS).expect("arguments are EDN");
    let caller = Caller::session(session.clone());
    let answer = Service::new(life.handle.clone())
        .call_tool(tool, &caller, &args, Notation::Edn)
        .expect("admitted")
        .expect("there is such a tool");
    let map = answer.value.as_map().cloned().unwrap_or_default();
    let message = map.keyword("message").and_then(Value::as_str);
    message.map_or_else(|| answer.value.to_string(), str::to_owned)
}

fn advance(lives: &Lives, life: &mut Life, seconds: u64, delivered: usize) {
    lives.stage.clock.advance(Span::from_millis(seconds * 1_000));
    life.handle.run_due();
    for _ in 0..delivered {
        life.await_kind(DecisionKind::RunDelivered);
    }
}

fn received(lives: &Lives) -> Vec<String> {
    lives.stage.history.receptions().into_iter().map(|(_, reception)| reception.text.into()).collect()
}

const ONCE: &str =
    r#"{:interval_seconds 60 :type "one-time" :action_prompt "look once" :description "once"}"#;
const AGAIN: &str =
    r#"{:interval_seconds 3600 :type "recurring" :action_prompt "look again" :description "again"}"#;

#[test]
fn reminders_survive_and_come_once_when_they_are_overdue() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    let gone = life.open("two");
    for session in [&owner, &gone] {
        assert_eq!(call(&life, session, "reminderadd", ONCE), "Reminder set: once in 1 minute");
        assert_eq!(call(&life, session, "reminderadd", AGAIN), "Reminder set: again every hour");
    }
    life.handle.close_session(&gone).expect("it is open");
    let listed = call(&life, &owner, "reminderlist", "{}");
    drop(life);
    let life = lives.next(0);
    assert_eq!(call(&life, &owner, "reminderlist", "{}"), listed);
    drop(life);
    // Two slots of the recurring one pass while nobody is there.
    lives.stage.clock.advance(Span::from_millis(2 * 3_600_000 + 1_000));
    let mut life = lives.next(0);
    advance(&lives, &mut life, 0, 2);
    assert_eq!(received(&lives), ["look once", "look again"]);
    advance(&lives, &mut life, 3_599, 0);
    assert_eq!(received(&lives).len(), 2, "the next counts from the end of the one before");
    advance(&lives, &mut life, 1, 1);
    assert_eq!(received(&lives), ["look once", "look again", "look again"]);
    let removed = call(&life, &owner, "reminderremove", r#"{:description_pattern "LOOK"}"#);
    assert_eq!(removed, "Reminder cancelled: \"again\" every hour");
    let life = lives.next(0);
    assert_eq!(call(&life, &owner, "reminderlist", "{}"), "No active reminders in this session.");
}

#[test]
fn actions_survive_with_their_keys_jobs_and_marks() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    let create = |life: &Life, args: &str| call(life, &owner, "schedule_session_action", args);
    create(&life, r#"{:action_kind "remind_later" :message "old" :delay_seconds 60 :dedupe_key "k"}"#);
    create(&life, r#"{:action_kind "notify_job_ready" :message "built" :job_id "build-7"}"#);
    create(&life, r#"{:action_kind "run_later" :instruction "moot" :delay_seconds 600}"#);
    drop(life);
    let life = lives.next(0);
    // The key still stands for the action; its place is taken although there are three.
    create(&life, r#"{:action_kind "remind_later" :message "new" :delay_seconds 60 :dedupe_key "k"}"#);
    assert_eq!(create(&life, r#"{:operation "list"}"#), "Found 4 delayed actions");
    drop(life);
    let mut life = lives.next(0);
    create(&life, r#"{:action_kind "remind_later" :message "newest" :delay_seconds 60 :dedupe_key "k"}"#);
    advance(&lives, &mut life, 60, 1);
    assert_eq!(received(&lives), ["newest"]);
    // A person's word in this life calls off what was set in another.
    let report =
        reveille::engine::Report::UserMessage { session: owner.clone(), text: "no".into(), by: None };
    life.handle.submit(reveille::engine::Input::Report(report)).expect("it is open");
    drop(life);
    let mut life = lives.next(0);
    assert_eq!(call(&life, &owner, "report_job_ready", r#"{:job_id "build-7"}"#), "The job build-7 is ready");
    advance(&lives, &mut life, 0, 1);
    advance(&lives, &mut life, 86_400, 0);
    assert_eq!(received(&lives), ["newest", "built"]);
    let transcript = life.handle.sessions().transcript(&owner).expect("it is open");
    assert!(transcript.messages.iter().all(|message| !message.begins_turn()), "also those of another life");
}

#[test]
fn a_job_that_was_ready_in_one_life_is_told_of_in_the_next() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    let args = r#"{:action_kind "notify_job_ready" :message "built" :job_id "build-7"}"#;
    call(&life, &owner, "schedule_session_action", args);
    call(&life, &owner, "report_job_ready", r#"{:job_id "build-7"}"#);
    // The process dies before anybody has looked.
    drop(life);
    lives.stage.clock.advance(Span::from_millis(60_000));
    let mut life = lives.next(0);
    advance(&lives, &mut life, 0, 1);
    assert_eq!(received(&lives), ["built"]);
}

#[test]
fn a_report_that_nothing_waited_for_is_remembered_in_the_next_life() {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    call(&life, &owner, "report_job_ready", r#"{:job_id "build-7"}"#);
    drop(life);
    lives.stage.clock.advance(Span::from_millis(60_000));
    let mut life = lives.next(0);
    let args = r#"{:action_kind "notify_job_ready" :message "built" :job_id "build-7"}"#;
    call(&life, &owner, "schedule_session_action", args);
    advance(&lives, &mut life, 0, 1);
    assert_eq!(received(&lives), ["built"]);
    // After ten minutes nothing is remembered, also in a later life.
    drop(life);
    lives.stage.clock.advance(Span::from_millis(600_000));
    let mut life = lives.next(0);
    call(&life, &owner, "schedule_session_action", args);
    advance(&lives, &mut life, 0, 0);
    assert_eq!(received(&lives), ["built"]);
}
