//! What a session may not do any more, its schedules do not do for it either: what was made under a grant, by a model, by a fresh
//! session or by an edit is asked about again at each run.

use std::sync::Arc;

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, Grant, GuardPolicy, HostId, Rule, RuleScope, Ruling, Scope, SessionConfig};
use reveille::edn::read;
use reveille::engine::{Command, Input, Parcel, SessionRecord};
use reveille::limits;
use reveille::runtime::Handle;
use reveille::service::Service;

use crate::families::{fresh, open_ops, pass, scene};
use crate::simulated::{self, bound, session, standing, token};

/// A job that goes into another session with the rights of its maker's session is asked about again when it runs.
#[test]
fn a_grant_that_was_taken_away_stops_what_was_made_under_it() {
    for (who, alice) in bound("alice") {
        let (handle, clock) = simulated::engine(&["alice", "bob"]);
        let granted = Grant { cron_others: true, ..Grant::FULL };
        let grant =
            |grant| handle.sessions().grant(&session("alice"), grant, Scope::Operator).expect("it is open");
        grant(granted.clone());
        let job = "{:name \"n\" :prompt \"p\" :schedule {:kind :interval :every_seconds 60}
                    :target {:kind :session :session_id \"bob\"}}";
        let job = read(job.as_bytes(), &REQUEST_CAPS).expect("EDN");
        let service = Service::new(handle.clone());
        let made = service.call_tool("cron_create", &alice, &job, Notation::Edn);
        assert!(made.expect("admitted").expect("a tool").value.to_string().contains("created"), "{who}");
        pass(&handle, &clock, 60);
        let texts = || {
            let transcript = handle.sessions().transcript(&session("bob")).expect("it is open");
            transcript.messages.iter().map(|message| message.text()).collect::<Vec<String>>()
        };
        assert_eq!(texts().len(), 1, "{who}");
        assert!(texts()[0].contains("\nauthor: session alice\n\nTask:\n> p\n"), "{who}: {}", texts()[0]);
        grant(Grant::FULL);
        pass(&handle, &clock, 60);
        assert_eq!(texts().len(), 1, "{who}: it is not granted any more");
        grant(granted);
        pass(&handle, &clock, 60);
        assert_eq!(texts().len(), 2, "{who}");
        let host = handle.view(|state| state.session(&session("alice")).map(SessionRecord::host));
        assert_eq!(host, Some(HostId::LOCAL), "{who}");
    }
}

/// A fresh session belongs to the session whose schedule opened it, and not to a later one of its id.
#[test]
fn a_later_session_of_an_id_has_not_the_fresh_sessions_of_the_earlier_one() {
    let (handle, clock) = scene();
    pass(&handle, &clock, 1);
    let child = fresh(&handle).remove(0);
    let report = |busy: bool| {
        let report =
            format!("[(psi.agent-session/set-busy {{:session-id {:?} :busy? {busy}}})]", child.as_str());
        let before = standing(&handle);
        let answer = simulated::ask(&handle, &Caller::session(session("alice")), &report, false);
        (standing(&handle) != before, answer)
    };
    let (is_changed, answer) = report(true);
    assert!(is_changed, "it is hers: {answer}");
    handle.close_session(&session("alice")).expect("it is open");
    simulated::open(&handle, "alice", SessionConfig::default());
    let (is_changed, answer) = report(false);
    assert!(!is_changed, "it was another's: {answer}");
}

fn call(handle: &Handle, caller: &Caller, tool: &str, args: &str) -> String {
    let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
    let answer = Service::new(handle.clone()).call_tool(tool, caller, &args, Notation::Edn);
    answer.expect("admitted").expect("a tool").value.to_string()
}

fn grant_others(handle: &Handle, name: &str, cron_others: bool) {
    let grant = Grant { cron_others, ..Grant::FULL };
    handle.sessions().grant(&session(name), grant, Scope::Operator).expect("it is open");
}

/// Changes a job, and says whether that was done.
fn patch(handle: &Handle, caller: &Caller, job: &str, patch: &str) -> bool {
    let answer = call(handle, caller, "cron_update", &format!("{{:job_id {job:?} :patch {{{patch}}}}}"));
    answer.contains("updated")
}

/// A job of bob into carol's session, each minute.
const INTO_CAROL: &str = "{:name \"n\" :prompt \"p\" :schedule {:kind :interval :every_seconds 60}
                           :target {:kind :session :session_id \"carol\"}}";

fn job_of_bob(handle: &Handle) -> String {
    let made = call(handle, &token("bob"), "cron_create", INTO_CAROL);
    made.split('"').find(|part| part.starts_with("job_")).expect(&made).to_owned()
}

/// A session has changed the words of a job, and another actor changes its name: the words are the session's still.
#[test]
fn an_editors_grant_is_asked_for_until_all_words_are_replaced() {
    for renames in [token("bob"), token("dora"), Caller::OPERATOR] {
        let (handle, clock) = simulated::engine(&["alice", "bob", "carol", "dora"]);
        ["alice", "bob", "dora"].iter().for_each(|name| grant_others(&handle, name, true));
        let job = job_of_bob(&handle);
        assert!(patch(&handle, &token("alice"), &job, ":prompt \"EVIL\""));
        assert!(patch(&handle, &renames, &job, ":name \"m\""));
        let last = "[{:psi.scheduler/schedules [:psi.scheduler/edited-by]}]";
        let last = simulated::ask(&handle, &Caller::OPERATOR, last, false);
        assert!(last.contains("edited-by") && !last.contains("alice"), "the last one is named: {last}");
        let told = || handle.sessions().transcript(&session("carol")).expect("it is open").messages.len();
        pass(&handle, &clock, 60);
        assert_eq!(told(), 1, "all are granted it: {renames:?}");
        grant_others(&handle, "alice", false);
        pass(&handle, &clock, 60);
        assert_eq!(told(), 1, "the words are hers: {renames:?}");
        let target = ":target {:kind :session :session_id \"carol\"}";
        assert!(patch(&handle, &token("bob"), &job, &format!(":prompt \"p\" {target}")));
        pass(&handle, &clock, 60);
        assert_eq!(told(), 1, "but for the name: {renames:?}");
        assert!(patch(&handle, &token("bob"), &job, &format!(":prompt \"q\" :name \"n\" {target}")));
        pass(&handle, &clock, 60);
        assert_eq!(told(), 2, "none of them are hers: {renames:?}");
    }
}

#[test]
fn a_schedule_has_as_many_editors_as_are_asked_about_and_no_more() {
    let names: Vec<String> = (0..=limits::EDITORS.value).map(|number| format!("editor-{number}")).collect();
    let all: Vec<&str> = names.iter().map(String::as_str).chain(["bob", "carol"]).collect();
    let (handle, _clock) = simulated::engine(&all);
    all.iter().for_each(|name| grant_others(&handle, name, true));
    let job = job_of_bob(&handle);
    let (last, first) = names.split_last().expect("more than one");
    for name in first.iter().chain(first) {
        assert!(patch(&handle, &token(name), &job, &format!(":prompt \"by {name}\"")), "{name}");
    }
    assert!(!patch(&handle, &token(last), &job, ":prompt \"by one more\""));
    let anew = ":prompt \"p\" :name \"n\" :target {:kind :session :session_id \"carol\"}";
    assert!(patch(&handle, &token(last), &job, anew), "it is the only one now");
}

/// What an operator does about a session.
type Deed = fn(&Handle);

/// Deeds about a session, and whether its jobs go on after that.
const ABOUT_ALICE: [(&str, Deed, bool); 3] = [
    ("nothing", |_| {}, true),
    (
        "a grant of nothing",
        |handle| {
            let none = Grant { right: None, ..Grant::FULL };
            handle.sessions().grant(&session("alice"), none, Scope::Operator).expect("it is open");
        },
        false,
    ),
    (
        "a rule against it",
        |handle| {
            let of = RuleScope { sessions: vec![session("alice")], ..RuleScope::default() };
            let rule = Rule { name: "not-alice".into(), of, then: Ruling::Refuse, why: None };
            let policy = Some(Arc::new(GuardPolicy { rules: vec![rule], approval: None, asks: None }));
            let set = Command::SetGuard { policy, by: Scope::Operator.into() };
            handle.submit(Input::Command(set)).expect("nothing forbids it");
        },
        false,
    ),
];

/// A job outlives the fresh session that made it, and stays in the family, also if somebody opens the id again.
#[test]
fn a_closed_fresh_sessions_job_is_bound_to_its_family() {
    for (what, restrict, goes_on) in ABOUT_ALICE {
        let (handle, clock) = simulated::engine(&["alice"]);
        let desk = open_ops(&handle);
        let open = "[(psi.scheduler/create {:kind :session :message \"m\" :delay-ms 1000})]";
        assert!(simulated::ask(&handle, &token("alice"), open, false).contains("created? true"));
        pass(&handle, &clock, 1);
        let child = fresh(&handle).remove(0);
        let job = "{:name \"n\" :prompt \"p\" :schedule {:kind :interval :every_seconds 60}
                    :target {:kind :gateway :channel \"ops\" :conversation_id \"1\"}}";
        assert!(call(&handle, &token(child.as_str()), "cron_create", job).contains("created"), "{what}");
        restrict(&handle);
        let sent = |when: &str| {
            pass(&handle, &clock, 60);
            let sent = desk.take();
            assert_eq!(sent.len(), usize::from(goes_on), "{what}, {when}");
            let is_of_family = |parcel: &Parcel| parcel.family == session("alice");
            assert!(sent.iter().all(is_of_family), "{what}, {when}: the family's places are its bound");
        };
        sent("while it is open");
        handle.close_session(&child).expect("it is open");
        sent("after it was closed");
        simulated::open(&handle, child.as_str(), SessionConfig::default());
        sent("after its id was opened again");
    }
}
