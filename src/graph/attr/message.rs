//! A message of a session's transcript.
//!
//! Its number is the session's and its place in the transcript, counted from the first message there ever was: places
//! stay the same when old messages are dropped.

use std::sync::Arc;

use super::{Read, maybe, own, text};
use crate::domain::{Message, Role, RunId, SessionId};
use crate::edn::{Map, Value};
use crate::engine::Key;
use crate::graph::listing;
use crate::graph::page::{LIST, Page, Window};
use crate::graph::params::{Given, refused};
use crate::graph::registry::{Datum, Entity, Numbered, Seen, Type};
use crate::graph::shown;
use crate::graph::view::Scheduler;

/// Where a message stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    session: Key,
    at: u32,
}

impl Numbered for Place {
    fn number(self) -> u64 {
        u64::from(self.session.number()) << 32 | u64::from(self.at)
    }

    fn numbered(number: u64) -> Place {
        let half = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        Place { session: Key::numbered(half(number >> 32)), at: half(number) }
    }
}

pub(super) fn message() -> Entity<Scheduler, Place> {
    let find: fn(Seen<'_, Scheduler>, &Value) -> Option<Place> = |view, key| {
        let (session, at) = text(key)?.rsplit_once('#')?;
        let place =
            Place { session: view.session_key(&SessionId::new(session).ok()?)?, at: at.parse().ok()? };
        look_up(view, place).map(|_| place)
    };
    let entity = Entity::<Scheduler, Place>::new("message", "reveille.message/id", find)
        .doc("One entry of a transcript.")
        .whole(WHOLE)
        .reads(
            own("reveille.message/id", Type::String)
                .doc("The session's id, # and the message's place from 0."),
            |view, place, _| {
                let session = view.session(place.session);
                Ok(maybe(session, |record| Datum::shown(format_args!("{}#{}", record.id(), place.at))))
            },
        )
        .reads(
            own("reveille.message/session", Type::Reference("session")).doc("Where it was said."),
            |_, place, _| Ok(Datum::Entity(place.session.number().into())),
        )
        .reads(own("reveille.message/role", Type::Enum(Role::NAMES)).doc("Who speaks."), |view, place, _| {
            read(view, place, |message| Datum::Name(message.role.name()))
        })
        .reads(own("reveille.message/text", Type::String).doc("What is said."), |view, place, _| {
            read(view, place, |message| Datum::shown(message.text()))
        })
        .reads(
            own("reveille.message/timestamp", Type::Instant)
                .nullable()
                .doc("When it was said; a preloaded message may leave it open."),
            |view, place, _| read(view, place, |message| maybe(message.timestamp, super::instant)),
        )
        .reads(
            own("reveille.message/turn?", Type::Boolean)
                .doc("Whether it is the model's to answer; a schedule's notice is not."),
            |view, place, _| read(view, place, |message| Datum::Bool(message.begins_turn())),
        )
        .reads(
            own("reveille.message/file", Type::Map)
                .nullable()
                .doc("The file that goes with it: its path, and the name that it is to have."),
            |view, place, _| {
                read(view, place, |message| {
                    maybe(message.file(), |file| Value::from(shown::file(file)).into())
                })
            },
        );
    origin(entity)
}

/// Where it comes from, if no person or model said it.
fn origin(entity: Entity<Scheduler, Place>) -> Entity<Scheduler, Place> {
    entity
        .reads(
            own("reveille.message/source", Type::Enum(&["scheduled"]))
                .nullable()
                .doc("What put it there, where no person or model did."),
            |view, place, _| {
                read(view, place, |message| maybe(message.provenance.as_ref(), |_| Datum::Name("scheduled")))
            },
        )
        .reads(
            own("reveille.message/schedule-id", Type::String)
                .nullable()
                .doc("The schedule that put it there."),
            |view, place, _| {
                read(view, place, |message| {
                    maybe(message.provenance.as_ref(), |provenance| Datum::shown(&provenance.run.schedule))
                })
            },
        )
        .reads(
            own("reveille.message/run", Type::Reference("run"))
                .nullable()
                .doc("The run that put it there. Nil once its record is dropped, and where it is hidden from the caller."),
            |view, place, _| {
                let message = look_up(view, place);
                let said = message.as_ref().and_then(|message| message.provenance.as_ref());
                let key = said.and_then(|provenance| view.state.run_key(&provenance.run));
                Ok(maybe(key.filter(|key| view.run(*key).is_some()), |key| {
                    Datum::Entity(key.number().into())
                }))
            },
        )
        .reads(
            own("reveille.message/label", Type::String).nullable().doc("The label of that schedule."),
            |view, place, _| {
                read(view, place, |message| {
                    let label = message.provenance.as_ref().and_then(|it| it.label.as_deref());
                    maybe(label, |label| Datum::Value(label.into()))
                })
            },
        )
}

/// What a message's map has when it is asked for as a whole.
const WHOLE: &[&str] = &[
    "reveille.message/id",
    "reveille.message/role",
    "reveille.message/text",
    "reveille.message/timestamp",
    "reveille.message/source",
    "reveille.message/schedule-id",
    "reveille.message/label",
];

/// The messages of a session, oldest first; a window cuts.
pub(super) fn of_session<'a>(view: Seen<'a, Scheduler>, session: Key, params: &Map) -> Read<'a> {
    let given = Given::new(params, listing::OF_WINDOWS).map_err(refused(LIST))?;
    let window = Window::read(&given, |text| text.rsplit_once('#')?.1.parse::<u32>().ok())?;
    let transcript = view.transcript(session).unwrap_or_default();
    let first = u32::try_from(transcript.dropped).unwrap_or(u32::MAX);
    let places: Vec<u32> = (first..).take(transcript.messages.len()).collect();
    let range = window.cut(&places, Ord::cmp);
    let number = |at: &u32| Place { session, at: *at }.number();
    let page = Page::of(&places, range, number, |_, number| Some(Place::numbered(number).at.to_string()));
    Ok(Datum::Entities(page.numbers))
}

/// The message that a run put into a session, as long as the transcript has it.
pub(super) fn of_run(view: Seen<'_, Scheduler>, session: Key, run: &RunId) -> Option<u64> {
    let transcript = view.transcript(session)?;
    let is_its = |message: &Arc<Message>| message.provenance.as_ref().is_some_and(|said| said.run == *run);
    let at = transcript.messages.iter().rposition(is_its)?;
    let at = u32::try_from(transcript.dropped.saturating_add(at as u64)).ok()?;
    Some(Place { session, at }.number())
}

fn look_up(view: Seen<'_, Scheduler>, place: Place) -> Option<Arc<Message>> {
    let transcript = view.transcript(place.session)?;
    let at = u64::from(place.at).checked_sub(transcript.dropped)?;
    transcript.messages.get(usize::try_from(at).ok()?).cloned()
}

/// What is read off a message is copied: nobody keeps the transcript while the answer is made.
fn read<'a>(
    view: Seen<'a, Scheduler>,
    place: Place,
    attribute: impl FnOnce(&Message) -> Datum<'static>,
) -> Read<'a> {
    Ok(look_up(view, place).map_or(Datum::Nil, |message| attribute(&message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_number() {
        let place = Place::numbered(Place { session: Key::numbered(7), at: u32::MAX }.number());
        assert_eq!((place.session, place.at), (Key::numbered(7), u32::MAX));
    }
}
