//! Reads `[tools]` of the configuration file: programs that are tools, and what is built in.
//!
//! Invariant: nothing can be called unless the file says so, and what is wrong with a tool prevents the start.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use super::channels::ProgramConfig;
use super::guard_rules::ApprovedTools;
use super::tool_servers::{RunningServers, ToolServers};
use super::tool_terms::{risk, time};
#[cfg(target_os = "linux")]
use crate::adapter::outbound::FileTools;
use crate::adapter::outbound::{
    Client, Endpoint, HttpReach, HttpTools, NetworkOs, ProgramTool, ProgramTools, ToolTasks, Trust,
};
use crate::app::fault::AppFault;
use crate::dialect::REQUEST_CAPS;
use crate::domain::{ExecutorKind, Risk, ToolName, ToolSpec};
use crate::edn::{Map, Value};
use crate::limits;
use crate::port::Executor;
use crate::runtime::Handle;
use crate::surface::json;

/// The section as it is written.
#[derive(Default, Deserialize)]
pub(in crate::app) struct ToolsConfig {
    builtin: Option<BuiltInConfig>,
    /// By their names.
    #[serde(flatten)]
    programs: BTreeMap<String, ToolConfig>,
}

/// What is built in, and off unless it is written here.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct BuiltInConfig {
    /// The origins that `http.get` and `http.head` may read, and `public` for every public address.
    http: Vec<String>,
    /// The directory below which `filesystem.read`, `stat` and `list` read.
    files: Option<PathBuf>,
}

/// One program that is a tool.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct ToolConfig {
    command: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    inherit: BTreeSet<String>,
    cwd: Option<PathBuf>,
    timeout_ms: Option<u64>,
    #[serde(default)]
    description: String,
    input_schema: Option<toml::Table>,
    risk: Option<String>,
    #[serde(default)]
    agents: bool,
    #[serde(default)]
    approval: bool,
    #[serde(default)]
    idempotent: bool,
}

/// The validated tools, ready to be opened.
#[derive(Default)]
pub(in crate::app) struct Tools {
    programs: Vec<ProgramTool>,
    http: Option<HttpReach>,
    files: Option<PathBuf>,
    servers: ToolServers,
}

/// The tools of a daemon that runs.
pub(in crate::app) struct OpenTools {
    servers: RunningServers,
}

impl OpenTools {
    /// Ends what would go on without the daemon.
    pub(in crate::app) fn end(&self) {
        self.servers.end();
    }
}

impl Tools {
    /// Validates the section.
    ///
    /// # Errors
    /// [`AppFault`] with the name of the tool and the reason.
    pub(in crate::app) fn new(
        written: ToolsConfig,
        inherited: impl Fn(&str) -> Option<String>,
    ) -> Result<Tools, AppFault> {
        let max = limits::CONFIGURED_TOOLS;
        if written.programs.len() as u64 > max.value {
            let message = format!("{} tools: at most {}", written.programs.len(), max.value);
            return Err(AppFault::usage(message));
        }
        let mut tools = Tools::default();
        for (name, written) in written.programs {
            let wrong = |what: String| AppFault::usage(format!("the tool {name:?}: {what}"));
            let name = ToolName::new(&name).map_err(|fault| wrong(fault.to_string()))?;
            tools.programs.push(written.tool(name, &inherited).map_err(wrong)?);
        }
        let builtin = written.builtin.unwrap_or_default();
        let wrong = |what: String| AppFault::usage(format!("tools.builtin: {what}"));
        tools.http = reach(&builtin.http).map_err(wrong)?;
        tools.files = builtin.files;
        Ok(tools)
    }

    /// The tools of which an operator approves each call.
    pub(in crate::app) fn approved(&self) -> ApprovedTools {
        let mut approved = ApprovedTools::default();
        let programs = self.programs.iter().map(|tool| &tool.spec).filter(|spec| spec.approval);
        approved.held.extend(programs.map(|spec| Box::from(spec.name.as_str())));
        self.servers.note_approved(&mut approved);
        approved
    }

    /// The same tools, and those of servers.
    pub(in crate::app) fn with_servers(self, servers: ToolServers) -> Tools {
        Tools { servers, ..self }
    }

    /// Adds the tools to those that sessions can have called.
    ///
    /// # Errors
    /// [`AppFault::Io`] if they cannot be started; [`AppFault::Usage`] if two have one name.
    pub(in crate::app) fn open(mut self, handle: &Handle) -> Result<OpenTools, AppFault> {
        self.open_local(handle)?;
        // Last, because a server's tool must not have the name of another one.
        Ok(OpenTools { servers: self.servers.open(handle)? })
    }

