//! Handing a run over to the executor of a tool.
//!
//! A call takes no lane and begins no turn. Its outcome comes back as a report (`returned.rs`). It is bounded by the timeout of
//! its run, or without one by `limits::CALL_MS`.

use crate::domain::{BootTime, Call, Dispatch, HostId, Phase, RunFact, Span};
use crate::engine::effect::Effect;
use crate::engine::invocation::Invocation;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step_builder::StepBuilder;
use crate::engine::timers::Timer;
use crate::engine::watching::look_of;
use crate::limits;

/// Hands a run over to the executor of its tool. `host` is the session's, if the call needs that one.
pub(in crate::engine::step) fn call_tool(
    step: &mut StepBuilder<'_>,
    occurrence: &Occurrence<'_>,
    call: &Call,
    host: HostId,
) {
    let schedule = occurrence.schedule;
    let overdue = call_ends(step, occurrence);
    let session = schedule.owner.clone();
    let to = Dispatch { host, phase: Phase::Call, session: session.clone(), overdue };
    step.run_fact(&occurrence.id, RunFact::Dispatched(to));
    let look = call.filter.as_ref().zip(occurrence.record.watch());
    // An executor may ask whether something has changed since. An error is nothing to compare with.
    let last = look.and_then(|(_, watch)| watch.last.clone()).filter(|last| last.ok);
    step.effect(Effect::Call {
        run: occurrence.id.clone(),
        look: look.map(|(filter, watch)| Box::new(look_of(watch, filter))),
        invocation: Box::new(Invocation {
            id: occurrence.id.to_string().into(),
            session,
            tool: call.tool.clone(),
            args: call.args.clone(),
            via: call.via,
            timeout: overdue.since(step.now.boot),
            attempt: occurrence.attempt,
            caller: schedule.author(),
            is_operators: occurrence.is_operators(),
            purpose: call.purpose,
            last,
        }),
    });
}

/// Returns when the time of a call is over that is handed over now.
fn call_ends(step: &StepBuilder<'_>, occurrence: &Occurrence<'_>) -> BootTime {
    // The time that the run has waited counts.
    let claimed = step.state.run_key(&occurrence.id);
    let ends = claimed.and_then(|key| step.state.timers.deadline(Timer::TimeUp(key)));
    let plain = Span::from_millis(limits::CALL_MS.value);
    ends.unwrap_or_else(|| step.now.boot.after(occurrence.schedule.policy().timeout.unwrap_or(plain)))
}
