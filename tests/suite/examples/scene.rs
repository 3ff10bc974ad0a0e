//! A state in which calls are made, the calls that are right in it, and what becomes of a wrong one.

use reveille::dialect::{Answer, Notation, REQUEST_CAPS, json};
use reveille::domain::Caller;
use reveille::edn::{Map, Value, read};
use reveille::runtime::Handle;
use reveille::service::Service;

use crate::simulated::{self, session, standing};

/// An engine with a session that has something of each family of tools.
pub(super) struct Scene {
    pub(super) handle: Handle,
    pub(super) service: Service,
    pub(super) caller: Caller,
    job: String,
    action: String,
    schedule: String,
    claude: String,
}

impl Scene {
    pub(super) fn new() -> Scene {
        let (handle, _) = simulated::engine(&["main"]);
        let (service, caller) = (Service::new(handle.clone()), Caller::session(session("main")));
        let mut scene = Scene {
            handle,
            service,
            caller,
            job: String::new(),
            action: String::new(),
            schedule: String::new(),
            claude: String::new(),
        };
        scene.job = id(&scene.told("cron_create", CREATE_JOB), "job id");
        scene.action = id(&scene.told("schedule_session_action", CREATE_ACTION), "actionId");
        scene.schedule = id(&scene.told("create", CREATE), "schedule_id");
        scene.claude = id(&scene.told("CronCreate", CREATE_CLAUDE), "id");
        scene.told("reminderadd", ADD_REMINDER);
        scene
    }

    pub(super) fn call(&self, tool: &str, args: &Value, notation: Notation) -> Answer {
        let answer = self.service.call_tool(tool, &self.caller, args, notation);
        answer.expect("admitted").expect("a tool")
    }

    /// The answer to a call that is right.
    pub(super) fn told(&self, tool: &str, args: &str) -> Value {
        let answer = self.call(tool, &self.edn(args), Notation::Edn);
        assert!(!answer.is_error, "{tool} {args}: {}", answer.value);
        answer.value
    }

    /// Arguments, with the ids of what there is.
    pub(super) fn edn(&self, text: &str) -> Value {
        let named = text
            .replace("$JOB", &self.job)
            .replace("$ACTION", &self.action)
            .replace("$SCHEDULE", &self.schedule)
            .replace("$CLAUDE", &self.claude);
        edn(&named)
    }
}

pub(super) const CREATE_JOB: &str =
    r#"{:name "News" :prompt "Read." :schedule {:kind :interval :every_seconds 3600}}"#;
const CREATE_ACTION: &str = r#"{:action_kind "remind_later" :message "Tea" :delay_seconds 3600}"#;
const CREATE: &str = r#"{:message "Look." :when "in 2 hours" :key "k-1"}"#;
const CREATE_CLAUDE: &str = r#"{:cron "3 9 * * *" :prompt "Look."}"#;
const ADD_REMINDER: &str =
    r#"{:interval_seconds 3600 :type "recurring" :action_prompt "Mail." :description "your email"}"#;

