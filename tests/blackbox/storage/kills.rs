//! The kill loop on the whole daemon (T10): nothing that was acknowledged is lost, nothing fires twice, nothing is silent.
//!
//! `KILLS=2000 cargo test --test blackbox kills:: -- --nocapture` for a longer one: each data directory lives through at most
//! [`KILLS_PER_WORLD`] of them, four directories at a time.

use std::time::Duration;

use reveille::edn::Value;

use crate::harness::daemon::{Daemon, Home, until};
use crate::harness::life::{Figures, World, live_all};

#[test]
#[expect(clippy::disallowed_methods, reason = "how long it is to run is said in the environment")]
fn a_daemon_that_is_killed_again_and_again_loses_nothing_and_repeats_nothing() {
    let kills: u64 = std::env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let worlds = kills.div_ceil(KILLS_PER_WORLD);
    let all = live_all(worlds, AT_A_TIME, |number| {
        let mut world = World::new(number);
        world.live(kills / worlds + u64::from(number < kills % worlds));
        Some(world.judge())
    });
    let sum = |figure: fn(&Figures) -> u64| all.iter().map(figure).sum::<u64>();
    let created = sum(|it| it.told.created);
    let (cancelled, changed) = (sum(|it| it.told.cancelled), sum(|it| it.told.changed));
    println!(
        "{} kills ({} before it was ready): {created} creations acknowledged ({} of them had been kept unanswered), \
         {cancelled} cancels, {changed} changes, {} refusals; {} received, {} of them again under their run's id; {} facts; \
         slowest start {:?}; the machine stalled for {:?}",
        sum(|it| it.kills),
        sum(|it| it.early),
        sum(|it| it.told.found_again),
        sum(|it| it.told.refused),
        sum(|it| it.received),
        sum(|it| it.redelivered),
        sum(|it| it.facts),
        all.iter().map(|it| it.slowest_start).max().unwrap_or_default(),
        all.iter().map(|it| it.stalled).max().unwrap_or_default(),
    );
    assert_eq!(sum(|it| it.kills), kills);
    assert!(created > kills && cancelled > kills / 10 && sum(|it| it.received) > kills, "this is no load");
}

const KILLS: u64 = 300;
const KILLS_PER_WORLD: u64 = 75;
const AT_A_TIME: usize = 4;

/// Volatile schedules end with a kill, and the next daemon says which.
#[test]
fn what_was_in_memory_at_a_kill_is_named_by_the_next_daemon() {
    let home = Home::new("lost-names");
    let daemon = Daemon::start(&home);
    daemon.eql("[(psi.agent-session/open {:session-id \"main\"})]");
    let call_of = |label: &str| {
        format!(
            "{{:action \"scheduler\" :op \"create\" :kind \"message\" :label \"{label}\" :delay-ms 3600000 \
             :message \"a secret\"}}"
        )
    };
    let call = call_of("check-build");
    let edn = ["Content-Type: application/edn", "Reveille-Session: main"];
    let made = daemon.ask("POST /tools/psi-tool", &edn, &call).body;
    let id = made.split('"').find(|part| part.starts_with("sch-")).expect(&made).to_owned();
    let note = home.path().join("state/volatile.edn");
    let noted = || std::fs::read_to_string(&note).is_ok_and(|text| text.contains(&id));
    until("the note is written", Duration::from_secs(10), noted);
    // Nobody listens in the session, so what is due is left there, and nobody will have taken it.
    let call = call.replace("check-build", "was-left").replace("3600000", "1000");
    assert!(daemon.ask("POST /tools/psi-tool", &edn, &call).body.contains("was-left"));
    let noted = || {
        daemon.metric("reveille_left") == 1.0
            && std::fs::read_to_string(&note).is_ok_and(|text| text.contains("was-left"))
    };
    until("the message is left", Duration::from_secs(10), noted);
    let text = std::fs::read_to_string(&note).expect("it is there");
    assert!(text.contains("check-build") && !text.contains("secret"), "no prompt is on the disk: {text}");
    assert!(daemon.end("-KILL").code().is_none());
    let daemon = Daemon::start(&home);
    let told = Value::Map(daemon.eql("[:reveille.engine/lost-schedules]")).to_string();
    assert!(told.contains(&id) && told.contains("\"check-build\""), "{told}");
    let graphql =
        daemon.graphql("{ engine { lostSchedules { scheduleId label sessionId lostAt } } }").to_string();
    assert!(graphql.contains(&id) && graphql.contains("check-build"), "{graphql}");
    let days = daemon.graphql("{ engine { accountingByDay { day zone lost complete } } }").to_string();
    assert!(days.contains("\"lost\":2") && days.contains("\"complete\":true"), "{days}");
    assert!(told.contains("\"was-left\""), "{told}");
    let call = format!("{{:action \"scheduler\" :op \"cancel\" :schedule-id \"{id}\"}}");
    let refused = daemon.ask("POST /tools/psi-tool", &edn, &call).body;
    assert!(refused.contains("was lost at the restart of"), "{refused}");
    let explained = home.run(&mut home.command(&["explain", "--data-dir", "state", &id]));
    assert!(explained.out.contains("was lost") && explained.out.contains("check-build"), "{explained:?}");
    let cut = home.run(&mut home.command(&["explain", "--data-dir", "state", &id[..id.len() - 4]]));
    assert_eq!(cut.out, explained.out, "{cut:?}");
    let by_label = home.run(&mut home.command(&["explain", "--data-dir", "state", "check-build"]));
    assert_eq!(by_label.out, explained.out);
    assert!(daemon.end("-TERM").success());
    // An orderly stop loses nothing more, and what was lost before keeps its name.
    let daemon = Daemon::start(&home);
    let again = Value::Map(daemon.eql("[:reveille.engine/lost-schedules]")).to_string();
    assert_eq!(again, told);
    let days = daemon.graphql("{ engine { accountingByDay { lost } } }").to_string();
    assert!(days.contains("\"lost\":2"), "{days}");
    // What it cancels is known afterwards too, and does not count as lost.
    daemon.eql("[(psi.agent-session/open {:session-id \"main\"})]");
    let call = call_of("stopped");
    let made = daemon.ask("POST /tools/psi-tool", &edn, &call).body;
    let stopped = made.split('"').find(|part| part.starts_with("sch-")).expect(&made).to_owned();
    assert!(daemon.end("-TERM").success());
    let daemon = Daemon::start(&home);
    let told = Value::Map(daemon.eql("[:reveille.engine/lost-schedules]")).to_string();
    assert!(told.contains(&stopped) && told.contains(&id), "{told}");
    let explained = home.run(&mut home.command(&["explain", "--data-dir", "state", &stopped]));
    assert!(explained.out.contains("was lost") && explained.out.contains("stopped"), "{explained:?}");
    let days = daemon.graphql("{ engine { accountingByDay { lost } } }").to_string();
    assert!(days.contains("\"lost\":2"), "{days}");
    assert!(daemon.end("-TERM").success());
    home.assert_sound();
}
