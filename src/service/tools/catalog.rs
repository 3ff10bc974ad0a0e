//! All tools as data: what `GET /tools`, MCP and the generated schema print.
//!
//! Invariant: a tool is described once, in the EDN file of its name or by the table of its fields. Its text is constant, so
//! that a host can tell when it changes.

use super::tool::{Text, Tool};
use crate::dialect::{
    channels, claude_cron, cron, memory, native, primitives, reminder, scheduler, session_action, watch,
};
use crate::domain::Dialect;
use crate::edn::{Caps, Map, Value, read};

/// One tool.
#[derive(Debug)]
pub struct ToolInfo {
    /// Its name.
    pub name: &'static str,
    /// The dialect that it belongs to.
    pub dialect: Dialect,
    /// What a call of it can do at most.
    pub effect: ToolEffect,
    /// The tool itself.
    pub(crate) tool: Tool,
    text: Text,
}

/// What a call of a tool can do at most, for hosts that ask a person before a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEffect {
    /// It changes nothing.
    Reads,
    /// It adds something, and leaves what there is.
    Adds,
    /// It changes what there is; a second call may change it again.
    Changes,
    /// It calls other tools, which can do anything.
    Calls,
    /// It removes something; a second call has nothing more to remove.
    Removes,
}

impl ToolEffect {
    /// The hints of the Model Context Protocol. What calls no other tools reaches nothing outside of the scheduler.
    pub(crate) fn annotations(self) -> Map {
        Map::new()
            .with("readOnlyHint", self == ToolEffect::Reads)
            .with(
                "destructiveHint",
                matches!(self, ToolEffect::Changes | ToolEffect::Calls | ToolEffect::Removes),
            )
            .with("idempotentHint", matches!(self, ToolEffect::Reads | ToolEffect::Removes))
            .with("openWorldHint", self == ToolEffect::Calls)
    }
}

