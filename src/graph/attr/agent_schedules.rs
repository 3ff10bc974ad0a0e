//! The attributes of a session about the schedules that its agent holds itself, such as Claude Code's own.

use super::{attributes, instant, integer, maybe, own, read_session as read};
use crate::domain::AgentSchedule;
use crate::edn::{Map, Value};
use crate::engine::Key;
use crate::graph::params::field;
use crate::graph::registry::{Entity, Record, Type};
use crate::graph::view::Scheduler;

/// Declares what an agent said of its own schedules, and when.
pub(super) fn of_session(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// The schedules that its agent holds itself for the conversation, as the agent said at agent-schedules-seen-at.
        /// They are only shown, at most as many as the limit agent-schedules. Nil if the agent has not said which since the
        /// daemon was started, or is not in the conversation any more.
        own "reveille.session/agent-schedules": Type::Record(&AGENT_SCHEDULE), many, nullable => |record| {
            maybe(record.agent_schedules(), |(_, said)| said.first().iter().map(shown).collect::<Vec<Value>>().into())
        };
        /// The number of those schedules, including the ones that are not shown. Nil where agent-schedules is nil.
        own "reveille.session/agent-schedule-count": Type::Integer, nullable, unit("schedules") =>
            |record| maybe(record.agent_schedules(), |(_, said)| integer(said.count().into()));
        /// When the agent said which schedules it holds itself: at the end of a turn. Nil where agent-schedules is nil.
        own "reveille.session/agent-schedules-seen-at": Type::Instant, nullable =>
            |record| maybe(record.agent_schedules(), |(at, _)| instant(at));
    }
}

/// The fields of [`shown`].
const AGENT_SCHEDULE: Record = Record {
    name: "agent-schedule",
    doc: "A schedule that an agent holds itself, in the agent's own words. Reveille does not fire it.",
    params: &[
        field::<Box<str>>("id", "The id that the agent gave it."),
        field::<Box<str>>(
            "cron",
            "When it is due, as a cron expression in the local time of the agent's machine.",
        ),
        field::<bool>(
            "recurring?",
            "Whether it is due at every match of the expression. False if it is due only once.",
        ),
        field::<Box<str>>("prompt", "The beginning of the prompt that the agent will get."),
        field::<bool>("truncated?", "Whether a text is longer than shown here."),
    ],
};

fn shown(schedule: &AgentSchedule) -> Value {
    Map::new()
        .with("id", &*schedule.id)
        .with("cron", &*schedule.cron)
        .with("recurring?", schedule.recurring)
        .with("prompt", &*schedule.prompt)
        .with("truncated?", schedule.truncated)
        .into()
}
