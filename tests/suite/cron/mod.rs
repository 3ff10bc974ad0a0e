//! The dialect of SEED-004, held against its words: calls and errors, answers, the two files, the
//! declarations of the tools. What needs an engine is tested with the engine.

mod answers;
mod calls;
mod files;
mod laws;
mod tools;

use reveille::dialect::cron::{Job, JobPolicy, JobSchedule, JobTarget};
use reveille::domain::{Moment, ScheduleId, SessionId, TimeOfDay, Zone};

fn at(text: &str) -> Moment {
    Moment::parse(text).expect("an instant")
}

fn id(text: &str) -> ScheduleId {
    ScheduleId::new(text).expect("an id")
}

/// A job that runs at 08:00 in the zone.
fn daily(job_id: &str, name: &str, zone: &str) -> Job {
    Job {
        id: id(job_id),
        revision: 1,
        name: name.into(),
        description: None,
        enabled: true,
        created_at: at("2026-06-01T00:00:00Z"),
        updated_at: at("2026-06-01T00:00:00Z"),
        schedule: JobSchedule::Daily {
            time: TimeOfDay::new(8, 0, 0).expect("a time"),
            zone: Zone::parse(zone).expect("a zone"),
        },
        prompt: "Sum it up.".into(),
        target: JobTarget::Session(SessionId::new("s-1").expect("an id")),
        policy: JobPolicy::default(),
    }
}
