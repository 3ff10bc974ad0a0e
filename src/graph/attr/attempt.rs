//! The entity `attempt`: one try at handing a run over. Its number is made of its run's number and its place among the attempts
//! of that run.

use super::failure::{ERROR, error};
use super::{Read, attributes, halves, instant, joined, maybe, own, text};
use crate::domain::{Attempt, RunId, RunState, Schedule, Target};
use crate::edn::Value;
use crate::engine::Key;
use crate::graph::registry::{Datum, Entity, RowKey, Type, ViewOf};
use crate::graph::view::Scheduler;

/// The place of an attempt: its run, and its number there, from 1.
#[derive(Clone, Copy)]
pub(super) struct AttemptPlace {
    run: Key,
    number: u32,
}

impl RowKey for AttemptPlace {
    fn number(self) -> u64 {
        joined(self.run.number(), self.number)
    }

    fn numbered(number: u64) -> AttemptPlace {
        let (run, number) = halves(number);
        AttemptPlace { run: Key::numbered(run), number }
    }
}

/// Declares the attempts of a run.
pub(super) fn of_run(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity;
        /// The attempts to hand the run over, oldest first: those that failed, and the current one once it was made. A wait for
        /// the pace of a channel or of the disk is no attempt.
        own "reveille.run/attempts": Type::Reference("attempt"), many => |view, run, _| {
            let attempts = view.run(run).into_iter().flat_map(|(_, record)| record.run().attempts());
            let place = |attempt: Attempt<'_>| AttemptPlace { run, number: attempt.number.into() };
            Ok(Datum::Entities(attempts.map(|attempt| place(attempt).number()).collect()))
        };
    }
}

pub(super) fn attempt() -> Entity<Scheduler, AttemptPlace> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<AttemptPlace> = |view, key| {
        // Split at the last #, because the id of a schedule, and so that of a run, may contain one.
        let (run, number) = text(key)?.rsplit_once('#')?;
        let place =
            AttemptPlace { run: view.state.run_key(&RunId::parse(run)?)?, number: number.parse().ok()? };
        look_up(view, place).map(|_| place)
    };
    let entity = Entity::<Scheduler, AttemptPlace>::new("attempt", "reveille.attempt/id", find)
        .doc("One try at handing a run over, to a host, a tool or a channel, and what it came to.")
        .whole(WHOLE);
    attributes! { entity, by read;
        /// The run's id, a # and the number of the attempt.
        own "reveille.attempt/id": Type::String => |view, place, _| {
            let id = view.run(place.run).and_then(|(_, run)| view.state.run_id(run));
            Ok(maybe(id, |id| Datum::shown(format_args!("{id}#{}", place.number))))
        };
        /// The run that was to be handed over.
        own "reveille.attempt/run": Type::Reference("run") =>
            |_, place, _| Ok(Datum::Entity(place.run.number().into()));
        /// The number of the attempt, from 1.
        own "reveille.attempt/number": Type::Integer => |attempt| Datum::Int(attempt.number.into());
        /// How the attempt stands. An attempt that was followed by another has failed.
        own "reveille.attempt/state": Type::Enum(RunState::NAMES) => |attempt| Datum::Name(attempt.state.name());
        /// When the run was first handed over in this attempt. Nil if the attempt failed before that.
        own "reveille.attempt/started-at": Type::Instant, nullable => |attempt| maybe(attempt.started_at, instant);
        /// When the attempt ended. Nil until then.
        own "reveille.attempt/ended-at": Type::Instant, nullable => |attempt| maybe(attempt.ended_at, instant);
        /// When the next attempt was due. Nil if none followed.
        own "reveille.attempt/next-at": Type::Instant, nullable => |attempt| maybe(attempt.next_at, instant);
        /// The host that the run was handed to. Nil if the attempt failed before that.
        own "reveille.attempt/host": Type::String, nullable => |attempt| maybe(attempt.host, Datum::shown);
        /// The channel that the run goes to. Nil if it goes to a session or a tool.
        own "reveille.attempt/channel": Type::String, nullable => |view, place, _| {
            let asked = view.run(place.run).and_then(|(_, run)| view.state.definition_of(run));
            Ok(match asked.map(Schedule::target) {
                Some(Target::Route(route)) => Datum::Text(&route.channel),
                Some(Target::Owner | Target::Session(_) | Target::Fresh) | None => Datum::Nil,
            })
        };
        /// Why the attempt failed: message, phase, reason, and whether the fresh session exists. Nil if it did not.
        own "reveille.attempt/error": Type::Record(&ERROR), nullable =>
            |attempt| maybe(attempt.failure, |failure| error(failure).into());
        /// The code that the receiver answered with: the status of an endpoint, the exit code of a program. Nil if it gave none.
        own "reveille.attempt/code": Type::Integer, nullable =>
            |attempt| maybe(attempt.failure.and_then(|failure| failure.code), |code| Datum::Int(code.into()));
    }
}

/// The attributes of an attempt that is asked for as a whole.
const WHOLE: &[&str] = &[
    "reveille.attempt/id",
    "reveille.attempt/number",
    "reveille.attempt/state",
    "reveille.attempt/started-at",
    "reveille.attempt/ended-at",
    "reveille.attempt/error",
    "reveille.attempt/next-at",
];

fn look_up(view: ViewOf<'_, Scheduler>, place: AttemptPlace) -> Option<Attempt<'_>> {
    let (_, record) = view.run(place.run)?;
    record.run().attempts().find(|attempt| u32::from(attempt.number) == place.number)
}

/// Reads an attribute of an attempt; nil if its run does not exist for the caller.
fn read<'a>(
    view: ViewOf<'a, Scheduler>,
    place: AttemptPlace,
    attribute: impl FnOnce(Attempt<'a>) -> Datum<'a>,
) -> Read<'a> {
    Ok(look_up(view, place).map_or(Datum::Nil, attribute))
}
