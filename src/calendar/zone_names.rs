//! Names that people use for time zones and the database does not know, with the zones that they may mean.
//!
//! Lives here: the table of such names, and what a caller is told who gives one. Does not live here: looking up a name
//! (`zones`). Invariant: every zone of the table is a name of the bundled database; nothing is ever guessed silently,
//! because a wrong guess is a wrong hour.

use crate::domain::{Zone, ZoneError, nearest, one_slip_away};

/// Why a text that a caller gives for a time zone is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZoneFault {
    /// The text is not written as a zone is.
    #[error("{error}")]
    Malformed {
        /// What is wrong with it.
        error: ZoneError,
        /// The offset that is meant, if that is clear.
        meant: Option<Zone>,
    },
    /// The time zone database has no zone of this name.
    #[error("no time zone is called {name:?}")]
    Unknown {
        /// The name that was given.
        name: Box<str>,
        /// The zones that may be meant, the likeliest first. Empty if nothing is near.
        near: Box<[Box<str>]>,
        /// The constant offset for which the name stands in the strict sense, although its zone has summer time.
        offset: Option<&'static str>,
        /// Whether the name only looks like the last part of the zone's, as one place may like another.
        is_guess: bool,
    },
    /// The time zone database has the name as a constant offset, and people use it for a zone.
    #[error("{name} is {offset} all year, and has no summer time")]
    Constant {
        /// The name that was given.
        name: &'static str,
        /// The zone for which people use it.
        zone: &'static str,
        /// The offset for which it stands.
        offset: &'static str,
    },
}

impl ZoneFault {
    /// Returns the error's code, in kebab case.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            ZoneFault::Malformed { error, .. } => error.code(),
            ZoneFault::Unknown { .. } => "zone-unknown",
            ZoneFault::Constant { .. } => "zone-constant",
        }
    }

    /// Returns the one zone that is meant, as it may be written; `None` if there is none, or several, or if the name may stand
    /// for a constant offset.
    pub(crate) fn meant(&self) -> Option<String> {
        match self {
            ZoneFault::Malformed { meant, .. } => meant.as_ref().map(Zone::to_string),
            // The name of another place may be near, and a wrong guess is a wrong hour.
            ZoneFault::Unknown { is_guess: true, .. } => None,
            ZoneFault::Unknown { near, offset, .. } => match (&**near, offset) {
                ([only], None) => Some(only.to_string()),
                ([] | [_, ..], _) => None,
            },
            ZoneFault::Constant { .. } => None,
        }
    }

    /// Returns whether the text is near to something that is a zone.
    pub(in crate::calendar) fn is_near(&self) -> bool {
        match self {
            ZoneFault::Unknown { near, .. } => near.len() == 1,
            ZoneFault::Malformed { .. } | ZoneFault::Constant { .. } => self.meant().is_some(),
        }
    }

    /// Returns what the caller can do about it.
    pub(crate) fn hint(&self) -> String {
        match self {
            ZoneFault::Malformed { meant: Some(zone), .. } => format!("write it as {zone}"),
            ZoneFault::Malformed { error, meant: None } => error.hint().to_owned(),
            ZoneFault::Unknown { near, offset, name, .. } => match (&**near, offset) {
                ([], _) => FORMS.to_owned(),
                ([zone], Some(offset)) => {
                    format!("say {zone}, which has summer time too; or {offset}, if {name} is meant all year")
                }
                ([zone], None) => format!("did you mean {zone}?"),
                ([first @ .., last], _) => {
                    format!("{name} may be {} or {last}: say which", first.join(", "))
                }
            },
            ZoneFault::Constant { name, zone, offset } => {
                format!("say {zone} for the clock there; or {offset}, if {name} is meant all year")
            }
        }
    }
}

/// Returns the error for a name that the database has as a constant offset, although people use it for a zone. A schedule that
/// was made under it would be an hour off in summer.
pub(super) fn constant(name: &str) -> Option<ZoneFault> {
    let found = CONSTANT.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))?;
    let (name, zone, offset) = *found;
    Some(ZoneFault::Constant { name, zone, offset })
}