/// Calls that are right in a scene, with every argument of every tool in one of them at least.
pub(super) const CALLS: &[(&str, &str)] = &[
    (
        "cron_create",
        r#"{:name "n" :description "d" :prompt "p" :schedule {:kind "daily" :time "8:00" :timezone "+02:00"}
            :target {:kind "session" :session_id "main"} :policy {:overlap "skip" :missed_run "run_once" :timeout_seconds 60}}"#,
    ),
    (
        "cron_create",
        r#"{:name "n" :prompt "p" :schedule {:kind "weekly" :weekdays ["mon" "fri"] :time "8:00"}
            :target {:kind "current_session"}}"#,
    ),
    (
        "cron_create",
        r#"{:name "n" :prompt "p" :schedule {:kind "interval" :every_seconds 300 :anchor "2100-06-01T08:05:00+08:00"}}"#,
    ),
    ("cron_create", r#"{:name "n" :prompt "p" :schedule {:kind "once" :at "2100-06-01T08:05:00Z"}}"#),
    ("cron_list", "{:include_disabled false}"),
    ("cron_get", r#"{:job_id "$JOB"}"#),
    (
        "cron_update",
        r#"{:job_id "$JOB" :base_revision 1 :patch {:name "m" :description "e" :enabled false :prompt "q"
            :schedule {:kind "interval" :every_seconds 60} :target {:kind "current_session"} :policy {:overlap "parallel"}}}"#,
    ),
    ("cron_delete", r#"{:job_id "$JOB" :base_revision 1}"#),
    ("cron_pause", r#"{:job_id "$JOB" :base_revision 1}"#),
    ("cron_resume", r#"{:job_id "$JOB" :base_revision 1}"#),
    ("reminderadd", ADD_REMINDER),
    ("reminderlist", "{}"),
    ("reminderremove", r#"{:description_pattern "email"}"#),
    (
        "schedule_session_action",
        r#"{:operation "create" :action_kind "remind_later" :message "m" :delay_seconds 60 :original_summary "s"
            :cancel_on_user_activity true :max_attempts 2 :dedupe_key "d"}"#,
    ),
    (
        "schedule_session_action",
        r#"{:action_kind "run_later" :instruction "i" :run_at "2026-01-20T09:00:00Z"}"#,
    ),
    (
        "schedule_session_action",
        r#"{:action_kind "notify_job_ready" :job_id "j" :artifact_path "/a" :artifact_name "a"}"#,
    ),
    ("schedule_session_action", r#"{:operation "list"}"#),
    ("schedule_session_action", r#"{:operation "cancel" :action_id "$ACTION"}"#),
    ("schedule_session_action", r#"{:operation "run_now" :action_id "$ACTION"}"#),
    ("report_job_ready", r#"{:job_id "j"}"#),
    ("CronCreate", r#"{:cron "57 8 * * 1-5" :prompt "p" :recurring false :durable true}"#),
    ("CronList", "{:first 5}"),
    ("CronDelete", r#"{:id "$CLAUDE"}"#),
    ("ScheduleWakeup", r#"{:delaySeconds 300 :reason "r" :prompt "p" :stop false :noop true}"#),
    (
        "create",
        r#"{:message "m" :when "weekdays at 8:30" :zone "Europe/Berlin" :label "l" :kind "session" :max_runs 3 :key "k-2"
            :session_id "main"}"#,
    ),
    ("list", "{:all true :first 5}"),
    ("cancel", r#"{:schedule_id "$SCHEDULE"}"#),
    ("cancel", r#"{:key "k-1"}"#),
    (
        "update",
        r#"{:schedule_id "$SCHEDULE" :when "in 3 hours" :zone "Europe/Berlin" :message "m" :label "l" :revision 1}"#,
    ),
    ("update", r#"{:key "k-1" :paused true}"#),
    ("explain", r#"{:schedule_id "$SCHEDULE" :at "2100-06-01T08:05:00Z"}"#),
    ("query", r#"{:query "[:psi.scheduler/pending-count]"}"#),
];

/// What the example has to be.
pub(super) enum Expected<'a> {
    Is(&'a Value),
    /// This call, if there is an example at all.
    May(&'a Value),
    /// The same call but for the argument at this path, if there is an example at all.
    But(&'a [String]),
    Nothing,
}

/// Makes a wrong call in a new scene, and follows the example of its error. Returns what is wrong with it.
pub(super) fn check(
    tool: &str,
    call: &str,
    wrong: &dyn Fn(&Value) -> Value,
    expected: &Expected<'_>,
    notation: Notation,
) -> Option<String> {
    let scene = Scene::new();
    let wrong = wrong(&scene.edn(call));
    let before = standing(&scene.handle);
    let answer = scene.call(tool, &wrong, notation);
    let told = |what: &str| Some(format!("{what}: {tool} {wrong}\n  {}", answer.value));
    if !answer.is_error {
        return if matches!(expected, Expected::Is(_)) { told("accepted") } else { None };
    }
    if standing(&scene.handle) != before {
        return told("an error has changed something");
    }
    if answer.value.to_string().contains("in the example") || part(&answer.value, "error hint").is_nil() {
        return told("not hinted");
    }
    let Some(example) = example(&answer) else {
        return if matches!(expected, Expected::Is(_)) { told("no example") } else { None };
    };
    let is_right = match expected {
        Expected::Is(right) | Expected::May(right) => example == **right,
        Expected::But(path) => without(&example, path) == without(&wrong, path),
        Expected::Nothing => false,
    };
    if !is_right {
        return told("another call");
    }
    let followed = scene.call(tool, &sent(&example, notation), notation);
    if followed.is_error { told(&format!("refused with {}", followed.value)) } else { None }
}

/// Fails with everything that is wrong.
#[track_caller]
pub(super) fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The example as a program sends it back.
pub(super) fn sent(example: &Value, notation: Notation) -> Value {
    match notation {
        Notation::Edn => edn(&example.to_string()),
        Notation::Json => {
            let mut text = String::new();
            json::write(example, &mut text);
            json::read(text.as_bytes(), &REQUEST_CAPS).expect("JSON")
        }
    }
}

pub(super) fn edn(text: &str) -> Value {
    read(text.as_bytes(), &REQUEST_CAPS).expect(text)
}

pub(super) fn part(value: &Value, path: &str) -> Value {
    let step = |value: Value, key: &str| value.as_map().and_then(|map| map.keyword(key)).cloned();
    path.split(' ').try_fold(value.clone(), step).unwrap_or(Value::Nil)
}

fn id(answer: &Value, path: &str) -> String {
    part(answer, path).as_str().expect(path).to_owned()
}

pub(super) fn example(answer: &Answer) -> Option<Value> {
    Some(part(&answer.value, "error example")).filter(|example| answer.is_error && !example.is_nil())
}

/// The path to each entry of a map, also in the maps in it.
pub(super) fn paths(value: &Value) -> Vec<Vec<String>> {
    let entries = value.as_map().into_iter().flatten();
    let of_entry = |(key, value): (&Value, &Value)| {
        let name = key.as_keyword().expect("a keyword").as_str().to_owned();
        let inner = paths(value).into_iter().map(|path| [vec![name.clone()], path].concat());
        std::iter::once(vec![name.clone()]).chain(inner.collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    entries.flat_map(of_entry).collect()
}

pub(super) fn at(value: &Value, path: &[String]) -> Value {
    part(value, &path.join(" "))
}

/// The value with another entry at the end of a path, or with none.
pub(super) fn edit(
    value: &Value,
    path: &[String],
    change: &dyn Fn(Value, Value) -> Option<(Value, Value)>,
) -> Value {
    let (name, rest) = path.split_first().expect("a path");
    let entry = |(key, value): (&Value, &Value)| match rest {
        _ if key.as_keyword().is_none_or(|key| key.as_str() != name) => Some((key.clone(), value.clone())),
        [] => change(key.clone(), value.clone()),
        rest => Some((key.clone(), edit(value, rest, change))),
    };
    Value::Map(value.as_map().expect("a map").iter().filter_map(entry).collect::<Map>())
}

fn without(value: &Value, path: &[String]) -> Value {
    edit(value, path, &|_, _| None)
}

pub(super) fn with(value: &Value, name: &str, new: Value) -> Value {
    value.as_map().cloned().unwrap_or_default().with(name, new).into()
}
