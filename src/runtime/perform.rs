//! Effects: handed to hosts outside the lock, in order, and what the hosts say is submitted.
//!
//! Whoever causes effects performs them, unless another thread is at it already: then that one takes them along. So a
//! call returns with its effects done, a burst goes out in one sweep, and no session sees two at once.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::handle::Handle;
use super::sync::UNPOISONED;
use crate::domain::{Failure, GuardAnswer, HostId, Phase, Reason, RunId};
use crate::engine::{Effect, GuardQuestion, Input, Parcel, Report};
use crate::limits;
use crate::port::{GuardReply, Host, HostAnswer};

/// What whoever performs has in hand; its lists keep their memory from batch to batch.
#[derive(Default)]
pub(super) struct Performer {
    effects: VecDeque<Effect>,
    reports: Vec<Report>,
    /// `Core::recalls` when the batch was taken.
    recalls: u64,
}

impl Handle {
    /// Performs all effects that wait.
    pub(super) fn perform(&self) {
        loop {
            // Somebody else is at it, and looks again after letting go: nothing is left behind.
            let Ok(mut performer) = self.shared.performing.try_lock() else { return };
            while self.perform_batch(&mut performer) {}
            drop(performer);
            if self.core().outbox.is_empty() {
                return;
            }
        }
    }

    /// Performs what waits now; whether there was anything.
    fn perform_batch(&self, performer: &mut Performer) -> bool {
        let Performer { effects, reports, recalls } = performer;
        let before = {
            let mut core = self.core_mut();
            std::mem::swap(&mut core.outbox, effects);
            std::mem::replace(recalls, self.shared.recalls.load(Ordering::Acquire))
        };
        if effects.is_empty() {
            return false;
        }
        reports.extend(effects.drain(..).filter_map(|effect| self.perform_one(effect, before)));
        while !reports.is_empty() {
            let hold = reports.len().min(STEPS_PER_HOLD);
            let mut core = self.core_mut();
            let now = self.now();
            for report in reports.drain(..hold) {
                // Refused when the run has ended meanwhile, by a close or a shutdown: the engine's word stands.
                let _ = core.step(Input::Report(report), now, || self.draw());
            }
            self.publish(&mut core, now);
        }
        true
    }

    fn perform_one(&self, effect: Effect, recalls: u64) -> Option<Report> {
        match effect {
            Effect::OpenSession { host, session, config } => {
                self.tell(host, |host| host.opened(&session, &config));
                None
            }
            Effect::RecordMessage { host, session, message } => {
                self.tell(host, |host| host.record(&session, &message));
                None
            }
            Effect::ForgetSession { host, session } => {
                self.tell(host, |host| host.forget(&session));
                // A session that a connected host took over may have left a transcript with the built-in one.
                if host.is_attached() {
                    self.tell(HostId::LOCAL, |host| host.forget(&session));
                }
                None
            }
            Effect::AskGuard(question) => {
                self.ask_guard(*question);
                None
            }
            Effect::CreateSession(opening) => {
                self.is_wanted(&opening.run, recalls).then_some(())?;
                let answer = self.ask(opening.host, Phase::CreateSession, |host| host.create(&opening));
                report(opening.run, answer, |run| Report::Created { run })
            }
            Effect::Send(parcel) => {
                self.is_wanted(&parcel.run, recalls).then_some(())?;
                self.send_out(*parcel)
            }
            Effect::Deliver(delivery) => {
                self.is_wanted(&delivery.run, recalls).then_some(())?;
                let answer = self.ask(delivery.host, Phase::PromptSubmit, |host| host.deliver(&delivery));
                report(delivery.run, answer, |run| Report::Accepted { run })
            }
        }
    }

    /// Gives a parcel to the courier, who says later what became of it.
    fn send_out(&self, parcel: Parcel) -> Option<Report> {
        let run = parcel.run.clone();
        let failed = |reason: Reason, text: &str| {
            let failure = Failure::new(Phase::Outside, reason, text);
            Some(Report::Failed { run: run.clone(), failure })
        };
        let Some(courier) = self.shared.courier.get() else {
            return failed(Reason::ChannelUnknown, Reason::ChannelUnknown.doc());
        };
        let (handle, carried_run) = (self.clone(), run.clone());
        let carried = Box::new(move |carried: Result<(), Failure>| {
            let run = carried_run;
            let report = match carried {
                Ok(()) => Report::Accepted { run },
                Err(failure) => Report::Failed { run, failure },
            };
            // Refused when the run has ended meanwhile: the engine's word stands.
            let _ = handle.submit_unawaited(Input::Report(report));
        });
        // Unwind safe: the courier is on its own side of the port.
        let handed = catch_unwind(AssertUnwindSafe(|| courier.carry(parcel, carried)));
        handed.err().and_then(|_| failed(Reason::HostRefused, "the courier panicked"))
    }

    /// Whether a run is still waiting for its receipt: a close or a shutdown may have come between the fact and here.
    /// Nothing has, and nobody need look, while there were no recalls since the batch before was taken.
    fn is_wanted(&self, run: &RunId, recalls: u64) -> bool {
        self.shared.recalls.load(Ordering::Acquire) == recalls || self.core().state.is_in_flight(run)
    }

    /// Asks a host; one that is gone or panics has failed.
    fn ask(&self, host: HostId, phase: Phase, question: impl FnOnce(&dyn Host) -> HostAnswer) -> HostAnswer {
        let Some(host) = self.shared.hosts.find(host) else {
            return HostAnswer::Failed(Failure::new(phase, Reason::HostLost, "the host is not connected"));
        };
        // Unwind safe: the host is on its own side of the port, and nothing of ours is half changed.
        catch_unwind(AssertUnwindSafe(|| question(&*host))).unwrap_or_else(|_| {
            HostAnswer::Failed(Failure::new(phase, Reason::HostRefused, "the host panicked"))
        })
    }

    /// Asks the guard. Whoever says nothing, or is not there, has refused.
    fn ask_guard(&self, question: GuardQuestion) {
        let (engine, run, digest) = (Arc::downgrade(&self.shared), question.run.clone(), question.digest);
        let reply = GuardReply::new(move |answer| {
            if let Some(shared) = engine.upgrade() {
                // Refused when the run has ended meanwhile, or its question is another by now.
                let _ = Handle { shared }.submit_unawaited(Input::Report(Report::GuardAnswered {
                    run,
                    digest,
                    answer,
                }));
            }
        });
        let guard = self.shared.guard.read().expect(UNPOISONED).clone();
        let Some(guard) = guard else {
            return reply.give(GuardAnswer::Failed { detail: "there is no guard to ask".into() });
        };
        // Unwind safe: the guard is on its own side of the port. One that panics lets go of the reply.
        let _ = catch_unwind(AssertUnwindSafe(|| guard.ask(question, reply)));
    }

    /// Tells a host something that needs no answer.
    fn tell(&self, host: HostId, word: impl FnOnce(&dyn Host)) {
        if let Some(host) = self.shared.hosts.find(host) {
            // A host that panics over a notice has missed it; there is nothing to undo.
            let _ = catch_unwind(AssertUnwindSafe(|| word(&*host)));
        }
    }
}

fn report(run: RunId, answer: HostAnswer, done: impl FnOnce(RunId) -> Report) -> Option<Report> {
    match answer {
        HostAnswer::Done => Some(done(run)),
        HostAnswer::Later => None,
        HostAnswer::Failed(failure) => Some(Report::Failed { run, failure }),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "64 fits anywhere")]
const STEPS_PER_HOLD: usize = limits::STEPS_PER_HOLD.value as usize;
