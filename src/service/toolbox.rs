//! Which tools exist for a caller: those whose family is switched on, has a store if it needs one, and is in its session's grant.
//! A tool that makes what is of another family needs both families (`Tool::makes`).
//!
//! Lists show exactly what can be called, and a tool that does not exist for a caller answers as one that nobody has. What lives
//! elsewhere: the tools (`tools/catalog.rs`), which switch a family needs (`Dialect::gate`), what a call may do (`admission`).
//! Invariant: for one caller with one grant the list does not change while the process lives.

use super::Service;
use super::tools::{TOOLBOX, Tool, ToolEffect, ToolInfo};
use crate::dialect::{echo, names, primitives, session_action};
use crate::domain::{Caller, CallerRole, Dialect, Gate, Grant, Op, Right, Scope, nearest};
use crate::edn::{Map, Value};
use crate::engine::ChannelRecord;

/// There is no tool of this name for the caller.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NoTool {
    /// The name as it was written, shortened.
    pub(crate) name: Value,
    /// The tool that was probably meant, or what an operator can do about it; sessions are told nothing of tools that they do not
    /// have.
    pub(crate) hint: Option<String>,
    /// The tools that there are.
    pub(crate) tools: Vec<&'static str>,
}

impl NoTool {
    /// What is wrong, in words.
    pub(crate) fn message(&self) -> String {
        format!("there is no tool {}", self.name)
    }

    /// The name, the tools that there are, and the hint.
    pub(crate) fn data(self) -> Map {
        let tools: Vec<Value> = self.tools.into_iter().map(Value::from).collect();
        let data = Map::new().with("tool", self.name).with("tools", tools);
        data.with_some("hint", self.hint)
    }
}

