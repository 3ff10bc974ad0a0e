//! A disk that is really full (T12): the caller is told at once, what lives in memory goes on, and so does all the rest when
//! there is room again.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::harness::ask::{assert_kept, create, middle};
use crate::harness::daemon::{Daemon, Home, PATIENCE, now, until};
use crate::harness::stream::{Harness, Stream};

/// A data directory on a small file system of its own.
struct SmallDisk(Home);

impl SmallDisk {
    fn mount() -> Option<SmallDisk> {
        let home = Home::new("full");
        fs::create_dir(home.state()).expect("ours");
        let done = run("mount", &["-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs"], &home.state());
        done.then(|| SmallDisk(home))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run("umount", &["-l"], &self.0.state());
    }
}

fn run(command: &str, arguments: &[&str], path: &Path) -> bool {
    Command::new(command).args(arguments).arg(path).output().is_ok_and(|done| done.status.success())
}

#[test]
fn a_full_disk_is_told_at_once_and_gone_on_from_without_a_restart() {
    let Some(disk) = SmallDisk::mount() else {
        println!("NOT RUN: no small disk can be mounted by this user");
        return;
    };
    let home = &disk.0;
    let daemon = Daemon::start(home);
    let harness = Harness::attach(&daemon.socket, &["main".to_owned()]).expect("it lives");
    let mut stream = Stream::connect(&daemon.socket).expect("it lives");
    let durable = format!(":durability :durable :delay-ms 3600000 :message \"{}\"", "x".repeat(20_000));
    let mut kept = vec![create(&mut stream, &durable).expect("there is room")];
    let ballast = home.state().join("ballast");
    fs::write(&ballast, vec![0; 6_200_000]).expect("there is room");
    let refusal = loop {
        match create(&mut stream, &durable) {
            Ok(id) => kept.push(id),
            Err(code) => break code,
        }
    };
    println!("{} kept, then {refusal}", kept.len());
    assert!(kept.len() > 5);
    until("it is known to be down", Duration::from_secs(5), || daemon.metric("reveille_store_down") > 0.0);
    // Again and again, and as quickly; what lives in memory fires meanwhile.
    let (mut told, mut late) = (Vec::new(), Vec::new());
    for round in 0..10 {
        let began = now();
        assert_eq!(create(&mut stream, &durable), Err(refusal.clone()), "round {round}");
        told.push(began.elapsed_here());
        let asked = now();
        let id = create(&mut stream, ":durability :volatile :delay-ms 200 :message \"m\"")
            .expect("memory needs no disk");
        let receipt = harness.next(PATIENCE).expect("it fires");
        assert_eq!(receipt.run.schedule.to_string(), id);
        late.push(asked.elapsed_here().saturating_sub(Duration::from_millis(200)));
    }
    let (told, late) = (middle(told), middle(late));
    println!("refused in {told:?}, volatile work {late:?} late");
    assert!(told < Duration::from_secs(1) && late < Duration::from_millis(500), "{told:?}, {late:?}");
    assert_kept(&daemon, &kept);
    fs::remove_file(&ballast).expect("it is there");
    let took =
        until("durable work goes on", Duration::from_secs(5), || match create(&mut stream, &durable) {
            Ok(id) => {
                kept.push(id);
                true
            }
            Err(code) => {
                assert_eq!(code, refusal);
                false
            }
        });
    println!("it went on {took:?} after there was room again");
    assert_eq!(daemon.metric("reveille_store_down"), 0.0);
    assert_kept(&daemon, &kept);
    let fires =
        create(&mut stream, ":durability :durable :delay-ms 100 :message \"m\"").expect("there is room");
    assert_eq!(harness.next(PATIENCE).expect("it fires").run.schedule.to_string(), fires);
    daemon.kill();
    let daemon = Daemon::start(home);
    assert_kept(&daemon, &kept);
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_sound();
    home.assert_history();
}
