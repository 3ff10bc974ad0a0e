//! A fact as an EDN map. Keys stand in a fixed order; instants are ISO strings, so that years beyond 9999 fit.

use super::definition;
use super::names;
use super::parts::{integer, of_instant};
use crate::dialect::psi::session_config;
use crate::domain::{
    Change, Claim, Fact, Failure, HandOver, HostFact, Next, RunFact, ScheduleFact, Scope, SessionFact,
    SessionProvenance, Skip,
};
use crate::edn::{Map, Value};

/// Prints a fact.
pub fn print(fact: &Fact) -> Map {
    match fact {
        Fact::Session(id, fact) => session(fact).with("session", id.as_str()),
        Fact::Created { schedule, next } => {
            named(names::CREATED).with("schedule", definition::print(schedule)).with("next", of_next(*next))
        }
        Fact::Schedule(id, fact) => schedule(fact).with("schedule", id.to_string()),
        Fact::Run(id, fact) => run(fact).with("run", id.to_string()),
        Fact::Host(id, HostFact::Attached) => named(names::ATTACHED).with("host", id.number()),
        Fact::Host(id, HostFact::Lost) => named(names::LOST).with("host", id.number()),
        Fact::Held { by, reason } => {
            named(names::HELD).with("by", of_scope(by)).with("why", reason.as_deref())
        }
        Fact::Released { by } => named(names::RELEASED).with("by", of_scope(by)),
        Fact::Awoke { lost } => named(names::AWOKE).with("lost", integer(*lost)),
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

fn schedule(fact: &ScheduleFact) -> Map {
    match fact {
        ScheduleFact::Changed(change) => {
            let Change { schedule, by, retriggered, revises } = &**change;
            let map = named(names::CHANGED)
                .with("definition", definition::print(schedule))
                .with("by", of_scope(by))
                .with("next", retriggered.map(of_next));
            if *revises { map } else { map.with("revises", false) }
        }
        ScheduleFact::Paused { by, reason } => {
            named(names::PAUSED).with("by", of_scope(by)).with("why", reason.as_deref())
        }
        ScheduleFact::Resumed { by, next } => {
            named(names::RESUMED).with("by", of_scope(by)).with("next", of_next(*next))
        }
        ScheduleFact::Skipped(Skip { from, until, count, reason, next }) => named(names::SKIPPED)
            .with("from", of_instant(*from))
            .with("until", of_instant(*until))
            .with("count", integer(*count))
            .with("reason", Value::keyword(reason.name()))
            .with("next", of_next(*next)),
        ScheduleFact::Armed { next } => named(names::ARMED).with("next", of_next(*next)),
        ScheduleFact::Cancelled { reason } => {
            named(names::CALLED_OFF).with("reason", Value::keyword(reason.name()))
        }
    }
}

fn run(fact: &RunFact) -> Map {
    match fact {
        RunFact::Claimed(Claim { cause, folded, next, time_up }) => named(names::CLAIMED)
            .with("cause", Value::keyword(cause.name()))
            .with("folded", integer(*folded))
            .with("next", next.map(of_next))
            .with("time-up-ns", time_up.map(|due| integer(due.nanos()))),
        RunFact::Queued { reason } => named(names::QUEUED).with("reason", Value::keyword(reason.name())),
        RunFact::Dispatched(to) => dispatched(to),
        RunFact::Accepted => named(names::ACCEPTED),
        RunFact::Delivered => named(names::DELIVERED),
        RunFact::Retrying { failure, at, due } => {
            failed(names::RETRYING, failure).with("at", of_instant(*at)).with("due-ns", integer(due.nanos()))
        }
        RunFact::Failed(failure) => failed(names::FAILED, failure),
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

fn failed(name: &str, failure: &Failure) -> Map {
    of_failure(failure).into_iter().fold(named(name), |mut map, (key, value)| {
        map.insert(key, value);
        map
    })
}

pub(super) fn of_failure(failure: &Failure) -> Map {
    Map::new()
        .with("phase", Value::keyword(failure.phase.name()))
        .with("reason", Value::keyword(failure.reason.name()))
        .with("message", &*failure.message)
        .with("session-exists?", failure.session_exists)
}

pub(super) fn of_provenance(provenance: &SessionProvenance) -> Map {
    Map::new()
        .with("origin", provenance.origin.as_str())
        .with("schedule", provenance.schedule.to_string())
        .with("label", provenance.label.as_deref())
}

fn of_next(next: Next) -> Value {
    match next {
        Next::Slot { slot, due } => Map::new()
            .with("slot", of_instant(slot))
            .with("due-ns", due.map(|due| integer(due.nanos())))
            .into(),
        Next::AfterFinish => Value::keyword("after-finish"),
        Next::Never { reason } => Map::new().with("never", Value::keyword(reason.name())).into(),
    }
}

pub(super) fn of_scope(scope: &Scope) -> Value {
    match scope {
        Scope::Operator => Value::keyword("operator"),
        Scope::Session(session) => session.as_str().into(),
    }
}

fn named(name: &str) -> Map {
    Map::new().with("fact", Value::keyword(name))
}
