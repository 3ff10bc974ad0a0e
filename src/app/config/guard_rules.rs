//! Reads the guard's policy from the configuration file. It is validated at the start, so that no
//! rule is misread in silence.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use crate::adapter::ClockOs;
use crate::adapter::outbound::{Client, Endpoint, GuardRoute, Hook, NetworkOs, Program, SigningKey, Trust};
use crate::app::fault::AppFault;
use crate::calendar::Zones;
use crate::domain::{
    Dialect, GuardPolicy, PayloadKind, Rule, RuleScope, Ruling, SessionId, Span, TimeOfDay, TimeWindow,
    Weekday, Weekdays,
};
use crate::limits;

/// The table `[guard]` of a configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(in crate::app) struct GuardFile {
    /// How long a held run waits for an operator, in seconds; 0 denies it at once.
    approval_wait_s: Option<u64>,
    rules: Vec<RuleFile>,
    /// A program that is asked about every run that the rules allow: its absolute path and
    /// arguments.
    command: Vec<String>,
    /// An endpoint that is asked instead of a program.
    url: Option<String>,
    /// The file with the key that signs questions to the endpoint.
    key_file: Option<PathBuf>,
    /// Whether the endpoint may be on this machine.
    allow_loopback: bool,
    /// The external guard's time limit; a later answer counts as a refusal.
    timeout_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct RuleFile {
    name: String,
    then: String,
    why: Option<String>,
    #[serde(default)]
    sessions: Vec<String>,
    #[serde(default)]
    dialects: Vec<String>,
    #[serde(default)]
    kinds: Vec<String>,
    #[serde(default)]
    tools: Vec<String>,
    window: Option<WindowFile>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct WindowFile {
    #[serde(default)]
    days: Vec<String>,
    from: String,
    until: String,
    #[serde(default)]
    zone: Option<String>,
}

impl GuardFile {
    /// Validates the policy.
    ///
    /// # Errors
    /// [`AppFault::Usage`] for the first invalid entry, with its rule.
    pub(in crate::app) fn policy(self, zones: &Zones) -> Result<GuardPolicy, AppFault> {
        let asks = self.patience()?;
        let (rules, most) = (self.rules.len() as u64, limits::GUARD_RULES.value);
        if rules > most {
            return Err(AppFault::usage(format!("[guard] has {rules} rules, and {most} are allowed")));
        }
        let wait = self.approval_wait_s.unwrap_or(limits::APPROVAL_MS.value / 1_000);
        let wait_max = limits::APPROVAL_MS_MAX.value / 1_000;
        if wait > wait_max {
            return Err(AppFault::usage(format!(
                "[guard] approval-wait-s is {wait}, and at most {wait_max}"
            )));
        }
        let mut policy = GuardPolicy {
            rules: Vec::with_capacity(self.rules.len()),
            // 0 means that no operator approves, so held runs are denied at once.
            approval: (wait > 0).then(|| Span::from_millis(wait * 1_000)),
            asks,
        };
        for rule in self.rules {
            // Names appear as reasons in the log, so each must mean one rule.
            if policy.rules.iter().any(|known| *known.name == *rule.name) {
                return Err(AppFault::usage(format!("[guard] has two rules of the name {:?}", rule.name)));
            }
            let name = rule.name.clone();
            let read = rule.read(zones);
            policy.rules.push(read.map_err(|why| AppFault::usage(format!("[guard] rule {name:?}: {why}")))?);
        }
        Ok(policy)
    }
}

/// The tools of which an operator approves each call, by their names or with `*` at their end, and those among them that are
/// excepted.
#[derive(Default)]
pub(in crate::app) struct ApprovedTools {
    pub(in crate::app) held: Vec<Box<str>>,
    pub(in crate::app) free: Vec<Box<str>>,
}

/// Adds rules for the calls of tools that an operator approves one by one. They come last: what another rule refuses stays
/// refused.
///
/// # Errors
/// [`AppFault::Usage`] if a rule has one of their names.
pub(in crate::app) fn with_tools(
    policy: Option<GuardPolicy>,
    tools: ApprovedTools,
) -> Result<Option<GuardPolicy>, AppFault> {
    if tools.held.is_empty() {
        return Ok(policy);
    }
    let wait = Span::from_millis(limits::APPROVAL_MS.value);
    let mut policy = policy.unwrap_or(GuardPolicy { approval: Some(wait), ..GuardPolicy::default() });
    // The exceptions come first, because the first rule that fits decides (`engine/guard.rs`).
    for (name, tools, then) in [(FREE, tools.free, Ruling::Allow), (OF_TOOLS, tools.held, Ruling::Hold)] {
        if policy.rules.iter().any(|rule| *rule.name == *name) {
            return Err(AppFault::usage(format!(
                "[guard] rule {name:?}: tools with `approval` have a rule of this name"
            )));
        }
        if !tools.is_empty() {
            let of = RuleScope { kinds: vec![PayloadKind::Call], tools, ..RuleScope::default() };
            policy.rules.push(Rule { name: name.into(), of, then, why: None });
        }
    }
    Ok(Some(policy))
}

/// The name of the rule of tools that need no approval although others of their server do.
const FREE: &str = "tool-no-approval";
/// The name of the rule of tools that need an approval.
const OF_TOOLS: &str = "tool-approval";

impl GuardFile {
    /// The external guard's time limit; `None` without such a guard.
    fn patience(&self) -> Result<Option<Span>, AppFault> {
        if self.command.is_empty() && self.url.is_none() {
            return Ok(None);
        }
        let (millis, most) = (self.timeout_ms.unwrap_or(limits::GUARD_MS.value), limits::GUARD_MS_MAX.value);
        if millis == 0 || millis > most {
            return Err(AppFault::usage(format!("[guard] timeout-ms is {millis}, and must be 1 to {most}")));
        }
        Ok(Some(Span::from_millis(millis)))
    }

    /// The external guard, if one is configured.
    ///
    /// # Errors
    /// [`AppFault::Usage`] for an invalid entry, [`AppFault::Io`] for a key that cannot be read.
    pub(in crate::app) fn outside(&self) -> Result<Option<GuardRoute>, AppFault> {
        let Some(patience) = self.patience()? else { return Ok(None) };
        match (&self.url, self.command.first()) {
            (Some(_), Some(_)) => {
                Err(AppFault::usage("[guard] has both a command and a url; give one of them"))
            }
            (None, None) => Ok(None),
            (None, Some(program)) if !Path::new(program).is_absolute() => {
                Err(AppFault::usage(format!("[guard] command: {program} is not an absolute path")))
            }
            (None, Some(_)) => Ok(Some(GuardRoute::Command(Program {
                argv: self.command.clone(),
                // Nothing is inherited: the daemon's environment holds its operator token.
                environment: Vec::new(),
                directory: PathBuf::from("/"),
                time: Duration::from_millis(patience.millis()),
            }))),
            (Some(url), None) => {
                self.hook(url, patience).map(|hook| Some(GuardRoute::Webhook(Box::new(hook))))
            }
        }
    }

    fn hook(&self, url: &str, patience: Span) -> Result<Hook, AppFault> {
        let endpoint = Endpoint::parse(url);
        let endpoint = endpoint.map_err(|error| AppFault::usage(format!("[guard] url: {error}")))?;
        let path = self.key_file.as_ref();
        let path =
            path.ok_or_else(|| AppFault::usage("[guard] url needs a key-file, to sign questions with"))?;
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| AppFault::io(format!("{} cannot be read", path.display()), error))?;
        // The message must not contain the key, even an unusable one.
        let key = SigningKey::parse(text.trim())
            .map_err(|error| AppFault::usage(format!("[guard] {}: {error}", path.display())))?;
        let client = Client::new(Arc::new(NetworkOs), Trust::system());
        let client = client.map_err(|error| AppFault::io("[guard] TLS cannot be set up", error))?;
        let client = client.allowing(&endpoint);
        let client = if self.allow_loopback { client.with_loopback() } else { client };
        let hook = Hook { client, endpoint, keys: vec![key], clock: Arc::new(ClockOs) };
        Ok(hook.with_patience(patience))
    }
}

