//! The attributes of a session's inbox: who listens, and the messages that wait there.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::message::of_runs;
use super::{Read, attributes, integer, own, read_session as read};
use crate::domain::{Message, Moment, RunId};
use crate::edn::Map;
use crate::engine::{Key, Reception};
use crate::graph::params::{IdText, field};
use crate::graph::psi_terms;
use crate::graph::registry::{Datum, Entity, Param, ParamType, Record, Type, ViewOf};
use crate::graph::view::Scheduler;

/// Declares who takes what is put into a session, and its inbox.
pub(super) fn of_session(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity, by read;
        /// Who takes what is put into the session. Where nobody does, messages are left in the inbox and are not delivered.
        own "psi.agent-session/reception": Type::Enum(Reception::NAMES) =>
            |record| Datum::Name(record.reception().name());
        /// The messages in the inbox, in order of delivery: nobody has taken them.
        own "psi.agent-session/inbox": Type::Reference("message"), many => |view, key, _| inbox(view, key);
        /// The number of messages in the inbox.
        own "psi.agent-session/inbox-count": Type::Integer, unit("messages") =>
            |record| integer(record.inbox_len() as u64);
        /// In the answer of take-messages: the messages that were taken, in order of delivery.
        own "psi.agent-session/taken": Type::Record(&TAKEN), many;
    }
}

fn inbox<'a>(view: ViewOf<'a, Scheduler>, key: Key) -> Read<'a> {
    let Some(record) = view.session(key) else { return Ok(Datum::Nil) };
    let runs: Vec<RunId> =
        view.state.inbox(record).into_iter().filter_map(|run| view.state.run_id(run)).collect();
    // One pass over the transcript for all runs, and not a search for each.
    let wanted: BTreeSet<&RunId> = runs.iter().collect();
    Ok(Datum::Entities(of_runs(view, key, &wanted)))
}

/// The fields of [`taken_message`].
const TAKEN: Record = Record {
    name: "taken-message",
    doc: "A message that was taken out of an inbox.",
    params: &[
        field::<RunId>("run-id", "The run that it came from."),
        field::<IdText>("schedule-id", "The schedule that it came from."),
        field::<Box<str>>("label", "The label of the schedule. Nil if it has none.").or_nil(),
        field::<Box<str>>("text", "The text of the message."),
        Param::shown("file", ParamType::Record(&psi_terms::FILE), "The attached file. Nil if there is none.")
            .or_nil(),
        field::<bool>(
            "turn?",
            "Whether it begins a turn of the model. False for a notice, which is for the user.",
        ),
        field::<Moment>("due-at", "When it was due."),
        field::<Moment>("left-at", "When it was put into the inbox.").or_nil(),
    ],
};

/// Returns a message that was taken, as a map.
pub fn taken_message(run: &RunId, message: &Arc<Message>) -> Map {
    let label = message.provenance.as_ref().and_then(|provenance| provenance.label.as_deref());
    Map::new()
        .with("run-id", run.to_string())
        .with("schedule-id", run.schedule.to_string())
        .with("label", label)
        .with("text", message.text())
        .with("file", message.file().map(psi_terms::file))
        .with("turn?", message.begins_turn())
        .with("due-at", psi_terms::instant(run.slot))
        .with("left-at", message.timestamp.map(psi_terms::instant))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Attachment, Content, ScheduleId};

    /// A notice of a job may consist of its file alone.
    #[test]
    fn a_message_is_taken_with_its_file() {
        let run = RunId {
            schedule: ScheduleId::new("sch-1").expect("it is one"),
            incarnation: 1,
            slot: Moment::EPOCH,
        };
        let mut message = Message::user("", Moment::EPOCH);
        message.content = vec![Content::File(Attachment { path: "/tmp/report.txt".into(), name: None })];
        let taken = taken_message(&run, &Arc::new(message));
        let file = taken.keyword("file").and_then(|file| file.as_map()?.keyword("path")?.as_str());
        assert_eq!(file, Some("/tmp/report.txt"));
    }
}
