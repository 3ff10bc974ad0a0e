//! Reads `[mcp]` of the configuration file: servers of the Model Context Protocol, whose tools sessions can have called.
//!
//! Invariant: no tool of a server is open to sessions unless the file says so.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use super::channels::ProgramConfig;
use super::guard_rules::ApprovedTools;
use super::tool_endpoint::EndpointConfig;
use super::tool_terms::{risk, time};
use crate::adapter::outbound::{
    McpBounds, McpPlace, McpServer, McpTerms, McpToolTerms, McpTools, TakenNames, ToolTasks,
};
use crate::app::fault::AppFault;
use crate::domain::{ExecutorKind, ToolName};
use crate::limits;
use crate::port::Executor;
use crate::runtime::Handle;

/// One server as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::app) struct ServerConfig {
    /// A server over HTTP.
    url: Option<String>,
    token_env: Option<String>,
    token_file: Option<PathBuf>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    ca_file: Option<PathBuf>,
    /// A server that is a program.
    command: Option<Vec<String>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    inherit: BTreeSet<String>,
    cwd: Option<PathBuf>,
    #[serde(default)]
    agents: AgentsConfig,
    #[serde(default)]
    approval: bool,
    risk: Option<String>,
    timeout_ms: Option<u64>,
    /// Single tools.
    #[serde(default)]
    tools: BTreeMap<String, ServerToolConfig>,
}

/// For which tools sessions' own tokens do: all, none, or those of these names.
#[derive(Deserialize)]
#[serde(untagged)]
enum AgentsConfig {
    All(bool),
    Some(Vec<String>),
}

impl Default for AgentsConfig {
    fn default() -> AgentsConfig {
        AgentsConfig::All(false)
    }
}

/// What is written of one tool.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct ServerToolConfig {
    agents: Option<bool>,
    approval: Option<bool>,
    risk: Option<String>,
    #[serde(default)]
    idempotent: bool,
    timeout_ms: Option<u64>,
}

/// The validated servers, ready to be started.
#[derive(Default)]
pub(in crate::app) struct ToolServers(Vec<McpServer>);

/// The servers of a daemon.
#[derive(Default)]
pub(in crate::app) struct RunningServers(Vec<Arc<McpTools>>);

impl ToolServers {
    /// Validates the section.
    ///
    /// # Errors
    /// [`AppFault`] with the name of the server and the reason.
    pub(in crate::app) fn new(
        written: BTreeMap<String, ServerConfig>,
        inherited: impl Fn(&str) -> Option<String>,
    ) -> Result<ToolServers, AppFault> {
        let max = limits::TOOL_SERVERS;
        if written.len() as u64 > max.value {
            return Err(AppFault::usage(format!(
                "{} servers of tools: at most {}",
                written.len(),
                max.value
            )));
        }
        let mut servers = ToolServers::default();
        for (name, written) in written {
            let wrong = |what: String| AppFault::usage(format!("the server {name:?}: {what}"));
            // With any action behind it, it has to be the name of a tool.
            let is_name = !name.contains('.') && ToolName::new(&format!("{name}.x")).is_ok();
            if !is_name || name.len() > NAME_BYTES {
                return Err(wrong(format!(
                    "a name has no dot, blank or slash, and at most {NAME_BYTES} bytes"
                )));
            }
            servers.0.push(written.server(&name, &inherited).map_err(wrong)?);
        }
        Ok(servers)
    }

    /// Adds the tools of which an operator approves each call.
    pub(in crate::app) fn note_approved(&self, approved: &mut ApprovedTools) {
        for McpServer { name, terms, .. } in &self.0 {
            for (tool, of_tool) in &terms.tools {
                match of_tool.approval {
                    Some(true) => approved.held.push(format!("{name}.{tool}").into()),
                    // Without an approval of all tools there is nothing to except this one from.
                    Some(false) if terms.approval => approved.free.push(format!("{name}.{tool}").into()),
                    Some(false) | None => {}
                }
            }
            if terms.approval {
                approved.held.push(format!("{name}.*").into());
            }
        }
    }

