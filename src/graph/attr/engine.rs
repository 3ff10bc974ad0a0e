//! The engine's attributes (its clock, accounts, limits and feed) and the entity `limit`.

use super::channel::{CHANNEL, channels};
use super::schedule_details::{PAUSE, pause};
use super::{attributes, everyone, instant, integer, maybe, operators, own};
use crate::domain::{Moment, Reason};
use crate::edn::{Map, Value};
use crate::engine::{Ledger, Readiness, StoreFailure};
use crate::graph::params::field;
use crate::graph::past_accounts::{self, PastAccounts};
use crate::graph::psi_terms;
use crate::graph::registry::{Datum, Entity, Param, ParamType, Record, Type, ViewOf};
use crate::graph::timeline::OF_TIMELINE;
use crate::graph::view::{Scheduler, Undelivered, View};
use crate::graph::{listing, run_listing};
use crate::limits;

pub(super) fn engine() -> Entity<Scheduler, ()> {
    let entity = super::turn::of_engine(super::guard::of_engine(foresight(standing(
        Entity::<Scheduler, ()>::root("engine"),
    ))));
    let entity = super::budget::of_engine(entity)
        .doc("The engine: clock, mode, accounts, limits and the decision feed.");
    attributes! { entity;
        /// The wall-clock time of this query's snapshot.
        own "reveille.engine/now": Type::Instant => |view, (), _| Ok(instant(view.now.wall));
        /// The version of this program.
        everyone "reveille.engine/version": Type::String =>
            |_, (), _| Ok(Datum::Text(env!("CARGO_PKG_VERSION")));
        /// Whether the engine accepts work.
        everyone "reveille.engine/mode": Type::Enum(Readiness::NAMES) =>
            |view, (), _| Ok(Datum::Name(view.state.readiness().name()));
        /// The cursor of the last decision. A subscription that starts after it misses nothing.
        own "reveille.engine/cursor": Type::Integer =>
            |view, (), _| Ok(integer(view.state.cursor().number()));
        /// The slots so far by outcome. Expected is the sum of all others.
        operators "reveille.engine/accounting": Type::Record(&ACCOUNTING) =>
            |view, (), _| Ok(accounting(view.state.ledger()).into());
        /// When this process began to count. Accounting has the slots that were pending or left then, and all since; undelivered
        /// has what happened since. Accounting-by-day has earlier lives too. Nil in a query of the past.
        operators "reveille.engine/counted-since": Type::Instant, nullable =>
            |view, (), _| Ok(maybe(view.undelivered, |counts| instant(counts.since)));
        /// What became of the slots of durable schedules, by the day on which it happened, over all lives of the daemon: the
        /// days that the log retains and on which something ended, oldest first. Nil if nothing is kept, or if the log was too
        /// long to be counted in time. The volatile schedules of a life are in its accounts only.
        operators "reveille.engine/accounting-by-day": Type::Record(&past_accounts::DAY), many, nullable, read_from_log =>
            |view, (), _| {
                let days = |past: &PastAccounts| past.days(view.zones, view.zones.usual(None));
                Ok(maybe(view.lookback.accounts(), |past| days(past).into()))
            };
        /// Milliseconds until the next deadline. Nil if there is no deadline.
        operators "reveille.engine/next-wake-ms": Type::Integer, nullable, unit("ms") => |view, (), _| {
            Ok(maybe(view.state.next_wake(view.now), |wake| integer(wake.since(view.now.boot).millis())))
        };
        /// All limits of the engine, by the names that refusals use.
        everyone "reveille.engine/limits": Type::Reference("limit"), many =>
            |_, (), _| Ok(Datum::Entities((0..limits::ALL.len() as u64).collect()));
        /// The decisions that are retained, oldest first. Parameters filter them and select a page.
        own "reveille.engine/decisions": Type::Reference("decision"), params(listing::OF_DECISIONS), many =>
            |view, (), params| Ok(Datum::Entities(listing::decisions(view, params)?.numbers));
        /// A page of the decisions, with cursors and the count of the whole list.
        own "reveille.engine/decision-page": Type::Reference("decision-page"), params(listing::OF_DECISIONS) =>
            |view, (), params| Ok(Datum::Entity(view.keep_page(listing::decisions(view, params)?)));
        /// The retained runs of all schedules, latest slot first. Parameters filter them and select a page.
        own "reveille.engine/runs": Type::Reference("run"), params(run_listing::OF_RUNS), many =>
            |view, (), params| Ok(Datum::Entities(run_listing::runs(view, params)?.numbers));
        /// A page of the runs, with cursors and the count of the whole list.
        own "reveille.engine/run-page": Type::Reference("run-page"), params(run_listing::OF_RUNS) =>
            |view, (), params| Ok(Datum::Entity(view.keep_page(run_listing::runs(view, params)?)));
        /// The open sessions, by id. Parameters select a page.
        own "psi.agent-session/sessions": Type::Reference("session"), params(listing::OF_WINDOWS), many =>
            |view, (), params| Ok(Datum::Entities(listing::sessions(view, params)?.numbers));
        /// A page of the open sessions, with cursors and the count of the whole list.
        own "psi.agent-session/session-page": Type::Reference("session-page"), params(listing::OF_WINDOWS) =>
            |view, (), params| Ok(Datum::Entity(view.keep_page(listing::sessions(view, params)?)));
    }
}

