//! Reads the agents of the configuration file.
//!
//! What lives elsewhere: which sessions go to them (`serve/hosted_agents.rs`).
//!
//! Invariant: no error message contains the value of an environment variable.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::adapter::agent::{AgentPlan, Environment, Resume, Timing, ToolRule};
use crate::app::fault::AppFault;
use crate::domain::{AgentKind, AgentName, Span};
use crate::limits;

/// One agent as written in a configuration file.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::app) struct AgentConfig {
    command: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    environment: BTreeSet<String>,
    directory: Option<PathBuf>,
    mode: Option<String>,
    /// Whether it gets our tools in each of its conversations, for the session alone.
    #[serde(default)]
    tools: bool,
    #[serde(default)]
    allow: Vec<ToolRuleConfig>,
    #[serde(default)]
    ask: Vec<ToolRuleConfig>,
    profile: Option<String>,
    #[serde(default)]
    resume: ResumeConfig,
    #[serde(default)]
    holders: Vec<String>,
    processes: Option<u32>,
    turns_per_hour: Option<u32>,
    cost_per_day: Option<f64>,
    start: Option<Time>,
    open: Option<Time>,
    settle: Option<Time>,
    silence: Option<Time>,
    answer: Option<Time>,
    turn: Option<Time>,
    grace: Option<Time>,
    idle: Option<Time>,
    probe: Option<Time>,
    backoff: Option<Time>,
}

/// A time as it is written: a number and its unit.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct Time(Span);

impl TryFrom<String> for Time {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Time, &'static str> {
        span(&text).map(Time).ok_or("a time is written as 500ms, 90s, 2m or 1h")
    }
}

/// What an agent may do unasked, or what an operator is asked about.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolRuleConfig {
    kind: Option<String>,
    tool: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ResumeConfig {
    #[default]
    WhenFree,
    WhenUnknown,
}

/// The validated agents.
#[derive(Default)]
pub(in crate::app) struct Agents(Vec<(AgentPlan, Option<Vec<String>>)>);

impl Agents {
    /// Validates the agents of a configuration file.
    ///
    /// # Errors
    /// [`AppFault`] with the agent's name and the reason.
    pub(in crate::app) fn new(
        written: BTreeMap<String, AgentConfig>,
        inherited: impl Fn(&str) -> Option<String>,
        data_dir: Option<&Path>,
    ) -> Result<Agents, AppFault> {
        let max = limits::AGENTS;
        if written.len() as u64 > max.value {
            return Err(AppFault::usage(format!("{} agents: at most {}", written.len(), max.value)));
        }
        let read = |(name, written): (String, AgentConfig)| {
            let wrong = |what: String| AppFault::usage(format!("the agent {name:?}: {what}"));
            let known = AgentName::new(&name).map_err(|fault| wrong(fault.to_string()))?;
            written.plan(known, &inherited, data_dir).map_err(wrong)
        };
        Ok(Agents(written.into_iter().map(read).collect::<Result<_, _>>()?))
    }

    /// Returns the agents, each with the command that lists its holders, if one is configured.
    pub(in crate::app) fn into_plans(self) -> Vec<(AgentPlan, Option<Vec<String>>)> {
        self.0
    }
}

/// The command of the tool server that agents get: this program, which asks the daemon of this data directory.
fn tool_server(data_dir: Option<&Path>) -> Result<Vec<String>, String> {
    let data_dir = data_dir
        .ok_or("tools = true needs the daemon's own tokens in a data directory, and no REVEILLE_TOKEN")?;
    let data_dir = std::path::absolute(data_dir).map_err(|error| error.to_string())?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let text = |path: PathBuf| {
        path.into_os_string().into_string().map_err(|path| format!("{} is no UTF-8", path.display()))
    };
    Ok(vec![text(program)?, "mcp".to_owned(), "--data-dir".to_owned(), text(data_dir)?])
}

