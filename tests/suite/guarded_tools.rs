//! A rule of the guard by tools goes by the tools that a fresh session would have, wherever it has them from.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::dialect::REQUEST_CAPS;
use reveille::domain::{
    Caller, GuardPolicy, HostId, PromptSelection, Rule, RuleScope, Ruling, Scope, SessionConfig, SessionId,
    Span,
};
use reveille::edn::{Value, read};
use reveille::engine::{Command, Input};
use reveille::graph::eql::Boundary;
use reveille::runtime::{Handle, Parts, WithoutStore};
use reveille::service::{Service, reply};
use reveille::testkit::{SimClock, SimEntropy};

fn ask(handle: &Handle, query: &str) -> String {
    let form = read(query.as_bytes(), &REQUEST_CAPS).expect(query);
    let request = Boundary::read(&form).expect(query);
    let answer = Service::new(handle.clone()).query(&Caller::OPERATOR, &request, false).expect(query);
    Value::from(reply(&request, answer)).to_string()
}

/// What becomes of a fresh session with this configuration, made by a session with that one, where a rule refuses `shell`.
fn becomes(origin: SessionConfig, asked: &str) -> String {
    let clock = Arc::new(SimClock::new());
    let handle = Handle::new(Parts {
        clock: Arc::<SimClock>::clone(&clock),
        entropy: Arc::new(SimEntropy::seeded(1)),
        local: Arc::new(HostLocal::new()),
        zones: Arc::default(),
        without_store: WithoutStore::Reject,
        journal: None,
    });
    let id = SessionId::new("one").expect("an id");
    handle.open_session(Some(id), HostId::LOCAL, origin).expect("it is new");
    let of = RuleScope { tools: vec!["shell".into()], ..RuleScope::default() };
    let rule = Rule { name: "no-shell".into(), of, then: Ruling::Refuse, why: None };
    let policy = GuardPolicy { rules: vec![rule], approval: None, asks: None };
    let set = Command::SetGuard { policy: Some(Arc::new(policy)), by: Scope::Operator.into() };
    handle.submit(Input::Command(set)).expect("nothing forbids it");
    let create = format!(
        "[(psi.scheduler/create {{:session-id \"one\" :kind :session :message \"m\" :delay-ms 1000 {asked}}})]"
    );
    let created = ask(&handle, &create);
    assert!(created.contains(":psi.scheduler/created? true"), "{created}");
    clock.advance(Span::from_millis(2_000));
    handle.run_due();
    let status = ask(&handle, "[{:psi.scheduler/schedules [:psi.scheduler/status :psi.scheduler/reason]}]");
    let refused = status.contains(":failed") && status.contains(":refused-by-rule");
    assert!(refused || status.contains(":delivered"), "{status}");
    if refused { "refused".into() } else { "delivered".into() }
}

fn tools(names: &[&str]) -> SessionConfig {
    let tool_ids = Some(names.iter().map(|name| Box::from(*name)).collect());
    SessionConfig { tool_ids, ..SessionConfig::default() }
}

#[test]
fn a_rule_by_tools_sees_what_is_inherited() {
    let shell = || tools(&["shell"]);
    let other = || tools(&["read"]);
    assert_eq!(becomes(other(), ":session-config {:tool-ids [\"shell\"]}"), "refused", "its own");
    assert_eq!(becomes(shell(), ""), "refused", "inherited, without a configuration of its own");
    assert_eq!(becomes(shell(), ":session-config {:session-name \"n\"}"), "refused", "inherited");
    assert_eq!(becomes(shell(), ":session-config {:tool-ids [\"read\"]}"), "delivered", "replaced");
    assert_eq!(becomes(other(), ""), "delivered", "inherited, and harmless");
}

#[test]
fn a_rule_by_tools_matches_where_nobody_knows_the_tools() {
    assert_eq!(becomes(SessionConfig::default(), ""), "refused", "the host may give it any");
}

#[test]
fn a_rule_by_tools_sees_the_selection_of_the_prompt() {
    let selection = PromptSelection { tool_names: Some(vec!["shell".into()]), ..PromptSelection::default() };
    let origin = SessionConfig { prompt_component_selection: Some(selection), ..tools(&["read"]) };
    assert_eq!(becomes(origin, ""), "refused");
}
