//! The client: wrk with one thread and 32 connections. Successive requests use different sessions,
//! if there are tokens for it.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::process::{Command, Stdio};

/// A request and its server.
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) path: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) body: String,
    /// The tokens, used in turn.
    pub(crate) tokens: Vec<String>,
}

/// The figures that wrk reported.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) per_second: f64,
    pub(crate) p99_ms: f64,
}

const CONNECTIONS: u32 = 32;
/// The number of prepared requests. It is equal for all competitors, so that the client's own work
/// is, too.
const REQUESTS: usize = 200;

pub(crate) fn is_there() -> bool {
    // wrk exits with an error after printing its version: that it starts is enough.
    Command::new("wrk").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Runs wrk for this many seconds, after one second of warm-up.
pub(crate) fn run(target: &Target, seconds: u32) -> Load {
    let script = std::env::temp_dir().join(format!("reveille-wire-{}.lua", std::process::id()));
    std::fs::write(&script, lua(target)).expect("the script can be written");
    let ask = |seconds: u32| {
        let output = Command::new("wrk")
            .args(["-t1", "--latency", "-c", &CONNECTIONS.to_string(), "-d", &seconds.to_string(), "-s"])
            .arg(&script)
            .arg(format!("http://{}{}", target.address, target.path))
            .output();
        String::from_utf8_lossy(&output.expect("wrk runs").stdout).into_owned()
    };
    // Warms up connections and caches.
    ask(1);
    let said = ask(seconds);
    let _ = std::fs::remove_file(&script);
    // Errors are fast, and would look like a good result.
    assert!(!said.contains("Non-2xx") && !said.contains("Socket errors"), "{}: {said}", target.path);
    let word = |label: &str| said.lines().find_map(|line| line.trim().strip_prefix(label)).map(str::trim);
    let per_second = word("Requests/sec:").and_then(|number| number.parse().ok());
    let p99_ms = word("99%").and_then(millis);
    match (per_second, p99_ms) {
        (Some(per_second), Some(p99_ms)) => Load { per_second, p99_ms },
        _ => unreachable!("wrk speaks otherwise: {said}"),
    }
}

fn lua(target: &Target) -> String {
    let Target { path, content_type, body, tokens, .. } = target;
    let mut script = String::from("local requests = {}\n");
    for number in 0..REQUESTS {
        let token = &tokens[number % tokens.len()];
        let _ = writeln!(
            script,
            "requests[{}] = wrk.format('POST', '{path}', {{ ['Host'] = '{}', ['Content-Type'] = '{content_type}', \
             ['Authorization'] = 'Bearer {token}' }}, [==[{body}]==])",
            number + 1,
            target.address
        );
    }
    script + "local at = 0\nrequest = function() at = at % #requests + 1 return requests[at] end\n"
}

/// Parses `1.23ms`, `800.00us` or `2.00s` as milliseconds.
fn millis(text: &str) -> Option<f64> {
    for (unit, factor) in [("us", 0.001), ("ms", 1.0), ("s", 1_000.0)] {
        if let Some(number) = text.strip_suffix(unit) {
            return number.parse::<f64>().ok().map(|number| number * factor);
        }
    }
    None
}
