//! T33: what goes out by a channel, over a simulated clock and real receivers. What is awaited is what the feed shows.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reveille::adapter::HostLocal;
use reveille::adapter::outbound::{
    ChannelRoute, Client, Endpoint, OutboundCourier, Patience, Program, Shape, Signed, SigningKey, Trust,
    verify,
};
use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{
    Attempt, Caller, CallerRole, Cursor, Decision, DecisionKind, Durability, HostId, Reason, Route, RunState,
    ScheduleId, Scope, SessionConfig, SessionId, Settings, Span, Target, When,
};
use reveille::edn::{Value, read};
use reveille::engine::{Command, Input, NewSchedule, Which};
use reveille::graph::eql::Boundary;
use reveille::port::{Clock, HistoryCaps};
use reveille::runtime::{AttachOptions, Handle, Subscription};
use reveille::service::{Service, reply};
use reveille::testkit::StoreMemory;
use reveille::testkit::{SimHost, Stage};

use super::receiver::{Act, Received, Receiver, Script};

const KEY: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const BROKEN: &str = "HTTP/1.1 500 Internal\r\ncontent-length: 0\r\n\r\n";

/// An engine with one session and the channel `ops`.
struct Scene {
    stage: Stage,
    handle: Handle,
    feed: Subscription,
    shown: VecDeque<Decision>,
    session: SessionId,
}

impl Scene {
    fn new(way: ChannelRoute, agents: bool) -> Scene {
        let stage = Stage::seeded(7);
        let handle = Scene::handle(&stage);
        Scene::open(stage, handle, way, agents)
    }

    fn handle(stage: &Stage) -> Handle {
        let host = Arc::new(SimHost::new(stage, HostId::LOCAL).over(Arc::new(HostLocal::new())));
        Handle::new(stage.parts(host))
    }

    fn open(stage: Stage, handle: Handle, way: ChannelRoute, agents: bool) -> Scene {
        let channel = way.channel("ops".into(), agents);
        let outside = OutboundCourier::start(BTreeMap::from([("ops".into(), way)])).expect("a thread");
        assert!(handle.outside().open_channels(Arc::new(outside), vec![channel]));
        let feed = handle.subscribe(Cursor::START);
        let session = SessionId::new("main").expect("a name");
        // A life before this one may have left it.
        let _ = handle.open_session(Some(session.clone()), HostId::LOCAL, SessionConfig::default());
        Scene { stage, handle, feed, shown: VecDeque::new(), session }
    }

    fn to(&self, channel: &str, durability: Durability) -> NewSchedule {
        let route = Route { channel: channel.into(), conversation: "c1".into(), thread: None };
        let settings = Settings { target: Target::Route(Box::new(route)), ..Settings::PLAIN };
        let when = When::After(Span::from_millis(1_000));
        NewSchedule {
            durability,
            settings: Some(Box::new(settings)),
            ..NewSchedule::message(self.session.clone(), when, "wake up")
        }
    }

    /// A schedule for the channel, whose slot has come.
    fn send(&mut self, durability: Durability) -> ScheduleId {
        let id = self.handle.schedule(self.to("ops", durability)).expect("it is created");
        self.pass(Span::from_millis(1_000));
        id
    }

    fn pass(&self, span: Span) {
        self.stage.clock.advance(span);
        self.handle.run_due();
    }

    /// The next decision of one of these kinds.
    fn await_any(&mut self, kinds: &[DecisionKind]) -> Decision {
        loop {
            while let Some(shown) = self.shown.pop_front() {
                if kinds.contains(&shown.kind) {
                    return shown;
                }
            }
            self.shown.extend(self.feed.next_batch(64).expect("the feed goes on").decisions);
        }
    }

    /// What becomes of an attempt: the kind, why, and how long until the next.
    fn outcome(&mut self, id: &ScheduleId) -> (&'static str, Option<Reason>, Option<i32>, u64) {
        use DecisionKind::{RunDelivered, RunFailed, RunRetrying};
        let decision = self.await_any(&[RunDelivered, RunFailed, RunRetrying]);
        let now = self.stage.clock.now().wall;
        self.handle.view(|state| {
            let run = state.newest_run(state.schedule(id).expect("it is there")).expect("a run").run();
            let code = run.failure.as_ref().and_then(|failure| failure.code);
            let wait = run.retry_at.map_or(0, |at| at.millis_since(now));
            (decision.kind.name(), decision.reason, code, wait)
        })
    }

