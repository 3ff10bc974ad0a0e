//! The committed baseline: instruction counts in a file that only this program writes.
//!
//! Format: a line with the compiler that made it, then one path per line with its instructions,
//! sorted by name.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/baseline.txt");
const HEAD: &str =
    "# Instructions of the hot paths, counted by `just count --update`. Do not edit.\n# made by ";

/// The counts of an earlier run.
#[derive(Default)]
pub(crate) struct Baseline {
    /// The compiler and the kind of processor.
    pub(crate) made_by: String,
    /// The instructions of each path, by its name.
    pub(crate) counts: BTreeMap<String, u64>,
}

impl Baseline {
    /// Reads the committed baseline; empty if there is none.
    pub(crate) fn read() -> Result<Baseline, String> {
        let Ok(text) = std::fs::read_to_string(FILE) else { return Ok(Baseline::default()) };
        let rest = text.strip_prefix(HEAD).ok_or("baseline.txt: it does not begin as it is written")?;
        let (made_by, lines) = rest.split_once('\n').ok_or("baseline.txt: it is cut")?;
        let entry = |line: &str| {
            let (name, count) = line.split_once(' ')?;
            Some((name.to_owned(), count.parse().ok()?))
        };
        let counts = lines.lines().map(|line| entry(line).ok_or_else(|| format!("baseline.txt: {line}")));
        Ok(Baseline { made_by: made_by.to_owned(), counts: counts.collect::<Result<_, _>>()? })
    }

    pub(crate) fn write(&self) -> Result<(), String> {
        let mut text = format!("{HEAD}{}\n", self.made_by);
        for (name, count) in &self.counts {
            let _ = writeln!(text, "{name} {count}");
        }
        std::fs::write(FILE, text).map_err(|error| format!("{FILE}: {error}"))
    }
}

/// The compiler and architecture of this build: another compiler emits other instructions.
pub(crate) fn made_here() -> Result<String, String> {
    let output =
        Command::new("rustc").arg("--version").output().map_err(|error| format!("rustc: {error}"))?;
    let version = String::from_utf8_lossy(&output.stdout);
    Ok(format!("{} for {}", version.trim(), std::env::consts::ARCH))
}