/// Returns the error for a text that is not written as a zone, with the offset that it may mean.
pub(super) fn malformed(text: &str, error: ZoneError) -> ZoneFault {
    let meant = offset_in(text.trim());
    ZoneFault::Malformed { error, meant }
}

/// Returns the error for a name that the database does not know. `names` are those that it knows.
pub(super) fn unknown<'n>(name: &str, names: impl Iterator<Item = &'n str> + Clone) -> ZoneFault {
    // `GMT +2` with a blank is a name to the parser of zones.
    let is_offset = name.get(..3).is_some_and(|head| ["utc", "gmt"].contains(&&*head.to_ascii_lowercase()));
    if let Some(meant) = offset_in(name).filter(|_| is_offset) {
        return ZoneFault::Malformed { error: ZoneError::Offset { text: name.into() }, meant: Some(meant) };
    }
    let exact = exactly(name, names.clone()).map(|found| (found, false));
    let found = exact.or_else(|| roughly(name, names).map(|(zone, is_guess)| ((vec![zone], None), is_guess)));
    let ((near, offset), is_guess) = found.unwrap_or_default();
    ZoneFault::Unknown { name: name.into(), near: near.into(), offset, is_guess }
}

/// The zones that a name may mean, and the offset that it stands for.
type Meant = (Vec<Box<str>>, Option<&'static str>);

/// Returns the zones that a name stands for: by the table, or as the last part of their own names.
pub(super) fn exactly<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<Meant> {
    let said = simplified(name);
    if HERE.contains(&&*said) {
        return Some((vec!["local".into()], None));
    }
    let leaf = last_part(&said);
    let of_table = NAMES.iter().find(|it| it.is_one_of(&said)).or_else(|| {
        // Of `Germany/Munich` the last part counts.
        NAMES.iter().find(|it| leaf != said && it.is_one_of(leaf))
    });
    if let Some(it) = of_table {
        return Some((it.zones.iter().map(|zone| (*zone).into()).collect(), it.offset));
    }
    // The database writes blanks as underscores.
    let mut places: Vec<&str> =
        names.filter(|known| last_part(known).eq_ignore_ascii_case(&leaf.replace(' ', "_"))).collect();
    // Old names have more parts or another area: the shortest is the usual one.
    places.sort_by_key(|known| (known.matches('/').count(), !is_usual(known)));
    let first = places.first().filter(|known| known.contains('/'))?;
    Some((vec![(*first).into()], None))
}

/// Returns the zone whose name differs from this one by a few slips, and whether only its last part does: then by one slip.
fn roughly<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<(Box<str>, bool)> {
    let said = simplified(name).replace(' ', "_");
    // Three or four letters are near to every other abbreviation.
    if said.len() < NAME_LEAST {
        return None;
    }
    let known: Vec<(&str, String)> = names.map(|known| (known, known.to_ascii_lowercase())).collect();
    let whole = known.iter().map(|(name, lower)| (*name, lower.as_str()));
    let parts = known.iter().map(|(name, lower)| (*name, last_part(lower)));
    if said.contains('/')
        && let Some(zone) = nearest(whole, &said)
    {
        return Some((zone.into(), false));
    }
    one_slip_away(parts, last_part(&said)).map(|zone| (zone.into(), true))
}

/// Returns a name in lower case, with single blanks and without the word `time` at its end.
fn simplified(name: &str) -> String {
    let lower = name.to_ascii_lowercase().replace(['_', '-'], " ");
    let words: Vec<&str> = lower.split_whitespace().collect();
    match &*words {
        [rest @ .., "time"] if !rest.is_empty() => rest.join(" "),
        all => all.join(" "),
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, last)| last)
}

/// Returns whether a name begins with an area of the world, and not with the name of a state.
fn is_usual(name: &str) -> bool {
    let area = name.split('/').next().unwrap_or_default();
    AREAS.contains(&area)
}