impl RuleFile {
    fn read(self, zones: &Zones) -> Result<Rule, String> {
        if self.name.trim().is_empty() || self.name.len() as u64 > limits::ID_BYTES.value {
            return Err(format!("its name must have 1 to {} bytes", limits::ID_BYTES.value));
        }
        // Reserved: as a reason, it means a refusal by the external guard.
        if self.name == GUARD {
            return Err("that name is reserved for the external guard".to_owned());
        }
        let session = |text: &String| SessionId::new(text).map_err(|error| format!("sessions: {error}"));
        let of = RuleScope {
            sessions: self.sessions.iter().map(session).collect::<Result<_, _>>()?,
            dialects: all_of("dialects", &self.dialects, Dialect::parse, Dialect::NAMES)?,
            kinds: all_of("kinds", &self.kinds, PayloadKind::parse, PayloadKind::NAMES)?,
            tools: self.tools.into_iter().map(String::into_boxed_str).collect(),
            window: self.window.map(|window| window.read(zones)).transpose()?,
        };
        let then = Ruling::parse(&self.then)
            .ok_or_else(|| format!("then is {:?}, and can be {}", self.then, Ruling::NAMES.join(", ")))?;
        let why = self.why.map(String::into_boxed_str);
        if why.as_ref().is_some_and(|why| why.len() as u64 > limits::LABEL_BYTES.value) {
            return Err(format!("why is longer than {} bytes", limits::LABEL_BYTES.value));
        }
        Ok(Rule { name: self.name.into(), of, then, why })
    }
}