/// Declares what can stop everything, the channels, and the clocks in use.
fn standing(entity: Entity<Scheduler, ()>) -> Entity<Scheduler, ()> {
    attributes! { entity;
        /// The hold on all schedules: by whom, why and since when. Nil while there is none.
        own "reveille.engine/held": Type::Record(&PAUSE), nullable => |view, (), _| {
            Ok(maybe(view.state.held(), |held| Value::from(pause(view, held)).into()))
        };
        /// Since when the store cannot be written, and why. Meanwhile what is durable is refused or waits. Nil while it can be
        /// written, and in a query of the past.
        own "reveille.engine/store-failure": Type::Record(&STORE_FAILURE), nullable => |view, (), _| {
            Ok(maybe(view.state.store_failure(), |failure| store_failure(failure).into()))
        };
        /// The latest holds that are over, oldest first, over all lives of the daemon: by whom, why, since when and until when.
        /// At most 16.
        own "reveille.engine/past-holds": Type::Record(&PAST_HOLD), many => |view, (), _| {
            let holds = view.state.holds().past.iter();
            let shown = holds.map(|(hold, until)| {
                pause(view, hold).with("until", psi_terms::instant(*until)).into()
            });
            Ok(Value::Vector(shown.collect::<Vec<Value>>().into()).into())
        };
        /// Times in which no process was there, oldest first: from the last moment at which one is known to have run, until the
        /// next one began. At most 16: the shortest are forgotten first, but never the last. Empty without a data directory.
        own "reveille.engine/downtimes": Type::Record(&DOWNTIME), many => |view, (), _| {
            let shown = view.state.downs().iter().map(|down| {
                let from = Map::new().with("from", psi_terms::instant(down.from));
                from.with("until", psi_terms::instant(down.until)).into()
            });
            Ok(Value::Vector(shown.collect::<Vec<Value>>().into()).into())
        };
        /// The outbound channels: name, kind, destination, whether sessions may use the channel, since when it is disabled, and
        /// how the last attempts went. A session sees only the channels that it may use, and only its own attempts.
        own "reveille.engine/channels": Type::Record(&CHANNEL), many =>
            |view, (), _| Ok(channels(view).into());
        /// The version of the time zone database in use.
        everyone "reveille.engine/tzdb-version": Type::String =>
            |view, (), _| Ok(Datum::Text(view.zones.version()));
        /// The time zone of schedules that name none.
        everyone "reveille.engine/zone": Type::String =>
            |view, (), _| Ok(Datum::shown(view.zones.usual(None)));
        /// The time zone that the name local stands for on this machine.
        everyone "reveille.engine/local-zone": Type::String =>
            |view, (), _| Ok(Datum::shown(view.zones.local()));
        /// In a query of the past: the number of schedules, sessions and settings (the hold, the guard's policy, grants)
        /// that have changed since, and whose stored history does not reach back to that instant. A session whose
        /// history was pruned because it was over its share of the log counts once for all of its deleted schedules.
        /// A watch that is bound to its session counts too: of its checks only some are stored, so its counts are not exact.
        /// Nil in a query of the present.
        own "reveille.engine/untold": Type::Integer, nullable, unit("records") =>
            |view, (), _| Ok(maybe(view.unrecoverable, integer));
        /// The volatile schedules that were lost when the process ended before its last start, the earliest first, at most 256.
        /// Those that an orderly stop cancelled are named too, and the accounts do not count them as lost. What was made in the
        /// last second before a crash may be missing. A session sees its own. Empty if none was lost.
        own "reveille.engine/lost-schedules": Type::Record(&LOST), many =>
            |view, (), _| Ok(lost(view).into());
        /// Since the process started: how many slots were skipped, how many runs and schedules were cancelled, and how
        /// many runs failed, each by reason. Nil in a query of the past.
        operators "reveille.engine/undelivered": Type::Record(&UNDELIVERED), nullable =>
            |view, (), _| Ok(maybe(view.undelivered, |counts| undelivered(counts).into()));
        /// Expected slots minus those accounted for. Any value but 0 is a defect.
        operators "reveille.engine/imbalance": Type::Integer, unit("slots") => |view, (), _| {
            Ok(Datum::Int(i64::try_from(view.state.ledger().imbalance()).unwrap_or(i64::MAX)))
        };
    }
}

