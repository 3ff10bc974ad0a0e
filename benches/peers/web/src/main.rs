//! Measures GraphQL servers with a hundred finished rows of four fields: juniper, async-graphql's
//! static types, hand-written JSON as the limit, and mercurius in a process of its own.
//!
//! `peer-web list juniper|async-graphql|hand [--quick]` measures in process, text to text;
//! `peer-web http juniper [--quick]` and `peer-web http mercurius PROGRAM [--quick]` measure over
//! HTTP with wrk, as our own benchmark does (`benches/wire`). Each prints lines of a name and a
//! number.

use std::process::ExitCode;

mod in_process;
mod juniper_server;
mod node_server;
mod rows;
#[path = "../../../wire/wrk.rs"]
#[expect(dead_code, reason = "the program that runs this one has looked whether wrk is there")]
mod wrk;

/// The query for every server.
const QUERY: &str = "{ schedules { scheduleId kind status fireAt } }";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let words: Vec<&str> = arguments.iter().map(String::as_str).filter(|word| *word != "--quick").collect();
    let seconds = if is_quick { 1 } else { 5 };
    match words.as_slice() {
        ["list", peer] => {
            let Some(micros) = in_process::measure(peer, is_quick) else { return ExitCode::FAILURE };
            println!("list-graphql {micros}");
        }
        ["http", "juniper"] => tell(juniper_server::Server::start().ask(seconds)),
        ["http", "mercurius", program] => tell(node_server::Server::start(program).ask(seconds)),
        _ => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

fn tell(load: wrk::Load) {
    println!("http-graphql {}\nhttp-p99 {}", load.per_second, load.p99_ms);
}

/// The request to a server: equal bytes for all, including a token that none of them reads.
fn target(address: std::net::SocketAddr) -> wrk::Target {
    let body = serde_json::json!({ "query": QUERY }).to_string();
    let tokens = vec!["0".repeat(64)];
    wrk::Target { address, path: "/graphql", content_type: "application/json", body, tokens }
}