/// Returns the offset in texts such as `GMT+2`, `UTC-03:30` and `+8`.
pub(super) fn offset_in(text: &str) -> Option<Zone> {
    let upper = text.to_ascii_uppercase().replace('\u{2212}', "-");
    let rest = upper.strip_prefix("UTC").or_else(|| upper.strip_prefix("GMT")).unwrap_or(&upper).trim();
    let (sign, digits) = rest.split_at_checked(1)?;
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if digits.len() > 2 && digits.is_ascii() => digits.split_at(digits.len() - 2),
        None => (digits, "00"),
    };
    let text = format!("{sign}{hours}:{minutes}");
    Zone::parse(&text).ok().filter(|zone| matches!(zone, Zone::Offset(_)))
}

/// Some names of one kind, and what they mean.
struct Names {
    /// In lower case, without the word `time`.
    names: &'static [&'static str],
    zones: &'static [&'static str],
    /// For the winter or summer time of a zone that has both: the constant offset.
    offset: Option<&'static str>,
}

impl Names {
    fn is_one_of(&self, name: &str) -> bool {
        self.names.contains(&name)
    }
}

const fn of(names: &'static [&'static str], zones: &'static [&'static str]) -> Names {
    Names { names, zones, offset: None }
}

const fn season(
    names: &'static [&'static str],
    zone: &'static [&'static str],
    offset: &'static str,
) -> Names {
    Names { names, zones: zone, offset: Some(offset) }
}

