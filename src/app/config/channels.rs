//! Reads the channels of the configuration file, and opens them. A channel is a way out of the process.
//!
//! Invariant: no error message and no log line contains a key, the value of an environment
//! variable, or the path of an endpoint.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use super::email::EmailConfig;
use super::inbound::InboundConfig;
use crate::adapter::outbound::{
    ChannelRoute, Client, Endpoint, NetworkOs, OutboundCourier, Pace, Program, Proof, Shape, SigningKey,
    Trust,
};
use crate::app::fault::AppFault;
use crate::domain::Channel;
use crate::limits;
use crate::service::{Inbound, Service};

/// One channel as written in a configuration file: either `url` or `command`.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::app) struct ChannelConfig {
    url: Option<String>,
    /// A file with the url, where the url is a secret.
    url_file: Option<PathBuf>,
    shape: Option<String>,
    rate: Option<String>,
    burst: Option<u32>,
    #[serde(default)]
    keys: Vec<String>,
    #[serde(default)]
    key_files: Vec<PathBuf>,
    ca_file: Option<PathBuf>,
    #[serde(default)]
    loopback: bool,
    command: Option<Vec<String>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    inherit: BTreeSet<String>,
    cwd: Option<PathBuf>,
    timeout_ms: Option<u64>,
    #[serde(default)]
    agents: bool,
    #[serde(default)]
    agents_manage: bool,
    /// A mail server, and what messages to it look like.
    email: Option<EmailConfig>,
    /// What comes in by the channel.
    inbound: Option<InboundConfig>,
}

/// The validated channels, ready to be opened.
#[derive(Default)]
pub(in crate::app) struct Channels {
    ways: BTreeMap<Box<str>, ChannelRoute>,
    paces: BTreeMap<Box<str>, Pace>,
    channels: Vec<Channel>,
    proofs: BTreeMap<Box<str>, Proof>,
    inbound: BTreeMap<Box<str>, Inbound>,
}

impl Channels {
    /// Validates the channels of a configuration file.
    ///
    /// # Errors
    /// [`AppFault`] with the channel's name and the reason.
    pub(in crate::app) fn new(
        written: BTreeMap<String, ChannelConfig>,
        inherited: impl Fn(&str) -> Option<String>,
    ) -> Result<Channels, AppFault> {
        let max = limits::CHANNELS;
        if written.len() as u64 > max.value {
            return Err(AppFault::usage(format!("{} channels: at most {}", written.len(), max.value)));
        }
        let mut channels = Channels::default();
        for (name, written) in written {
            let wrong = |what: String| AppFault::usage(format!("the channel {name:?}: {what}"));
            let is_name = (1..=limits::ID_BYTES.value).contains(&(name.len() as u64))
                && name.bytes().all(|byte| byte.is_ascii_graphic());
            if !is_name {
                return Err(wrong("a name is printable ASCII without blanks".to_owned()));
            }
            let (agents, agents_manage) = (written.agents, written.agents_manage);
            if agents_manage && !agents {
                return Err(wrong("agents-manage goes with agents = true".to_owned()));
            }
            let mut written = written;
            if let Some(inbound) = written.inbound.take() {
                let (proof, inbound) =
                    inbound.checked(&name).map_err(|what| wrong(format!("inbound: {what}")))?;
                channels.proofs.insert((&*name).into(), proof);
                channels.inbound.insert((&*name).into(), inbound);
            }
            let pace = written.pace().map_err(wrong)?;
            let is_url = written.url.is_some() || written.url_file.is_some();
            let email = written.take_email();
            let way = match (is_url, written.command.is_some(), email) {
                (true, false, None) => written.webhook().map_err(wrong)?,
                (false, true, None) => written.command(&inherited).map_err(wrong)?,
                (false, false, Some(way)) if written.is_bare() => {
                    way.map_err(|what| wrong(format!("email: {what}")))?
                }
                (false, false, Some(_)) => {
                    return Err(wrong("what is about a url or a program does not go with email".to_owned()));
                }
                _ => return Err(wrong("give either url or command".to_owned())),
            };
            let name: Box<str> = name.into();
            channels.channels.push(Channel { agents_manage, ..way.channel(name.clone(), agents) });
            channels.paces.extend(pace.map(|pace| (name.clone(), pace)));
            channels.ways.insert(name, way);
        }
        Ok(channels)
    }

