//! The world of the matrices: sessions in every state, a schedule and a run of each, and callers of every kind.

use std::sync::Arc;

use reveille::domain::{
    Caller, CallerRole, Channel, ChannelKind, Dialect, Durability, Grant, HostId, Payload, Primitives, Right,
    RunId, ScheduleId, Scope, SessionConfig, SessionId, Settings, Span, TokenName, When,
};
use reveille::engine::{Command, Input, NewSchedule, Report, SessionRecord};
use reveille::runtime::{Handle, Token};

use super::ways::Subject;
use crate::simulated::{self, session, token};

/// The subject of a session, by its name.
fn subject_of(name: &'static str, run: &str) -> Subject {
    Subject { name, session: name.to_owned(), schedule: format!("sch-of-{name}"), run: run.to_owned() }
}

/// An engine with sessions of all kinds.
pub(super) struct World {
    pub(super) handle: Handle,
    /// A fresh session of `sess-own`, and one of `sess-narrow`.
    pub(super) children: [SessionId; 2],
    /// Two hosts, each with a token; the first has opened `sess-hosted`.
    pub(super) hosts: [Caller; 2],
    pub(super) subjects: Vec<Subject>,
}

pub(super) const OWN: &str = "sess-own";
pub(super) const ANOTHER: &str = "sess-another";
pub(super) const NARROW: &str = "sess-narrow";
/// Closed.
pub(super) const CLOSED: &str = "sess-closed";
/// Closed, and opened again under the same id: its subject is what the first one had.
pub(super) const REOPENED: &str = "sess-reopened";
pub(super) const ABSENT: &str = "sess-absent";
/// Its schedule is shared: every session sees it, and may not change it.
pub(super) const SHARING: &str = "sess-sharing";
/// Opened by a host with a token of its own.
pub(super) const HOSTED: &str = "sess-hosted";

impl World {
    pub(super) fn new() -> World {
        let (handle, clock) = simulated::engine(&[OWN, ANOTHER, NARROW, CLOSED, REOPENED, SHARING]);
        handle.tools().switch(Primitives::all());
        let (name, goes_to) = ("ops".into(), "https://hooks.example.com".into());
        let channel =
            Channel { name, kind: ChannelKind::Webhook, goes_to, agents: true, agents_manage: false };
        handle.submit(Input::Report(Report::ChannelOpened(channel))).expect("it is a fact");
        let hosts = ["editor", "shell"].map(|name| {
            let token = Token::from_text(&name.repeat(8));
            handle.tokens().admit_host(TokenName::new(name).expect("a name"), &token);
            handle.tokens().caller(&token).expect("it was admitted")
        });
        let open = format!("[(psi.agent-session/open {{:session-id {HOSTED:?} :listens true}})]");
        let opened = simulated::ask(&handle, &hosts[0], &open, false);
        assert!(opened.contains(":psi.agent-session/token"), "{opened}");
        let mut subjects = Vec::new();
        for name in [OWN, ANOTHER, CLOSED, REOPENED, SHARING, HOSTED] {
            let turn = || Payload::Turn { text: format!("secret of {name}").into() };
            create(&handle, name, &format!("sch-of-{name}"), 3_600_000, turn());
            let ran = create(&handle, name, &format!("sch-ran-{name}"), 0, turn());
            handle.run_due();
            let run = handle.view(|state| {
                let record = state.schedule(&ran)?;
                state.runs_of(record).next().and_then(|(_, run)| state.run_id(run))
            });
            subjects.push(subject_of(name, &run.expect("it ran").to_string()));
        }
        let nobody = ScheduleId::new(&format!("sch-ran-{ABSENT}")).expect("an id");
        let run = RunId { schedule: nobody, incarnation: 1, slot: handle.now().wall };
        subjects.push(subject_of(ABSENT, &run.to_string()));
        let children = [OWN, NARROW].map(|name| child(&handle, name));
        let narrow = Grant { right: Some(Right::Read), ..Grant::FULL };
        handle.sessions().grant(&session(NARROW), narrow, Scope::Operator).expect("it is open");
        for name in [CLOSED, REOPENED] {
            handle.close_session(&session(name)).expect("it is open");
        }
        clock.advance(Span::from_millis(1_000));
        simulated::open(&handle, REOPENED, SessionConfig::default());
        World { handle, children, hosts, subjects }
    }

    pub(super) fn callers(&self) -> Vec<(&'static str, Caller)> {
        let observer = Caller { role: CallerRole::Observer, right: Right::Read, ..Caller::OPERATOR };
        let operator_for = Caller { role: CallerRole::Operator, ..Caller::session(session(OWN)) };
        let [child, narrow_child] = &self.children;
        vec![
            ("operator", Caller::OPERATOR),
            ("operator for a session", operator_for),
            ("observer", observer.clone()),
            ("observer of a session", Caller { scope: Scope::Session(session(OWN)), ..observer }),
            ("host", Caller::session(session(OWN))),
            ("host of another", Caller::session(session(ANOTHER))),
            ("session", token(OWN)),
            ("another session", token(ANOTHER)),
            ("narrowed session", token(NARROW)),
            ("child", token(child.as_str())),
            ("child of a narrowed session", token(narrow_child.as_str())),
            ("reopened session", token(REOPENED)),
            ("host by its token", self.hosts[0].clone()),
            ("host by its token, for its session", self.for_hosted()),
            ("another host by its token", self.hosts[1].clone()),
        ]
    }

    /// The host that acts for the session that it has opened.
    fn for_hosted(&self) -> Caller {
        Caller { scope: Scope::Session(session(HOSTED)), ..self.hosts[0].clone() }
    }

    pub(super) fn subject(&self, name: &str) -> &Subject {
        self.subjects.iter().find(|subject| subject.name == name).expect("a subject")
    }

    /// Whether the grant of the caller's session, or of a session that it comes from, forbids it to change anything.
    pub(super) fn is_narrow(&self, caller: &Caller) -> bool {
        let own = caller.scope.session();
        own.is_some_and(|own| own.as_str() == NARROW || *own == self.children[1])
    }
}

fn create(handle: &Handle, owner: &str, id: &str, delay: u64, payload: Payload) -> ScheduleId {
    let id = ScheduleId::new(id).expect("an id");
    let settings = Settings { shared: owner == SHARING, ..Settings::PLAIN };
    let new = NewSchedule {
        id: Some(id.clone()),
        dialect: Dialect::Psi,
        durability: Durability::Volatile,
        label: None,
        owner: session(owner),
        made_by: None,
        when: When::After(Span::from_millis(delay)),
        payload,
        settings: Some(Box::new(settings)),
        session_live_max: 50,
    };
    handle.submit(Input::Command(Command::CreateSchedule(new))).expect("there is room");
    id
}

/// Lets a schedule of the session open a fresh session, and returns that one.
fn child(handle: &Handle, of: &str) -> SessionId {
    let asked = Payload::new_session("a turn", Arc::new(SessionConfig::default()));
    create(handle, of, &format!("sch-opens-{of}"), 0, asked);
    handle.run_due();
    let is_child = |record: &&SessionRecord| record.provenance().is_some_and(|it| it.origin.as_str() == of);
    let found = |state: &reveille::engine::State| {
        state.sessions().into_iter().find(is_child).map(|record| record.id().clone())
    };
    assert_eq!(
        handle.view(|state| state.session(&session(of)).map(SessionRecord::host)),
        Some(HostId::LOCAL)
    );
    handle.view(found).expect("it was opened")
}