/// Every tool.
pub const TOOLBOX: &[ToolInfo] = &[
    ToolInfo::new(Tool::Psi, ToolEffect::Changes),
    ToolInfo::new(Tool::Cron(cron::Tool::Create), ToolEffect::Adds),
    ToolInfo::new(Tool::Cron(cron::Tool::List), ToolEffect::Reads),
    ToolInfo::new(Tool::Cron(cron::Tool::Get), ToolEffect::Reads),
    ToolInfo::new(Tool::Cron(cron::Tool::Update), ToolEffect::Changes),
    ToolInfo::new(Tool::Cron(cron::Tool::Delete), ToolEffect::Removes),
    ToolInfo::new(Tool::Cron(cron::Tool::Pause), ToolEffect::Changes),
    ToolInfo::new(Tool::Cron(cron::Tool::Resume), ToolEffect::Changes),
    ToolInfo::new(Tool::Reminder(reminder::Tool::Add), ToolEffect::Adds),
    ToolInfo::new(Tool::Reminder(reminder::Tool::List), ToolEffect::Reads),
    ToolInfo::new(Tool::Reminder(reminder::Tool::Remove), ToolEffect::Removes),
    ToolInfo::new(Tool::SessionAction(session_action::Tool::Schedule), ToolEffect::Changes),
    ToolInfo::new(Tool::SessionAction(session_action::Tool::ReportReady), ToolEffect::Adds),
    ToolInfo::new(Tool::ClaudeCron(claude_cron::Tool::Create), ToolEffect::Adds),
    ToolInfo::new(Tool::ClaudeCron(claude_cron::Tool::List), ToolEffect::Reads),
    ToolInfo::new(Tool::ClaudeCron(claude_cron::Tool::Delete), ToolEffect::Removes),
    // A wake-up takes the place of the one before.
    ToolInfo::new(Tool::ClaudeCron(claude_cron::Tool::Wakeup), ToolEffect::Changes),
    ToolInfo::new(Tool::ClaudeCron(claude_cron::Tool::Monitor), ToolEffect::Adds),
    ToolInfo::new(Tool::Watch(watch::Tool::Start), ToolEffect::Adds),
    ToolInfo::new(Tool::Watch(watch::Tool::Stop), ToolEffect::Removes),
    ToolInfo::new(Tool::Watch(watch::Tool::Pause), ToolEffect::Changes),
    ToolInfo::new(Tool::Watch(watch::Tool::Resume), ToolEffect::Changes),
    ToolInfo::new(Tool::Watch(watch::Tool::Status), ToolEffect::Reads),
    ToolInfo::new(Tool::Watch(watch::Tool::List), ToolEffect::Reads),
    ToolInfo::new(Tool::Watch(watch::Tool::History), ToolEffect::Reads),
    ToolInfo::new(Tool::Watch(watch::Tool::PingAge), ToolEffect::Reads),
    // A job of the same name is replaced.
    ToolInfo::new(Tool::Scheduler(scheduler::Tool::Schedule), ToolEffect::Changes),
    ToolInfo::new(Tool::Scheduler(scheduler::Tool::Cancel), ToolEffect::Removes),
    ToolInfo::new(Tool::Scheduler(scheduler::Tool::Remind), ToolEffect::Changes),
    ToolInfo::new(Tool::Native(native::Tool::Create), ToolEffect::Adds),
    ToolInfo::new(Tool::Native(native::Tool::List), ToolEffect::Reads),
    ToolInfo::new(Tool::Native(native::Tool::Cancel), ToolEffect::Removes),
    ToolInfo::new(Tool::Native(native::Tool::Update), ToolEffect::Changes),
    ToolInfo::new(Tool::Native(native::Tool::Explain), ToolEffect::Reads),
    ToolInfo::new(Tool::Native(native::Tool::Inbox), ToolEffect::Removes),
    ToolInfo::new(Tool::Native(native::Tool::Query), ToolEffect::Reads),
    ToolInfo::new(Tool::Channels(channels::Tool::SendMessage), ToolEffect::Adds),
    ToolInfo::new(Tool::Channels(channels::Tool::Broadcast), ToolEffect::Adds),
    ToolInfo::new(Tool::Channels(channels::Tool::ListProviders), ToolEffect::Reads),
    ToolInfo::new(Tool::Channels(channels::Tool::ProviderStatus), ToolEffect::Reads),
    ToolInfo::new(Tool::Channels(channels::Tool::PauseProvider), ToolEffect::Changes),
    ToolInfo::new(Tool::Channels(channels::Tool::ResumeProvider), ToolEffect::Changes),
    ToolInfo::new(Tool::Channels(channels::Tool::ProviderHistory), ToolEffect::Reads),
    ToolInfo::new(Tool::Channels(channels::Tool::Stats), ToolEffect::Reads),
    ToolInfo::new(Tool::Channels(channels::Tool::Reply), ToolEffect::Adds),
    ToolInfo::new(Tool::Channels(channels::Tool::SimulateEvent), ToolEffect::Adds),
    ToolInfo::new(Tool::Channels(channels::Tool::TestSend), ToolEffect::Adds),
    ToolInfo::new(Tool::Memory(memory::Tool::Remember), ToolEffect::Adds),
    ToolInfo::new(Tool::Memory(memory::Tool::SetGoal), ToolEffect::Changes),
    ToolInfo::new(Tool::Memory(memory::Tool::TaskCreate), ToolEffect::Adds),
    ToolInfo::new(Tool::Memory(memory::Tool::TaskUpdate), ToolEffect::Changes),
    ToolInfo::new(Tool::Primitives(primitives::Tool::RunParallel), ToolEffect::Calls),
    ToolInfo::new(Tool::Primitives(primitives::Tool::BackgroundRun), ToolEffect::Calls),
];

impl ToolInfo {
    const fn new(tool: Tool, effect: ToolEffect) -> ToolInfo {
        let (name, dialect, text) = tool.declared();
        ToolInfo { name, dialect, effect, tool, text }
    }

    /// What the tool does, for the model or the person that chooses one.
    pub(crate) fn description(&self) -> String {
        let text = match self.text {
            Text::Native(tool) => return tool.description().to_owned(),
            Text::Edn(text) => part(text, "description"),
        };
        one_line(text.as_str().unwrap_or_default())
    }

    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> Value {
        match self.text {
            Text::Native(tool) => tool.input_schema(),
            Text::Edn(text) => described(part(text, "input-schema")),
        }
    }
}

/// A text of a file, which breaks its lines to be readable.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A schema with its descriptions as single lines.
fn described(schema: Value) -> Value {
    let Value::Map(map) = schema else { return schema };
    let is_description = |key: &Value| key.as_keyword().is_some_and(|key| key.as_str() == "description");
    let entry = |(key, value): (Value, Value)| match value.as_str() {
        Some(text) if is_description(&key) => (key, Value::from(one_line(text))),
        Some(_) | None => (key, described(value)),
    };
    Value::Map(map.into_iter().map(entry).collect())
}

