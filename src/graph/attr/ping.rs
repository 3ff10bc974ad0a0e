//! The entity `ping`: the last ping of a name that a session was sent. Its number is that of the session, and its place there.

use super::{Read, attributes, halves, instant, integer, joined, own, read_session, text};
use crate::domain::{Ping, SessionId};
use crate::edn::Value;
use crate::engine::Key;
use crate::graph::registry::{Datum, Entity, RowKey, Type, ViewOf};
use crate::graph::view::Scheduler;

/// The place of a ping: its session, and its index there.
#[derive(Clone, Copy)]
pub(super) struct PingPlace {
    session: Key,
    at: u32,
}

impl RowKey for PingPlace {
    fn number(self) -> u64 {
        joined(self.session.number(), self.at)
    }

    fn numbered(number: u64) -> PingPlace {
        let (session, at) = halves(number);
        PingPlace { session: Key::numbered(session), at }
    }
}

/// Declares the pings of a session.
pub(super) fn of_session(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity;
        /// The last ping of each name, in the order in which the names were first used.
        own "psi.agent-session/pings": Type::Reference("ping"), many => |view, key, _| {
            read_session(view, key, |record| {
                let count = u32::try_from(record.pings().all().len()).unwrap_or(u32::MAX);
                let places = (0..count).map(|at| PingPlace { session: key, at });
                Datum::Entities(places.map(RowKey::number).collect())
            })
        };
        /// In the answer of a ping: when it came.
        own "psi.agent-session/pinged-at": Type::Instant;
    }
}

pub(super) fn ping() -> Entity<Scheduler, PingPlace> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<PingPlace> = |view, key| {
        // Split at the last #, because the id of a session may contain one.
        let (session, id) = text(key)?.rsplit_once('#')?;
        let number: u32 = id.strip_prefix('p')?.parse().ok()?;
        let place = PingPlace {
            session: view.session_key(&SessionId::new(session).ok()?)?,
            at: number.checked_sub(1)?,
        };
        look_up(view, place).map(|_| place)
    };
    let entity = Entity::<Scheduler, PingPlace>::new("ping", "reveille.ping/id", find)
        .doc("The last ping of a name: a sign of life of a job that should run regularly.")
        .whole(WHOLE);
    attributes! { entity, by read;
        /// The session's id, a # and the id of the ping in the session: p and its number, from 1.
        own "reveille.ping/id": Type::String => |view, place, _| {
            let number = u64::from(place.at) + 1;
            let id = view.session(place.session).filter(|_| look_up(view, place).is_some());
            Ok(id.map_or(Datum::Nil, |record| Datum::shown(format_args!("{}#p{number}", record.id()))))
        };
        /// The name of the ping.
        own "reveille.ping/name": Type::String => |_, ping| Datum::Text(ping.name.as_str());
        /// When the last ping of this name came.
        own "reveille.ping/at": Type::Instant => |_, ping| instant(ping.at);
        /// How long ago that was, in whole seconds.
        own "reveille.ping/age-seconds": Type::Integer, unit("s") =>
            |view, ping| integer(view.now.wall.millis_since(ping.at) / 1_000);
    }
}

/// The attributes of a ping that is asked for as a whole.
const WHOLE: &[&str] =
    &["reveille.ping/id", "reveille.ping/name", "reveille.ping/at", "reveille.ping/age-seconds"];

/// Reads an attribute of a ping; nil if it does not exist for the caller.
fn read<'a>(
    view: ViewOf<'a, Scheduler>,
    place: PingPlace,
    attribute: impl FnOnce(ViewOf<'a, Scheduler>, &'a Ping) -> Datum<'a>,
) -> Read<'a> {
    Ok(look_up(view, place).map_or(Datum::Nil, |ping| attribute(view, ping)))
}

fn look_up<'a>(view: ViewOf<'a, Scheduler>, place: PingPlace) -> Option<&'a Ping> {
    view.session(place.session)?.pings().all().get(usize::try_from(place.at).ok()?)
}
