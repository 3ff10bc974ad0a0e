//! The Model Context Protocol over HTTP: the conversations of `fixtures/mcp/protocol.txt`, the statuses, and what headers say.

use reveille::surface::mcp::ProxiedMessage;

use super::client::{Answer, OBSERVER, OPERATOR, Site};
use crate::mcp::script;

const JSON: &str = "Content-Type: application/json";
const ACCEPT: &str = "Accept: application/json, text/event-stream";
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const STATELESS: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{},"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#
);
const REVISION: &str = "MCP-Protocol-Version: 2026-07-28";

/// What no parser may see is refused before it is looked at as a message, and to an agent it is unreadable JSON all the same.
#[test]
fn what_cannot_be_read_is_told_as_such_in_front_of_a_daemon() {
    let site = Site::start();
    let deep = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"x\":{}1{}}}", "[".repeat(70), "]".repeat(70));
    for line in [deep.as_bytes(), b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", b"{\"jsonrpc\":"] {
        let mut request = format!("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", site.port());
        request +=
            &format!("Connection: close\r\nAuthorization: Bearer {OPERATOR}\r\n{JSON}\r\n{ACCEPT}\r\n");
        request += &format!("Content-Length: {}\r\n\r\n", line.len());
        let refused = site.send(&[request.as_bytes(), line].concat());
        assert_eq!(refused.status, 400, "{refused:?}");
        let told = ProxiedMessage::of(line).answer(&refused.body, || "refused".to_owned()).expect("an error");
        assert!(told.contains("\"code\":-32700") && !told.contains('\n'), "{told}");
    }
}

