//! Links to calendars: what each shows, and the proof that this daemon has made it.
//!
//! Nothing is stored for a link: it says itself what it shows, under a code that nobody can make without the key. With another
//! key, all links end. Invariant: a link in which one character was changed shows nothing.

use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::domain::{Cursor, ScheduleId, SessionId};
use crate::runtime::Token;

/// What a calendar shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::surface::http) enum CalendarOf {
    /// All schedules.
    All,
    /// One schedule.
    Schedule(ScheduleId),
    /// The schedules of a session that was opened by this fact. Another one that gets its id later is not meant.
    Session(SessionId, Cursor),
}

/// The key by which links are made and checked.
pub struct CalendarKey {
    key: Mutex<Token>,
    persist: Box<Persist>,
}

/// Persists the next key.
type Persist = dyn Fn(&Token) -> io::Result<()> + Send + Sync;

impl CalendarKey {
    /// Makes it from its token. `persist` is called with the token of the next key before that counts.
    pub fn new(
        key: Token,
        persist: impl Fn(&Token) -> io::Result<()> + Send + Sync + 'static,
    ) -> CalendarKey {
        CalendarKey { key: Mutex::new(key), persist: Box::new(persist) }
    }

    /// Makes the link of a calendar: a code, and what it shows, in hexadecimal.
    pub(in crate::surface::http) fn link(&self, of: &CalendarOf) -> String {
        let text = of.to_string();
        let code = self.code(&text).finalize().into_bytes();
        hex(&code[..CODE_BYTES]) + &hex(text.as_bytes())
    }

    /// Reads a link; `None` if it is not one of ours, or was one of a former key.
    pub(in crate::surface::http) fn read(&self, link: &str) -> Option<CalendarOf> {
        let bytes = unhex(link)?;
        let (code, text) = bytes.split_at_checked(CODE_BYTES)?;
        let text = str::from_utf8(text).ok()?;
        // In constant time, and before anything is made of the text.
        self.code(text).verify_truncated_left(code).ok()?;
        CalendarOf::parse(text)
    }

    /// Ends all links, by another key.
    ///
    /// # Errors
    /// The key cannot be persisted; the links go on then.
    pub(in crate::surface::http) fn renew(&self, key: Token) -> io::Result<()> {
        // Locked throughout, so that no link is made with a key that is about to end.
        let mut present = self.key();
        (self.persist)(&key)?;
        *present = key;
        Ok(())
    }

    fn code(&self, text: &str) -> Hmac<Sha256> {
        let key = self.key();
        let mac = Hmac::<Sha256>::new_from_slice(key.reveal().as_bytes());
        mac.expect("HMAC takes keys of any length").chain_update(text.as_bytes())
    }

    fn key(&self) -> MutexGuard<'_, Token> {
        // A panic elsewhere cannot leave half a key.
        self.key.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CalendarKey {
    /// Does not print the key, because debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CalendarKey(…)")
    }
}

impl CalendarOf {
    fn parse(text: &str) -> Option<CalendarOf> {
        let (kind, rest) = text.split_once(' ')?;
        match kind {
            "all" => Some(CalendarOf::All),
            "schedule" => ScheduleId::new(rest).ok().map(CalendarOf::Schedule),
            "session" => {
                let (opened, id) = rest.split_once(' ')?;
                Some(CalendarOf::Session(SessionId::new(id).ok()?, Cursor::new(opened.parse().ok()?)))
            }
            _ => None,
        }
    }
}

impl fmt::Display for CalendarOf {
    /// The text under the code of a link.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CalendarOf::All => f.write_str("all "),
            CalendarOf::Schedule(id) => write!(f, "schedule {id}"),
            CalendarOf::Session(id, opened) => write!(f, "session {opened} {id}"),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    // Upper case would be a second way to write the link.
    let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
    let pairs = text.as_bytes().chunks_exact(2);
    // An odd digit would be a second way to write the link.
    pairs.remainder().is_empty().then_some(())?;
    pairs.map(|pair| u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()).collect()
}

/// 128 bits of the code: nobody guesses them, and the link stays short.
const CODE_BYTES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> CalendarKey {
        CalendarKey::new(Token::from_text(text), |_| Ok(()))
    }

    fn each() -> [CalendarOf; 3] {
        let session = SessionId::new("two words").expect("an id");
        let schedule = ScheduleId::new("sch-1").expect("an id");
        [CalendarOf::All, CalendarOf::Schedule(schedule), CalendarOf::Session(session, Cursor::new(7))]
    }

    #[test]
    fn a_link_is_read_by_its_key_alone() {
        for of in each() {
            let link = key("one").link(&of);
            assert_eq!(key("one").read(&link), Some(of));
            assert_eq!(key("two").read(&link), None);
        }
    }

    #[test]
    fn a_link_with_another_character_shows_nothing() {
        for of in each() {
            let link = key("one").link(&of);
            for place in 0..link.len() {
                for digit in ["0", "f", "A", "g", ""] {
                    let mut changed = link.clone();
                    changed.replace_range(place..=place, digit);
                    assert!(changed == link || key("one").read(&changed).is_none(), "{changed}");
                }
            }
            assert_eq!(key("one").read(&format!("{link}00")), None);
        }
        assert_eq!(key("one").read(""), None);
    }

    #[test]
    fn a_key_that_cannot_be_persisted_is_not_changed() {
        let stuck = CalendarKey::new(Token::from_text("one"), |_| Err(io::Error::other("full")));
        let link = stuck.link(&CalendarOf::All);
        assert!(stuck.renew(Token::from_text("two")).is_err());
        assert_eq!(stuck.read(&link), Some(CalendarOf::All));
        let free = key("one");
        free.renew(Token::from_text("two")).expect("it is persisted");
        assert_eq!(free.read(&link), None);
    }
}
