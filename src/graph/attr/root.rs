//! psi's root attributes. Below a session, whose id is known, they are about that session; at the bare root they are
//! about the caller, which for an operator means everything.
//!
//! Source: psi §6, session root: an unknown session has no schedules, and that is no error.

use super::{Read, attributes, integer, own};
use crate::domain::SessionId;
use crate::edn::{Map, Value};
use crate::engine::Key;
use crate::graph::listing::{self, Whose};
use crate::graph::registry::{Datum, Entity, RowKey, Type, ViewOf};
use crate::graph::view::Scheduler;

pub(super) fn root() -> Entity<Scheduler, Whose> {
    let entity = Entity::<Scheduler, Whose>::root_within("ground", "psi.agent-session/session-id", within)
        .doc("What a session has; at the root, what the caller has, and for an operator what all sessions have.");
    attributes! { entity;
        /// All schedules, ended ones included, by slot, creation and id. Parameters filter, sort and select a page.
        own "psi.scheduler/schedules": Type::Reference("schedule"), params(listing::OF_SCHEDULES), many =>
            |view, whose, params| Ok(Datum::Entities(listing::schedules(view, whose, params)?.numbers));
        /// A page of the schedules, with cursors and the count of the whole list.
        own "psi.scheduler/schedule-page": Type::Reference("schedule-page"), params(listing::OF_SCHEDULES) =>
            |view, whose, params| {
                Ok(Datum::Entity(view.keep_page(listing::schedules(view, whose, params)?)))
            };
        /// How many schedules have not ended: pending, paused and queued ones.
        own "psi.scheduler/pending-count": Type::Integer, unit("schedules") =>
            |view, key, params| pending_count(view, key, params);
        /// How many schedules there are, ended ones included; parameters filter.
        own "psi.scheduler/schedule-count": Type::Integer, params(listing::OF_COUNTS), unit("schedules") =>
            |view, whose, params| Ok(integer(listing::count_schedules(view, whose, params)?));
        /// The watches, stopped ones included, in the order of schedules. Parameters as for schedules.
        own "reveille/watches": Type::Reference("watch"), params(listing::OF_SCHEDULES), many =>
            |view, whose, params| Ok(Datum::Entities(super::watch::list(view, whose, params)?));
        /// The tasks that were begun in the background, ended ones included, in the order of schedules. Parameters as for
        /// schedules.
        own "reveille/tasks": Type::Reference("task"), params(listing::OF_SCHEDULES), many =>
            |view, whose, params| Ok(Datum::Entities(super::task::list(view, whose, params)?));
        /// The tools that a session can have called; at the root, those of the caller, and for an operator those of every
        /// session. Empty in a query of the past, and in one that has changed something.
        own "reveille/tools": Type::Reference("tool"), many =>
            |view, whose, _| Ok(Datum::Entities(super::tool::list(view, whose)));
        /// In the answer of a change of many schedules: how many the filter admits.
        own "psi.scheduler/matched-count": Type::Integer, unit("schedules");
        /// In the answer of a change of many schedules: how many were changed.
        own "psi.scheduler/changed-count": Type::Integer, unit("schedules");
        /// In the answer of a change of many schedules: how many could not be, as those whose runs are with a host, and
        /// those beyond the rate of the session's changes.
        own "psi.scheduler/unchanged-count": Type::Integer, unit("schedules");
    }
}

fn within(view: ViewOf<'_, Scheduler>, key: &Value) -> Option<Whose> {
    // No session id is known: this is the bare root.
    if key.is_nil() {
        return Some(Whose::All);
    }
    // A session that does not exist, or is hidden, has an empty list rather than an error.
    let id = key.as_str().and_then(|text| SessionId::new(text).ok());
    Some(id.and_then(|id| view.session_key(&id)).map_or(Whose::Nobody, Whose::Session))
}

fn pending_count<'a>(view: ViewOf<'a, Scheduler>, whose: Whose, _: &Map) -> Read<'a> {
    // The counts are maintained by the engine, so no schedule is visited.
    let of = |key: Key| view.session(key).map_or(0, |record| record.live_count() as u64);
    Ok(integer(match (whose, view.scope.session()) {
        (Whose::All, None) => view.state.live_count(),
        // At the root of a session's query, all means what the session owns.
        (Whose::All, Some(own)) => view.session_key(own).map_or(0, of),
        (Whose::Session(key), _) => of(key),
        (Whose::Nobody, _) => 0,
    }))
}

impl RowKey for Whose {
    fn number(self) -> u64 {
        match self {
            // Keys have 32 bits, so the two largest numbers are free.
            Whose::All => u64::MAX,
            Whose::Nobody => u64::MAX - 1,
            Whose::Session(key) => RowKey::number(key),
        }
    }

    fn numbered(number: u64) -> Whose {
        match number {
            u64::MAX => Whose::All,
            number if number == u64::MAX - 1 => Whose::Nobody,
            number => Whose::Session(Key::numbered(u32::try_from(number).unwrap_or(u32::MAX))),
        }
    }
}
