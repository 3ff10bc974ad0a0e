//! The engine: its clock, its accounts, its limits, its feed.

use super::{instant, integer, maybe, own};
use crate::domain::{Reason, Scope};
use crate::edn::{Map, Value};
use crate::engine::{Ledger, Mode};
use crate::graph::listing;
use crate::graph::registry::{Attribute, Datum, Entity, Seen, Type, Visibility};
use crate::graph::shown;
use crate::graph::view::{Scheduler, Undelivered, View};
use crate::limits;

pub(super) fn engine() -> Entity<Scheduler, ()> {
    super::guard::of_engine(foresight(standing(Entity::<Scheduler, ()>::root("engine"))))
        .doc("The engine as a whole.")
        .reads(own("reveille.engine/now", Type::Instant).doc("The moment of this look."), |view, (), _| {
            Ok(instant(view.now.wall))
        })
        .reads(
            everyone("reveille.engine/version", Type::String).doc("The version of this program."),
            |_, (), _| Ok(Datum::Text(env!("CARGO_PKG_VERSION"))),
        )
        .reads(
            everyone("reveille.engine/mode", Type::Enum(Mode::NAMES)).doc("Whether it takes work."),
            |view, (), _| Ok(Datum::Name(view.state.mode().name())),
        )
        .reads(
            own("reveille.engine/cursor", Type::Integer)
                .doc("The place of the last decision: a subscription after it misses nothing."),
            |view, (), _| Ok(integer(view.state.cursor().number())),
        )
        .reads(
            operators("reveille.engine/accounting", Type::Map)
                .doc("How many slots came to what: expected is the sum of all others."),
            |view, (), _| Ok(accounting(view.state.ledger()).into()),
        )
        .reads(
            operators("reveille.engine/next-wake-ms", Type::Integer)
                .nullable()
                .unit("ms")
                .doc("How long until the engine must be woken next; nil while nothing has a deadline."),
            |view, (), _| {
                Ok(maybe(view.state.next_wake(view.now), |wake| integer(wake.since(view.now.boot).millis())))
            },
        )
        .reads(
            everyone("reveille.engine/limits", Type::Reference("limit"))
                .many()
                .doc("Every bound there is: what a refusal names."),
            |_, (), _| Ok(Datum::Entities((0..limits::ALL.len() as u64).collect())),
        )
        .reads(
            own("reveille.engine/decisions", Type::Reference("decision"))
                .params(listing::OF_DECISIONS)
                .many()
                .doc("The decisions that are retained, oldest first. Parameters filter and cut."),
            |view, (), params| Ok(Datum::Entities(listing::decisions(view, params)?.numbers)),
        )
        .reads(
            own("reveille.engine/decision-page", Type::Reference("decision-page"))
                .params(listing::OF_DECISIONS)
                .doc("A page of the decisions, with cursors and the count of the whole list."),
            |view, (), params| Ok(Datum::Entity(view.keep(listing::decisions(view, params)?))),
        )
        .reads(
            own("psi.agent-session/sessions", Type::Reference("session"))
                .params(listing::OF_WINDOWS)
                .many()
                .doc("The open sessions, by id. Parameters cut."),
            |view, (), params| Ok(Datum::Entities(listing::sessions(view, params)?.numbers)),
        )
        .reads(
            own("psi.agent-session/session-page", Type::Reference("session-page"))
                .params(listing::OF_WINDOWS)
                .doc("A page of the open sessions, with cursors and the count of the whole list."),
            |view, (), params| Ok(Datum::Entity(view.keep(listing::sessions(view, params)?))),
        )
}

/// What stands in the way of everything, and by which clocks.
fn standing(entity: Entity<Scheduler, ()>) -> Entity<Scheduler, ()> {
    entity
        .reads(
            own("reveille.engine/held", Type::Map)
                .nullable()
                .doc("Who holds everything, why and since when; nil while nothing is held."),
            |view, (), _| Ok(maybe(view.state.held(), |pause| super::terms::pause(view, pause).into())),
        )
        .reads(
            own("reveille.engine/channels", Type::Map)
                .many()
                .doc(
                    "The ways out of the process: name, kind, where it leads, whether sessions may use it, and since when it \
                     is disabled. A session sees those that it may use.",
                ),
            |view, (), _| Ok(channels(view).into()),
        )
        .reads(
            everyone("reveille.engine/tzdb-version", Type::String)
                .doc("The version of the time zone database in use."),
            |view, (), _| Ok(Datum::Text(view.zones.version())),
        )
        .reads(
            everyone("reveille.engine/local-zone", Type::String).doc("What the zone local means here."),
            |view, (), _| Ok(Datum::shown(view.zones.local())),
        )
        .reads(
            own("reveille.engine/untold", Type::Integer)
                .nullable()
                .unit("schedules")
                .doc(
                    "In a look at the past, how many schedules were there of which the kept history does not reach \
                     back that far; nil in a look at the present.",
                ),
            |view, (), _| Ok(maybe(view.untold, integer)),
        )
        .reads(
            operators("reveille.engine/undelivered", Type::Map)
                .nullable()
                .doc(
                    "Since the process began: how many slots were skipped, how many runs and schedules called off, and how \
                     many runs failed, each by reason; nil in a look at the past.",
                ),
            |view, (), _| Ok(maybe(view.undelivered, |counts| undelivered(counts).into())),
        )
        .reads(
            operators("reveille.engine/imbalance", Type::Integer)
                .unit("slots")
                .doc("Expected slots less those accounted for: anything but 0 is a defect."),
            |view, (), _| Ok(Datum::Int(i64::try_from(view.state.ledger().imbalance()).unwrap_or(i64::MAX))),
        )
}

