//! Tokens: a token is its session, for whoever holds it.

use std::collections::BTreeMap;
use std::fmt;

use super::sync::{Mutex, UNPOISONED};
use crate::domain::{Entropy, SessionId};

/// 256 random bits as 64 hexadecimal digits. It prints itself only where asked to by name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
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
}

impl fmt::Debug for Token {
    /// Never the token: debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The live tokens.
#[derive(Default)]
pub(super) struct Tokens {
    table: Mutex<Table>,
}

/// Both ways, so that neither a look-up nor a close searches.
#[derive(Default)]
struct Table {
    sessions: BTreeMap<Token, SessionId>,
    tokens: BTreeMap<SessionId, Token>,
}

impl Tokens {
    pub(super) fn issue(&self, token: &Token, session: &SessionId) {
        let mut table = self.table.lock().expect(UNPOISONED);
        table.sessions.insert(token.clone(), session.clone());
        table.tokens.insert(session.clone(), token.clone());
    }

    pub(super) fn revoke(&self, session: &SessionId) {
        let mut table = self.table.lock().expect(UNPOISONED);
        if let Some(token) = table.tokens.remove(session) {
            table.sessions.remove(&token);
        }
    }

    pub(super) fn session(&self, token: &Token) -> Option<SessionId> {
        self.table.lock().expect(UNPOISONED).sessions.get(token).cloned()
    }
}
