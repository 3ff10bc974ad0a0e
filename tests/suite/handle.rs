//! What the handle promises its holders beyond the engine's laws: tokens, readers that panic, bounded transcripts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock};

use reveille::adapter::{HostLocal, HostTapped};
use reveille::domain::{
    Caller, CallerRole, Channel, ChannelKind, Code, Cursor, DecisionKind, HostId, Payload, Reason, Right,
    Route, ScheduleId, Scope, SessionConfig, SessionId, Settings, Span, Target, TokenName, Via, When,
};
use reveille::engine::{Command, Input, NewSchedule, Parcel, Report, State, Which};
use reveille::limits;
use reveille::port::{Carried, Courier};
use reveille::runtime::{Handle, LATENESS_NS, Parts, Token};
use reveille::testkit::{SimClock, SimEntropy};

fn engine() -> (Handle, Arc<SimClock>, Arc<HostLocal>) {
    let local = Arc::new(HostLocal::new());
    let (handle, clock) = engine_with(local.clone());
    (handle, clock, local)
}

fn engine_with(local: Arc<dyn reveille::port::Host>) -> (Handle, Arc<SimClock>) {
    let clock = Arc::new(SimClock::new());
    let parts = Parts {
        clock: clock.clone(),
        entropy: Arc::new(SimEntropy::seeded(1)),
        local,
        zones: Arc::default(),
        without_store: reveille::runtime::WithoutStore::Reject,
        journal: None,
    };
    (Handle::new(parts), clock)
}

fn open(handle: &Handle, id: &str) -> (SessionId, Token) {
    let id = SessionId::new(id).expect("an id");
    handle.open_session(Some(id), HostId::LOCAL, SessionConfig::default()).expect("the id is free")
}

#[test]
fn a_token_is_its_session_until_that_is_closed() {
    let (handle, ..) = engine();
    let (one, token) = open(&handle, "one");
    let (two, other) = open(&handle, "two");
    assert_eq!(token.reveal().len(), 64);
    assert_eq!(handle.tokens().session(&token), Some(one.clone()));
    assert_eq!(handle.tokens().session(&other), Some(two.clone()));
    assert_eq!(handle.tokens().session(&Token::from_text("")), None);
    assert!(!format!("{token:?}").contains(token.reveal()));

    handle.close_session(&one).expect("it is open");
    assert_eq!(handle.tokens().session(&token), None);
    // The same id again is another session: the old token does not open it.
    let (again, fresh) = open(&handle, "one");
    assert_eq!((handle.tokens().session(&token), handle.tokens().session(&fresh)), (None, Some(again)));
    // A refused open leaves the token of the open session alone.
    assert!(handle.open_session(Some(two.clone()), HostId::LOCAL, SessionConfig::default()).is_err());
    assert_eq!(handle.tokens().session(&other), Some(two));
}

#[test]
fn every_digit_of_a_token_counts() {
    let (handle, ..) = engine();
    let (_, own) = open(&handle, "one");
    let operator = "0123456789abcdef".repeat(4);
    handle.tokens().admit_operator(&Token::from_text(&operator), Right::Change);
    for token in [own.reveal(), &operator] {
        assert!(handle.tokens().caller(&Token::from_text(token)).is_some());
        for place in 0..token.len() {
            let other = if token.as_bytes()[place] == b'0' { "1" } else { "0" };
            let wrong = [&token[..place], other, &token[place + 1..]].concat();
            assert_eq!(handle.tokens().caller(&Token::from_text(&wrong)), None, "another digit at {place}");
        }
        for wrong in [&token[..63], &token[1..], &format!("{token}0")] {
            assert_eq!(handle.tokens().caller(&Token::from_text(wrong)), None, "{} digits", wrong.len());
        }
    }
}

