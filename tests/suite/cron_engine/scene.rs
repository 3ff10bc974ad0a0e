//! One engine with simulated surroundings, and what happens in it in short words.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::guarding::ScriptGuard;
use reveille::adapter::HostLocal;
use reveille::calendar::Zones;
use reveille::dialect::{Answer, Notation, REQUEST_CAPS};
use reveille::domain::{
    BootTime, Caller, Digest, Downtime, Fact, GuardFact, HostId, Moment, Now, RunFact, ScheduleFact,
    ScheduleId, Scope, SessionConfig, SessionId, Skip, Span, Zone,
};
use reveille::edn::read;
use reveille::engine::{Command, Input, NewSchedule, Report, State, Which};
use reveille::port::{Clock, Host};
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::testkit::{Behaviour, Laws, Seen, SimClock, SimHost, Stage, StateView};

/// An engine, its clock, its hosts, and the laws that watch.
pub(crate) struct Scene {
    pub(crate) stage: Stage,
    pub(crate) handle: Handle,
    hosts: Vec<Arc<SimHost>>,
    laws: Laws,
    judged: usize,
    told: usize,
    start: Moment,
    /// Jobs by name, for scripts and for what is printed.
    pub(crate) names: BTreeMap<String, ScheduleId>,
    /// Who is asked whether runs may be handed over, where a script has one.
    pub(crate) guard: Option<Arc<ScriptGuard>>,
    /// What an operator has looked at.
    pub(crate) shown: Option<Digest>,
}

pub(crate) fn at(text: &str) -> Moment {
    Moment::parse(text).expect("an instant")
}

pub(crate) fn session(text: &str) -> SessionId {
    SessionId::new(text).expect("an id")
}

impl Scene {
    /// An engine whose wall clock shows `start` and whose local zone is `local`; the session `s` is open.
    pub(crate) fn new(start: &str, local: &str) -> Scene {
        let mut stage = Stage::seeded(20_260_422);
        let (start, boot) = (at(start), BootTime::from_nanos(3_600_000_000_000));
        stage.clock = Arc::new(SimClock::starting_at(Now { wall: start, boot }));
        stage.zones = Arc::new(Zones::bundled().with_local(Zone::parse(local).expect("a zone")));
        let host = Arc::new(SimHost::new(&stage, HostId::LOCAL).over(Arc::new(HostLocal::new())));
        let handle = Handle::new(stage.parts(Arc::clone(&host) as Arc<dyn Host>));
        let (laws, hosts, names) = (Laws::new(), vec![host], BTreeMap::new());
        let (guard, shown) = (None, None);
        let mut scene = Scene { stage, handle, hosts, laws, judged: 0, told: 0, start, names, guard, shown };
        scene.open("s");
        scene
    }

    pub(crate) fn open(&mut self, id: &str) {
        let opened = self.handle.open_session(Some(session(id)), HostId::LOCAL, SessionConfig::default());
        opened.expect("the session opens");
        self.judge();
    }

    /// Calls a tool, in EDN.
    pub(crate) fn call(&mut self, caller: &Caller, tool: &str, args: &str) -> Answer {
        let args = read(args.as_bytes(), &REQUEST_CAPS).expect("arguments are EDN");
        let answer = Service::new(self.handle.clone())
            .call_tool(tool, caller, &args, Notation::Edn)
            .expect("admitted")
            .expect("there is such a tool");
        self.judge();
        answer
    }

    pub(crate) fn create(&mut self, new: NewSchedule) -> ScheduleId {
        let id = self.handle.schedule(new).expect("the schedule is created");
        self.judge();
        id
    }

    pub(crate) fn submit(&mut self, input: Input) -> Result<(), String> {
        let outcome = self.handle.submit(input).map_err(|refusal| refusal.name().to_owned());
        self.judge();
        outcome
    }

    pub(crate) fn command(&mut self, command: Command) -> Result<(), String> {
        self.submit(Input::Command(command))
    }

    pub(crate) fn any(id: &ScheduleId) -> Which {
        Which::any(Scope::Operator, id.clone())
    }

