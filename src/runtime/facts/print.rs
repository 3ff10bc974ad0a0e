//! A fact as an EDN map. Keys stand in a fixed order; instants are ISO strings, so that years beyond 9999 fit.

use super::names;
use crate::dialect::psi::session_config;
use crate::domain::{
    Fact, Failure, HandOver, HostFact, Moment, Payload, RunFact, Schedule, SessionFact, SessionProvenance,
    Trigger,
};
use crate::edn::{Map, Value};

/// Prints a fact.
pub fn print(fact: &Fact) -> Map {
    match fact {
        Fact::Session(id, fact) => session(fact).with("session", id.as_str()),
        Fact::Created { schedule, due } => {
            named(names::CREATED).with("schedule", of_schedule(schedule)).with("due-ns", integer(due.nanos()))
        }
        Fact::Run(id, fact) => run(fact).with("schedule", id.to_string()),
        Fact::Host(id, HostFact::Attached) => named(names::ATTACHED).with("host", id.number()),
        Fact::Host(id, HostFact::Lost) => named(names::LOST).with("host", id.number()),
        Fact::Stopping { abandon } => named(names::STOPPING).with("abandon?", *abandon),
    }
}

fn session(fact: &SessionFact) -> Map {
    match fact {
        SessionFact::Opened { host, config, provenance } => named(names::OPENED)
            .with("host", host.number())
            .with("config", session_config::print(config))
            .with("provenance", provenance.as_deref().map(of_provenance)),
        SessionFact::Closed => named(names::CLOSED),
        SessionFact::Hosted { host } => named(names::HOSTED).with("host", host.number()),
        SessionFact::Unhosted => named(names::UNHOSTED),
        SessionFact::Busy => named(names::BUSY),
        SessionFact::Idle => named(names::IDLE),
        SessionFact::UserSpoke => named(names::USER_SPOKE),
        SessionFact::TurnUnreported => named(names::TURN_UNREPORTED),
    }
}

fn run(fact: &RunFact) -> Map {
    match fact {
        RunFact::Claimed { slot, cause } => {
            named(names::CLAIMED).with("slot", instant(*slot)).with("cause", Value::keyword(cause.name()))
        }
        RunFact::Queued { reason } => named(names::QUEUED).with("reason", Value::keyword(reason.name())),
        RunFact::Dispatched(to) => dispatched(to),
        RunFact::Delivered => named(names::DELIVERED),
        RunFact::Failed(failure) => failed(failure),
        RunFact::Cancelled { reason } => {
            named(names::CANCELLED).with("reason", Value::keyword(reason.name()))
        }
    }
}

fn dispatched(to: &HandOver) -> Map {
    named(names::DISPATCHED)
        .with("host", to.host.number())
        .with("phase", Value::keyword(to.phase.name()))
        .with("session", to.session.as_str())
        .with("overdue-ns", integer(to.overdue.nanos()))
}

fn failed(failure: &Failure) -> Map {
    named(names::FAILED)
        .with("phase", Value::keyword(failure.phase.name()))
        .with("reason", Value::keyword(failure.reason.name()))
        .with("message", &*failure.message)
        .with("session-exists?", failure.session_exists)
}

fn of_schedule(schedule: &Schedule) -> Map {
    let Trigger::At(at) = &schedule.trigger;
    Map::new()
        .with("id", schedule.id.to_string())
        .with("dialect", Value::keyword(schedule.dialect.name()))
        .with("durability", Value::keyword(schedule.durability.name()))
        .with("label", schedule.label.as_deref())
        .with("owner", schedule.owner.as_str())
        .with("trigger", Map::new().with("at", instant(*at)))
        .with("payload", of_payload(&schedule.payload))
        .with("created-at", instant(schedule.created_at))
}

fn of_payload(payload: &Payload) -> Map {
    let map = Map::new().with("kind", Value::keyword(payload.kind().name())).with("text", payload.text());
    match payload.config() {
        Some(config) => map.with("config", session_config::print(config)),
        None => map,
    }
}

fn of_provenance(provenance: &SessionProvenance) -> Map {
    Map::new()
        .with("origin", provenance.origin.as_str())
        .with("schedule", provenance.schedule.to_string())
        .with("label", provenance.label.as_deref())
}

fn named(name: &str) -> Map {
    Map::new().with("fact", Value::keyword(name))
}

fn instant(moment: Moment) -> Value {
    Value::string(moment.to_string())
}

/// Times on the boot clock lie far below what 64 bits with a sign hold: they would take 292 years.
fn integer(nanos: u64) -> Value {
    i64::try_from(nanos).unwrap_or(i64::MAX).into()
}
