//! A session that is opened under the id of an earlier one reads nothing of what that one had.

use reveille::domain::{HostId, Lifetime, Refusal, ScheduleId, SessionConfig, Settings, Span, Status};
use reveille::engine::{Command, Input, NewSchedule, SessionRecord};
use reveille::port::Clock;
use reveille::testkit::DiskFault;

use super::lives::{ByHand, Lives, durable, message};
use crate::simulated::{ask, session, token};

#[test]
fn an_id_that_is_used_again_opens_no_past() {
    let lives = Lives::new();
    let life = ByHand::new(&lives);
    let open = || {
        let opened = life.handle.open_session(Some(session("bob")), HostId::LOCAL, SessionConfig::default());
        opened.expect("the id is free");
    };
    open();
    let secret = durable(NewSchedule {
        payload: reveille::domain::Payload::Turn { text: "BOBSECRET".into() },
        ..message(&session("bob"), 900_000_000)
    });
    let id = life.handle.schedule(secret).expect("there is room");
    life.handle.cancel(reveille::domain::Scope::Operator, id.clone()).expect("it is pending");
    let then = lives.stage.clock.now().wall;
    lives.stage.clock.advance(Span::from_millis(5_000));
    let bob = token("bob");
    let past = format!(
        "{{:pathom/eql [{{:psi.scheduler/schedules [:psi.scheduler/message]}}
                                       {{:psi.agent-session/sessions [:psi.agent-session/session-id]}}]
                         :reveille/as-of \"{then}\" :pathom/lenient-mode? true}}"
    );
    let feed = "[{:reveille.engine/decisions [:reveille.decision/kind :reveille.decision/schedule-id]}]";
    let why = format!(
        "[{{(:reveille/explain {{:schedule-id \"{id}\"}}) [:reveille.explanation/verdict :reveille.explanation/reason]}}]"
    );
    assert!(ask(&life.handle, &bob, &past, true).contains("BOBSECRET"), "its own past is told");
    assert!(ask(&life.handle, &bob, feed, true).contains(&id.to_string()));
    let own = ask(&life.handle, &bob, &why, true);

    life.handle.close_session(&session("bob")).expect("it is open");
    lives.stage.clock.advance(Span::from_millis(5_000));
    open();
    let past = ask(&life.handle, &bob, &past, true);
    assert!(!past.contains("BOBSECRET") && !past.contains("\"bob\""), "{past}");
    let feed = ask(&life.handle, &bob, feed, true);
    assert!(!feed.contains(&id.to_string()) && feed.contains("session-opened"), "{feed}");
    assert_ne!(ask(&life.handle, &bob, &why, true), own);
    let absent = why.replace(&id.to_string(), "sch-00000000-0000-4000-8000-000000000000");
    let answer = |question: &str| ask(&life.handle, &bob, question, true);
    assert_eq!(
        answer(&why).replace(&id.to_string(), "ID"),
        answer(&absent).replace("sch-00000000-0000-4000-8000-000000000000", "ID")
    );

    // The opening is stored: after a restart the session still reads its own past, and no other.
    let last = life.handle.view(|state| state.session(&session("bob")).map(SessionRecord::opened));
    drop(life);
    let life = ByHand::new(&lives);
    assert_eq!(life.handle.view(|state| state.session(&session("bob")).map(SessionRecord::opened)), last);
}

/// The end of the first session and the opening of the second are lost together: the store has the messages still.
#[test]
fn the_messages_of_a_closed_session_are_none_of_a_later_one() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let open = || Command::OpenSession {
        session: Some(session("bob")),
        host: HostId::LOCAL,
        config: std::sync::Arc::default(),
        by: None,
    };
    life.ask(open()).wait().expect("the id is free");
    life.ask(Command::CreateSchedule(durable(message(&session("bob"), 1_000)))).wait().expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.turn();
    let said = |life: &ByHand| life.handle.sessions().transcript(&session("bob")).map(|it| it.messages.len());
    assert_eq!(said(&life), Some(1));
    lives.store.hold();
    for command in [Command::CloseSession { session: session("bob"), by: None }, open()] {
        life.handle.submit_unawaited(Input::Command(command)).expect("it needs no store");
    }
    lives.store.fail_as(DiskFault::Full);
    lives.store.release();
    life.answers.publish();
    lives.store.heal();
    life.answers.retry().expect("the store is well");
    life.turn();
    drop(life);
    assert_eq!(said(&ByHand::new(&lives)), Some(0));
}

/// The end of the first session is lost: before the failure is known the id is free, and the store has the schedule still; once
/// it is known, the id is not given away.
#[test]
fn what_died_with_a_session_does_not_live_in_a_later_one() {
    for is_known in [false, true] {
        let lives = Lives::new();
        let mut life = ByHand::new(&lives);
        let bob = session("bob");
        let opened = life.handle.open_session(Some(bob.clone()), HostId::LOCAL, SessionConfig::default());
        assert!(opened.is_ok(), "{opened:?}");
        let id = ScheduleId::new("dies").expect("an id");
        let lifetime = Lifetime { dies_with_session: true, ..Lifetime::PLAIN };
        let settings = Some(Box::new(Settings { lifetime, ..Settings::PLAIN }));
        let new = durable(NewSchedule { id: Some(id.clone()), settings, ..message(&bob, 60_000) });
        life.ask(Command::CreateSchedule(new)).wait().expect("it is kept");
        lives.store.fail_as(DiskFault::Full);
        life.handle.close_session(&bob).expect("it is open");
        if is_known {
            life.answers.publish();
        }
        let opened = life.handle.open_session(Some(bob.clone()), HostId::LOCAL, SessionConfig::default());
        let is_refused = matches!(opened, Err(Refusal::StoreUnavailable { .. }));
        assert_eq!((is_refused, opened.is_ok()), (is_known, !is_known), "{opened:?}");
        life.answers.publish();
        lives.store.heal();
        life.answers.retry().expect("the store is well");
        if is_known {
            life.handle.open_session(Some(bob), HostId::LOCAL, SessionConfig::default()).expect("it is free");
        }
        lives.stage.clock.advance(Span::from_millis(60_000));
        life.turn();
        assert_eq!(life.received(), [], "the failure was known: {is_known}");
        assert!(matches!(life.status(&id), Some(Status::Cancelled) | None), "{:?}", life.status(&id));
    }
}
