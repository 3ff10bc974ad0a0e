//! What callers hold at the same time: a family of sessions has the share of one session, and a host token or the observers leave
//! half to others.

use std::io::Write;
use std::net::TcpStream;

use reveille::domain::{Caller, SessionId};
use reveille::limits::{self, Budget};
use reveille::runtime::Token;
use reveille::testkit::token_of;

use super::client::{EDITOR, OBSERVER, OPERATOR, SHELL, Site};
use super::streams::upgrade;
use super::subscriptions::until;
use crate::budgets::row;
use crate::simulated;

const EDN: &str = "Content-Type: application/edn";

/// Lets schedules of a session open so many fresh sessions, and returns their ids and tokens.
fn fresh(site: &Site, origin: &str, count: usize) -> Vec<(SessionId, Token)> {
    let (handle, acting) = (site.handle(), format!("Reveille-Session: {origin}"));
    for _ in 0..count {
        let create = "[(psi.scheduler/create {:kind :session :message \"m\" :delay-ms 3600000})]";
        let made = site.ask("POST /eql", OPERATOR, &[EDN, &acting], create);
        let id = made.body.split('"').find(|part| part.starts_with("sch-"));
        let id = id.unwrap_or_else(|| unreachable!("{made:?}"));
        let run = format!("[(psi.scheduler/run-now {{:schedule-id {id:?}}})]");
        assert_eq!(site.ask("POST /eql", OPERATOR, &[EDN], &run).status, 200);
    }
    let opened = || {
        std::thread::yield_now();
        handle.view(|state| {
            let fresh = state.sessions().into_iter().filter(|it| it.provenance().is_some());
            fresh.map(|it| it.id().clone()).collect::<Vec<SessionId>>()
        })
    };
    let found = (0..1_000_000).map(|_| opened()).find(|found| found.len() == count);
    let found = found.expect("the built-in host creates them");
    found.into_iter().map(|id| (id.clone(), token_of(handle, &id))).collect()
}

/// Asks for a subscription as an event stream, and reads the answer up to this part.
fn subscribe(site: &Site, token: &str, part: &str) -> (TcpStream, String) {
    let mut stream = site.connect();
    let body = r#"{"query":"subscription { events { kind } }"}"#;
    write!(
        stream,
        "POST /graphql HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nauthorization: Bearer {token}\r\naccept: text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        site.port(),
        body.len()
    )
    .expect("sent");
    let said = until(&mut stream, part);
    (stream, said)
}

/// The end of the head of an answer. A subscription takes its place before that.
const HEAD: &str = "\r\n\r\n";

/// How much of a budget a session is shown as using.
fn shown(site: &Site, session: &SessionId, budget: Budget) -> Option<(i64, i64)> {
    let query = format!("[{{[:psi.agent-session/session-id \"{session}\"] [:reveille.session/budgets]}}]");
    row(&simulated::ask_service(site.service(), &Caller::OPERATOR, &query, true), budget, "session")
}

#[test]
fn a_family_has_the_streams_of_one_session() {
    let site = Site::start();
    let (main, other) = (site.open("main"), site.open("other"));
    let children = fresh(&site, "main", 3);
    let family: Vec<&str> =
        [main.reveal()].into_iter().chain(children.iter().map(|(_, token)| token.reveal())).collect();
    let limit = limits::HTTP_SESSION_UPGRADES;
    let takers = family.iter().cycle().take(usize::try_from(limit.value).expect("it is small"));
    let held: Vec<_> = takers.map(|token| upgrade(&site, token, "")).collect();
    assert!(held.iter().all(|(answer, _)| answer.status == 101), "{held:?}");
    for token in &family {
        let (answer, _) = upgrade(&site, token, "");
        assert!(answer.status == 429 && answer.body.contains(limit.name), "{answer:?}");
    }
    // A call that may wait for other calls occupies its connection as well.
    let run = |token: &str| {
        let args = r#"{"actions":[{"name":"http.none"}]}"#;
        site.ask("POST /tools/run_parallel", token, &["Content-Type: application/json"], args)
    };
    let answer = run(main.reveal());
    assert!(answer.status == 429 && answer.body.contains(limit.name), "{answer:?}");
    assert_eq!(run(other.reveal()).status, 422, "there is no such tool");
    let all = i64::try_from(limit.value).expect("it is small");
    for member in [&SessionId::new("main").expect("an id"), &children[0].0] {
        assert_eq!(shown(&site, member, Budget::Streams), Some((all, all)), "the use of the family");
    }
    for token in [other.reveal(), OPERATOR] {
        assert_eq!(upgrade(&site, token, "").0.status, 101, "others have places");
    }
}

#[test]
fn a_family_has_the_subscriptions_of_one_session() {
    let site = Site::start();
    let (main, other) = (site.open("main"), site.open("other"));
    let children = fresh(&site, "main", 3);
    let family: Vec<&str> =
        [main.reveal()].into_iter().chain(children.iter().map(|(_, token)| token.reveal())).collect();
    let limit = limits::GRAPHQL_SESSION_SUBSCRIPTIONS;
    let takers = family.iter().cycle().take(usize::try_from(limit.value).expect("it is small"));
    let _held: Vec<_> = takers.map(|token| subscribe(&site, token, HEAD)).collect();
    for token in &family {
        let (_, said) = subscribe(&site, token, "event: complete");
        assert!(said.contains(limit.name), "{said}");
    }
    let all = i64::try_from(limit.value).expect("it is small");
    assert_eq!(shown(&site, &children[2].0, Budget::Subscriptions), Some((all, all)));
    let _others = [other.reveal(), OPERATOR].map(|token| subscribe(&site, token, HEAD));
    let other = SessionId::new("other").expect("an id");
    assert_eq!(shown(&site, &other, Budget::Subscriptions), Some((1, all)), "others have places");
}

#[test]
fn one_host_token_and_the_observers_leave_streams_to_others() {
    let limit = limits::HTTP_TOKEN_UPGRADES;
    for (token, others) in [(EDITOR, [SHELL, OBSERVER]), (OBSERVER, [EDITOR, SHELL])] {
        let site = Site::start();
        let main = site.open("main");
        let held: Vec<_> = (0..limit.value).map(|_| upgrade(&site, token, "")).collect();
        assert!(held.iter().all(|(answer, _)| answer.status == 101), "{held:?}");
        let (answer, _) = upgrade(&site, token, "");
        assert!(answer.status == 429 && answer.body.contains(limit.name), "{answer:?}");
        for other in [main.reveal(), OPERATOR].into_iter().chain(others) {
            assert_eq!(upgrade(&site, other, "").0.status, 101, "others have places");
        }
    }
}