    /// Starts the servers, and adds their tools to those that sessions can have called. It waits for their lists for a moment; a
    /// server that is slower adds its tools later. What the others offer has to be there by now.
    ///
    /// # Errors
    /// [`AppFault::Io`] if no thread can be started for them.
    pub(in crate::app) fn open(self, handle: &Handle) -> Result<RunningServers, AppFault> {
        if self.0.is_empty() {
            return Ok(RunningServers::default());
        }
        let tasks =
            ToolTasks::start().map_err(|error| AppFault::io("servers of tools cannot be started", error))?;
        let mut running = Vec::new();
        for server in self.0 {
            tracing::info!(target: "reveille", name = &*server.name, "server of tools configured");
            let tools = Arc::new(McpTools::start(Arc::clone(&tasks), server, taken(handle)));
            // It offers nothing yet, so it cannot clash; its list is checked against `taken`.
            let executor: Arc<dyn Executor> = Arc::<McpTools>::clone(&tools);
            let added = handle.tools().add_executor(ExecutorKind::Server, executor);
            added.map_err(|clash| AppFault::usage(format!("servers: {clash}")))?;
            running.push(tools);
        }
        McpTools::wait_for_lists(&running, Duration::from_millis(limits::SERVERS_AWAITED_MS.value));
        Ok(RunningServers(running))
    }
}

impl RunningServers {
    /// Ends all servers at the same time, within the bound on their end.
    pub(in crate::app) fn end(&self) {
        self.0.iter().for_each(|server| server.end());
        self.0.iter().for_each(|server| server.wait_for_end());
    }
}

/// The names of all tools that there are without those of servers: servers have names of their own.
fn taken(handle: &Handle) -> TakenNames {
    let known = handle.tools().of_nobody();
    let others = known.tools().filter(|(kind, _)| *kind != ExecutorKind::Server);
    let taken: BTreeMap<ToolName, &str> =
        others.map(|(kind, spec)| (spec.name.clone(), kind.doc())).collect();
    Box::new(move |name| taken.get(name).map(|doc| (*doc).to_owned()))
}

impl ServerConfig {
    fn server(
        mut self,
        name: &str,
        inherited: &impl Fn(&str) -> Option<String>,
    ) -> Result<McpServer, String> {
        let place = self.place(inherited)?;
        let agents = match self.agents {
            AgentsConfig::All(true) => vec!["*".into()],
            AgentsConfig::All(false) => Vec::new(),
            AgentsConfig::Some(names) => names.into_iter().map(Into::into).collect(),
        };
        let mut terms = McpTerms {
            agents,
            approval: self.approval,
            risk: risk(self.risk.as_deref())?,
            time_max: time(self.timeout_ms)?,
            tools: BTreeMap::new(),
        };
        for (tool, written) in self.tools {
            let of_tool = |what: String| format!("tools.{tool}: {what}");
            let own = McpToolTerms {
                agents: written.agents,
                approval: written.approval,
                risk: risk(written.risk.as_deref()).map_err(of_tool)?,
                idempotent: written.idempotent,
                time_max: time(written.timeout_ms).map_err(of_tool)?,
            };
            terms.tools.insert(tool.into(), own);
        }
        Ok(McpServer { name: name.into(), place, terms, bounds: McpBounds::default() })
    }

