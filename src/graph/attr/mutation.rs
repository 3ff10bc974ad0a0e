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
/// Holds everything.
pub const HOLD_ALL: &str = "psi.scheduler/hold-all";
/// Lets everything go on.
pub const RELEASE_ALL: &str = "psi.scheduler/release-all";

/// The names of all mutations.
pub const MUTATIONS: &[&str] = &[
    CREATE,
    CANCEL,
    RESCHEDULE,
    RUN_NOW,
    PAUSE,
    RESUME,
    SKIP_NEXT,
    HOLD_ALL,
    RELEASE_ALL,
    OPEN,
    CLOSE,
    USER_MESSAGE,
    BUSY,
    JOB_READY,
];

pub(super) fn all() -> Vec<Mutation<Scheduler>> {
    let mut all = Vec::from(plain());
    all.extend(standing());
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
