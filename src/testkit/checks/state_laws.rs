//! Laws about the engine's state after a step, judged against the model of everything seen.

use crate::domain::{Cause, Dialect, RunId, RunState, Schedule, ScheduleId, Status, Target};
use crate::engine::{Mode, ScheduleRecord, SessionRecord, State};
use crate::limits;
use crate::testkit::checks::cause_laws::what_a_session_causes_is_its_own;
use crate::testkit::checks::durability_laws::{nothing_is_out_that_is_not_kept, what_is_refused_is_not_so};
use crate::testkit::checks::law::{LawResult, StateLaw, StateView, hold};
use crate::testkit::checks::watch_laws::a_watch_remembers_its_checks;
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_key::RunKey;
use crate::testkit::reference::schedule_model::ScheduleModel;
use crate::testkit::reference::session_model::SessionModel;

macro_rules! named {
    ($($law:ident),+ $(,)?) => { &[$((stringify!($law), $law as StateLaw)),+] };
}

/// Laws that are cheap enough for every step.
pub(in crate::testkit) const ALL: &[(&str, StateLaw)] = named![
    nothing_is_out_that_is_not_kept,
    what_is_refused_is_not_so,
    accounting_balances,
    nothing_silent,
    nothing_waits_without_cause,
    nothing_due_is_left,
    a_word_has_called_off,
    limits_hold,
    created_sessions_are_real,
    nothing_lives_after_shutdown,
    a_joined_run_is_out_with_its_lead,
    the_last_pings_are_there,
    a_watch_remembers_its_checks,
    what_a_session_causes_is_its_own,
    a_schedule_shows_its_slot,
];

/// Laws that print the whole state, checked every few steps.
pub(in crate::testkit) const DEEP: &[(&str, StateLaw)] = named![fold_is_state];

/// Expected = delivered + left + skipped + cancelled + failed + lost + pending, and each equals the
/// model's count.
fn accounting_balances(model: &ReferenceModel, standing: &StateView<'_>) -> LawResult {
    let (ledger, counts) = (standing.state.ledger(), &model.counts);
    hold(ledger.imbalance() == 0, || format!("{ledger:?} is out by {}", ledger.imbalance()))?;
    let booked = [
        ledger.expected,
        ledger.delivered,
        ledger.left,
        ledger.skipped,
        ledger.cancelled,
        ledger.failed,
        ledger.lost,
        ledger.pending,
    ];
    let seen = [
        counts.expected,
        counts.delivered,
        counts.left,
        counts.skipped,
        counts.cancelled,
        counts.failed,
        counts.lost,
        counts.pending(),
    ];
    hold(booked == seen, || format!("{ledger:?}, but seen were {counts:?}"))?;
    let records = standing.state.schedules();
    let live = records.iter().filter(|record| !record.status().is_terminal()).count() as u64;
    let counted = standing.state.live_count();
    hold(live == counted, || format!("{live} records have not ended, counted are {counted}"))?;
    let by_dialect = standing.state.gauges(standing.now).by_dialect;
    for (dialect, counted) in Dialect::ALL.iter().zip(by_dialect) {
        let of = |it: &&&ScheduleRecord| !it.status().is_terminal() && it.schedule().dialect == *dialect;
        let live = records.iter().filter(of).count() as u64;
        hold(live == counted, || {
            format!("{live} of {} have not ended, counted are {counted}", dialect.name())
        })?;
    }
    let slots = records.iter().filter(|record| record.next_slot().is_some()).count() as u64;
    let runs = model.runs.values().filter(|life| life.is_live()).count() as u64;
    hold(slots + runs == ledger.pending, || format!("{slots} slots and {runs} runs, but {ledger:?}"))
}

/// Every live schedule has a timer or a reason to wait; every ended one has its right status.
fn nothing_silent(model: &ReferenceModel, standing: &StateView<'_>) -> LawResult {
    for (id, plan) in &model.schedules {
        let record = standing.state.schedule(id);
        match (plan.end, record) {
            (None, None) => return Err(format!("{id} has vanished without an end")),
            // A durable schedule has no deadline while the store fails; the store's health says so.
            (None, Some(_)) if model.is_frozen() && plan.is_durable() => {}
            (None, Some(record)) => not_silent(standing, id, record)?,
            (Some(end), Some(record)) => {
                hold(record.status() == end, || {
                    format!("{id} ended as {end:?}, but is {:?}", record.status())
                })?;
            }
            (Some(_), None) => may_be_forgotten(model, standing.state, id, plan)?,
        }
    }
    Ok(())
}

/// A schedule stands in a list with its next slot, and without one with its last, also if that was brought forward.
fn a_schedule_shows_its_slot(model: &ReferenceModel, standing: &StateView<'_>) -> LawResult {
    // What is durable stands as the store had it last, while that fails.
    let judged = model.schedules.iter().filter(|(_, plan)| !(model.is_frozen() && plan.is_durable()));
    for (id, plan) in judged {
        let shown = standing.state.schedule(id).map(ScheduleRecord::fire_at);
        hold(shown.is_none_or(|shown| shown == plan.shown_slot()), || {
            format!("{id} is shown with {shown:?}, and its slot is {}", plan.shown_slot())
        })?;
    }
    Ok(())
}

