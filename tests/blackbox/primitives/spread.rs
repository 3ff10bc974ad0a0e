//! A restart after which every watch is overdue: their checks are spread over an interval. T42 has `WATCHES=10000`.

use std::collections::BTreeMap;
use std::fs;

use reveille::edn::Value;

use super::scene::JSON;
use crate::faults::faketime::WallClock;
use crate::harness::ask::only;
use crate::harness::daemon::{Daemon, Home, at};
use crate::harness::figures::said;

const SECONDS: u64 = 30;
/// The watches of one session.
const EACH: u64 = 100;

/// T42: of many that looked every 30 s, no more than twice as many as usual look in any second.
#[test]
fn after_a_restart_overdue_checks_are_spread() {
    let home = Home::new("spread");
    let Some(mut clock) = WallClock::new(&home) else { return };
    fs::write(home.path().join("spread.toml"), "[primitives]\nwatchers = true\n").expect("ours");
    let start = |clock: &WallClock| {
        Daemon::start_with(&home, clock.on(home.serve().args(["--config", "spread.toml"])))
    };
    let count = said("WATCHES").unwrap_or(1_000);
    let sessions: Vec<String> = (0..count.div_ceil(EACH)).map(|number| format!("s{number}")).collect();
    let daemon = start(&clock);
    for session in &sessions {
        daemon.eql(&format!("[(psi.agent-session/open {{:session-id {session:?}}})]"));
        let headers = [JSON[0], &*format!("Reveille-Session: {session}")];
        for number in 0..EACH {
            let watch =
                format!(r#"{{"name":"ping.age","params":{{"name":"p{number}"}},"interval":{SECONDS}}}"#);
            let reply = daemon.ask("POST /tools/watch_start", &headers, &watch);
            assert_eq!(reply.status, 200, "{}", reply.body);
        }
    }
    daemon.kill();
    clock.jump(60);
    let daemon = start(&clock);
    let mut looks: BTreeMap<i64, u64> = BTreeMap::new();
    for session in &sessions {
        let asked = daemon.eql(&format!(
            "[{{[:psi.agent-session/session-id {session:?}] \
             [{{:reveille/watches [{{:reveille.watch/schedule [:psi.scheduler/fire-at]}}]}}]}}]"
        ));
        let watches = at(only(&asked), &["reveille/watches"]).and_then(Value::as_items).unwrap_or_default();
        for watch in watches.iter().filter_map(Value::as_map) {
            let next = at(watch, &["reveille.watch/schedule", "psi.scheduler/fire-at"]);
            // One that is in its check has no next one yet: those count as of one second.
            let second = next.and_then(Value::as_inst).map_or(0, reveille::edn::Inst::seconds);
            *looks.entry(second).or_default() += 1;
        }
    }
    let all = EACH * sessions.len() as u64;
    assert_eq!(looks.values().sum::<u64>(), all, "each goes on");
    let (most, usual) = (looks.values().max().copied().unwrap_or_default(), all / SECONDS);
    assert!(most <= 2 * usual, "{most} in one second, where {usual} are usual: {looks:?}");
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_sound();
}