    /// The attempts of a schedule's run as a query shows them: number, state, code and channel of each.
    fn attempts(&self, id: &ScheduleId) -> String {
        let of = "[:reveille.attempt/number :reveille.attempt/state :reveille.attempt/code :reveille.attempt/channel]";
        let query = format!(
            "[{{[:psi.scheduler/schedule-id \"{id}\"] [{{:psi.scheduler/runs [{{:reveille.run/attempts {of}}}]}}]}}]"
        );
        let query = Boundary::read(&read(query.as_bytes(), &REQUEST_CAPS).expect("EDN")).expect("a query");
        let answer = Service::new(self.handle.clone()).query(&Caller::OPERATOR, &query, false);
        Value::from(reply(&query, answer.expect("admitted"))).to_string()
    }

    fn state(&self, id: &ScheduleId) -> RunState {
        self.handle.view(|state| {
            state.newest_run(state.schedule(id).expect("it is there")).expect("a run").run().state
        })
    }
}

fn webhook(to: Option<std::net::SocketAddr>, total: Duration) -> ChannelRoute {
    let endpoint = Endpoint::parse("http://localhost:8080/in").expect("a URL");
    webhook_at(endpoint, to, total)
}

fn webhook_at(endpoint: Endpoint, to: Option<std::net::SocketAddr>, total: Duration) -> ChannelRoute {
    let network = Script::new(&[&[[127, 0, 0, 1].into()]], to);
    let client = Client::new(network, Trust::none()).expect("a client").allowing(&endpoint).with_loopback();
    let client = client.with_patience(Patience { connect: total, total });
    let (shape, keys) = (Shape::Signed, vec![SigningKey::parse(KEY).expect("a key")]);
    ChannelRoute::Webhook { shape, endpoint, keys, client }
}

fn patient(receiver: &Receiver) -> ChannelRoute {
    webhook(Some(receiver.address), Duration::from_secs(20))
}

/// All of these came under one id, with one text, each believed at its own time.
fn is_one_message(received: &[Received]) {
    for one in received {
        assert_eq!(one.header("webhook-id"), received[0].header("webhook-id"), "one id");
        assert_eq!(one.body, received[0].body, "one text");
        let header = |name| one.header(name).expect("the header is there");
        let (id, timestamp, signature) =
            (header("webhook-id"), header("webhook-timestamp"), header("webhook-signature"));
        let at = reveille::domain::Moment::new(timestamp.parse().expect("seconds"), 0).expect("in range");
        let key = SigningKey::parse(KEY).expect("a key");
        assert_eq!(verify(&[key], Signed { id, timestamp, signature }, &one.body, at), Ok(()));
    }
}

#[test]
fn an_answer_that_comes_too_late_is_none_and_the_next_attempt_has_the_same_id() {
    let receiver = Receiver::playing(&[Act::SayTooLate(OK), Act::Say(OK)]);
    let mut scene = Scene::new(webhook(Some(receiver.address), Duration::from_millis(300)), false);
    let id = scene.send(Durability::Durable);
    assert_eq!(scene.outcome(&id), ("run-retrying", Some(Reason::ReceiptOverdue), None, 5_000));
    scene.pass(Span::from_millis(4_999));
    assert_eq!(scene.state(&id), RunState::Queued, "not yet");
    scene.pass(Span::from_millis(1));
    assert_eq!(scene.outcome(&id).0, "run-delivered");
    let received = receiver.received();
    assert_eq!(received.len(), 2, "whoever gets it twice knows it by its id");
    is_one_message(&received);
}