impl WindowFile {
    fn read(self, zones: &Zones) -> Result<TimeWindow, String> {
        let time = |name: &str, text: &str| {
            let time = TimeOfDay::parse(text);
            time.ok_or_else(|| format!("window: {name} is {text:?}, and must be a time such as 22:30"))
        };
        let days: Vec<Weekday> = all_of("window: days", &self.days, Weekday::parse, Weekday::NAMES)?;
        let zone = match &self.zone {
            None => zones.usual(None).clone(),
            // A zone that may be wrong would open the window at the wrong time.
            Some(text) => {
                zones.named(text).map_err(|fault| format!("window: zone: {fault}: {}", fault.hint()))?
            }
        };
        Ok(TimeWindow {
            // No days means every day.
            days: Weekdays::new(days).unwrap_or(Weekdays::DAILY),
            from: time("from", &self.from)?,
            until: time("until", &self.until)?,
            zone,
        })
    }
}

/// Parses a list of names, each from a closed set.
fn all_of<T>(
    list: &str,
    texts: &[String],
    parse: impl Fn(&str) -> Option<T>,
    names: &[&str],
) -> Result<Vec<T>, String> {
    let one = |text: &String| {
        parse(text).ok_or_else(|| format!("{list}: there is no {text:?}; there are {}", names.join(", ")))
    };
    texts.iter().map(one).collect()
}