/// Declares the questions about the future and about the past.
fn foresight(entity: Entity<Scheduler, ()>) -> Entity<Scheduler, ()> {
    use super::forecast_explain::{OF_EXPLANATION, OF_FORECAST, OF_WHAT_IF, explain, forecast, what_if};
    attributes! { entity;
        /// The upcoming slots, by the time at which they are handled, assuming no further changes and turns that take
        /// no time. Parameters: from, to, first, schedule-id. The default is 24 hours and 1000 slots.
        own "reveille/forecast": Type::Reference("slot"), params(OF_FORECAST), many =>
            |view, (), params| forecast(view, params);
        /// How many slots there were and will be in each stretch of time, by what became or will become of them. The past reaches
        /// back as far as the retained runs and decisions do.
        own "reveille/timeline": Type::Reference("timeline-cell"), params(OF_TIMELINE), many =>
            |view, (), params| super::timeline::timeline(view, params);
        /// The slots whose outcome would differ: because of an outage (down-from, down-until), or after a change of the
        /// schedule (schedule-id, and what psi.scheduler/reschedule takes). This query changes nothing.
        own "reveille/what-if": Type::Reference("slot"), params(OF_WHAT_IF), many =>
            |view, (), params| what_if(view, params);
        /// Why a schedule fired at an instant, did not, or when it will. Parameters: schedule-id, at.
        own "reveille/explain": Type::Reference("explanation"), params(OF_EXPLANATION), read_from_log =>
            |view, (), params| explain(view, params);
    }
}

pub(super) fn limit() -> Entity<Scheduler, u64> {
    let find: fn(ViewOf<'_, Scheduler>, &Value) -> Option<u64> = |_, key| {
        // The number of a limit is its index in a constant list.
        let at = limits::ALL.iter().position(|limit| Some(limit.name) == key.as_str())?;
        Some(at as u64)
    };
    let entity = Entity::<Scheduler, u64>::new("limit", "reveille.limit/name", find)
        .doc("A limit of the engine.")
        .whole(&["reveille.limit/name", "reveille.limit/value", "reveille.limit/unit", "reveille.limit/doc"]);
    attributes! { entity;
        /// The name of the limit, as refusals give it.
        everyone "reveille.limit/name": Type::String =>
            |_, at, _| Ok(maybe(bound(at), |limit| Datum::Text(limit.name)));
        /// The value of the limit, in its unit.
        everyone "reveille.limit/value": Type::Integer =>
            |_, at, _| Ok(maybe(bound(at), |limit| integer(limit.value)));
        /// The unit of the value.
        everyone "reveille.limit/unit": Type::String =>
            |_, at, _| Ok(maybe(bound(at), |limit| Datum::Text(limit.unit)));
        /// What the limit protects, and where its value comes from.
        everyone "reveille.limit/doc": Type::String =>
            |_, at, _| Ok(maybe(bound(at), |limit| Datum::Text(limit.doc.trim_ascii())));
    }
}

fn bound(number: u64) -> Option<&'static limits::Limit> {
    limits::ALL.get(usize::try_from(number).ok()?)
}

/// The fields of each hold that is over.
const PAST_HOLD: Record = Record {
    name: "past-hold",
    doc: "A hold on all schedules that is over.",
    params: &[
        field::<Box<str>>("by", "Who held everything."),
        field::<Box<str>>("reason", "Why. Nil if no reason was given.").or_nil(),
        field::<Moment>("since", "When the hold began."),
        field::<Moment>("until", "When it ended."),
    ],
};

/// The fields of [`store_failure`](fn@store_failure).
const STORE_FAILURE: Record = Record {
    name: "store-failure",
    doc: "A time in which the store cannot be written.",
    params: &[
        field::<Moment>("since", "When the first write failed."),
        field::<Box<str>>("error", "The error of that write."),
    ],
};