impl AgentConfig {
    fn check_paths(&self) -> Result<(), String> {
        // No lookup in PATH: the program must not depend on who starts the daemon.
        let is_absolute =
            |command: &[String]| command.first().is_some_and(|program| Path::new(program).is_absolute());
        if !is_absolute(&self.command) {
            return Err("command begins with the absolute path of a program".to_owned());
        }
        if !self.holders.is_empty() && !is_absolute(&self.holders) {
            return Err("holders begins with the absolute path of a program".to_owned());
        }
        if self.directory.as_ref().is_some_and(|directory| !directory.is_absolute()) {
            return Err("directory is an absolute path".to_owned());
        }
        Ok(())
    }

    fn plan(
        self,
        name: AgentName,
        inherited: impl Fn(&str) -> Option<String>,
        data_dir: Option<&Path>,
    ) -> Result<(AgentPlan, Option<Vec<String>>), String> {
        let timing = self.timing()?;
        self.check_paths()?;
        // Nothing is inherited unless listed: the daemon's environment holds its operator token.
        let listed = self.environment.into_iter();
        let mut environment: BTreeMap<String, String> =
            listed.filter_map(|name| Some((name.clone(), inherited(&name)?))).collect();
        // A value written in the file wins over an inherited one.
        environment.extend(self.env);
        // With such a name the variable would be another one. A zero byte would make every start fail.
        let is_plain = |(name, value): (&String, &String)| {
            !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
        };
        let words = self.command.iter().chain(&self.holders);
        if !environment.iter().all(is_plain) || words.into_iter().any(|word| word.contains('\0')) {
            return Err(
                "a name in env is neither empty nor holds =, and nothing holds a zero byte".to_owned()
            );
        }
        let processes = self.processes.unwrap_or(PROCESSES);
        let most = limits::AGENT_PROCESSES.value;
        if !(1..=most).contains(&u64::from(processes)) {
            return Err(format!("processes is from 1 to {most}"));
        }
        if self.turns_per_hour == Some(0) {
            return Err("turns-per-hour is 1 or more".to_owned());
        }
        if self.cost_per_day.is_some_and(|most| !(MONEY_MIN..=MONEY_MAX).contains(&most)) {
            return Err(format!("cost-per-day is from {MONEY_MIN} to {MONEY_MAX}"));
        }
        let boxed = |text: String| text.into_boxed_str();
        let rule = |rule: ToolRuleConfig| ToolRule { kind: rule.kind.map(boxed), tool: rule.tool.map(boxed) };
        let allow: Vec<ToolRule> = self.allow.into_iter().map(rule).collect();
        let ask: Vec<ToolRule> = self.ask.into_iter().map(rule).collect();
        // An empty rule would be about every tool.
        if allow.iter().chain(&ask).any(|rule| *rule == ToolRule::default()) {
            return Err("a rule of allow or ask has kind or tool, or both".to_owned());
        }
        let plan = AgentPlan {
            kind: AgentKind::of(self.profile.as_deref().unwrap_or(name.as_str())),
            name,
            command: self.command,
            environment: Environment(environment.into_iter().collect()),
            directory: self.directory,
            mode: self.mode.map(boxed),
            tools: if self.tools { Some(tool_server(data_dir)?) } else { None },
            allow,
            ask,
            resume: match self.resume {
                ResumeConfig::WhenFree => Resume::WhenFree,
                ResumeConfig::WhenUnknown => Resume::WhenUnknown,
            },
            processes,
            turns_per_hour: self.turns_per_hour,
            cost_per_day: self.cost_per_day,
            timing,
        };
        Ok((plan, Some(self.holders).filter(|holders| !holders.is_empty())))
    }

