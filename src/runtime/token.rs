//! Tokens: a token is whoever holds it, a session or an operator.
//!
//! Invariant: what is kept of a token is its SHA-256, so that neither a dump of the memory nor a look at the table gives
//! one away. Session tokens are found by that digest, which a guesser does not steer; the few operator tokens are
//! compared in constant time, all of them for every call.

use std::collections::BTreeMap;
use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

use super::sync::{Mutex, UNPOISONED};
use crate::domain::{Caller, Entropy, Entry, Right, SessionId, TokenName};

/// 256 random bits as 64 hexadecimal digits, or what somebody gives for that. It prints itself only where asked to by
/// name.
#[derive(Clone)]
pub struct Token(Box<str>);

impl Token {
    /// A fresh token.
    pub fn from_entropy(one: Entropy, two: Entropy) -> Token {
        let digits = one.0.iter().chain(&two.0).map(|byte| format!("{byte:02x}"));
        Token(digits.collect::<String>().into())
    }

    /// A token as a client sends it; it may stand for nothing.
    pub fn from_text(text: &str) -> Token {
        Token(text.into())
    }

    /// The text, to be given to the one who may use it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// A name for it that gives nothing of it away: the beginning of its digest.
    pub(super) fn fingerprint(&self) -> TokenName {
        let digits: String = self.digest().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        TokenName::new(&digits).expect("eight digits are a name")
    }

    fn digest(&self) -> Digest {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

impl fmt::Debug for Token {
    /// Never the token: debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

type Digest = [u8; 32];

/// The live tokens.
#[derive(Default)]
pub(super) struct Tokens {
    table: Mutex<Table>,
}

/// Both ways, so that neither a look-up nor a close searches.
#[derive(Default)]
struct Table {
    sessions: BTreeMap<Digest, SessionId>,
    digests: BTreeMap<SessionId, Digest>,
    operators: Vec<(Digest, Right, TokenName)>,
}

impl Tokens {
    pub(super) fn issue(&self, token: &Token, session: &SessionId) {
        let digest = token.digest();
        let mut table = self.table.lock().expect(UNPOISONED);
        table.sessions.insert(digest, session.clone());
        table.digests.insert(session.clone(), digest);
    }

    /// What a session's token is kept as.
    pub(super) fn digest_of(&self, session: &SessionId) -> Option<String> {
        let table = self.table.lock().expect(UNPOISONED);
        let digest = table.digests.get(session)?;
        Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Lets whoever holds the token of that digest act as a session; what is no digest is let go.
    pub(super) fn restore(&self, digest: &str, session: &SessionId) {
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digest.as_bytes().chunks(2).map(byte).collect();
        let Some(digest) = bytes.and_then(|bytes| Digest::try_from(bytes).ok()) else { return };
        let mut table = self.table.lock().expect(UNPOISONED);
        table.sessions.insert(digest, session.clone());
        table.digests.insert(session.clone(), digest);
    }

    pub(super) fn admit_operator(&self, token: &Token, right: Right, name: TokenName) {
        self.table.lock().expect(UNPOISONED).operators.push((token.digest(), right, name));
    }

    pub(super) fn revoke(&self, session: &SessionId) {
        let mut table = self.table.lock().expect(UNPOISONED);
        if let Some(digest) = table.digests.remove(session) {
            table.sessions.remove(&digest);
        }
    }

    pub(super) fn session(&self, token: &Token) -> Option<SessionId> {
        self.table.lock().expect(UNPOISONED).sessions.get(&token.digest()).cloned()
    }

    /// Who holds a token.
    pub(super) fn caller(&self, token: &Token) -> Option<Caller> {
        let digest = token.digest();
        let table = self.table.lock().expect(UNPOISONED);
        let mut operator = None;
        for (known, right, name) in &table.operators {
            if bool::from(known.ct_eq(&digest)) {
                let entry = Entry::Operator(name.clone());
                operator = Some(Caller { right: *right, entry, ..Caller::OPERATOR });
            }
        }
        let session = || table.sessions.get(&digest).cloned().map(Caller::session);
        operator.or_else(|| session().map(|caller| Caller { metered: true, entry: Entry::Session, ..caller }))
    }
}
