//! Laws about messages that leave the process by a channel (webhook or command).

use crate::domain::{Dispatch, Phase, RunFact, Span};
use crate::limits;
use crate::testkit::checks::law::{LawResult, hold};
use crate::testkit::history::{Observation, Seen};
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_key::key_of;

/// Every attempt of a run sends an equal message, unless its schedule changed in between.
pub(in crate::testkit) fn a_parcel_is_the_same_at_each_attempt(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Seen::Received(reception) = &seen.seen else { return Ok(()) };
    let before = model.runs.get(&key_of(&reception.run)).and_then(|life| life.sent.as_ref());
    let differs = before.filter(|text| reception.phase == Phase::Outside && **text != reception.text);
    hold(differs.is_none(), || format!("{reception:?} went out before as {differs:?}"))
}

/// No run is dispatched to a channel that is not open or is paused, or that has answered that it wants no
/// more messages.
pub(in crate::testkit) fn nothing_goes_where_nothing_is_wanted(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Some((run, RunFact::Dispatched(Dispatch { phase: Phase::Outside, .. }))) = seen.run_fact() else {
        return Ok(());
    };
    let channel = model.runs.get(&key_of(run)).and_then(|life| life.channel.as_ref());
    let wanted = channel.and_then(|channel| Some(model.channels.get(channel)?.is_open));
    let is_paused = channel.is_some_and(|channel| model.paused_channels.contains(channel));
    hold(wanted == Some(true) && !is_paused, || {
        format!("{run} goes to {channel:?}, where it is wanted: {wanted:?}, paused: {is_paused}")
    })
}

/// A `Retry-After` of the receiver is respected, up to a bound.
pub(in crate::testkit) fn a_channel_is_left_alone_as_it_asks(
    _: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Some((run, RunFact::Retrying { failure, due, .. })) = seen.run_fact() else { return Ok(()) };
    let most = Span::from_millis(limits::RETRY_AFTER_MS.value);
    let asked = failure.again_after.unwrap_or(Span::ZERO).min(most);
    hold(*due >= seen.now.boot.after(asked), || format!("{run} is tried again at {due:?}, after {failure:?}"))
}
