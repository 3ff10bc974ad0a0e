//! The entity `message`: one message of a session's transcript.
//!
//! A message's number is made of the session's number and the message's position in the transcript. Positions count
//! from the first message ever, so they stay valid when old messages are dropped.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Read, attributes, halves, joined, maybe, own, text};
use crate::domain::{Message, Role, RunId, RunState, SessionId};
use crate::edn::{Map, Value};
use crate::engine::Key;
use crate::graph::page::{Page, Window};
use crate::graph::params::CheckedParams;
use crate::graph::psi_terms;
use crate::graph::registry::{Datum, Entity, RowKey, Type, ViewOf};
use crate::graph::view::Scheduler;

/// The position of a message: its session, and its index in the session's whole transcript.
#[derive(Clone, Copy)]
pub(super) struct MessagePosition {
    session: Key,
    at: u32,
}

impl RowKey for MessagePosition {
    fn number(self) -> u64 {
        joined(self.session.number(), self.at)
    }

    fn numbered(number: u64) -> MessagePosition {
        let (session, at) = halves(number);
        MessagePosition { session: Key::numbered(session), at }
    }
}

pub(super) fn message() -> Entity<Scheduler, MessagePosition> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<MessagePosition> = |view, key| {
        // Split at the last #, because the id of a session may contain one.
        let (session, at) = text(key)?.rsplit_once('#')?;
        let place = MessagePosition {
            session: view.session_key(&SessionId::new(session).ok()?)?,
            at: at.parse().ok()?,
        };
        look_up(view, place).map(|_| place)
    };
    let entity = Entity::<Scheduler, MessagePosition>::new("message", "reveille.message/id", find)
        .doc("A message of a session's transcript.")
        .whole(WHOLE);
    let entity = attributes! { entity, by read;
        /// The session's id, a # and the message's position in the transcript, from 0.
        own "reveille.message/id": Type::String => |view, place, _| {
            let session = view.session(place.session);
            Ok(maybe(session, |record| Datum::shown(format_args!("{}#{}", record.id(), place.at))))
        };
        /// The session of the message.
        own "reveille.message/session": Type::Reference("session") =>
            |_, place, _| Ok(Datum::Entity(place.session.number().into()));
        /// The role of the author.
        own "reveille.message/role": Type::Enum(Role::NAMES) => |message| Datum::Name(message.role.name());
        /// The text of the message.
        own "reveille.message/text": Type::String => |message| Datum::shown(message.text());
        /// When the message was sent. Nil if a preloaded message gives no time.
        own "reveille.message/timestamp": Type::Instant, nullable =>
            |message| maybe(message.timestamp, super::instant);
        /// Whether the message begins a turn of the model. The notice of a schedule does not.
        own "reveille.message/turn?": Type::Boolean => |message| Datum::Bool(message.begins_turn());
        /// Whether somebody took the message: false while it waits in the inbox. Nil if no schedule put it there, or its run is
        /// no longer known.
        own "reveille.message/taken?": Type::Boolean, nullable => |view, place, _| {
            let message = look_up(view, place);
            let run = message.as_ref().and_then(|message| message.provenance.as_ref()).map(|it| &it.run);
            let record = run.and_then(|run| view.state.run(run));
            Ok(maybe(record, |record| Datum::Bool(record.run().state != RunState::Left)))
        };
        /// The attached file: path and display name. Nil if there is none.
        own "reveille.message/file": Type::Record(&psi_terms::FILE), nullable => |message| {
            maybe(message.file(), |file| Value::from(psi_terms::file(file)).into())
        };
    };
    origin(entity)
}

/// Declares the origin of a message that was put there by a schedule.
fn origin(entity: Entity<Scheduler, MessagePosition>) -> Entity<Scheduler, MessagePosition> {
    attributes! { entity, by read;
        /// The source of a message that a schedule delivered. Nil for messages of people and models.
        own "reveille.message/source": Type::Enum(&["scheduled"]), nullable =>
            |message| maybe(message.provenance.as_ref(), |_| Datum::Name("scheduled"));
        /// The id of the schedule that delivered the message. Nil if none did.
        own "reveille.message/schedule-id": Type::String, nullable => |message| {
            maybe(message.provenance.as_ref(), |provenance| Datum::shown(&provenance.run.schedule))
        };
        /// The run that delivered the message. Nil if none did, its record is dropped, or it is hidden.
        own "reveille.message/run": Type::Reference("run"), nullable => |view, place, _| {
            let message = look_up(view, place);
            let said = message.as_ref().and_then(|message| message.provenance.as_ref());
            // The record of the run may be dropped, or its schedule hidden from the owner of the transcript.
            let key = said.and_then(|provenance| view.state.run_key(&provenance.run));
            Ok(maybe(key.filter(|key| view.run(*key).is_some()), |key| {
                Datum::Entity(key.number().into())
            }))
        };
        /// The label of the schedule that delivered the message. Nil if it has none.
        own "reveille.message/label": Type::String, nullable => |message| {
            let label = message.provenance.as_ref().and_then(|it| it.label.as_deref());
            maybe(label, |label| Datum::Value(label.into()))
        };
    }
}

