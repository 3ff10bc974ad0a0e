//! What leaves the process, by a channel: handed over, tried again, and given up.
//!
//! It waits for nobody's turn. At least once: whatever may not have arrived is sent again under the same id, by the schedule's
//! backoff or by the table of Standard Webhooks, and no sooner than whoever is behind the channel asks for.

use super::hand_over::{call_off_stale, hand_over};
use super::occurrence::Occurrence;
use crate::domain::{
    ChannelFact, Fact, Failure, HandOver, HostId, Phase, Reason, Route, RunFact, Schedule, Span, Target,
};
use crate::engine::draft::Draft;
use crate::engine::effect::{Effect, Parcel};
use crate::limits;

/// Hands a run to the channel that it goes out by.
pub(super) fn send_outside(draft: &mut Draft<'_>, occurrence: &Occurrence<'_>, route: &Route) {
    let schedule = occurrence.schedule;
    let overdue = draft.overdue();
    let (host, session) = (HostId::LOCAL, schedule.owner.clone());
    let to = HandOver { host, phase: Phase::Outside, session: session.clone(), overdue };
    draft.run_fact(&occurrence.id, RunFact::Dispatched(to));
    let now = draft.now.wall;
    draft.effect(Effect::Send(Box::new(Parcel {
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

/// What waited to go outside goes, in order.
pub(super) fn hand_over_outside(draft: &mut Draft<'_>) {
    let state = draft.state;
    if draft.held {
        return;
    }
    for run in state.waiting_outside() {
        let Some(occurrence) = Occurrence::of(state, run) else { continue };
        let stands = occurrence.is_paused() || occurrence.is_frozen(state);
        if !stands && !call_off_stale(draft, &occurrence) {
            hand_over(draft, &occurrence);
        }
    }
}

/// Whoever is behind the channel of a run wants nothing more: nothing more is sent there.
pub(super) fn disable(draft: &mut Draft<'_>, occurrence: &Occurrence<'_>) {
    if let Target::Route(route) = occurrence.schedule.target() {
        draft.fact(Fact::Channel(route.channel.clone(), ChannelFact::Disabled));
    }
}

/// How long to wait before the next attempt to send something, if there is to be one.
pub(super) fn wait_outside(schedule: &Schedule, attempt: u16, failure: &Failure) -> Option<Span> {
    let not_taken = failure.reason == Reason::HostRefused;
    // Without an answer, it may have arrived: what is in memory only is not sent twice.
    let unknown = matches!(failure.reason, Reason::ReceiptOverdue | Reason::Crashed) && schedule.is_durable();
    if !(not_taken || unknown) {
        return None;
    }
    let tried = usize::from(attempt).saturating_sub(1);
    let own = schedule.policy().backoff.as_slice();
    let wait = if own.is_empty() {
        TABLE.get(tried).copied().map(Span::from_millis)
    } else {
        own.get(tried).copied()
    }?;
    let asked = failure.again_after.unwrap_or(Span::ZERO);
    Some(wait.max(asked.min(Span::from_millis(limits::RETRY_AFTER_MS.value))))
}

/// The waits after the first attempts: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h. Source: Standard Webhooks 1.0.
const TABLE: [u64; 9] =
    [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000];

const _: () = assert!((TABLE.len() as u64) < limits::ATTEMPTS.value);
const _: () = assert!(TABLE[TABLE.len() - 1] <= limits::RETRY_AFTER_MS.value);
