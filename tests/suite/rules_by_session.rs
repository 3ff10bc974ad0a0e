//! A rule of the guard by sessions cannot be avoided through a fresh session, another session, or an edit.

use std::sync::Arc;

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, GuardPolicy, Rule, RuleScope, Ruling, Scope, Span};
use reveille::edn::read;
use reveille::engine::{Command, Input, SessionRecord};
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::testkit::SimClock;

use crate::simulated::{self, session, token};

/// The schedules of the scene by name, and whether alice has a hand in each, and whether nobody else has.
const SCHEDULES: [(&str, bool, bool); 7] = [
    ("her own", true, true),
    ("her fresh session's", true, true),
    ("hers into bob's session", true, true),
    ("bob's, edited by her", true, false),
    ("bob's into her session", true, false),
    ("bob's own", false, false),
    ("an operator's for bob", false, false),
];

fn tool(handle: &Handle, caller: &Caller, name: &str, args: &str) -> String {
    let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
    let answer = Service::new(handle.clone()).call_tool(name, caller, &args, Notation::Edn);
    answer.expect("admitted").expect("a tool").value.to_string()
}

/// Creates a job that is due at noon.
fn job(handle: &Handle, by: &Caller, name: &str, target: &str) -> String {
    let args = format!(
        "{{:name {name:?} :prompt \"p\" :schedule {{:kind :daily :time \"12:00\"}} :target {target}}}"
    );
    let answer = tool(handle, by, "cron_create", &args);
    answer.split('"').find(|part| part.starts_with("job_")).expect(&answer).to_owned()
}

fn scene() -> (Handle, Arc<SimClock>) {
    let (handle, clock) = simulated::engine(&["alice", "bob"]);
    for one in ["alice", "bob"] {
        let grant = format!("[(psi.agent-session/set-grant {{:session-id {one:?} :cron-others true}})]");
        assert!(!simulated::ask(&handle, &Caller::OPERATOR, &grant, false).contains("error"));
    }
    let open =
        "[(psi.scheduler/create {:session-id \"alice\" :kind :session :message \"m\" :delay-ms 1000})]";
    simulated::ask(&handle, &token("alice"), open, false);
    clock.advance(Span::from_millis(2_000));
    handle.run_due();
    let child = handle.view(|state| {
        let fresh = state.sessions().into_iter().find(|session| session.provenance().is_some());
        fresh.map(SessionRecord::id).cloned()
    });
    let child = child.expect("a fresh session").to_string();
    let own = "{:kind :current_session}";
    let into = |session: &str| format!("{{:kind :session :session_id {session:?}}}");
    let for_bob = Caller { role: reveille::domain::CallerRole::Operator, ..Caller::session(session("bob")) };
    job(&handle, &token("alice"), "her own", own);
    job(&handle, &token(&child), "her fresh session's", own);
    job(&handle, &token("alice"), "hers into bob's session", &into("bob"));
    let edited = job(&handle, &token("bob"), "bob's, edited by her", own);
    let edit = format!("{{:job_id {edited:?} :patch {{:prompt \"q\"}}}}");
    assert!(tool(&handle, &token("alice"), "cron_update", &edit).contains("updated"));
    job(&handle, &token("bob"), "bob's into her session", &into("alice"));
    job(&handle, &token("bob"), "bob's own", own);
    job(&handle, &for_bob, "an operator's for bob", own);
    (handle, clock)
}

/// Which of the schedules are handed over at noon under these rules.
fn handed_over(rules: Vec<Rule>) -> Vec<&'static str> {
    let (handle, clock) = scene();
    let policy = GuardPolicy { rules, approval: None, asks: None };
    let set = Command::SetGuard { policy: Some(Arc::new(policy)), by: Scope::Operator.into() };
    handle.submit(Input::Command(set)).expect("nothing forbids it");
    clock.advance(Span::from_millis(13 * 3_600_000));
    handle.run_due();
    let shown = simulated::ask(
        &handle,
        &Caller::OPERATOR,
        "[{:psi.scheduler/schedules [:psi.scheduler/label {:psi.scheduler/runs [:reveille.run/reason]}]}]",
        false,
    );
    let is_refused = |name: &str| {
        let of =
            shown.split(&format!("label {name:?}")).nth(1).unwrap_or_else(|| unreachable!("{name}: {shown}"));
        let runs = of.split(":psi.scheduler/label").next().expect("a first part");
        assert!(runs.contains("reveille.run/reason"), "{name} has no run: {shown}");
        runs.contains(":refused-by-rule")
    };
    SCHEDULES.iter().map(|(name, ..)| *name).filter(|name| !is_refused(name)).collect()
}

fn rule(sessions: &[&str], then: Ruling) -> Rule {
    let sessions = sessions.iter().map(|name| session(name)).collect();
    Rule { name: then.name().into(), of: RuleScope { sessions, ..RuleScope::default() }, then, why: None }
}

#[test]
fn what_a_session_has_a_hand_in_is_refused_with_it() {
    let others: Vec<&str> = SCHEDULES.iter().filter(|(_, hers, _)| !hers).map(|(name, ..)| *name).collect();
    assert_eq!(handed_over(vec![rule(&["alice"], Ruling::Refuse)]), others);
}

#[test]
fn what_others_have_a_hand_in_is_not_allowed_with_a_session() {
    let only_hers: Vec<&str> = SCHEDULES.iter().filter(|(.., only)| *only).map(|(name, ..)| *name).collect();
    let rules = vec![rule(&["alice"], Ruling::Allow), rule(&[], Ruling::Refuse)];
    assert_eq!(handed_over(rules), only_hers);
}
