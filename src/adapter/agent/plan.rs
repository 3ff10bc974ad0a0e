//! How one agent is run, as an operator has configured it.

use std::path::{Path, PathBuf};

use crate::domain::{AgentKind, AgentName, HolderKnown, PermissionAnswer, Reason, Span};
use crate::limits;

use super::wire::Asked;

/// An agent as it is configured.
#[derive(Clone, Debug)]
pub struct AgentPlan {
    /// The name under which it is configured.
    pub name: AgentName,
    /// The absolute path of the program, then its arguments. No shell is involved.
    pub command: Vec<String>,
    /// The whole environment; nothing else is inherited.
    pub environment: Environment,
    /// The working directory of conversations that have none of their own.
    pub directory: Option<PathBuf>,
    /// The mode that is set before each conversation goes on.
    pub mode: Option<Box<str>>,
    /// The command of our own tool server, which the agent gets in each of its conversations; `None` if it gets none.
    pub tools: Option<Vec<String>>,
    /// What the agent may do unasked.
    pub allow: Vec<ToolRule>,
    /// What else an operator is asked about. Everything else is refused, once.
    pub ask: Vec<ToolRule>,
    /// What is done where nobody can say who holds a conversation.
    pub resume: Resume,
    /// How many processes it may have at a time.
    pub processes: u32,
    /// How many turns it may have in an hour; `None` for any number.
    pub turns_per_hour: Option<u32>,
    /// What its turns may cost in a day, in the currency in which it counts; `None` for any amount.
    pub cost_per_day: Option<f64>,
    /// The deadlines.
    pub timing: Timing,
    /// What is known of agents of this kind.
    pub kind: &'static AgentKind,
}

/// The environment of a process. Its values are not printed: they often are secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(pub Vec<(String, String)>);

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// Whether a conversation is resumed while its holder is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resume {
    /// Only if it is known that nobody holds it.
    #[default]
    WhenFree,
    /// Also if it is unknown who holds it.
    WhenUnknown,
}

/// The deadlines of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// For the answer to `initialize`.
    pub(crate) start: Span,
    /// For the conversation to be open.
    pub(crate) open: Span,
    /// Between the opening and the first prompt, so that the agent's tools are connected.
    pub(crate) settle: Span,
    /// For the next sign within a turn.
    pub(crate) silence: Span,
    /// For an operator to answer what the agent asks permission for.
    pub(crate) answer: Span,
    /// For a turn as a whole.
    pub(crate) turn: Span,
    /// After a cancel, and again after the signal to end.
    pub(crate) grace: Span,
    /// How long a process without a turn is kept.
    pub(crate) idle: Span,
    /// Between two questions who holds a conversation.
    pub(crate) probe: Span,
    /// The wait after the first start that failed; it doubles up to `limits::AGENT_BACKOFF_MS`.
    pub(crate) backoff: Span,
}

impl Default for Timing {
    fn default() -> Timing {
        let seconds = |seconds: u64| Span::from_millis(seconds * 1_000);
        Timing {
            start: seconds(10),
            open: seconds(30),
            settle: Span::ZERO,
            silence: seconds(90),
            answer: seconds(600),
            turn: seconds(1_800),
            grace: seconds(5),
            idle: seconds(120),
            probe: seconds(2),
            backoff: seconds(1),
        }
    }
}

impl AgentPlan {
    /// Returns whether the agent's program is there, without starting it.
    pub(super) fn is_installed(&self) -> bool {
        self.command.first().is_some_and(|program| Path::new(program).is_file())
    }

    /// Returns why a conversation was not opened, by the agent's error.
    pub(super) fn unopened(&self, error: &str) -> Reason {
        let is_held = matches!(self.kind.holder, HolderKnown::ByAgent(says) if error.contains(says));
        if is_held { Reason::HeldElsewhere } else { Reason::ResumeFailed }
    }

    /// Returns the wait before a missing program or login is looked for again, and before an agent is asked again that refused to
    /// open a conversation: it may change at any time, and looking costs little.
    pub(super) fn missing_wait(&self) -> Span {
        let wait = self.timing.backoff.millis().saturating_mul(10);
        Span::from_millis(wait).min(Span::from_millis(limits::AGENT_BACKOFF_MS.value))
    }
}

/// A rule about what an agent asks permission for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRule {
    /// The kind of tool, such as `read`; any if it is not given.
    pub(crate) kind: Option<Box<str>>,
    /// The title of the tool, in which `*` stands for anything; any if it is not given.
    pub(crate) tool: Option<Box<str>>,
}

impl ToolRule {
    fn is_about(&self, asked: &Asked) -> bool {
        self.kind.as_ref().is_none_or(|kind| *kind == asked.kind)
            && self.tool.as_ref().is_none_or(|pattern| matches(pattern, &asked.title))
    }
}

