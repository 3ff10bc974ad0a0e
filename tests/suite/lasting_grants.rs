//! What a session may not do any more, its schedules do not do for it either: what was made under a grant, by a model, by a fresh
//! session or by an edit is asked about again at each run.

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, Grant, HostId, Scope, SessionConfig};
use reveille::edn::read;
use reveille::engine::SessionRecord;
use reveille::service::Service;

use crate::families::{fresh, pass, scene};
use crate::simulated::{self, bound, session, standing};

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
