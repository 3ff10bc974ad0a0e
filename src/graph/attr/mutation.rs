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

/// The names of all mutations.
pub const MUTATIONS: &[&str] = &[CREATE, CANCEL, OPEN, CLOSE, USER_MESSAGE, BUSY];

pub(super) fn all() -> [Mutation<Scheduler>; 6] {
    [
        Mutation::<Scheduler>::new(CREATE, "[:psi.scheduler/schedule-id]", |hand, params| {
            hand.act(CREATE, params)
        })
        .doc("Creates a schedule: kind, message, delay-ms or at, label, session-config, session-id.")
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
    ]
}