fn not_silent(standing: &StateView<'_>, id: &ScheduleId, record: &ScheduleRecord) -> LawResult {
    let state = standing.state;
    let live = || state.runs_of(record).any(|(_, run)| !run.run().state.is_terminal());
    let speaks = match record.status() {
        Status::Pending => {
            let progress = record.progress();
            state.has_slot_timer(id) || progress.awaits_event || progress.awaits_finish && live()
        }
        Status::Paused => record.progress().paused.is_some() && !state.has_slot_timer(id),
        // `nothing_waits_without_cause` judges what a queued run waits for.
        Status::Queued | Status::InFlight => live(),
        Status::Left
        | Status::Delivered
        | Status::Skipped
        | Status::Finished
        | Status::Cancelled
        | Status::Failed => false,
    };
    hold(speaks, || format!("{id} is {:?} with neither deadline nor reason", record.status()))
}

fn may_be_forgotten(
    model: &ReferenceModel,
    state: &State,
    id: &ScheduleId,
    plan: &ScheduleModel,
) -> LawResult {
    let owner = &plan.schedule.owner;
    // A session keeps a bounded number of ended schedules; the oldest is dropped for the next one.
    let full = || {
        let all = state.schedules_of(owner).len();
        let live = state.live_schedules_of(owner).len();
        (all - live) as u64 >= limits::FINISHED_KEPT.value
    };
    let right = plan.orphaned || !model.sessions.contains_key(owner) || full();
    hold(right, || format!("{id} was forgotten although {owner} is open and has room"))
}

/// While the engine runs, a run waits only if something blocks it.
fn nothing_waits_without_cause(model: &ReferenceModel, standing: &StateView<'_>) -> LawResult {
    let state = standing.state;
    if state.mode() != Mode::Running {
        return Ok(());
    }
    for session in state.sessions() {
        let turn_owed = model.sessions.get(session.id()).is_some_and(|lane| lane.turn_owed);
        // A fresh session needs no lane, so a taken lane is a cause only for runs into this
        // session.
        let lane_taken = session.is_busy() || session.has_delivery_in_flight() || turn_owed;
        for run in state.waiting(session) {
            let Some(id) = state.run_id(run) else { return Err("a run without a schedule".into()) };
            let takes_lane =
                |asked: &Schedule| *asked.target() != Target::Fresh && asked.payload.call().is_none();
            let into_it = state.definition_of(run).is_some_and(takes_lane);
            // A bulletin over its session's budget keeps its place, and goes with another one or at its time.
            let is_postponed = run.run().cause == Cause::Bulletin && run.run().retry_at.is_some();
            // A prompt that was left in the fresh session of its run goes into that one.
            let left_there = run.run().session.as_ref() == Some(session.id());
            let into_it = into_it || left_there;
            let plan = model.schedules.get(&id.schedule);
            let stands = plan.is_some_and(|plan| plan.paused || model.is_frozen() && plan.is_durable());
            let stands = stands && (run.run().cause != Cause::Bulletin || model.is_frozen());
            let cause = !session.is_hosted() || lane_taken && into_it || stands || model.held || is_postponed;
            let said = state.run_waits_for(run);
            hold(cause && said.is_some(), || format!("{id} waits for {}, as for {said:?}", session.id()))?;
        }
    }
    // A run for a channel has no turn to wait for.
    let stands = |plan: &ScheduleModel| plan.paused || model.is_frozen() && plan.is_durable();
    let is_closed = |key: &RunKey| {
        let channel = model.runs.get(key).and_then(|life| life.channel.as_ref());
        channel.is_some_and(|channel| {
            let is_wanted = model.channels.get(channel).is_some_and(|it| it.is_open);
            is_wanted && model.paused_channels.contains(channel)
        })
    };
    let goes =
        |key: &&RunKey| !model.held && !is_closed(key) && !model.schedules.get(&key.0).is_some_and(stands);
    let idle = model.outside.iter().find(goes);
    hold(idle.is_none(), || format!("{idle:?} could go outside, and waits"))
}

/// After its turn, the engine has nothing due left.
fn nothing_due_is_left(_: &ReferenceModel, standing: &StateView<'_>) -> LawResult {
    let next =
        standing.state.next_wake(standing.now).filter(|next| standing.turned && *next <= standing.now.boot);
    hold(next.is_none(), || format!("{next:?} was due at {:?}", standing.now.boot))
}

/// A user message has cancelled what it had to cancel.
fn a_word_has_called_off(model: &ReferenceModel, _: &StateView<'_>) -> LawResult {
    let left = model.schedules.iter().find(|(_, plan)| plan.moot && plan.end.is_none());
    hold(left.is_none(), || format!("somebody spoke, and there is still {left:?}"))
}

