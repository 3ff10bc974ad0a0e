//! The counts that are compared with, in a file that only this program writes.
//!
//! Shape: a line that says who made it, then a path and its instructions to a line, in the order of the names.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/baseline.txt");
const HEAD: &str =
    "# Instructions of the hot paths, counted by `just count --update`. Do not edit.\n# made by ";

/// What was counted before.
#[derive(Default)]
pub(crate) struct Baseline {
    /// The compiler and the kind of processor.
    pub(crate) made_by: String,
    /// The instructions of each path, by its name.
    pub(crate) counts: BTreeMap<String, u64>,
}

impl Baseline {
    /// The committed one; an empty one if there is none.
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

/// Who makes what is counted here: another compiler makes other instructions.
pub(crate) fn made_here() -> Result<String, String> {
    let output =
        Command::new("rustc").arg("--version").output().map_err(|error| format!("rustc: {error}"))?;
    let version = String::from_utf8_lossy(&output.stdout);
    Ok(format!("{} for {}", version.trim(), std::env::consts::ARCH))
}
