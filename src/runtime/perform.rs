//! Runs effects: calls hosts outside the lock, in order, and submits their answers as reports.
//!
//! The thread that causes effects runs them, unless another thread is running effects already: then that thread runs
//! these too. So a burst is handled in one batch, and no session sees two effects at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::performer::Performer;
use super::shared::Shared;
use super::sync::UNPOISONED;
use crate::domain::{Failure, GuardAnswer, HostId, Phase, Reason, RunId};
use crate::engine::{Effect, GuardQuestion, Input, Parcel, Report};
use crate::limits;
use crate::port::{GuardReply, Host, HostAnswer};

impl Shared {
    /// Runs all pending effects.
    pub(super) fn perform(self: &Arc<Self>) {
        loop {
            // Another thread is running effects. It checks the outbox again after unlocking,
            // so nothing is left behind.
            let Ok(mut performer) = self.performing.try_lock() else { return };
            while self.perform_batch(&mut performer) {}
            drop(performer);
            // A thread whose `try_lock` failed just now may have added effects after the last batch.
            if self.core().outbox.is_empty() {
                return;
            }
        }
    }

    /// Runs the effects that are pending now. Returns whether there were any.
    fn perform_batch(self: &Arc<Self>, performer: &mut Performer) -> bool {
        let Performer { effects, reports, revocations } = performer;
        let before = {
            let mut core = self.core_mut();
            // Swapped and not copied: the lock is held briefly, and both lists keep their capacity.
            std::mem::swap(&mut core.outbox, effects);
            // The count at the previous batch: an effect of this batch may have been revoked
            // while it was in the outbox.
            std::mem::replace(revocations, self.revocations.load(Ordering::Acquire))
        };
        if effects.is_empty() {
            return false;
        }
        // Looked for before the loop, which consumes the effects.
        let calls_off = effects.iter().any(|effect| matches!(effect, Effect::CancelCall { .. }));
        reports.extend(effects.drain(..).filter_map(|effect| self.perform_one(effect, before)));
        // Once for the whole batch: a place that is free must not go to a call that the batch calls off next.
        if calls_off {
            self.hand_out_calls();
        }
        while !reports.is_empty() {
            // A large batch must not hold the lock for long, so its reports are submitted in chunks.
            let hold = reports.len().min(STEPS_PER_HOLD);
            let mut core = self.core_mut();
            let now = self.now();
            for report in reports.drain(..hold) {
                // Refused if the run has ended meanwhile (its session was closed, or the engine stops). The engine's
                // record stands.
                let _ = core.step(Input::Report(report), now, || self.random_bits());
            }
            self.publish(&mut core, now);
        }
        true
    }

