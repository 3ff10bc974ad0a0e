//! Pings: signs of life that a session is sent under a name, by a backup, a build, or any other job that should run regularly.
//!
//! What lives elsewhere: whether a ping is admitted (`engine/step/session/ping.rs`), the tool that says how old one is
//! (`dialect/watch`). Invariants: only the last ping of each name is retained, and a name is never removed, so its place in the
//! list does not change.

use std::fmt;

use super::Moment;
use super::identity::id::check;
use crate::limits;

/// The name of a ping: as an id, but shorter. A session tells its pings apart by their names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PingName(Box<str>);

/// Why a text is not the name of a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the name of a ping must have 1 to {} bytes, no control characters, and not only blanks",
    limits::PING_NAME_BYTES.value
)]
pub struct PingNameError;

impl PingName {
    /// Checks a name.
    ///
    /// # Errors
    /// [`PingNameError`] if it is blank, longer than `limits::PING_NAME_BYTES`, or holds control characters.
    pub fn new(text: &str) -> Result<PingName, PingNameError> {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let is_name = check(text).is_ok() && length <= limits::PING_NAME_BYTES.value;
        if is_name { Ok(PingName(text.into())) } else { Err(PingNameError) }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for PingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The last ping of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ping {
    /// The name.
    pub name: PingName,
    /// When the last ping of this name came.
    pub at: Moment,
}

/// The last ping of each name, in the order in which the names were first used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pings(Vec<Ping>);

impl Pings {
    /// Notes a ping. It takes the place of the one before of the same name.
    pub fn note(&mut self, name: PingName, at: Moment) {
        match self.0.iter_mut().find(|ping| ping.name == name) {
            // Its place stays: the graph names a ping by it.
            Some(ping) => ping.at = at,
            None => self.0.push(Ping { name, at }),
        }
    }

    /// Returns when the last ping of this name came; `None` if none has.
    pub fn at(&self, name: &PingName) -> Option<Moment> {
        // At most `limits::SESSION_PINGS` names, so a search of the list costs little.
        self.0.iter().find(|ping| ping.name == *name).map(|ping| ping.at)
    }

    /// Returns the pings, in the order in which their names were first used.
    pub fn all(&self) -> &[Ping] {
        &self.0
    }

    /// Returns the pings that came before this moment. Of a name that was pinged again since then, the earlier ping is not known.
    #[must_use]
    pub fn before(&self, moment: Moment) -> Pings {
        Pings(self.0.iter().filter(|ping| ping.at < moment).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> PingName {
        PingName::new(text).expect("a name")
    }

    fn at(seconds: i64) -> Moment {
        Moment::new(seconds, 0).expect("within the calendar")
    }

    #[test]
    fn names_are_checked() {
        for text in ["backup", "nightly backup", "größe/1#2", &"x".repeat(64)] {
            assert_eq!(PingName::new(text).map(|name| name.to_string()), Ok(text.to_owned()));
        }
        for text in ["", " ", "a\nb", &"x".repeat(65)] {
            assert_eq!(PingName::new(text), Err(PingNameError), "{text:?}");
        }
    }

    #[test]
    fn the_last_ping_of_each_name_counts() {
        let mut pings = Pings::default();
        for (text, seconds) in [("b", 1), ("a", 2), ("b", 3)] {
            pings.note(name(text), at(seconds));
        }
        let all: Vec<(&str, Moment)> = pings.all().iter().map(|ping| (ping.name.as_str(), ping.at)).collect();
        assert_eq!(all, [("b", at(3)), ("a", at(2))], "in the order in which the names were first used");
        assert_eq!((pings.at(&name("b")), pings.at(&name("c"))), (Some(at(3)), None));
        let before: Vec<Ping> = pings.before(at(3)).all().to_vec();
        assert_eq!(before, [Ping { name: name("a"), at: at(2) }]);
    }
}
