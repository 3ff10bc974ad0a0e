//! Reads `[channels.NAME.inbound]` of the configuration file: who may tell a session something, by which proof.
//!
//! Invariant: no error message contains a secret.

use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use crate::adapter::outbound::{Proof, ProofKind, SigningKey};
use crate::domain::SessionId;
use crate::limits;
use crate::service::Inbound;

/// The section as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct InboundConfig {
    /// Which proof: standard, github, slack or token.
    verify: String,
    /// The signing keys, for standard.
    #[serde(default)]
    key_files: Vec<PathBuf>,
    /// The shared secret, for the others.
    secret_file: Option<PathBuf>,
    /// The session whose turns the events begin.
    session: String,
    /// The text of the turn, with places for values of the event.
    text: Option<String>,
}

impl InboundConfig {
    /// Checks the section.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn checked(self) -> Result<(Proof, Inbound), String> {
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
        let session = SessionId::new(&self.session).map_err(|error| format!("session: {error}"))?;
        let text = self.text.map(String::into_boxed_str);
        if text.as_ref().is_some_and(|text| text.len() as u64 > limits::LABEL_BYTES.value) {
            return Err(format!("text has at most {} bytes", limits::LABEL_BYTES.value));
        }
        Ok((proof, Inbound { session, text }))
    }
}
