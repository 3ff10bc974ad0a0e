//! Transitions: a channel is paused, and resumed, one way or both.
//!
//! What is out goes on, and what would go out waits. What comes in is refused by the service, which reads the pause here.

use crate::domain::{Actor, ChannelFact, Direction, Fact, Refusal, Ways};
use crate::engine::step::run::dispatch::dispatch_channel;
use crate::engine::step_builder::StepBuilder;
use crate::limits;

pub(in crate::engine) fn pause_channel(
    step: &mut StepBuilder<'_>,
    (channel, ways): (Box<str>, Ways),
    by: &Actor,
) -> Result<(), Refusal> {
    let state = step.state;
    if state.channel(&channel).is_none() {
        return Err(Refusal::ChannelNotAllowed { channel });
    }
    // Only a channel without a pause adds an entry.
    if !state.channel_pauses.contains_key(&channel) {
        make_room(step, by);
    }
    for direction in ways.directions() {
        // Of two pauses the first stays: who closed the way, and since when.
        if state.channel_pause(&channel, *direction).is_none() {
            let paused = ChannelFact::Paused { direction: *direction, by: by.clone() };
            step.fact(Fact::Channel(channel.clone(), paused));
        }
    }
    Ok(())
}

pub(in crate::engine) fn resume_channel(
    step: &mut StepBuilder<'_>,
    (channel, ways): (Box<str>, Ways),
    by: &Actor,
) -> Result<(), Refusal> {
    let state = step.state;
    if state.channel(&channel).is_none() && !state.channel_pauses.contains_key(&channel) {
        return Err(Refusal::ChannelNotAllowed { channel });
    }
    let paused = ways.directions().iter().filter(|way| state.channel_pause(&channel, **way).is_some());
    for direction in paused {
        let resumed = ChannelFact::Resumed { direction: *direction, by: by.clone() };
        step.fact(Fact::Channel(channel.clone(), resumed));
        if *direction == Direction::Outbound {
            // The state is the one before the step, and still shows the pause.
            dispatch_channel(step, &channel);
        }
    }
    Ok(())
}

/// Forgets pauses of channels that are not configured any more, if there are as many as there may be channels.
fn make_room(step: &mut StepBuilder<'_>, by: &Actor) {
    let state = step.state;
    if (state.channel_pauses.len() as u64) < limits::CHANNELS.value {
        return;
    }
    for (name, pauses) in state.channel_pauses.iter().filter(|(name, _)| state.channel(name).is_none()) {
        for direction in Direction::ALL.iter().filter(|way| pauses.of(**way).is_some()) {
            let resumed = ChannelFact::Resumed { direction: *direction, by: by.clone() };
            step.fact(Fact::Channel(name.clone(), resumed));
        }
    }
}