    /// The deadlines, as far as they are written.
    fn timing(&self) -> Result<Timing, String> {
        let default = Timing::default();
        let time = |time: Option<Time>, default: Span| time.map_or(default, |time| time.0);
        let timing = Timing {
            start: time(self.start, default.start),
            open: time(self.open, default.open),
            settle: time(self.settle, default.settle),
            silence: time(self.silence, default.silence),
            answer: time(self.answer, default.answer),
            turn: time(self.turn, default.turn),
            grace: time(self.grace, default.grace),
            idle: time(self.idle, default.idle),
            probe: time(self.probe, default.probe),
            backoff: time(self.backoff, default.backoff),
        };
        if timing.silence.millis() > limits::AGENT_SILENCE_MS.value {
            return Err(format!("silence is at most {} s", limits::AGENT_SILENCE_MS.value / 1_000));
        }
        // The engine gives the receipt up after that time, and the agent would have the prompt all the same. The conversation is
        // opened, and then its mode is set.
        let [start, open, settle, silence] =
            [timing.start, timing.open, timing.settle, timing.silence].map(Span::millis);
        let before_receipt = start.saturating_add(open.saturating_mul(2)).saturating_add(settle);
        let receipt = limits::AGENT_RECEIPT_MS.value;
        if before_receipt.saturating_add(silence) >= receipt {
            let sum = "start, twice open, settle and silence are less than";
            return Err(format!("{sum} {} s together", receipt / 1_000));
        }
        // Without a wait, processes would be started one after another for as long as a conversation is held.
        let least = limits::AGENT_WAIT_MS_MIN;
        for (key, time) in [("probe", timing.probe), ("backoff", timing.backoff)] {
            if time.millis() < least.value {
                return Err(format!("{key} is too short: {} is {} {}", least.name, least.value, least.unit));
            }
        }
        Ok(timing)
    }
}

/// Reads a number and its unit.
fn span(text: &str) -> Option<Span> {
    let digits = text.find(|char: char| !char.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    let unit: u64 = match &text[digits..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.checked_mul(unit).filter(|ms| *ms <= limits::AGENT_TURN_MS.value).map(Span::from_millis)
}

/// Processes that an agent may have if nothing is configured.
const PROCESSES: u32 = 4;
/// Bounds of what an agent may cost in a day, in any currency.
const MONEY_MIN: f64 = 0.000_001;
const MONEY_MAX: f64 = 1_000_000_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn agents(lines: &str) -> Result<Agents, String> {
        let text = format!("[x]\ncommand = [\"/bin/true\"]\n{lines}\n");
        let written: BTreeMap<String, AgentConfig> =
            toml::from_str(&text).map_err(|error| error.to_string())?;
        Agents::new(written, |_| None, None).map_err(|fault| fault.to_string())
    }

    #[test]
    fn times_outside_their_bounds_are_refused() {
        for (line, expected) in [
            ("probe = \"0s\"", "the agent \"x\": probe is too short: agent-wait-ms-min is 20 ms"),
            ("probe = \"19ms\"", "agent-wait-ms-min is 20 ms"),
            ("backoff = \"0ms\"", "backoff is too short: agent-wait-ms-min is 20 ms"),
            ("silence = \"601s\"", "silence is at most 600 s"),
            ("settle = \"740s\"", "start, twice open, settle and silence are less than 900 s together"),
            ("open = \"5m\"\nsilence = \"5m\"", "are less than 900 s together"),
            ("turn = \"25h\"", "a time is written as 500ms, 90s, 2m or 1h"),
        ] {
            let fault = agents(line).err().expect(line);
            assert!(fault.contains(expected), "{line}: {fault}");
        }
        // By default they are 10 s, twice 30 s, none and 90 s.
        assert!(agents("settle = \"739s\"").is_ok() && agents("settle = \"740s\"").is_err());
        for line in
            ["probe = \"20ms\"\nbackoff = \"20ms\"", "settle = \"0s\"", "silence = \"10m\"", "turn = \"24h\""]
        {
            assert!(agents(line).is_ok(), "{line}");
        }
    }
}
