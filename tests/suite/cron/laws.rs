//! Whatever is printed into the two files reads back equal.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use reveille::dialect::cron::jsonl::{JobEvent, JobLine, Profile, RunEvent, RunLine, replay};
use reveille::dialect::cron::{
    Job, JobPolicy, JobSchedule, JobTarget, MissedRun, Overlap, Patch, Period, RunStatus,
};
use reveille::domain::{Moment, SessionId, TimeOfDay, Weekday, Weekdays, Zone};

use super::id;

/// A text as a call leaves it: trimmed and not blank, and otherwise anything.
fn text() -> impl Strategy<Value = Box<str>> {
    prop_oneof![Just("n".to_owned()), "[^ ]{1,3}", "\\PC{1,12}", "[a\"\\\\\n\u{2028}é𐀀]{1,8}"]
        .prop_filter_map("blank", |text| (!text.trim().is_empty()).then(|| text.trim().into()))
}

fn moment() -> impl Strategy<Value = Moment> {
    let seconds = prop_oneof![0_i64..5_000_000_000, -70_000_000_000_i64..300_000_000_000];
    let nanos = prop_oneof![Just(0_u32), 0..1_000_000_000_u32];
    (seconds, nanos).prop_map(|(seconds, nanos)| Moment::new(seconds, nanos).expect("in the calendar"))
}

fn zone() -> impl Strategy<Value = Zone> {
    let zones = ["local", "UTC", "+08:00", "-03:30", "Europe/Berlin", "Mars/Phobos", "Pacific Standard Time"];
    proptest::sample::select(zones.to_vec()).prop_map(|zone| Zone::parse(zone).expect("a zone"))
}

fn schedule() -> impl Strategy<Value = JobSchedule> {
    let time =
        || (0_u8..24, 0_u8..60, 0_u8..60).prop_map(|(h, m, s)| TimeOfDay::new(h, m, s).expect("a time"));
    let days = proptest::sample::subsequence(Weekday::ALL.to_vec(), 1..=7);
    let days = days.prop_map(|days| Weekdays::new(days).expect("a day"));
    prop_oneof![
        moment().prop_map(|at| JobSchedule::Once { at }),
        (1_u64..=315_360_000, option::of(moment())).prop_map(|(seconds, anchor)| JobSchedule::Interval {
            period: Period::new(seconds).expect("in bounds"),
            anchor,
        }),
        (time(), zone()).prop_map(|(time, zone)| JobSchedule::Daily { time, zone }),
        (days, time(), zone()).prop_map(|(weekdays, time, zone)| JobSchedule::Weekly {
            weekdays,
            time,
            zone
        }),
    ]
}

fn target() -> impl Strategy<Value = JobTarget> {
    let gateway = (text(), text(), option::of(text())).prop_map(|(channel, conversation_id, thread_id)| {
        JobTarget::Gateway { channel, conversation_id, thread_id }
    });
    prop_oneof!["[a-z]{1,9}".prop_map(|id| JobTarget::Session(SessionId::new(&id).expect("an id"))), gateway]
}

fn policy() -> impl Strategy<Value = JobPolicy> {
    let overlap = proptest::sample::select(Overlap::ALL.to_vec());
    let missed_run = proptest::sample::select(MissedRun::ALL.to_vec());
    (overlap, missed_run, 1..=JobPolicy::TIMEOUT_SECONDS_MAX)
        .prop_map(|(overlap, missed_run, timeout_seconds)| JobPolicy { overlap, missed_run, timeout_seconds })
}

fn job() -> impl Strategy<Value = Job> {
    let texts = (text(), option::of(text()), text());
    let moments = (moment(), moment());
    let rest = (0_u8..4, 1_u64..6, any::<bool>());
    (texts, moments, rest, schedule(), target(), policy()).prop_map(
        |(
            (name, description, prompt),
            (created_at, updated_at),
            (number, revision, enabled),
            schedule,
            target,
            policy,
        )| {
            let id = id(&format!("job_{number}"));
            Job {
                id,
                revision,
                name,
                description,
                enabled,
                created_at,
                updated_at,
                schedule,
                prompt,
                target,
                policy,
            }
        },
    )
}

