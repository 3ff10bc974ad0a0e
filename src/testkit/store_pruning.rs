//! What every durable store prunes, and what it says of it: part of the suite in `store_conformance`.

use super::store_maker::{ROOMY, StoreMaker, fact, fill, keep, log, row, rows, tombstone};
use crate::domain::Cursor;
use crate::port::{EDITS_PART, FactRecord, HistoryCaps, HistoryQuery, RowRecord, Store};

/// Checks pruning.
pub(super) fn check(maker: &impl StoreMaker) {
    history_ends_at_its_caps(maker);
    what_a_schedule_did_outlives_its_edits(maker);
    a_session_over_its_share_loses_its_own_history(maker);
    every_fact_counts_in_the_share_of_its_cause(maker);
    current_rows_are_never_pruned(maker);
}

const EDIT: &str = "schedule-changed";

fn of_kind(cursor: u64, kind: &str) -> FactRecord {
    FactRecord { kind: kind.into(), ..fact(cursor, "edited", 0) }
}

fn what_a_schedule_did_outlives_its_edits(maker: &impl StoreMaker) {
    let cap = 80;
    let store = maker.fresh(HistoryCaps { schedule_rows: cap, ..ROOMY });
    let lasting = ["schedule-created", "run-held", "run-approved", "run-delivered", "operation-refused"];
    for (cursor, kind) in (1..).zip(lasting) {
        keep(&store, &[of_kind(cursor, kind)], &[]).expect("it is kept");
    }
    for cursor in 6..1_000 {
        let kind = if cursor % 3 == 0 { "schedule-paused" } else { EDIT };
        keep(&store, &[of_kind(cursor, kind)], &[]).expect("it is kept");
    }
    let kept = log(&store);
    let kinds: Vec<&str> = kept.iter().map(|fact| &*fact.kind).take(lasting.len()).collect();
    assert_eq!(kinds, lasting, "edits of a schedule remove edits only");
    assert!(kept.len() as u64 <= cap + cap / 5, "{} facts, and {cap} may be", kept.len());
    let through = store.lost_history().expect("it can be read").schedules.get("edited").copied();
    let through = through.expect("edits are missing");
    assert!(
        through > Cursor::new(5) && through < kept[lasting.len()].cursor,
        "the oldest edits went: {through}"
    );
    // What a schedule does has no end either. Its creation stays all the same, and so do its last edits.
    for cursor in 1_000..3_000 {
        keep(&store, &[of_kind(cursor, "run-delivered")], &[]).expect("it is kept");
    }
    let kept = log(&store);
    assert_eq!(&*kept[0].kind, "schedule-created");
    let edits = kept.iter().filter(|fact| &*fact.kind != "run-delivered").count() as u64 - 1;
    assert!(edits <= cap / EDITS_PART, "{edits} edits");
    let through = store.lost_history().expect("it can be read").schedules.get("edited").copied();
    assert!(through >= Some(Cursor::new(2_800)), "{through:?}");
    let before = store.lost_history();
    let store = maker.reopen(store);
    assert_eq!((store.lost_history(), log(&store)), (before, kept), "for good");
    assert!(store.doctor().expect("it can be examined").is_sound());
}

/// Facts of all kinds about sessions and others' schedules are no way to fill the log at the cost of others.
fn every_fact_counts_in_the_share_of_its_cause(maker: &impl StoreMaker) {
    let about = |cursor, kind: &str, session: &str, share: Option<&str>| FactRecord {
        kind: kind.into(),
        schedule: None,
        session: Some(session.into()),
        share: share.map(Into::into),
        ..fact(cursor, session, 0)
    };
    let each = about(1_000, "session-opened", "fresh-9999", Some("loud")).bytes() as u64;
    for kind in ["session-opened", "session-closed", "session-hosted", "job-ready", "operation-refused"] {
        let store = maker.fresh(HistoryCaps { bytes: 400 * each, ..ROOMY });
        keep(&store, &[about(1, "session-granted", "loud", None)], &[]).expect("it is kept");
        fill(&store, 60, |cursor| about(cursor + 1, "session-opened", "quiet", None));
        let quiet: Vec<FactRecord> = log(&store);
        for cursor in 100..1_600 {
            let fresh = format!("fresh-{cursor}");
            let (session, share) = if cursor % 2 == 0 { (&*fresh, Some("loud")) } else { ("loud", None) };
            keep(&store, &[about(cursor, kind, session, share)], &[]).expect("it is kept");
        }
        assert_eq!(log(&store)[..quiet.len()], quiet, "{kind} removes no history of others, and no grant");
        let lost = store.lost_history().expect("it can be read");
        assert!(!lost.beginning && lost.sessions.contains_key("loud"), "{lost:?}");
        assert!(lost.sessions.keys().all(|session| &**session != "quiet"), "{lost:?}");
        let store = maker.reopen(store);
        assert_eq!(store.lost_history(), Ok(lost), "for good");
        assert!(store.doctor().expect("it can be examined").is_sound());
    }
}