    /// Runs one effect. Returns the host's answer as a report; `None` if there is none, or if it follows later.
    fn perform_one(self: &Arc<Self>, effect: Effect, revocations: u64) -> Option<Report> {
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
            Effect::AnswerQuestion(answer) => {
                self.tell(HostId::AGENTS, |host| host.answer_question(&answer));
                None
            }
            Effect::CreateSession(opening) => {
                self.is_wanted(&opening.run, revocations).then_some(())?;
                let answer = self.ask(opening.host, Phase::CreateSession, |host| host.create(&opening));
                report(opening.run, answer, |run| Report::Created { run })
            }
            Effect::Send(parcel) => {
                self.is_wanted(&parcel.run, revocations).then_some(())?;
                self.send_out(*parcel)
            }
            Effect::Call { run, invocation, look } => {
                self.is_wanted(&run, revocations).then_some(())?;
                self.call_tool(&run, *invocation, look);
                None
            }
            Effect::CancelCall { run } => {
                self.cancel_tool(&run);
                None
            }
            Effect::Deliver(delivery) => {
                self.is_wanted(&delivery.run, revocations).then_some(())?;
                let answer = self.ask(delivery.host, Phase::PromptSubmit, |host| host.deliver(&delivery));
                report(delivery.run, answer, |run| Report::Accepted { run })
            }
        }
    }

    /// Hands a parcel to the courier, which reports the outcome later. Returns a report only if that fails at once.
    fn send_out(self: &Arc<Self>, parcel: Parcel) -> Option<Report> {
        let run = parcel.run.clone();
        let failed = |reason: Reason, text: &str| {
            let failure = Failure::new(Phase::Outside, reason, text);
            Some(Report::Failed { run: run.clone(), failure })
        };
        let Some(courier) = self.courier.get() else {
            return failed(Reason::ChannelUnknown, Reason::ChannelUnknown.doc());
        };
        // The courier may keep it for longer than the engine exists, and a parcel that is stuck must not keep the engine.
        let (engine, carried_run) = (Arc::downgrade(self), run.clone());
        let carried = Box::new(move |carried: Result<(), Failure>| {
            let Some(shared) = engine.upgrade() else { return };
            let run = carried_run;
            let report = match carried {
                Ok(()) => Report::Accepted { run },
                Err(failure) => Report::Failed { run, failure },
            };
            // Refused if the run has ended meanwhile. The engine's record stands.
            // Not awaited, because the courier's thread must not wait for a disk.
            let _ = shared.submit_raw(Input::Report(report), |_| (), |_| ());
        });
        // Unwind safe: the courier is behind a port, so its panic leaves nothing of the engine half changed.
        let handed = catch_unwind(AssertUnwindSafe(|| courier.carry(parcel, carried)));
        handed.err().and_then(|_| failed(Reason::HostRefused, "the courier panicked"))
    }

    /// Whether a run still waits for its receipt: its session may have been closed, or the engine may have begun to
    /// stop, since the run was dispatched. If the counter of revocations has not changed since the previous batch, no
    /// run of this batch was revoked, and the lock is not needed.
    fn is_wanted(&self, run: &RunId, revocations: u64) -> bool {
        self.revocations.load(Ordering::Acquire) == revocations || self.core().state.is_in_flight(run)
    }

    /// Calls a host. A host that panics counts as failed.
    fn ask(&self, host: HostId, phase: Phase, question: impl FnOnce(&dyn Host) -> HostAnswer) -> HostAnswer {
        // The report of a host's loss ends what was out with it. By now the run may be out with the next host: a failure
        // reported here would count against that one.
        let Some(asked) = self.hosts.find(host) else { return HostAnswer::Later };
        // Unwind safe: the host is behind a port, so its panic leaves nothing of the engine half changed.
        let answer = catch_unwind(AssertUnwindSafe(|| question(&*asked))).unwrap_or_else(|_| {
            HostAnswer::Failed(Failure::new(phase, Reason::HostRefused, "the host panicked"))
        });
        match answer {
            // Lost while it was asked, which is no other loss.
            HostAnswer::Failed(_) if self.hosts.find(host).is_none() => HostAnswer::Later,
            HostAnswer::Done | HostAnswer::Later | HostAnswer::Failed(_) => answer,
        }
    }

    /// Asks the guard. It fails closed: without a guard, or without an answer, the run is refused.
    fn ask_guard(self: &Arc<Self>, question: GuardQuestion) {
        // The guard may keep the reply for longer than the engine exists, so the reply holds a weak reference.
        let (engine, run, digest) = (Arc::downgrade(self), question.run.clone(), question.digest);
        let reply = GuardReply::new(move |answer| {
            if let Some(shared) = engine.upgrade() {
                // Refused if the run has ended meanwhile, or if another question about it has been asked since.
                // Not awaited, because the guard's thread must not wait for a disk.
                let answered = Report::GuardAnswered { run, digest, answer };
                let _ = shared.submit_raw(Input::Report(answered), |_| (), |_| ());
            }
        });
        // Cloned, so that the lock is not held while the guard runs.
        let guard = self.guard.read().expect(UNPOISONED).clone();
        let Some(guard) = guard else {
            return reply.give(GuardAnswer::Failed { detail: "there is no guard to ask".into() });
        };
        // Unwind safe: the guard is behind a port. A guard that panics drops the reply, which
        // then reports a failed guard.
        let _ = catch_unwind(AssertUnwindSafe(|| guard.ask(question, reply)));
    }

    /// Notifies a host; no answer is expected.
    fn tell(&self, host: HostId, word: impl FnOnce(&dyn Host)) {
        if let Some(host) = self.hosts.find(host) {
            // A host that panics has missed the notification; there is nothing to undo.
            let _ = catch_unwind(AssertUnwindSafe(|| word(&*host)));
        }
    }
}

/// A host's answer as a report; `None` if the host will report later.
fn report(run: RunId, answer: HostAnswer, done: impl FnOnce(RunId) -> Report) -> Option<Report> {
    match answer {
        HostAnswer::Done => Some(done(run)),
        HostAnswer::Later => None,
        HostAnswer::Failed(failure) => Some(Report::Failed { run, failure }),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "64 fits anywhere")]
const STEPS_PER_HOLD: usize = limits::STEPS_PER_HOLD.value as usize;
