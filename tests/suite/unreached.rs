//! A session whose agent's conversation cannot be reached: its runs wait with the reason, nothing is lost and nothing is said
//! twice, and a harness that asks for the session gets it.

use std::sync::{Arc, Mutex};

use reveille::domain::{
    Address, Caller, HostId, Message, Reason, RunId, SessionConfig, SessionId, Span, Transcript,
};
use reveille::engine::{Command, Delivery, Input, Opening, Report};
use reveille::port::{Host, HostAnswer};
use reveille::runtime::Handle;
use reveille::testkit::SimClock;

use crate::simulated::{self, ask, session};

/// A host of agents that notes what it gets, and answers later.
#[derive(Default)]
struct Noted {
    deliveries: Mutex<Vec<RunId>>,
    let_go: Mutex<Vec<SessionId>>,
}

impl Host for Noted {
    fn opened(&self, _: &SessionId, _: &SessionConfig) {}

    fn create(&self, _: &Opening) -> HostAnswer {
        HostAnswer::Done
    }

    fn deliver(&self, delivery: &Delivery) -> HostAnswer {
        self.deliveries.lock().expect("whole").push(delivery.run.clone());
        HostAnswer::Later
    }

    fn record(&self, _: &SessionId, _: &Message) {}

    fn forget(&self, session: &SessionId) {
        self.let_go.lock().expect("whole").push(session.clone());
    }

    fn transcript(&self, _: &SessionId) -> Option<Transcript> {
        None
    }
}

struct Scene {
    handle: Handle,
    clock: Arc<SimClock>,
    host: Arc<Noted>,
}

impl Scene {
    fn new() -> Scene {
        let (handle, clock) = simulated::engine(&[]);
        let host = Arc::new(Noted::default());
        handle.hosts().attach_agents(Arc::<Noted>::clone(&host));
        let config = SessionConfig { address: "codex:t1".parse().ok(), ..SessionConfig::default() };
        handle.open_session(Some(session("s")), HostId::INBOX, config).expect("it is new");
        let scene = Scene { handle, clock, host };
        scene.reach().expect("nobody has it");
        scene
    }

    fn reach(&self) -> Result<(), reveille::domain::Refusal> {
        let sessions = vec![session("s")];
        self.handle.submit(Input::Command(Command::HostSessions {
            host: HostId::AGENTS,
            sessions,
            busy: Some(false),
            by: None,
        }))
    }

    fn create(&self, text: &str, seconds: u64) {
        let ms = seconds * 1_000;
        let create = format!(
            "[(psi.scheduler/create {{:session-id \"s\" :kind :message :message \"{text}\" :delay-ms {ms}}})]"
        );
        let made = ask(&self.handle, &Caller::OPERATOR, &create, false);
        assert!(made.contains(":psi.scheduler/created? true"), "{made}");
    }

    fn pass(&self, seconds: u64) {
        for _ in 0..seconds {
            self.clock.advance(Span::from_millis(1_000));
            self.handle.run_due();
        }
    }

    fn deliveries(&self) -> Vec<RunId> {
        self.host.deliveries.lock().expect("whole").clone()
    }

    fn report(&self, report: Report) {
        self.handle.submit(Input::Report(report)).expect("it is expected");
    }

    fn shown(&self, attributes: &str) -> String {
        let look = format!("[{{[:psi.agent-session/session-id \"s\"] [{attributes}]}}]");
        ask(&self.handle, &Caller::OPERATOR, &look, false)
    }
}

#[test]
fn a_run_waits_with_the_reason_and_is_sent_once_it_can_be() {
    let scene = Scene::new();
    scene.create("one", 1);
    scene.create("two", 2);
    scene.pass(1);
    let out = scene.deliveries();
    assert_eq!(out.len(), 1);
    scene.report(Report::Unreached { run: out[0].clone(), reason: Reason::HeldElsewhere });
    scene.pass(2);
    assert_eq!(scene.deliveries().len(), 1, "nothing is sent to it");
    let waits = scene.shown("{:psi.agent-session/schedules [:psi.scheduler/status :psi.scheduler/reason]}");
    let status = "{:psi.scheduler/status :queued :psi.scheduler/reason :held-elsewhere}";
    assert_eq!(waits.matches(status).count(), 2, "{waits}");
    assert!(scene.shown(":psi.agent-session/hosted?").contains("hosted? false"));
    scene.reach().expect("it can be reached again");
    let again = scene.deliveries();
    assert_eq!((again.len(), &again[1]), (2, &out[0]), "the first one first, and only that");
    scene.report(Report::Accepted { run: out[0].clone() });
    scene.report(Report::Busy { session: session("s"), busy: true, by: None });
    scene.report(Report::Busy { session: session("s"), busy: false, by: None });
    assert_eq!(scene.deliveries().len(), 3, "then the second");
    let second = scene.deliveries()[2].clone();
    scene.report(Report::Accepted { run: second });
    let ledger = scene.handle.view(|state| {
        let ledger = state.ledger();
        (ledger.delivered, ledger.pending, ledger.imbalance())
    });
    assert_eq!(ledger, (2, 0, 0));
}

#[test]
fn a_harness_gets_the_session_while_nothing_is_under_way() {
    let scene = Scene::new();
    let harness = scene.handle.hosts().attach(Arc::new(Noted::default()));
    let take = || {
        scene.handle.submit(Input::Command(Command::HostSessions {
            host: harness,
            sessions: vec![session("s")],
            busy: Some(false),
            by: None,
        }))
    };
    scene.create("one", 1);
    scene.pass(1);
    take().expect_err("a prompt is out");
    scene.report(Report::Accepted { run: scene.deliveries()[0].clone() });
    take().expect_err("a turn is about to start");
    scene.report(Report::Busy { session: session("s"), busy: true, by: None });
    take().expect_err("a turn is going on");
    scene.report(Report::Busy { session: session("s"), busy: false, by: None });
    take().expect("nothing is under way");
    assert_eq!(*scene.host.let_go.lock().expect("whole"), [session("s")]);
    scene.reach().expect_err("the harness has it");
    scene.handle.hosts().detach(harness);
    scene.reach().expect("nobody has it");
}

#[test]
fn the_conversation_that_an_agent_began_is_known_from_then_on() {
    let scene = Scene::new();
    let address: Address = "codex:t2".parse().expect("an address");
    scene.report(Report::Addressed { session: session("s"), address });
    assert!(scene.shown(":psi.agent-session/address").contains("\"codex:t2\""));
}
