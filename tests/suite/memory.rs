//! What a session remembers: by the tools and by mutations, within its bounds, for itself alone, and below what is delivered.

use std::sync::Arc;

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{
    Caller, GuardPolicy, HostId, Primitives, Rule, RuleScope, Ruling, Scope, SessionConfig, Span,
};
use reveille::edn::{Map, Value, read};
use reveille::engine::{Command, Input};
use reveille::limits;
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::testkit::SimClock;

use crate::simulated::{self, ask, session, token};

fn scene() -> (Service, Arc<SimClock>) {
    let (handle, clock) = simulated::engine(&["s", "other"]);
    handle.tools().switch(Primitives::all());
    (Service::new(handle), clock)
}

/// The answer of a tool, as text.
fn call(service: &Service, caller: &Caller, tool: &str, args: &str) -> String {
    let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
    let answer = service.call_tool(tool, caller, &args, Notation::Edn).expect("admitted");
    answer.expect("it is switched on").value.to_string()
}

fn pass(handle: &Handle, clock: &SimClock, seconds: u64) {
    for _ in 0..seconds {
        clock.advance(Span::from_millis(1_000));
        handle.run_due();
    }
}

/// T69.
#[test]
fn the_tools_answer_in_the_words_of_the_seed() {
    let (service, _clock) = scene();
    let ask = |tool: &str, args: &str| call(&service, &token("s"), tool, args);
    for (tool, args, answer) in [
        (
            "memory.remember",
            "{:content \" The build is slow. \"}",
            "{:id \"f1\", :content \"The build is slow.\"}",
        ),
        ("Remember", "{:content \"THE BUILD is slow.\"}", "{:id \"f1\", :action \"already_stored\"}"),
        ("memory__remember", "{:content \"Two\"}", "{:id \"f2\", :content \"Two\"}"),
        ("memory.set_goal", "{:goal \"Ship it\"}", "{:goal \"Ship it\"}"),
        (
            "TaskCreate",
            "{:subject \"Sign\" :description \"Both\"}",
            "{:goal \"Ship it\", :todos [{:id \"t1\", :content \"Sign\", :status \"pending\", :notes \"Both\", \
             :parent_id nil}], :progress {:total 1, :done 0, :in_progress 0, :blocked 0, :pending 1, :percent 0}}",
        ),
        (
            "TaskUpdate",
            "{:taskId \"t1\" :status \"completed\"}",
            "{:goal \"Ship it\", :todos [{:id \"t1\", :content \"Sign\", :status \"done\", :notes \"Both\", \
             :parent_id nil}], :progress {:total 1, :done 1, :in_progress 0, :blocked 0, :pending 0, :percent 100}}",
        ),
    ] {
        let said = ask(tool, args);
        assert_eq!(said.replace(", ", " "), answer.replace(", ", " "), "{tool}");
    }
    let unknown = ask("memory.task_update", "{:taskId \"t7\" :status \"blocked\"}");
    assert!(unknown.contains("task t7 not found. Available: [t1]"), "{unknown}");
    for (tool, args, kind) in [
        ("memory.remember", "{:content \" \"}", "blank"),
        ("memory.remember", "{}", "missing"),
        ("memory.task_update", "{:taskId \"x\" :status \"blocked\"}", "invalid_task_id"),
        (
            "memory.task_update",
            "{:taskId \"t1\" :status \"open\"}",
            "pending, in_progress, completed, blocked",
        ),
    ] {
        let said = ask(tool, args);
        assert!(said.contains(":error") && said.contains(kind), "{tool} {args}: {said}");
    }
    let long = "ü".repeat(2_000);
    assert!(
        ask("memory.remember", &format!("{{:content \"{long}\"}}")).contains(":content"),
        "characters, not bytes"
    );
    let said = ask("memory.remember", &format!("{{:content \"{long}x\"}}"));
    assert!(said.contains("memory-text") || said.contains("2000"), "{said}");
}

/// T69.
#[test]
fn a_bound_is_named_and_nothing_is_forgotten() {
    let (service, _clock) = scene();
    // An operator who acts for a session has no rate.
    let operator = Caller { role: reveille::domain::CallerRole::Operator, ..Caller::session(session("s")) };
    let ask = |tool: &str, args: &str| call(&service, &operator, tool, args);
    for at in 0..limits::MEMORY_FACTS.value {
        let said = ask("memory.remember", &format!("{{:content \"fact {at}\"}}"));
        assert!(said.contains(":content"), "{said}");
    }
    let said = ask("memory.remember", "{:content \"one too many\"}");
    assert!(said.contains("memory-facts is 500 facts"), "{said}");
    assert!(ask("memory.remember", "{:content \"FACT 0\"}").contains("already_stored"));
    for at in 0..limits::MEMORY_TASKS.value {
        ask("memory.task_create", &format!("{{:subject \"task {at}\"}}"));
    }
    let said = ask("memory.task_create", "{:subject \"one too many\"}");
    assert!(said.contains("memory-tasks is 200 tasks"), "{said}");
    // Long ones fill the room before there are so many.
    let other = Caller { role: reveille::domain::CallerRole::Operator, ..Caller::session(session("other")) };
    let long = "𝄞".repeat(1_990);
    let full = (0..limits::MEMORY_FACTS.value).find(|at| {
        call(&service, &other, "memory.remember", &format!("{{:content \"{at} {long}\"}}"))
            .contains("memory-bytes")
    });
    assert!(full.is_some_and(|at| (120..140).contains(&at)), "{full:?}");
}