#[test]
fn five_failures_and_a_success_are_one_delivery_by_the_table() {
    let mut script = vec![Act::Say(BROKEN); 5];
    script.push(Act::Say(OK));
    let receiver = Receiver::playing(&script);
    let mut scene = Scene::new(patient(&receiver), false);
    let id = scene.send(Durability::Durable);
    for wait in [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000] {
        assert_eq!(scene.outcome(&id), ("run-retrying", Some(Reason::HostRefused), Some(500), wait));
        scene.pass(Span::from_millis(wait));
    }
    assert_eq!(scene.outcome(&id), ("run-delivered", None, None, 0));
    assert_eq!(receiver.received().len(), 6);
    is_one_message(&receiver.received());
    let attempts = scene.attempts(&id);
    let count = |part: &str| attempts.matches(part).count();
    assert_eq!((count("attempt/number"), count("attempt/channel \"ops\"")), (6, 6), "{attempts}");
    assert_eq!((count("attempt/state :failed"), count("attempt/code 500")), (5, 5), "{attempts}");
    assert_eq!(count("attempt/number 6 :reveille.attempt/state :delivered"), 1, "{attempts}");
    scene.handle.view(|state| {
        let run = state.newest_run(state.schedule(&id).expect("it is there")).expect("a run").run();
        let all: Vec<Attempt<'_>> = run.attempts().collect();
        // Each attempt begins when the one before said that it would.
        for pair in all.windows(2) {
            assert_eq!(pair[0].next_at, pair[1].started_at, "{pair:?}");
        }
        assert_eq!((all[5].next_at, all[5].ended_at), (None, run.delivered_at));
    });
}

#[test]
fn after_ten_attempts_in_75_hours_it_is_given_up() {
    let receiver = Receiver::playing(&[Act::Say(BROKEN); 11]);
    let mut scene = Scene::new(patient(&receiver), false);
    let id = scene.send(Durability::Durable);
    let (mut waited, mut attempts) = (0, 1);
    let end = loop {
        let outcome = scene.outcome(&id);
        if outcome.0 != "run-retrying" {
            break outcome;
        }
        (waited, attempts) = (waited + outcome.3, attempts + 1);
        scene.pass(Span::from_millis(outcome.3));
    };
    assert_eq!(end, ("run-failed", Some(Reason::HostRefused), Some(500), 0));
    assert_eq!((attempts, waited), (10, ((75 * 60 + 35) * 60 + 5) * 1_000));
    assert_eq!(receiver.received().len(), 10);
}