#[test]
fn the_protocol_is_spoken_over_http_as_on_stdio() {
    let faults = script::play(include_str!("../../../fixtures/mcp/protocol.txt"), || {
        let site = Site::start();
        let (main, other) = (site.open("main"), site.open("other"));
        move |name: &str, line: &str| {
            let token = match name {
                "operator" => OPERATOR,
                "observer" => OBSERVER,
                "main" => main.reveal(),
                _ => other.reveal(),
            };
            // What a client puts into headers, as the command does that stands in front of a daemon.
            let said = ProxiedMessage::of(line.as_bytes()).headers;
            let said: Vec<String> = said.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            let mut headers = vec![JSON, ACCEPT];
            headers.extend(said.iter().map(String::as_str));
            let answer = site.ask("POST /mcp", token, &headers, line);
            assert_eq!(answer.status == 202, answer.body.is_empty(), "{line}: {answer:?}");
            (!answer.body.is_empty()).then_some(answer.body)
        }
    });
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

fn post(site: &Site, headers: &[&str], body: &str) -> Answer {
    site.ask("POST /mcp", OPERATOR, &[&[JSON, ACCEPT], headers].concat(), body)
}

#[test]
fn statuses_are_those_of_the_protocol() {
    let site = Site::start();
    let (method, name) = ("Mcp-Method: tools/call", "Mcp-Name: list");
    let unknown = STATELESS.replace("tools/call", "prompts/list");
    let shaken = STATELESS.replace("tools/call", "initialize");
    let old = STATELESS.replace("2026-07-28", "2020-01-01");
    let rows: &[(&[&str], &str, u16, &str)] = &[
        (&[], LIST, 200, "\"tools\""),
        (&["MCP-Protocol-Version: 2025-06-18"], LIST, 200, "\"tools\""),
        (&["Mcp-Session-Id: made-up"], LIST, 200, "\"tools\""),
        (&["MCP-Protocol-Version: 1900-01-01"], LIST, 400, "-32022"),
        (&["MCP-Protocol-Version: 2025-06-18", "MCP-Protocol-Version: 2025-06-18"], LIST, 400, "-32020"),
        (&[REVISION], LIST, 400, "-32602"),
        (&[REVISION, method, name], STATELESS, 200, "\"resultType\":\"complete\""),
        (&[REVISION, method, "Mcp-Name: =?base64?bGlzdA==?="], STATELESS, 200, "\"resultType\""),
        (&[method, name], STATELESS, 400, "-32020"),
        (&["MCP-Protocol-Version: 2025-11-25", method, name], STATELESS, 400, "-32020"),
        (&[REVISION, name], STATELESS, 400, "-32020"),
        (&[REVISION, method], STATELESS, 400, "-32020"),
        (&[REVISION, "Mcp-Method: tools/list", name], STATELESS, 400, "-32020"),
        (&[REVISION, method, "Mcp-Name: create"], STATELESS, 400, "-32020"),
        (&[REVISION, method, name, "Mcp-Name: list"], STATELESS, 400, "-32020"),
        (&[REVISION, "Mcp-Method: prompts/list"], &unknown, 404, "-32601"),
        (&[REVISION, "Mcp-Method: initialize"], &shaken, 404, "-32601"),
        (&["MCP-Protocol-Version: 2020-01-01", method, name], &old, 400, "-32022"),
        (&[], "{", 400, "-32700"),
        (&[], "[]", 400, "-32600"),
        (&[], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 202, ""),
        (&[], r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#, 200, "-32601"),
    ];
    for (headers, body, status, says) in rows {
        let answer = post(&site, headers, body);
        assert_eq!(answer.status, *status, "{headers:?} {body}: {answer:?}");
        assert!(answer.body.contains(says), "{headers:?} {body}: {answer:?}");
        assert!(answer.header("mcp-session-id").is_none(), "there are no sessions: {answer:?}");
        assert!(answer.body.is_empty() || answer.header("content-type") == Some("application/json"));
    }
}

/// The walls of every route stand before this one, and it has one method.
#[test]
fn the_walls_stand_around_it() {
    let site = Site::start();
    let port = site.port();
    let send = |method: &str, host: &str, more: &str| {
        let length = LIST.len();
        site.send(
            format!(
                "{method} /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}{JSON}\r\n\
                 Content-Length: {length}\r\n\r\n{LIST}"
            )
            .as_bytes(),
        )
    };
    let (own, token) = (format!("127.0.0.1:{port}"), format!("Authorization: Bearer {OPERATOR}\r\n"));
    assert_eq!(send("POST", &own, &token).status, 200);
    assert_eq!(send("POST", &own, "").status, 401);
    assert_eq!(send("POST", &own, "Authorization: Bearer wrong\r\n").status, 401);
    assert_eq!(send("POST", &own, "Mcp-Session-Id: 1\r\n").status, 401);
    assert_eq!(send("POST", "evil.example", &token).status, 421);
    assert_eq!(send("POST", &format!("127.0.0.1.nip.io:{port}"), &token).status, 421);
    let origin = |origin: &str| format!("{token}Origin: {origin}\r\n");
    assert_eq!(send("POST", &own, &origin("http://evil.example")).status, 403);
    assert_eq!(send("POST", &own, &origin("null")).status, 403);
    assert_eq!(send("POST", &own, &origin(&format!("http://{own}"))).status, 200);
    for method in ["GET", "DELETE", "PUT"] {
        let answer = send(method, &own, &token);
        assert_eq!((answer.status, answer.header("allow")), (405, Some("post")), "{method}: {answer:?}");
    }
}

#[test]
fn bodies_are_bounded_and_of_one_kind() {
    let site = Site::start();
    let ask = |headers: &[&str], body: &str| site.ask("POST /mcp", OPERATOR, headers, body).status;
    assert_eq!(ask(&["Content-Type: application/edn"], LIST), 415);
    assert_eq!(ask(&["Content-Type: text/plain"], LIST), 415);
    assert_eq!(ask(&[], LIST), 415);
    assert_eq!(ask(&[JSON], &format!("{LIST}{}", " ".repeat(262_144))), 413);
    assert_eq!(ask(&[JSON], &"[".repeat(1_000)), 400);
    // No Accept at all is as good as one that takes JSON.
    assert_eq!(ask(&[JSON], LIST), 200);
}

#[test]
fn the_address_says_whose_tools_are_offered() {
    let site = Site::start();
    let ask = |query: &str| site.ask(&format!("POST /mcp{query}"), OPERATOR, &[JSON, ACCEPT], LIST);
    assert!(ask("?tools=claude-cron").body.contains("CronCreate"));
    assert!(!ask("?tools=claude-cron").body.contains("\"explain\""));
    // There is no store, so a tool whose jobs are durable would only refuse.
    assert!(!ask("?tools=cron").body.contains("cron_create"));
    assert!(ask("?tools=native,psi").body.contains("psi-tool"));
    assert!(!ask("").body.contains("psi-tool"));
    assert!(ask("?tools=native%2Cpsi").body.contains("psi-tool"));
    for query in ["?tools=", "?tools=none", "?other=1", "?tools=native&x=1"] {
        assert_eq!(ask(query).status, 400, "{query}");
    }
}