/// A part of the description, nil if it has none. Read anew each time: lists of tools are asked for rarely.
fn part(text: &str, key: &str) -> Value {
    let text = read(text.as_bytes(), &CAPS).unwrap_or(Value::Nil);
    text.as_map().and_then(|map| map.keyword(key)).cloned().unwrap_or(Value::Nil)
}

const CAPS: Caps = Caps { bytes_max: 65_536, depth_max: 64, digits_max: 20, forms_max: 10_000 };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::psi;
    use crate::domain::{PayloadKind, PromptSource, Role, SkillSource, ThinkingLevel};
    use crate::limits;

    #[test]
    fn every_tool_is_described() {
        let of = |dialect: Dialect| -> Vec<&str> {
            TOOLBOX.iter().filter(|tool| tool.dialect == dialect).map(|tool| tool.name).collect()
        };
        assert_eq!(of(Dialect::Cron), cron::Tool::NAMES);
        assert_eq!(of(Dialect::Reminder), reminder::Tool::NAMES);
        assert_eq!(of(Dialect::SessionAction), session_action::Tool::NAMES);
        assert_eq!(of(Dialect::ClaudeCron), claude_cron::Tool::NAMES);
        assert_eq!(of(Dialect::Watch), watch::Tool::NAMES);
        assert_eq!(of(Dialect::Scheduler), scheduler::Tool::NAMES);
        assert_eq!(of(Dialect::Native), native::Tool::NAMES);
        assert_eq!(of(Dialect::Channels), channels::Tool::NAMES);
        assert_eq!(of(Dialect::Memory), memory::Tool::NAMES);
        assert_eq!(of(Dialect::Primitives), primitives::Tool::NAMES);
        for tool in TOOLBOX {
            assert!(!tool.description().is_empty(), "{}", tool.name);
            let schema = tool.input_schema();
            let kind = schema.as_map().and_then(|map| map.keyword("type")).and_then(Value::as_str);
            assert_eq!(kind, Some("object"), "{}", tool.name);
        }
    }

    /// The schema's lists and bounds are those of the code.
    #[test]
    fn the_schema_of_psis_tool_has_the_words_and_bounds_of_the_rules() {
        let schema = TOOLBOX[0].input_schema();
        let at = |path: &str| {
            let step = |value: Value, key: &str| match value.as_items() {
                Some(items) => items.get(key.parse::<usize>().ok()?).cloned(),
                None => value.as_map().and_then(|map| map.keyword(key)).cloned(),
            };
            path.split(' ').try_fold(schema.clone(), step).unwrap_or(Value::Nil)
        };
        let names = |names: Vec<&str>| Value::vector(names.into_iter().map(Value::from).collect::<Vec<_>>());
        let config = "properties session-config anyOf 1 properties";
        let lists = [
            ("properties op enum".to_owned(), psi::Op::ALL.iter().map(|op| op.name()).collect()),
            (
                "properties kind enum".to_owned(),
                vec![PayloadKind::Message.name(), PayloadKind::Session.name()],
            ),
            (format!("{config} thinking-level enum"), ThinkingLevel::ALL.iter().map(|x| x.name()).collect()),
            (
                format!("{config} developer-prompt-source enum"),
                PromptSource::ALL.iter().map(|x| x.name()).collect(),
            ),
            (
                format!("{config} skills items properties source enum"),
                SkillSource::ALL.iter().map(|x| x.name()).collect(),
            ),
            (
                format!("{config} preloaded-messages items properties role enum"),
                Role::ALL.iter().map(|x| x.name()).collect(),
            ),
        ];
        for (path, expected) in lists {
            assert_eq!(at(&path), names(expected), "{path}");
        }
        let preloaded = format!("{config} preloaded-messages maxItems");
        let tool_ids = format!("{config} tool-ids maxItems");
        let bounds = [
            ("properties message maxLength", limits::TEXT_BYTES),
            ("properties label maxLength", limits::LABEL_BYTES),
            ("properties delay-ms minimum", limits::DELAY_MS_MIN),
            ("properties delay-ms maximum", limits::DELAY_MS_MAX),
            (tool_ids.as_str(), limits::CONFIG_ITEMS),
            (preloaded.as_str(), limits::PRELOADED_MESSAGES),
        ];
        for (path, limit) in bounds {
            assert_eq!(at(path).to_string(), limit.value.to_string(), "{path}");
        }
    }
}
