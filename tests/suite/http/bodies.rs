//! T41 and T44: bodies, from the table and from the wire.

use std::io::Write;
use std::time::{Duration, Instant};

use reveille::edn::{Map, Value};
use reveille::engine::State;

use super::client::{Answer, OPERATOR, Site};
use super::table::{number, rows, table, text};

/// More than any refusal takes, on a slow and busy machine, debug build included.
const AT_ONCE: Duration = Duration::from_millis(500);

fn body(row: &Map) -> Vec<u8> {
    if let Some(hex) = text(row, "hex") {
        let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("digits"));
        return digits.map(|pair| u8::from_str_radix(pair, 16).expect("a byte")).collect();
    }
    let parts = row.keyword("body").and_then(Value::as_items).expect("a body");
    let part = |part: &Value| match part.as_items() {
        None => part.as_str().expect("a text").to_owned(),
        Some(items) => {
            let times = items[2].as_int().and_then(|times| usize::try_from(times).ok()).expect("a number");
            items[1].as_str().expect("a text").repeat(times)
        }
    };
    parts.iter().map(part).collect::<String>().into_bytes()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "that a refusal takes no time is what is tested")]
fn bodies_are_as_in_the_table() {
    let site = Site::start();
    site.open("main");
    for row in rows(&table("bodies.edn")) {
        let body = body(row);
        let mut request = format!("POST /tools/psi-tool HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", site.port());
        request +=
            &format!("Authorization: Bearer {OPERATOR}\r\nReveille-Session: main\r\nConnection: close\r\n");
        for (header, key) in [("Content-Type", "type"), ("Accept", "accept")] {
            request += &text(row, key).map(|value| format!("{header}: {value}\r\n")).unwrap_or_default();
        }
        request += &format!("Content-Length: {}\r\n\r\n", body.len());
        let began = Instant::now();
        let answer = site.send(&[request.as_bytes(), &body].concat());
        let shown: String = String::from_utf8_lossy(&body).chars().take(60).collect();
        assert_eq!(Some(answer.status), number(row, "status"), "{shown}: {answer:?}");
        assert!(answer.body.contains(text(row, "says").expect("words")), "{shown}: {answer:?}");
        assert!(began.elapsed() < AT_ONCE, "{shown}: {:?}", began.elapsed());
    }
    assert_eq!(site.handle().view(State::live_count), 0, "nothing of that had an effect");
}

/// What HTTP itself makes of lengths, and that nothing of it has an effect.
#[test]
fn lengths_must_agree() {
    let site = Site::start();
    site.open("main");
    let create = r#"{:action "scheduler" :op "create" :kind "message" :message "m" :delay-ms 60000}"#;
    let chunk = format!("{:x}\r\n{create}\r\n", create.len());
    let rows = [
        ("Content-Length: 5\r\nContent-Length: 6\r\n\r\n".to_owned() + create, 400),
        ("Content-Length: -1\r\n\r\n".to_owned() + create, 400),
        ("Content-Length: 1e3\r\n\r\n".to_owned() + create, 400),
        ("Content-Length: 99999999999999999999999\r\n\r\n".to_owned() + create, 400),
        ("Transfer-Encoding: gzip\r\n\r\n".to_owned() + create, 400),
        (format!("Transfer-Encoding: chunked\r\n\r\nzz\r\n{create}\r\n0\r\n\r\n"), 400),
        (format!("Transfer-Encoding: chunked\r\n\r\n{chunk}-1\r\n\r\n"), 400),
        ("Content-Length: 10\r\n\r\n".to_owned() + create, 400),
    ];
    for (rest, expected) in rows {
        let answer = site.send((head(&site) + &rest).as_bytes());
        assert_eq!(answer.status, expected, "{rest}");
    }
    assert_eq!(site.handle().view(State::live_count), 0);
    let answer =
        site.send((head(&site) + &format!("Transfer-Encoding: chunked\r\n\r\n{chunk}0\r\n\r\n")).as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// A body in chunks has no announced length: it is counted as it comes.
#[test]
fn chunks_are_counted() {
    let site = Site::start();
    let chunk = format!("10000\r\n{}\r\n", "a".repeat(65_536));
    let request = format!("{}Transfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n", head(&site), chunk.repeat(5));
    let answer = site.send(request.as_bytes());
    assert_eq!(answer.status, 413, "{answer:?}");
}

/// A client that announces more than is ever read gets its answer before it has sent anything.
#[test]
fn a_body_that_is_announced_too_long_is_refused_at_once() {
    let site = Site::start();
    let mut stream = site.connect();
    let request = format!("{}Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n", head(&site));
    stream.write_all(request.as_bytes()).expect("it reads");
    assert_eq!(Answer::read(&mut stream).status, 413);
}

/// HEAD and GET change nothing, whatever they carry.
#[test]
fn reading_changes_nothing() {
    let site = Site::start();
    site.open("main");
    let create = r#"{:action "scheduler" :op "create" :kind "message" :message "m" :delay-ms 60000}"#;
    for method in ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "BREW"] {
        let headers =
            ["Content-Type: application/edn", "Reveille-Session: main", "X-HTTP-Method-Override: POST"];
        let answer = site.ask(&format!("{method} /tools/psi-tool"), OPERATOR, &headers, create);
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.header("allow"), Some("post"), "{method}");
    }
    assert_eq!(site.handle().view(State::live_count), 0);
}

fn head(site: &Site) -> String {
    format!(
        "POST /tools/psi-tool HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {OPERATOR}\r\n\
         Reveille-Session: main\r\nContent-Type: application/edn\r\nConnection: close\r\n",
        site.port()
    )
}
