//! Who holds a conversation, as agents tell it.
//!
//! Claude Code lists its sessions with their processes. Of the others nobody can say which conversation a window has open, so a
//! window in the directory of the conversation may have that one. Codex refuses a second writer itself, so it is asked by opening
//! the conversation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::bounded_run::bounded_run;
use super::plan::AgentPlan;
use super::windows;
use super::written::Written;
use crate::domain::{Address, AgentName, HolderKnown, HolderProcess};
use crate::limits;
use crate::port::{Holder, Prober};

/// Finds out who holds a conversation from the agents that are configured.
pub struct ListedHolders {
    agents: BTreeMap<AgentName, Known>,
}

struct Known {
    by: HolderKnown,
    /// The agent's program as people start it.
    program: String,
    /// The working directory of conversations that have none of their own.
    directory: Option<PathBuf>,
    /// The command that lists the holders, and its environment.
    lister: Option<Vec<String>>,
    environment: Vec<(String, String)>,
}

impl ListedHolders {
    /// Makes a prober for these agents. `lister` is the command that lists an agent's holders, where one is configured.
    pub fn new<'a>(plans: impl IntoIterator<Item = (&'a AgentPlan, Option<Vec<String>>)>) -> ListedHolders {
        let known = |(plan, lister): (&AgentPlan, Option<Vec<String>>)| {
            let known = Known {
                by: plan.kind.holder,
                program: plan.kind.program.unwrap_or(plan.name.as_str()).to_owned(),
                directory: plan.directory.clone(),
                lister,
                environment: plan.environment.0.clone(),
            };
            (plan.name.clone(), known)
        };
        ListedHolders { agents: plans.into_iter().map(known).collect() }
    }
}

impl Known {
    /// Returns a window that is not one of ours and works in the directory of a conversation.
    fn window(&self, address: &Address, ours: &dyn Fn(u32) -> bool) -> Option<u32> {
        let directory = address.directory().map(Path::new).or(self.directory.as_deref())?;
        windows::one_in(directory, &self.program, ours)
    }

    /// Returns the holder by what the windows have written down. One that has not may have any conversation of its directory.
    fn written(&self, address: &Address, conversation: &str, ours: &dyn Fn(u32) -> bool) -> Holder {
        let written = Written::read(&self.environment);
        if let Some(pid) = written.holder(conversation, ours) {
            return Holder::Other(HolderProcess { pid: Some(pid), busy: false });
        }
        match self.window(address, &|pid| ours(pid) || written.knows(pid)) {
            None if address.is_begun_by_us() || windows::can_be_seen() => Holder::Nobody,
            window => Holder::Unknown(window),
        }
    }
}

impl Prober for ListedHolders {
    fn holder(&self, address: &Address, ours: &dyn Fn(u32) -> bool) -> Holder {
        let Some(known) = self.agents.get(address.configured_as()) else { return Holder::Unknown(None) };
        let Some(conversation) = address.conversation() else { return Holder::Nobody };
        // A command that lists the holders knows more than the kind of agent.
        if let Some(command) = &known.lister {
            return listed(command, &known.environment)
                .map_or(Holder::Unknown(None), |list| holder_in(&list, conversation, ours));
        }
        let by_window = |is_free: bool| match known.window(address, ours) {
            None if is_free => Holder::Nobody,
            window => Holder::Unknown(window),
        };
        match known.by {
            HolderKnown::ByAgent(_) => Holder::Nobody,
            HolderKnown::WrittenDown => known.written(address, conversation, ours),
            HolderKnown::Windows => by_window(true),
            HolderKnown::Ours => by_window(address.is_begun_by_us()),
            HolderKnown::Listed => Holder::Unknown(None),
        }
    }

    /// Agents are asked, and say nothing by themselves.
    fn window(&self, _: &Address, _: &dyn Fn(u32) -> bool) -> Option<HolderProcess> {
        None
    }
}

/// Looks a conversation up in a list of holders: objects with `sessionId`, `pid` and `status`.
fn holder_in(list: &Value, conversation: &str, ours: &dyn Fn(u32) -> bool) -> Holder {
    let Some(entries) = list.as_array() else { return Holder::Unknown(None) };
    let mut holders = entries.iter().filter(|entry| entry["sessionId"] == *conversation);
    let other = holders.find_map(|entry| {
        let pid = entry["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        // A holder without a process id is one all the same.
        pid.is_none_or(|pid| !ours(pid)).then(|| HolderProcess { pid, busy: entry["status"] == "busy" })
    });
    other.map_or(Holder::Nobody, Holder::Other)
}

/// Runs a command that prints JSON; `None` if it fails, prints something else, or takes too long.
fn listed(command: &[String], environment: &[(String, String)]) -> Option<Value> {
    let (program, arguments) = command.split_first()?;
    let mut asked = Command::new(program);
    asked.args(arguments).env_clear().current_dir("/");
    asked.envs(environment.iter().map(|(name, value)| (name, value)));
    let time = Duration::from_millis(limits::AGENT_PROBE_MS.value);
    let (text, ended) = bounded_run(&mut asked, LIST_BYTES, time)?;
    serde_json::from_slice(&text).ok().filter(|_| ended.success())
}

/// Longest list of holders.
const LIST_BYTES: u64 = 1_048_576;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_holders_is_read() {
        let list = serde_json::json!([
            { "sessionId": "a", "pid": 7, "status": "busy" },
            { "sessionId": "b", "pid": 8, "status": "idle" },
            { "sessionId": "c" },
        ]);
        let ours = |pid| pid == 8;
        let other = |pid, busy| Holder::Other(HolderProcess { pid, busy });
        assert_eq!(holder_in(&list, "a", &ours), other(Some(7), true));
        assert_eq!(holder_in(&list, "b", &ours), Holder::Nobody);
        assert_eq!(holder_in(&list, "c", &ours), other(None, false));
        assert_eq!(holder_in(&list, "d", &ours), Holder::Nobody);
        assert_eq!(holder_in(&serde_json::json!({}), "a", &ours), Holder::Unknown(None));
    }
}
