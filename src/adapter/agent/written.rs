//! Which conversation each window of Qwen Code has open, as the windows write it down: a file for each process, in the directory
//! `sessions` of the agent.
//!
//! Invariant: a record counts only while the process that it names runs, and is not another one of that number. Records whose
//! process is gone are left to the agent.

use std::collections::BTreeSet;
use std::fs;
use std::iter::successors;
use std::path::PathBuf;

use serde_json::Value;

use super::process::{is_zombie, stat};

/// The records of windows that run.
pub(super) struct Written {
    /// The process of each, and the conversation that it has open.
    records: Vec<(u32, String)>,
    /// Those processes, and the ones that have started them: an agent may start itself again.
    processes: BTreeSet<u32>,
}

impl Written {
    /// Reads the records of the agent whose environment this is.
    pub(super) fn read(environment: &[(String, String)]) -> Written {
        let files = directory(environment).and_then(|directory| fs::read_dir(directory).ok());
        let names = files.into_iter().flatten().flatten().map(|entry| entry.path());
        let records = names.filter(|path| path.extension().is_some_and(|it| it == "json"));
        Written::of(records.filter_map(|path| record(&fs::read(path).ok()?)).collect())
    }

    fn of(records: Vec<(u32, String)>) -> Written {
        let lines = records.iter().map(|(pid, _)| successors(Some(*pid), |pid| parent(*pid)));
        Written { processes: lines.flatten().collect(), records }
    }

    /// Returns the process that has a conversation open, if one does that is not one of ours.
    pub(super) fn holder(&self, conversation: &str, ours: &dyn Fn(u32) -> bool) -> Option<u32> {
        self.records.iter().find(|(pid, open)| open == conversation && !ours(*pid)).map(|(pid, _)| *pid)
    }

    /// Returns whether a process has written down what it has open, or has started one that has.
    pub(super) fn knows(&self, pid: u32) -> bool {
        self.processes.contains(&pid)
    }
}

/// Where the agent's windows write.
fn directory(environment: &[(String, String)]) -> Option<PathBuf> {
    let value = |name: &str| {
        environment.iter().find(|(known, _)| known == name).map(|(_, value)| PathBuf::from(value))
    };
    Some(value("QWEN_HOME").or_else(|| Some(value("HOME")?.join(".qwen")))?.join("sessions"))
}

/// A process that runs, and the conversation that it has open.
fn record(text: &[u8]) -> Option<(u32, String)> {
    let record: Value = serde_json::from_slice(text).ok()?;
    let pid = u32::try_from(record["pid"].as_u64()?).ok()?;
    let started = record["procStart"].as_str().and_then(|start| start.rsplit(':').next());
    is_running(pid, started).then_some((pid, record["sessionId"].as_str()?.to_owned()))
}

/// Whether a process runs that has begun so many ticks after the start of the machine. Where the system does not say when it
/// began, it is taken to run: it is held too long then, and not too short.
fn is_running(pid: u32, started: Option<&str>) -> bool {
    started.is_none_or(|started| stat(pid, STARTED).as_deref() == Some(started)) && !is_zombie(pid)
}

fn parent(pid: u32) -> Option<u32> {
    stat(pid, PARENT)?.parse().ok().filter(|parent| *parent > 1)
}

// Places behind the name: fields 4 and 22 of /proc/PID/stat. Source: proc(5).
const PARENT: usize = 1;
const STARTED: usize = 19;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_records_of_processes_that_run_count() {
        let pid = std::process::id();
        let ticks = stat(pid, STARTED).unwrap();
        let record = |start: &str| {
            let text =
                serde_json::json!({ "pid": pid, "procStart": format!("boot:{start}"), "sessionId": "a" });
            record(text.to_string().as_bytes())
        };
        let here = record(&ticks).unwrap();
        assert_eq!(here, (pid, "a".to_owned()));
        assert_eq!(record("1"), None, "another process of this number");
        let written = Written::of(vec![here]);
        assert_eq!(written.holder("a", &|_| false), Some(pid));
        assert_eq!((written.holder("a", &|_| true), written.holder("b", &|_| false)), (None, None));
        assert!(written.knows(pid) && !written.knows(u32::MAX));
        assert!(
            parent(pid).is_none_or(|parent| written.knows(parent)),
            "the agent may have started itself again"
        );
    }
}
