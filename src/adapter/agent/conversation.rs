//! One process in one conversation, as a pure state machine: what is sent to it, what its lines mean, and when it is too late.
//!
//! Time is an argument, and there is no process here: `process.rs` performs what this returns. What lives elsewhere: whether a
//! process may be started (`pool.rs`), and what the engine is told (`host.rs`). Invariants: a prompt is sent at most once; a turn
//! ends in exactly one outcome; every state has a deadline.

mod ending;
mod opening;
mod permission;

use std::sync::Arc;

use super::exchange::{Found, Input, NotSent, Output, Prompt, Told};
use super::plan::AgentPlan;
use super::redact::redacted;
use super::replay::Replay;
use super::turn_log::TurnLog;
use super::wire::{self, Abilities, Incoming, NOT_AUTHENTICATED, Place, Request, RpcError, Update};
use crate::domain::{Address, BootTime, Now, Reason, RunId, SessionId, Span, TurnOutcome};
use crate::limits;

/// Where the machine stands.
#[derive(Debug)]
enum Stage {
    Starting,
    Opening(Request),
    Setting,
    Settling,
    Ready,
    InTurn(Box<TurnLog>),
    /// A cancel was sent.
    Cancelling(Option<Box<TurnLog>>),
    /// The signal to end was sent.
    Ending,
    Killed,
    Gone,
}

/// A process in a conversation.
#[derive(Debug)]
pub struct Conversation {
    plan: Arc<AgentPlan>,
    address: Address,
    directory: Box<str>,
    /// The tool servers that it gets.
    servers: serde_json::Value,
    stage: Stage,
    /// When the stage is over at the latest.
    until: BootTime,
    /// When the turn is over at the latest.
    turn_until: BootTime,
    /// When the turn is told as it stands, if it has changed.
    shown_at: Option<BootTime>,
    /// The number of the last request.
    asked: u64,
    process: Option<u32>,
    abilities: Abilities,
    waiting: Option<Prompt>,
    looking: Option<RunId>,
    replay: Replay,
    /// Whether it ends as soon as nothing is going on.
    ends: bool,
    out: Vec<Output>,
}

impl Conversation {
    /// Makes the machine of a conversation whose process is about to be started.
    pub fn new(
        plan: Arc<AgentPlan>,
        session: &SessionId,
        address: Address,
        directory: Box<str>,
        now: Now,
    ) -> Conversation {
        let until = now.boot.after(plan.timing.start);
        Conversation {
            servers: wire::tool_servers(plan.tools.as_deref(), session),
            plan,
            address,
            directory,
            stage: Stage::Starting,
            until,
            turn_until: until,
            shown_at: None,
            asked: 0,
            process: None,
            abilities: Abilities::default(),
            waiting: None,
            looking: None,
            replay: Replay::default(),
            ends: false,
            out: Vec::new(),
        }
    }

    /// Returns when to call again with [`Input::Tick`]; `None` once it is over.
    pub fn deadline(&self) -> Option<BootTime> {
        let until = match &self.stage {
            Stage::InTurn(log) => {
                let stops = log.stops(self.until, self.turn_until);
                self.shown_at.map_or(stops, |shown_at| shown_at.min(stops))
            }
            Stage::Gone => return None,
            Stage::Starting
            | Stage::Opening(_)
            | Stage::Setting
            | Stage::Settling
            | Stage::Ready
            | Stage::Cancelling(_)
            | Stage::Ending
            | Stage::Killed => self.until,
        };
        Some(until)
    }

