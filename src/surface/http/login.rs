//! Logins of browsers: one-time codes, and tokens in two halves.
//!
//! An operator's command asks for a code, and a browser exchanges it for a token. One half of the token is in a cookie that no
//! script can read; the page keeps the other, and sends it in a header. Cookies go to every port of a machine, and a page's
//! storage belongs to one origin, so neither half is worth anything alone. What lives elsewhere: who may ask for a code
//! (`handlers/login.rs`), which requests may use a cookie (`gate.rs`).
//!
//! Invariants: codes and tokens are kept hashed, in memory only; a code is good once, and for a minute.

use std::sync::{Mutex, MutexGuard, PoisonError};

use subtle::ConstantTimeEq;

use crate::domain::{BootTime, Entropy, Right, Span, TokenName};
use crate::limits;
use crate::runtime::{Digest, Token, Tokens};

/// The half of a browser's token that is in its cookie.
#[derive(Clone)]
pub(super) struct CookieHalf(Box<str>);

impl CookieHalf {
    pub(super) fn new(text: &str) -> CookieHalf {
        CookieHalf(text.into())
    }

    /// The token that this half and the page's make.
    pub(super) fn with(&self, key: &str) -> Token {
        Token::from_text(&format!("{}.{key}", self.0))
    }
}

/// What a browser gets for a code.
pub(super) struct Entered {
    /// For the cookie.
    pub(super) cookie: String,
    /// For the page.
    pub(super) key: String,
    pub(super) right: Right,
}

/// The codes that wait for a browser, and the browsers that are logged in.
#[derive(Default)]
pub(super) struct Logins {
    table: Mutex<Table>,
}

/// Both oldest first.
#[derive(Default)]
struct Table {
    codes: Vec<(Digest, BootTime, Right)>,
    logins: Vec<(Digest, BootTime)>,
}

impl Logins {
    /// Makes a code for a browser that may do this much.
    pub(super) fn code(&self, bits: Entropy, now: BootTime, right: Right) -> String {
        let code = word(bits);
        let mut table = self.table();
        table.codes.retain(|(_, until, _)| *until > now);
        let until = now.after(Span::from_millis(limits::DASHBOARD_CODE_MS.value));
        table.codes.push((Token::from_text(&code).digest(), until, right));
        keep_newest(&mut table.codes, limits::DASHBOARD_CODES.value);
        code
    }

    /// Exchanges a code; `None` if it is unknown, used, or too old.
    pub(super) fn enter(
        &self,
        tokens: &Tokens,
        code: &str,
        bits: [Entropy; 2],
        now: BootTime,
    ) -> Option<Entered> {
        let digest = Token::from_text(code).digest();
        let mut table = self.table();
        let mut found = None;
        // No early exit: the time taken must not depend on which code matches.
        for (place, (known, ..)) in table.codes.iter().enumerate() {
            if bool::from(known.ct_eq(&digest)) {
                found = Some(place);
            }
        }
        // Removed before its time is checked: a code is good for one attempt.
        let (_, until, right) = table.codes.remove(found?);
        if until <= now {
            return None;
        }
        let [cookie, key] = bits.map(word);
        let token = CookieHalf::new(&cookie).with(&key);
        let digest = token.digest();
        // Two bytes of the digest tell browsers apart in the log, and reveal nothing of the token.
        let name = TokenName::new(&format!("browser {:02x}{:02x}", digest[0], digest[1])).ok()?;
        tokens.admit_operator_as(name, &token, right);
        table.logins.push((digest, now.after(Span::from_millis(limits::DASHBOARD_LOGIN_MS.value))));
        for (digest, _) in keep_newest(&mut table.logins, limits::DASHBOARD_LOGINS.value) {
            tokens.dismiss_operator(&digest);
        }
        Some(Entered { cookie, key, right })
    }

    /// Ends one login; whether it was one.
    pub(super) fn leave(&self, tokens: &Tokens, token: &Token) -> bool {
        let digest = token.digest();
        let mut table = self.table();
        let before = table.logins.len();
        table.logins.retain(|(known, _)| *known != digest);
        let was_in = table.logins.len() < before;
        if was_in {
            tokens.dismiss_operator(&digest);
        }
        was_in
    }

    /// Ends all logins, and forgets all codes. Returns how many browsers were logged in.
    pub(super) fn revoke(&self, tokens: &Tokens) -> usize {
        let mut table = self.table();
        table.codes.clear();
        let logins = std::mem::take(&mut table.logins);
        logins.iter().for_each(|(digest, _)| tokens.dismiss_operator(digest));
        logins.len()
    }

    /// Ends the logins whose time is over.
    pub(super) fn end_old(&self, tokens: &Tokens, now: BootTime) {
        let mut table = self.table();
        table.logins.retain(|(digest, until)| {
            let goes_on = *until > now;
            if !goes_on {
                tokens.dismiss_operator(digest);
            }
            goes_on
        });
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic elsewhere cannot leave the table inconsistent: each list is changed by one call.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// 128 random bits as 32 hexadecimal digits.
fn word(bits: Entropy) -> String {
    bits.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Drops the oldest entries beyond that many, and returns them.
fn keep_newest<T>(entries: &mut Vec<T>, most: u64) -> Vec<T> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let surplus = entries.len().saturating_sub(most);
    entries.drain(..surplus).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> BootTime {
        BootTime::ZERO.after(Span::from_millis(millis))
    }

    fn bits(seed: u8) -> [Entropy; 2] {
        [Entropy([seed; 16]), Entropy([seed + 1; 16])]
    }

    #[test]
    fn a_code_is_good_for_a_minute() {
        // The locks of the runtime are shuttle's in these tests.
        shuttle::check_random(code_ends, 1);
    }

    fn code_ends() {
        let (logins, tokens) = (Logins::default(), Tokens::default());
        let early = logins.code(Entropy([1; 16]), at(0), Right::Change);
        let late = logins.code(Entropy([2; 16]), at(0), Right::Read);
        assert!(
            logins
                .enter(&tokens, &early, bits(3), at(59_999))
                .is_some_and(|entered| entered.right == Right::Change)
        );
        assert!(logins.enter(&tokens, &late, bits(5), at(60_000)).is_none());
        assert!(logins.enter(&tokens, &late, bits(5), at(1)).is_none(), "it was used up by the try");
    }

    #[test]
    fn a_login_lasts_for_half_a_day() {
        shuttle::check_random(login_ends, 1);
    }

    fn login_ends() {
        let (logins, tokens) = (Logins::default(), Tokens::default());
        let code = logins.code(Entropy([1; 16]), at(0), Right::Read);
        let entered = logins.enter(&tokens, &code, bits(3), at(1_000)).expect("it is fresh");
        let token = CookieHalf::new(&entered.cookie).with(&entered.key);
        let is_in = |millis| {
            logins.end_old(&tokens, at(millis));
            tokens.caller(&token).is_some()
        };
        assert!(is_in(43_200_999));
        assert!(!is_in(43_201_000));
        assert!(!logins.leave(&tokens, &token), "it is over");
    }
}
