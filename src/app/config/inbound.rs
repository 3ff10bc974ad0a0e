//! Reads `[channels.NAME.inbound]` of the configuration file: who may tell a session something, by which proof.
//!
//! Invariant: no error message contains a secret.

use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use crate::adapter::outbound::{Proof, ProofKind, SigningKey};
use crate::domain::{Condition, SessionId};
use crate::engine::parse_condition;
use crate::limits;
use crate::service::{Activation, Inbound, Template};

/// The section as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::app) struct InboundConfig {
    /// Which proof: standard, github, slack or token.
    verify: String,
    /// The signing keys, for standard.
    #[serde(default)]
    key_files: Vec<PathBuf>,
    /// The shared secret, for the others.
    secret_file: Option<PathBuf>,
    /// The session whose turns the events begin, or `per-source` or `per-event`.
    session: String,
    /// Which events count, as a condition on the payload.
    filter: Option<String>,
    /// The text of the turn, with places for values of the event.
    text: Option<String>,
}

impl InboundConfig {
    /// Checks the section.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(in crate::app) fn checked(self, channel: &str) -> Result<(Proof, Inbound), String> {
        let kind = ProofKind::parse(&self.verify)
            .ok_or_else(|| format!("verify is one of {}", ProofKind::NAMES.join(", ")))?;
        let read = |file: &PathBuf| {
            let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
            Ok::<String, String>(text.trim().to_owned())
        };
        let proof = match (kind, &self.secret_file) {
            (ProofKind::Standard, None) => {
                let key = |file: &PathBuf| {
                    SigningKey::parse(&read(file)?).map_err(|fault| format!("{}: {fault}", file.display()))
                };
                let keys: Vec<SigningKey> = self.key_files.iter().map(key).collect::<Result<_, _>>()?;
                if keys.is_empty() || keys.len() as u64 > limits::SIGNATURES.value {
                    return Err(format!("give from 1 to {} key-files", limits::SIGNATURES.value));
                }
                Proof::standard(keys)
            }
            (ProofKind::Standard, Some(_)) => {
                return Err("standard takes key-files, and no secret-file".to_owned());
            }
            (_, Some(file)) if self.key_files.is_empty() => {
                Proof::shared(kind, &read(file)?).ok_or_else(|| {
                    let least = limits::CHANNEL_SECRET_BYTES.value;
                    format!("{}: a secret has at least {least} bytes", file.display())
                })?
            }
            (ProofKind::Github | ProofKind::Slack | ProofKind::Token, _) => {
                return Err(format!("{} takes a secret-file, and no key-files", kind.name()));
            }
        };
        let session = match &*self.session {
            "per-source" => Activation::PerSource,
            "per-event" => Activation::PerEvent,
            name => Activation::Session(SessionId::new(name).map_err(|error| format!("session: {error}"))?),
        };
        // Tried with an empty source: an id that is too long already would refuse every event.
        session.session(channel, "", "").map_err(|error| {
            format!("session: the channel's name is too long for {}: {error}", self.session)
        })?;
        let filter = self.filter.as_deref().map(read_filter).transpose()?;
        let text = self.text.as_deref().map(Template::parse).transpose();
        let text = text.map_err(|why| format!("text: {why}"))?;
        Ok((proof, Inbound { session, filter, text }))
    }
}

/// Reads a condition on the payload of an event, which it calls `result`.
fn read_filter(text: &str) -> Result<Condition, String> {
    let condition =
        parse_condition(text).map_err(|error| format!("filter: {error}; {}", error.fault.hint()))?;
    if !condition.is_about_one_result() {
        return Err(
            "filter: an event has no check before it and no error: name paths in result alone".to_owned()
        );
    }
    Ok(condition)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a section with these lines is refused for, if it is; its secret is right.
    fn refused(name: &str, lines: &str) -> Option<String> {
        let secret = std::env::temp_dir().join(format!("reveille-inbound-{}", std::process::id()));
        fs::write(&secret, "a secret of sixteen").expect("ours");
        let text = format!("verify = \"token\"\nsecret-file = {secret:?}\n{lines}\n");
        let section: InboundConfig = toml::from_str(&text).expect("it is written well");
        section.checked(name).err()
    }

    /// Each message names the key.
    #[test]
    fn what_makes_no_sense_is_refused() {
        for fine in [
            "session = \"main\"",
            "session = \"per-source\"\nfilter = \"result.action == opened\"",
            "session = \"per-event\"\ntext = \"{{message}} of {{payload.a.0}}\"",
        ] {
            assert_eq!(refused("ops", fine), None, "{fine}");
        }
        let long = "x".repeat(120);
        for (name, lines, why) in [
            ("ops", "session = \"\"", "session: "),
            (&*long, "session = \"per-source\"", "session: the channel's name is too long for per-source"),
            ("ops", "session = \"main\"\nfilter = \"result.a\"", "filter: nothing is compared"),
            (
                "ops",
                "session = \"main\"\nfilter = \"changed(result.a)\"",
                "filter: an event has no check before",
            ),
            (
                "ops",
                "session = \"main\"\nfilter = \"error contains x\"",
                "filter: an event has no check before",
            ),
            ("ops", "session = \"main\"\ntext = \"{{nobody}}\"", "text: {{nobody}}: a place begins with"),
        ] {
            let said = refused(name, lines).expect(lines);
            assert!(said.starts_with(why), "{lines}: {said}");
        }
    }
}
