//! Wrong histories for the laws of calls, of what is told of them, and of joined deliveries.

use reveille::domain::{
    Fact, Moment, Next, Redefinition, RunFact, Schedule, ScheduleFact, Scope, Span, Telling,
};
use reveille::testkit::{Observation, Seen};

use super::{Spoil, find, is_claimed, is_created, is_dispatched};

/// Wrong histories, and the law that each breaks.
pub(super) const WRONG_CALLS: &[(&str, Spoil)] = &[
    ("what_a_call_came_to_is_told", |all| {
        let place = find(all, |seen| is_claimed(seen, "first"));
        if let Seen::Fact(Fact::Run(_, RunFact::Claimed(claim), _)) = &mut all[place].seen {
            claim.telling = Some(Box::new(Telling::new("of no call")));
        }
    }),
    ("nothing_of_a_former_job_begins", |all| {
        let made = find(all, |seen| is_created(seen, "first"));
        let Seen::Fact(Fact::Created { schedule, .. }) = &all[made].seen else { return };
        let created_at = schedule.created_at.checked_add(Span::from_nanos(1)).unwrap_or(Moment::EPOCH);
        let anew = Redefinition {
            schedule: Schedule { created_at, ..schedule.clone() },
            by: Scope::Operator.into(),
            retriggered: Some(Next::AtEvent),
            revises: true,
        };
        let place = find(all, |seen| is_dispatched(seen, "first"));
        let id = anew.schedule.id.clone();
        let seen = Seen::Fact(Fact::Schedule(id, ScheduleFact::Changed(Box::new(anew))));
        all.insert(place, Observation { now: all[place].now, seen });
    }),
    ("a_bulletin_that_waits_keeps_its_place", |all| {
        let place = find(all, |seen| is_dispatched(seen, "first"));
        let now = all[place].now;
        let Seen::Fact(Fact::Run(run, ..)) = &all[place].seen else { return };
        let mut telling = Telling::new("to a channel");
        telling.channel = Some("ops".into());
        let folded = Fact::Run(run.clone(), RunFact::Folded(Box::new(telling)), None);
        all.insert(place, Observation { now, seen: Seen::Fact(folded) });
    }),
];

/// Histories after which something wrong stands, and the law that says so.
pub(super) const WRONG_DELIVERIES: &[(&str, Spoil)] = &[("a_joined_run_is_out_with_its_lead", |all| {
    let run_of = |name: &str| {
        let place = find(all, |seen| is_claimed(seen, name));
        if let Seen::Fact(Fact::Run(run, _, _)) = &all[place].seen { Some(run.clone()) } else { None }
    };
    let (Some(run), Some(lead)) = (run_of("reply"), run_of("first")) else { return };
    let joined = Fact::Run(run, RunFact::Joined { lead: Box::new(lead) }, None);
    all.push(Observation { now: all[all.len() - 1].now, seen: Seen::Fact(joined) });
})];
