//! A rule of the guard by tools goes by the tools that a fresh session would have, wherever it has them from.

use std::sync::Arc;

use reveille::domain::{
    Caller, GuardPolicy, PromptSelection, Rule, RuleScope, Ruling, Scope, SessionConfig, Span, TokenName, Via,
};
use reveille::engine::{Command, Input};
use reveille::runtime::Handle;
use reveille::testkit::SimClock;

use crate::simulated;

fn ask(handle: &Handle, query: &str) -> String {
    simulated::ask(handle, &Caller::OPERATOR, query, false)
}

/// Makes this the one rule of the guard.
fn rule(handle: &Handle, of: RuleScope, then: Ruling) {
    let rule = Rule { name: "the-rule".into(), of, then, why: None };
    let approval = Some(Span::from_millis(3_600_000));
    let policy = GuardPolicy { rules: vec![rule], approval, asks: None };
    let set = Command::SetGuard { policy: Some(Arc::new(policy)), by: Scope::Operator.into() };
    handle.submit(Input::Command(set)).expect("nothing forbids it");
}

/// An engine in which a session with this configuration has made a schedule for a fresh session, which is due, under a rule.
fn due(origin: SessionConfig, asked: &str, of: RuleScope, then: Ruling) -> Handle {
    let (handle, clock) = simulated::engine(&[]);
    simulated::open(&handle, "one", origin);
    rule(&handle, of, then);
    let create = format!(
        "[(psi.scheduler/create {{:session-id \"one\" :kind :session :message \"m\" :delay-ms 1000 {asked}}})]"
    );
    let created = ask(&handle, &create);
    assert!(created.contains(":psi.scheduler/created? true"), "{created}");
    clock.advance(Span::from_millis(2_000));
    handle.run_due();
    handle
}

