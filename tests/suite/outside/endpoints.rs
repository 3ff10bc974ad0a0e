//! T46: where a post may go. Nobody takes connections here; what counts is to where one is tried.

use std::net::{IpAddr, SocketAddr};

use reveille::adapter::outbound::{Client, Endpoint, EndpointFault, MessageId, Post, PostFault, Trust};
use reveille::domain::Moment;

use super::receiver::{Act, Log, Receiver, Script};
use super::{block_on, rows};

fn post<'a>(endpoint: &'a Endpoint, id: &'a MessageId) -> Post<'a> {
    let at = Moment::new(1_000, 0).expect("in range");
    Post { endpoint, id, at, keys: &[], media_type: "application/json", body: b"{}", answer_bytes_max: 0 }
}

fn word_of_url(fault: EndpointFault) -> &'static str {
    match fault {
        EndpointFault::TooLong => "url:too-long",
        EndpointFault::Scheme => "url:scheme",
        EndpointFault::Character => "url:character",
        EndpointFault::UserInfo => "url:user-info",
        EndpointFault::Host => "url:host",
        EndpointFault::Address => "url:address",
        EndpointFault::Port => "url:port",
        EndpointFault::Fragment => "url:fragment",
    }
}

fn word(fault: &PostFault) -> String {
    match fault {
        PostFault::NotListed { .. } => "not-listed".to_owned(),
        PostFault::InTheClear { .. } => "in-the-clear".to_owned(),
        PostFault::Forbidden { why, .. } => format!("forbidden:{why}"),
        PostFault::Unresolved { .. } => "unresolved".to_owned(),
        PostFault::Unreachable { .. } => "goes".to_owned(),
        PostFault::TooLong { .. }
        | PostFault::Tls { .. }
        | PostFault::TimedOut { .. }
        | PostFault::Broken { .. }
        | PostFault::AnswerTooLong { .. } => format!("{fault:?}"),
    }
}

/// What becomes of a row, and to where a connection was tried.
fn outcome(row: &[String]) -> (String, Vec<SocketAddr>) {
    let column = |i: usize| row.get(i).map_or("", String::as_str);
    let (url, flags) = (column(0), column(3));
    let endpoint = match Endpoint::parse(url) {
        Ok(endpoint) => endpoint,
        Err(fault) => return (word_of_url(fault).to_owned(), Vec::new()),
    };
    let addresses: Vec<IpAddr> =
        column(1).split_whitespace().map(|text| text.parse().expect("an address")).collect();
    let network = Script::new(&[&addresses], None);
    let mut client = Client::new(network.clone(), Trust::none()).expect("a client");
    if let Some(only) = flags.strip_prefix("only=") {
        client = client.allowing(&Endpoint::parse(only).expect("a URL"));
    } else if flags != "unlisted" {
        client = client.allowing(&endpoint);
    }
    if flags == "loopback" {
        client = client.with_loopback();
    }
    let id = MessageId::of("one").expect("an id");
    let fault = block_on(client.post(post(&endpoint, &id))).expect_err("nobody takes connections");
    let told = fault.to_string();
    assert!(!told.contains("computeMetadata") && !told.contains("meta-data"), "no path is told: {told}");
    (word(&fault), network.log().connected)
}

#[test]
fn a_post_goes_where_the_table_lets_it_and_nowhere_else() {
    let rows = rows("endpoints.txt");
    assert!(rows.len() >= 120, "{} rows", rows.len());
    for (line, row) in rows {
        let (word, connected) = outcome(&row);
        assert_eq!(word, row[2], "line {line}: {row:?}");
        let tried: Vec<String> = connected.iter().map(|address| address.ip().to_string()).collect();
        let expected: Vec<String> = if row[2] == "goes" {
            let named =
                row[1].split_whitespace().map(|text| text.parse::<IpAddr>().expect("an address").to_string());
            let named: Vec<_> = named.collect();
            if named.is_empty() { tried.clone() } else { named }
        } else {
            Vec::new()
        };
        assert_eq!(tried, expected, "line {line}: {row:?}");
        assert_eq!(connected.is_empty(), row[2] != "goes", "line {line}: {row:?}");
    }
}

/// The name is asked once for each post, and the connection goes to what was checked: an answer that changes between the two
/// meets nobody.
#[test]
fn an_answer_that_changes_after_the_check_is_not_asked_for() {
    let (public, own): (IpAddr, IpAddr) =
        ("93.184.216.34".parse().expect("an address"), [127, 0, 0, 1].into());
    let receiver = Receiver::playing_over_tls(&[Act::Say("HTTP/1.1 204 No Content\r\n\r\n")]);
    let network = Script::new(&[&[public], &[own]], Some(receiver.address));
    let endpoint = Endpoint::parse("https://hooks.example.com/in").expect("a URL");
    let mut trust = Trust::none();
    trust
        .add(&std::fs::read(super::fixture("tls/authority.pem")).expect("the file is there"))
        .expect("an authority");
    let client = Client::new(network.clone(), trust).expect("a client").allowing(&endpoint);
    let id = MessageId::of("one").expect("an id");
    let first = block_on(client.post(post(&endpoint, &id)));
    assert_eq!(first.expect("an answer").status, 204);
    let connected = vec![SocketAddr::new(public, 443)];
    let once = Log { resolved: vec!["hooks.example.com".to_owned()], connected: connected.clone() };
    assert_eq!(network.log(), once);
    // The next post asks again, and is refused.
    let second = block_on(client.post(post(&endpoint, &id))).expect_err("the address is out of bounds");
    assert_eq!(word(&second), "forbidden:loopback");
    assert_eq!(network.log().connected, connected, "no other connection");
    assert_eq!(receiver.received().len(), 1);
}

#[test]
fn an_endpoint_is_told_without_its_path() {
    for (url, told) in [
        ("https://Hooks.example.com/T0/B0/secret?key=secret", "https://hooks.example.com"),
        ("https://hooks.example.com:8443/secret", "https://hooks.example.com:8443"),
        ("http://[::1]:80/secret", "http://[::1]"),
    ] {
        let endpoint = Endpoint::parse(url).expect("a URL");
        assert_eq!((endpoint.to_string(), format!("{endpoint:?}")), (told.to_owned(), told.to_owned()));
    }
    let long = format!("https://hooks.example.com/{}", "x".repeat(2_048));
    assert_eq!(Endpoint::parse(&long), Err(EndpointFault::TooLong));
}