/// What becomes of a question for permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A rule allows it, this once.
    Allow,
    /// An operator is asked.
    Ask,
    /// It is refused, this once.
    Reject,
}

impl AgentPlan {
    /// Judges a question for permission by the rules: one that allows goes before one that asks.
    pub(super) fn judge(&self, asked: &Asked) -> Verdict {
        let is_in = |rules: &[ToolRule]| rules.iter().any(|rule| rule.is_about(asked));
        match asked.option(ALLOW_ONCE) {
            // Without that option, an operator could only refuse it.
            None => Verdict::Reject,
            Some(_) if is_in(&self.allow) => Verdict::Allow,
            Some(_) if is_in(&self.ask) => Verdict::Ask,
            Some(_) => Verdict::Reject,
        }
    }
}

/// Returns the answer to a question for permission, and the option that says it. Nothing is ever allowed or refused for always.
pub(super) fn answer(asked: &Asked, is_allowed: bool) -> (PermissionAnswer, Option<&str>) {
    let allow = || Some((PermissionAnswer::Allowed, asked.option(ALLOW_ONCE)?));
    let reject = || Some((PermissionAnswer::Rejected, asked.option(REJECT_ONCE)?));
    let chosen = if is_allowed { allow() } else { None };
    chosen
        .or_else(reject)
        .map_or((PermissionAnswer::Cancelled, None), |(answer, option)| (answer, Some(option)))
}

const ALLOW_ONCE: &str = "allow_once";
const REJECT_ONCE: &str = "reject_once";

/// Returns whether a text is as a pattern says, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        // Each part is looked for when the next one is known, because the last one has to be at the end.
        if let Some(part) = last.replace(part) {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
    }
    // Without a `*` nothing may follow; behind the last one, the text may only end so.
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

#[cfg(test)]
impl AgentPlan {
    /// A plan without a program.
    pub(super) fn bare(name: &str) -> AgentPlan {
        AgentPlan {
            name: AgentName::new(name).expect("a name"),
            command: Vec::new(),
            environment: Environment::default(),
            directory: None,
            mode: None,
            tools: None,
            allow: Vec::new(),
            ask: Vec::new(),
            resume: Resume::WhenFree,
            processes: 1,
            turns_per_hour: None,
            cost_per_day: None,
            timing: Timing::default(),
            kind: AgentKind::of(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::details::Details;
    use super::*;

    fn asked(kind: &str, title: &str, options: &[&str]) -> Asked {
        Asked {
            call: "t1".into(),
            title: title.into(),
            kind: kind.into(),
            details: Details::of(&serde_json::Value::Null),
            options: options.iter().map(|it| (format!("o-{it}").into(), (*it).into())).collect(),
        }
    }

    #[test]
    fn patterns_match_as_written() {
        for (pattern, text, is_so) in [
            ("read", "read", true),
            ("read", "read it", false),
            ("*", "", true),
            ("git *", "git status", true),
            ("git *", "git", false),
            ("a*b*c", "a b b c", true),
            ("a*b*c", "a c b", false),
            ("*x", "xx", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, text), is_so, "{pattern} {text}");
        }
    }

    #[test]
    fn what_no_rule_is_about_is_refused() {
        let rule = |kind: &str| ToolRule { kind: Some(kind.into()), tool: None };
        let (allow, ask) = (vec![rule("read")], vec![rule("read"), rule("execute")]);
        let plan = AgentPlan { allow, ask, ..AgentPlan::bare("x") };
        let judged = |kind: &str, option: &str| plan.judge(&asked(kind, "t", &[option]));
        assert_eq!(judged("read", "allow_once"), Verdict::Allow);
        assert_eq!(judged("execute", "allow_once"), Verdict::Ask);
        assert_eq!(judged("edit", "allow_once"), Verdict::Reject);
        assert_eq!(judged("read", "allow_always"), Verdict::Reject, "never for always");
    }

    #[test]
    fn nothing_is_allowed_for_always() {
        let all = ["allow_always", "allow_once", "reject_always", "reject_once"];
        let answered = |options: &[&str], is_allowed| {
            let asked = asked("read", "t", options);
            let (answer, option) = answer(&asked, is_allowed);
            (answer, option.map(ToOwned::to_owned))
        };
        assert_eq!(answered(&all, true), (PermissionAnswer::Allowed, Some("o-allow_once".to_owned())));
        assert_eq!(answered(&all, false), (PermissionAnswer::Rejected, Some("o-reject_once".to_owned())));
        let always = ["allow_always", "reject_always"];
        assert_eq!(answered(&always, true), (PermissionAnswer::Cancelled, None));
    }
}
