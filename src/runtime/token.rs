//! Bearer tokens of sessions, hosts, operators and observers.
//!
//! Invariant: only the SHA-256 of a token is stored, so that neither a memory dump nor a look at the table reveals a
//! token. Session tokens are found by their digest, which a guesser cannot steer. The few others are
//! compared in constant time, all of them on every call.

use std::collections::BTreeMap;
use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

use super::sync::{Mutex, UNPOISONED};
use crate::domain::{Caller, CallerRole, Entropy, Right, SessionId, TokenName, Via};

/// 256 random bits as 64 hexadecimal digits, or any text that a client presents instead. Only
/// [`Token::reveal`] shows it.
#[derive(Clone)]
pub struct Token(Box<str>);

impl Token {
    /// A fresh token.
    pub(crate) fn from_entropy(one: Entropy, two: Entropy) -> Token {
        let digits = one.0.iter().chain(&two.0).map(|byte| format!("{byte:02x}"));
        Token(digits.collect::<String>().into())
    }

    /// A token as a client sends it; it may be unknown.
    pub fn from_text(text: &str) -> Token {
        Token(text.into())
    }

    /// The text of the token, for the client that is to use it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// A name for the token that does not reveal it: the first 4 bytes of its digest, in hexadecimal.
    pub(super) fn fingerprint(&self) -> TokenName {
        let digits: String = self.digest().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        TokenName::new(&digits).expect("eight digits are a name")
    }

    /// The SHA-256 of the token, which is what is stored of it.
    pub(crate) fn digest(&self) -> Digest {
        // Without salt or stretching: the persisted digests are of 256 random bits, which no search finds.
        Sha256::digest(self.0.as_bytes()).into()
    }
}

impl fmt::Debug for Token {
    /// Does not print the token, because debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The SHA-256 of a token.
pub(crate) type Digest = [u8; 32];

/// The live tokens.
#[derive(Default)]
pub struct Tokens {
    table: Mutex<Table>,
}

/// Indexed in both directions, so that neither a look-up nor a close has to search.
#[derive(Default)]
struct Table {
    sessions: BTreeMap<Digest, SessionId>,
    digests: BTreeMap<SessionId, Digest>,
    /// Those that belong to no session, and what their bearers are.
    named: Vec<(Digest, CallerRole, TokenName)>,
}

impl Tokens {
    /// Lets the bearer of this token act as a session.
    pub(crate) fn issue(&self, token: &Token, session: &SessionId) {
        let digest = token.digest();
        let mut table = self.table.lock().expect(UNPOISONED);
        table.sessions.insert(digest, session.clone());
        table.digests.insert(session.clone(), digest);
    }

    /// The digest of a session's token, in hexadecimal, as it is persisted.
    pub(super) fn digest_of(&self, session: &SessionId) -> Option<String> {
        let table = self.table.lock().expect(UNPOISONED);
        let digest = table.digests.get(session)?;
        Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Restores a session's token from its persisted digest. A text that is not a digest is ignored.
    pub(super) fn restore(&self, digest: &str, session: &SessionId) {
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digest.as_bytes().chunks(2).map(byte).collect();
        // A session without a readable digest has no token, which is safe: no client can act as it.
        let Some(digest) = bytes.and_then(|bytes| Digest::try_from(bytes).ok()) else { return };
        let mut table = self.table.lock().expect(UNPOISONED);
        table.sessions.insert(digest, session.clone());
        table.digests.insert(session.clone(), digest);
    }

    /// Lets the bearer of this token act as an operator with that right. The log names the bearer by the beginning of the
    /// token's digest.
    pub fn admit_operator(&self, token: &Token, right: Right) {
        self.admit_operator_as(token.fingerprint(), token, right);
    }

    /// Lets the bearer of this token act as an operator with that right, under a name of its own in the log.
    pub(crate) fn admit_operator_as(&self, name: TokenName, token: &Token, right: Right) {
        let role = if right == Right::Change { CallerRole::Operator } else { CallerRole::Observer };
        self.admit_named(role, name, token);
    }

    /// Lets the bearer of this token act as the host of this name: it opens sessions, and reaches those alone.
    pub fn admit_host(&self, name: TokenName, token: &Token) {
        self.admit_named(CallerRole::Host, name, token);
    }

    fn admit_named(&self, role: CallerRole, name: TokenName, token: &Token) {
        self.table.lock().expect(UNPOISONED).named.push((token.digest(), role, name));
    }

    /// Ends an operator token, by its digest.
    #[cfg(feature = "http")]
    pub(crate) fn dismiss_operator(&self, digest: &Digest) {
        self.table.lock().expect(UNPOISONED).named.retain(|(known, ..)| known != digest);
    }

    /// Takes a token back whose session was not opened after all. Another token of the session stays.
    pub(super) fn withdraw(&self, token: &Token, session: &SessionId) {
        let digest = token.digest();
        let mut table = self.table.lock().expect(UNPOISONED);
        table.sessions.remove(&digest);
        if table.digests.get(session) == Some(&digest) {
            table.digests.remove(session);
        }
    }

    pub(super) fn revoke(&self, session: &SessionId) {
        let mut table = self.table.lock().expect(UNPOISONED);
        if let Some(digest) = table.digests.remove(session) {
            table.sessions.remove(&digest);
        }
    }

    /// The session that a token acts as; `None` for anything that is not a live session token.
    pub fn session(&self, token: &Token) -> Option<SessionId> {
        self.table.lock().expect(UNPOISONED).sessions.get(&token.digest()).cloned()
    }

    /// The caller that a token acts as; `None` for anything that is not a live token.
    pub fn caller(&self, token: &Token) -> Option<Caller> {
        let digest = token.digest();
        let table = self.table.lock().expect(UNPOISONED);
        let mut named = None;
        // No early exit: the time taken must not depend on which token matches.
        for (known, role, name) in &table.named {
            if bool::from(known.ct_eq(&digest)) {
                named = Some(bearer(*role, name));
            }
        }
        let session = || table.sessions.get(&digest).cloned().map(Caller::session);
        named.or_else(|| {
            session().map(|caller| Caller { role: CallerRole::Session, via: Via::Session, ..caller })
        })
    }
}

/// The caller with a token that belongs to no session.
fn bearer(role: CallerRole, name: &TokenName) -> Caller {
    let right = if role == CallerRole::Operator { Right::Change } else { Right::Read };
    match role {
        CallerRole::Host => Caller::host(name.clone()),
        // Only the first two are ever named (`admit_named`). The others stand here because the match lists all roles.
        CallerRole::Operator | CallerRole::Observer | CallerRole::Session | CallerRole::Channel => {
            Caller { role, right, via: Via::Operator(name.clone()), ..Caller::OPERATOR }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_is_withdrawn_takes_no_other_one_along() {
        // The locks of the runtime are shuttle's in these tests.
        shuttle::check_random(withdrawn, 1);
    }

    fn withdrawn() {
        let (tokens, session) = (Tokens::default(), SessionId::new("one").expect("an id"));
        let [refused, opened] = ["refused", "opened"].map(Token::from_text);
        tokens.issue(&refused, &session);
        // Another thread opens the session before the refused one takes its token back.
        tokens.issue(&opened, &session);
        tokens.withdraw(&refused, &session);
        assert_eq!((tokens.session(&refused), tokens.session(&opened)), (None, Some(session.clone())));
        tokens.withdraw(&opened, &session);
        assert_eq!((tokens.session(&opened), tokens.digest_of(&session)), (None, None));
    }
}
