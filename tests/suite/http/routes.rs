//! What the routes answer.

use reveille::edn::{Caps, Value, read};
use reveille::surface::http::ErrorCode;

use super::client::{Answer, OBSERVER, OPERATOR, Site};

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 64, digits_max: 100, forms_max: 100_000 };

fn get(site: &Site, path: &str, token: &str, headers: &[&str]) -> Answer {
    site.ask(&format!("GET {path}"), token, headers, "")
}

#[test]
fn a_tool_is_described_in_either_notation() {
    let site = Site::start();
    let json = get(&site, "/tools", OPERATOR, &[]);
    assert_eq!(json.header("content-type"), Some("application/json"));
    let json: serde_json::Value = serde_json::from_str(&json.body).expect("JSON");
    let tool = &json["tools"][0];
    assert_eq!((tool["name"].as_str(), tool["dialect"].as_str()), (Some("psi-tool"), Some("psi")));
    assert!(tool["description"].as_str().is_some_and(|text| text.len() > 100 && !text.contains('\n')));
    assert_eq!(tool["input-schema"]["properties"]["delay-ms"]["minimum"], 1_000);
    let edn = get(&site, "/tools", OBSERVER, &["Accept: application/edn"]);
    assert_eq!(edn.header("content-type"), Some("application/edn"));
    let edn = read(edn.body.as_bytes(), &CAPS).expect("EDN");
    let tools = edn.as_map().and_then(|map| map.keyword("tools")).and_then(Value::as_items).expect("tools");
    assert_eq!(
        tools[0].as_map().and_then(|tool| tool.keyword("name")).and_then(Value::as_str),
        Some("psi-tool")
    );
}

#[test]
fn a_client_that_has_said_all_is_answered() {
    let site = Site::start();
    let mut stream = site.connect();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", site.port());
    std::io::Write::write_all(&mut stream, request.as_bytes()).expect("it is open");
    stream.shutdown(std::net::Shutdown::Write).expect("it is open");
    assert_eq!(Answer::read(&mut stream).status, 200);
    assert_eq!(super::client::read_to_end(&mut stream), b"");
}

#[test]
fn every_error_is_data_in_the_notation_that_was_asked_for() {
    let site = Site::start();
    let rows = [
        ("GET /no-such-route", OPERATOR, 404),
        ("GET /tools/psi-tool", OPERATOR, 405),
        ("POST /tools/no-such-tool", OPERATOR, 404),
        ("POST /tools/%ff", OPERATOR, 404),
        ("POST /tools/psi-tool/x", OPERATOR, 404),
        ("GET /stream", OPERATOR, 426),
        ("GET /tools", "wrong", 401),
    ];
    for (request, token, status) in rows {
        let json = site.ask(request, token, &["Content-Type: application/json"], "{}");
        assert_eq!(json.status, status, "{request}: {json:?}");
        let value: serde_json::Value = serde_json::from_str(&json.body).expect("JSON");
        let code = value["error"]["code"].as_str().expect("a code");
        assert!(ErrorCode::parse(code).is_some(), "{code}");
        assert!(value["error"]["hint"].is_string() && value["error"]["message"].is_string());
        let headers = ["Content-Type: application/json", "Accept: application/edn"];
        let edn = site.ask(request, token, &headers, "{}");
        let value = read(edn.body.as_bytes(), &CAPS).expect("EDN");
        let error =
            value.as_map().and_then(|map| map.keyword("error")).and_then(Value::as_map).expect("an error");
        assert_eq!(error.keyword("code").and_then(Value::as_str), Some(code), "{request}");
    }
}

