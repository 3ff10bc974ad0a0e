//! Histories in which something is dispatched that the grants, the rules or the budgets of that moment forbid.

use std::sync::Arc;

use reveille::domain::{
    Actor, Creation, EngineFact, Fact, Grant, GuardPolicy, HostId, Rule, RuleScope, Ruling, Scope,
    SessionConfig, SessionFact, SessionProvenance, Span, TimeOfDay, TimeWindow, Via, Weekdays, Zone,
};
use reveille::limits;
use reveille::testkit::{Observation, Seen};

use super::{Spoil, find, id, is_created, is_dispatched, session};

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
    ("nothing_ungranted_goes_out", |all| {
        let place = find(all, |seen| is_created(seen, "first"));
        if let Seen::Fact(Fact::Created { schedule, .. }) = &mut all[place].seen {
            let stranger = Actor { via: Some(Via::Session), ..Actor::from(Scope::Session(session("away"))) };
            schedule.creation = Some(Box::new(Creation { by: Some(stranger), chain: None, edited_by: None }));
        }
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
    ("nothing_ungranted_goes_out", |all| {
        let place = find(all, |seen| is_dispatched(seen, "first"));
        let (grant, by) = (Grant { right: None, ..Grant::FULL }, Box::new(Scope::Operator.into()));
        let revoked = Fact::Session(session("home"), SessionFact::Granted { grant }, Some(by));
        all.insert(place, Observation { now: all[place].now, seen: Seen::Fact(revoked) });
    }),
];

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
