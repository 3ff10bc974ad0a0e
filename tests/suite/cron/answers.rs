//! Answers to calls that were carried out, in the seed's shape.

use reveille::calendar::{Zones, parse_cron};
use reveille::dialect::cron::{
    Job, JobPolicy, JobSchedule, JobState, JobView, NextRuns, Patch, Period, RunStatus, Tool, conflict,
    created, deleted, got, job_id, listed, never_due, not_found, paused, refused, resumed, run_id, updated,
};
use reveille::dialect::{Answer, PageRequest, json};
use reveille::domain::{Entropy, Refusal, Trigger, Zone};
use reveille::edn::Map;

use super::{at, daily, id};

#[track_caller]
fn check(answer: &Answer, expected: &str) {
    let mut text = String::new();
    json::write(&answer.value, &mut text);
    assert_eq!(text, expected);
}

const JOB: &str = concat!(
    r#"{"id":"job_1","revision":1,"name":"News","enabled":true,"created_at":"2026-06-01T00:00:00Z","#,
    r#""updated_at":"2026-06-01T00:00:00Z","schedule":{"kind":"daily","time":"08:00","timezone":"+08:00"},"#,
    r#""task":{"kind":"agent_prompt","prompt":"Sum it up."},"target":{"kind":"session","session_id":"s-1"},"#,
    r#""policy":{"overlap":"skip","missed_run":"run_once","timeout_seconds":1800}}"#
);