    /// Where it is. What is left is what does not depend on that.
    fn place(&mut self, inherited: &impl Fn(&str) -> Option<String>) -> Result<McpPlace, String> {
        let of_program = !self.env.is_empty() || !self.inherit.is_empty() || self.cwd.is_some();
        let of_url = self.token_env.is_some()
            || self.token_file.is_some()
            || !self.headers.is_empty()
            || self.ca_file.is_some();
        match (self.url.take(), self.command.take()) {
            (Some(_), None) if of_program => {
                Err("env, inherit and cwd belong to a program, and not to a url".to_owned())
            }
            (None, Some(_)) if of_url => {
                Err("token-env, token-file, headers and ca-file belong to a url, and not to a program"
                    .to_owned())
            }
            (Some(url), None) => {
                let endpoint = EndpointConfig {
                    url,
                    token_env: self.token_env.take(),
                    token_file: self.token_file.take(),
                    headers: std::mem::take(&mut self.headers),
                    ca_file: self.ca_file.take(),
                };
                Ok(McpPlace::Endpoint(Arc::new(endpoint.read(inherited)?)))
            }
            (None, Some(command)) => {
                let program = ProgramConfig {
                    command,
                    env: std::mem::take(&mut self.env),
                    inherit: std::mem::take(&mut self.inherit),
                    cwd: self.cwd.take(),
                    // It runs for as long as the daemon.
                    time: Duration::MAX,
                };
                program.read(inherited).map(McpPlace::Program)
            }
            _ => Err("give either url or command".to_owned()),
        }
    }
}

/// Longest name of a server: most of a tool's name is left for the server's own part.
const NAME_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Risk, Span};

    fn read(text: &str) -> Result<ToolServers, String> {
        let written: BTreeMap<String, ServerConfig> =
            toml::from_str(text).map_err(|error| error.message().to_owned())?;
        ToolServers::new(written, |_| None).map_err(|fault| fault.to_string())
    }

    #[test]
    fn what_is_written_becomes_a_server() {
        let text = "[github]\ncommand = [\"/usr/bin/github-mcp\", \"stdio\"]\nenv = { TOKEN = \"t\" }\n\
                    agents = [\"list_issues\", \"get_*\"]\ntimeout-ms = 30000\n\
                    [github.tools.merge]\napproval = true\nrisk = \"danger\"\n[open]\ncommand = [\"/bin/true\"]\nagents = true\n\
                    [closed]\ncommand = [\"/bin/true\"]\n";
        let servers = read(text).expect("they are servers").0;
        let told: Vec<_> =
            servers.iter().map(|server| (&*server.name, server.terms.agents.join(","))).collect();
        let expected = [("closed", ""), ("github", "list_issues,get_*"), ("open", "*")];
        assert_eq!(told, expected.map(|(name, agents)| (name, agents.to_owned())));
        let merge = servers[1].terms.tools.get("merge").expect("a tool");
        assert_eq!((merge.approval, merge.risk, merge.agents), (Some(true), Some(Risk::Danger), None));
        assert_eq!(servers[1].terms.time_max, Some(Span::from_millis(30_000)));
        assert!(read("").is_ok_and(|servers| servers.0.is_empty()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("[\"a.b\"]\ncommand = [\"/bin/true\"]", "a name has no dot"),
            ("[\"a b\"]\ncommand = [\"/bin/true\"]", "a name has no dot"),
            ("[a]\ncommand = [\"true\"]", "absolute path"),
            ("[a]\ncommand = []", "absolute path"),
            ("[a]\nurl = \"https://x.example\"\ncommand = [\"/bin/true\"]", "either url or command"),
            ("[a]\nagents = true", "either url or command"),
            ("[a]\nurl = \"https://x.example\"\ncwd = \"/\"", "belong to a program"),
            ("[a]\ncommand = [\"/bin/true\"]\ntoken-env = \"A\"", "belong to a url"),
            ("[a]\nurl = \"ftp://x.example\"", "url: it must begin with https://"),
            ("[a]\nurl = \"https://x.example\"\ntoken = \"t\"", "unknown field"),
            ("[a]\ncommand = [\"/bin/true\"]\nrisk = \"none\"", "risk is one of read"),
            ("[a]\ncommand = [\"/bin/true\"]\n[a.tools.x]\ntimeout-ms = 0", "tools.x: timeout-ms is from 1"),
        ] {
            let fault = read(text).err().unwrap_or_default();
            assert!(fault.contains(expected), "{text}: {fault}");
        }
    }
}
