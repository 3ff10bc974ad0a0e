//! Histories in which something is dispatched that the switches, the grants, the rules or the budgets of that moment forbid.

use std::sync::Arc;

use reveille::domain::{
    Actor, Call, CallPurpose, CallVia, Creation, Dialect, EngineFact, Fact, Grant, GuardPolicy, HostId, Next,
    Payload, Right, Rule, RuleScope, Ruling, RunFact, Schedule, Scope, SessionConfig, SessionFact,
    SessionProvenance, Sink, Span, TimeOfDay, TimeWindow, TokenName, ToolName, Via, Weekdays, Zone,
};
use reveille::edn::Map;
use reveille::limits;
use reveille::testkit::{Observation, Seen};

use super::{Spoil, find, id, is_claimed, is_created, is_dispatched, session};

/// Wrong histories, and the law that each breaks.
pub(super) const WRONG_AUTHORITY: &[(&str, Spoil)] = &[
    ("nothing_refused_or_unapproved_goes_out", |all| guarded(all, Ruling::Refuse, None)),
    ("nothing_refused_or_unapproved_goes_out", |all| guarded(all, Ruling::Hold, None)),
    ("nothing_refused_or_unapproved_goes_out", |all| guarded(all, Ruling::Allow, Some(Span::from_millis(1)))),
    ("nothing_refused_or_unapproved_goes_out", |all| {
        let midnight = TimeOfDay::MIDNIGHT;
        let window = TimeWindow { days: Weekdays::DAILY, from: midnight, until: midnight, zone: Zone::Utc };
        let of = RuleScope { window: Some(window), ..RuleScope::default() };
        ruled(all, "first", Rule { of, ..rule(Ruling::Refuse) }, None);
    }),
    // No configuration says which tools the fresh session has, so it may have any.
    ("nothing_refused_or_unapproved_goes_out", |all| {
        let of = RuleScope { tools: vec!["shell".into()], ..RuleScope::default() };
        ruled(all, "fresh", Rule { of, ..rule(Ruling::Refuse) }, None);
    }),
    ("nothing_refused_or_unapproved_goes_out", |all| {
        made_as(all, "first", |schedule| schedule.payload = call());
        let of = RuleScope { tools: vec!["http.*".into()], ..RuleScope::default() };
        ruled(all, "first", Rule { of, ..rule(Ruling::Refuse) }, None);
    }),
    ("nothing_switched_off_goes_out", |all| made_as(all, "first", |it| it.dialect = Dialect::Watch)),
    ("nothing_switched_off_goes_out", |all| made_as(all, "first", |it| it.dialect = Dialect::Scheduler)),
    ("nothing_ungranted_goes_out", |all| {
        created_as(all, Creation { by: Some(stranger(Via::Session, false)), ..Creation::default() });
    }),
    ("nothing_ungranted_goes_out", |all| {
        created_as(all, Creation { edited_by: Some(stranger(Via::Embedder, true)), ..Creation::default() });
    }),
    ("nothing_ungranted_goes_out", |all| {
        let host = Via::Host(TokenName::new("editor").expect("a name"));
        created_as(all, Creation { editors: vec![stranger(host, false)], ..Creation::default() });
    }),
    ("nothing_ungranted_goes_out", |all| granted(all, Grant { right: Some(Right::Read), ..Grant::FULL })),
    ("nothing_ungranted_goes_out", |all| {
        granted(all, Grant { dialects: Some(vec![Dialect::Native]), ..Grant::FULL });
    }),
    ("no_family_outgrows_its_places", |all| {
        let place = find(all, |seen| is_dispatched(seen, "fresh"));
        let provenance = SessionProvenance {
            origin: session("home"),
            root: session("home"),
            schedule: id("fresh"),
            label: None,
            chain: None,
        };
        for number in 0..limits::FRESH_SESSIONS.value {
            let (host, config) = (HostId::LOCAL, Arc::new(SessionConfig::default()));
            let opened = SessionFact::Opened { host, config, provenance: Some(Box::new(provenance.clone())) };
            let fact = Fact::Session(session(&format!("fresh-{number}")), opened, None);
            all.insert(place, Observation { now: all[place].now, seen: Seen::Fact(fact) });
        }
    }),
    // As many are being created.
    ("no_family_outgrows_its_places", |all| {
        let dispatched = find(all, |seen| is_dispatched(seen, "fresh"));
        let places = [
            find(all, |seen| is_created(seen, "fresh")),
            find(all, |seen| is_claimed(seen, "fresh")),
            dispatched,
        ];
        let of_fresh = places.map(|place| Observation { now: all[dispatched].now, ..all[place].clone() });
        let names = (0..limits::FRESH_SESSIONS.value).map(|number| format!("other-{number}"));
        let others: Vec<Observation> =
            names.flat_map(|name| of_fresh.clone().map(|seen| renamed(seen, &name))).collect();
        all.splice(dispatched..dispatched, others);
    }),
    ("no_family_writes_faster_than_its_pace", |all| {
        let (text, config) = ("x".repeat(50_000), Arc::new(SessionConfig::default()));
        made_as(all, "fresh", |schedule| schedule.payload = Payload::new_session(text, config));
        let place = find(all, |seen| is_dispatched(seen, "fresh"));
        let again = all[place].clone();
        all.splice(place..place, std::iter::repeat_n(again, 6));
    }),
    ("no_schedule_has_too_many_live_runs", |all| {
        let (first, second) =
            (find(all, |seen| is_claimed(seen, "first")), find(all, |seen| is_claimed(seen, "second")));
        let Seen::Fact(Fact::Run(run, RunFact::Claimed(claim), _)) = &mut all[first].seen else { return };
        let (mut later, last) = (run.clone(), claim.clone());
        later.slot = run.slot.checked_add(Span::from_millis(1_000)).expect("it is near");
        claim.next = Some(Next::Slot { slot: later.slot, due: None });
        let again = Seen::Fact(Fact::Run(later, RunFact::Claimed(last), None));
        all.insert(second + 1, Observation { now: all[second].now, seen: again });
    }),
    ("nothing_ungranted_goes_out", |all| granted(all, Grant { right: None, ..Grant::FULL })),
];

