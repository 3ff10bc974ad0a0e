//! The data directory's note of when daemons lived, so that explanations can say when none was there.
//!
//! Written every second and at an orderly stop, and never flushed: it is for information only. A note that is missing or
//! unreadable means that nothing is known.

use std::fs;
use std::path::{Path, PathBuf};

use super::data_dir::write_private;
use crate::dialect::REQUEST_CAPS;
use crate::domain::{Downtime, Moment};
use crate::edn::{self, Map, Value};

/// When daemons of a data directory lived.
pub(in crate::app) struct LifeNote {
    path: PathBuf,
    /// Times without a daemon, oldest first.
    downs: Vec<Downtime>,
    written: Moment,
}

impl LifeNote {
    /// Reads the note of the earlier daemons, and begins this one's life. `stored` is the time of the newest stored fact.
    pub(in crate::app) fn open(data_dir: &Path, now: Moment, stored: Option<Moment>) -> LifeNote {
        let path = data_dir.join(NOTE);
        let text = fs::read(&path).unwrap_or_default();
        let note = edn::read(&text, &REQUEST_CAPS).ok();
        let mut downs = note.as_ref().and_then(Value::as_map).map(downs_of).unwrap_or_default();
        let alive = note.as_ref().and_then(Value::as_map).and_then(|note| instant(note, "alive"));
        let alive = alive.map(|alive| last_sign(alive, stored));
        // A clock that was set back since shows no time in between.
        downs.extend(alive.filter(|from| *from < now).map(|from| Downtime { from, until: now }));
        forget_shortest(&mut downs);
        let mut note = LifeNote { path, downs, written: now };
        note.write(now);
        note
    }

    /// The times without a daemon that are known, oldest first; the one that ended with the start is the last.
    pub(in crate::app) fn downs(&self) -> Box<[Downtime]> {
        self.downs.clone().into()
    }

    /// Notes that the daemon is alive, if the last note is old.
    pub(in crate::app) fn beat(&mut self, now: Moment) {
        // A clock that was set back must not silence the note until it has caught up.
        if now.since(self.written).millis() >= BEAT_MS || now < self.written {
            self.write(now);
        }
    }

    /// Notes the end of the daemon's life.
    pub(in crate::app) fn end(mut self, now: Moment) {
        self.write(now);
    }

    fn write(&mut self, now: Moment) {
        let down = |it: &Downtime| {
            Value::from(Map::new().with("from", it.from.to_string()).with("until", it.until.to_string()))
        };
        let downs: Vec<Value> = self.downs.iter().map(down).collect();
        let note = Map::new().with("alive", now.to_string()).with("downs", downs);
        // If it cannot be written, the next start knows less. No schedule is affected.
        let _ = write_private(&self.path, &format!("{}\n", Value::from(note)));
        self.written = now;
    }
}

/// Returns the last moment at which a daemon is known to have lived. One that was killed may have stored something after its
/// last note; what is much younger than the note is of an import.
fn last_sign(alive: Moment, stored: Option<Moment>) -> Moment {
    let is_of_daemon = |at: &Moment| alive < *at && at.since(alive).millis() <= 2 * BEAT_MS;
    stored.filter(is_of_daemon).unwrap_or(alive)
}

/// Forgets the shortest downtimes beyond [`DOWNS_MAX`], but never the last one: quick starts after a long one do not hide it.
fn forget_shortest(downs: &mut Vec<Downtime>) {
    while downs.len() > DOWNS_MAX {
        let earlier = downs.iter().enumerate().take(DOWNS_MAX);
        let shortest =
            earlier.min_by_key(|(_, down)| down.until.since(down.from)).map_or(0, |(index, _)| index);
        downs.remove(shortest);
    }
}

fn downs_of(note: &Map) -> Vec<Downtime> {
    let items = note.keyword("downs").and_then(Value::as_items).unwrap_or_default();
    let down = |item: &Value| {
        let map = item.as_map()?;
        Some(Downtime { from: instant(map, "from")?, until: instant(map, "until")? })
    };
    items.iter().filter_map(down).collect()
}

fn instant(map: &Map, key: &str) -> Option<Moment> {
    Moment::parse(map.keyword(key)?.as_str()?).ok()
}

const NOTE: &str = "lives.edn";
/// How far the note of a daemon that was killed may be from its end.
const BEAT_MS: u64 = 1_000;
/// Enough for a bad night. Each start writes all of them into the log.
const DOWNS_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Span;

    #[test]
    fn what_was_stored_after_the_last_note_is_a_sign_of_life() {
        let at = |ms: u64| Moment::EPOCH.checked_add(Span::from_millis(ms)).expect("in range");
        assert_eq!(last_sign(at(1_000), None), at(1_000));
        assert_eq!(last_sign(at(1_000), Some(at(500))), at(1_000));
        assert_eq!(last_sign(at(1_000), Some(at(2_500))), at(2_500));
        // An import that came while no daemon was there.
        assert_eq!(last_sign(at(1_000), Some(at(60_000))), at(1_000));
    }

    #[test]
    fn quick_starts_do_not_hide_an_hour() {
        let at =
            |seconds: u64| Moment::EPOCH.checked_add(Span::from_millis(seconds * 1_000)).expect("in range");
        let down = |from, until| Downtime { from: at(from), until: at(until) };
        let mut downs = vec![down(0, 3_600)];
        for start in 0..40 {
            downs.push(down(3_602 + 3 * start, 3_603 + 3 * start));
            forget_shortest(&mut downs);
        }
        assert_eq!(downs.len(), DOWNS_MAX);
        assert_eq!(downs.first(), Some(&down(0, 3_600)));
        assert_eq!(downs.last(), Some(&down(3_719, 3_720)));
        assert!(downs.is_sorted_by_key(|down| down.from));
    }
}
