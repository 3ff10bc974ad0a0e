//! Every operation of the stream, asked for by every kind of token about every kind of session.
//!
//! The operations are those that the stream itself names, so one that is added is missing here until it has a row.

use std::io::{BufRead, BufReader, Write as _};
use std::time::Duration;

use reveille::dialect::REQUEST_CAPS;
use reveille::domain::{CallerRole, Grant, Op, Right, Scope, SessionId, Span, When};
use reveille::edn::read;
use reveille::engine::{Command, Input, NewSchedule};
use reveille::surface::http::Config;

use super::client::{Answer, EDITOR, OBSERVER, OPERATOR, SHELL, Site};
use super::streams::{ask, upgrade};
use crate::admission::ways::OPS;
use crate::stdio::json;

/// The subjects: the caller's own session, another, one that was closed, one that was closed and opened again, one of a host,
/// and none.
const SUBJECTS: [&str; 6] =
    ["sess-own", "sess-another", "sess-closed", "sess-again", "sess-hosted", "sess-absent"];

struct Asker {
    name: &'static str,
    token: String,
    role: CallerRole,
    right: Right,
}

fn open_site() -> (Site, Vec<Asker>) {
    let site = Site::start();
    let id = |name: &str| SessionId::new(name).expect("an id");
    let own = site.open("sess-own").reveal().to_owned();
    let narrow = site.open("sess-narrow").reveal().to_owned();
    site.open("sess-another");
    for name in ["sess-closed", "sess-again"] {
        site.open(name);
        site.handle().close_session(&id(name)).expect("it is open");
    }
    let again = site.open("sess-again").reveal().to_owned();
    let (_, mut host) = upgrade(&site, EDITOR, "");
    assert!(ask(&mut host, "{:op :session/open :session-id \"sess-hosted\"}").contains(":token"));
    let grant = Grant { right: Some(Right::Read), ..Grant::FULL };
    site.handle().sessions().grant(&id("sess-narrow"), grant, Scope::Operator).expect("it is open");
    let asker = |name, token: &str, role, right| Asker { name, token: token.to_owned(), role, right };
    let askers = vec![
        asker("operator", OPERATOR, CallerRole::Operator, Right::Change),
        asker("observer", OBSERVER, CallerRole::Observer, Right::Read),
        asker("session", &own, CallerRole::Session, Right::Change),
        asker("narrowed session", &narrow, CallerRole::Session, Right::Change),
        asker("reopened session", &again, CallerRole::Session, Right::Change),
        asker("host", EDITOR, CallerRole::Host, Right::Change),
        asker("another host", SHELL, CallerRole::Host, Right::Change),
    ];
    (site, askers)
}

/// The answer to one request on a stream of its own.
fn answer(site: &Site, asker: &Asker, request: &str) -> String {
    // The places of streams that were closed before come back when the server has seen it.
    let mut stream = loop {
        let (head, stream) = upgrade(site, &asker.token, "");
        if head.status == 101 {
            break stream;
        }
        assert_eq!(head.status, 429, "{head:?}");
        std::thread::yield_now();
    };
    ask(&mut stream, request)
}

#[test]
fn every_operation_of_the_stream_is_for_whom_it_is() {
    let (site, askers) = open_site();
    let named = answer(&site, &askers[0], "{:op :no-such}");
    let named = named.split(":supported-ops [").nth(1).and_then(|rest| rest.split(']').next());
    let listed: Vec<String> = OPS.iter().map(|(name, ..)| format!(":{name}")).collect();
    assert_eq!(named, Some(listed.join(" ").as_str()), "an operation has no row here");
    let (mut site, mut fresh) = open_site();
    for asker in &askers {
        for (name, op, request) in OPS {
            for subject in SUBJECTS {
                let asker = fresh.iter().find(|it| it.name == asker.name).expect("the same");
                let rule = op.rule();
                let may = rule.roles.contains(&asker.role) && !(rule.changes && asker.right == Right::Read);
                let answer = answer(&site, asker, &request.replace("SESSION", subject));
                assert_eq!(
                    !answer.contains("FORBIDDEN"),
                    may,
                    "{} {name} about {subject}: {answer}",
                    asker.name
                );
                // What is admitted changes the sessions.
                if may && rule.changes {
                    (site, fresh) = open_site();
                }
            }
        }
    }
}

