//! Links to calendars: what each shows, to whom, and for how long.

use reveille::domain::{SessionId, Settings, Span, When};
use reveille::engine::NewSchedule;

use super::client::{Answer, OBSERVER, OPERATOR, Site};

/// Makes a link for what the body names.
fn link(site: &Site, body: &str) -> String {
    let answer = site.ask("POST /calendar", OPERATOR, &[JSON], body);
    assert_eq!(answer.status, 200, "{answer:?}");
    let value: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
    value["path"].as_str().expect("a path").to_owned()
}

/// Reads what is behind a link as a calendar program does, without a token.
fn read(site: &Site, path: &str) -> Answer {
    let port = site.port();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    site.send(request.as_bytes())
}

/// Creates a schedule in an hour, and says its id.
fn create(site: &Site, token: &str, label: &str) -> String {
    let args = format!(
        "{{:action \"scheduler\" :op \"create\" :kind \"message\" :message \"the secret text\" :label \"{label}\" \
         :delay-ms 3600000}}"
    );
    let answer = site.call(token, &[], &args);
    assert_eq!(answer.status, 200, "{answer:?}");
    let (_, id) = answer.body.split_once(":schedule-id \"").expect("an id");
    id.split('"').next().expect("its end").to_owned()
}

/// The lines of a calendar, unfolded, that begin so.
fn lines(calendar: &Answer, start: &str) -> Vec<String> {
    let unfolded = calendar.body.replace("\r\n ", "");
    unfolded.split("\r\n").filter_map(|line| line.strip_prefix(start)).map(str::to_owned).collect()
}

#[test]
fn a_calendar_says_when_and_what_it_is_called_and_no_more() {
    let site = Site::start();
    let token = site.open("main");
    let id = create(&site, token.reveal(), "backups, weekly; at night");
    let calendar = read(&site, &link(&site, "{}"));
    assert_eq!(calendar.status, 200, "{calendar:?}");
    assert_eq!(calendar.header("content-type"), Some("text/calendar; charset=utf-8"));
    assert_eq!(calendar.header("cache-control"), Some("private, no-store"));
    assert_eq!(calendar.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(lines(&calendar, "SUMMARY:"), [r"backups\, weekly\; at night"]);
    assert_eq!(lines(&calendar, "STATUS:"), ["CONFIRMED"]);
    assert_eq!(lines(&calendar, "DESCRIPTION:"), [format!(r"message of session main: fires\nschedule {id}")]);
    assert!(lines(&calendar, "UID:")[0].starts_with(&id), "{calendar:?}");
    assert!(!calendar.body.contains("secret"), "{calendar:?}");
    // A program that reads it again knows the entry.
    let again = read(&site, &link(&site, "{}"));
    assert_eq!(lines(&again, "UID:"), lines(&calendar, "UID:"));
}

#[test]
fn a_link_shows_what_it_was_made_for() {
    let site = Site::start();
    let (one, two) = (site.open("one"), site.open("two"));
    let id = create(&site, one.reveal(), "first");
    create(&site, one.reveal(), "second");
    create(&site, two.reveal(), "third");
    let shown = |body: &str| {
        let mut shown = lines(&read(&site, &link(&site, body)), "SUMMARY:");
        shown.sort();
        shown
    };
    assert_eq!(shown("{}"), ["first", "second", "third"]);
    assert_eq!(shown(r#"{"session-id": "one"}"#), ["first", "second"]);
    assert_eq!(shown(&format!(r#"{{"schedule-id": "{id}"}}"#)), ["first"]);
    // What another session shares with all is not the session's own.
    let owner = SessionId::new("two").expect("an id");
    let settings = Settings { shared: true, ..Settings::PLAIN };
    let new = NewSchedule::message(owner, When::After(Span::from_millis(60_000)), "for all");
    let new = NewSchedule { label: Some("job".into()), settings: Some(Box::new(settings)), ..new };
    site.handle().schedule(new).expect("it is created");
    assert_eq!(shown("{}"), ["first", "job", "second", "third"]);
    assert_eq!(shown(r#"{"session-id": "one"}"#), ["first", "second"]);
    let both = site.ask(
        "POST /calendar",
        OPERATOR,
        &[JSON],
        &format!(r#"{{"session-id": "one", "schedule-id": "{id}"}}"#),
    );
    assert_eq!(both.status, 400, "{both:?}");
}

/// Ten that are due each minute leave room for one that is due tomorrow.
#[test]
fn frequent_schedules_do_not_hide_a_daily_one() {
    let site = Site::start();
    site.open("main");
    let day = (86_400, "daily");
    for (seconds, label) in [(60, "often"); 10].into_iter().chain([day]) {
        let when = When::Each(Span::from_millis(seconds * 1_000));
        let owner = SessionId::new("main").expect("an id");
        let new = NewSchedule { label: Some(label.into()), ..NewSchedule::message(owner, when, "again") };
        site.handle().schedule(new).expect("there is room");
    }
    for body in ["{}", r#"{"session-id": "main"}"#] {
        let shown = lines(&read(&site, &link(&site, body)), "SUMMARY:");
        let count = |label: &str| shown.iter().filter(|it| *it == label).count();
        assert_eq!(count("often"), 1_000, "{body}");
        assert!(count("daily") > 80, "{body}: {}", count("daily"));
    }
}

#[test]
fn a_link_is_no_token_and_does_not_outlive_what_it_shows() {
    let site = Site::start();
    let token = site.open("main");
    create(&site, token.reveal(), "mine");
    let of_session = link(&site, r#"{"session-id": "main"}"#);
    let of_all = link(&site, "{}");
    let code = of_all.strip_prefix("calendar/").and_then(|rest| rest.strip_suffix(".ics")).expect("a link");
    assert_eq!(site.ask("GET /tools", code, &[], "").status, 401);
    // A byte more, or less, or another one.
    let other = if code.starts_with('0') { "1" } else { "0" };
    for wrong in [format!("{code}00"), code[2..].to_owned(), format!("{other}{}", &code[1..])] {
        assert_eq!(read(&site, &format!("calendar/{wrong}.ics")).status, 404);
    }
    let id = SessionId::new("main").expect("an id");
    assert_eq!(read(&site, &of_session).status, 200);
    site.handle().close_session(&id).expect("it is open");
    assert_eq!(read(&site, &of_session).status, 404);
    let token = site.open("main");
    create(&site, token.reveal(), "another's");
    assert_eq!(read(&site, &of_session).status, 404, "it was made for the session before");
    assert_eq!(lines(&read(&site, &of_all), "SUMMARY:"), ["another's"]);
    let by = |token: &str| site.ask("POST /calendar/revoke", token, &[JSON], "{}").status;
    assert_eq!((by(OBSERVER), read(&site, &of_all).status), (403, 200));
    assert_eq!((by(OPERATOR), read(&site, &of_all).status), (200, 404));
    assert_eq!(read(&site, &link(&site, "{}")).status, 200);
}

const JSON: &str = "Content-Type: application/json";