/// The name given as a reason when the external guard decided.
const GUARD: &str = "guard";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let file: Result<GuardFile, _> = toml::from_str(text);
        let said = match file {
            Err(error) => error.message().to_owned(),
            Ok(file) => match file.policy(&Zones::bundled()) {
                Err(fault) => fault.to_string(),
                Ok(policy) => {
                    let rules = policy.rules.iter().map(|rule| format!("{} {}", rule.name, rule.then.name()));
                    let wait = policy.approval.map_or(0, Span::millis);
                    format!("{} waits {wait} ms", rules.collect::<Vec<_>>().join(", "))
                }
            },
        };
        assert_eq!(said, expected, "{text}");
    }

    #[test]
    fn a_policy_is_what_the_file_says_or_an_error_that_says_what_is_wrong() {
        check("", " waits 86400000 ms");
        check("approval-wait-s = 0", " waits 0 ms");
        check("approval-wait-s = 2592001", "[guard] approval-wait-s is 2592001, and at most 2592000");
        check(
            "aproval-wait-s = 1",
            "unknown field `aproval-wait-s`, expected one of `approval-wait-s`, `rules`, `command`, `url`, \
             `key-file`, `allow-loopback`, `timeout-ms`",
        );
        check(
            "command = [\"/bin/guard\"]\ntimeout-ms = 0",
            "[guard] timeout-ms is 0, and must be 1 to 30000",
        );
        let rule = |rest: &str| format!("[[rules]]\nname = \"night\"\n{rest}");
        check(&rule("then = \"hold\""), "night hold waits 86400000 ms");
        check(
            &rule("then = \"deny\""),
            "[guard] rule \"night\": then is \"deny\", and can be allow, hold, refuse",
        );
        check(
            &rule("then = \"hold\"\ndialects = [\"crom\"]"),
            "[guard] rule \"night\": dialects: there is no \"crom\"; there are psi, cron, reminder, \
             session-action, claude-cron, native, primitives, watch, scheduler, channels, memory",
        );
        check(
            &rule("then = \"hold\"\nkinds = [\"turn\"]"),
            "[guard] rule \"night\": kinds: there is no \"turn\"; there are message, session, notice, call",
        );
        check(
            &rule("then = \"hold\"\nsessions = [\" \"]"),
            "[guard] rule \"night\": sessions: an id must not be blank",
        );
        let window = |rest: &str| rule(&format!("then = \"refuse\"\nwindow = {{ {rest} }}"));
        check(
            &window("from = \"22:00\", until = \"6:00\", zone = \"Europe/Berlin\""),
            "night refuse waits 86400000 ms",
        );
        check(
            &window("from = \"22\", until = \"6:00\""),
            "[guard] rule \"night\": window: from is \"22\", and must be a time such as 22:30",
        );
        check(
            &window("days = [\"caturday\"], from = \"22:00\", until = \"6:00\""),
            "[guard] rule \"night\": window: days: there is no \"caturday\"; there are sunday, monday, tuesday, \
             wednesday, thursday, friday, saturday",
        );
        check(
            &format!("{}\n{}", rule("then = \"hold\""), rule("then = \"allow\"")),
            "[guard] has two rules of the name \"night\"",
        );
        check(
            "[[rules]]\nname = \"guard\"\nthen = \"hold\"",
            "[guard] rule \"guard\": that name is reserved for the external guard",
        );
    }

    #[test]
    fn tools_that_need_an_approval_have_the_last_rules() {
        let tools = || ApprovedTools { held: vec!["t.*".into()], free: vec!["t.free".into()] };
        let names = |policy: GuardPolicy| {
            policy.rules.iter().map(|rule| (rule.name.to_string(), rule.then)).collect::<Vec<_>>()
        };
        let none = with_tools(None, ApprovedTools::default()).unwrap();
        assert!(none.is_none());
        let alone = with_tools(None, tools()).unwrap().unwrap();
        assert!(alone.approval.is_some() && alone.asks.is_none());
        let expected = [("tool-no-approval", Ruling::Allow), ("tool-approval", Ruling::Hold)];
        assert_eq!(names(alone), expected.map(|(name, then)| (name.to_owned(), then)));
        let of = RuleScope::default();
        let refusal = Rule { name: "none".into(), of: of.clone(), then: Ruling::Refuse, why: None };
        let mine = GuardPolicy { rules: vec![refusal], ..GuardPolicy::default() };
        let both = with_tools(Some(mine), tools()).unwrap().unwrap();
        assert_eq!(names(both)[0], ("none".to_owned(), Ruling::Refuse));
        let same = Rule { name: OF_TOOLS.into(), of, then: Ruling::Hold, why: None };
        let clash = with_tools(Some(GuardPolicy { rules: vec![same], ..GuardPolicy::default() }), tools());
        assert!(clash.is_err_and(|fault| fault.to_string().contains("tool-approval")));
    }
}