    /// The proofs of what comes in, for the server that takes it.
    pub(in crate::app) fn proofs(&self) -> BTreeMap<Box<str>, Proof> {
        self.proofs.clone()
    }

    /// Opens the channels in an engine, both ways.
    ///
    /// # Errors
    /// [`AppFault::Io`] if no thread can be started for them.
    pub(in crate::app) fn open(self, service: &Service) -> Result<(), AppFault> {
        service.open_inbound(self.inbound);
        let outside = OutboundCourier::start_at(self.ways, self.paces);
        let outside = outside.map_err(|error| AppFault::io("channels cannot be opened", error))?;
        for channel in &self.channels {
            let (name, kind, goes_to) = (&channel.name, channel.kind.name(), &channel.goes_to);
            tracing::info!(target: "reveille", %name, kind, %goes_to, agents = channel.agents, "channel opened");
        }
        service.handle().outside().open_channels(Arc::new(outside), self.channels);
        Ok(())
    }
}

impl ChannelConfig {
    /// The way by e-mail, if it is one.
    fn take_email(&mut self) -> Option<Result<ChannelRoute, String>> {
        self.email.take().map(EmailConfig::read)
    }

    /// Whether nothing is written that belongs to a url or to a program.
    fn is_bare(&self) -> bool {
        let of_url = self.shape.is_some() || self.ca_file.is_some() || self.loopback;
        let keys = !self.keys.is_empty() || !self.key_files.is_empty();
        let environment = !self.env.is_empty() || !self.inherit.is_empty();
        !of_url && !keys && !environment && self.cwd.is_none() && self.timeout_ms.is_none()
    }

    fn pace(&self) -> Result<Option<Pace>, String> {
        let Some(rate) = &self.rate else {
            return match self.burst {
                Some(_) => Err("burst goes with a rate".to_owned()),
                None => Ok(None),
            };
        };
        let pace = Pace::parse(rate, self.burst.unwrap_or(BURST).min(BURST_MAX));
        pace.map(Some).ok_or_else(|| "rate is such as 1/s, 20/min or 100/h, and burst at least 1".to_owned())
    }

    fn webhook(self) -> Result<ChannelRoute, String> {
        // An option of the other kind is a mistake, and must not be ignored: it may be about
        // security.
        if !self.env.is_empty() || !self.inherit.is_empty() || self.cwd.is_some() || self.timeout_ms.is_some()
        {
            return Err("env, inherit, cwd and timeout-ms belong to a program, and not to a url".to_owned());
        }
        let shape = self.shape.as_deref().map_or(Ok(Shape::Signed), |name| {
            Shape::parse(name).ok_or_else(|| format!("shape is one of {}", Shape::NAMES.join(", ")))
        })?;
        let url = match (self.url, &self.url_file) {
            (Some(url), None) => url,
            (None, Some(file)) => {
                let text = fs::read_to_string(file);
                let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
                text.trim().to_owned()
            }
            _ => return Err("give either url or url-file".to_owned()),
        };
        let endpoint = Endpoint::parse(&url).map_err(|fault| format!("url: {fault}"))?;
        let mut keys = Vec::new();
        for (i, key) in self.keys.iter().enumerate() {
            keys.push(SigningKey::parse(key).map_err(|fault| format!("key {}: {fault}", i + 1))?);
        }
        for file in &self.key_files {
            let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
            keys.push(
                SigningKey::parse(text.trim()).map_err(|fault| format!("{}: {fault}", file.display()))?,
            );
        }
        // Receivers tell our posts from forged ones by the signature alone. Where the url itself is the secret, a form that
        // cannot be signed has to be asked for.
        if keys.is_empty() && shape.is_signed() {
            return Err(
                "it has no key: posts are signed; give keys or key-files, or another shape".to_owned()
            );
        }
        if !keys.is_empty() && !shape.takes_keys() {
            return Err(format!("posts of the shape {} are not signed: leave the keys out", shape.name()));
        }
        if keys.len() as u64 > limits::SIGNATURES.value {
            return Err(format!("it has {} keys: at most {}", keys.len(), limits::SIGNATURES.value));
        }
        // A private authority is trusted in addition to the system's, and only for this channel.
        let mut trust = Trust::system();
        if let Some(file) = &self.ca_file {
            let pem = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
            trust.add(&pem).map_err(|fault| format!("{}: {fault}", file.display()))?;
        }
        let client = Client::new(Arc::new(NetworkOs), trust).map_err(|error| error.to_string())?;
        // The client may reach this channel's host and port only; this machine needs `loopback` as
        // well.
        let client = client.allowing(&endpoint);
        let client = if self.loopback { client.with_loopback() } else { client };
        Ok(ChannelRoute::Webhook { shape, endpoint, keys, client })
    }