/// The table. An abbreviation that several countries use has all of them.
const NAMES: &[Names] = &[
    season(&["pst", "pacific standard"], &["America/Los_Angeles"], "-08:00"),
    season(&["pdt", "pacific daylight"], &["America/Los_Angeles"], "-07:00"),
    of(&["pt", "pacific", "us pacific", "california"], &["America/Los_Angeles"]),
    of(&["san francisco", "seattle", "san diego", "silicon valley", "portland"], &["America/Los_Angeles"]),
    season(&["mountain standard"], &["America/Denver"], "-07:00"),
    season(&["mdt", "mountain daylight"], &["America/Denver"], "-06:00"),
    of(&["mt", "mountain", "us mountain", "salt lake city"], &["America/Denver"]),
    season(&["central standard"], &["America/Chicago"], "-06:00"),
    season(&["cdt", "central daylight"], &["America/Chicago"], "-05:00"),
    of(&["ct", "central", "us central", "texas", "houston", "dallas", "austin"], &["America/Chicago"]),
    of(&["cst"], &["America/Chicago", "Asia/Shanghai", "America/Havana"]),
    season(&["eastern standard"], &["America/New_York"], "-05:00"),
    season(&["edt", "eastern daylight"], &["America/New_York"], "-04:00"),
    of(&["et", "eastern", "us eastern", "nyc", "new york city"], &["America/New_York"]),
    of(&["boston", "washington", "washington dc", "miami", "atlanta", "philadelphia"], &["America/New_York"]),
    season(&["akst"], &["America/Anchorage"], "-09:00"),
    season(&["akdt"], &["America/Anchorage"], "-08:00"),
    of(&["alaska"], &["America/Anchorage"]),
    of(&["hawaii", "hast"], &["Pacific/Honolulu"]),
    of(&["ast"], &["America/Halifax", "Asia/Riyadh"]),
    season(&["adt", "atlantic daylight"], &["America/Halifax"], "-03:00"),
    of(&["atlantic", "atlantic standard"], &["America/Halifax"]),
    season(&["ndt"], &["America/St_Johns"], "-02:30"),
    of(&["nst", "newfoundland"], &["America/St_Johns"]),
    of(&["brt", "brasilia", "brazil", "rio de janeiro"], &["America/Sao_Paulo"]),
    of(&["art", "argentina"], &["America/Argentina/Buenos_Aires"]),
    of(&["clt", "clst", "chile"], &["America/Santiago"]),
    of(&["cot", "colombia"], &["America/Bogota"]),
    of(&["bst"], &["Europe/London", "Asia/Dhaka"]),
    of(&["uk", "british", "england", "britain", "scotland", "edinburgh", "manchester"], &["Europe/London"]),
    of(&["ist"], &["Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"]),
    of(&["ireland", "irish"], &["Europe/Dublin"]),
    season(&["west", "western european summer"], &["Europe/Lisbon"], "+01:00"),
    season(&["cest", "mesz", "central european summer"], &["Europe/Berlin"], "+02:00"),
    of(&["mez", "central european", "germany", "german", "munich", "frankfurt"], &["Europe/Berlin"]),
    of(&["hamburg", "cologne", "stuttgart", "düsseldorf"], &["Europe/Berlin"]),
    of(&["france", "french", "lyon"], &["Europe/Paris"]),
    of(&["spain", "barcelona"], &["Europe/Madrid"]),
    of(&["granada"], &["Europe/Madrid", "America/Managua"]),
    of(&["lisboa", "porto"], &["Europe/Lisbon"]),
    of(&["italy", "milan"], &["Europe/Rome"]),
    of(&["switzerland", "geneva", "basel"], &["Europe/Zurich"]),
    of(&["austria"], &["Europe/Vienna"]),
    of(&["netherlands", "holland", "rotterdam"], &["Europe/Amsterdam"]),
    of(&["belgium"], &["Europe/Brussels"]),
    of(&["sweden"], &["Europe/Stockholm"]),
    of(&["norway"], &["Europe/Oslo"]),
    of(&["denmark"], &["Europe/Copenhagen"]),
    season(&["eest", "eastern european summer"], &["Europe/Athens"], "+03:00"),
    of(&["eastern european", "greece"], &["Europe/Athens"]),
    of(&["finland"], &["Europe/Helsinki"]),
    of(&["msk", "moscow", "st petersburg", "saint petersburg"], &["Europe/Moscow"]),
    of(&["trt"], &["Europe/Istanbul"]),
    of(&["sast", "south africa", "durban", "cape town"], &["Africa/Johannesburg"]),
    of(&["eat", "kenya"], &["Africa/Nairobi"]),
    of(&["wat", "nigeria"], &["Africa/Lagos"]),
    of(&["gst", "gulf", "uae", "abu dhabi"], &["Asia/Dubai"]),
    of(&["pkt", "pakistan"], &["Asia/Karachi"]),
    of(
        &["india", "indian", "india standard", "mumbai", "delhi", "new delhi", "bangalore"],
        &["Asia/Kolkata"],
    ),
    of(&["ict", "thailand"], &["Asia/Bangkok"]),
    of(&["vietnam", "hanoi"], &["Asia/Ho_Chi_Minh"]),
    of(&["wib"], &["Asia/Jakarta"]),
    of(&["sgt"], &["Asia/Singapore"]),
    of(&["hkt"], &["Asia/Hong_Kong"]),
    of(&["pht", "philippines"], &["Asia/Manila"]),
    of(&["china", "beijing", "shenzhen"], &["Asia/Shanghai"]),
    of(&["jst", "osaka", "kyoto"], &["Asia/Tokyo"]),
    of(&["kst", "korea"], &["Asia/Seoul"]),
    of(&["awst"], &["Australia/Perth"]),
    of(&["acst"], &["Australia/Adelaide", "Australia/Darwin"]),
    season(&["acdt"], &["Australia/Adelaide"], "+10:30"),
    of(&["aest"], &["Australia/Sydney", "Australia/Brisbane"]),
    season(&["aedt"], &["Australia/Sydney"], "+11:00"),
    season(&["nzst"], &["Pacific/Auckland"], "+12:00"),
    season(&["nzdt"], &["Pacific/Auckland"], "+13:00"),
    of(&["new zealand", "wellington"], &["Pacific/Auckland"]),
];

/// Words for the zone of the machine, in lower case.
const HERE: &[&str] = &["server", "system", "machine", "host", "default", "here"];
/// Abbreviations that the database has as constant offsets, each with the zone for which people use it.
const CONSTANT: &[(&str, &str, &str)] = &[
    ("EST", "America/New_York", "-05:00"),
    ("MST", "America/Denver", "-07:00"),
    ("HST", "Pacific/Honolulu", "-10:00"),
];

