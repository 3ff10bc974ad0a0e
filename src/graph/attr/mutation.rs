//! What can be changed through the graph. Parameters are those of the tools, qualified or not.
//!
//! Lives here: the declarations. Does not live here: carrying them out, see `runtime/query.rs`.

use crate::graph::registry::{Mutation, Visibility};
use crate::graph::view::Scheduler;

/// Creates a schedule.
pub const CREATE: &str = "psi.scheduler/create";
/// Cancels a schedule.
pub const CANCEL: &str = "psi.scheduler/cancel";
/// Opens a session.
pub const OPEN: &str = "psi.agent-session/open";
/// Closes a session.
pub const CLOSE: &str = "psi.agent-session/close";
/// Says that a person spoke.
pub const USER_MESSAGE: &str = "psi.agent-session/send-user-message";
/// Says that a turn began or ended.
pub const BUSY: &str = "psi.agent-session/set-busy";
/// Says that a job is ready.
pub const JOB_READY: &str = "psi.agent-session/job-ready";

/// Gives a schedule another definition.
pub const RESCHEDULE: &str = "psi.scheduler/reschedule";
/// Begins a run at once.
pub const RUN_NOW: &str = "psi.scheduler/run-now";
/// Claims no slots until it is resumed.
pub const PAUSE: &str = "psi.scheduler/pause";
/// Claims slots again.
pub const RESUME: &str = "psi.scheduler/resume";
/// Lets the next slot pass.
pub const SKIP_NEXT: &str = "psi.scheduler/skip-next";
/// Cancels all schedules of a session.
pub const CANCEL_ALL: &str = "psi.agent-session/cancel-all";
/// Pauses all schedules of a session.
pub const PAUSE_ALL: &str = "psi.agent-session/pause-all";
/// Resumes all schedules of a session.
pub const RESUME_ALL: &str = "psi.agent-session/resume-all";
/// Holds everything.
pub const HOLD_ALL: &str = "psi.scheduler/hold-all";
/// Lets everything go on.
pub const RELEASE_ALL: &str = "psi.scheduler/release-all";

/// Says yes to a run that is held.
pub const APPROVE: &str = "reveille.run/approve";
/// Says no to it.
pub const DENY: &str = "reveille.run/deny";
/// Changes what a session may do.
pub const SET_GRANT: &str = "psi.agent-session/set-grant";

/// The names of all mutations.
pub const MUTATIONS: &[&str] = &[
    CREATE,
    CANCEL,
    RESCHEDULE,
    RUN_NOW,
    PAUSE,
    RESUME,
    SKIP_NEXT,
    CANCEL_ALL,
    PAUSE_ALL,
    RESUME_ALL,
    HOLD_ALL,
    RELEASE_ALL,
    APPROVE,
    DENY,
    SET_GRANT,
    OPEN,
    CLOSE,
    USER_MESSAGE,
    BUSY,
    JOB_READY,
];

pub(super) fn all() -> Vec<Mutation<Scheduler>> {
    let mut all = Vec::from(plain());
    all.extend(standing());
    all.extend(of_sessions());
    all.extend(decided());
    all
}

/// What changes where a schedule, or everything, stands.
fn standing() -> [Mutation<Scheduler>; 7] {
    const ONE: &str = "[:psi.scheduler/schedule-id]";
    [
        Mutation::<Scheduler>::new(
            RESCHEDULE,
            "[:psi.scheduler/schedule-id :psi.scheduler/understood]",
            |hand, params| hand.act(RESCHEDULE, params),
        )
        .doc(
            "Gives a schedule another definition: schedule-id, when or another way to say it, label, description, \
             message, policy, lifetime, base-revision.",
        )
        .open_to(Visibility::Owner),
        Mutation::<Scheduler>::new(RUN_NOW, ONE, |hand, params| hand.act(RUN_NOW, params))
            .doc("Begins a run at once and leaves the slots as they are: schedule-id, base-revision.")
            .open_to(Visibility::Owner),
        Mutation::<Scheduler>::new(PAUSE, ONE, |hand, params| hand.act(PAUSE, params))
            .doc("Gives no slot of a schedule a run until it is resumed: schedule-id, reason, base-revision.")
            .open_to(Visibility::Owner),
        Mutation::<Scheduler>::new(RESUME, ONE, |hand, params| hand.act(RESUME, params))
            .doc("Lets a paused schedule go on; what passed meanwhile was missed: schedule-id, base-revision.")
            .open_to(Visibility::Owner),
        Mutation::<Scheduler>::new(SKIP_NEXT, ONE, |hand, params| hand.act(SKIP_NEXT, params))
            .doc("Lets the next slot pass without a run: schedule-id, base-revision.")
            .open_to(Visibility::Owner),
        Mutation::<Scheduler>::new(HOLD_ALL, "[:reveille.engine/held]", |hand, params| {
            hand.act(HOLD_ALL, params)
        })
        .doc("Claims nothing and hands nothing over until everything is released: reason.")
        .open_to(Visibility::Operator),
        Mutation::<Scheduler>::new(RELEASE_ALL, "[:reveille.engine/held]", |hand, params| {
            hand.act(RELEASE_ALL, params)
        })
        .doc("Lets everything go on; what was paused by itself stays so.")
        .open_to(Visibility::Operator),
    ]
}

