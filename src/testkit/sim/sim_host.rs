//! A simulated host: answers at once, later, wrongly, twice or never.
//!
//! Everything that reaches it is recorded in the stage's history before anything else happens. So
//! the history shows what the target could observe, whatever the host reports afterwards.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::{Failure, HostId, Message, Phase, Reason, SessionConfig, SessionId, Transcript};
use crate::engine::{Delivery, Opening, Report};
use crate::port::{Clock, Host, HostAnswer};
use crate::testkit::history::{Reception, Seen};
use crate::testkit::sim::behaviour::Behaviour;
use crate::testkit::sim::stage::Stage;

/// A simulated host.
pub struct SimHost {
    number: HostId,
    stage: Stage,
    inner: Option<Arc<dyn Host>>,
    mood: Mutex<Mood>,
}

/// The host's behaviour and its outstanding receipts.
struct Mood {
    behaviours: Vec<(Behaviour, u32)>,
    receipts: Vec<Report>,
}

impl SimHost {
    /// A host without faults and without transcripts. `number` is the one that the runtime gives
    /// it.
    pub fn new(stage: &Stage, number: HostId) -> SimHost {
        let mood = Mood { behaviours: Behaviour::FAULTLESS.to_vec(), receipts: Vec::new() };
        SimHost { number, stage: stage.clone(), inner: None, mood: Mutex::new(mood) }
    }

    /// Passes calls that it does not spoil on to a real host, which stores the transcripts.
    #[must_use]
    pub fn over(mut self, inner: Arc<dyn Host>) -> SimHost {
        self.inner = Some(inner);
        self
    }

    /// Draws the behaviour of each later call from these, each as likely as its weight.
    pub fn behave(&self, behaviours: &[(Behaviour, u32)]) {
        self.mood().behaviours = behaviours.to_vec();
    }

    /// The number that the runtime knows it by.
    pub fn number(&self) -> HostId {
        self.number
    }

    /// The number of outstanding receipts.
    pub fn receipt_count(&self) -> usize {
        self.mood().receipts.len()
    }

    /// Removes an outstanding receipt, to be submitted as a report; `None` beyond the last.
    pub fn take_receipt(&self, place: usize) -> Option<Report> {
        let mut mood = self.mood();
        (place < mood.receipts.len()).then(|| mood.receipts.remove(place))
    }

    /// Drops all outstanding receipts: the process that waited for them is gone.
    pub fn forget_receipts(&self) {
        self.mood().receipts.clear();
    }

    /// The prompts that reached it, in order.
    pub fn prompts(&self) -> Vec<Reception> {
        let receptions = self.stage.history.receptions().into_iter().map(|(_, reception)| reception);
        receptions
            .filter(|reception| self.is(reception.host) && reception.phase == Phase::PromptSubmit)
            .collect()
    }

    /// Whether this is its number. The built-in host has two.
    fn is(&self, host: HostId) -> bool {
        host == self.number || self.number == HostId::LOCAL && host == HostId::INBOX
    }

    fn receive(&self, reception: Reception) -> Behaviour {
        // Recorded before the draw: even a host that panics has received the delivery.
        self.stage.history.note(self.stage.clock.now(), Seen::Received(reception));
        let behaviour =
            self.stage.entropy.pick_weighted(&self.mood().behaviours).unwrap_or(Behaviour::Prompt);
        if behaviour == Behaviour::Panic {
            resume_unwind(Box::new("a simulated host panics"));
        }
        behaviour
    }

    fn answer(&self, behaviour: Behaviour, done: Report, failed: impl Fn(&str) -> Failure) -> HostAnswer {
        let (Report::Created { run } | Report::Accepted { run }) = &done else { return HostAnswer::Done };
        let run = run.clone();
        match behaviour {
            Behaviour::Prompt | Behaviour::Panic => HostAnswer::Done,
            Behaviour::LoseReceipt => HostAnswer::Later,
            Behaviour::FailCreate | Behaviour::DenyCreate | Behaviour::FailSubmit => {
                HostAnswer::Failed(failed("refused"))
            }
            Behaviour::FailConfigure => HostAnswer::Failed(failed("not configured").with_session()),
            Behaviour::RepeatReceipt => {
                self.mood().receipts.extend([done.clone(), done]);
                HostAnswer::Done
            }
            Behaviour::Slow => {
                self.mood().receipts.push(done);
                HostAnswer::Later
            }
            Behaviour::SlowFailure => {
                self.mood().receipts.push(Report::Failed { run, failure: failed("refused after a while") });
                HostAnswer::Later
            }
        }
    }

    fn mood(&self) -> MutexGuard<'_, Mood> {
        // Never held across a call to the engine, so a simulated panic cannot poison it half
        // changed.
        self.mood.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host for SimHost {
    fn opened(&self, session: &SessionId, config: &SessionConfig) {
        if let Some(inner) = &self.inner {
            inner.opened(session, config);
        }
    }

    fn create(&self, opening: &Opening) -> HostAnswer {
        let Opening { run, host, session, .. } = opening.clone();
        let drawn =
            self.receive(Reception { host, run, phase: Phase::CreateSession, session, text: "".into() });
        let for_prompts = matches!(drawn, Behaviour::FailSubmit | Behaviour::DenyCreate);
        let behaviour = if for_prompts { Behaviour::Prompt } else { drawn };
        if let Some(inner) = self.inner.as_ref().filter(|_| behaviour != Behaviour::FailCreate) {
            inner.create(opening);
        }
        let failed = |text: &str| Failure::new(Phase::CreateSession, Reason::HostRefused, text);
        self.answer(behaviour, Report::Created { run: opening.run.clone() }, failed)
    }

    fn deliver(&self, delivery: &Delivery) -> HostAnswer {
        let Delivery { run, host, session, message, with } = delivery.clone();
        let text: Box<str> = message.text().into();
        for run in with {
            // They come with it, and are treated as it is. Its text has theirs.
            let (session, text) = (session.clone(), Box::default());
            let reception = Reception { host, run, phase: Phase::PromptSubmit, session, text };
            self.stage.history.note(self.stage.clock.now(), Seen::Received(reception));
        }
        let drawn = self.receive(Reception { host, run, phase: Phase::PromptSubmit, session, text });
        // These two behaviours are about creating sessions, and mean nothing for a prompt.
        let for_sessions = matches!(drawn, Behaviour::FailCreate | Behaviour::FailConfigure);
        let behaviour = if for_sessions { Behaviour::Prompt } else { drawn };
        let takes_it = !matches!(behaviour, Behaviour::FailSubmit | Behaviour::DenyCreate);
        if let Some(inner) = self.inner.as_ref().filter(|_| takes_it) {
            inner.deliver(delivery);
        }
        let denies = behaviour == Behaviour::DenyCreate;
        let phase = if denies { Phase::CreateSession } else { Phase::PromptSubmit };
        let failed = |text: &str| Failure::new(phase, Reason::HostRefused, text);
        self.answer(behaviour, Report::Accepted { run: delivery.run.clone() }, failed)
    }

    fn record(&self, session: &SessionId, message: &Message) {
        if let Some(inner) = &self.inner {
            inner.record(session, message);
        }
    }

    fn forget(&self, session: &SessionId) {
        if let Some(inner) = &self.inner {
            inner.forget(session);
        }
    }

    fn transcript(&self, session: &SessionId) -> Option<Transcript> {
        self.inner.as_ref()?.transcript(session)
    }
}
