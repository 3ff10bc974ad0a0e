//! Runs each hot path under callgrind, in a process of its own.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::paths::HotPath;

/// The argument before a path's name: run that path once, and nothing else.
pub(crate) const ALONE: &str = "--alone";

/// Counts the instructions of each path, running as many at a time as there are processors.
pub(crate) fn count_all<'a>(paths: &[&'a HotPath]) -> Result<Vec<(&'a HotPath, u64)>, String> {
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts = Vec::new();
    for paths in paths.chunks(at_once) {
        let running: Result<Vec<Run>, String> = paths.iter().map(|path| Run::start(path.name)).collect();
        for (path, run) in paths.iter().zip(running?) {
            counts.push((*path, run.count()?));
        }
    }
    Ok(counts)
}

struct Run {
    name: &'static str,
    child: Child,
    profile: PathBuf,
}

impl Run {
    fn start(name: &'static str) -> Result<Run, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let profile = program.with_file_name(format!("callgrind.{name}"));
        let started = Command::new("valgrind")
            // Counting starts and stops at `counted`, so that preparing and dropping are left out.
            .args(["--tool=callgrind", "--collect-atstart=no", "--toggle-collect=reveille_count::counted*"])
            .arg(format!("--callgrind-out-file={}", profile.display()))
            .arg(&program)
            .args([ALONE, name])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let child = started.map_err(|error| format!("valgrind cannot be run ({error}): install it"))?;
        Ok(Run { name, child, profile })
    }

    /// Waits for the run and returns the total that callgrind wrote. The profile remains, for
    /// `callgrind_annotate`.
    fn count(self) -> Result<u64, String> {
        let Run { name, child, profile } = self;
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        let failed = |why: &str| format!("{name}: {why}\n{}", String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            return Err(failed("it did not run to its end"));
        }
        let written = std::fs::read_to_string(&profile).map_err(|error| failed(&error.to_string()))?;
        let total = written.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok());
        // Zero means that callgrind never saw `counted`: it was inlined or renamed.
        total.filter(|total| *total > 0).ok_or_else(|| failed("nothing was counted"))
    }
}
