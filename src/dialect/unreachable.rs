//! The warning of an answer whose schedule could reach nobody, as things are.

use crate::domain::{Reason, Target};
use crate::engine::{ScheduleRecord, State};

/// What is in the way of every run of a schedule; `None` if its runs have a destination.
pub(crate) fn unreachable(state: &State, record: &ScheduleRecord) -> Option<String> {
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