#[test]
fn changes_are_told_in_the_seeds_shape() {
    let (job, zones) = (daily("job_1", "News", "+08:00"), Zones::bundled());
    let outlook = NextRuns::from(&job, at("2026-06-01T00:00:00Z"), &zones);
    let runs = r#""next_runs":["2026-06-01T00:00:00Z","2026-06-02T00:00:00Z","2026-06-03T00:00:00Z"]"#;
    check(&created(&job, &outlook), &format!(r#"{{"status":"created","job":{JOB},{runs}}}"#));
    check(&updated(&job, &outlook), &format!(r#"{{"status":"updated","job":{JOB},{runs}}}"#));
    check(&resumed(&job, &outlook), &format!(r#"{{"status":"resumed","job":{JOB},{runs}}}"#));
    check(&paused(&job), &format!(r#"{{"status":"paused","job":{JOB}}}"#));
    check(&deleted(&id("job_1")), r#"{"status":"deleted","job_id":"job_1"}"#);
    let mut job = job;
    job.enabled = false;
    assert_eq!(NextRuns::from(&job, at("2026-06-01T00:00:00Z"), &zones), NextRuns::default());
    let edn = created(&job, &NextRuns::default()).value.to_string();
    assert!(edn.starts_with(r#"{:status :created :job {:id "job_1" :revision 1 "#), "{edn}");
    assert!(edn.contains(":policy {:overlap :skip :missed_run :run_once"), "{edn}");
}

fn list(views: Vec<JobView>, include_disabled: bool, zones: &Zones, warnings: Vec<String>) -> Answer {
    let now = at("2026-06-01T12:00:00Z");
    listed(views, (include_disabled, &PageRequest::default()), (zones, now), warnings)
}

#[test]
fn a_zone_that_is_not_known_is_warned_of() {
    let zones = Zones::bundled().with_local(Zone::parse("Asia/Tokyo").unwrap());
    let job = daily("job_1", "News", "Mars/Phobos");
    let outlook = NextRuns::from(&job, at("2026-06-01T12:00:00Z"), &zones);
    assert_eq!(outlook.next_runs[0], at("2026-06-01T23:00:00Z"));
    let version = zones.version();
    let warning =
        format!("the time zone database {version} does not know Mars/Phobos: read as local time, Asia/Tokyo");
    let text = created(&job, &outlook).value.to_string();
    assert!(text.contains(r#":timezone "Mars/Phobos""#), "{text}");
    assert!(text.ends_with(&format!(":warnings [\"{warning}\"]}}")), "{text}");
    let view = JobView { job, state: JobState::default() };
    let text = got(&view, &zones).value.to_string();
    assert!(text.ends_with(&format!(":warnings [\"{warning}\"]}}")), "{text}");
    let text = list(vec![view], true, &zones, vec!["first".into()]).value.to_string();
    assert!(text.contains(&format!(":warnings [\"first\" \"job_1: {warning}\"] ")), "{text}");
    let time = r#":utc_now "2026-06-01T12:00:00Z" :local_now "2026-06-01T21:00:00+09:00"}"#;
    assert!(text.ends_with(time), "{text}");
}

#[test]
fn states_leave_out_what_there_is_not() {
    let zones = Zones::bundled();
    let job = daily("job_1", "News", "+08:00");
    let bare = JobView { job: job.clone(), state: JobState::default() };
    check(&got(&bare, &zones), &format!(r#"{{"job":{JOB},"state":{{"consecutive_failures":0}}}}"#));
    let state = JobState {
        next_run_at: Some(at("2026-06-03T00:00:00Z")),
        last_scheduled_for: Some(at("2026-06-02T00:00:00Z")),
        last_started_at: Some(at("2026-06-02T00:00:00.250Z")),
        last_finished_at: Some(at("2026-06-01T00:01:00Z")),
        last_status: Some(RunStatus::Error),
        last_error: Some("timed out after 1800 seconds".into()),
        consecutive_failures: 2,
        running_run_id: Some("run_1".into()),
    };
    let shown = concat!(
        r#"{"next_run_at":"2026-06-03T00:00:00Z","last_scheduled_for":"2026-06-02T00:00:00Z","#,
        r#""last_started_at":"2026-06-02T00:00:00.250Z","last_finished_at":"2026-06-01T00:01:00Z","#,
        r#""last_status":"error","last_error":"timed out after 1800 seconds","consecutive_failures":2,"#,
        r#""running_run_id":"run_1"}"#
    );
    check(&got(&JobView { job, state }, &zones), &format!(r#"{{"job":{JOB},"state":{shown}}}"#));
}

#[test]
fn lists_are_in_order_and_may_leave_out_what_is_disabled() {
    let view = |job_id: &str, name: &str, next: Option<&str>| {
        let state = JobState { next_run_at: next.map(at), ..JobState::default() };
        JobView { job: daily(job_id, name, "UTC"), state }
    };
    let mut views = vec![
        view("job_5", "b", Some("2026-06-03T00:00:00Z")),
        view("job_4", "b", Some("2026-06-02T00:00:00Z")),
        view("job_3", "a", Some("2026-06-03T00:00:00Z")),
        view("job_2", "z", None),
        view("job_1", "z", None),
    ];
    views[4].job.enabled = false;
    let ids = |include_disabled: bool| {
        let answer = list(views.clone(), include_disabled, &Zones::bundled(), Vec::new());
        let text = answer.value.to_string();
        assert!(text.contains(":warnings [] :utc_now "), "{text}");
        let ids: Vec<String> =
            text.split(r#":job {:id "job_"#).skip(1).map(|part| part[..1].into()).collect();
        ids.concat()
    };
    assert_eq!(ids(true), "12435");
    assert_eq!(ids(false), "2435");
    check(
        &list(Vec::new(), true, &Zones::bundled(), Vec::new()),
        concat!(
            r#"{"jobs":[],"warnings":[],"utc_now":"2026-06-01T12:00:00Z","#,
            r#""local_now":"2026-06-01T12:00:00+00:00"}"#
        ),
    );
}

#[test]
fn a_job_that_is_not_there_is_an_error_for_whoever_changes_it() {
    for tool in [Tool::Get, Tool::Delete] {
        let answer = not_found(tool, &id("job_1"));
        assert!(!answer.is_error);
        check(&answer, r#"{"status":"not_found","job_id":"job_1"}"#);
    }
    for tool in [Tool::Update, Tool::Pause, Tool::Resume] {
        let answer = not_found(tool, &id("job_1"));
        assert!(answer.is_error);
        check(
            &answer,
            concat!(
                r#"{"status":"error","error":{"kind":"job_not_found","class":"NOT_FOUND","#,
                r#""message":"there is no job job_1","field":"job_id","value":"job_1","#,
                r#""hint":"list the jobs with cron_list to see the ids that exist; "#,
                r#"changing one of another session takes the grant cron-others"}}"#
            ),
        );
    }
}

#[test]
fn a_conflict_names_both_revisions() {
    check(
        &conflict(
            &id("job_1"),
            3,
            999,
            &Map::new().with("job_id", "job_1").with("base_revision", 999).into(),
        ),
        concat!(
            r#"{"status":"error","error":{"kind":"revision_conflict","class":"CONFLICT","#,
            r#""message":"job_1 is at revision 3, and the change was made for revision 999","#,
            r#""job_id":"job_1","current_revision":3,"base_revision":999,"#,
            r#""hint":"somebody else changed the job: look at it with cron_get, then call again with base_revision 3","#,
            r#""example":{"job_id":"job_1","base_revision":3}}}"#
        ),
    );
}

#[test]
fn what_the_engine_finds_is_told_too() {
    let past = JobSchedule::Once { at: at("2026-06-01T00:00:00Z") };
    let answer = never_due(Tool::Update, &past, at("2026-06-02T00:00:00Z"));
    let text = answer.value.to_string();
    assert!(text.contains(":kind :never_due") && text.contains(r#":field "patch.schedule.at""#), "{text}");
    let text = refused(&Refusal::Stopping).value.to_string();
    assert!(text.starts_with(r#"{:status :error :error {:kind :stopping :class ""#), "{text}");
}

#[test]
fn a_patch_replaces_what_it_names() {
    let job = daily("job_1", "News", "UTC");
    let (description, policy) = (Some("d".into()), JobPolicy { timeout_seconds: 60, ..JobPolicy::default() });
    let job = Job { description, policy, ..job };
    let later = at("2026-06-02T00:00:00Z");
    let paused = Patch::enabled(false).applied_to(&job, later);
    assert_eq!(paused, Job { enabled: false, revision: 2, updated_at: later, ..job.clone() });
    let patch = Patch { description: Some(None), policy: Some(JobPolicy::default()), ..Patch::default() };
    let changed = patch.applied_to(&job, later);
    let policy = JobPolicy::default();
    assert_eq!(changed, Job { description: None, policy, revision: 2, updated_at: later, ..job });
    assert!(Patch::default().is_empty() && !patch.is_empty());
}

/// A schedule that is kept as a rule is shown as it was asked for.
#[test]
fn schedules_and_rules_are_the_same() {
    let created_at = at("2026-06-01T00:00:00Z");
    let there_and_back =
        |schedule: &JobSchedule| JobSchedule::from_trigger(&schedule.trigger(created_at), created_at);
    let once = JobSchedule::Once { at: created_at };
    assert_eq!(there_and_back(&once), Some(once.clone()));
    let daily = daily("job_1", "News", "Europe/Berlin").schedule;
    assert_eq!(there_and_back(&daily), Some(daily));
    let period = Period::new(300).unwrap();
    for anchor in [None, Some(created_at)] {
        let interval = JobSchedule::Interval { period, anchor };
        assert_eq!(there_and_back(&interval), Some(interval));
    }
    let cron = Trigger::Cron(parse_cron("@daily").unwrap().into(), Zone::Utc.into());
    assert_eq!(JobSchedule::from_trigger(&cron, created_at), None);
    assert!(once.is_never_due(at("2026-06-01T00:00:00.001Z")) && !once.is_never_due(created_at));
}

#[test]
fn ids_are_a_prefix_and_a_uuid_of_version_7() {
    let (now, entropy) = (at("2026-06-01T00:00:00Z"), Entropy([0xab; 16]));
    assert_eq!(job_id(now, entropy).to_string(), "job_019e807aec007bababababababababab");
    let [first, second] =
        ["2026-06-01T00:00:00Z", "2026-06-01T00:00:00.001Z"].map(|text| run_id(at(text), entropy));
    assert!(first < second && first.starts_with("run_") && first.len() == 36, "{first} {second}");
}
