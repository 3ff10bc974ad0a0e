//! Who is calling: tokens, rights, sessions, pace.

use reveille::domain::SessionId;

use super::client::{Answer, OBSERVER, OPERATOR, Site};
use super::table::{number, rows, table, texts};

const LIST: &str = r#"{:action "scheduler" :op "list"}"#;
const CREATE: &str = r#"{:action "scheduler" :op "create" :kind "message" :message "m" :delay-ms 60000}"#;
const EDN: &str = "Content-Type: application/edn";
const MUTATION: &str = r#"[(psi.scheduler/create {:kind :message :message "m" :delay-ms 60000})]"#;

fn id(text: &str) -> SessionId {
    SessionId::new(text).expect("an id")
}

#[test]
fn a_token_is_who_calls() {
    let site = Site::start();
    let (session, closed) = (site.open("main"), site.open("closed"));
    site.open("other");
    site.handle().close_session(&id("closed")).expect("it is open");
    let mut refusals = Vec::new();
    for row in rows(&table("tokens.edn")) {
        let mut request =
            format!("GET /tools HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n", site.port());
        for header in texts(row, "headers") {
            let header = header.replace("{operator}", OPERATOR).replace("{observer}", OBSERVER);
            let header = header.replace("{session}", session.reveal()).replace("{closed}", closed.reveal());
            request += &format!("{header}\r\n");
        }
        let answer = site.send(format!("{request}\r\n").as_bytes());
        assert_eq!(Some(answer.status), number(row, "status"), "{row:?}: {answer:?}");
        refusals.extend((answer.status == 401).then_some(answer.body));
    }
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "all who have no token get the same answer: {refusals:?}");
}

#[test]
fn a_session_sees_its_own_only() {
    let site = Site::start();
    let (one, two) = (site.open("one"), site.open("two"));
    let created = site.call(one.reveal(), &[], CREATE);
    assert_eq!(created.status, 200);
    let schedule = created.body.split("schedule-id \"").nth(1).and_then(|rest| rest.split('"').next());
    let cancel =
        format!("{{:action \"scheduler\" :op \"cancel\" :schedule-id \"{}\"}}", schedule.expect("an id"));
    let count =
        |token: &str, headers: &[&str]| site.call(token, headers, LIST).body.matches("schedule-id ").count();
    assert_eq!(count(one.reveal(), &[]), 1);
    assert_eq!(count(two.reveal(), &[]), 0);
    assert_eq!(count(OPERATOR, &["Reveille-Session: one"]), 1);
    assert_eq!(count(OBSERVER, &["Reveille-Session: one"]), 1);
    let (foreign, absent) = (site.call(two.reveal(), &[], &cancel), cancel.replace("sch-", "sch-x"));
    let absent = site.call(two.reveal(), &[], &absent);
    assert_eq!((foreign.status, absent.status), (422, 422));
    assert_eq!(foreign.body.replace("sch-", "sch-x"), absent.body, "another's is as absent");
    assert_eq!(site.call(OPERATOR, &["Reveille-Session: one"], &cancel).status, 200);
}

#[test]
fn an_observer_changes_nothing() {
    let site = Site::start();
    site.open("main");
    let as_main = ["Reveille-Session: main"];
    let cancel = r#"{:action "scheduler" :op "cancel" :schedule-id "sch-x"}"#;
    for args in [CREATE, cancel, &CREATE.replace("\"create\"", ":create"), "{}", "[1]"] {
        let answer = site.call(OBSERVER, &as_main, args);
        assert_eq!(answer.status, 403, "{args}");
        assert!(answer.body.contains("\"FORBIDDEN\""), "{}", answer.body);
    }
    let json = CREATE.replace(':', "\"").replace(" \"", "\": \"");
    assert_ne!(
        site.ask("POST /tools/psi-tool", OBSERVER, &["Content-Type: application/json"], &json).status,
        200
    );
    assert_eq!(site.call(OBSERVER, &as_main, LIST).status, 200);
    let answer = site.ask("POST /eql", OBSERVER, &[as_main[0], EDN], MUTATION);
    assert!(answer.body.contains("may only read"), "a mutation in a query is a change: {answer:?}");
    assert_eq!(site.handle().view(reveille::engine::State::live_count), 0);
}

#[test]
fn the_end_of_a_session_ends_its_token_on_open_connections_too() {
    let site = Site::start();
    let token = site.open("main");
    let request = format!(
        "GET /tools HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
        site.port(),
        token.reveal()
    );
    let mut stream = site.connect();
    let mut ask = || {
        std::io::Write::write_all(&mut stream, request.as_bytes()).expect("it is open");
        Answer::read(&mut stream).status
    };
    assert_eq!((ask(), ask()), (200, 200));
    site.handle().close_session(&id("main")).expect("it is open");
    assert_eq!(ask(), 401);
    site.open("main");
    assert_eq!(ask(), 401, "the same id again is another session");
}

/// 600 at once are a minute's; the engine's own cap is far below, so most are refused by the tool, and count.
#[test]
fn a_sessions_token_keeps_to_its_pace() {
    let site = Site::start();
    let token = site.open("main");
    let statuses: Vec<Answer> = (0..680).map(|_| site.call(token.reveal(), &[], CREATE)).collect();
    let refused: Vec<&Answer> = statuses.iter().filter(|answer| answer.status == 429).collect();
    assert!(statuses[..600].iter().all(|answer| answer.status != 429), "600 are taken");
    assert!(!refused.is_empty());
    assert_eq!(refused[0].header("retry-after"), Some("1"));
    assert!(refused[0].body.contains("\"LIMIT\"") && refused[0].body.contains("creates-per-minute"));
    assert_eq!(site.call(token.reveal(), &[], LIST).status, 200, "looking is not paced");
    let mutated: String =
        (0..4).map(|_| site.ask("POST /eql", token.reveal(), &[EDN], MUTATION).body).collect();
    assert!(mutated.contains("creates schedules too fast"), "a mutation in a query is paced too: {mutated}");
    assert_ne!(
        site.call(OPERATOR, &["Reveille-Session: main"], CREATE).status,
        429,
        "an operator is not paced"
    );
}