/// T62.
#[test]
fn what_an_endpoint_answers_decides() {
    let moved = "HTTP/1.1 301 Moved\r\nlocation: http://169.254.169.254/latest/meta-data/\r\ncontent-length: 0\r\n\r\n";
    let cases: [(&'static str, Option<i32>, u64); 9] = [
        (moved, Some(301), 5_000),
        ("HTTP/1.1 429 Slow down\r\nretry-after: 120\r\n\r\n", Some(429), 120_000),
        ("HTTP/1.1 429 Slow down\r\nretry-after: 2\r\n\r\n", Some(429), 5_000),
        ("HTTP/1.1 503 Later\r\nretry-after: 999999999\r\n\r\n", Some(503), 86_400_000),
        ("HTTP/1.1 404 Nowhere\r\ncontent-length: 0\r\n\r\n", Some(404), 5_000),
        (
            "HTTP/1.1 199 Early\r\ncontent-length: 0\r\n\r\nHTTP/1.1 400 Bad\r\ncontent-length: 0\r\n\r\n",
            Some(400),
            5_000,
        ),
        (BROKEN, Some(500), 5_000),
        ("HTTP/1.1 204 Done\r\n\r\n", None, 0),
        ("HTTP/1.1 299 Done\r\ncontent-length: 0\r\n\r\n", None, 0),
    ];
    for (text, code, wait) in cases {
        let receiver = Receiver::playing(&[Act::Say(text), Act::Say(OK)]);
        let mut scene = Scene::new(patient(&receiver), false);
        let id = scene.send(Durability::Durable);
        let expected = match code {
            Some(_) => ("run-retrying", Some(Reason::HostRefused), code, wait),
            None => ("run-delivered", None, None, 0),
        };
        assert_eq!(scene.outcome(&id), expected, "{text}");
        assert_eq!(receiver.received().len(), 1, "{text}: nothing is followed");
    }
}

/// T62.
#[test]
fn an_endpoint_that_is_gone_gets_nothing_more() {
    let receiver =
        Receiver::playing(&[Act::Say("HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"), Act::Say(OK)]);
    let mut scene = Scene::new(patient(&receiver), false);
    let id = scene.send(Durability::Durable);
    assert_eq!(scene.await_any(&[DecisionKind::ChannelDisabled]).detail.as_deref(), Some("ops"));
    assert_eq!(scene.outcome(&id), ("run-failed", Some(Reason::ChannelDisabled), Some(410), 0));
    let since = scene.handle.view(|state| state.channel("ops").expect("it is there").disabled_at);
    assert_eq!(since, Some(scene.stage.clock.now().wall), "an operator sees it");
    let next = scene.send(Durability::Durable);
    assert_eq!(scene.outcome(&next), ("run-failed", Some(Reason::ChannelDisabled), None, 0));
    assert_eq!(receiver.received().len(), 1, "nothing more was sent");
}

#[test]
fn a_slow_body_is_delivered_all_the_same() {
    let receiver = Receiver::playing(&[Act::Begin("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")]);
    let mut scene = Scene::new(patient(&receiver), false);
    let id = scene.send(Durability::Durable);
    assert_eq!(scene.outcome(&id).0, "run-delivered");
}

#[test]
fn without_tls_or_anybody_there_nothing_is_said_and_it_is_tried_again() {
    let endpoint = || Endpoint::parse("https://localhost:8080/in").expect("a URL");
    let receiver = Receiver::playing_over_tls(&[Act::Say(OK)]);
    let of_nobody = webhook_at(endpoint(), Some(receiver.address), Duration::from_secs(20));
    for way in [of_nobody, webhook(None, Duration::from_secs(20))] {
        let mut scene = Scene::new(way, false);
        let id = scene.send(Durability::Durable);
        assert_eq!(scene.outcome(&id), ("run-retrying", Some(Reason::HostRefused), None, 5_000));
    }
    assert!(receiver.received().is_empty());
}

/// What is in memory only is sent once; a word that it was not taken makes that no secret.
#[test]
fn volatile_work_is_not_sent_twice() {
    let receiver = Receiver::playing(&[Act::SayTooLate(OK), Act::Say(OK)]);
    let mut scene = Scene::new(webhook(Some(receiver.address), Duration::from_millis(300)), false);
    let id = scene.send(Durability::Volatile);
    assert_eq!(scene.outcome(&id), ("run-failed", Some(Reason::ReceiptOverdue), None, 0));
    let receiver = Receiver::playing(&[Act::Say(BROKEN), Act::Say(OK)]);
    let mut scene = Scene::new(patient(&receiver), false);
    let id = scene.send(Durability::Volatile);
    assert_eq!(scene.outcome(&id), ("run-retrying", Some(Reason::HostRefused), Some(500), 5_000));
}

/// The process dies while a request is out: the next sends it again, under the same id.
#[test]
fn what_was_out_at_a_crash_is_sent_again() {
    let receiver = Receiver::playing(&[Act::SayTooLate(OK), Act::Say(OK)]);
    let caps = HistoryCaps { schedule_rows: 1_000, bytes: 1 << 30, days: 1_000 };
    let (stage, store) = (Stage::seeded(7), Arc::new(StoreMemory::new(caps)));
    let life = |stage: Stage| {
        let handle = Scene::handle(&stage);
        Scene::open(stage, handle, patient(&receiver), false)
    };
    let mut first = life(stage.clone());
    first.handle.attach_store(store.clone(), AttachOptions::default()).expect("the store is sound");
    first.handle.close_session(&first.session).expect("it is open");
    first
        .handle
        .open_session(Some(first.session.clone()), HostId::LOCAL, SessionConfig::default())
        .expect("room");
    let id = first.send(Durability::Durable);
    first.await_any(&[DecisionKind::RunDispatched]);
    while receiver.received().is_empty() {
        std::thread::yield_now();
    }
    // A crash is forgetful: nothing of the first life speaks to the second.
    let second = {
        let handle = Scene::handle(&stage);
        let mut scene = Scene::open(stage.clone(), handle, patient(&receiver), false);
        scene.handle.close_session(&scene.session).expect("it is open");
        scene.handle.attach_store(store, AttachOptions::default()).expect("the store is sound");
        assert_eq!(scene.outcome(&id), ("run-retrying", Some(Reason::Crashed), None, 5_000));
        scene.pass(Span::from_millis(5_000));
        scene
    };
    let mut second = second;
    assert_eq!(second.outcome(&id).0, "run-delivered");
    // The attempt of the first life is known to the second.
    let attempts = second.attempts(&id);
    assert_eq!(attempts.matches("attempt/state :failed").count(), 1, "{attempts}");
    assert_eq!(attempts.matches("attempt/state :delivered").count(), 1, "{attempts}");
    drop(first);
    assert_eq!(receiver.received().len(), 2);
    is_one_message(&receiver.received());
}

#[test]
fn what_goes_out_waits_for_a_hold_and_a_pause_and_for_no_session() {
    let receiver = Receiver::playing(&[Act::Say(BROKEN), Act::Say(OK), Act::Say(OK)]);
    let mut scene = Scene::new(patient(&receiver), false);
    let busy = reveille::engine::Report::Busy { session: scene.session.clone(), busy: true, by: None };
    scene.handle.submit(Input::Report(busy)).expect("it is open");
    let id = scene.send(Durability::Durable);
    assert_eq!(scene.outcome(&id).0, "run-retrying", "a busy session is in nobody's way");
    let which = Which::any(Scope::Operator, id.clone());
    let command = |command| Input::Command(command);
    scene
        .handle
        .submit(command(Command::PauseSchedule { which: which.clone(), reason: None }))
        .expect("it is there");
    scene.pass(Span::from_millis(5_000));
    assert_eq!(scene.await_any(&[DecisionKind::RunQueued]).reason, Some(Reason::Paused));
    scene
        .handle
        .submit(command(Command::HoldAll { by: Scope::Operator.into(), reason: None }))
        .expect("it can be");
    scene.handle.submit(command(Command::ResumeSchedule(which))).expect("it is there");
    assert_eq!(scene.state(&id), RunState::Queued, "held");
    assert_eq!(receiver.received().len(), 1);
    scene.handle.submit(command(Command::ReleaseAll { by: Scope::Operator.into() })).expect("it can be");
    assert_eq!(scene.outcome(&id).0, "run-delivered");
    // A cancel between two attempts holds.
    let receiver = Receiver::playing(&[Act::Say(BROKEN), Act::Say(OK)]);
    let mut scene = Scene::new(patient(&receiver), false);
    let id = scene.send(Durability::Durable);
    assert_eq!(scene.outcome(&id).0, "run-retrying");
    scene.handle.cancel(Scope::Operator, id.clone()).expect("nothing is out");
    scene.pass(Span::from_millis(5_000));
    assert_eq!((scene.state(&id), receiver.received().len()), (RunState::Cancelled, 1));
}

#[test]
fn the_envelope_says_what_it_is_and_nothing_of_the_attempt() {
    let receiver = Receiver::playing(&[Act::Say(OK)]);
    let mut scene = Scene::new(patient(&receiver), false);
    let id = scene.send(Durability::Durable);
    assert_eq!(scene.outcome(&id).0, "run-delivered");
    let [received] = &receiver.received()[..] else { panic!("one request") };
    let body = String::from_utf8(received.body.clone()).expect("text");
    let slot = scene.handle.view(|state| state.schedule(&id).expect("it is there").fire_at());
    let run = format!("{id}~1~{slot}");
    assert_eq!(
        body,
        format!(
            "{{\"type\":\"reveille.delivery\",\"timestamp\":\"{slot}\",\"data\":{{\"run-id\":\"{run}\",\"schedule-id\":\"{id}\",\
             \"slot\":\"{slot}\",\"cause\":\"slot\",\"folded\":0,\"session-id\":\"main\",\"dialect\":\"native\",\"label\":null,\
             \"channel\":\"ops\",\"conversation\":\"c1\",\"thread\":null,\"text\":\"wake up\",\"file\":null}}}}"
        )
    );
    assert_eq!(received.header("webhook-id").map(|id| id.replace("%2E", ".")), Some(run));
}

#[test]
fn a_text_that_no_endpoint_takes_fails_at_once() {
    let receiver = Receiver::playing(&[Act::Say(OK)]);
    let mut scene = Scene::new(patient(&receiver), false);
    let mut new = scene.to("ops", Durability::Durable);
    new.payload = reveille::domain::Payload::Turn { text: "x".repeat(20_480).into() };
    let id = scene.handle.schedule(new).expect("it is created");
    scene.pass(Span::from_millis(1_000));
    assert_eq!(scene.outcome(&id), ("run-failed", Some(Reason::LimitReached), None, 0));
    assert!(receiver.received().is_empty());
}

fn program(text: &str, millis: u64) -> Program {
    Program {
        argv: vec!["/bin/sh".to_owned(), "-c".to_owned(), text.to_owned()],
        environment: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        directory: PathBuf::from("/"),
        time: Duration::from_millis(millis),
    }
}

#[test]
fn a_program_is_judged_by_how_it_ends() {
    let cases = [
        ("grep -q '\"text\":\"wake up\"'", ("run-delivered", None, None, 0)),
        ("cat > /dev/null; exit 3", ("run-retrying", Some(Reason::HostRefused), Some(3), 5_000)),
        ("exec kill -KILL $$", ("run-retrying", Some(Reason::HostRefused), None, 5_000)),
        ("exec sleep 1000", ("run-retrying", Some(Reason::ReceiptOverdue), None, 5_000)),
    ];
    for (text, expected) in cases {
        let is_endless = text.contains("sleep");
        let mut scene =
            Scene::new(ChannelRoute::Command(program(text, if is_endless { 200 } else { 20_000 })), false);
        let id = scene.send(Durability::Durable);
        assert_eq!(scene.outcome(&id), expected, "{text}");
    }
    let missing = Program { argv: vec!["/no/such/program".to_owned()], ..program("", 1_000) };
    let mut scene = Scene::new(ChannelRoute::Command(missing), false);
    let id = scene.send(Durability::Durable);
    assert_eq!(scene.outcome(&id), ("run-retrying", Some(Reason::HostRefused), None, 5_000));
}

/// A session's own token goes out only by what an operator has opened to sessions; what else there is it is not told.
#[test]
fn a_session_goes_out_only_where_an_operator_lets_it() {
    for (agents, channel, allowed) in [(false, "ops", false), (true, "ops", true), (true, "other", false)] {
        let scene = Scene::new(ChannelRoute::Command(program("exit 0", 1_000)), agents);
        let agent = Caller { role: CallerRole::Session, ..Caller::session(scene.session.clone()) };
        for (caller, allowed) in [(agent, allowed), (Caller::session(scene.session.clone()), true)] {
            let args = format!(
                "{{:name \"n\" :prompt \"p\" :schedule {{:kind :daily :time \"12:00\"}}
                   :target {{:kind :gateway :channel {channel:?} :conversation_id \"1\"}}}}"
            );
            let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
            let answer = Service::new(scene.handle.clone())
                .call_tool("cron_create", &caller, &args, Notation::Edn)
                .expect("admitted")
                .expect("a tool");
            assert_eq!(!answer.is_error, allowed, "{caller:?}, {channel}, {agents}: {answer:?}");
            let query = format!(
                "[(psi.scheduler/create {{:kind :message :message \"m\" :delay-ms 1000 :channel {channel:?}
                   :origin-session-id \"main\"}})]"
            );
            let query = read(query.as_bytes(), &REQUEST_CAPS).expect("EDN");
            let query = Boundary::read(&query).expect("a query");
            let answer = format!("{:?}", Service::new(scene.handle.clone()).query(&caller, &query, true));
            let is_refused = answer.contains("channel not allowed");
            assert_eq!(!is_refused, allowed, "{caller:?}, {channel}, {agents}: {answer}");
        }
    }
}
