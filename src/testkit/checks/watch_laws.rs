//! Laws about watches: which checks are told, and what is counted from check to check, also through a restart.
//!
//! The reference is `reference/watch_verdict.rs`. Checks that may have overlapped are left out.

use crate::domain::{
    Digest, Fact, NotifyWhen, RunFact, ScheduleFact, Span, Streak, Tally, Trigger, WatchCheck, Why,
};
use crate::engine::ScheduleRecord;
use crate::testkit::checks::law::{LawResult, StateView, hold};
use crate::testkit::history::{Observation, Seen};
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_key::key_of;
use crate::testkit::reference::schedule_model::ScheduleModel;
use crate::testkit::reference::watch_model::{PastCheck, in_row};
use crate::testkit::sim::sim_results::{PING_TOOL, ping_name_of};

/// A check is told exactly if its condition, its strategy and the checks before it say so, and for that reason. The last check of
/// a summary is told in any case.
pub(in crate::testkit) fn a_check_is_told_as_its_past_says(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Some((run, RunFact::Returned { check: Some(check), .. })) = seen.run_fact() else { return Ok(()) };
    let Some(plan) = model.schedules.get(&run.schedule).filter(|plan| plan.watch.is_one_by_one()) else {
        return Ok(());
    };
    let (Some(filter), Some((made, verdict))) = (plan.filter(), plan.judged(seen.now, check)) else {
        return Ok(());
    };
    let reading = &check.reading;
    let read = (reading.holds, reading.is_known);
    hold(read == (made.holds, made.is_known), || {
        format!("{run}: {:?} was read as {read:?}: {made:?}", filter.condition)
    })?;
    let told = check.weighed.told;
    let is_last_word =
        told == Some(Why::Batch) && filter.when == NotifyWhen::Summary && may_be_last(plan, seen, check);
    hold(told == verdict.told || is_last_word, || {
        format!("{run} is told as {told:?}, and should be as {:?}: {made:?} by {filter:?}", verdict.told)
    })?;
    // Equal results have equal digests, and others have others.
    let is_twin = |other: &PastCheck| (other.text == made.text) == is_digest(other, reading.digest);
    let twin = plan.watch.newest_first().find(|other| !is_twin(other));
    hold(twin.is_none(), || format!("{run}: {made:?} has the digest {}, and {twin:?}", reading.digest))
}

/// Returns whether a check may be the last one: all runs were made, or the lifetime ends before the longest wait is over.
fn may_be_last(plan: &ScheduleModel, seen: &Observation, check: &WatchCheck) -> bool {
    let (lifetime, Some(filter)) = (plan.schedule.lifetime(), plan.filter()) else { return false };
    let runs = u32::try_from(plan.runs.len()).unwrap_or(u32::MAX);
    let has_had_all = lifetime.max_runs.is_some_and(|most| runs >= most.get());
    let Trigger::Every(every) = &plan.schedule.trigger else { return has_had_all };
    let wait = filter.backoff.unwrap_or(Span::ZERO).max(every.period());
    let jitter = Span::from_nanos(wait.nanos() / 1_000 * u64::from(filter.jitter) + 1_000);
    let asked = check.reading.again_after.unwrap_or(Span::ZERO);
    let waits = [wait, jitter, asked].into_iter();
    let next = waits.fold(seen.now.wall, |at, wait| at.checked_add(wait).unwrap_or(at));
    has_had_all || lifetime.expires_at.is_some_and(|end| end <= next)
}

fn is_digest(check: &PastCheck, digest: Digest) -> bool {
    check.digest == Some(digest)
}

/// Silence is told once, until something is heard; and only if nothing came. Of a watch of `ping.age` that is the ping: none came
/// between the check that saw the last one and the call of the check that tells of silence.
pub(in crate::testkit) fn silence_is_told_once_and_only_in_silence(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Some((run, RunFact::Returned { check: Some(check), .. })) = seen.run_fact() else { return Ok(()) };
    let Some(Why::Silent(length)) = check.weighed.told else { return Ok(()) };
    let Some(plan) = model.schedules.get(&run.schedule) else { return Ok(()) };
    let Some(filter) = plan.filter().filter(|_| plan.watch.is_one_by_one()) else { return Ok(()) };
    let is_long = filter.silence.is_some_and(|most| length >= most);
    hold(is_long, || format!("{run} tells of silence after {length:?}"))?;
    let before: Vec<&PastCheck> = plan.watch.newest_first().collect();
    let former = before.iter().position(|check| matches!(check.told, Some(Why::Silent(_))));
    let is_sign = |pair: &[&PastCheck]| match filter.when {
        NotifyWhen::OnChange => pair[0].text != pair[1].text,
        NotifyWhen::Always | NotifyWhen::OnError | NotifyWhen::OnThreshold | NotifyWhen::Summary => {
            pair[0].ok
        }
    };
    let heard = former.is_none_or(|place| before[..=place].windows(2).any(is_sign));
    hold(heard, || format!("{run} tells of a silence that was told before: {before:?}"))?;
    let is_ping = plan.schedule.payload.call().is_some_and(|call| call.tool.as_str() == PING_TOOL);
    if !is_ping || filter.when != NotifyWhen::OnChange || !check.reading.outcome.ok {
        return Ok(());
    }
    let name = plan.schedule.payload.call().and_then(|call| ping_name_of(&call.args));
    let pings = model.sessions.get(&plan.schedule.owner).map(|lane| &lane.pings);
    let mut of_name = pings.into_iter().flatten().filter(|(other, _)| Some(other.as_str()) == name);
    let last = of_name.next().map(|(_, at)| *at);
    let called_at = model.runs.get(&key_of(run)).and_then(|life| life.called_at);
    let has_come =
        last.zip(called_at).is_some_and(|(ping, called)| ping < called && seen.now.wall.since(ping) < length);
    hold(!has_come, || format!("{run} tells of {length:?} of silence, and {last:?} came a ping"))
}

