//! Tests of who may have a process.

use super::*;

fn plan(name: &str, processes: u32) -> AgentPlan {
    AgentPlan { processes, ..AgentPlan::bare(name) }
}

/// Takes in a session of an agent.
fn adopted(pool: &mut Pool, agent: &str, name: &str) -> SessionId {
    let address: Address = format!("{agent}:{name}").parse().expect("an address");
    let session = SessionId::new(name).expect("an id");
    assert!(pool.adopt(&session, &address));
    session
}

/// What becomes of a prompt: a process is started, or is there, or the prompt waits and lets this session's process end.
fn admit(pool: &mut Pool, session: &SessionId) -> Result<&'static str, Option<SessionId>> {
    match pool.admit(session, BootTime::ZERO) {
        Admission::Running => Ok("running"),
        Admission::Start(..) => Ok("started"),
        Admission::Waits(Reason::HostBusy, leaves) => Err(leaves),
        Admission::Waits(reason, _) => panic!("{reason:?}"),
        Admission::Unknown => panic!("it is one of ours"),
    }
}

#[test]
fn an_error_is_shown_where_it_is_why_a_session_waits() {
    let mut pool = Pool::new(vec![AgentPlan::bare("x")]);
    let [broken, held] = ["a", "b"].map(|name| {
        let address: Address = format!("x:{name}").parse().expect("an address");
        let session = SessionId::new(name).expect("an id");
        assert!(pool.adopt(&session, &address));
        (session, address)
    });
    pool.failed(&broken.1, Reason::AgentBroken, "no such model", BootTime::ZERO);
    pool.waits_for(&broken.0, Reason::AgentBroken);
    pool.waits_for(&held.0, Reason::HeldElsewhere);
    let error_of = |session: &SessionId| pool.obstacle(session).and_then(|obstacle| obstacle.error);
    assert_eq!(error_of(&broken.0).as_deref(), Some("no such model"));
    assert_eq!(error_of(&held.0), None);
}

#[test]
fn an_agent_that_is_full_holds_up_no_other_agent() {
    let mut pool = Pool::new(vec![plan("x", 1), plan("y", 2)]);
    let [first, second] = ["x1", "x2"].map(|name| adopted(&mut pool, "x", name));
    let [idle, other] = ["y1", "y2"].map(|name| adopted(&mut pool, "y", name));
    assert_eq!(admit(&mut pool, &first), Ok("started"));
    assert_eq!(admit(&mut pool, &idle), Ok("started"));
    pool.ended(&idle, None, BootTime::ZERO);
    assert_eq!(admit(&mut pool, &second), Err(None), "its agent is full, and at work");
    assert_eq!(admit(&mut pool, &other), Ok("started"), "its agent has a place");
    assert_eq!(admit(&mut pool, &idle), Ok("running"), "no process was ended for it");
    // Only the end of a process of the agent that is full makes room for what waits.
    assert!(!pool.ended(&idle, None, BootTime::ZERO));
    assert!(pool.ended(&first, None, BootTime::ZERO));
}

#[test]
fn a_place_that_is_free_goes_to_the_session_that_waits_longest() {
    let mut pool = Pool::new(vec![plan("x", 1)]);
    let [first, second, third] = ["x1", "x2", "x3"].map(|name| adopted(&mut pool, "x", name));
    assert_eq!(admit(&mut pool, &first), Ok("started"));
    assert_eq!(admit(&mut pool, &second), Err(None));
    pool.leave(&first);
    assert_eq!(admit(&mut pool, &third), Err(None), "another one waits for longer");
    assert_eq!(pool.call(BootTime::ZERO), Some(second.clone()));
    assert_eq!(pool.call(BootTime::ZERO), None, "the place is kept");
    assert_eq!(admit(&mut pool, &second), Ok("started"));
    pool.leave(&second);
    assert_eq!(pool.call(BootTime::ZERO), Some(third));
}

