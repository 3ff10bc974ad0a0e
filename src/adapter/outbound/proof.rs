//! The proof that a post to us comes from whom a channel is configured for.
//!
//! What lives elsewhere: what becomes of the post (`service`). Invariants: secrets are compared in constant time and never
//! printed; a proof that bears a time is believed for as long as the clocks may differ, and no longer.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::signature::{Signed, SigningKey, verify};
use crate::domain::{Moment, names};
use crate::limits;

names! {
    /// Who proves what by which header.
    ProofKind {
        /// The headers of Standard Webhooks.
        Standard = "standard",
        /// The signature of a webhook of GitHub.
        Github = "github",
        /// The signature of an event of Slack, with its time.
        Slack = "slack",
        /// A shared secret in a header, as Telegram and GitLab send it.
        Token = "token",
    }
}

/// The proof that posts to a channel bear.
#[derive(Clone)]
pub struct Proof {
    kind: ProofKind,
    keys: Vec<SigningKey>,
    secret: Box<str>,
}

impl Proof {
    /// The proof of Standard Webhooks, by one of these keys.
    pub fn standard(keys: Vec<SigningKey>) -> Proof {
        Proof { kind: ProofKind::Standard, keys, secret: Box::default() }
    }

    /// A proof by a shared secret; `None` if it is too short to be one, or if the kind needs keys.
    pub fn shared(kind: ProofKind, secret: &str) -> Option<Proof> {
        let is_long = secret.len() as u64 >= limits::CHANNEL_SECRET_BYTES.value;
        let takes_secret = kind != ProofKind::Standard;
        (is_long && takes_secret).then(|| Proof { kind, keys: Vec::new(), secret: secret.into() })
    }

    /// Which proof it is.
    pub fn kind(&self) -> ProofKind {
        self.kind
    }

    /// Whether a post with these headers and this body bears the proof.
    pub fn holds<'h>(&self, header: impl Fn(&str) -> Option<&'h str>, body: &[u8], now: Moment) -> bool {
        match self.kind {
            ProofKind::Standard => {
                let signed = || {
                    Some(Signed {
                        id: header("webhook-id")?,
                        timestamp: header("webhook-timestamp")?,
                        signature: header("webhook-signature")?,
                    })
                };
                signed().is_some_and(|signed| verify(&self.keys, signed, body, now).is_ok())
            }
            ProofKind::Github => {
                let given = header("x-hub-signature-256").and_then(|text| text.strip_prefix("sha256="));
                given.is_some_and(|given| self.is_signed(&[body], given))
            }
            ProofKind::Slack => {
                let seconds = header("x-slack-request-timestamp").unwrap_or_default();
                // Bounds how long a recorded post can be sent again.
                let is_near = seconds
                    .parse::<i64>()
                    .is_ok_and(|at| now.seconds().abs_diff(at) <= limits::SIGNATURE_SECONDS.value);
                let given = header("x-slack-signature").and_then(|text| text.strip_prefix("v0="));
                // What Slack signs: the version, the time and the body.
                let parts = [b"v0:", seconds.as_bytes(), b":", body];
                is_near && given.is_some_and(|given| self.is_signed(&parts, given))
            }
            ProofKind::Token => TOKEN_HEADERS.iter().any(|name| {
                header(name).is_some_and(|given| self.secret.as_bytes().ct_eq(given.as_bytes()).into())
            }),
        }
    }

    fn is_signed(&self, parts: &[&[u8]], given: &str) -> bool {
        let mut hmac =
            Hmac::<Sha256>::new_from_slice(self.secret.as_bytes()).expect("HMAC takes keys of any length");
        parts.iter().for_each(|part| hmac.update(part));
        unhex(given).is_some_and(|given| hmac.verify_slice(&given).is_ok())
    }
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proof({})", self.kind.name())
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

/// The headers in which senders put a shared secret.
const TOKEN_HEADERS: [&str; 3] = ["x-reveille-token", "x-telegram-bot-api-secret-token", "x-gitlab-token"];

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "It's a Secret to Everybody";

    /// Source: GitHub, "Validating webhook deliveries", testing.
    #[test]
    fn the_example_of_github_holds() {
        let proof = Proof::shared(ProofKind::Github, SECRET).expect("long enough");
        let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let header = |name: &str| (name == "x-hub-signature-256").then_some(signature);
        assert!(proof.holds(header, b"Hello, World!", Moment::EPOCH));
        assert!(!proof.holds(header, b"Hello, World?", Moment::EPOCH));
        assert!(!proof.holds(|_| None, b"Hello, World!", Moment::EPOCH));
        for odd in ["sha256=", "sha256=75", "sha256=zz", "757107ea"] {
            assert!(!proof.holds(|_| Some(odd), b"Hello, World!", Moment::EPOCH), "{odd}");
        }
    }

    /// Source: Slack, "Verifying requests from Slack".
    #[test]
    fn the_example_of_slack_holds_at_its_time() {
        let proof = Proof::shared(ProofKind::Slack, "8f742231b10e8888abcd99yyyzzz85a5").expect("long enough");
        let body: &[u8] = b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V\
            &channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=\
            https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=\
            398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
        let header = |name: &str| match name {
            "x-slack-request-timestamp" => Some("1531420618"),
            "x-slack-signature" => {
                Some("v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503")
            }
            _ => None,
        };
        let at = |seconds: i64| Moment::new(seconds, 0).expect("an instant");
        assert!(proof.holds(header, body, at(1_531_420_618)));
        assert!(proof.holds(header, body, at(1_531_420_618 + 300)));
        assert!(!proof.holds(header, body, at(1_531_420_618 + 301)));
    }

    #[test]
    fn a_token_is_the_secret_itself_and_no_short_one() {
        let proof = Proof::shared(ProofKind::Token, SECRET).expect("long enough");
        assert!(proof.holds(|name| (name == "x-gitlab-token").then_some(SECRET), b"", Moment::EPOCH));
        assert!(!proof.holds(|_| Some("It's a Secret"), b"", Moment::EPOCH));
        assert!(Proof::shared(ProofKind::Token, "short").is_none());
        assert!(Proof::shared(ProofKind::Standard, SECRET).is_none());
        assert!(!format!("{proof:?}").contains("Secret"));
    }
}
