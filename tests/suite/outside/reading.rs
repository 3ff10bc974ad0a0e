//! What the built-in tools of the web connect to, over a network whose answers a test gives: names that resolve to addresses
//! that are nobody's business, and redirects that lead there.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use reveille::adapter::outbound::{Client, Endpoint, HttpReach, HttpTools, ToolTasks, Trust};
use reveille::domain::{CallPurpose, CallVia, Caller, Outcome, SessionId, Span, ToolName};
use reveille::edn::Map;
use reveille::engine::Invocation;
use reveille::port::{Executor, Returned};

use super::receiver::{Act, Receiver, Script};

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

/// What `http.get` of a URL comes to, where every public address may be read, and this endpoint by name.
fn get(network: &Arc<Script>, url: &str) -> Outcome {
    get_since(network, Map::new().with("url", url), None)
}

/// The same as a check of a watch, whose last one came to this.
fn get_since(network: &Arc<Script>, args: Map, last: Option<Outcome>) -> Outcome {
    let origins = vec![Endpoint::parse("http://127.0.0.1:1").expect("a URL")];
    let tasks = ToolTasks::start().expect("a thread");
    let client = Client::new(network.clone(), Trust::none()).expect("a client");
    let tools = HttpTools::new(tasks, client, &HttpReach { is_public: true, origins });
    let session = SessionId::new("s").expect("an id");
    let invocation = Invocation {
        id: "call".into(),
        session: session.clone(),
        tool: ToolName::new("http.get").expect("a name"),
        args: Arc::new(args.into()),
        via: CallVia::Any,
        timeout: Span::from_millis(20_000),
        attempt: 1,
        caller: Caller::session(session).actor(),
        is_operators: false,
        purpose: CallPurpose::Parallel,
        last: last.map(Arc::new),
    };
    let (give, take) = sync_channel(1);
    tools.call(invocation, Returned::new(move |outcome| drop(give.send(outcome))));
    take.recv().expect("it has an end")
}

/// T16: a name may lead anywhere. What it leads to is looked at before anything is connected to, each of its addresses.
#[test]
fn a_name_that_leads_to_a_forbidden_address_is_not_connected_to() {
    for (resolves, why) in [
        (&["169.254.169.254"][..], "link-local"),
        (&["fe80::1"], "link-local"),
        (&["10.1.2.3"], "private"),
        (&["192.168.0.1"], "private"),
        (&["fd00::1"], "private"),
        (&["::ffff:10.0.0.1"], "private"),
        (&["93.184.216.34", "169.254.169.254"], "link-local"),
        (&["10.0.0.1", "93.184.216.34"], "private"),
    ] {
        let addresses: Vec<IpAddr> = resolves.iter().map(|text| address(text)).collect();
        let network = Script::new(&[&addresses], None);
        let outcome = get(&network, "https://metadata.example.com/latest/meta-data");
        let error = outcome.error.as_deref().unwrap_or_default();
        assert!(!outcome.ok && error.contains(why), "{resolves:?}: {outcome:?}");
        assert_eq!(network.log().resolved, ["metadata.example.com"], "{resolves:?}");
        assert_eq!(network.log().connected, Vec::<SocketAddr>::new(), "{resolves:?}");
    }
}

/// T16: a name that leads somewhere else each time it is asked is asked once, and only what was looked at is connected to.
#[test]
fn a_name_that_changes_its_mind_meets_nobody() {
    let (public, own) = (address("93.184.216.34"), address("169.254.169.254"));
    let network = Script::new(&[&[public], &[own]], None);
    let first = get(&network, "https://two-faced.example.com/");
    assert!(!first.ok, "nobody takes connections: {first:?}");
    let second = get(&network, "https://two-faced.example.com/");
    assert!(second.error.as_deref().is_some_and(|error| error.contains("link-local")), "{second:?}");
    assert_eq!(network.log().connected, [SocketAddr::new(public, 443)]);
}

/// T16: a redirect is an answer like any other. Where it leads is said, and not followed, whatever is there.
#[test]
fn a_redirect_is_not_followed_to_where_nobody_may_go() {
    for place in [
        "http://169.254.169.254/latest/meta-data",
        "https://10.0.0.1/",
        "https://metadata.example.com/",
        "http://[fe80::1]/",
    ] {
        let answer: &'static str =
            format!("HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n").leak();
        let receiver = Receiver::playing(&[Act::Say(answer)]);
        let network =
            Script::new(&[&[address("127.0.0.1")], &[address("169.254.169.254")]], Some(receiver.address));
        let outcome = get(&network, "http://127.0.0.1:1/moved");
        let value = outcome.value.clone().map(|value| value.to_string()).unwrap_or_default();
        assert!(outcome.ok && value.contains(":status_code 302") && value.contains(place), "{outcome:?}");
        assert_eq!(network.log().connected.len(), 1, "{place}: {:?}", network.log());
        assert_eq!(receiver.received().len(), 1);
    }
}

/// T50: a check asks whether anything has changed, by the mark that the endpoint gave with its last answer.
#[test]
fn a_check_asks_whether_anything_has_changed_since_the_last_one() {
    const FIRST: &str = "HTTP/1.1 200 OK\r\nETag: \"v7\"\r\nContent-Length: 2\r\n\r\nok";
    const DATED: &str =
        "HTTP/1.1 200 OK\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Length: 2\r\n\r\nok";
    const BROKEN: &str = "HTTP/1.1 500 Oh\r\nETag: \"e\"\r\nContent-Length: 0\r\n\r\n";
    const SAME: &str = "HTTP/1.1 304 Not Modified\r\nETag: \"v7\"\r\n\r\n";
    let of = |url: &str| Map::new().with("url", url);
    let own = of("http://127.0.0.1:1/x").with("headers", Map::new().with("if-none-match", "\"mine\""));
    for (first, args, header, sent) in [
        (FIRST, of("http://127.0.0.1:1/x"), "if-none-match", Some("\"v7\"")),
        (DATED, of("http://127.0.0.1:1/x"), "if-modified-since", Some("Thu, 01 Jan 2026 00:00:00 GMT")),
        (BROKEN, of("http://127.0.0.1:1/x"), "if-none-match", None),
        // What the caller asks by stays.
        (FIRST, own, "if-none-match", Some("\"mine\"")),
    ] {
        let receiver = Receiver::playing(&[Act::Say(first), Act::Say(SAME)]);
        let here = [address("127.0.0.1")];
        let network = Script::new(&[&here, &here], Some(receiver.address));
        let last = get(&network, "http://127.0.0.1:1/x");
        let outcome = get_since(&network, args, Some(last));
        assert_eq!(receiver.received()[1].header(header), sent, "{first}");
        let value = outcome.value.clone().map(|value| value.to_string()).unwrap_or_default();
        assert!(outcome.ok && value.contains(":not_modified true"), "{outcome:?}");
    }
}