/// The attributes of a message that is asked for as a whole.
const WHOLE: &[&str] = &[
    "reveille.message/id",
    "reveille.message/role",
    "reveille.message/text",
    "reveille.message/timestamp",
    "reveille.message/source",
    "reveille.message/schedule-id",
    "reveille.message/label",
];

/// Lists the messages of a session, oldest first, within the window that the parameters give.
pub(super) fn of_session<'a>(view: ViewOf<'a, Scheduler>, session: Key, params: &Map) -> Read<'a> {
    let given = CheckedParams::of(params);
    // The id of a message serves as its cursor.
    let window = Window::read(&given, |text| text.rsplit_once('#')?.1.parse::<u32>().ok())?;
    let transcript = view.transcript(session).unwrap_or_default();
    let first = u32::try_from(transcript.dropped).unwrap_or(u32::MAX);
    // Positions start at the number of messages that were dropped, so that ids stay stable.
    let places: Vec<u32> = (first..).take(transcript.messages.len()).collect();
    let range = window.cut(&places, Ord::cmp);
    let number = |at: &u32| MessagePosition { session, at: *at }.number();
    let page =
        Page::of(&places, range, number, |_, number| Some(MessagePosition::numbered(number).at.to_string()));
    Ok(Datum::Entities(page.numbers))
}

/// Finds the message that a run delivered into a session, if the transcript still has it.
pub(super) fn of_run(view: ViewOf<'_, Scheduler>, session: Key, run: &RunId) -> Option<u64> {
    let transcript = view.transcript(session)?;
    let is_its = |message: &Arc<Message>| message.provenance.as_ref().is_some_and(|said| said.run == *run);
    // Searched from the end: the runs that are asked for are mostly recent.
    let at = transcript.messages.iter().rposition(is_its)?;
    let at = u32::try_from(transcript.dropped.saturating_add(at as u64)).ok()?;
    Some(MessagePosition { session, at }.number())
}

/// Returns the numbers of the messages that these runs put into a session, oldest first, as far as the transcript has them.
pub(super) fn of_runs(view: ViewOf<'_, Scheduler>, session: Key, runs: &BTreeSet<&RunId>) -> Vec<u64> {
    let Some(transcript) = view.transcript(session) else { return Vec::new() };
    let first = u32::try_from(transcript.dropped).unwrap_or(u32::MAX);
    let is_theirs =
        |message: &Arc<Message>| message.provenance.as_ref().is_some_and(|it| runs.contains(&it.run));
    let places = (first..).zip(&transcript.messages).filter(|(_, message)| is_theirs(message));
    places.map(|(at, _)| MessagePosition { session, at }.number()).collect()
}

fn look_up(view: ViewOf<'_, Scheduler>, place: MessagePosition) -> Option<Arc<Message>> {
    let transcript = view.transcript(place.session)?;
    // A position before the first retained message belongs to one that was dropped.
    let at = u64::from(place.at).checked_sub(transcript.dropped)?;
    transcript.messages.get(usize::try_from(at).ok()?).cloned()
}

/// Reads an attribute off a copy of the message, because the transcript is not borrowed for the length of the query.
fn read<'a>(
    view: ViewOf<'a, Scheduler>,
    place: MessagePosition,
    attribute: impl FnOnce(&Message) -> Datum<'static>,
) -> Read<'a> {
    Ok(look_up(view, place).map_or(Datum::Nil, |message| attribute(&message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_number() {
        let place =
            MessagePosition::numbered(MessagePosition { session: Key::numbered(7), at: u32::MAX }.number());
        assert_eq!((place.session, place.at), (Key::numbered(7), u32::MAX));
    }
}
