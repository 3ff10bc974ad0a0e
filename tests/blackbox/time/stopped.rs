//! A daemon that is stopped for a while and goes on (T22): what is due fires once, and no burst.

use std::collections::BTreeMap;
use std::time::Duration;

use reveille_checker::Event;

use crate::harness::ask::{note_created, only};
use crate::harness::daemon::{Daemon, Home, now, pass};
use crate::harness::diary::Diary;
use crate::harness::stream::{Harness, Receipt, Stream};

#[test]
fn a_stopped_daemon_catches_up_with_each_schedule_once() {
    let home = Home::new("stopped");
    let daemon = Daemon::start(&home);
    let harness = Harness::attach(&daemon.socket, &["main".to_owned()]).expect("it lives");
    let mut stream = Stream::connect(&daemon.socket).expect("it lives");
    let mut made = BTreeMap::new();
    for durability in ["volatile", "durable"] {
        for (name, when) in [("once", ":delay-ms 1500"), ("every", ":every-ms 1000")] {
            let query = format!(
                "[(psi.scheduler/create {{:kind :message :message \"m\" :session-id \"main\" :label \"{name}-{durability}\" \
                 :durability :{durability} {when}}})]"
            );
            let answer = stream.eql(&query).expect("it lives").expect("it is made");
            let id = crate::harness::daemon::text(only(&answer), &["psi.scheduler/schedule-id"])
                .expect("an id")
                .to_owned();
            note_created(&mut stream, &id);
            made.insert(id, format!("{name}-{durability}"));
        }
    }
    let label = |receipt: &Receipt| made[&receipt.run.schedule.to_string()].clone();
    pass(Duration::from_millis(300));
    let diary = Diary::of(home.path());
    daemon.signal("-STOP");
    let stopped = diary.now();
    // Four slots of the recurring ones pass, and the only one of the others.
    pass(Duration::from_millis(4_000));
    // To it, the clock went from the one to the other at once.
    diary.note(Event::Jump { at: stopped, to: diary.now() });
    daemon.signal("-CONT");
    let resumed = now();
    let mut received: BTreeMap<String, Vec<(Duration, Receipt)>> = BTreeMap::new();
    while resumed.elapsed_here() < Duration::from_millis(2_500) {
        if let Some(receipt) = harness.next(Duration::from_millis(50)) {
            received.entry(label(&receipt)).or_default().push((resumed.elapsed_here(), receipt));
        }
    }
    for (label, receipts) in &received {
        let mut slots: Vec<_> = receipts.iter().map(|(_, receipt)| receipt.slot()).collect();
        slots.dedup();
        assert_eq!(slots.len(), receipts.len(), "{label}: nothing twice");
        assert!(receipts[0].0 < Duration::from_secs(1), "{label}: {:?} after it went on", receipts[0].0);
        let at_once = receipts.iter().filter(|(after, _)| *after < Duration::from_millis(600)).count();
        println!("{label}: {at_once} right after it went on, the first after {:?}", receipts[0].0);
        // The one that stands for all that passed, and at most the one that has just come.
        let most = if label.starts_with("once") { 1 } else { 2 };
        assert!(at_once <= most, "{label}: a burst of {at_once}");
    }
    assert_eq!(received.len(), 4, "{:?}", received.keys());
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_history();
}