/// Somebody who acts with the rights of a session that is not granted it.
fn stranger(via: Via, as_model: bool) -> Actor {
    Actor { via: Some(via), as_model, ..Actor::from(Scope::Session(session("away"))) }
}

/// Others had a hand in the schedule.
fn created_as(all: &mut [Observation], creation: Creation) {
    made_as(all, "first", |schedule| schedule.creation = Some(Box::new(creation)));
}

/// The schedule was made otherwise.
fn made_as(all: &mut [Observation], name: &str, change: impl FnOnce(&mut Schedule)) {
    let place = find(all, |seen| is_created(seen, name));
    if let Seen::Fact(Fact::Created { schedule, .. }) = &mut all[place].seen {
        change(schedule);
    }
}

/// A fact of one schedule as that of another.
fn renamed(mut other: Observation, name: &str) -> Observation {
    match &mut other.seen {
        Seen::Fact(Fact::Created { schedule, .. }) => schedule.id = id(name),
        Seen::Fact(Fact::Run(run, _, _)) => run.schedule = id(name),
        Seen::Fact(_)
        | Seen::Local(_)
        | Seen::Received(_)
        | Seen::CancelAcknowledged { .. }
        | Seen::HostLost(_)
        | Seen::ShutDown
        | Seen::DiskFailed { .. } => {}
    }
    other
}

/// A call of a tool, of which nobody is told.
fn call() -> Payload {
    Payload::Call(Box::new(Call {
        tool: ToolName::new("http.get").expect("a name"),
        args: Arc::new(Map::new().into()),
        via: CallVia::Any,
        purpose: CallPurpose::Task,
        sink: Sink::Nobody,
        filter: None,
    }))
}

/// The session gets a grant before the first dispatch of one of its schedules.
fn granted(all: &mut Vec<Observation>, grant: Grant) {
    let place = find(all, |seen| is_dispatched(seen, "first"));
    let by = Box::new(Scope::Operator.into());
    let narrowed = Fact::Session(session("home"), SessionFact::Granted { grant }, Some(by));
    all.insert(place, Observation { now: all[place].now, seen: Seen::Fact(narrowed) });
}

/// A rule about every run.
fn rule(then: Ruling) -> Rule {
    Rule { name: "all".into(), of: RuleScope::default(), then, why: None }
}

fn guarded(all: &mut Vec<Observation>, then: Ruling, asks: Option<Span>) {
    ruled(all, "first", rule(then), asks);
}

/// A rule is set before the first dispatch of a schedule.
fn ruled(all: &mut Vec<Observation>, schedule: &str, rule: Rule, asks: Option<Span>) {
    let place = find(all, |seen| is_dispatched(seen, schedule));
    let approval = Some(Span::from_millis(1_000));
    let policy = Some(Arc::new(GuardPolicy { rules: vec![rule], approval, asks }));
    let guarded = Fact::Engine(EngineFact::GuardPolicySet { policy, by: Scope::Operator.into() });
    all.insert(place, Observation { now: all[place].now, seen: Seen::Fact(guarded) });
}
