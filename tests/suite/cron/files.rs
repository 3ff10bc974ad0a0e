//! The two files: rows of lines, and what a replay makes of them.

use reveille::dialect::cron::RunStatus;
use reveille::dialect::cron::jsonl::{File, FoldedJob, JobEvent, JobLine, Replayed, replay};
use reveille::domain::ScheduleId;

use super::{at, daily, id};

const HEAD: &str = r#""timestamp":"2026-06-01T00:00:00Z""#;
const JOB: &str = concat!(
    r#""name":"News","enabled":true,"created_at":"2026-06-01T00:00:00Z","updated_at":"2026-06-01T00:00:00Z","#,
    r#""schedule":{"kind":"daily","time":"08:00"},"task":{"kind":"agent_prompt","prompt":"Sum it up."},"#,
    r#""target":{"kind":"session","session_id":"s-1"}"#
);

fn created(event: &str, job: &str) -> String {
    format!(
        r#"{{"type":"job_created","event_id":"{event}",{HEAD},"job":{{"id":"{job}","revision":1,{JOB}}}}}"#
    )
}

fn updated(event: &str, job: &str, revision: u64) -> String {
    let base = revision - 1;
    let head = format!(r#""type":"job_updated","event_id":"{event}",{HEAD},"job_id":"{job}""#);
    let body = format!(r#""base_revision":{base},"revision":{revision},"patch":{{"enabled":true}}"#);
    format!(r#"{{{head},{body},"job":{{"id":"{job}","revision":{revision},{JOB}}}}}"#)
}

fn deleted(event: &str, job: &str, revision: u64) -> String {
    let base = revision - 1;
    let head = format!(r#""type":"job_deleted","event_id":"{event}",{HEAD},"job_id":"{job}""#);
    format!(r#"{{{head},"base_revision":{base},"revision":{revision}}}"#)
}

/// `slot` is the hour of the run. The seed's code writes no timestamp into these.
fn run(kind: &str, event: &str, run: &str, rest: &str) -> String {
    format!(r#"{{"type":"{kind}","event_id":"{event}","run_id":"{run}","job_id":"job_1",{rest}}}"#)
}

fn started(event: &str, run_id: &str, hour: u8) -> String {
    let rest = format!(
        r#""scheduled_for":"2026-06-01T{hour:02}:00:00Z","started_at":"2026-06-01T{hour:02}:00:00.250+00:00""#
    );
    run("run_started", event, run_id, &rest)
}

fn finished(event: &str, run_id: &str, rest: &str) -> String {
    run("run_finished", event, run_id, &format!(r#""finished_at":"2026-06-01T12:00:00Z",{rest}"#))
}

fn skipped(event: &str, run_id: &str, hour: u8) -> String {
    let slot =
        format!(r#""scheduled_for":"2026-06-01T{hour:02}:00:00Z","skipped_at":"2026-06-01T13:00:00Z""#);
    run("run_skipped", event, run_id, &format!(r#"{slot},"reason":"previous run is still marked running""#))
}

fn file(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn said(replayed: &Replayed) -> Vec<String> {
    replayed.warnings.list.iter().map(ToString::to_string).collect()
}

/// What `jobs.jsonl` with these lines comes to: ids with revisions, then the warnings.
#[track_caller]
fn check(lines: &[String], jobs: &str, warnings: &[&str]) {
    let replayed = replay(file(lines).as_bytes(), b"").expect("readable");
    let shown = |(id, kept): (&ScheduleId, &FoldedJob)| format!("{id}@{}", kept.job.revision);
    let found: Vec<String> = replayed.profile.jobs.iter().map(shown).collect();
    assert_eq!(found.join(" "), jobs);
    assert_eq!(said(&replayed), warnings);
}

#[test]
fn revisions_go_up_and_a_tombstone_is_final() {
    check(&[created("e1", "job_1"), updated("e2", "job_1", 2)], "job_1@2", &[]);
    let lines = [created("e1", "job_1"), updated("e2", "job_1", 2), deleted("e3", "job_1", 3)];
    check(&lines, "", &[]);
    let replayed = replay(file(&lines).as_bytes(), b"").unwrap();
    assert_eq!(replayed.profile.tombstones.get(&id("job_1")), Some(&3));
    let after =
        [lines[0].clone(), deleted("e2", "job_1", 2), updated("e3", "job_1", 3), created("e4", "job_1")];
    let passed_over = "passed over, because the job job_1 was deleted";
    let [third, fourth] = [3, 4].map(|line| format!("jobs.jsonl line {line}: {passed_over}"));
    check(&after, "", &[&third, &fourth]);
}

#[test]
fn odd_events_are_decided_and_told() {
    check(
        &[created("e1", "job_1"), created("e1", "job_1"), created("e2", "job_1")],
        "job_1@1",
        &[
            "jobs.jsonl line 2: passed over, because the event e1 came before",
            "jobs.jsonl line 3: passed over, because there is a job job_1",
        ],
    );
    check(
        &[
            created("e1", "job_1"),
            updated("e2", "job_1", 2),
            updated("e3", "job_1", 2),
            deleted("e4", "job_1", 2),
        ],
        "job_1@2",
        &[
            "jobs.jsonl line 3: passed over, because the job job_1 was at revision 2, and this is 2",
            "jobs.jsonl line 4: passed over, because the job job_1 was at revision 2, and this is 2",
        ],
    );
    check(
        &[
            created("e1", "job_1"),
            updated("e2", "job_1", 4),
            deleted("e3", "job_2", 5),
            updated("e4", "job_3", 7),
        ],
        "job_1@4 job_3@7",
        &[
            "jobs.jsonl line 2: taken, although revisions of the job job_1 between 1 and 4 are missing",
            "jobs.jsonl line 3: taken, although the creation of the job job_2 is missing",
            "jobs.jsonl line 4: taken, although the creation of the job job_3 is missing",
        ],
    );
}

#[test]
fn lines_that_are_no_events_are_passed_over() {
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    check(
        &[
            created("e1", "job_1"),
            "{\"type\":\"job_created\"".to_owned(),
            String::new(),
            "[]".to_owned(),
            r#"{"type":"job_archived","event_id":"e2"}"#.to_owned(),
            created("e3", "job_2").replace(r#""time":"08:00""#, r#""time":"25:00""#),
            created("e4", "job_2").replace(r#""revision":1"#, r#""revision":0"#),
            updated("e5", "job_1", 2).replace(r#""revision":2,"patch""#, r#""revision":3,"patch""#),
            r#"{"type":"job_deleted","type":"job_deleted"}"#.to_owned(),
            deep,
        ],
        "job_1@1",
        &[
            "jobs.jsonl line 2: passed over, because it is no event: EOF while parsing an object at column 21",
            "jobs.jsonl line 4: passed over, because it is no event: it has no type",
            "jobs.jsonl line 5: passed over, because no event is of the type \"job_archived\"",
            "jobs.jsonl line 6: passed over, because it is no event: job.schedule.time is no time of day",
            "jobs.jsonl line 7: passed over, because it is no event: job.revision must be from 1 to 9223372036854775807",
            "jobs.jsonl line 8: passed over, because it is no event: revision is not that of the job beside it",
            "jobs.jsonl line 9: passed over, because it is no event: duplicate key \"type\" at column 43",
            "jobs.jsonl line 10: passed over, because it is no event: the input is nested deeper than 64 levels",
        ],
    );
}

/// A later version may add fields to events and jobs, but not to what the rules of a schedule are.
#[test]
fn fields_of_later_versions_are_passed_over() {
    let line = created("e1", "job_1").replace(r#""revision":1"#, r#""labels":["a"],"revision":1"#);
    check(&[line.replace(r#""type""#, r#""schema":2,"type""#)], "job_1@1", &[]);
    check(
        &[
            created("e1", "job_1"),
            created("e2", "job_2").replace(r#""kind":"daily""#, r#""kind":"daily","jitter":5"#),
        ],
        "job_1@1",
        &[
            "jobs.jsonl line 2: passed over, because it is no event: unknown field job.schedule.jitter: job.schedule may have \
           kind, time, timezone",
        ],
    );
}

#[test]
fn a_torn_last_line_is_told_apart() {
    let whole = file(&[created("e1", "job_1")]);
    for cut in 1..created("e2", "job_2").len() {
        let torn = format!("{whole}{}", &created("e2", "job_2")[..cut]);
        let replayed = replay(torn.as_bytes(), b"").expect("readable");
        let torn = "jobs.jsonl line 2: passed over, because its end is missing: an append was cut off";
        assert_eq!((replayed.profile.jobs.len(), said(&replayed)), (1, vec![torn.to_owned()]), "{cut}");
        assert_eq!(replayed.unended, [File::Jobs]);
    }
    // The next append begins with a line break, and so the torn line takes nothing along.
    let mended = format!("{whole}{{\"type\n{}", file(&[created("e2", "job_2")]));
    let replayed = replay(mended.as_bytes(), b"").expect("readable");
    assert_eq!(
        (replayed.profile.jobs.len(), replayed.warnings.list.len(), replayed.unended.len()),
        (2, 1, 0)
    );
    // Cut in the middle of a character, or just before its end.
    let replayed = replay(&[whole.as_bytes(), b"{\"\xc3"].concat(), b"").expect("readable");
    assert_eq!(replayed.warnings.list.len(), 1);
    let replayed = replay(format!("{whole}{}", created("e2", "job_2")).as_bytes(), b"").expect("readable");
    assert_eq!((replayed.profile.jobs.len(), replayed.warnings.list.len()), (2, 0));
    assert_eq!(replayed.unended, [File::Jobs]);
}

#[test]
fn a_file_that_says_nothing_is_not_an_empty_one() {
    for empty in ["", "\n", " \n\n"] {
        let replayed = replay(empty.as_bytes(), empty.as_bytes()).expect("empty");
        assert_eq!((replayed.profile.jobs.len(), replayed.warnings.list.len()), (0, 0));
    }
    let unreadable = |jobs: &str, runs: &str| {
        replay(jobs.as_bytes(), runs.as_bytes()).expect_err("says nothing").to_string()
    };
    let advice = "none of them an event; keep it, and look at it first: ";
    assert_eq!(
        unreadable("\0\0\0\n{}\n", ""),
        format!(
            "jobs.jsonl holds 2 lines, {advice}jobs.jsonl line 1: passed over, because it is no event: expected value at \
             column 1"
        )
    );
    assert_eq!(
        unreadable(&file(&[created("e1", "job_1")]), r#"{"type":"run_"#),
        format!(
            "runs.jsonl holds 1 lines, {advice}runs.jsonl line 1: passed over, because its end is missing: an append was cut off"
        )
    );
    assert!(unreadable(r#"{"type":"job_archived"}"#, "").contains("no event is of the type"));
}

#[test]
fn runs_make_the_state() {
    let jobs = file(&[created("e1", "job_1")]);
    let state = |lines: &[String]| {
        let replayed = replay(jobs.as_bytes(), file(lines).as_bytes()).expect("readable");
        assert_eq!(said(&replayed), [""; 0]);
        replayed.profile.jobs[&id("job_1")].state.clone()
    };
    let running = state(&[started("r1", "run_1", 8)]);
    assert_eq!(running.last_scheduled_for, Some(at("2026-06-01T08:00:00Z")));
    assert_eq!(running.last_started_at, Some(at("2026-06-01T08:00:00.250Z")));
    assert_eq!((running.running_run_id.as_deref(), running.last_status), (Some("run_1"), None));
    // A skip consumes the slot, and leaves the run and the failures alone.
    let after_skip = state(&[started("r1", "run_1", 8), skipped("r2", "run_2", 9)]);
    assert_eq!(after_skip.running_run_id.as_deref(), Some("run_1"));
    assert_eq!(after_skip.last_scheduled_for, Some(at("2026-06-01T09:00:00Z")));
    assert_eq!(after_skip.last_status, Some(RunStatus::Skipped));
    let failed = r#""status":"error","error":"timed out after 1800 seconds""#;
    let lines = [
        started("r1", "run_1", 8),
        finished("r2", "run_1", failed),
        started("r3", "run_2", 9),
        finished("r4", "run_2", failed),
        skipped("r5", "run_3", 10),
    ];
    let after_failures = state(&lines);
    assert_eq!((after_failures.consecutive_failures, after_failures.running_run_id), (2, None));
    assert_eq!(after_failures.last_error.as_deref(), Some("timed out after 1800 seconds"));
    assert_eq!(after_failures.last_finished_at, Some(at("2026-06-01T12:00:00Z")));
    let ok = finished("r6", "run_4", r#""status":"ok","session_id":"s-1""#);
    let after_ok = state(&[&lines[..], &[started("r7", "run_5", 11), ok]].concat());
    assert_eq!((after_ok.consecutive_failures, after_ok.last_error), (0, None));
    // The end of one run does not end another.
    assert_eq!(after_ok.running_run_id.as_deref(), Some("run_5"));
}

#[test]
fn runs_of_deleted_jobs_are_in_order_and_those_of_no_job_are_odd() {
    let runs = file(&[started("r1", "run_1", 8)]);
    let gone = file(&[created("e1", "job_1"), deleted("e2", "job_1", 2)]);
    assert_eq!(said(&replay(gone.as_bytes(), runs.as_bytes()).unwrap()), [""; 0]);
    let other = file(&[created("e1", "job_2")]);
    let expected = "runs.jsonl line 1: passed over, because there is no job job_1";
    assert_eq!(said(&replay(other.as_bytes(), runs.as_bytes()).unwrap()), [expected]);
}

/// Slots before a change of the schedule belonged to another one; a change of anything else does not count.
#[test]
fn a_job_knows_since_when_it_has_its_schedule() {
    let later = |line: String| line.replacen("2026-06-01T00:00:00Z", "2026-06-05T00:00:00Z", 1);
    let since = |update: String| {
        let lines = file(&[created("e1", "job_1"), update]);
        replay(lines.as_bytes(), b"").unwrap().profile.jobs[&id("job_1")].scheduled_since
    };
    assert_eq!(since(later(updated("e2", "job_1", 2))), at("2026-06-01T00:00:00Z"));
    let moved = updated("e2", "job_1", 2).replace(r#""08:00""#, r#""09:00""#);
    assert_eq!(since(later(moved)), at("2026-06-05T00:00:00Z"));
}

#[test]
fn a_line_is_printed_as_the_seed_writes_it() {
    let job = daily("job_1", "two\nlines", "local");
    let line = JobLine {
        event_id: "evt_1".into(),
        timestamp: at("2026-06-01T00:00:00Z"),
        event: JobEvent::Created(job.into()),
        history_since: None,
    };
    let mut text = String::new();
    line.print(&mut text);
    let job = JOB.replace("News", r"two\nlines").replace(r#""08:00""#, r#""08:00","timezone":"local""#);
    let policy = r#""policy":{"overlap":"skip","missed_run":"run_once","timeout_seconds":1800}"#;
    let expected = format!(
        r#"{{"type":"job_created","event_id":"evt_1",{HEAD},"job":{{"id":"job_1","revision":1,{job},{policy}}}}}"#
    );
    assert_eq!(text, expected + "\n");
}