    /// Adds the programs, and what is built in.
    fn open_local(&mut self, handle: &Handle) -> Result<(), AppFault> {
        if self.programs.is_empty() && self.http.is_none() && self.files.is_none() {
            return Ok(());
        }
        let cannot = |error| AppFault::io("tools cannot be started", error);
        let tasks = ToolTasks::start().map_err(cannot)?;
        let add = |kind, executor: Arc<dyn Executor>| {
            let added = handle.tools().add_executor(kind, executor);
            added.map_err(|clash| AppFault::usage(format!("tools: {clash}")))
        };
        if !self.programs.is_empty() {
            for tool in &self.programs {
                let (name, agents) = (tool.spec.name.as_str(), tool.spec.agents);
                tracing::info!(target: "reveille", name, agents, approval = tool.spec.approval, "tool configured");
            }
            add(
                ExecutorKind::Operator,
                Arc::new(ProgramTools::new(Arc::clone(&tasks), std::mem::take(&mut self.programs))),
            )?;
        }
        if let Some(reach) = &self.http {
            let client = Client::new(Arc::new(NetworkOs), Trust::system()).map_err(cannot)?;
            add(ExecutorKind::BuiltIn, Arc::new(HttpTools::new(Arc::clone(&tasks), client, reach)))?;
        }
        if let Some(root) = &self.files {
            add_files(root, tasks, add)?;
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn add_files(
    root: &std::path::Path,
    tasks: Arc<ToolTasks>,
    add: impl Fn(ExecutorKind, Arc<dyn Executor>) -> Result<(), AppFault>,
) -> Result<(), AppFault> {
    let unopened = |error| AppFault::io(format!("tools.builtin: files {}", root.display()), error);
    add(ExecutorKind::BuiltIn, Arc::new(FileTools::new(tasks, root).map_err(unopened)?))
}

#[cfg(not(target_os = "linux"))]
fn add_files(
    _root: &std::path::Path,
    _tasks: Arc<ToolTasks>,
    _add: impl Fn(ExecutorKind, Arc<dyn Executor>) -> Result<(), AppFault>,
) -> Result<(), AppFault> {
    Err(AppFault::usage("tools.builtin: files needs Linux, whose kernel keeps paths below the directory"))
}

/// What the built-in tools may read; `None` if that is nothing.
fn reach(written: &[String]) -> Result<Option<HttpReach>, String> {
    let mut reach = HttpReach::default();
    for text in written {
        if text == "public" {
            reach.is_public = true;
            continue;
        }
        let endpoint = Endpoint::parse(text).map_err(|fault| format!("http: {fault}"))?;
        // Two slashes stand behind the scheme.
        if text.trim_end_matches('/').matches('/').count() > 2 {
            return Err("http: an origin has no path, such as https://api.example.com".to_owned());
        }
        reach.origins.push(endpoint);
    }
    Ok((!written.is_empty()).then_some(reach))
}

impl ToolConfig {
    fn tool(
        self,
        name: ToolName,
        inherited: &impl Fn(&str) -> Option<String>,
    ) -> Result<ProgramTool, String> {
        let time_max = time(self.timeout_ms)?;
        if self.description.len() as u64 > limits::TOOL_DESCRIPTION_BYTES.value {
            return Err(format!("description has at most {} bytes", limits::TOOL_DESCRIPTION_BYTES.value));
        }
        let risk = risk(self.risk.as_deref())?.unwrap_or(Risk::Change);
        let input_schema = match self.input_schema {
            Some(schema) => schema_of(&schema)?,
            None => Map::new().with("type", "object").into(),
        };
        let program = ProgramConfig {
            command: self.command,
            env: self.env,
            inherit: self.inherit,
            cwd: self.cwd,
            // Each call has a time of its own.
            time: Duration::from_millis(limits::CALL_MS_MAX.value),
        };
        let spec = ToolSpec {
            name,
            description: self.description.into(),
            input_schema: Arc::new(input_schema),
            risk,
            approval: self.approval,
            idempotent: self.idempotent,
            agents: self.agents,
            time_max,
        };
        Ok(ProgramTool { spec, program: program.read(inherited)? })
    }
}

fn schema_of(schema: &toml::Table) -> Result<Value, String> {
    let text = serde_json::to_string(schema).map_err(|_| "input-schema is no JSON Schema".to_owned())?;
    json::read(text.as_bytes(), &REQUEST_CAPS).map_err(|error| format!("input-schema: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Span;

    fn read(text: &str) -> Result<Tools, String> {
        let written: ToolsConfig = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        Tools::new(written, |_| None).map_err(|fault| fault.to_string())
    }

    #[test]
    fn what_is_written_becomes_a_tool() {
        let text = "[builtin]\nhttp = [\"https://api.example.com\", \"public\"]\nfiles = \"/srv\"\n\
                    [\"ci.status\"]\ncommand = [\"/usr/local/bin/ci\"]\nagents = true\nrisk = \"read\"\ntimeout-ms = 30000\n\
                    input-schema = { type = \"object\" }\n";
        let tools = read(text).expect("they are tools");
        let [tool] = tools.programs.as_slice() else { panic!("{}", tools.programs.len()) };
        assert_eq!(
            (tool.spec.name.as_str(), tool.spec.agents, tool.spec.approval),
            ("ci.status", true, false)
        );
        assert_eq!(tool.spec.time_max, Some(Span::from_millis(30_000)));
        assert_eq!(tool.spec.input_schema.to_string(), "{\"type\" \"object\"}");
        assert!(tools.http.is_some_and(|reach| reach.is_public && reach.origins.len() == 1));
        assert!(read("").is_ok_and(|tools| tools.programs.is_empty() && tools.http.is_none()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("[\"ci\"]\ncommand = [\"/bin/true\"]", "module.action"),
            ("[\"ci.status\"]\ncommand = [\"true\"]", "absolute path"),
            ("[\"ci.status\"]\ncommand = [\"/bin/true\"]\ntimeout-ms = 0", "timeout-ms is from 1"),
            ("[\"ci.status\"]\ncommand = [\"/bin/true\"]\nrisk = \"none\"", "risk is one of read"),
            ("[builtin]\nhttp = [\"api.example.com\"]", "http: it must begin with https://"),
            ("[builtin]\nhttp = [\"https://api.example.com/v1\"]", "an origin has no path"),
            ("[builtin]\nftp = []", "unknown field"),
        ] {
            let fault = read(text).err().unwrap_or_default();
            assert!(fault.contains(expected), "{text}: {fault}");
        }
    }
}
