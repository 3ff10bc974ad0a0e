//! Jobs are visible to every session, and changeable by their owner alone, unless an operator grants more.

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, CallerRole, Channel, ChannelKind, Grant, Scope, Span};
use reveille::edn::read;
use reveille::engine::{Input, Report};
use reveille::runtime::Handle;
use reveille::service::Service;

use crate::simulated::{self, bound, session, standing, token};

fn handle() -> Handle {
    let (handle, _) = simulated::engine(&["alice", "bob"]);
    open_ops(&handle, false);
    handle
}

/// Opens the channel `ops`, to agents as well if `agents`.
fn open_ops(handle: &Handle, agents: bool) {
    let kind = ChannelKind::Command;
    let ops = Channel { name: "ops".into(), kind, goes_to: "/bin/x".into(), agents, agents_manage: false };
    handle.submit(Input::Report(Report::ChannelOpened(ops))).expect("it is opened");
}

fn call(handle: &Handle, caller: &Caller, tool: &str, args: &str) -> String {
    let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
    let answer = Service::new(handle.clone()).call_tool(tool, caller, &args, Notation::Edn);
    answer.expect("admitted").expect("a tool").value.to_string()
}

fn ask(handle: &Handle, caller: &Caller, query: &str) -> String {
    simulated::ask(handle, caller, query, true)
}

/// Creates a job of this caller, and returns its id.
fn job(handle: &Handle, caller: &Caller, target: &str) -> String {
    let before: Vec<String> = ids(handle);
    let args =
        format!("{{:name \"n\" :prompt \"p\" :schedule {{:kind :daily :time \"12:00\"}} :target {target}}}");
    let answer = call(handle, caller, "cron_create", &args);
    let mut new = ids(handle).into_iter().filter(|id| !before.contains(id));
    new.next().ok_or(answer).expect("a job")
}

fn ids(handle: &Handle) -> Vec<String> {
    handle
        .view(|state| state.schedules().into_iter().map(|record| record.schedule().id.to_string()).collect())
}

/// Every way in which one session can change a job.
fn changes(id: &str) -> Vec<(&'static str, String)> {
    let tool = |name, args: &str| (name, format!("{{:job_id {id:?} {args}}}"));
    let mut all = vec![
        tool("cron_update", ":patch {:prompt \"EVIL\"}"),
        tool("cron_pause", ""),
        tool("cron_resume", ""),
        tool("cron_delete", ""),
        ("psi-tool", format!("{{:action \"scheduler\" :op \"cancel\" :schedule-id {id:?}}}")),
        ("cancel", format!("{{:id {id:?}}}")),
        ("update", format!("{{:id {id:?} :message \"EVIL\"}}")),
    ];
    for (mutation, more) in [
        ("reschedule", ":message \"EVIL\""),
        ("run-now", ""),
        ("pause", ""),
        ("resume", ""),
        ("skip-next", ""),
        ("cancel", ""),
    ] {
        all.push(("", format!("[(psi.scheduler/{mutation} {{:schedule-id {id:?} {more}}})]")));
    }
    all
}

