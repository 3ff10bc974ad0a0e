//! Describes the machine and the versions that the figures belong to.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use crate::program::Workshop;

/// The system's load averages over one, five and fifteen minutes.
pub(crate) fn load() -> String {
    let said = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let three: Vec<&str> = said.split(' ').take(3).collect();
    if three.is_empty() { "unknown".to_owned() } else { three.join(" ") }
}

pub(crate) fn describe(workshop: &Workshop, load_before: &str) -> String {
    let mut out = String::from("## The machine\n\n");
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    let _ = writeln!(out, "- {cpus} processors: {}", field("/proc/cpuinfo", "model name"));
    let _ = writeln!(out, "- memory: {}", field("/proc/meminfo", "MemTotal"));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let _ = writeln!(out, "- Linux {}", kernel.trim());
    let _ = writeln!(out, "- load before: {load_before}; after: {}", load());
    let _ = writeln!(out, "- {}", said("rustc", &["--version"]));
    let _ = writeln!(out, "\n## The versions\n");
    let ours = workshop.product();
    let _ = writeln!(
        out,
        "- Reveille at commit {}",
        said("git", &["-C", &ours, "describe", "--always", "--dirty"])
    );
    for (path, crates) in [
        (format!("{ours}/Cargo.lock"), &["tokio", "tokio-util", "async-graphql", "rusqlite"][..]),
        (format!("{ours}/benches/peers/Cargo.lock"), &RUST[..]),
    ] {
        let lock = fs::read_to_string(path).unwrap_or_default();
        let versions = crates.iter().map(|name| format!("{name} {}", locked(&lock, name)));
        let _ = writeln!(out, "- {}", versions.collect::<Vec<_>>().join(", "));
    }
    let node = fs::read_to_string(format!("{ours}/benches/peers/node/package.json")).unwrap_or_default();
    let node: serde_json::Value = serde_json::from_str(&node).unwrap_or_default();
    let packages = node["dependencies"].as_object().into_iter().flatten();
    let packages: Vec<String> =
        packages.map(|(name, version)| format!("{name} {}", version.as_str().unwrap_or_default())).collect();
    let _ = writeln!(out, "- Node {}: {}", said("node", &["--version"]), packages.join(", "));
    let _ = writeln!(out, "- {}", said("redis-server", &["--version"]));
    let python =
        fs::read_to_string(format!("{ours}/benches/peers/python/requirements.txt")).unwrap_or_default();
    let python: Vec<String> = python.lines().map(|line| line.replace("==", " ")).collect();
    let _ = writeln!(out, "- {}: {}", said("python3", &["--version"]), python.join(", "));
    let _ = writeln!(out, "- Clojure {}", said("clojure", &["-e", "(print (clojure-version))"]));
    out
}

const RUST: [&str; 9] = [
    "apalis-sqlite",
    "tokio-cron-scheduler",
    "juniper",
    "async-graphql",
    "croner",
    "cron",
    "saffron",
    "clojure-reader",
    "edn-format",
];

/// The first value of a field in a file of `name: value` lines.
fn field(path: &str, name: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'));
    line.map_or("unknown", str::trim).to_owned()
}

/// The version of a crate in a lock file; the newest if there are several, because older ones
/// belong to other crates.
fn locked<'a>(lock: &'a str, name: &str) -> &'a str {
    let entry = format!("name = \"{name}\"\nversion = \"");
    lock.rsplit_once(&entry).and_then(|(_, rest)| rest.split('"').next()).unwrap_or("unknown")
}

/// The first line of a program's output.
fn said(command: &str, words: &[&str]) -> String {
    let output = Command::new(command).args(words).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let line = text.lines().next().unwrap_or_default().trim().to_owned();
    if line.is_empty() { format!("{command}: not installed") } else { line }
}