fn patch() -> impl Strategy<Value = Patch> {
    let texts = (option::of(text()), option::of(option::of(text())), option::of(text()));
    let parts = (option::of(schedule()), option::of(target()), option::of(policy()));
    (texts, option::of(any::<bool>()), parts).prop_map(
        |((name, description, prompt), enabled, (schedule, target, policy))| Patch {
            name,
            description,
            enabled,
            schedule,
            prompt,
            target,
            policy,
        },
    )
}

/// Few jobs and low revisions, so that events meet: stale ones, repeated ones, and those of jobs that are not there.
fn job_line() -> impl Strategy<Value = JobLine> {
    let event = prop_oneof![
        job().prop_map(|job| JobEvent::Created(job.into())),
        (1_u64..6, patch(), job()).prop_map(|(base_revision, patch, job)| JobEvent::Updated {
            base_revision,
            patch: patch.into(),
            job: job.into(),
        }),
        (0_u8..4, 1_u64..6, 2_u64..7).prop_map(|(number, base_revision, revision)| JobEvent::Deleted {
            job_id: id(&format!("job_{number}")),
            base_revision,
            revision,
        }),
    ];
    let since = option::of(moment());
    (0_u16..400, moment(), event, since).prop_map(|(number, timestamp, event, history_since)| JobLine {
        event_id: format!("evt_{number}").into(),
        timestamp,
        event,
        history_since,
    })
}

fn run_line() -> impl Strategy<Value = RunLine> {
    let status = proptest::sample::select(RunStatus::ALL.to_vec());
    let any_text = || "\\PC{0,8}".prop_map(String::into_boxed_str);
    let event = prop_oneof![
        moment().prop_map(|scheduled_for| RunEvent::Started { scheduled_for }),
        (status, option::of(any_text()), option::of(any_text()))
            .prop_map(|(status, session_id, error)| RunEvent::Finished { status, session_id, error }),
        (moment(), any_text())
            .prop_map(|(scheduled_for, reason)| RunEvent::Skipped { scheduled_for, reason }),
    ];
    (400_u16..800, moment(), 0_u8..5, 0_u8..5, event).prop_map(|(number, timestamp, run, job, event)| {
        RunLine {
            event_id: format!("evt_{number}").into(),
            timestamp,
            run_id: format!("run_{run}").into(),
            job_id: id(&format!("job_{job}")),
            event,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The files say what their events come to, with the same oddities.
    #[test]
    fn what_is_printed_reads_back(jobs in vec(job_line(), 0..12), runs in vec(run_line(), 0..12)) {
        let (mut profile, mut oddities) = (Profile::default(), Vec::new());
        let (mut jobs_text, mut runs_text) = (String::new(), String::new());
        for line in &jobs {
            line.print(&mut jobs_text);
            oddities.extend(profile.add_job_event(line));
        }
        for line in &runs {
            line.print(&mut runs_text);
            oddities.extend(profile.add_run_event(line));
        }
        prop_assert_eq!(jobs_text.lines().count(), jobs.len());
        let replayed = replay(jobs_text.as_bytes(), runs_text.as_bytes()).expect("every line is an event");
        let found: Vec<_> = replayed.warnings.list.into_iter().map(|warning| warning.oddity).collect();
        prop_assert_eq!(found, oddities);
        prop_assert_eq!(replayed.profile, profile);
    }

    /// Each job of a profile, printed as it is, is there again.
    #[test]
    fn a_job_reads_back(job in job()) {
        let event = JobEvent::Created(job.clone().into());
        let (event_id, timestamp) = ("evt_1".into(), job.updated_at);
        let line = JobLine { event_id, timestamp, event, history_since: None };
        let mut text = String::new();
        line.print(&mut text);
        let replayed = replay(text.as_bytes(), b"").expect("an event");
        prop_assert_eq!(replayed.profile.jobs.get(&job.id).map(|kept| &kept.job), Some(&job));
    }

    /// No bytes bring the reader down, and none are taken for an empty file.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        let is_blank = bytes.trim_ascii().is_empty();
        match replay(&bytes, b"") {
            Ok(replayed) => prop_assert!(is_blank, "{:?}", replayed),
            Err(_) => prop_assert!(!is_blank),
        }
    }
}