/// Each request gets the same answer in both notations, from sites that have seen the same.
#[test]
fn every_operation_of_the_stream_is_answered_in_json_as_in_edn() {
    for place in 0..open_site().1.len() {
        for (name, _, request) in OPS {
            for subject in ["sess-own", "sess-hosted", "sess-absent"] {
                let request =
                    read(request.replace("SESSION", subject).as_bytes(), &REQUEST_CAPS).expect("EDN");
                let asked = [request.to_string(), json::request(&request).expect("a map")];
                let [edn, json] = asked.map(|asked| {
                    let (site, askers) = open_site();
                    answer(&site, &askers[place], &asked)
                });
                let edn = json::text(&read(edn.as_bytes(), &REQUEST_CAPS).expect("EDN"));
                let [edn, json] = [edn.as_str(), json.trim_end()].map(comparable);
                assert_eq!(json, edn, "{name} about {subject} by {place}");
            }
        }
    }
}

/// An answer without what differs from site to site: the token of a session that was opened, and the time.
fn comparable(answer: &str) -> String {
    ["\"token\":\"", "\"now\":\""].iter().fold(answer.to_owned(), |answer, key| {
        match answer.split_once(key) {
            Some((before, rest)) => format!("{before}{}", rest.split_once('"').map_or("", |(_, rest)| rest)),
            None => answer,
        }
    })
}

