//! What errors lead on to: the example of an error is the caller's own call with the fault put right, and is accepted where
//! the error was given; or there is no example.

mod scene;

use reveille::dialect::{Notation, REQUEST_CAPS, cron, json, reminder, session_action};
use reveille::domain::{Caller, Refusal};
use reveille::edn::Value;

use crate::simulated::standing;

use self::scene::{
    CALLS, CREATE_JOB, Expected, Scene, at, check, edit, edn, example, part, paths, report, sent, with,
};

/// Values that fit hardly anywhere.
const ANYTHING: [&str; 22] = [
    "true",
    "0",
    "-1",
    "7",
    "31",
    "1.5",
    "1/2",
    "99999999999999999999N",
    "##NaN",
    "x",
    ":x",
    ":mon",
    "\"\"",
    "\" \"",
    "\"x\"",
    "\"60\"",
    "\"2026-06-01 08:05:00\"",
    "[]",
    "[nil]",
    "[:monday]",
    "{}",
    "#inst \"2026-01-05T00:00:00Z\"",
];

#[test]
fn a_misspelt_name_is_put_right_with_everything_else_as_it_was() {
    let mut faults = Vec::new();
    for (tool, call) in CALLS {
        let right = Scene::new().edn(call);
        for path in paths(&right) {
            let name = path.last().expect("a name").clone();
            let slipped = format!("{}{}", &name[..name.len() / 2], &name[name.len() / 2 + 1..]);
            let wrong = |call: &Value| edit(call, &path, &|_, value| Some((Value::keyword(&slipped), value)));
            // A short name with a slip may be any other.
            let expected = if name.len() > 5 { Expected::Is(&right) } else { Expected::May(&right) };
            let target = Scene::new().edn(call);
            assert_eq!(target, right, "scenes are alike");
            faults.extend(check(tool, call, &wrong, &expected, Notation::Edn));
        }
    }
    report(&faults);
}

#[test]
fn a_number_or_a_truth_in_quotes_is_put_right() {
    let mut faults = Vec::new();
    for (tool, call) in CALLS {
        let right = Scene::new().edn(call);
        for path in paths(&right) {
            let value = at(&right, &path);
            if !matches!(value, Value::Int(_) | Value::Bool(_)) {
                continue;
            }
            let quoted =
                |call: &Value| edit(call, &path, &|key, value| Some((key, Value::string(value.to_string()))));
            faults.extend(check(tool, call, &quoted, &Expected::Is(&right), Notation::Edn));
            // Two faults are two steps, and neither hides the other.
            let empty = |call: &Value| quoted(&with(call, "no_such_field", Value::Nil));
            faults.extend(check(tool, call, &empty, &Expected::Is(&right), Notation::Edn));
        }
    }
    report(&faults);
}

#[test]
fn whatever_else_is_wrong_nothing_is_invented_and_nothing_is_left_out() {
    let mut faults = Vec::new();
    for (tool, call) in CALLS {
        let right = Scene::new().edn(call);
        let unknown = |call: &Value| with(call, "no_such_field", 1.into());
        faults.extend(check(tool, call, &unknown, &Expected::Nothing, Notation::Edn));
        for path in paths(&right) {
            let missing = |call: &Value| edit(call, &path, &|_, _| None);
            faults.extend(check(tool, call, &missing, &Expected::Nothing, Notation::Edn));
            for value in ANYTHING {
                let value = edn(value);
                let wrong = |call: &Value| edit(call, &path, &|key, _| Some((key, value.clone())));
                faults.extend(check(tool, call, &wrong, &Expected::But(&path), Notation::Edn));
            }
        }
    }
    report(&faults);
}

