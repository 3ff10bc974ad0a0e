//! Messages that leave the process through a channel: handing over, and giving up a channel.
//!
//! They wait for no turn. Delivery is at least once: whatever may not have arrived is sent again
//! under the same id (`retry.rs`).

use crate::domain::{
    ChannelFact, Dispatch, Fact, Failure, HostId, Phase, Reason, Route, RunFact, Target, redacted,
};
use crate::engine::effect::{Effect, Parcel};
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::run::retry::fail;
use crate::engine::step_builder::StepBuilder;

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
    let family = step.state.root_in(schedule).clone();
    let now = step.now.wall;
    // Texts of operators go out as they are. In a model's text, secrets that were copied by mistake are replaced.
    let clean = |text: &str| match schedule.is_by_operators() {
        true => text.into(),
        false => redacted(text).as_ref().into(),
    };
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
        family,
        is_operators: occurrence.is_operators(),
        label: schedule.label.as_deref().map(clean),
        text: clean(schedule.payload.text()),
        file: schedule.payload.file().cloned(),
    })));
}

/// Disables the channel of a run, because its receiver refuses further messages. What waits for the channel fails: nothing else
/// would take it out of its queue. What waits for something else as well fails once that is over.
pub(in crate::engine::step) fn disable(step: &mut StepBuilder<'_>, occurrence: &Occurrence<'_>) {
    let Target::Route(route) = occurrence.schedule.target() else { return };
    step.fact(Fact::Channel(route.channel.clone(), ChannelFact::Disabled));
    if step.held {
        return;
    }
    let state = step.state;
    let waiting = state.waiting_outside().into_iter().filter_map(|run| Occurrence::of(state, run));
    for waiting in waiting.filter(|waiting| waiting.is_for(&route.channel)) {
        if !waiting.is_paused() && !waiting.is_frozen(state) {
            let reason = Reason::ChannelDisabled;
            fail(step, &waiting, Failure::new(Phase::PromptSubmit, reason, reason.doc()));
        }
    }
}