/// T69.
#[test]
fn secrets_are_not_remembered() {
    let (service, _clock) = scene();
    let secret = "ghp_abcdefghijklmnopqrst";
    for (tool, args) in [
        ("memory.remember", format!("{{:content \"use {secret} there\"}}")),
        ("memory.remember", format!("{{:content \"use {secret} there\"}}")),
        ("memory.set_goal", format!("{{:goal \"{secret}\"}}")),
        ("memory.task_create", format!("{{:subject \"{secret}\" :description \"{secret}\"}}")),
    ] {
        let said = call(&service, &token("s"), tool, &args);
        assert!(!said.contains(secret) && !said.contains(":error"), "{said}");
    }
    let query = "[{[:psi.agent-session/session-id \"s\"] [{:psi.agent-session/memory [:reveille.memory/facts \
                 :reveille.memory/fact-count]} :psi.agent-session/memory-block]}]";
    let said = ask(service.handle(), &Caller::OPERATOR, query, false);
    assert!(said.contains("use [REDACTED] there") && said.contains("fact-count 1"), "{said}");
    assert!(!said.contains(secret), "{said}");
}

/// T69.
#[test]
fn a_session_has_its_own_memory_only() {
    let (service, _clock) = scene();
    call(&service, &token("s"), "memory.remember", "{:content \"mine\"}");
    call(&service, &token("s"), "memory.task_create", "{:subject \"my task\"}");
    call(&service, &token("other"), "memory.remember", "{:content \"theirs\"}");
    let read = |caller: &Caller, whose: &str| {
        let query = format!(
            "[{{[:psi.agent-session/session-id {whose:?}] [:psi.agent-session/memory-block]}} \
             {{[:reveille.memory/session-id {whose:?}] [:reveille.memory/facts]}} \
             {{[:reveille.task-note/id \"{whose}#t1\"] [:reveille.task-note/subject]}}]"
        );
        ask(service.handle(), caller, &query, true)
    };
    let own = read(&token("s"), "s");
    assert!(own.contains("- f1: mine") && own.contains("my task") && !own.contains("theirs"), "{own}");
    let foreign = read(&token("other"), "s");
    assert!(!foreign.contains("mine") && !foreign.contains("my task"), "{foreign}");
    let taken = ask(
        service.handle(),
        &token("other"),
        "[(psi.agent-session/remember {:session-id \"s\" :content \"forged\"})]",
        true,
    );
    assert!(taken.contains("session not found"), "{taken}");
    assert!(!read(&Caller::OPERATOR, "s").contains("forged"));
}

#[test]
fn what_is_switched_off_is_not_remembered_and_not_shown() {
    let (handle, clock) = simulated::engine(&["s"]);
    let service = Service::new(handle.clone());
    let remember = "[(psi.agent-session/remember {:content \"c\"})]";
    // To a session there is no such thing; an operator is told the switch.
    let said = ask(&handle, &token("s"), remember, true);
    assert!(said.contains("there is no psi.agent-session/remember here"), "{said}");
    assert!(!said.contains("switched") && !said.contains(":gate"), "{said}");
    let of_s = remember.replace(":content", ":session-id \"s\" :content");
    let said = ask(&handle, &Caller::OPERATOR, &of_s, true);
    assert!(said.contains("memory is switched off") && said.contains(":gate :memory"), "{said}");
    handle.tools().switch(Primitives::all());
    assert!(ask(&handle, &token("s"), remember, true).contains(":psi.agent-session/noted-id \"f1\""));
    handle.tools().switch(Primitives::default());
    assert_eq!(texts(&service, &clock).len(), 1, "the message alone");
}

/// The texts of a prompt that is delivered now.
fn texts(service: &Service, clock: &SimClock) -> Vec<String> {
    let create =
        "[(psi.scheduler/create {:session-id \"s\" :kind :message :message \"wake up\" :delay-ms 1000})]";
    ask(service.handle(), &Caller::OPERATOR, create, false);
    pass(service.handle(), clock, 2);
    let transcript = service.handle().sessions().transcript(&session("s")).expect("it is built in");
    let message = transcript.messages.last().expect("a message");
    message.content.iter().map(|part| format!("{part:?}")).collect()
}

