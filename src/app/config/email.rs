//! Reads `[channels.NAME.email]` of the configuration file: a mail server, and from whom and to whom messages go.
//!
//! Invariant: no error message contains the password.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use crate::adapter::outbound::{ChannelRoute, Client, MailAddress, MailServer, Mailer, NetworkOs, Trust};
use crate::limits;

/// The section as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::app) struct EmailConfig {
    /// `smtps://HOST` or `smtp://HOST`, with a port or without.
    server: String,
    /// Whether the server has to offer TLS behind `smtp://`. Only one on this machine need not.
    #[serde(default = "yes")]
    starttls: bool,
    user: Option<String>,
    password_file: Option<PathBuf>,
    from: String,
    to: Vec<String>,
    subject: Option<String>,
    ca_file: Option<PathBuf>,
    #[serde(default)]
    loopback: bool,
}

const fn yes() -> bool {
    true
}

impl EmailConfig {
    /// Checks the section.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(in crate::app) fn read(self) -> Result<ChannelRoute, String> {
        let server = MailServer::parse(&self.server, !self.starttls);
        let server = server.map_err(|_| {
            "server is smtps://HOST or smtp://HOST, with a port or without; starttls goes with smtp"
                .to_owned()
        })?;
        if !self.starttls && (!self.loopback || self.user.is_some()) {
            return Err("without starttls a server is on this machine (loopback = true), and takes no user"
                .to_owned());
        }
        let login = match (self.user, &self.password_file) {
            (None, None) => None,
            (Some(user), Some(file)) => {
                // Only the line end is removed: a password may end in a blank.
                Some((user, text_of(file)?.trim_end_matches(['\r', '\n']).to_owned()))
            }
            _ => return Err("user and password-file go together".to_owned()),
        };
        let address = |text: &String| {
            MailAddress::parse(text)
                .ok_or_else(|| format!("{text:?} is no address; write other alphabets as punycode"))
        };
        let to: Vec<MailAddress> = self.to.iter().map(address).collect::<Result<_, _>>()?;
        if to.is_empty() || to.len() as u64 > limits::BROADCAST.value {
            return Err(format!("to has from 1 to {} addresses", limits::BROADCAST.value));
        }
        let mut trust = Trust::system();
        if let Some(file) = &self.ca_file {
            trust.add(text_of(file)?.as_bytes()).map_err(|fault| format!("{}: {fault}", file.display()))?;
        }
        let client = Client::for_mail(Arc::new(NetworkOs), trust).map_err(|error| error.to_string())?;
        let client = client.allowing(server.endpoint());
        let client = if self.loopback { client.with_loopback() } else { client };
        let (from, subject) = (address(&self.from)?, self.subject.unwrap_or_else(|| SUBJECT.to_owned()));
        check_subject(&subject)?;
        Ok(ChannelRoute::Email(Box::new(Mailer { server, client, login, from, to, subject: subject.into() })))
    }
}

fn text_of(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Checks the places of a subject.
fn check_subject(subject: &str) -> Result<(), String> {
    if subject.len() as u64 > limits::LABEL_BYTES.value || subject.contains(char::is_control) {
        return Err(format!("subject is one line of at most {} bytes", limits::LABEL_BYTES.value));
    }
    for place in subject.split("{{").skip(1) {
        let place = place.split_once("}}").map(|(place, _)| place.trim());
        if !place.is_some_and(|place| ["label", "channel", "session"].contains(&place)) {
            return Err("subject: its places are {{label}}, {{channel}} and {{session}}".to_owned());
        }
    }
    Ok(())
}

const SUBJECT: &str = "{{label}}";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &str) -> Result<ChannelRoute, String> {
        let rest = "from = \"Reveille <bot@example.com>\"\nto = [\"ops@example.com\"]\n";
        let rest = if lines.contains("to =") { "from = \"bot@example.com\"\n" } else { rest };
        toml::from_str::<EmailConfig>(&format!("{rest}{lines}\n"))
            .map_err(|error| error.message().to_owned())?
            .read()
    }

    #[test]
    fn what_is_written_becomes_a_mail_server() {
        for (lines, shown) in [
            ("server = \"smtps://mail.example.com\"", "smtps://mail.example.com:465"),
            ("server = \"smtp://mail.example.com\"", "smtp://mail.example.com:587"),
            (
                "server = \"smtp://localhost:2525\"\nstarttls = false\nloopback = true",
                "smtp://localhost:2525",
            ),
        ] {
            let channel = read(lines).expect(lines).channel("mail".into(), true);
            assert_eq!((channel.kind.name(), &*channel.goes_to), ("email", shown));
        }
    }

    /// Each message says what to write instead.
    #[test]
    fn what_makes_no_sense_is_refused() {
        let smtp = "server = \"smtp://mail.example.com\"";
        for (lines, why) in [
            ("server = \"https://mail.example.com\"", "server is smtps://HOST"),
            ("server = \"smtp://mail.example.com/x\"", "server is smtps://HOST"),
            ("server = \"smtps://mail.example.com\"\nstarttls = false", "server is smtps://HOST"),
            (&*format!("{smtp}\nstarttls = false"), "without starttls"),
            (&*format!("{smtp}\nuser = \"u\""), "user and password-file go together"),
            (&*format!("{smtp}\nto = []"), "to has from 1 to"),
            (&*format!("{smtp}\nto = [\"ops\"]"), "\"ops\" is no address"),
            (&*format!("{smtp}\nto = [\"a@b.example\\r\\nBcc: x@y.example\"]"), "is no address"),
            (&*format!("{smtp}\nsubject = \"{{{{text}}}}\""), "subject: its places are"),
            (&*format!("{smtp}\nsubject = \"a\\nb\""), "subject is one line"),
            (&*format!("{smtp}\npassword = \"secret\""), "unknown field"),
        ] {
            let said = read(lines).err().expect(lines);
            assert!(said.contains(why), "{lines}: {said}");
        }
    }
}
