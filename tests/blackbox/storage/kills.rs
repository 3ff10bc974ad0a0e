//! The kill loop on the whole daemon (T10): nothing that was acknowledged is lost, nothing fires twice, nothing is silent.
//!
//! `KILLS=2000 cargo test --test blackbox kills:: -- --nocapture` for a longer one: each data directory lives through at most
//! [`KILLS_PER_WORLD`] of them, four directories at a time.

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