/// What becomes of a fresh session with this configuration, made by a session with that one, where a rule refuses `shell`.
fn becomes(origin: SessionConfig, asked: &str) -> String {
    let of = RuleScope { tools: vec!["shell".into()], ..RuleScope::default() };
    let handle = due(origin, asked, of, Ruling::Refuse);
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

/// What an operator is shown of the one run that waits, and the digest to approve.
fn approval(origin: SessionConfig, asked: &str) -> (String, String) {
    let handle = due(origin, asked, RuleScope::default(), Ruling::Hold);
    let held = "[{:reveille.engine/held-runs [:reveille.run/approval :reveille.run/approval-digest]}]";
    let shown = ask(&handle, held);
    let digest =
        shown.split(":reveille.run/approval-digest \"").nth(1).and_then(|rest| rest.split('"').next());
    let digest = digest.expect(&shown).to_owned();
    (shown.replace(&digest, "DIGEST"), digest)
}

/// Everything that a model would begin with is shown, wherever it comes from, and nothing of it can change after the yes.
#[test]
fn an_approval_is_of_what_is_done() {
    let text = |text: &str| Some(Box::from(text));
    let selection =
        PromptSelection { tool_names: Some(vec!["SELECTED".into()]), ..PromptSelection::default() };
    let plain = SessionConfig::default;
    let origins = [
        (plain(), ""),
        (SessionConfig { system_prompt: text("SYSTEM"), ..plain() }, "SYSTEM"),
        (SessionConfig { developer_prompt: text("DEVELOPER"), ..plain() }, "DEVELOPER"),
        (tools(&["TOOL"]), "TOOL"),
        (SessionConfig { prompt_component_selection: Some(selection), ..plain() }, "SELECTED"),
    ];
    let mut seen: Vec<(String, String)> = Vec::new();
    for (origin, shown) in origins {
        let (approval, digest) = approval(origin, "");
        assert!(approval.contains(shown), "{shown}: {approval}");
        seen.push((approval, digest));
    }
    let own = [
        (":session-config {:system-prompt \"SYSTEM2\"}", "SYSTEM2"),
        (":session-config {:tool-ids [\"TOOL2\"]}", "TOOL2"),
        (":session-config {:session-name \"NAME\"}", "NAME"),
        (":label \"LABEL\"", "LABEL"),
        (":description \"DESCRIPTION\"", "DESCRIPTION"),
        (":policy {:backoff-ms [4711]}", "4711"),
        (":lifetime {:max-runs 4712}", "4712"),
        (":idempotency-key \"KEY\"", "KEY"),
        (":durability :durable", ":durable"),
        (
            ":session-config {:preloaded-messages [{:role \"user\" :content [{:type :text :text \"PRELOADED\"}]}]}",
            "PRELOADED",
        ),
    ];
    for (asked, shown) in own {
        let (approval, digest) = approval(plain(), asked);
        assert!(approval.contains(shown), "{shown}: {approval}");
        seen.push((approval, digest));
    }
    for (place, (shown, digest)) in seen.iter().enumerate() {
        for (other, other_digest) in &seen[place + 1..] {
            assert_ne!(shown, other, "two runs look alike");
            assert_ne!(digest, other_digest, "{shown} and {other}");
        }
    }
    assert!(seen[0].0.contains(":owner \"one\"") && seen[0].0.contains(":made-by"), "{}", seen[0].0);
}

/// A session sees which of its runs wait, and why; the names of operators' tokens are no part of that.
#[test]
fn an_approval_tells_a_session_no_names_of_tokens() {
    let (handle, clock) = simulated::engine(&["one"]);
    rule(&handle, RuleScope::default(), Ruling::Hold);
    let token = TokenName::new("night-shift").expect("a name");
    let operator = Caller { via: Via::Operator(token), ..Caller::OPERATOR };
    let create =
        "[(psi.scheduler/create {:session-id \"one\" :kind :message :message \"m\" :delay-ms 1000})]";
    assert!(simulated::ask(&handle, &operator, create, false).contains("created? true"));
    clock.advance(Span::from_millis(2_000));
    handle.run_due();
    let held = "[{:reveille.engine/held-runs [:reveille.run/approval]}]";
    let [all, own] =
        [operator, simulated::token("one")].map(|caller| simulated::ask(&handle, &caller, held, false));
    assert!(all.contains("night-shift"), "{all}");
    assert!(own.contains(":made-by \"operator\"") && !own.contains("night-shift"), "{own}");
}

/// A wrong digest does not lead to the right one without a look, and what was approved says so afterwards.
#[test]
fn an_approval_is_of_what_was_looked_at_and_is_explained() {
    let handle = due(SessionConfig::default(), "", RuleScope::default(), Ruling::Hold);
    let held = "[{:reveille.engine/held-runs [:reveille.run/id :reveille.run/approval-digest]}]";
    let shown = ask(&handle, held);
    let part = |name: &str| {
        let rest = shown.split(&format!(":reveille.run/{name} \"")).nth(1).expect(&shown);
        rest.split('"').next().expect("a text").to_owned()
    };
    let (run, digest) = (part("id"), part("approval-digest"));
    let approve = |digest: &str| {
        ask(&handle, &format!("[(reveille.run/approve {{:run-id \"{run}\" :digest \"{digest}\"}})]"))
    };
    let refused = approve(&"0".repeat(digest.len()));
    assert!(refused.contains("is not what was shown") && !refused.contains(&digest), "{refused}");
    let approved = approve(&digest);
    assert!(approved.contains(&run) && !approved.contains("error"), "{approved}");
    let schedule = run.split('~').next().expect("an id");
    let explain =
        format!("[{{(:reveille/explain {{:schedule-id \"{schedule}\"}}) [:reveille.explanation/sentence]}}]");
    let told = ask(&handle, &explain);
    assert!(told.contains("(approved by an operator at 20"), "{told}");
}

/// An operator learns whether it is still the schedule that somebody approved.
#[test]
fn an_approval_says_whether_the_schedule_was_changed_since_the_last_one() {
    let (handle, clock) = simulated::engine(&["one"]);
    rule(&handle, RuleScope::default(), Ruling::Hold);
    let create = "[{(psi.scheduler/create {:session-id \"one\" :kind :message :message \"tidy up\" :when \"every 1 minute\"}) \
                  [:psi.scheduler/schedule-id]}]";
    let made = ask(&handle, create);
    let schedule = made.split('"').nth(1).expect(&made).to_owned();
    let next = || held_next(&handle, &clock);
    let approve = |shown: &str| approve(&handle, shown);
    let first = next();
    assert!(first.contains(":reveille.run/last-approved nil"), "{first}");
    let first = approve(&first);
    let second = next();
    assert!(
        second.contains(&format!(":run-id \"{first}\"")) && second.contains(":by \"operator ("),
        "{second}"
    );
    assert!(second.contains(":changed-at nil") && second.contains(":differences []"), "{second}");
    let second = approve(&second);
    let change = format!(
        "[(psi.scheduler/reschedule {{:schedule-id \"{schedule}\" :message \"drop all\" :policy {{:backoff-ms [4711]}}}})]"
    );
    assert!(!ask(&handle, &change).contains("error"));
    let third = next();
    assert!(third.contains(&format!(":run-id \"{second}\"")), "{third}");
    assert!(third.contains(":changed-at #inst \"2026-01-01T00:02:00"), "{third}");
    let differ = ":differences [{:part \"message\" :before \"tidy up\" :now \"drop all\"} \
                  {:part \"edited-by\" :before nil :now \"operator (embedder)\"} \
                  {:part \"policy.backoff-ms\" :before \"[]\" :now \"[4711]\"}]";
    assert!(third.contains(differ), "{third}");
    // What was approved stays what it is compared with, until the next approval.
    let again = next();
    assert!(again.matches(differ).count() == again.matches(":reveille.run/id").count(), "{again}");
}

/// What is too large to retain is not said to be the same.
#[test]
fn an_approval_of_what_is_too_large_to_retain_says_that_the_difference_is_not_known() {
    let most = usize::try_from(reveille::limits::APPROVED_BYTES.value).expect("it fits");
    for (bytes, is_known) in [(most, true), (most + 1, false)] {
        let (handle, clock) = simulated::engine(&["one"]);
        rule(&handle, RuleScope::default(), Ruling::Hold);
        let message = "x".repeat(bytes);
        let create = format!(
            "[(psi.scheduler/create {{:session-id \"one\" :kind :message :message {message:?} :when \"every 1 minute\"}})]"
        );
        assert!(!ask(&handle, &create).contains("error"));
        let next = || held_next(&handle, &clock);
        approve(&handle, &next());
        let second = next();
        assert_eq!(second.contains(":differences []"), is_known, "{second}");
        assert_eq!(second.contains(":differences nil"), !is_known, "{second}");
    }
}

/// The runs that are held a minute later.
fn held_next(handle: &Handle, clock: &SimClock) -> String {
    clock.advance(Span::from_millis(60_000));
    handle.run_due();
    let held = "[{:reveille.engine/held-runs [:reveille.run/id :reveille.run/approval-digest :reveille.run/last-approved]}]";
    ask(handle, held)
}

/// Approves the first of the runs that are shown; returns its id.
fn approve(handle: &Handle, shown: &str) -> String {
    let part = |name: &str| {
        let rest = shown.split(&format!(":reveille.run/{name} \"")).nth(1).expect(shown);
        rest.split('"').next().expect("a text").to_owned()
    };
    let (run, digest) = (part("id"), part("approval-digest"));
    let done = ask(handle, &format!("[(reveille.run/approve {{:run-id \"{run}\" :digest \"{digest}\"}})]"));
    assert!(!done.contains("error"), "{done}");
    run
}