#[test]
fn the_upgrade_can_name_the_notation() {
    let site = Site::start();
    let asked = |protocol: &str, request: &str| {
        let mut stream = site.connect();
        let head = format!(
            "GET /stream HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {OPERATOR}\r\n\
             Connection: Upgrade\r\nUpgrade: {protocol}\r\n\r\n",
            site.port()
        );
        stream.write_all(head.as_bytes()).expect("it is open");
        let head = Answer::read(&mut stream);
        let said = if head.status == 101 { ask(&mut stream, request) } else { String::new() };
        (head.status, head.header("upgrade").map(str::to_owned), said)
    };
    let named = |name: &str| Some(name.to_owned());
    let json = r#"{"id":1,"op":"session/close","session-id":"x"}"#;
    let (status, upgrade, said) = asked("reveille-json", json);
    assert_eq!((status, upgrade), (101, named("reveille-json")));
    assert!(said.starts_with(r#"{"id":1,"error":{"message":"session not found: x""#), "{said}");
    assert_eq!(asked("reveille-edn", json).2, said, "the first form decides");
    let (_, _, said) = asked("reveille-json", "{:id 1 :op :subscribe}");
    assert!(said.starts_with(r#"{"error":{"message":"key must be a string","class":"reader""#), "{said}");
    let (status, upgrade, _) = asked("websocket", json);
    assert_eq!((status, upgrade), (426, named("reveille-edn, reveille-json")));
}

#[test]
fn anothers_session_is_none_to_every_operation_of_the_stream() {
    let (_, askers) = open_site();
    for asker in askers.iter().filter(|asker| [CallerRole::Session, CallerRole::Host].contains(&asker.role)) {
        // A host that opens a session is told that the id is taken.
        let told = |op: Op| asker.role == CallerRole::Host && op == Op::OpenSession;
        for (name, _, request) in OPS.iter().filter(|(_, op, _)| !told(*op)) {
            let about = |subject: &str| {
                let (site, fresh) = open_site();
                let asker = fresh.iter().find(|it| it.name == asker.name).expect("the same");
                answer(&site, asker, &request.replace("SESSION", subject)).replace(subject, "S")
            };
            let absent = about("sess-absent");
            let own = match asker.name {
                "session" => "sess-own",
                "reopened session" => "sess-again",
                "host" => "sess-hosted",
                "another host" => "",
                _ => "sess-narrow",
            };
            for subject in SUBJECTS.into_iter().filter(|subject| *subject != own) {
                assert_eq!(about(subject), absent, "{} {name} about {subject}", asker.name);
            }
        }
    }
}

/// Every way to ask for something without naming a session. A connection acts for the session of its token only as long as that
/// one is open: not for another that is opened under its id.
#[test]
fn an_old_connection_does_nothing_in_a_session_that_was_opened_again() {
    let mut config = Config::local();
    config.times.token_recheck = Duration::from_secs(60);
    let site = Site::with(&config);
    let id = SessionId::new("twice").expect("an id");
    let token = site.open("twice").reveal().to_owned();
    let schedule = |text: &str| {
        let later = When::After(Span::from_millis(3_600_000));
        site.handle().schedule(NewSchedule::message(id.clone(), later, text)).expect("there is room")
    };
    schedule("OWN");
    let (_, mut old) = upgrade(&site, &token, "");
    let (_, mut listener) = upgrade(&site, &token, "");
    assert!(ask(&mut listener, "{:op :subscribe}").contains(":ok"));
    let list = "{:action \"scheduler\" :op \"list\"}";
    let asks = [
        list.to_owned(),
        format!("{{:op :call :tool \"psi-tool\" :args {list}}}"),
        format!("{{:op :call :tool \"psi-tool\" :args {list} :session-id \"twice\"}}"),
        "{:op :eql :query [{:psi.scheduler/schedules [:psi.scheduler/message]}]}".to_owned(),
        "{:op :eql :query [{[:psi.agent-session/session-id \"twice\"] [:psi.agent-session/busy?]}]}".to_owned(),
        "{:action \"scheduler\" :op \"create\" :kind \"message\" :message \"EVIL\" :delay-ms 60000}".to_owned(),
        "{:op :call :tool \"create\" :args {:kind \"message\" :message \"EVIL\" :when \"in 1 minute\"}}".to_owned(),
        "{:op :eql :query [(psi.scheduler/create {:session-id \"twice\" :kind :message :message \"EVIL\" :delay-ms 60000})]}"
            .to_owned(),
        "{:op :subscribe :after 0}".to_owned(),
    ];
    let own = ask(&mut old, &asks[0]);
    assert!(own.contains("schedule-count 1"), "{own}");
    site.handle().close_session(&id).expect("it is open");
    site.open("twice");
    let before = schedule("SECRET");
    for request in &asks {
        let answer = ask(&mut old, request);
        assert!(!answer.contains("SECRET") && !answer.contains(":ok"), "{request}: {answer}");
        assert!(
            answer.contains("twice") && answer.contains("session"),
            "it is told why: {request}: {answer}"
        );
    }
    let texts = site.handle().view(|state| {
        state.schedules().into_iter().map(|record| record.schedule().id.clone()).collect::<Vec<_>>()
    });
    assert_eq!(texts, std::slice::from_ref(&before), "nothing was created");
    // A subscription that began before sees the end of its own session, and nothing of the other.
    let stop = Command::Shutdown { abandon: true };
    site.handle().submit(Input::Command(stop)).expect("it may stop");
    let mut events = BufReader::new(listener).lines().map(|line| line.expect("UTF-8"));
    let seen: Vec<String> = events.by_ref().take_while(|line| !line.contains("engine-stopping")).collect();
    assert!(seen.iter().any(|line| line.contains(":kind :session-closed")), "{seen:?}");
    let after = seen.iter().skip_while(|line| !line.contains(":kind :session-closed")).skip(1);
    assert_eq!(after.collect::<Vec<_>>(), Vec::<&String>::new(), "{before} is another's");
}