/// The areas of the database that names of places begin with.
const AREAS: &[&str] =
    &["Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"];
const FORMS: &str =
    "say a name of the time zone database such as Europe/Berlin, an offset such as +08:00, UTC, or local";
/// The shortest name that is compared with others letter by letter.
const NAME_LEAST: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Zones;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let said = match Zones::bundled().named(text) {
            Ok(zone) => zone.to_string(),
            Err(fault) => format!("{}: {}", fault.code(), fault.hint()),
        };
        assert_eq!(said, expected, "{text:?}");
    }

    #[test]
    fn every_zone_of_the_table_is_known_and_no_name_stands_twice() {
        let zones = Zones::bundled();
        let mut names: Vec<&str> = Vec::new();
        for it in NAMES {
            for zone in it.zones {
                assert_eq!(zones.canonical(zone), Some(*zone));
            }
            for name in it.names {
                assert!(zones.canonical(name).is_none(), "{name} is known");
                assert_eq!(simplified(name), *name);
            }
            names.extend(it.names);
        }
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    #[test]
    fn a_known_zone_gets_its_own_name() {
        check("europe/berlin", "Europe/Berlin");
        check("Z", "UTC");
        check("+0800", "+08:00");
        check("local", "local");
        check("GMT+0", "GMT+0");
    }

    #[test]
    fn an_unknown_zone_is_refused_with_the_nearest() {
        for text in ["Berlin", "berlin time", "Europe/Berlim", "Europa/Berlin", "Berlim", "Germany/Berlin"] {
            check(text, "zone-unknown: did you mean Europe/Berlin?");
        }
        check("New York", "zone-unknown: did you mean America/New_York?");
        check("america/new york", "zone-unknown: did you mean America/New_York?");
        check("Pacific Time", "zone-unknown: did you mean America/Los_Angeles?");
        check("US/San Francisco", "zone-unknown: did you mean America/Los_Angeles?");
        check("Istanbul", "zone-unknown: did you mean Asia/Istanbul?");
        check(
            "PST",
            "zone-unknown: say America/Los_Angeles, which has summer time too; or -08:00, if PST is meant all year",
        );
        check("IST", "zone-unknown: IST may be Asia/Kolkata, Europe/Dublin or Asia/Jerusalem: say which");
        check(
            "est",
            "zone-constant: say America/New_York for the clock there; or -05:00, if EST is meant all year",
        );
        check("EST5EDT", "EST5EDT");
        check("Mars/Phobos", &format!("zone-unknown: {FORMS}"));
        for other in ["Portland, Maine", "Sparta", "America", "Durbin"] {
            let said = Zones::bundled().named(other).expect_err(other);
            assert_eq!(said.meant(), None, "{other} may be any place: {said:?}");
        }
        assert_eq!(
            Zones::bundled().named("Europe/Berln").map_err(|it| it.meant()),
            Err(Some("Europe/Berlin".into()))
        );
        assert_eq!(Zones::bundled().named("Berlim").map_err(|it| it.meant()), Err(None), "it is only a hint");
        check("Lisboa", "zone-unknown: did you mean Europe/Lisbon?");
        check("server", "zone-unknown: did you mean local?");
        check("XST", &format!("zone-unknown: {FORMS}"));
    }

    #[test]
    fn an_offset_is_written_with_minutes() {
        for text in ["GMT+2", "utc+2", "UTC+02:00", "+2", "+02", "GMT +2"] {
            check(text, "zone-offset-malformed: write it as +02:00");
        }
        check("UTC-3:30", "zone-offset-malformed: write it as -03:30");
        check("+530", "zone-offset-malformed: write it as +05:30");
        check(
            "+24:00",
            "zone-offset-malformed: write an offset as +08:00 or -03:30, at most 18:00 either way",
        );
    }
}