fn history_ends_at_its_caps(maker: &impl StoreMaker) {
    let caps = HistoryCaps { schedule_rows: 50, ..ROOMY };
    let store = maker.fresh(caps);
    fill(&store, 600, |cursor| fact(cursor, if cursor % 10 == 0 { "rare" } else { "often" }, 0));
    let report = store.doctor().expect("it can be examined");
    let often = log(&store).iter().filter(|fact| fact.schedule.as_deref() == Some("often")).count();
    assert!((50..=60).contains(&often), "{often} facts of a schedule, and 50 may be");
    assert_eq!(report.counts.facts + report.pruned.by_rows, 600, "what is pruned is counted: {report:?}");
    let rare = HistoryQuery { schedule: Some("rare".into()), limit: 100, ..HistoryQuery::default() };
    assert!(store.history(&rare).expect("it can be read").len() >= 50, "others keep theirs");

    // Pruning may lag behind by a few batches, so a fifth more is allowed.
    let each = fact(100, "a", 0).bytes() as u64;
    let caps = HistoryCaps { bytes: 100 * each, ..ROOMY };
    let store = maker.fresh(caps);
    fill(&store, 600, |cursor| fact(cursor, "a", 0));
    let report = store.doctor().expect("it can be examined");
    assert!(report.counts.fact_bytes <= 120 * each, "{report:?}");
    assert_eq!(report.counts.facts + report.pruned.by_bytes, 600, "{report:?}");
    assert_eq!(log(&store).first().map(|fact| fact.cursor), Some(report.counts.first), "the oldest go first");
    let store = maker.reopen(store);
    assert_eq!(store.doctor().expect("it can be examined").pruned, report.pruned, "for good");

    let caps = HistoryCaps { days: 2, ..ROOMY };
    let store = maker.fresh(caps);
    fill(&store, 3_000, |cursor| fact(cursor, "a", i64::try_from(cursor).expect("small") * 600));
    let report = store.doctor().expect("it can be examined");
    // One fact in ten minutes is 288 in two days. A store may prune in blocks of a thousand.
    assert!((288..=1_800).contains(&report.counts.facts), "{report:?}");
    assert_eq!(report.counts.facts + report.pruned.by_age, 3_000, "{report:?}");
}

fn a_session_over_its_share_loses_its_own_history(maker: &impl StoreMaker) {
    let of = |cursor, kind: &str, session: &str| {
        let own = fact(cursor, session, 0);
        FactRecord { kind: kind.into(), session: Some(session.into()), ..own }
    };
    let each = of(1_000, "schedule-changed", "loud").bytes() as u64;
    let store = maker.fresh(HistoryCaps { bytes: 400 * each, ..ROOMY });
    fill(&store, 60, |cursor| of(cursor, "run-delivered", if cursor <= 10 { "loud" } else { "quiet" }));
    let of_session = |store: &dyn Store, session: &str| {
        let facts = log(store).into_iter();
        facts.filter(|fact| fact.session.as_deref() == Some(session)).collect::<Vec<FactRecord>>()
    };
    let quiet = of_session(&store, "quiet");
    let fill_on = |store: &dyn Store, from: u64, kind: &str| {
        for cursor in from..from + 1_000 {
            keep(store, &[of(cursor, kind, "loud")], &[]).expect("it is kept");
        }
    };
    fill_on(&store, 61, "schedule-changed");
    let loud = of_session(&store, "loud");
    assert_eq!(of_session(&store, "quiet"), quiet, "one session does not remove the history of another");
    assert_eq!(loud[9].cursor, Cursor::new(10), "facts of other kinds outlive edits");
    let lost = store.lost_history().expect("it can be read");
    assert!(!lost.beginning && lost.sessions.len() == 1, "{lost:?}");
    let newest = lost.sessions.get("loud").copied().expect("it lost facts");
    assert!(loud[10].cursor > newest && newest > Cursor::new(60), "the oldest edits went: {lost:?}");
    let store = maker.reopen(store);
    assert_eq!(store.lost_history(), Ok(lost), "for good");
    fill_on(&store, 1_061, "run-delivered");
    let report = store.doctor().expect("it can be examined");
    assert!(report.is_sound() && report.counts.fact_bytes <= 480 * each, "{report:?}");
    assert_eq!(report.counts.facts + report.pruned.by_bytes, 2_060, "{report:?}");
    assert_eq!(of_session(&store, "quiet"), quiet, "nor by any other kind of fact");
    assert!(of_session(&store, "loud")[0].cursor > Cursor::new(1_060), "then its oldest facts go");
}

fn current_rows_are_never_pruned(maker: &impl StoreMaker) {
    // So tight that every fact is pruned: whatever remains is exempt from pruning.
    let caps = HistoryCaps { schedule_rows: 1, bytes: 1, days: 1 };
    let store = maker.fresh(caps);
    let live: Vec<RowRecord> = (0..300).map(|key| row(&format!("live-{key:03}"), 1, "x")).collect();
    keep(&store, &[fact(1, "a", 0)], &live).expect("it is kept");
    keep(&store, &[fact(2, "a", 0)], &[tombstone("dead", 1)]).expect("it is kept");
    for cursor in 3..1_000 {
        let second = i64::try_from(cursor).expect("small") * 3_600;
        keep(&store, &[fact(cursor, "a", second)], &[]).expect("it is kept");
    }
    assert_eq!(rows(&store), live, "tombstones end with the history, rows do not");
    assert_eq!(store.doctor().expect("it can be examined").pruned.tombstones, 1);
    assert_eq!(store.health().head, Cursor::new(999), "cursors go on where facts are gone");
}