impl Service {
    /// The tools that a caller can call, in the order of the toolbox: those that exist for it, without those that could only
    /// change things if it may only read.
    pub fn toolbox(&self, caller: &Caller) -> Vec<&'static ToolInfo> {
        if self.admit(caller, Op::Query, None).is_err() {
            return Vec::new();
        }
        // Both the token and the session's grant have to allow changes.
        let may_change = caller.may_change()
            && self.grant_of(caller).is_none_or(|grant| grant.right == Some(Right::Change));
        let shows = |tool: &&ToolInfo| self.offers(caller, tool) && (may_change || tool.can_read());
        TOOLBOX.iter().filter(shows).collect()
    }

    /// The tool of this name, in any of its spellings, if it exists for the caller. To an operator who acts for a session, one
    /// that the session's grant leaves out exists: the refusal names the grant.
    pub(crate) fn tool(&self, caller: &Caller, name: &str) -> Option<&'static ToolInfo> {
        let is_known = |tool: &&'static ToolInfo| {
            let is_withheld = self.is_withheld(caller, tool);
            self.is_there(caller, tool) && (caller.role == CallerRole::Operator || !is_withheld)
        };
        ToolInfo::named(name).filter(is_known)
    }

    /// Describes that there is no tool of this name for the caller.
    pub(crate) fn no_tool(&self, caller: &Caller, name: &str) -> NoTool {
        let tool = ToolInfo::named(name).filter(|_| caller.role == CallerRole::Operator);
        let hint = tool.and_then(|tool| {
            let gate = tool.families().filter_map(Dialect::gate).find(|gate| !self.is_open(*gate, caller));
            gate.map(hint).or_else(|| (!tool.families().all(|it| self.has_store_for(it))).then_some(NO_STORE))
        });
        let tools: Vec<&'static str> = self.toolbox(caller).into_iter().map(|tool| tool.name).collect();
        let near = || nearest(tools.iter().map(|tool| (tool, *tool)), names::canonical(name));
        let hint = hint.map(str::to_owned).or_else(|| Some(format!("did you mean {}?", near()?)));
        NoTool { name: echo(&name.into()), hint, tools }
    }

    fn offers(&self, caller: &Caller, tool: &ToolInfo) -> bool {
        self.is_there(caller, tool) && !self.is_withheld(caller, tool)
    }

    /// Whether the tool's families are switched on, and the tool is not for others alone.
    pub(super) fn is_there(&self, caller: &Caller, tool: &ToolInfo) -> bool {
        let is_open = tool.families().filter_map(Dialect::gate).all(|gate| self.is_open(gate, caller));
        let is_open = is_open && tool.families().all(|family| self.has_store_for(family));
        let is_operator = caller.role == CallerRole::Operator && caller.scope == Scope::Operator;
        // Of this family, some tools are for operators alone, and some for sessions that may manage a channel.
        let Tool::Channels(tool) = tool.tool else { return is_open };
        let is_for_agents = !tool.is_for_operators() && (!tool.is_for_managers() || self.manages(caller));
        is_open && (is_operator || is_for_agents)
    }

    /// Whether what the family makes could be persisted, if it has to be.
    fn has_store_for(&self, dialect: Dialect) -> bool {
        !dialect.needs_store() || self.handle().read().takes_durable()
    }

    /// Whether the caller is a session that may manage some channel.
    fn manages(&self, caller: &Caller) -> bool {
        let is_managed = |record: &ChannelRecord| record.channel.agents && record.channel.agents_manage;
        caller.scope.session().is_some() && self.handle().view(|state| state.channels().any(is_managed))
    }

    /// Whether the grant of the caller's session leaves a family of the tool out.
    pub(super) fn is_withheld(&self, caller: &Caller, tool: &ToolInfo) -> bool {
        tool.families().any(|family| self.is_family_withheld(caller, family))
    }

    /// Whether the grant of the caller's session leaves this family of tools out.
    pub(super) fn is_family_withheld(&self, caller: &Caller, dialect: Dialect) -> bool {
        let dialects = self.grant_of(caller).and_then(|grant| grant.dialects);
        dialects.is_some_and(|dialects| !dialects.contains(&dialect))
    }

    fn grant_of(&self, caller: &Caller) -> Option<Grant> {
        let session = caller.scope.session()?;
        Some(self.handle().view(|state| state.effective_grant(session).into_owned()))
    }

    pub(super) fn is_open(&self, gate: Gate, caller: &Caller) -> bool {
        self.handle().view(|state| match gate {
            Gate::Watchers => state.primitives().watchers,
            Gate::Scheduler => state.primitives().scheduler,
            Gate::Memory => state.primitives().memory,
            // Operators may use every channel.
            Gate::Channels => {
                state.channels().any(|record| record.channel.agents || caller.role == CallerRole::Operator)
            }
        })
    }
}

impl ToolInfo {
    /// The tool of this name, in any of its spellings, whether or not it exists for a caller.
    pub(crate) fn named(name: &str) -> Option<&'static ToolInfo> {
        let name = names::canonical(name);
        TOOLBOX.iter().find(|tool| tool.name == name)
    }

    /// The tool's family, and that of what it makes if that is another one. The tool exists for a caller if both do.
    pub(super) fn families(&self) -> impl Iterator<Item = Dialect> {
        std::iter::once(self.dialect).chain(self.tool.makes())
    }

    /// Whether some call of the tool only reads.
    fn can_read(&self) -> bool {
        // Of the tools that change what there is, these have an operation that reads.
        let reads_too = matches!(
            self.tool,
            Tool::Psi
                | Tool::SessionAction(session_action::Tool::Schedule)
                | Tool::Primitives(primitives::Tool::BackgroundRun)
        );
        self.effect == ToolEffect::Reads || reads_too
    }
}

const NO_STORE: &str =
    "start the engine with a store: the daemon without --volatile, or in process with a data directory";

const fn hint(gate: Gate) -> &'static str {
    match gate {
        Gate::Watchers => "set watchers = true under [primitives]",
        Gate::Scheduler => "set scheduler = true and watchers = true under [primitives]",
        Gate::Memory => "set memory = true under [primitives]",
        Gate::Channels => "configure a channel under [channels]; sessions see those with agents = true",
    }
}