fn change(handle: &Handle, caller: &Caller, (tool, text): &(&'static str, String)) -> String {
    if tool.is_empty() { ask(handle, caller, text) } else { call(handle, caller, tool, text) }
}

#[test]
fn anothers_job_is_seen_and_not_changed() {
    let handle = handle();
    let id = job(&handle, &token("bob"), "{:kind :current_session}");
    assert!(call(&handle, &token("alice"), "cron_list", "{}").contains(&id), "jobs are visible to all");
    let before = standing(&handle);
    let absent = changes("job_00000000000000000000000000000000");
    for (who, alice) in bound("alice") {
        for (one, absent) in changes(&id).iter().zip(&absent) {
            let refused = change(&handle, &alice, one);
            assert_eq!(standing(&handle), before, "{who}: {one:?}: {refused}");
            // As if there were no such job.
            let absent = change(&handle, &alice, absent);
            assert_eq!(
                refused.replace(&id, "ID"),
                absent.replace("job_00000000000000000000000000000000", "ID"),
                "{who}: {one:?}"
            );
        }
    }
    // The owner and an operator may.
    for caller in [token("bob"), Caller::OPERATOR] {
        let answer =
            call(&handle, &caller, "cron_update", &format!("{{:job_id {id:?} :patch {{:prompt \"q\"}}}}"));
        assert!(answer.contains("updated"), "{answer}");
    }
}

#[test]
fn a_grant_opens_the_jobs_of_others() {
    let handle = handle();
    let id = job(&handle, &token("bob"), "{:kind :current_session}");
    let grant = "[(psi.agent-session/set-grant {:session-id \"alice\" :cron-others true})]";
    assert!(!ask(&handle, &Caller::OPERATOR, grant).contains("error"));
    let shown = ask(
        &handle,
        &token("alice"),
        "[{[:psi.agent-session/session-id \"alice\"] [:psi.agent-session/grant]}]",
    );
    assert!(shown.contains(":cron-others true"), "{shown}");
    let patch = format!("{{:job_id {id:?} :patch {{:prompt \"q\"}}}}");
    assert!(call(&handle, &token("alice"), "cron_update", &patch).contains("updated"));
    let editor = ask(&handle, &Caller::OPERATOR, "[{:psi.scheduler/schedules [:psi.scheduler/edited-by]}]");
    assert!(editor.contains(":psi.scheduler/edited-by \"session alice (cron tool)\""), "{editor}");
    let into_bob = "{:kind :session :session_id \"bob\"}";
    job(&handle, &token("alice"), into_bob);
    handle.sessions().grant(&session("alice"), Grant::FULL, Scope::Operator).expect("it is open");
    assert!(!call(&handle, &token("alice"), "cron_update", &patch).contains("updated"), "taken away again");
}

/// Whether another session is open is nothing that the answer shows.
#[test]
fn a_job_goes_into_its_own_session_only() {
    let handle = handle();
    let before = standing(&handle);
    let answer = |alice: &Caller, other: &str| {
        let args = format!(
            "{{:name \"n\" :prompt \"p\" :schedule {{:kind :daily :time \"12:00\"}}
               :target {{:kind :session :session_id {other:?}}}}}"
        );
        call(&handle, alice, "cron_create", &args).replace(other, "S")
    };
    for (who, alice) in bound("alice") {
        let (there, absent) = (answer(&alice, "bob"), answer(&alice, "nobody-here"));
        assert_eq!(there, absent, "{who}");
        assert!(there.contains(":error"), "{who}: {there}");
    }
    assert_eq!(standing(&handle), before);
    let own = job(&handle, &token("alice"), "{:kind :session :session_id \"alice\"}");
    let moved = format!("{{:job_id {own:?} :patch {{:target {{:kind :session :session_id \"bob\"}}}}}}");
    for (who, alice) in bound("alice") {
        let moved = call(&handle, &alice, "cron_update", &moved);
        assert!(moved.contains(":error"), "{who}: {moved}");
    }
}

/// A job that an operator has made for a session, to a channel that sessions may not use: the session must not choose what goes
/// out there, nor when.
#[test]
fn a_closed_channel_stays_closed_to_edits_and_runs() {
    let handle = handle();
    let made = Caller { role: CallerRole::Operator, ..Caller::session(session("bob")) };
    let id = job(&handle, &made, "{:kind :gateway :channel \"ops\" :conversation_id \"1\"}");
    let before = standing(&handle);
    for (who, caller) in bound("alice").into_iter().chain(bound("bob")) {
        for (tool, text) in [
            ("cron_update", format!("{{:job_id {id:?} :patch {{:prompt \"EVIL\"}}}}")),
            ("", format!("[(psi.scheduler/reschedule {{:schedule-id {id:?} :message \"EVIL\"}})]")),
            ("", format!("[(psi.scheduler/run-now {{:schedule-id {id:?}}})]")),
        ] {
            let answer = change(&handle, &caller, &(tool, text));
            assert_eq!(standing(&handle), before, "{who}: {answer}");
        }
    }
    let paused = call(&handle, &token("bob"), "cron_pause", &format!("{{:job_id {id:?}}}"));
    assert!(paused.contains("paused"), "its owner may stop it: {paused}");
}

/// The operator of a channel may take it away from agents after jobs were made for it.
#[test]
fn a_channel_that_is_closed_to_agents_gets_nothing_more_of_theirs() {
    let (handle, clock) = simulated::engine(&["alice"]);
    open_ops(&handle, true);
    let target = "{:kind :gateway :channel \"ops\" :conversation_id \"1\"}";
    let by_alice = bound("alice").map(|(who, alice)| (who, job(&handle, &alice, target)));
    let operator = Caller { role: CallerRole::Operator, ..Caller::session(session("alice")) };
    let by_operator = job(&handle, &operator, target);
    let edited = bound("alice").map(|(who, alice)| {
        let edited = job(&handle, &operator, target);
        let edit = format!("{{:job_id {edited:?} :patch {{:prompt \"MINE\"}}}}");
        let answer = call(&handle, &alice, "cron_update", &edit);
        assert!(answer.contains("MINE"), "{who}: {answer}");
        (who, edited)
    });
    open_ops(&handle, false);
    clock.advance(Span::from_millis(24 * 3_600_000));
    handle.run_due();
    let outcome = |id: &str| {
        let query = format!(
            "[{{[:psi.scheduler/schedule-id {id:?}] [{{:psi.scheduler/runs [:reveille.run/state :reveille.run/reason]}}]}}]"
        );
        ask(&handle, &Caller::OPERATOR, &query)
    };
    for (who, id) in by_alice.iter().chain(&edited) {
        assert!(outcome(id).contains("not-granted"), "{who}: {}", outcome(id));
    }
    assert!(!outcome(&by_operator).contains("not-granted"), "{}", outcome(&by_operator));
}
