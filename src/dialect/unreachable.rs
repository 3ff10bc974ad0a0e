//! The warning of an answer whose schedule would reach nobody, as things are.

use crate::domain::{Reason, Sink, Status, Target};
use crate::engine::{Reception, ScheduleRecord, State};

/// What becomes of every run of a schedule, unless somebody would get it.
pub fn unreachable(state: &State, record: &ScheduleRecord) -> Option<String> {
    let is_left = record.status() == Status::Left;
    // Nothing more is to come.
    if record.status().is_terminal() && !is_left {
        return None;
    }
    // What a call comes to is told to the session that asked for it.
    if let Some(call) = record.schedule().payload.call() {
        let owner = state.session(&record.schedule().owner).filter(|_| call.sink == Sink::Session);
        let owner = owner.filter(|owner| owner.reception() == Reception::Nobody)?;
        return Some(format!(
            "{NOBODY}: what there is to tell will wait in the inbox of the session {}.",
            owner.id()
        ));
    }
    let waits = if is_left { "it waits" } else { "it will wait" };
    if let Some(session) = state.leaves_in(record) {
        if record.schedule().payload.config().is_some() {
            return Some(format!("{NOBODY}: {waits} in the inbox of the session that it opens."));
        }
        return Some(format!("{NOBODY}: {waits} in the inbox of the session {session}."));
    }
    if let Some(reason) = state.away(record).and_then(absence) {
        return Some(format!(
            "As things are, nobody would be woken: {reason}. It will wait until that changes."
        ));
    }
    let reason = state.unreachable(record)?;
    let what = match (reason, record.schedule().target()) {
        (Reason::ChannelDisabled, Target::Route(route)) => {
            format!("the channel {} is disabled", route.channel)
        }
        (_, Target::Route(route)) => format!("there is no channel {}", route.channel),
        (_, Target::Session(session)) => format!("the session {session} is not open"),
        (_, Target::Owner | Target::Fresh) => format!("the session {} is not open", record.schedule().owner),
    };
    Some(format!("Each of its runs will fail as long as {what}."))
}

/// What is wrong with the host of a session, if it lasts until somebody mends it.
fn absence(reason: Reason) -> Option<&'static str> {
    // Others come to an end by themselves.
    let lasting = [
        (Reason::HostGone, "the host of its session is not connected"),
        (Reason::AgentMissing, "the program of its session's agent is not installed"),
        (Reason::NotAuthenticated, "the agent of its session wants a login"),
        (Reason::AgentBroken, "the agent of its session does not start"),
    ];
    lasting.into_iter().find(|(of, _)| *of == reason).map(|(_, words)| words)
}

const NOBODY: &str = "Nobody is connected who could be woken";
