//! Adapter: the operating system's time zones. Reads its database once as data, and the name of its
//! own zone.
//!
//! What the names mean is decided by `calendar::Zones`, and so is whether this database or the
//! bundled one is newer. Invariant: nothing is read after these functions have returned, so an
//! update of the system takes effect at the next start, and one engine never gives two answers.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::calendar::{TzData, Zones};
use crate::domain::Zone;

/// Returns the newer of the system's database and the bundled one, with the system's own zone as
/// `local`.
///
/// A system without a database, or without a named zone, is no error: the bundled database and UTC
/// are the defaults.
#[expect(
    clippy::disallowed_methods,
    reason = "the zone is the environment's to say, and this is its adapter"
)]
pub(crate) fn system_zones() -> Zones {
    let given = read_zones(Path::new("/usr/share/zoneinfo")).unwrap_or_default();
    let tz = std::env::var("TZ").ok();
    let local = local_zone(tz.as_deref(), Path::new("/etc/localtime"));
    Zones::newest(given).with_local(local.unwrap_or(Zone::Utc))
}

/// Reads the time zone database in a directory such as `/usr/share/zoneinfo`.
///
/// Its version is taken from `tzdata.zi` or `+VERSION`; without either it is empty, which is older
/// than any.
///
/// # Errors
/// When the directory cannot be read. Files that are not zones, or cannot be read, are left out.
pub fn read_zones(directory: &Path) -> io::Result<TzData> {
    let mut zones = Vec::new();
    collect(directory, "", DEPTH_MAX, &mut zones)?;
    zones.sort();
    Ok(TzData { version: version(directory).unwrap_or_default().into(), zones })
}

/// Returns the system's own zone: the one that `TZ` names, if it is given, otherwise the one that
/// `/etc/localtime` links to.
///
/// Rules in `TZ` such as `CET-1CEST` have no name and are not supported.
pub fn local_zone(tz: Option<&str>, localtime: &Path) -> Option<Zone> {
    let name = match tz {
        // A colon marks the name of a zone's file. Source: tzset(3).
        Some(tz) => tz.trim_start_matches(':').to_owned(),
        None => fs::read_link(localtime).ok()?.to_str()?.to_owned(),
    };
    // A link such as ../usr/share/zoneinfo/Europe/Berlin: the name is what follows the database's
    // directory.
    let name = name.split_once("zoneinfo/").map_or(&*name, |(_, name)| name);
    let name = name.trim_start_matches("posix/").trim_start_matches("right/");
    let is_utc = ["", "UTC", "UTC0", "Etc/UTC"].contains(&name);
    if is_utc {
        Some(Zone::Utc)
    } else {
        Zone::parse(name).ok().filter(|zone| matches!(zone, Zone::Named(_)))
    }
}

fn collect(
    directory: &Path,
    prefix: &str,
    depth: usize,
    zones: &mut Vec<(Box<str>, Box<[u8]>)>,
) -> io::Result<()> {
    for entry in fs::read_dir(directory)?.flatten() {
        let file = entry.file_name();
        // Skipped: copies of the whole database with other rules for leap seconds, and files that
        // are a copy of one zone.
        let Some(file) =
            file.to_str().filter(|file| !["posix", "right", "posixrules", "localtime"].contains(file))
        else {
            continue;
        };
        let name = format!("{prefix}{file}");
        let path = entry.path();
        match fs::metadata(&path) {
            // A subdirectory that cannot be read costs only its own zones.
            Ok(found) if found.is_dir() && depth > 0 => {
                let _ = collect(&path, &format!("{name}/"), depth - 1, zones);
            }
            Ok(found) if found.is_file() && zones.len() < ZONES_MAX => {
                if let Some(data) = read_zone(&path) {
                    zones.push((name.into(), data.into()));
                }
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Reads a file if it begins like compiled zone data. Source: RFC 9636 §3.1.
fn read_zone(path: &Path) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    fs::File::open(path).ok()?.take(ZONE_FILE_BYTES_MAX).read_to_end(&mut data).ok()?;
    data.starts_with(b"TZif").then_some(data)
}

fn version(directory: &Path) -> Option<String> {
    let first_line = |file: &str| -> Option<String> {
        let mut head = Vec::new();
        fs::File::open(directory.join(file)).ok()?.take(64).read_to_end(&mut head).ok()?;
        Some(String::from_utf8_lossy(&head).lines().next()?.to_owned())
    };
    let zi = first_line("tzdata.zi").and_then(|line| Some(line.strip_prefix("# version ")?.to_owned()));
    let found = zi.or_else(|| first_line("+VERSION"))?;
    // Only a year and a letter can be compared with the bundled version.
    let is_version =
        found.len() >= 5 && found.is_ascii() && found[..4].bytes().all(|byte| byte.is_ascii_digit());
    is_version.then_some(found)
}

/// Bound of one zone's file: real files have 3 KB at most, and there are about 600.
const ZONE_FILE_BYTES_MAX: u64 = 1 << 16;
const ZONES_MAX: usize = 2_000;
const DEPTH_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_local_zone_has_a_name() {
        let nowhere = Path::new("/nowhere/localtime");
        let check = |tz: Option<&str>, expected: &str| {
            let zone = local_zone(tz, nowhere).map_or("unknown".to_owned(), |zone| zone.to_string());
            assert_eq!(zone, expected, "{tz:?}");
        };
        check(Some("Europe/Berlin"), "Europe/Berlin");
        check(Some(":America/New_York"), "America/New_York");
        check(Some("/usr/share/zoneinfo/Asia/Tokyo"), "Asia/Tokyo");
        check(Some(""), "UTC");
        check(Some("UTC0"), "UTC");
        check(Some("+05:00"), "unknown");
        check(None, "unknown");
    }
}