/// T71.
#[test]
fn every_delivery_that_begins_a_turn_shows_what_holds_then() {
    let (service, clock) = scene();
    assert_eq!(texts(&service, &clock).len(), 1, "nothing is remembered yet");
    // Asked for before, and composed at the hand-over.
    let create =
        "[(psi.scheduler/create {:session-id \"s\" :kind :message :message \"later\" :delay-ms 5000})]";
    ask(service.handle(), &Caller::OPERATOR, create, false);
    call(&service, &token("s"), "memory.set_goal", "{:goal \"Ship it\"}");
    call(&service, &token("s"), "memory.remember", "{:content \"The build\\nis slow.\"}");
    pass(service.handle(), &clock, 6);
    let transcript = service.handle().sessions().transcript(&session("s")).expect("it is built in");
    let message = transcript.messages.last().expect("a message");
    let block = "═══ MEMORY ═══\n1 fact, 0 tasks\nGoal: Ship it\nFacts, newest first:\n\
                 - f1: The build is slow.\n═══════════════";
    assert!(message.text().contains("later"), "{message:?}");
    assert!(format!("{:?}", message.content.last()).contains(&format!("{block:?}")), "{message:?}");
    // A notice begins no turn.
    let notice =
        "[(psi.scheduler/create {:session-id \"s\" :kind :notice :message \"note\" :delay-ms 1000})]";
    ask(service.handle(), &Caller::OPERATOR, notice, false);
    pass(service.handle(), &clock, 2);
    let transcript = service.handle().sessions().transcript(&session("s")).expect("it is built in");
    assert_eq!(transcript.messages.last().expect("a message").content.len(), 1);
}

/// What stands below the prompt is delivered with it, so an operator approves it, and what changes is asked again.
#[test]
fn an_approval_covers_what_is_remembered() {
    let (service, clock) = scene();
    let handle = service.handle();
    let rule = Rule { name: "all".into(), of: RuleScope::default(), then: Ruling::Hold, why: None };
    let approval = Some(Span::from_millis(600_000));
    let policy = GuardPolicy { rules: vec![rule], approval, ..GuardPolicy::default() };
    let set = Command::SetGuard { policy: Some(Arc::new(policy)), by: Scope::Operator.into() };
    handle.submit(Input::Command(set)).expect("an operator may");
    let create =
        "[(psi.scheduler/create {:session-id \"s\" :kind :message :message \"water\" :delay-ms 1000})]";
    ask(handle, &Caller::OPERATOR, create, false);
    pass(handle, &clock, 2);
    let held = || {
        let query = "[{:reveille.engine/held-runs [:reveille.run/id :reveille.run/approval]}]";
        let shown = ask(handle, &Caller::OPERATOR, query, false);
        let part =
            |key: &str| shown.split(key).nth(1).and_then(|rest| rest.split('"').nth(1)).map(str::to_owned);
        (part(":reveille.run/id"), part(":digest"), shown)
    };
    let approve = |run: &Option<String>, digest: &Option<String>| {
        let (run, digest) = (run.as_deref().expect("a run"), digest.as_deref().expect("a digest"));
        let approve = format!("[(reveille.run/approve {{:run-id {run:?} :digest {digest:?}}})]");
        ask(handle, &Caller::OPERATOR, &approve, false)
    };
    let (run, digest, shown) = held();
    assert!(shown.contains(":memory nil"), "{shown}");
    call(&service, &token("s"), "memory.set_goal", "{:goal \"Wipe the disk\"}");
    let refused = approve(&run, &digest);
    assert!(refused.contains("CONFLICT"), "it was approved without this goal: {refused}");
    let (run, digest, shown) = held();
    assert!(shown.contains("Wipe the disk"), "{shown}");
    approve(&run, &digest);
    let transcript = handle.sessions().transcript(&session("s")).expect("it is built in");
    let message = transcript.messages.last().expect("a message");
    assert!(format!("{:?}", message.content).contains("Wipe the disk"), "{message:?}");
}

#[test]
fn what_is_remembered_goes_with_its_session() {
    let (service, _clock) = scene();
    call(&service, &token("s"), "memory.remember", "{:content \"mine\"}");
    service.handle().close_session(&session("s")).expect("it is open");
    let opened = service.handle().open_session(Some(session("s")), HostId::LOCAL, SessionConfig::default());
    opened.expect("it was closed");
    let said = call(&service, &token("s"), "memory.remember", "{:content \"mine\"}");
    assert!(said.contains(":content"), "another session of that id begins anew: {said}");
    let nothing: Value = Map::new().into();
    assert!(service.call_tool("memory.remember", &Caller::OPERATOR, &nothing, Notation::Edn).is_ok());
}