/// No count exceeds its bound in `limits`.
fn limits_hold(model: &ReferenceModel, standing: &StateView<'_>) -> LawResult {
    let state = standing.state;
    let sessions = state.sessions();
    let finished = |session: &&SessionRecord| state.schedules_of(session.id()).len() - session.live_count();
    let families = |session: &&SessionRecord| {
        let live = state.live_schedules_of(session.id()).into_iter().map(ScheduleRecord::schedule);
        live.filter(|schedule| !model.is_revived(&schedule.id)).map(|it| it.dialect).collect::<Vec<_>>()
    };
    let created: Vec<_> = sessions.iter().map(families).collect();
    let of_all = created.iter().map(Vec::len).max().unwrap_or(0);
    // Each family of tools has the bound for itself.
    let of_one =
        |live: &Vec<Dialect>| live.iter().map(|it| live.iter().filter(|other| *other == it).count()).max();
    let live = created.iter().filter_map(of_one).max().unwrap_or(0);
    let kept = sessions.iter().map(finished).max().unwrap_or(0);
    let session_live_max = standing.session_live_max.map_or(limits::SESSION_SCHEDULES.value, u64::from);
    let bounds = [
        ("schedules", state.live_count(), limits::SCHEDULES.value),
        ("sessions", sessions.len() as u64, limits::SESSIONS.value),
        ("finished schedules kept in one session", kept as u64, limits::FINISHED_KEPT.value),
        ("unfinished schedules of one family in one session", live as u64, session_live_max),
        ("unfinished schedules in one session", of_all as u64, limits::SESSION_SCHEDULES.value),
    ];
    let broken = bounds.into_iter().find(|(_, count, bound)| count > bound);
    hold(broken.is_none(), || format!("{broken:?}"))
}

/// A run claims to have created a session only if its schedule creates one and a host was asked to.
fn created_sessions_are_real(model: &ReferenceModel, standing: &StateView<'_>) -> LawResult {
    let state = standing.state;
    for (key, life) in &model.runs {
        let id = RunId { schedule: key.0.clone(), incarnation: key.1, slot: key.2 };
        let Some(run) = state.run(&id) else { continue };
        let Some(session) = run.run().session.as_ref().filter(|_| run.run().session_created) else {
            continue;
        };
        let kind = life.into.is_none();
        hold(kind, || format!("{id} creates no sessions, but names {session}"))?;
        let same = life.dispatched.as_ref().is_some_and(|(_, asked)| asked == session);
        hold(same, || format!("{id} names {session}, but dispatched was {:?}", life.dispatched))?;
    }
    Ok(())
}

/// A bulletin in the delivery of another one is out exactly as long as that is.
fn a_joined_run_is_out_with_its_lead(model: &ReferenceModel, _: &StateView<'_>) -> LawResult {
    for (key, life) in &model.runs {
        let Some(lead) = &life.lead else { continue };
        let out = model.runs.get(lead).map(|lead| lead.state);
        hold(life.state == RunState::InFlight && out == Some(RunState::InFlight), || {
            format!("{key:?} is {:?} in the delivery of {lead:?}, which is {out:?}", life.state)
        })?;
    }
    Ok(())
}

/// Of each name that an open session was pinged under, the last ping is there, and no other.
fn the_last_pings_are_there(model: &ReferenceModel, standing: &StateView<'_>) -> LawResult {
    for session in standing.state.sessions() {
        let Some(lane) = model.sessions.get(session.id()) else { continue };
        let pings = SessionModel::pings_of(session.pings());
        hold(pings == lane.pings, || {
            format!("{} was pinged {:?}, and has {pings:?}", session.id(), lane.pings)
        })?;
        let names = u64::try_from(pings.len()).unwrap_or(u64::MAX);
        let most = limits::SESSION_PINGS.value;
        hold(names <= most, || format!("{} has {names} pings, and {most} may be", session.id()))?;
    }
    Ok(())
}

/// After a shutdown no volatile schedule is live. Durable ones go on with the next start.
fn nothing_lives_after_shutdown(model: &ReferenceModel, standing: &StateView<'_>) -> LawResult {
    let live = model.schedules.values().find(|plan| plan.end.is_none() && !plan.is_durable());
    let settled = standing.state.is_settled() && live.is_none();
    hold(!model.stopped || settled, || format!("{live:?} lives after the shutdown"))
}

/// The state equals the fold of its facts: both have equal text and an equal next wake-up.
fn fold_is_state(model: &ReferenceModel, standing: &StateView<'_>) -> LawResult {
    let (fold, state) = (&model.fold, standing.state);
    if let Some(difference) = first_difference(&fold.to_string(), &state.to_string()) {
        return Err(difference);
    }
    let (one, two) = (fold.next_wake(standing.now), state.next_wake(standing.now));
    hold(one == two, || format!("the fold wakes at {one:?}, the state at {two:?}"))
}

/// The first line in which two texts differ; `None` if they are equal.
pub(in crate::testkit) fn first_difference(one: &str, two: &str) -> Option<String> {
    if one == two {
        return None;
    }
    let lines =
        one.lines().chain(std::iter::repeat("(end)")).zip(two.lines().chain(std::iter::repeat("(end)")));
    let longest = one.lines().count().max(two.lines().count()) + 1;
    let different = lines.take(longest).find(|(one, two)| one != two);
    different.map(|(one, two)| format!("`{one}` against `{two}`"))
}
