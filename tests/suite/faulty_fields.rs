//! An error names the field that is at fault as its tool spells it, with the value that was given.

use reveille::dialect::Notation;
use reveille::edn::{Caps, Map, Value, read};
use reveille::runtime::Handle;
use reveille::service::Service;

use crate::simulated::{self, token};

/// The answer to a call of the session `s`.
fn call(handle: &Handle, tool: &str, args: &str) -> Map {
    let args = read(args.as_bytes(), &Caps::DEFAULT).expect(args);
    let answer = Service::new(handle.clone()).call_tool(tool, &token("s"), &args, Notation::Edn);
    answer.expect("a session may").expect("a tool").value.as_map().expect("a map").clone()
}

#[test]
fn an_error_names_the_field_at_fault_and_its_value() {
    let (handle, _) = simulated::engine(&["s"]);
    let made = call(&handle, "create", r#"{:message "m" :when "in 1h" :key "k"}"#);
    let schedule = made.keyword("schedule_id").and_then(Value::as_str).expect("it was made");
    let job = r#"{:name "n" :prompt "p" :schedule {:kind "daily" :time "09:00"}}"#;
    let job = call(&handle, "cron_create", job);
    let job = job.keyword("job").and_then(Value::as_map).and_then(|job| job.keyword("id"));
    let job = job.and_then(Value::as_str).expect("it was made");
    for (tool, args, field, value) in [
        ("create", r#"{:message "m" :when "soon"}"#, "when", r#""soon""#),
        ("create", r#"{:message "m" :when "99 9 * * *"}"#, "when", r#""99 9 * * *""#),
        ("create", r#"{:message "m" :when "2020-01-01T00:00:00Z"}"#, "when", r#""2020-01-01T00:00:00Z""#),
        ("create", r#"{:message "m" :when "in 1h" :zone "Nowhere/Xyz"}"#, "zone", r#""Nowhere/Xyz""#),
        ("create", r#"{:message "m" :when "at 9 Nowhere/Xyz"}"#, "when", r#""at 9 Nowhere/Xyz""#),
        ("create", r#"{:message "m" :when "in 1h" :max_runs 2}"#, "max_runs", "2"),
        ("create", r#"{:message "m" :when "in 1h" :session_id "s2"}"#, "session_id", r#""s2""#),
        ("create", r#"{:message "other" :when "in 1h" :key "k"}"#, "key", r#""k""#),
        ("cancel", r#"{:schedule_id "sch-none"}"#, "schedule_id", r#""sch-none""#),
        ("cancel", r#"{:key "none"}"#, "key", r#""none""#),
        ("update", r#"{:schedule_id "sch-none" :label "l"}"#, "schedule_id", r#""sch-none""#),
        ("update", r#"{:key "none" :paused true}"#, "key", r#""none""#),
        ("update", r#"{:key "k" :when "soon"}"#, "when", r#""soon""#),
        ("update", r#"{:schedule_id "SCHEDULE" :label "l" :revision 7}"#, "revision", "7"),
        ("explain", r#"{:schedule_id "sch-none"}"#, "schedule_id", r#""sch-none""#),
        ("explain", r#"{:key "none"}"#, "key", r#""none""#),
        ("list", r#"{:after "abc"}"#, "after", r#""abc""#),
        (
            "cron_create",
            r#"{:name "n" :prompt "p" :schedule {:kind "daily" :time "09:00"}
                :target {:kind "session" :session_id "t"}}"#,
            "target.session_id",
            r#""t""#,
        ),
        (
            "cron_update",
            r#"{:job_id "JOB" :patch {:target {:kind "session" :session_id "t"}}}"#,
            "patch.target.session_id",
            r#""t""#,
        ),
    ] {
        let args = args.replace("SCHEDULE", schedule).replace("JOB", job);
        let answer = call(&handle, tool, &args);
        let error = answer.keyword("error").and_then(Value::as_map);
        let error = error.unwrap_or_else(|| unreachable!("{tool} {args}: {answer:?}"));
        let part = |name: &str| error.keyword(name).map(Value::to_string).unwrap_or_default();
        assert_eq!(
            (part("field"), part("value")),
            (format!("{field:?}"), value.into()),
            "{tool} {args}: {error:?}"
        );
        assert!(!part("hint").is_empty() && !part("message").contains(" :"), "{tool} {args}: {error:?}");
    }
}
