//! The tools in Claude Code's words: what it takes is taken, and an answer is true of what the engine then has.

use reveille::dialect::{Notation, REQUEST_CAPS, json};
use reveille::domain::{Caller, Span};
use reveille::edn::Value;
use reveille::runtime::Handle;
use reveille::service::Service;

use crate::simulated::{self, ask, token};

/// The answer to a call of the session `s`, as JSON.
fn call(handle: &Handle, tool: &str, args: &str) -> serde_json::Value {
    let args = json::read(args.as_bytes(), &REQUEST_CAPS).expect(args);
    let answer = Service::new(handle.clone()).call_tool(tool, &token("s"), &args, Notation::Json);
    let mut text = String::new();
    json::write(&answer.expect("a session may").expect("a tool").value, &mut text);
    serde_json::from_str(&text).expect("JSON")
}

fn said(handle: &Handle) -> String {
    let query =
        "[{[:psi.agent-session/session-id \"s\"] [{:psi.agent-session/messages [:reveille.message/text]}]}]";
    ask(handle, &Caller::OPERATOR, query, true)
}

/// The fields of Claude Code's answer, with what it does not have: where it is kept, and on whose clock.
#[test]
fn a_job_is_answered_as_claude_code_answers_it_and_truly() {
    let (handle, _) = simulated::engine(&["s"]);
    let job = call(&handle, "CronCreate", r#"{"cron":"3 9 * * *","prompt":"Look."}"#);
    // This engine has no store, so it says so.
    assert_eq!(job["durable"], false);
    assert_eq!(job["recurring"], true);
    assert_eq!(job["maxAgeMs"], 2_592_000_000_i64);
    let at = job["nextFireAt"].as_i64().expect("milliseconds");
    assert_eq!(at % 86_400_000, 9 * 3_600_000 + 3 * 60_000, "{job}");
    assert!(job["zone"].is_string() && job["humanSchedule"].is_string(), "{job}");
    assert!(job.get("otherOneShots").is_none(), "{job}");

    let once = r#"{"cron":"30 14 28 2 *","prompt":"Once.","recurring":false,"durable":true}"#;
    let once = call(&handle, "CronCreate", once);
    assert_eq!((&once["durable"], &once["recurring"]), (&false.into(), &false.into()));
    assert!(once["message"].as_str().expect("words").contains("against durable: true"), "{once}");
    assert!(once.get("maxAgeMs").is_none(), "{once}");
    let third = call(&handle, "CronCreate", r#"{"cron":"0 0 1 1 *","prompt":"T","recurring":false}"#);
    assert_eq!(third["otherOneShots"][0]["id"], once["id"], "{third}");

    let listed = call(&handle, "CronList", "{}");
    let crons: Vec<&str> = listed["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .map(|job| job["cron"].as_str().expect("cron"))
        .collect();
    assert_eq!(crons, ["3 9 * * *", "30 14 28 2 *", "0 0 1 1 *"], "the next one first");
    assert_eq!(call(&handle, "CronDelete", &format!(r#"{{"id":{}}}"#, once["id"]))["id"], once["id"]);
    let again = call(&handle, "CronDelete", &format!(r#"{{"id":{}}}"#, once["id"]));
    assert_eq!(again["error"]["kind"], "no_such_job");
}

#[test]
fn a_job_runs_on_every_match_or_on_the_next_one_and_ends_after_thirty_days() {
    let (handle, clock) = simulated::engine(&["s"]);
    call(&handle, "CronCreate", r#"{"cron":"*/30 * * * *","prompt":"again"}"#);
    call(&handle, "CronCreate", r#"{"cron":"*/30 * * * *","prompt":"once","recurring":false}"#);
    for _ in 0..4 {
        clock.advance(Span::from_millis(1_800_000));
        handle.run_due();
    }
    let said = said(&handle);
    assert_eq!((said.matches("\"again\"").count(), said.matches("\"once\"").count()), (4, 1), "{said}");
    assert_eq!(call(&handle, "CronList", "{}")["jobs"].as_array().expect("jobs").len(), 1);
    clock.advance(Span::from_millis(2_592_000_000));
    handle.run_due();
    assert_eq!(call(&handle, "CronList", "{}")["jobs"].as_array().expect("jobs").len(), 0);
}

/// A recurring job ends after thirty days, so an expression that matches later needs another call, which the error shows.
#[test]
fn a_recurring_job_that_would_end_before_its_first_match_is_refused_for_that() {
    let (handle, _) = simulated::engine(&["s"]);
    let refused = call(&handle, "CronCreate", r#"{"cron":"30 14 25 3 *","prompt":"p"}"#);
    let error = &refused["error"];
    assert_eq!((error["kind"].as_str(), error["field"].as_str()), (Some("matches_too_late"), Some("cron")));
    assert_eq!(error["value"], "30 14 25 3 *", "{error}");
    let expected =
        "cron matches first at 2026-03-25T14:30:00Z: a recurring job ends after 30 days (cron-job-ms)";
    assert_eq!(error["message"], expected, "{error}");
    assert_eq!(error["example"]["recurring"], false, "{error}");
    let made = call(&handle, "CronCreate", &error["example"].to_string());
    assert_eq!(made["nextFireAt"], 1_774_449_000_000_i64, "{made}");
}

/// What Claude Code 2.1.330 does: brings the delay into the bounds, has one wake-up per session, and counts what stop cancels.
#[test]
fn a_session_has_one_wake_up_and_stop_ends_the_loop() {
    let (handle, clock) = simulated::engine(&["s"]);
    let wake = |delay: &str, prompt: &str| {
        let rest = r#""reason":"r","noop":true"#;
        call(&handle, "ScheduleWakeup", &format!(r#"{{"delaySeconds":{delay},"prompt":"{prompt}",{rest}}}"#))
    };
    for (delay, seconds, clamped) in [
        ("5", 60, true),
        ("-1e300", 60, true),
        ("60.5", 61, false),
        ("3600", 3_600, false),
        ("3600.1", 3_600, true),
        ("99999999999999999999", 3_600, true),
    ] {
        let answer = wake(delay, "first");
        let given = (answer["clampedDelaySeconds"].as_i64(), answer["wasClamped"].as_bool());
        assert_eq!(given, (Some(seconds), Some(clamped)), "{delay}");
    }
    // Its own tool does without noop, too.
    let second = call(&handle, "ScheduleWakeup", r#"{"delaySeconds":400,"prompt":"second","reason":"r"}"#);
    let jobs = call(&handle, "CronList", "{}")["jobs"].clone();
    assert_eq!(jobs.as_array().expect("jobs").len(), 1, "{jobs}");
    assert_eq!(jobs[0]["id"], second["id"]);
    assert_eq!(call(&handle, "ScheduleWakeup", r#"{"stop":true,"delaySeconds":"x"}"#)["cancelledWakeups"], 1);
    assert_eq!(call(&handle, "ScheduleWakeup", r#"{"stop":true}"#)["cancelledWakeups"], 0);

    let third = wake("60", "third");
    let ended = call(&handle, "CronDelete", &format!(r#"{{"id":{}}}"#, third["id"]));
    assert_eq!(ended["endedLoopWakeup"], true);
    wake("60", "fourth");
    clock.advance(Span::from_millis(60_000));
    handle.run_due();
    let said = said(&handle);
    assert!(said.contains("fourth") && !said.contains("first") && !said.contains("third"), "{said}");
}

/// A mark that only Claude Code's own tool replaces would be the whole prompt here.
#[test]
fn a_mark_of_claude_codes_own_loop_is_refused() {
    let (handle, _) = simulated::engine(&["s"]);
    let args = r#"{"delaySeconds":300,"prompt":"<<autonomous-loop-dynamic>>","reason":"r","noop":true}"#;
    assert_eq!(call(&handle, "ScheduleWakeup", args)["error"]["kind"], "unresolved_sentinel");
    let args = r#"{"cron":"99 9 * * *","prompt":"x"}"#;
    assert_eq!(call(&handle, "CronCreate", args)["error"]["kind"], "invalid_cron");
}

/// Where nobody can be woken, the answer says so.
#[test]
fn nobody_listens_and_the_answer_says_so() {
    let (handle, _) = simulated::engine(&[]);
    let (session, host) = (simulated::session("s"), reveille::domain::HostId::INBOX);
    handle.open_session(Some(session), host, reveille::domain::SessionConfig::default()).expect("it is new");
    let job = call(&handle, "CronCreate", r#"{"cron":"3 9 * * *","prompt":"Look."}"#);
    assert!(job["warnings"][0].as_str().expect("words").contains("inbox"), "{job}");
    let args = Value::from("x");
    assert!(Service::new(handle).call_tool("CronList", &token("s"), &args, Notation::Json).is_ok());
}
