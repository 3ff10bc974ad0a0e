//! A store with flipped, missing or zeroed bytes (T16): the daemon says so and does not start, and touches nothing; or the
//! damage is of no account, and all that was acknowledged is there.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use reveille::edn::Value;

use crate::harness::daemon::{Daemon, Home, at};
use crate::harness::load::Dice;

const FILES: [&str; 3] = ["store.db", "store.db-wal", "store.mark"];
const SCHEDULES: usize = 60;

type Files = BTreeMap<&'static str, Option<Vec<u8>>>;

fn files(home: &Home) -> Files {
    // An empty log says as much as none.
    let read =
        |name: &str| fs::read(home.store(name)).ok().filter(|bytes| !bytes.is_empty() || name != FILES[1]);
    FILES.into_iter().map(|name| (name, read(name))).collect()
}

/// A store of a daemon that was killed: half of it in the file, half in its log.
fn sample(home: &Home) -> Files {
    let create = |daemon: &Daemon, numbers: std::ops::Range<usize>| {
        for number in numbers {
            let body = format!(
                "[(psi.scheduler/create {{:kind :message :message \"m\" :session-id \"main\" :durability :durable \
                 :label \"{number}\" :delay-ms 3600000}})]"
            );
            assert!(daemon.eql(&body).keyword("reveille.error/why").is_none());
        }
    };
    let daemon = Daemon::start(home);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\" :listens? true})]");
    create(&daemon, 0..SCHEDULES / 2);
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    let daemon = Daemon::start(home);
    create(&daemon, SCHEDULES / 2..SCHEDULES);
    daemon.kill();
    files(home)
}

fn put(home: &Home, files: &Files) {
    for (name, bytes) in files {
        match bytes {
            Some(bytes) => {
                fs::write(home.store(name), bytes).expect("ours");
                fs::set_permissions(home.store(name), Permissions::from_mode(0o600)).expect("ours");
            }
            None => _ = fs::remove_file(home.store(name)),
        }
    }
    let _ = fs::remove_file(home.store("store.db-shm"));
}

/// Damages one file in some way; says how.
fn damage(dice: &mut Dice, files: &mut Files) -> String {
    let name =
        [FILES[0], FILES[0], FILES[1], FILES[1], FILES[2]][usize::try_from(dice.below(5)).expect("few")];
    let bytes = files.get_mut(name).and_then(Option::as_mut).expect("it is there");
    let length = bytes.len() as u64;
    let place = usize::try_from(dice.below(length)).expect("it fits");
    match dice.below(5) {
        0 | 1 => {
            bytes[place] ^= 1 << dice.below(8);
            format!("a bit of byte {place} of {name}")
        }
        2 => {
            bytes.truncate(place);
            format!("{name} cut from {length} to {place} bytes")
        }
        3 => {
            let end = (place + 512).min(bytes.len());
            bytes[place..end].fill(0);
            format!("zeroes in {name} from {place} to {end}")
        }
        _ => {
            files.insert(name, None);
            format!("{name} gone")
        }
    }
}

#[test]
fn a_damaged_store_is_never_an_empty_one() {
    let home = Home::new("damage");
    let whole = sample(&home);
    let mut dice = Dice::new(16);
    let (mut refused, mut harmless) = (0, 0);
    for round in 0..ROUNDS {
        let mut damaged = whole.clone();
        let about = format!("round {round}, {}", damage(&mut dice, &mut damaged));
        put(&home, &damaged);
        match Daemon::try_start(&home, &mut home.serve()) {
            (None, said) => {
                assert!(!said.contains("ready"), "{about}: {said}");
                assert!(said.contains("To restore: "), "{about}: {said}");
                assert!(said.contains("store"), "{about}: it says what: {said}");
                assert!(!said.contains("panicked"), "{about}: {said}");
                assert!(files(&home) == damaged, "{about}: what is refused is left as it is");
                let doctor = home.run(&mut home.command(&["doctor", "--data-dir", "state"]));
                // A log that is shorter than what was acknowledged is found by the mark, which the doctor reads too.
                assert_eq!(doctor.code, Some(1), "{about}: {}{}", doctor.out, doctor.err);
                refused += 1;
            }
            (Some(daemon), _) => {
                let labels = daemon.eql("[{:psi.scheduler/schedules [:psi.scheduler/label]}]");
                let list =
                    at(&labels, &["psi.scheduler/schedules"]).and_then(Value::as_items).expect("a list");
                assert_eq!(list.len(), SCHEDULES, "{about}: it started without what was acknowledged");
                harmless += 1;
            }
        }
    }
    println!("{ROUNDS} damages: {refused} refused, {harmless} of no account");
    assert!(refused > ROUNDS / 3, "{refused} of {ROUNDS}");
    // The undamaged one still is.
    put(&home, &whole);
    drop(Daemon::start(&home));
}

#[test]
fn a_store_is_restored_as_the_refusal_says() {
    let home = Home::new("restore");
    sample(&home);
    // A backup is the file as an orderly stop leaves it.
    assert_eq!(Daemon::start(&home).end("-TERM").code(), Some(0));
    let backup = fs::read(home.store("store.db")).expect("it is there");
    fs::write(home.store("store.db"), [7; 5_000]).expect("ours");
    let (daemon, said) = Daemon::try_start(&home, &mut home.serve());
    assert!(daemon.is_none() && said.contains("To restore: "), "{said}");
    for name in ["store.db-wal", "store.db-shm", "store.mark"] {
        assert!(said.contains(name), "it names what to remove: {said}");
        let _ = fs::remove_file(home.store(name));
    }
    fs::write(home.store("store.db"), backup).expect("ours");
    let daemon = Daemon::start(&home);
    let count = daemon.eql("[:psi.scheduler/schedule-count]");
    let count = count.keyword("psi.scheduler/schedule-count").and_then(Value::as_int);
    assert_eq!(count, i64::try_from(SCHEDULES).ok());
}

const ROUNDS: usize = 32;
