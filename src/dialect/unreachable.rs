//! The warning of an answer whose schedule would reach nobody, as things are.

use crate::domain::{Reason, Target};
use crate::engine::{ScheduleRecord, State};

/// What becomes of every run of a schedule, unless somebody would get it.
pub fn unreachable(state: &State, record: &ScheduleRecord) -> Option<String> {
    if let Some(session) = state.leaves_in(record) {
        if record.schedule().payload.config().is_some() {
            return Some(
                "Nobody is connected that could be woken: it will wait in the inbox of the session that it opens."
                    .to_owned(),
            );
        }
        return Some(format!(
            "Nobody is connected that could be woken: it will wait in the inbox of the session {session}."
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