/// After a check the next one comes in an interval: in a longer one after checks that failed, if the filter says so, and later by
/// chance by no more than it says.
pub(in crate::testkit) fn a_watch_looks_again_in_time(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Seen::Fact(Fact::Schedule(id, ScheduleFact::Armed { next, by: None })) = &seen.seen else {
        return Ok(());
    };
    let (Some(plan), Some(next)) = (model.schedules.get(id), next.slot()) else { return Ok(()) };
    let Some(filter) = plan.filter().filter(|_| plan.watch.is_one_by_one()) else { return Ok(()) };
    let Trigger::Every(every) = &plan.schedule.trigger else { return Ok(()) };
    let (Some(check), Some(run)) = (plan.watch.newest_first().next(), &plan.last_run) else { return Ok(()) };
    // A run that was not made arms the next slot as that of any schedule.
    if check.at != seen.now.wall {
        return Ok(());
    }
    let period = every.period().nanos();
    let errors = in_row(plan.watch.past().iter().rev(), |check| Some(!check.ok)).checks;
    let most = filter.backoff.map_or(period, |most| most.nanos().max(period));
    // Doubled with each error; ten times are more than any filter here asks for.
    let least = (period << errors.min(10)).min(most);
    let latest = least + least / 1_000 * u64::from(filter.jitter) + 1_000;
    let wait = next.since(check.at.max(run.2)).nanos();
    hold((least..=latest).contains(&wait), || {
        format!("{id} looks again {wait} ns after {check:?}, and should in {least} to {latest}")
    })
}

/// What a watch counts and compares with is what its checks make of it, in each process.
pub(in crate::testkit) fn a_watch_remembers_its_checks(
    model: &ReferenceModel,
    standing: &StateView<'_>,
) -> LawResult {
    for (id, plan) in &model.schedules {
        let Some(record) = standing.state.schedule(id).filter(|_| plan.watch.is_one_by_one()) else {
            continue;
        };
        remembers(plan, record)?;
    }
    Ok(())
}

fn remembers(plan: &ScheduleModel, record: &ScheduleRecord) -> LawResult {
    let Some(watch) = record.watch() else { return Ok(()) };
    let past = &plan.watch;
    let row = |is: fn(&PastCheck) -> bool| in_row(past.past().iter().rev(), |check| Some(is(check)));
    let newest = past.newest_first().next();
    let after = newest.map(|check| check.after).unwrap_or_default();
    let told = past.newest_first().filter(|check| check.told.is_some());
    let expected = Tally {
        checks: past.count(),
        told: told.count() as u64,
        errors: row(|check| !check.ok),
        oks: row(|check| check.ok),
        signal: after.signal,
        open: after.open,
        told_at: past.newest_first().find(|check| check.told.is_some()).map(|check| check.at),
        ok_at: past.newest_first().find(|check| check.ok).map(|check| check.at),
        checked_at: newest.map(|check| check.at),
        // What has no reading of its own shows in what is told.
        ..watch.tally
    };
    hold(watch.tally == expected, || {
        format!("{} counts {:?}, and should {expected:?}", plan.schedule.id, watch.tally)
    })?;
    let baseline = past.baseline().and_then(|check| check.digest);
    hold(watch.baseline == baseline && watch.latest == newest.and_then(|check| check.digest), || {
        format!("{} compares with {:?}, and should with {baseline:?}", plan.schedule.id, watch.baseline)
    })?;
    let Tally { yes, no, .. } = watch.tally;
    let is_one = yes == Streak::default() || no == Streak::default();
    hold(is_one, || format!("{}: the condition holds and does not: {yes:?}, {no:?}", plan.schedule.id))
}