    fn command(self, inherited: impl Fn(&str) -> Option<String>) -> Result<ChannelRoute, String> {
        let is_webhooks = self.loopback
            || self.ca_file.is_some()
            || self.shape.is_some()
            || !self.keys.is_empty()
            || !self.key_files.is_empty();
        if is_webhooks {
            return Err("shape, keys, key-files, ca-file and loopback belong to a url, and not to a program"
                .to_owned());
        }
        let max = limits::PROGRAM_MS.value;
        let time = self.timeout_ms.unwrap_or(max);
        if !(1..=max).contains(&time) {
            return Err(format!("timeout-ms is from 1 to {max}"));
        }
        let program = ProgramConfig {
            command: self.command.unwrap_or_default(),
            env: self.env,
            inherit: self.inherit,
            cwd: self.cwd,
            time: Duration::from_millis(time),
        };
        program.read(&inherited).map(ChannelRoute::Command)
    }
}

/// A program as written in a configuration file.
pub(in crate::app) struct ProgramConfig {
    pub(in crate::app) command: Vec<String>,
    pub(in crate::app) env: BTreeMap<String, String>,
    pub(in crate::app) inherit: BTreeSet<String>,
    pub(in crate::app) cwd: Option<PathBuf>,
    /// How long it may run.
    pub(in crate::app) time: Duration,
}

impl ProgramConfig {
    /// Validates it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(in crate::app) fn read(self, inherited: &impl Fn(&str) -> Option<String>) -> Result<Program, String> {
        let argv = self.command;
        // No lookup in PATH: the program must not depend on who starts the daemon.
        if !argv.first().is_some_and(|program| Path::new(program).is_absolute()) {
            return Err("command begins with the absolute path of a program".to_owned());
        }
        let directory = self.cwd.unwrap_or_else(|| PathBuf::from("/"));
        if !directory.is_absolute() {
            return Err("cwd is an absolute path".to_owned());
        }
        // Nothing is inherited unless listed: the daemon's environment holds its operator token.
        let mut environment: BTreeMap<String, String> =
            self.inherit.into_iter().filter_map(|name| Some((name.clone(), inherited(&name)?))).collect();
        // A value written in the file wins over an inherited one.
        environment.extend(self.env);
        // A zero byte would cut a string short in `execve`, and `=` would start the value in the
        // name.
        let is_plain = |(name, value): (&String, &String)| {
            !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
        };
        if !environment.iter().all(is_plain) || argv.iter().any(|word| word.contains('\0')) {
            return Err(
                "a name in env is neither empty nor holds =, and nothing holds a zero byte".to_owned()
            );
        }
        let environment = environment.into_iter().collect();
        Ok(Program { argv, environment, directory, time: self.time })
    }
}

/// How many messages go at once after a pause, unless the configuration says otherwise.
const BURST: u32 = 5;
const BURST_MAX: u32 = 1_000;

#[cfg(test)]
mod tests {
    use super::super::without_values;
    use super::*;

    const KEY: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

    fn channels(text: &str) -> Result<Channels, String> {
        let text = text.replace("{key}", KEY);
        let written = toml::from_str::<BTreeMap<String, ChannelConfig>>(&text)
            .map_err(|error| without_values(error.message()))?;
        let inherited = |name: &str| (name == "HOME").then(|| "/home/somebody".to_owned());
        Channels::new(written, inherited).map_err(|fault| fault.to_string())
    }

