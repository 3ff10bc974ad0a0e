//! Fuzzes `jobs.jsonl` and, after a zero byte, `runs.jsonl`. Parsed jobs print and parse back
//! equal. Jobs that an engine imports are exported again, and importing that export gives an equal
//! one.

use reveille::dialect::cron::jsonl::{JobEvent, JobLine, Lines, Profile, import, replay};
use reveille::domain::{HostId, Moment, Scope, SessionConfig, SessionId};
use reveille::engine::{Command, Input, Which};
use reveille::runtime::Handle;

use super::scene::{Scene, session};

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let (jobs, runs) = match input.iter().position(|byte| *byte == 0) {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &[][..]),
    };
    let replayed = match replay(jobs, runs) {
        Ok(replayed) => replayed,
        Err(error) => return assert!(error.lines > 0 && !error.to_string().is_empty()),
    };
    assert!(replayed.warnings.list.iter().all(|warning| warning.line > 0 && !warning.to_string().is_empty()));
    let profile = replayed.profile;
    assert_eq!(jobs_of(&profile), jobs_of(&read(&printed(&profile))), "printed");

    let taken = taken_over(&profile);
    let again = taken_over(&read(&taken));
    assert_eq!(again, taken, "taken over again");
}

fn jobs_of(profile: &Profile) -> Vec<&reveille::dialect::cron::Job> {
    profile.jobs.values().map(|kept| &kept.job).collect()
}

/// Prints one creation event per job.
fn printed(profile: &Profile) -> String {
    let mut text = String::new();
    for (number, kept) in profile.jobs.values().enumerate() {
        let event = JobEvent::Created(Box::new(kept.job.clone()));
        let (event_id, timestamp) = (format!("e{number}").into(), Moment::EPOCH);
        JobLine { event_id, timestamp, event, history_since: None }.print(&mut text);
    }
    text
}

/// Parses lines that we printed: they cause no warning.
fn read(jobs: &str) -> Profile {
    let replayed = replay(jobs.as_bytes(), b"").expect("what we write can be read");
    assert_eq!((replayed.warnings.list, replayed.unended), (vec![], vec![]), "{jobs}");
    replayed.profile
}

/// The export of an engine that has imported the jobs.
fn taken_over(profile: &Profile) -> String {
    let Scene { handle, .. } = Scene::empty();
    let owner = session("owner");
    let import = import(profile, Some(&owner), handle.now().wall);
    assert_eq!(import.schedules.len() + import.left_out.len(), profile.jobs.len(), "each is accounted for");
    for imported in import.schedules {
        open(&handle, &imported.new.owner);
        // The engine may refuse a job by its limits; the export then lacks it, both times.
        let Ok(id) = handle.schedule(imported.new) else { continue };
        if imported.paused {
            let which = Which::any(Scope::Operator, id);
            handle
                .submit(Input::Command(Command::PauseSchedule { which, reason: None }))
                .expect("it is there");
        }
    }
    let mut lines = Lines::default();
    handle.view(|state| {
        for record in state.schedules() {
            let row = state.schedule_row(&record.schedule().id).expect("it is there");
            lines.add_row(&row, row.schedule.created_at);
        }
    });
    assert_eq!(lines.runs, "", "nothing has run");
    lines.jobs
}

fn open(handle: &Handle, session: &SessionId) {
    if handle.view(|state| state.session(session).is_none()) {
        let opened = handle.open_session(Some(session.clone()), HostId::LOCAL, SessionConfig::default());
        opened.expect("it was not open");
    }
}