/// In JSON too, and with all of a long text; one that is too long to repeat is not repeated.
#[test]
fn a_text_is_never_cut() {
    let mut faults = Vec::new();
    let of = |bytes: usize| format!(r#"{{"mesage": "{}", "when": "in 1 hour"}}"#, "é".repeat(bytes / 2));
    for (bytes, is_shown) in [(300, true), (3_000, true), (10_000, false)] {
        let wrong = json::read(of(bytes).as_bytes(), &REQUEST_CAPS).expect("JSON");
        let right =
            json::read(of(bytes).replace("mesage", "message").as_bytes(), &REQUEST_CAPS).expect("JSON");
        let expected = if is_shown { Expected::Is(&right) } else { Expected::Nothing };
        faults.extend(check("create", "{}", &|_| wrong.clone(), &expected, Notation::Json));
    }
    report(&faults);
}

/// The calls of seed 004's table, in a state in which most of what they are about does not exist.
#[test]
fn the_examples_of_the_rows_about_jobs_are_accepted() {
    let rows = std::fs::read_to_string("fixtures/cron/calls.txt").expect("the rows");
    for row in rows.lines().filter_map(|line| line.strip_prefix("> ")) {
        let mut parts = row.splitn(3, ' ');
        let (tool, notation, args) =
            (parts.next().expect(row), parts.next().expect(row), parts.next().expect(row));
        let (notation, args) = if notation.starts_with("edn") {
            (Notation::Edn, edn(args))
        } else {
            (Notation::Json, json::read(args.as_bytes(), &REQUEST_CAPS).expect(row))
        };
        let scene = Scene::new();
        let answer = scene.call(tool, &args, notation);
        let Some(example) = example(&answer) else { continue };
        let followed = scene.call(tool, &sent(&example, notation), notation);
        assert!(!followed.is_error, "{row}\n{}\n{}", answer.value, followed.value);
        for name in ["name", "prompt", "job_id"] {
            let given =
                args.as_map().and_then(|args| args.text(name)).filter(|value| value.as_str().is_some());
            let shown = example.as_map().and_then(|example| example.text(name));
            assert!(given.is_none() || given == shown, "{row}\n{example}");
        }
    }
}

#[test]
fn the_engines_refusals_repeat_no_call() {
    for refusal in Refusal::samples() {
        for answer in
            [cron::refused(&refusal), reminder::refused(&refusal), session_action::refused(&refusal)]
        {
            assert_eq!(example(&answer), None, "{refusal}");
        }
    }
}

/// What models said, and the call that is right: the one that the example shows, unless what they said is understood.
#[test]
fn what_models_said_leads_on() {
    let mut faults = Vec::new();
    for (wrong, right) in [
        (r#"{:message "m" :when "in 90 secnds"}"#, r#"{:message "m" :when "in 90 seconds"}"#),
        (r#"{:message "m" :when "tommorow at 9"}"#, r#"{:message "m" :when "tomorrow at 9"}"#),
        (
            r#"{:message "m" :when "every wendesday at 8" :zone "Asia/Tokyo"}"#,
            r#"{:message "m" :when "every wednesday at 8" :zone "Asia/Tokyo"}"#,
        ),
        (
            r#"{:message "m" :when "tomorrow at 9am Berlin time"}"#,
            r#"{:message "m" :when "tomorrow at 9am" :zone "Europe/Berlin"}"#,
        ),
        (
            r#"{:message "m" :when "weekdays at 9 in New York"}"#,
            r#"{:message "m" :when "weekdays at 9" :zone "America/New_York"}"#,
        ),
        (r#"{:message "m" :delay_seconds 600}"#, r#"{:message "m" :when "in 10 minutes"}"#),
        (
            r#"{:message "m" :every_ms 90000 :label "l"}"#,
            r#"{:message "m" :when "every 90 seconds" :label "l"}"#,
        ),
        (
            r#"{:prompt "m" :cron "0 9 * * 1" :timezone "UTC" :max_runs "2"}"#,
            r#"{:message "m" :when "0 9 * * 1" :zone "UTC" :max_runs 2}"#,
        ),
        (r#"{:message "m" :when "every month on the 1st at 9"}"#, r#"{:message "m" :when "0 9 1 * *"}"#),
        (
            r#"{:message "m" :when "monthly on the 15th at 17:30" :zone "Asia/Tokyo"}"#,
            r#"{:message "m" :when "30 17 15 * *" :zone "Asia/Tokyo"}"#,
        ),
        (
            r#"{:message "m" :when "tomorrow at 9" :zone "GMT+2"}"#,
            r#"{:message "m" :when "tomorrow at 9" :zone "+02:00"}"#,
        ),
        (
            r#"{:message "m" :when "tomorrow at 9" :zone "Berlin"}"#,
            r#"{:message "m" :when "tomorrow at 9" :zone "Europe/Berlin"}"#,
        ),
        (
            r#"{:message "m" :when "tomorrow at 9" :zone "Europe/Berln"}"#,
            r#"{:message "m" :when "tomorrow at 9" :zone "Europe/Berlin"}"#,
        ),
    ] {
        let scene = Scene::new();
        let answer = scene.call("create", &edn(wrong), Notation::Edn);
        if answer.is_error && example(&answer) != Some(edn(right)) {
            faults.push(format!("{wrong}: {}", answer.value));
        }
    }
    report(&faults);
}

/// A zone that nobody knows is no reason to take another one: the call is refused, and nothing has changed.
#[test]
fn a_zone_that_nobody_knows_makes_nothing() {
    let scene = Scene::new();
    let before = standing(&scene.handle);
    for zone in ["Europe/Belrin", "Nowhere/Xyz"] {
        for (tool, args) in [
            ("create", r#"{:message "m" :when "tomorrow at 9" :zone "ZONE"}"#),
            ("create", r#"{:message "m" :when "0 9 * * *" :zone "ZONE"}"#),
            ("create", r#"{:message "m" :when "in 5 minutes" :zone "ZONE"}"#),
            ("update", r#"{:schedule_id "$SCHEDULE" :when "weekdays at 9" :zone "ZONE"}"#),
        ] {
            let args = scene.edn(&args.replace("ZONE", zone));
            let answer = scene.call(tool, &args, Notation::Edn);
            assert!(answer.is_error, "{tool} {args}: {}", answer.value);
            assert!(answer.value.to_string().contains("zone"), "{tool} {args}: {}", answer.value);
            assert_eq!(standing(&scene.handle), before, "{tool} {args}");
        }
    }
}

/// A model that has read of one tool calls another with its words.
#[test]
fn the_words_of_one_tool_lead_to_those_of_another() {
    let scene = Scene::new();
    let mut faults = Vec::new();
    for (tool, wrong, right) in [
        ("cron_get", "{:id \"$JOB\"}", "{:job_id \"$JOB\"}"),
        ("cron_pause", "{:schedule_id \"$JOB\"}", "{:job_id \"$JOB\"}"),
        (
            "cron_create",
            r#"{:name "n" :message "m" :schedule {:kind :interval :every_seconds 3600}}"#,
            r#"{:name "n" :prompt "m" :schedule {:kind :interval :every_seconds 3600}}"#,
        ),
        ("cancel", "{:id \"$SCHEDULE\"}", "{:schedule_id \"$SCHEDULE\"}"),
        ("create", r#"{:text "m" :when "in 5m" :tz "UTC"}"#, r#"{:message "m" :when "in 5m" :zone "UTC"}"#),
        (
            "cron_create",
            r#"{:name "n" :prompt "m" :schedule {:kind :interval :seconds 3600}}"#,
            r#"{:name "n" :prompt "m" :schedule {:kind :interval :every_seconds 3600}}"#,
        ),
        (
            "cron_create",
            r#"{:name "n" :prompt "m" :schedule {:kind :interval :every_seconds 3600} :timeout_seconds 60}"#,
            r#"{:name "n" :prompt "m" :schedule {:kind :interval :every_seconds 3600} :policy {:timeout_seconds 60}}"#,
        ),
        (
            "cron_create",
            r#"{:name "n" :prompt "m" :schedule {:kind :interval :every_seconds 3600} :overlap "skip"
                :policy {:timeout_seconds 60}}"#,
            r#"{:name "n" :prompt "m" :schedule {:kind :interval :every_seconds 3600}
                :policy {:timeout_seconds 60 :overlap "skip"}}"#,
        ),
        (
            "reminderadd",
            r#"{:interval 60 :type "one-time" :action_prompt "m" :description "d"}"#,
            r#"{:interval_seconds 60 :type "one-time" :action_prompt "m" :description "d"}"#,
        ),
        (
            "schedule_session_action",
            r#"{:action_kind "run_later" :delay_seconds 60 :prompt "m"}"#,
            r#"{:action_kind "run_later" :delay_seconds 60 :instruction "m"}"#,
        ),
        // Words of another tool for two fields of this one: nothing says which is meant.
        ("schedule_session_action", "{:operation \"cancel\" :id \"$ACTION\"}", "nil"),
    ] {
        let (wrong, right) = (scene.edn(wrong), scene.edn(right));
        let answer = scene.call(tool, &wrong, Notation::Edn);
        if !answer.is_error || example(&answer).unwrap_or(Value::Nil) != right {
            faults.push(format!("{tool} {wrong}: {}", answer.value));
        }
    }
    report(&faults);
}

/// Where only the caller can know what is right, nothing is shown.
#[test]
fn what_only_the_caller_can_know_has_no_example() {
    let mut faults = Vec::new();
    for (tool, wrong) in [
        ("create", r#"{:message "m"}"#),
        ("create", r#"{:message "m" :when "tomorrow blursday"}"#),
        ("create", r#"{:message "m" :when "tomorow blursday"}"#),
        ("create", r#"{:message "m" :when "tursday at 9"}"#),
        ("create", r#"{:message "m" :when "every month on the 31st at blursday"}"#),
        ("create", r#"{:message "m" :when "2025-01-05T09:00:00Z"}"#),
        ("create", r#"{:message "m" :when "tomorrow at 9 Tokyo time" :zone "Europe/Berlin"}"#),
        ("create", r#"{:message "another" :when "in 2 hours" :key "k-1"}"#),
        ("create", r#"{:message "m" :when "in 2 hours" :delay_seconds 60}"#),
        ("create", r#"{:message "m" :delay_seconds 0}"#),
        ("create", r#"{:mesage "m" :when "in 2 hours" :session_id "nobody"}"#),
        ("cancel", r#"{:schedule_id "nope"}"#),
        ("cancel", r#"{:id "nope"}"#),
        ("update", r#"{:key "k-1" :paused true :label "l"}"#),
        ("update", r#"{:key "k-1" :zone "Europe/Berlin"}"#),
        ("query", r#"{:query "pending"}"#),
        ("schedule_session_action", r#"{:operation "run_now"}"#),
        ("schedule_session_action", r#"{:action_kind "notify_job_ready" :job_id "j"}"#),
        (
            "schedule_session_action",
            r#"{:action_kind "remind_later" :message "m" :run_at "2027-01-01T00:00:00Z"}"#,
        ),
        ("cron_update", r#"{:job_id "$JOB" :patch {}}"#),
        ("cron_update", r#"{:job_id "$JOB" :patch {:schedule {:kind :once :at "1960-01-01T00:00:00Z"}}}"#),
        ("cron_pause", r#"{:job_id "job_none"}"#),
        ("reminderadd", r#"{:interval_seconds 29 :type "one-time" :action_prompt "p" :description "d"}"#),
    ] {
        let scene = Scene::new();
        let answer = scene.call(tool, &scene.edn(wrong), Notation::Edn);
        let is_hinted = !part(&answer.value, "error hint").is_nil();
        if !answer.is_error || example(&answer).is_some() || !is_hinted {
            faults.push(format!("{tool} {wrong}: {}", answer.value));
        }
    }
    report(&faults);
}

/// A repetition of the refused call would loop. The revision of now is another call.
#[test]
fn a_conflict_of_revisions_shows_the_call_on_the_present_one() {
    let revise = r#"{:job_id "$JOB" :base_revision 1 :patch {:prompt "q"}}"#;
    let relabel = r#"{:schedule_id "$SCHEDULE" :label "l" :revision 1}"#;
    for (tool, call, name) in [
        ("cron_update", revise, "base_revision"),
        ("cron_delete", r#"{:job_id "$JOB" :base-revision 1}"#, "base-revision"),
        ("update", relabel, "revision"),
        // A revision is a condition, and no change beside the pause.
        ("update", r#"{:schedule_id "$SCHEDULE" :paused true :revision 1}"#, "revision"),
    ] {
        let scene = Scene::new();
        scene.told("cron_update", revise);
        scene.told("update", relabel);
        let answer = scene.call(tool, &scene.edn(call), Notation::Edn);
        let right = with(&scene.edn(call), name, 2.into());
        assert_eq!(example(&answer), Some(right.clone()), "{}", answer.value);
        let seen = part(&answer.value, "error revision");
        let seen = if seen.is_nil() { part(&answer.value, "error current_revision") } else { seen };
        assert_eq!(seen, 2.into(), "{}", answer.value);
        assert!(!scene.call(tool, &right, Notation::Edn).is_error, "{tool}");
    }
}

/// Somebody else has changed it, and the caller has not heard so: a typo beside its stale revision is put right by hand.
#[test]
fn an_example_does_not_take_another_revision_in_silence() {
    for (tool, call) in [
        ("cron_update", r#"{:job_id "$JOB" :base_revision 1 :patch {:promt "q"}}"#),
        ("cron_delete", r#"{:id "$JOB" :base_revision 1}"#),
        ("cron_delete", r#"{:job_id "$JOB" :base_revision "1"}"#),
        ("update", r#"{:schedule_id "$SCHEDULE" :when "in 90 secnds" :revision 1}"#),
        ("update", r#"{:schedule_id "$SCHEDULE" :lable "l" :revision 1}"#),
    ] {
        let scene = Scene::new();
        let fresh = scene.call(tool, &scene.edn(call), Notation::Edn);
        assert!(fresh.is_error && example(&fresh).is_some(), "{tool} {call}: {}", fresh.value);
        scene.told("cron_update", r#"{:job_id "$JOB" :base_revision 1 :patch {:prompt "p"}}"#);
        scene.told("update", r#"{:schedule_id "$SCHEDULE" :label "other" :revision 1}"#);
        let stale = scene.call(tool, &scene.edn(call), Notation::Edn);
        assert!(stale.is_error && example(&stale).is_none(), "{tool} {call}: {}", stale.value);
    }
}

/// A caller without a session is told how to get one, and is shown no call that fails.
#[test]
fn without_a_session_nothing_is_shown() {
    let mut scene = Scene::new();
    scene.caller = Caller::OPERATOR;
    for (tool, call) in [
        ("create", r#"{:message "m" :when "in 1 hour"}"#),
        ("cancel", r#"{:key "k-1"}"#),
        ("reminderlist", "{}"),
        ("schedule_session_action", r#"{:operation "list"}"#),
        ("CronList", "{}"),
        ("cron_create", CREATE_JOB),
    ] {
        let answer = scene.call(tool, &edn(call), Notation::Edn);
        assert!(answer.is_error && example(&answer).is_none(), "{tool}: {}", answer.value);
    }
}