#[test]
fn figures_are_for_operators_and_move() {
    let site = Site::start();
    let token = site.open("main");
    assert_eq!(get(&site, "/metrics", token.reveal(), &[]).status, 404);
    let create = r#"{:action "scheduler" :op "create" :kind "message" :message "m" :delay-ms 60000}"#;
    assert_eq!(site.call(token.reveal(), &[], create).status, 200);
    let figures = get(&site, "/metrics", OBSERVER, &[]);
    assert_eq!(figures.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    for line in [
        "reveille_sessions 1",
        "reveille_pending 1",
        "reveille_creates_total 1",
        "reveille_lateness_seconds_bucket{le=\"+Inf\"} 0",
        "reveille_failures_total{reason=\"receipt-overdue\"} 0",
        "reveille_refusals_total{code=\"LIMIT\"} 0",
        "reveille_http_requests_total{route=\"/tools/{name}\",status=\"200\"} 1",
        "reveille_http_requests_total{route=\"/metrics\",status=\"404\"} 1",
        "reveille_connections 1",
        "reveille_approvals 0",
        "reveille_left 0",
        "reveille_held 0",
        "reveille_longest_wait_seconds 0.0",
        "reveille_schedules{dialect=\"psi\"} 1",
        "reveille_schedules{dialect=\"cron\"} 0",
        // The older format names a counter like its samples.
        "# TYPE reveille_creates_total counter",
    ] {
        assert!(figures.body.lines().any(|found| found == line), "{line} is not in {}", figures.body);
    }
    let open = get(&site, "/metrics", OPERATOR, &["Accept: application/openmetrics-text;version=1.0.0"]);
    assert!(open.header("content-type").is_some_and(|kind| kind.starts_with("application/openmetrics-text")));
    for line in ["# TYPE reveille_creates counter", "# EOF"] {
        assert!(open.body.lines().any(|found| found == line), "{line} is not in {}", open.body);
    }
}

/// An alert on a figure that does not exist would never fire.
#[test]
fn alert_rules_and_dashboard_are_about_figures_that_exist() {
    let site = Site::start();
    // A route is counted once it was asked for.
    get(&site, "/metrics", OBSERVER, &[]);
    let figures = get(&site, "/metrics", OBSERVER, &[]).body;
    let alerts = include_str!("../../../docs/operations/alerts.yml");
    let grafana = include_str!("../../../docs/operations/grafana.json");
    let panels: serde_json::Value = serde_json::from_str(grafana).expect("Grafana imports JSON");
    assert!(panels["panels"].as_array().is_some_and(|panels| panels.len() >= 10), "{panels}");
    let rules = [alerts, grafana].concat();
    let is_part = |character: char| character.is_ascii_lowercase() || character == '_';
    let named = rules
        .match_indices("reveille_")
        .map(|(at, _)| rules[at..].split(|c| !is_part(c)).next().unwrap_or_default());
    let named: std::collections::BTreeSet<&str> = named.collect();
    assert!(named.len() >= 8, "{named:?}");
    for name in named {
        let has = |line: &str| line.split(['{', ' ']).next() == Some(name);
        // Of channels there are samples only where there are channels.
        let is_declared =
            |line: &str| line.strip_prefix("# TYPE ").and_then(|rest| rest.split(' ').next()) == Some(name);
        let is_of_channel = name.starts_with("reveille_channel_");
        let is_there = |line: &str| has(line) || is_of_channel && is_declared(line);
        assert!(figures.lines().any(is_there), "{name} is not in {figures}");
    }
}

#[test]
fn a_server_that_stops_is_not_ready_and_takes_no_connection() {
    let mut site = Site::start();
    let mut stream = site.connect();
    let request = format!(
        "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {OPERATOR}\r\n\r\n",
        site.port()
    );
    let ask = |stream: &mut std::net::TcpStream| {
        std::io::Write::write_all(stream, request.as_bytes()).expect("it is open");
        Answer::read(stream).status
    };
    assert_eq!(ask(&mut stream), 200);
    site.server.stop();
    assert!(std::net::TcpStream::connect(site.server.address()).is_err(), "nobody listens");
    assert_eq!(super::client::read_to_end(&mut stream), b"", "an idle connection is closed");
}

/// What helps against a query that is too large helps against no other.
#[test]
fn a_query_that_is_refused_says_what_to_do_about_it() {
    let site = Site::start();
    let mutation = "[{:psi.agent-session/sessions [(psi.scheduler/cancel {:schedule-id \"x\"})]}]";
    let ahead = "{:pathom/eql [:psi.scheduler/pending-count] :reveille/as-of \"2999-01-01T00:00:00Z\"}";
    for (query, hint) in
        [(mutation, "put the mutation at the top"), (ahead, "ask as of an instant that has passed")]
    {
        let answer = site.ask("POST /eql", OPERATOR, &["Content-Type: application/edn"], query);
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.body.contains(hint) && !answer.body.contains("page with"), "{answer:?}");
    }
}