#[test]
fn operators_have_tokens_with_a_right() {
    let (handle, ..) = engine();
    let token = |text: &str| Token::from_text(text);
    handle.tokens().admit_operator(&token("all"), Right::Change);
    handle.tokens().admit_operator(&token("look"), Right::Read);
    let (one, own) = open(&handle, "one");
    let callers = ["all", "look", "none", "", "ALL"].map(|text| handle.tokens().caller(&token(text)));
    let found =
        callers.each_ref().map(|found| found.as_ref().map(|it| (it.scope.clone(), it.right, it.role)));
    let operator = |right, role| Some((Scope::Operator, right, role));
    assert_eq!(
        found,
        [
            operator(Right::Change, CallerRole::Operator),
            operator(Right::Read, CallerRole::Observer),
            None,
            None,
            None
        ]
    );
    let name = |place: usize| callers[place].as_ref().and_then(|it| it.via.token()).map(TokenName::as_str);
    assert!(name(0).is_some() && name(1).is_some() && name(0) != name(1), "each is called something else");
    let own_caller = Caller { role: CallerRole::Session, via: Via::Session, ..Caller::session(one.clone()) };
    assert_eq!(handle.tokens().caller(&own), Some(own_caller));
    assert_eq!(handle.tokens().session(&token("all")), None, "an operator is no session");
    handle.close_session(&one).expect("it is open");
    assert_eq!(handle.tokens().caller(&own), None);
}

#[test]
fn a_reader_that_panics_leaves_the_engine_as_it_was() {
    let (handle, clock, _) = engine();
    let (session, _) = open(&handle, "one");
    let new = |text| NewSchedule::message(session.clone(), When::After(Span::from_millis(1_000)), text);
    handle.schedule(new("before")).expect("there is room");
    let panicked = catch_unwind(AssertUnwindSafe(|| handle.view(|_| panic!("a reader's own affair"))));
    assert!(panicked.is_err());
    let busy = || Input::Report(Report::Busy { session: session.clone(), busy: false, by: None });
    let panicked = catch_unwind(AssertUnwindSafe(|| handle.submit_with(busy(), |_| panic!("and again"))));
    assert!(panicked.is_err());

    handle.schedule(new("after")).expect("there is room");
    clock.advance(Span::from_millis(1_000));
    assert_eq!(handle.run_due(), None);
    assert_eq!(handle.view(State::ledger).delivered, 2);
}

#[test]
fn what_was_called_off_before_its_host_was_asked_is_not_handed_over() {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let way_back: Arc<OnceLock<Handle>> = Arc::default();
    let (ear, back) = (heard.clone(), way_back.clone());
    let local = HostTapped::new(
        Arc::new(HostLocal::new()),
        move |session: &SessionId, _: &reveille::domain::Message| {
            ear.lock().expect("nobody panics").push(session.as_str().to_owned());
            let other = SessionId::new("two").expect("an id");
            back.get().expect("it is set").close_session(&other).expect("it is open");
        },
    );
    let (handle, clock) = engine_with(Arc::new(local));
    assert!(way_back.set(handle.clone()).is_ok());
    for name in ["one", "two"] {
        let (session, _) = open(&handle, name);
        let new = NewSchedule::message(session, When::After(Span::from_millis(1_000)), name);
        handle.schedule(new).expect("there is room");
    }
    clock.advance(Span::from_millis(1_000));
    handle.run_due();
    assert_eq!(*heard.lock().expect("nobody panics"), ["one"]);
    assert_eq!(handle.view(|state| (state.ledger().delivered, state.ledger().failed)), (1, 1));
}

#[test]
fn a_transcript_forgets_its_oldest_messages_and_counts_them() {
    let (handle, _, local) = engine();
    let (session, _) = open(&handle, "one");
    for number in 0..limits::TRANSCRIPT_MESSAGES.value + 3 {
        let text = number.to_string().into();
        handle
            .submit(Input::Report(Report::UserMessage { session: session.clone(), text, by: None }))
            .expect("it is open");
    }
    let transcript = handle.sessions().transcript(&session).expect("the built-in host keeps it");
    assert_eq!(transcript.messages.len() as u64, limits::TRANSCRIPT_MESSAGES.value);
    assert_eq!((transcript.messages[0].text().as_str(), local.dropped(&session)), ("3", 3));
}