    /// Lets a connected host take the sessions; it acknowledges when it is told to.
    pub(crate) fn attach(&mut self, sessions: &[SessionId]) {
        let number = HostId::new(u32::try_from(self.hosts.len()).expect("few hosts"));
        let host = Arc::new(SimHost::new(&self.stage, number));
        host.behave(&[(Behaviour::Slow, 1)]);
        let host_id = self.handle.hosts().attach(Arc::clone(&host) as Arc<dyn Host>);
        assert_eq!(host_id, number, "hosts are numbered in the order in which they connect");
        self.hosts.push(host);
        let take =
            Command::HostSessions { host: number, sessions: sessions.to_vec(), busy: Some(false), by: None };
        self.command(take).expect("the sessions are taken over");
    }

    /// The host that connected last is gone.
    pub(crate) fn detach(&mut self) {
        let host = self.hosts.last().expect("a host").number();
        self.handle.hosts().detach(host);
        self.stage.history.note(self.stage.clock.now(), Seen::HostLost(host));
        self.judge();
    }

    /// The connected hosts acknowledge what they have.
    pub(crate) fn acknowledge(&mut self) -> Result<(), String> {
        let mut outcome = Ok(());
        for host in self.hosts.clone() {
            while let Some(report) = host.take_receipt(0) {
                outcome = outcome.and(self.submit(Input::Report(report)));
            }
        }
        outcome
    }

    /// The built-in host takes prompts and says nothing, as at the moment of a crash.
    pub(crate) fn answer_nothing(&self) {
        self.hosts[0].behave(&[(Behaviour::LoseReceipt, 1)]);
    }

    /// The built-in host takes no prompt.
    pub(crate) fn refuse_prompts(&self) {
        self.hosts[0].behave(&[(Behaviour::FailSubmit, 1)]);
    }

    /// The built-in host answers at once.
    pub(crate) fn answer_again(&self) {
        self.hosts[0].behave(Behaviour::FAULTLESS);
    }

    /// What connected hosts owe is never said.
    pub(crate) fn forget_receipts(&self) {
        for host in &self.hosts {
            while host.take_receipt(0).is_some() {}
        }
    }

    /// A new life begins on what was there.
    pub(crate) fn awake(&mut self) {
        let now = self.stage.clock.now().wall;
        let downs = [Downtime { from: now, until: now }].into();
        let restart = Input::Restart { lost: 0, downs, named: Box::default() };
        self.submit(restart).expect("waking is never refused");
    }

    pub(crate) fn busy(&mut self, id: &str, busy: bool) {
        let report = Report::Busy { session: session(id), busy, by: None };
        self.submit(Input::Report(report)).expect("the session is open");
    }

    /// Time passes as the driver lives it: at every deadline on the way the engine has its turn.
    pub(crate) fn pass(&mut self, span: Span) {
        let target = self.stage.clock.now().boot.after(span);
        while let Some(next) = self.handle.run_due().filter(|next| *next <= target) {
            self.judge();
            self.stage.clock.advance_to(next);
        }
        self.stage.clock.advance_to(target);
        self.handle.run_due();
        self.judge();
    }

    /// Time passes while nobody looks, and then the engine has its turn: a late timer, or a machine that slept.
    pub(crate) fn oversleep(&mut self, span: Span) {
        self.stage.clock.advance(span);
        self.handle.run_due();
        self.judge();
    }

    /// The process is down for so long; what it had is restored, and lives on.
    pub(crate) fn down(&mut self, span: Span) {
        self.stage.clock.advance(span);
        self.awake();
        self.turn();
    }

    /// Another turn of the engine at this very moment.
    pub(crate) fn turn(&mut self) {
        self.handle.run_due();
        self.judge();
    }

    /// The last prompt that reached a host.
    pub(crate) fn last_text(&self) -> String {
        let last = self.stage.history.receptions().pop();
        last.map(|(_, reception)| reception.text.into()).unwrap_or_default()
    }

    /// What has happened to schedules and runs since this was asked last, in short words.
    pub(crate) fn news(&mut self) -> Vec<String> {
        let seen = self.stage.history.after(self.told);
        self.told += seen.len();
        let facts = seen.into_iter().filter_map(|one| match one.seen {
            Seen::Fact(fact) => Some(fact),
            Seen::Local(_)
            | Seen::Received(_)
            | Seen::CancelAcknowledged { .. }
            | Seen::HostLost(_)
            | Seen::ShutDown
            | Seen::DiskFailed { .. } => None,
        });
        facts.filter_map(|fact| self.short(&fact)).collect()
    }