/// What changes where all schedules of a session stand.
fn of_sessions() -> [Mutation<Scheduler>; 3] {
    const COUNTS: &str = "[:psi.agent-session/session-id :psi.agent-session/changed-count \
                          :psi.agent-session/left-count]";
    [
        Mutation::<Scheduler>::new(CANCEL_ALL, COUNTS, |hand, params| hand.act(CANCEL_ALL, params))
            .doc("Cancels all schedules of a session that are not with a host: session-id.")
            .open_to(Visibility::Owner),
        Mutation::<Scheduler>::new(PAUSE_ALL, COUNTS, |hand, params| hand.act(PAUSE_ALL, params))
            .doc("Pauses all schedules of a session: session-id, reason.")
            .open_to(Visibility::Owner),
        Mutation::<Scheduler>::new(RESUME_ALL, COUNTS, |hand, params| hand.act(RESUME_ALL, params))
            .doc("Lets all paused schedules of a session go on: session-id.")
            .open_to(Visibility::Owner),
    ]
}

/// What operators decide about what others may do.
fn decided() -> [Mutation<Scheduler>; 3] {
    const RUN: &str = "[:reveille.run/id]";
    [
        Mutation::<Scheduler>::new(APPROVE, RUN, |hand, params| hand.act(APPROVE, params))
            .doc("Approves a run that is held, as it was shown: run-id, digest. An edit since then is a conflict.")
            .open_to(Visibility::Operator),
        Mutation::<Scheduler>::new(DENY, RUN, |hand, params| hand.act(DENY, params))
            .doc("Denies a run that is held, which fails: run-id, reason.")
            .open_to(Visibility::Operator),
        Mutation::<Scheduler>::new(SET_GRANT, "[:psi.agent-session/session-id]", |hand, params| {
            hand.act(SET_GRANT, params)
        })
        .doc(
            "Changes what a session may do, at once, its schedules' runs included: session-id, right (change, read, or \
             none, which ends its token), dialects (nil for all), depth (how deep in a line of turns that schedules began \
             it may schedule more).",
        )
        .open_to(Visibility::Operator),
    ]
}

fn plain() -> [Mutation<Scheduler>; 7] {
    const CREATED: &str = "[:psi.scheduler/schedule-id :psi.scheduler/created? :psi.scheduler/understood]";
    [
        Mutation::<Scheduler>::new(CREATE, CREATED, |hand, params| hand.act(CREATE, params))
            .doc(
                "Creates a schedule: kind, message, label, description, session-config, session-id, policy, \
                 lifetime, durability, idempotency-key, channel with conversation; and one of delay-ms, at, when, \
                 trigger, cron with zone, every-ms.",
            )
            .open_to(Visibility::Owner),
        Mutation::<Scheduler>::new(CANCEL, "[:psi.scheduler/schedule-id]", |hand, params| {
            hand.act(CANCEL, params)
        })
        .doc("Cancels a schedule that is pending or queued: schedule-id.")
        .open_to(Visibility::Owner),
        Mutation::<Scheduler>::new(
            OPEN,
            "[:psi.agent-session/session-id :psi.agent-session/token]",
            |hand, params| hand.act(OPEN, params),
        )
        .doc("Opens a session of the built-in host: session-id, session-config. The token is in the answer.")
        .open_to(Visibility::Operator),
        Mutation::<Scheduler>::new(CLOSE, "[:psi.agent-session/session-id]", |hand, params| {
            hand.act(CLOSE, params)
        })
        .doc("Closes a session and calls off its schedules: session-id.")
        .open_to(Visibility::Owner),
        Mutation::<Scheduler>::new(USER_MESSAGE, "[:psi.agent-session/session-id]", |hand, params| {
            hand.act(USER_MESSAGE, params)
        })
        .doc("Puts a person's message into a session: session-id, text.")
        .open_to(Visibility::Owner),
        Mutation::<Scheduler>::new(BUSY, "[:psi.agent-session/session-id]", |hand, params| {
            hand.act(BUSY, params)
        })
        .doc("Reports that a turn began or ended: session-id, busy.")
        .open_to(Visibility::Owner),
        Mutation::<Scheduler>::new(JOB_READY, "[:psi.agent-session/session-id]", |hand, params| {
            hand.act(JOB_READY, params)
        })
        .doc("Reports that a job is ready, so that what waits for it has its slot: session-id, job-id.")
        .open_to(Visibility::Owner),
    ]
}