fn store_failure(failure: &StoreFailure) -> Value {
    Map::new().with("since", psi_terms::instant(failure.since)).with("error", &*failure.why).into()
}

/// The fields of each time in which no process was there.
const DOWNTIME: Record = Record {
    name: "downtime",
    doc: "A time in which no process was there to claim slots.",
    params: &[
        field::<Moment>("from", "The last moment at which a process is known to have run."),
        field::<Moment>("until", "When the next one began to look at the clock."),
    ],
};

/// The fields of each of the [`lost`](fn@lost) schedules.
const LOST: Record = Record {
    name: "lost-schedule",
    doc: "A volatile schedule that was lost with its process.",
    params: &[
        field::<Box<str>>("schedule-id", "The id of the schedule."),
        field::<Box<str>>("label", "The label of the schedule. Nil if it had none.").or_nil(),
        field::<Box<str>>("session-id", "The session that owned it."),
        field::<Moment>("fire-at", "The slot that was next. Nil if it was not known.").or_nil(),
        field::<Moment>("left-at", "When its message was left in an inbox. Nil if its slot had not come.")
            .or_nil(),
        field::<Moment>("lost-at", "When the process started again."),
    ],
};

/// Returns the lost schedules of the sessions that the caller may see.
fn lost(view: &View<'_>) -> Value {
    let shown = view.state.losses().iter().filter(|it| view.scope.covers(&it.session)).map(|it| {
        Map::new()
            .with("schedule-id", it.id.to_string())
            .with("label", it.label.as_deref())
            .with("session-id", it.session.as_str())
            .with("fire-at", it.due.map_or(Value::Nil, psi_terms::instant))
            .with("left-at", it.left_at.map(psi_terms::instant))
            .with("lost-at", it.lost_at.map_or(Value::Nil, psi_terms::instant))
            .into()
    });
    Value::Vector(shown.collect::<Vec<Value>>().into())
}

/// The fields of [`accounting`](fn@accounting).
const ACCOUNTING: Record = Record {
    name: "accounting",
    doc: "The slots so far by outcome.",
    params: &[
        Param::shown("expected", ParamType::NATURAL, "All slots so far."),
        Param::shown("delivered", ParamType::NATURAL, "Slots that were delivered."),
        Param::shown(
            "left",
            ParamType::NATURAL,
            "Slots whose messages are in an inbox, and nobody took them.",
        ),
        Param::shown("skipped", ParamType::NATURAL, "Slots that passed without a run of their own."),
        Param::shown("cancelled", ParamType::NATURAL, "Slots that were cancelled."),
        Param::shown("failed", ParamType::NATURAL, "Slots whose runs failed."),
        Param::shown("lost", ParamType::NATURAL, "Slots that were lost when the process ended."),
        Param::shown("pending", ParamType::NATURAL, "Slots whose runs have not ended."),
        Param::shown(
            "imbalance",
            WHOLE_NUMBER,
            "Expected slots minus all others. Any value but 0 is a defect.",
        ),
    ],
};

const WHOLE_NUMBER: ParamType = ParamType::Integer { min: i64::MIN, max: i64::MAX };

fn accounting(ledger: Ledger) -> Value {
    let count = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    Map::new()
        .with("expected", count(ledger.expected))
        .with("delivered", count(ledger.delivered))
        .with("left", count(ledger.left))
        .with("skipped", count(ledger.skipped))
        .with("cancelled", count(ledger.cancelled))
        .with("failed", count(ledger.failed))
        .with("lost", count(ledger.lost))
        .with("pending", count(ledger.pending))
        .with("imbalance", i64::try_from(ledger.imbalance()).unwrap_or(i64::MAX))
        .into()
}

/// The fields of [`undelivered`](fn@undelivered).
const UNDELIVERED: Record = Record {
    name: "undelivered",
    doc: "How many slots and runs were not delivered since the process started, each by reason.",
    params: &[
        field::<Map>("skipped", "Slots that were skipped: counts by reason."),
        field::<Map>("cancelled", "Runs and schedules that were cancelled: counts by reason."),
        field::<Map>("failed", "Runs that failed: counts by reason."),
    ],
};

fn undelivered(counts: Undelivered<'_>) -> Value {
    let by_reason = |counts: &[u64]| {
        // Most reasons never occur, so those with a count of 0 are left out.
        // The counts are in the order of the reasons.
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