    /// An instant of the first day by its time, another one whole.
    pub(crate) fn time(&self, moment: Moment) -> String {
        let (text, start) = (moment.to_string(), self.start.to_string());
        match text.strip_prefix(&start[..11]) {
            Some(time) => time.trim_end_matches('Z').to_owned(),
            None => text,
        }
    }

    fn short(&self, fact: &Fact) -> Option<String> {
        match fact {
            Fact::Schedule(_, fact) => Some(self.short_of_schedule(fact)),
            Fact::Run(run, fact, _) => Some(self.short_of_run(run.slot, fact)),
            Fact::Created { .. }
            | Fact::Session(..)
            | Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Engine(_) => None,
        }
    }

    fn short_of_schedule(&self, fact: &ScheduleFact) -> String {
        match fact {
            ScheduleFact::Changed(change) if change.retriggered.is_some() => "retriggered".to_owned(),
            ScheduleFact::Changed(_) => "changed".to_owned(),
            ScheduleFact::Paused { .. } => "paused".to_owned(),
            ScheduleFact::Resumed { .. } => "resumed".to_owned(),
            ScheduleFact::Skipped(Skip { until, count, reason, .. }) => {
                let folded = if *count > 1 { format!(" and {} before", count - 1) } else { String::new() };
                format!("skip {}{folded}: {}", self.time(*until), reason.name())
            }
            ScheduleFact::Armed { .. } => "armed".to_owned(),
            ScheduleFact::Cancelled { reason, .. } => format!("called off: {}", reason.name()),
        }
    }

    fn short_of_run(&self, slot: Moment, fact: &RunFact) -> String {
        let slot = self.time(slot);
        match fact {
            RunFact::Claimed(claim) => {
                let folded =
                    if claim.folded > 0 { format!(" for {} more", claim.folded) } else { String::new() };
                format!("claim {slot} ({}){folded}", claim.cause.name())
            }
            RunFact::Queued { reason } => format!("{slot} waits: {}", reason.name()),
            RunFact::Guard(GuardFact::Asked { .. }) => format!("{slot} asked"),
            RunFact::Guard(GuardFact::Allowed { .. }) => format!("{slot} allowed"),
            RunFact::Guard(GuardFact::Held(hold)) => format!("{slot} held: {}", hold.rule),
            RunFact::Guard(GuardFact::Approved { .. }) => format!("{slot} approved"),
            RunFact::Guard(GuardFact::Denied { .. }) => format!("{slot} denied"),
            RunFact::Guard(GuardFact::Answered(decided)) => format!("{slot} answered: {}", decided.what),
            RunFact::Dispatched(_) => format!("{slot} out"),
            RunFact::Accepted => format!("{slot} begun"),
            RunFact::Delivered => format!("{slot} ok"),
            RunFact::Returned { outcome, .. } => format!("{slot} answered: {}", outcome.ok),
            RunFact::Folded(_) => format!("{slot} says more"),
            RunFact::Joined { lead } => format!("{slot} with {}", self.time(lead.slot)),
            RunFact::Postponed { reason, .. } => format!("{slot} later: {}", reason.name()),
            RunFact::Left => format!("{slot} left"),
            RunFact::Taken { .. } => format!("{slot} taken"),
            RunFact::Retrying { failure, .. } => format!("{slot} again: {}", failure.reason.name()),
            RunFact::Failed(failure) => format!("{slot} failed: {}", failure.reason.name()),
            RunFact::Cancelled { reason } => format!("{slot} off: {}", reason.name()),
        }
    }

    /// Asks the laws about everything since the last time.
    #[track_caller]
    fn judge(&mut self) {
        for observation in self.stage.history.after(self.judged) {
            self.judged += 1;
            self.laws.observe(&observation).expect("the laws hold");
        }
        let now = self.stage.clock.now();
        let ask = |state: &State| {
            let standing = StateView { state, now, turned: false, session_live_max: None };
            self.laws.stand(&standing)?;
            self.laws.stand_deep(&standing)
        };
        self.handle.view(ask).expect("the laws hold");
    }
}