    #[test]
    fn what_is_written_becomes_a_channel() {
        let text = "[ops]\nurl = \"https://hooks.example.com/T0/secret\"\nkeys = [\"{key}\"]\n\
                    [bell]\ncommand = [\"/usr/bin/bell\", \"--loud\"]\ninherit = [\"HOME\", \"NONE\"]\nenv = { A = \"1\" }\n\
                    agents = true\n";
        let channels = channels(text).expect("they are channels");
        let shown: Vec<_> =
            channels.channels.iter().map(|it| (&*it.name, it.kind.name(), &*it.goes_to, it.agents)).collect();
        assert_eq!(
            shown,
            [
                ("bell", "command", "/usr/bin/bell", true),
                ("ops", "webhook", "https://hooks.example.com", false)
            ]
        );
        let Some(ChannelRoute::Command(program)) = channels.ways.get("bell") else {
            panic!("it is a program")
        };
        let environment = [("A", "1"), ("HOME", "/home/somebody")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!((&program.environment[..], &*program.directory), (&environment[..], Path::new("/")));
    }

    /// Each message names the channel and the reason, and contains no secret.
    #[test]
    fn what_makes_no_sense_is_refused() {
        let url = "url = \"https://hooks.example.com/in/secret\"";
        let cases = [
            ("", "give either url or command"),
            (&*format!("{url}\ncommand = [\"/bin/true\"]"), "give either url or command"),
            (url, "it has no key"),
            (&format!("{url}\nshape = \"slck\""), "shape is one of signed, json, slack, discord"),
            (&format!("{url}\nshape = \"slack\"\nkeys = [\"{{key}}\"]"), "are not signed"),
            (&format!("{url}\nurl-file = \"/etc/none\""), "give either url or url-file"),
            ("url-file = \"/no/such/file\"\nshape = \"slack\"", "/no/such/file: "),
            ("command = [\"/bin/true\"]\nshape = \"slack\"", "belong to a url"),
            ("command = [\"/bin/true\"]\nrate = \"often\"", "rate is such as"),
            ("command = [\"/bin/true\"]\nburst = 2", "burst goes with a rate"),
            ("command = [\"/bin/true\"]\nagents-manage = true", "agents-manage goes with agents = true"),
            (&format!("{url}\nkeys = [\"secret\"]"), "key 1: it must begin with whsec_"),
            (&format!("{url}\nkeys = [\"{{key}}\", \"whsec_c2VjcmV0\"]"), "key 2: it has 6 bytes"),
            (&format!("{url}\nkeys = \"whsec_secret\""), "invalid type: string"),
            (&format!("{url}\nkeys = [\"{{key}}\"]\nkey-files = [\"/no/such/file\"]"), "/no/such/file: "),
            (&format!("{url}\nkeys = [\"{{key}}\"]\nca-file = \"/no/such/file\""), "/no/such/file: "),
            (
                &format!("{url}\nkeys = [\"{{key}}\"]\nca-file = \"/dev/null\""),
                "there is no certificate in it",
            ),
            (&format!("{url}\nkeys = [\"{{key}}\"]\ncwd = \"/\""), "belong to a program"),
            (
                "url = \"https://user:secret@hooks.example.com/\"\nkeys = [\"{key}\"]",
                "url: it holds a user name",
            ),
            (
                "url = \"ftp://hooks.example.com/secret\"\nkeys = [\"{key}\"]",
                "url: it must begin with https://",
            ),
            ("command = []", "absolute path of a program"),
            ("command = [\"bell\"]", "absolute path of a program"),
            ("command = [\"/bin/true\"]\ncwd = \"here\"", "cwd is an absolute path"),
            ("command = [\"/bin/true\"]\ntimeout-ms = 0", "timeout-ms is from 1 to 20000"),
            ("command = [\"/bin/true\"]\ntimeout-ms = 20001", "timeout-ms is from 1 to 20000"),
            ("command = [\"/bin/true\"]\nenv = { \"A=B\" = \"secret\" }", "a name in env"),
            ("command = [\"/bin/true\"]\nkeys = [\"{key}\"]", "belong to a url"),
            ("command = [\"/bin/true\"]\nshell = true", "unknown field"),
        ];
        for (text, expected) in cases {
            let fault = channels(&format!("[ops]\n{text}\n")).err().expect(text);
            assert!(fault.contains(expected), "{text}: {fault}");
            assert!(
                !fault.contains("secret\"") && !fault.contains("c2VjcmV0") && !fault.contains("/secret"),
                "{fault}"
            );
        }
        let fault = channels("[\"a b\"]\ncommand = [\"/bin/true\"]\n").err().expect("it is no name");
        assert!(fault.contains("printable ASCII"), "{fault}");
        let many: String = (0..65).map(|i| format!("[c{i}]\ncommand = [\"/bin/true\"]\n")).collect();
        assert!(channels(&many).err().is_some_and(|fault| fault.contains("at most 64")));
    }
}