    /// Returns whether the conversation is open and nothing is going on in it.
    pub fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Ready) && self.waiting.is_none() && self.looking.is_none()
    }

    /// Returns whether a prompt waits for the conversation to be opened.
    pub fn is_opening(&self) -> bool {
        let opens =
            matches!(self.stage, Stage::Starting | Stage::Opening(_) | Stage::Setting | Stage::Settling);
        opens && self.waiting.is_some()
    }

    /// Takes an input, and returns what is to be done.
    pub fn step(&mut self, now: Now, input: Input) -> Vec<Output> {
        match input {
            Input::Started { process } => {
                self.process = process;
                self.send(&Request::Initialize);
            }
            Input::Line(line) => self.line(now, line),
            Input::Ended(errors) => self.ended(now, &errors),
            Input::Prompt(prompt) => self.take(now, prompt),
            Input::Look(run) => {
                self.looking = Some(run);
                self.go_on(now);
            }
            Input::Decided(answer) => self.decided(now, *answer),
            Input::Held if self.is_opening() => self.give_up(now, Reason::HeldElsewhere, ""),
            Input::Held => {}
            Input::LetGo => {
                self.ends = true;
                self.go_on(now);
            }
            Input::Tick => self.tick(now),
        }
        std::mem::take(&mut self.out)
    }

    fn take(&mut self, now: Now, prompt: Prompt) {
        let is_over =
            matches!(self.stage, Stage::Cancelling(_) | Stage::Ending | Stage::Killed | Stage::Gone);
        let in_turn = matches!(self.stage, Stage::InTurn(_));
        if is_over || in_turn || self.waiting.is_some() {
            let text = "the process in the conversation is at work".into();
            self.tell(Told::NotSent(prompt.run, NotSent::Waits(Reason::HostBusy, text)));
            return;
        }
        self.waiting = Some(prompt);
        self.go_on(now);
    }

    /// Does what waits, if nothing is going on.
    fn go_on(&mut self, now: Now) {
        match &self.stage {
            Stage::Ready => {}
            Stage::InTurn(_) if self.ends => return self.cancel(now),
            // Nothing was sent. A process that went on could answer for a session that is opened again meanwhile.
            Stage::Starting | Stage::Opening(_) | Stage::Setting | Stage::Settling if self.ends => {
                return self.give_up(now, Reason::HostBusy, "the conversation was released");
            }
            Stage::Starting
            | Stage::Opening(_)
            | Stage::Setting
            | Stage::Settling
            | Stage::InTurn(_)
            | Stage::Cancelling(_)
            | Stage::Ending
            | Stage::Killed
            | Stage::Gone => return,
        }
        if self.ends {
            return self.terminate(now);
        }
        if let Some(run) = self.looking.take() {
            let found = self.replay.found();
            self.tell(Told::Found(run, found));
        }
        if let Some(prompt) = self.waiting.take() {
            self.begin(now, prompt);
        }
    }

    fn begin(&mut self, now: Now, prompt: Prompt) {
        self.send(&Request::Prompt(prompt.text));
        let timing = self.plan.timing;
        self.until = now.boot.after(timing.silence);
        self.turn_until = now.boot.after(timing.turn);
        let log = TurnLog::new(prompt.run.clone(), self.address.clone(), now.wall)
            .by(self.process, self.abilities.version.clone());
        let turn = Box::new(log.turn().clone());
        self.stage = Stage::InTurn(Box::new(log));
        self.shown_at = None;
        self.tell(Told::Began(prompt.run));
        // Told before the receipt, so that a run that is delivered has its turn.
        self.tell(Told::Turn(turn));
    }

    fn line(&mut self, now: Now, line: Incoming) {
        match line {
            Incoming::Answer(id, answer) if id == self.asked => self.answered(now, answer),
            // An answer that nobody waits for any more.
            Incoming::Answer(..) | Incoming::Noise => {}
            Incoming::Update(conversation, update) => {
                if Some(&*conversation) == self.address.conversation() {
                    self.update(now, update);
                }
            }
            Incoming::Question(id, asked) => self.question(now, id, asked),
            Incoming::Unknown(id, method) => self.out.push(Output::Send(wire::unknown_method(&id, &method))),
        }
    }

    fn update(&mut self, now: Now, update: Update) {
        match &mut self.stage {
            Stage::Opening(Request::Load) => self.replay.note(&update),
            Stage::InTurn(log) => {
                // Costs and commands can come without work on the prompt, so they are no receipt.
                let is_sign = !matches!(update, Update::Other | Update::Cost(..));
                log.note(update);
                if log.is_received() {
                    self.shown_at.get_or_insert(now.boot.after(SHOWN));
                }
                if is_sign {
                    self.sign(now);
                } else {
                    self.until = now.boot.after(self.plan.timing.silence);
                }
            }
            Stage::Cancelling(Some(log)) => log.note(update),
            Stage::Opening(_)
            | Stage::Cancelling(None)
            | Stage::Starting
            | Stage::Setting
            | Stage::Settling
            | Stage::Ready
            | Stage::Ending
            | Stage::Killed
            | Stage::Gone => {}
        }
    }

    /// The agent showed that it works on the prompt.
    fn sign(&mut self, now: Now) {
        self.until = now.boot.after(self.plan.timing.silence);
        let Stage::InTurn(log) = &mut self.stage else { return };
        if log.receive(now.wall) {
            let (run, turn) = (log.turn().run.clone(), log.turn().clone());
            self.tell(Told::Receipt(run));
            self.tell(Told::Turn(Box::new(turn)));
        }
    }

    fn answered(&mut self, now: Now, answer: Result<serde_json::Value, RpcError>) {
        let timing = self.plan.timing;
        // Moved out, because each arm consumes its stage. An arm that goes on sets the next one.
        match std::mem::replace(&mut self.stage, Stage::Ready) {
            Stage::Starting => match answer.map(|answer| Abilities::of(&answer)) {
                Ok(Some(abilities)) => {
                    self.abilities = abilities;
                    self.open(now);
                }
                Ok(None) => {
                    self.give_up(now, Reason::AgentBroken, "it speaks another version of the protocol");
                }
                Err(error) => self.refused(now, &error, Reason::AgentBroken),
            },
            Stage::Opening(how) => match answer {
                Ok(answer) => self.opened(now, &how, &answer),
                Err(error) => {
                    let reason = self.plan.unopened(&error.message);
                    self.refused(now, &error, reason);
                }
            },
            Stage::Setting => match answer {
                Ok(_) => self.settle(now),
                Err(error) => self.refused(now, &error, Reason::HostRefused),
            },
            Stage::InTurn(log) => self.end_turn(now, log, &answer, None),
            Stage::Cancelling(log) => {
                let outcome = log.as_ref().map(|log| log.cause());
                if let Some(log) = log {
                    self.end_turn(now, log, &answer, outcome);
                }
            }
            stage @ (Stage::Settling | Stage::Ready | Stage::Ending | Stage::Killed | Stage::Gone) => {
                self.stage = stage;
                return;
            }
        }
        if matches!(self.stage, Stage::Ready) {
            self.until = now.boot.after(timing.idle);
            self.go_on(now);
        }
    }

    fn refused(&mut self, now: Now, error: &RpcError, otherwise: Reason) {
        let reason = if error.code == NOT_AUTHENTICATED { Reason::NotAuthenticated } else { otherwise };
        self.give_up(now, reason, &error.message);
    }

    /// The conversation cannot be opened: nothing is sent, and the process is ended.
    fn give_up(&mut self, now: Now, reason: Reason, text: &str) {
        self.excuse(reason, text);
        self.terminate(now);
    }

    /// Tells that what waits was not sent.
    fn excuse(&mut self, reason: Reason, text: &str) {
        // An agent that refuses a key may quote it, and a session is shown why it waits.
        let text: &str = &redacted(text, &self.plan.environment);
        let waits = matches!(
            reason,
            Reason::AgentBroken
                | Reason::NotAuthenticated
                | Reason::HostBusy
                | Reason::AgentMissing
                | Reason::HeldElsewhere
        );
        let why =
            if waits { NotSent::Waits(reason, text.into()) } else { NotSent::Fails(reason, text.into()) };
        if let Some(run) = self.looking.take() {
            self.tell(Told::Found(run, Found::Unknown));
        }
        if let Some(prompt) = self.waiting.take() {
            self.tell(Told::NotSent(prompt.run, why));
        }
    }

    fn cancel(&mut self, now: Now) {
        let Stage::InTurn(mut log) = std::mem::replace(&mut self.stage, Stage::Cancelling(None)) else {
            return;
        };
        // A conversation that was released is not looked into any more.
        if self.ends && !log.is_received() {
            let text = "the conversation was released before the agent gave a sign";
            self.tell(Told::Failed(log.turn().run.clone(), Reason::OutcomeUnknown, text.into()));
        }
        self.out.push(Output::Send(wire::cancel(self.address.conversation().unwrap_or_default())));
        // The protocol demands that what the agent asks is answered after a cancel, too.
        self.out.extend(log.withdraw().into_iter().map(Output::Send));
        self.stage = Stage::Cancelling(Some(log));
        self.until = now.boot.after(self.plan.timing.grace);
    }

    fn terminate(&mut self, now: Now) {
        self.out.push(Output::Terminate);
        self.until = now.boot.after(self.plan.timing.grace);
        self.stage = Stage::Ending;
    }

    fn tick(&mut self, now: Now) {
        if self.deadline().is_none_or(|deadline| deadline > now.boot) {
            return;
        }
        let timing = self.plan.timing;
        match &mut self.stage {
            Stage::Starting => {
                self.give_up(now, Reason::AgentBroken, &late("it did not answer", timing.start));
            }
            Stage::Opening(_) => {
                let text = late("the agent did not open the conversation", timing.open);
                self.give_up(now, Reason::ResumeFailed, &text);
            }
            Stage::Setting => {
                self.give_up(now, Reason::HostRefused, &late("the agent did not set its mode", timing.open));
            }
            Stage::Settling => {
                self.stage = Stage::Ready;
                self.until = now.boot.after(timing.idle);
                self.go_on(now);
            }
            Stage::Ready => self.terminate(now),
            Stage::InTurn(log) if self.turn_until > now.boot && log.asks_too_long(now.boot) => {
                let lines = log.expire(now.boot);
                self.answered_question(now, lines);
            }
            // Neither silence nor the end of the turn is due. The turn is only shown as it stands.
            Stage::InTurn(log) if log.stops(self.until, self.turn_until) > now.boot => {
                let turn = log.turn().clone();
                self.shown_at = None;
                self.tell(Told::Turn(Box::new(turn)));
            }
            Stage::InTurn(log) => {
                let is_long = self.turn_until <= now.boot;
                log.stop(if is_long { TurnOutcome::TimedOut } else { TurnOutcome::Silent });
                let run = log.turn().run.clone();
                let is_failed = !log.is_received();
                if is_failed {
                    let text = late("the agent gave no sign", timing.silence);
                    self.tell(Told::Failed(run, Reason::AgentSilent, text.into()));
                }
                self.cancel(now);
            }
            Stage::Cancelling(_) => {
                self.leave_turn(now);
                self.terminate(now);
            }
            Stage::Ending => {
                self.out.push(Output::Kill);
                self.until = now.boot.after(timing.grace);
                self.stage = Stage::Killed;
            }
            // The system will end it; there is nothing left to do.
            Stage::Killed => self.until = now.boot.after(timing.grace),
            Stage::Gone => {}
        }
    }

    fn ended(&mut self, now: Now, errors: &str) {
        self.leave_turn(now);
        match std::mem::replace(&mut self.stage, Stage::Gone) {
            Stage::InTurn(log) => {
                let run = log.turn().run.clone();
                let is_received = log.is_received();
                self.tell(Told::Turn(Box::new(log.end(now.wall, Some(TurnOutcome::Crashed)))));
                if !is_received {
                    self.tell(Told::Doubt(run));
                }
            }
            Stage::Starting | Stage::Opening(_) | Stage::Setting | Stage::Settling => {
                let text = if errors.is_empty() { "its process ended" } else { errors };
                self.excuse(Reason::AgentBroken, text);
            }
            Stage::Ready | Stage::Cancelling(_) | Stage::Ending | Stage::Killed | Stage::Gone => {
                self.excuse(Reason::HostBusy, "its process ended");
            }
        }
    }

    fn send(&mut self, request: &Request) {
        self.asked += 1;
        if *request == Request::Load {
            self.replay = Replay::of(self.looking.as_ref());
        }
        let conversation = self.address.conversation().unwrap_or_default();
        let place = Place { conversation, directory: &self.directory, servers: &self.servers };
        self.out.push(Output::Send(request.print(self.asked, &place)));
    }

    fn tell(&mut self, told: Told) {
        self.out.push(Output::Told(told));
    }
}

const SHOWN: Span = Span::from_millis(limits::TURN_SHOWN_MS.value);

fn late(what: &str, time: Span) -> String {
    format!("{what} within {} s", time.millis().div_ceil(1_000))
}
