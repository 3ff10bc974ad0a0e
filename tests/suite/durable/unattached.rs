//! A store that cannot be attached: the engine goes on as if nobody had tried.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::domain::{Cursor, GuardPolicy, HostId, Rule, RuleScope, Ruling, SessionConfig};
use reveille::engine::State;
use reveille::limits;
use reveille::runtime::{AttachOptions, Handle, RecoveryError};
use reveille::testkit::DiskFault;

use super::lives::{Lives, message};
use crate::simulated::session;

/// A policy of so many rules.
fn policy(rules: u64) -> GuardPolicy {
    let rule = |number| Rule {
        name: format!("rule {number}").into(),
        of: RuleScope::default(),
        then: Ruling::Refuse,
        why: None,
    };
    GuardPolicy { rules: (0..rules).map(rule).collect(), approval: None, asks: None }
}

/// Asserts what becomes of a policy with so many rules, at a disk that has this fault.
#[track_caller]
fn check(rules: u64, fault: Option<DiskFault>, is_expected: fn(&RecoveryError) -> bool) {
    let lives = Lives::new();
    let life = lives.next(0);
    let owner = life.open("one");
    let id = life.create(message(&owner, 60_000)).expect("it is kept");
    drop(life);
    let handle = Handle::new(lives.stage.parts(Arc::new(HostLocal::new())));
    let opened = handle.open_session(Some(session("early")), HostId::LOCAL, SessionConfig::default());
    let (early, token) = opened.expect("the id is free");
    let standing = || {
        let decisions = handle.subscribe(Cursor::START).poll(100).decisions;
        let sessions = handle.view(|state| state.session_ids().cloned().collect::<Vec<_>>());
        (decisions, sessions, handle.view(State::cursor), handle.tokens().session(&token))
    };
    let before = standing();
    assert_eq!(before.1, [early]);
    if let Some(fault) = fault {
        lives.store.fail_as(fault);
    }
    let options =
        || AttachOptions { policy: Some(Some(Arc::new(policy(rules)))), ..AttachOptions::default() };
    let refused = handle.attach_store(lives.store.clone(), options()).expect_err("it cannot be taken");
    assert!(is_expected(&refused), "{refused}");
    assert_eq!(standing(), before, "{refused}");
    // The store is as it was, too: the next one that attaches it has what was there.
    lives.store.heal();
    let life = lives.next(0);
    assert!(life.handle.view(|state| state.schedule(&id).is_some() && state.guard().is_none()));
}

#[test]
fn a_policy_that_cannot_be_taken_leaves_the_engine_as_it_was() {
    let most = limits::GUARD_RULES.value;
    check(most + 1, None, |error| matches!(error, RecoveryError::Policy { .. }));
    check(most, Some(DiskFault::Full), |error| matches!(error, RecoveryError::Store(_)));
}