#[test]
fn figures_count_each_hand_over_once_and_from_its_slot() {
    let (handle, clock, _) = engine();
    let (session, _) = open(&handle, "one");
    let in_a_second = When::After(Span::from_millis(1_000));
    let message = |text| NewSchedule::message(session.clone(), in_a_second.clone(), text);
    let payload = Payload::new_session("fresh", Arc::default());
    let gauges = |handle: &Handle| handle.counters().1;
    handle.schedule(message("at once")).expect("there is room");
    handle.schedule(NewSchedule { payload, ..message("") }).expect("there is room");
    assert_eq!((gauges(&handle).pending, gauges(&handle).sessions), (2, 1));
    clock.advance(Span::from_millis(1_003));
    assert_eq!(gauges(&handle).due, 2);
    handle.run_due();
    let busy = |busy| Input::Report(Report::Busy { session: session.clone(), busy, by: None });
    handle.submit(busy(true)).expect("it is open");
    let cancelled = handle.schedule(message("cancelled")).expect("there is room");
    handle.cancel(Scope::Operator, cancelled).expect("it is pending");
    handle.schedule(message("waits")).expect("there is room");
    clock.advance(Span::from_millis(1_000));
    handle.run_due();
    assert_eq!((gauges(&handle).queued, gauges(&handle).due, gauges(&handle).running), (1, 0, 0));
    clock.advance(Span::from_millis(20_000));
    handle.submit(busy(false)).expect("it is open");

    let (figures, gauges) = handle.counters();
    assert_eq!((gauges.sessions, gauges.pending, gauges.queued, gauges.running), (2, 0, 0, 0));
    let late = |nanos: u64| LATENESS_NS.iter().position(|end| *end >= nanos).expect("a class");
    let classes = figures.lateness().classes;
    assert_eq!((classes.iter().sum::<u64>(), classes[late(3_000_000)]), (3, 2), "{classes:?}");
    assert_eq!(classes[late(20_000_000_000)], 1, "{classes:?}");
    assert_eq!(figures.lateness().sum_ns, 20_006_000_000);
    assert_eq!(figures.decided(DecisionKind::RunDelivered), 3);
    assert_eq!(figures.cancelled_for(Reason::Cancelled), 1);
    assert!(handle.cancel(Scope::Operator, ScheduleId::new("none").expect("an id")).is_err());
    assert_eq!(handle.counters().0.refused_with(Code::NotFound), 1);
}

/// Never says what became of a parcel.
#[derive(Default)]
struct Stuck(Mutex<Vec<Carried>>);

impl Courier for Stuck {
    fn carry(&self, _: Parcel, carried: Carried) {
        self.0.lock().expect("no test panics in it").push(carried);
    }
}

#[test]
fn a_parcel_that_is_stuck_does_not_keep_the_engine() {
    let (handle, clock, _) = engine();
    let (one, _) = open(&handle, "one");
    let stuck = Arc::new(Stuck::default());
    let (name, goes_to, kind) = ("ops".into(), "somewhere".into(), ChannelKind::Webhook);
    let ops = Channel { name, kind, goes_to, agents: true, agents_manage: false };
    assert!(handle.outside().open_channels(stuck.clone(), vec![ops]));
    let route = Route { channel: "ops".into(), conversation: "c1".into(), thread: None };
    let settings = Settings { target: Target::Route(Box::new(route)), ..Settings::PLAIN };
    let new = NewSchedule::message(one, When::After(Span::from_millis(1_000)), "wake up");
    handle.schedule(NewSchedule { settings: Some(Box::new(settings)), ..new }).expect("there is room");
    clock.advance(Span::from_millis(1_000));
    handle.run_due();
    let carried = stuck.0.lock().expect("no test panics in it").pop().expect("it is on its way");
    drop(handle);
    assert_eq!(Arc::strong_count(&stuck), 1, "the engine is gone, and its courier with it");
    // What comes then is nobody's.
    carried(Ok(()));
}

#[test]
fn a_change_lets_nothing_overtake_what_was_due_before() {
    let (handle, clock, _) = engine();
    let (one, _) = open(&handle, "one");
    let ids = [1_000, 2_000, 3_000].map(|delay| {
        let when = When::After(Span::from_millis(delay));
        handle.schedule(NewSchedule::message(one.clone(), when, delay.to_string())).expect("there is room")
    });
    // All are due, and the driver has not come round.
    clock.advance(Span::from_millis(5_000));
    let which = Which::any(Scope::Operator, ids[1].clone());
    let pause = Command::PauseSchedule { which, reason: None };
    handle.submit(Input::Command(pause)).expect("what was claimed goes on");
    let shown = handle.subscribe(Cursor::START).next_batch(64).expect("it goes on").decisions;
    let claimed = shown.iter().filter(|decision| decision.kind == DecisionKind::RunClaimed);
    let claimed: Vec<_> = claimed.filter_map(|decision| decision.schedule().cloned()).collect();
    assert_eq!(claimed, ids[..2]);
    let transcript = handle.sessions().transcript(&one).expect("it is open");
    assert_eq!(transcript.messages.iter().map(|message| message.text()).collect::<Vec<_>>(), ["1000"]);
}