#[test]
fn a_session_whose_process_ends_is_called_only_after_that() {
    let mut pool = Pool::new(vec![plan("x", 3)]);
    let [leaving, one, two, other] = ["x1", "x2", "x3", "x4"].map(|name| adopted(&mut pool, "x", name));
    assert_eq!(admit(&mut pool, &leaving), Ok("started"));
    pool.ended(&leaving, None, BootTime::ZERO);
    assert_eq!((admit(&mut pool, &one), admit(&mut pool, &two)), (Ok("started"), Ok("started")));
    assert_eq!(admit(&mut pool, &other), Err(Some(leaving.clone())), "its process makes room");
    pool.leave(&one);
    pool.leave(&two);
    assert_eq!(admit(&mut pool, &leaving), Err(None));
    assert_eq!(pool.call(BootTime::ZERO), Some(other));
    assert_eq!(pool.call(BootTime::ZERO), None, "its own process has not ended");
    pool.leave(&leaving);
    assert_eq!(pool.call(BootTime::ZERO), Some(leaving));
}

#[test]
fn a_process_frees_the_place_of_its_own_agent() {
    let bound = |name| AgentPlan { turns_per_hour: Some(1), ..plan(name, 1) };
    let mut pool = Pool::new(vec![bound("x"), plan("y", 1)]);
    let moved = adopted(&mut pool, "x", "s");
    assert_eq!(admit(&mut pool, &moved), Ok("started"));
    // It is closed, and opened for another agent while the process ends.
    pool.forget(&moved);
    assert_eq!(adopted(&mut pool, "y", "s"), moved);
    assert_eq!(admit(&mut pool, &moved), Err(None), "the process of another agent takes no prompt");
    let own = adopted(&mut pool, "y", "y1");
    assert_eq!(admit(&mut pool, &own), Ok("started"));
    pool.leave(&moved);
    // The turn that was reserved for it is free too.
    let next = adopted(&mut pool, "x", "x1");
    assert_eq!(admit(&mut pool, &next), Ok("started"), "the place is free");
    assert_eq!(admit(&mut pool, &moved), Err(None), "the other agent has one process, and it is at work");
    pool.leave(&own);
    assert_eq!(pool.call(BootTime::ZERO), Some(moved));
}

/// Two sessions may have one address: a window has opened one that is named as the conversation is.
#[test]
fn a_conversation_has_one_process_for_all_sessions_that_have_it() {
    let mut pool = Pool::new(vec![plan("x", 3)]);
    let address: Address = "x:c1".parse().expect("an address");
    let [main, window] = ["main", "x:c1"].map(|name| {
        let session = SessionId::new(name).expect("an id");
        assert!(pool.adopt(&session, &address));
        session
    });
    let held = |pool: &mut Pool, session: &SessionId, now| {
        let admission = pool.admit(session, now);
        let Admission::Waits(Reason::HeldElsewhere, leaves) = admission else { panic!("{admission:?}") };
        leaves
    };
    let now = BootTime::ZERO;
    assert_eq!(admit(&mut pool, &main), Ok("started"));
    assert_eq!(held(&mut pool, &window, now), None, "it is at work");
    let again = pool.next_alarm().expect("it is looked at again");
    assert_eq!(again, now.after(Span::from_millis(2_000)));
    assert!(pool.place_for_look(&window).is_none(), "nor is it looked into");
    pool.ended(&main, None, now);
    assert_eq!(held(&mut pool, &window, again), Some(main.clone()), "nothing goes on there");
    assert_eq!(held(&mut pool, &window, again), None, "it is told once to end");
    pool.leave(&main);
    assert_eq!(admit(&mut pool, &window), Ok("started"));
    // Another conversation of the agent is beside it.
    let other = adopted(&mut pool, "x", "c2");
    assert_eq!(admit(&mut pool, &other), Ok("started"));
    assert_eq!(held(&mut pool, &main, again), None);
    pool.leave(&window);
    assert!(pool.place_for_look(&main).is_some());
}

/// A second process counts from zero, and is dearer by its first word than the first one was by its last.
#[test]
fn what_a_process_costs_is_counted_whatever_the_one_before_it_cost() {
    let dear = AgentPlan { cost_per_day: Some(3.3), ..plan("x", 1) };
    let mut pool = Pool::new(vec![dear]);
    let session = adopted(&mut pool, "x", "c1");
    let cost = |amount: &str| {
        let cost = Some((amount.into(), "USD".into()));
        Amount::told(&crate::domain::Usage { cost, ..Default::default() })
    };
    for amount in ["1", "1.2"] {
        assert_eq!(admit(&mut pool, &session), Ok("started"));
        pool.ended(&session, cost(amount), BootTime::ZERO);
        pool.leave(&session);
    }
    assert!(matches!(pool.admit(&session, BootTime::ZERO), Admission::Waits(Reason::OverBudget, _)));
}