/// What will happen, and why something has happened or not.
fn foresight(entity: Entity<Scheduler, ()>) -> Entity<Scheduler, ()> {
    use super::foresight::{OF_EXPLANATION, OF_FORECAST, OF_WHAT_IF, explain, forecast, what_if};
    entity
        .reads(
            own("reveille/forecast", Type::Reference("slot")).params(OF_FORECAST).many().doc(
                "The slots to come, by when something comes of them, as if nobody did anything more and turns took no \
                 time. Parameters: from, to, first, schedule-id; the next 24 hours and 1000 slots unless told otherwise.",
            ),
            |view, (), params| forecast(view, params),
        )
        .reads(
            own("reveille/what-if", Type::Reference("slot")).params(OF_WHAT_IF).many().doc(
                "The slots of which something else would become: during an outage (down-from, down-until), or after a \
                 change of the schedule (schedule-id, and what psi.scheduler/reschedule takes). Nothing is changed.",
            ),
            |view, (), params| what_if(view, params),
        )
        .reads(
            own("reveille/explain", Type::Reference("explanation")).params(OF_EXPLANATION)
                .doc("Why a schedule has fired at an instant, or has not, or when it will. Parameters: schedule-id, at."),
            |view, (), params| explain(view, params),
        )
}

pub(super) fn limit() -> Entity<Scheduler, u64> {
    let find: fn(Seen<'_, Scheduler>, &Value) -> Option<u64> = |_, key| {
        let at = limits::ALL.iter().position(|limit| Some(limit.name) == key.as_str())?;
        Some(at as u64)
    };
    Entity::<Scheduler, u64>::new("limit", "reveille.limit/name", find)
        .doc("A bound of the engine.")
        .whole(&["reveille.limit/name", "reveille.limit/value", "reveille.limit/unit", "reveille.limit/doc"])
        .reads(
            everyone("reveille.limit/name", Type::String).doc("The bound's name, as refusals give it."),
            |_, at, _| Ok(maybe(bound(at), |limit| Datum::Text(limit.name))),
        )
        .reads(everyone("reveille.limit/value", Type::Integer).doc("Its value, in its unit."), |_, at, _| {
            Ok(maybe(bound(at), |limit| integer(limit.value)))
        })
        .reads(everyone("reveille.limit/unit", Type::String).doc("The unit of its value."), |_, at, _| {
            Ok(maybe(bound(at), |limit| Datum::Text(limit.unit)))
        })
        .reads(
            everyone("reveille.limit/doc", Type::String)
                .doc("What it protects, and where its figure comes from."),
            |_, at, _| Ok(maybe(bound(at), |limit| Datum::Text(limit.doc.trim_ascii()))),
        )
}

fn bound(number: u64) -> Option<&'static limits::Limit> {
    limits::ALL.get(usize::try_from(number).ok()?)
}

/// The channels that the caller may use.
fn channels(view: &View<'_>) -> Value {
    let is_operator = *view.scope == Scope::Operator;
    let shown = view.state.channels().filter(|it| is_operator || it.channel.agents).map(|it| {
        Map::new()
            .with("name", &*it.channel.name)
            .with("kind", Value::keyword(it.channel.kind.name()))
            .with("goes-to", &*it.channel.goes_to)
            .with("agents?", it.channel.agents)
            .with("disabled-at", it.disabled_at.map_or(Value::Nil, shown::instant))
            .into()
    });
    Value::Vector(shown.collect::<Vec<Value>>().into())
}

fn accounting(ledger: Ledger) -> Value {
    let count = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    Map::new()
        .with("expected", count(ledger.expected))
        .with("delivered", count(ledger.delivered))
        .with("skipped", count(ledger.skipped))
        .with("cancelled", count(ledger.cancelled))
        .with("failed", count(ledger.failed))
        .with("lost", count(ledger.lost))
        .with("pending", count(ledger.pending))
        .with("imbalance", i64::try_from(ledger.imbalance()).unwrap_or(i64::MAX))
        .into()
}

fn undelivered(counts: Undelivered<'_>) -> Value {
    let by_reason = |counts: &[u64]| {
        let named = Reason::ALL.iter().zip(counts).filter(|(_, count)| **count > 0);
        let count = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
        named.fold(Map::new(), |map, (reason, found)| map.with(reason.name(), count(*found)))
    };
    Map::new()
        .with("skipped", by_reason(counts.skipped))
        .with("cancelled", by_reason(counts.cancelled))
        .with("failed", by_reason(counts.failed))
        .into()
}

fn everyone(ident: &'static str, kind: Type) -> Attribute {
    Attribute::new(ident, kind).visible_to(Visibility::Everyone)
}

fn operators(ident: &'static str, kind: Type) -> Attribute {
    Attribute::new(ident, kind).visible_to(Visibility::Operator)
}
