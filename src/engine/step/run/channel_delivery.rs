//! Messages that leave the process through a channel: handing over, retrying, giving up.
//!
//! They wait for no turn. Delivery is at least once: whatever may not have arrived is sent again
//! under the same id, after the schedule's backoff or the table of Standard Webhooks, and no sooner
//! than the receiver asks for.

use crate::domain::{
    ChannelFact, Dispatch, Fact, Failure, HostId, Phase, Reason, Route, RunFact, Schedule, Span, Target,
};
use crate::engine::effect::{Effect, Parcel};
use crate::engine::step::run::dispatch::{cancel_stale, dispatch};
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step_builder::StepBuilder;
use crate::limits;

/// Hands a run over to its channel.
pub(in crate::engine::step) fn send_to_channel(
    step: &mut StepBuilder<'_>,
    occurrence: &Occurrence<'_>,
    route: &Route,
) {
    let schedule = occurrence.schedule;
    let overdue = step.overdue();
    // Channels belong to this process, so their receipts are the built-in host's.
    let (host, session) = (HostId::LOCAL, schedule.owner.clone());
    let to = Dispatch { host, phase: Phase::Outside, session: session.clone(), overdue };
    step.run_fact(&occurrence.id, RunFact::Dispatched(to));
    let now = step.now.wall;
    step.effect(Effect::Send(Box::new(Parcel {
        run: occurrence.id.clone(),
        route: route.clone(),
        at: now,
        attempt: occurrence.attempt,
        cause: occurrence.cause,
        late: now.since(occurrence.slot),
        folded: occurrence.folded,
        dialect: schedule.dialect,
        session,
        label: schedule.label.clone(),
        text: schedule.payload.text().into(),
        file: schedule.payload.file().cloned(),
    })));
}

/// Hands over the runs that wait for a channel, in order.
pub(in crate::engine::step) fn dispatch_to_channels(step: &mut StepBuilder<'_>) {
    let state = step.state;
    if step.held {
        return;
    }
    for run in state.waiting_outside() {
        let Some(occurrence) = Occurrence::of(state, run) else { continue };
        // It keeps waiting, and holds nothing up: channels have no lanes.
        let stands = occurrence.is_paused() || occurrence.is_frozen(state);
        if !stands && !cancel_stale(step, &occurrence) {
            dispatch(step, &occurrence);
        }
    }
}

/// Disables the channel of a run, because its receiver refuses further messages.
pub(in crate::engine::step) fn disable(step: &mut StepBuilder<'_>, occurrence: &Occurrence<'_>) {
    if let Target::Route(route) = occurrence.schedule.target() {
        step.fact(Fact::Channel(route.channel.clone(), ChannelFact::Disabled));
    }
}

/// Returns the wait before the next attempt to send a message; `None` if there is none.
pub(in crate::engine::step) fn retry_delay(
    schedule: &Schedule,
    attempt: u16,
    failure: &Failure,
) -> Option<Span> {
    let not_taken = failure.reason == Reason::HostRefused;
    // Without an answer, the message may have arrived. A volatile one is not sent twice.
    let unknown = matches!(failure.reason, Reason::ReceiptOverdue | Reason::Crashed) && schedule.is_durable();
    if !(not_taken || unknown) {
        return None;
    }
    let tried = usize::from(attempt).saturating_sub(1);
    let own = schedule.policy().backoff.as_slice();
    let wait = if own.is_empty() {
        // After the end of the table there is no further attempt.
        TABLE.get(tried).copied().map(Span::from_millis)
    } else {
        own.get(tried).copied()
    }?;
    // The receiver may ask for a longer wait, within a bound.
    let asked = failure.again_after.unwrap_or(Span::ZERO);
    Some(wait.max(asked.min(Span::from_millis(limits::RETRY_AFTER_MS.value))))
}

/// The waits after the first attempts: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h.
/// Source: Standard Webhooks 1.0.
const TABLE: [u64; 9] =
    [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000];

const _: () = assert!((TABLE.len() as u64) < limits::ATTEMPTS.value);
const _: () = assert!(TABLE[TABLE.len() - 1] <= limits::RETRY_AFTER_MS.value);
