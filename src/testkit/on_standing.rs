//! Laws about the state as it stands after a step, judged against everything seen until then.

use super::books::{Books, Life};
use super::laws::{Standing, StandingLaw};
use crate::domain::{Kind, ScheduleId, Status, Target};
use crate::engine::{Mode, ScheduleRecord, SessionRecord, State};
use crate::limits;

macro_rules! named {
    ($($law:ident),+ $(,)?) => { &[$((stringify!($law), $law as StandingLaw)),+] };
}

/// Those that are quick enough for every step.
pub(super) const ALL: &[(&str, StandingLaw)] = named![
    accounting_balances,
    nothing_silent,
    nothing_waits_without_cause,
    nothing_due_is_left,
    limits_hold,
    created_sessions_are_real,
    nothing_lives_after_shutdown,
];

/// Those that read the whole state as text.
pub(super) const DEEP: &[(&str, StandingLaw)] = named![fold_is_state];

type Verdict = Result<(), String>;

/// Expected = delivered + skipped + cancelled + failed + lost + pending, and each is what was seen.
fn accounting_balances(books: &Books, standing: &Standing<'_>) -> Verdict {
    let (ledger, counts) = (standing.state.ledger(), &books.counts);
    hold(ledger.imbalance() == 0, || format!("{ledger:?} is out by {}", ledger.imbalance()))?;
    let booked = [ledger.expected, ledger.delivered, ledger.cancelled, ledger.failed, ledger.pending];
    let seen = [counts.created, counts.delivered, counts.cancelled, counts.failed, counts.live()];
    hold(booked == seen, || format!("{ledger:?}, but seen were {counts:?}"))?;
    let records = standing.state.schedules();
    let live = records.iter().filter(|record| !record.status().is_terminal()).count() as u64;
    hold(live == ledger.pending, || format!("{live} records have not ended, but {ledger:?}"))
}

/// Every schedule that has not ended has a deadline or says why it waits; every one that has ended says how.
fn nothing_silent(books: &Books, standing: &Standing<'_>) -> Verdict {
    for (id, life) in &books.lives {
        let record = standing.state.schedule(id);
        match (life.end, record) {
            (None, None) => return Err(format!("{id} has vanished without an end")),
            (None, Some(record)) => not_silent(standing.state, id, record)?,
            (Some(end), Some(record)) => {
                hold(record.status() == end, || {
                    format!("{id} ended as {end:?}, but is {:?}", record.status())
                })?;
            }
            (Some(_), None) => may_be_forgotten(books, standing.state, id, life)?,
        }
    }
    Ok(())
}

fn not_silent(state: &State, id: &ScheduleId, record: &ScheduleRecord) -> Verdict {
    let speaks = match record.status() {
        Status::Pending | Status::InFlight => state.deadline(id).is_some(),
        // What it waits for is the next law's; a stopping engine calls it off at its next turn.
        Status::Queued => record.run().is_some(),
        Status::Delivered | Status::Cancelled | Status::Failed => false,
    };
    hold(speaks, || format!("{id} is {:?} with neither deadline nor reason", record.status()))
}

fn may_be_forgotten(books: &Books, state: &State, id: &ScheduleId, life: &Life) -> Verdict {
    let full = || {
        let all = state.schedules_of(&life.owner).len();
        let live = state.live_schedules_of(&life.owner).len();
        (all - live) as u64 >= limits::FINISHED_KEPT.value
    };
    let right = life.orphaned || !books.lanes.contains_key(&life.owner) || full();
    hold(right, || format!("{id} was forgotten although {} is open and has room", life.owner))
}

/// While the engine runs, a run waits only as long as something stands in its way.
fn nothing_waits_without_cause(books: &Books, standing: &Standing<'_>) -> Verdict {
    let state = standing.state;
    if state.mode() != Mode::Running {
        return Ok(());
    }
    for session in state.sessions() {
        let turn_owed = books.lanes.get(session.id()).is_some_and(|lane| lane.turn_owed);
        let lane_taken = session.is_busy() || session.has_delivery_in_flight() || turn_owed;
        for record in state.waiting(session) {
            let cause = !session.is_hosted() || lane_taken && record.schedule().target() == Target::Owner;
            let said = state.waits_for(record);
            let id = &record.schedule().id;
            hold(cause && said.is_some(), || format!("{id} waits for {}, as for {said:?}", session.id()))?;
        }
    }
    Ok(())
}

/// After its turn, the engine has left nothing that was due.
fn nothing_due_is_left(_: &Books, standing: &Standing<'_>) -> Verdict {
    let next = standing.state.next_wake().filter(|next| standing.turned && *next <= standing.now.boot);
    hold(next.is_none(), || format!("{next:?} was due at {:?}", standing.now.boot))
}

/// No count exceeds its bound in `limits`.
fn limits_hold(_: &Books, standing: &Standing<'_>) -> Verdict {
    let state = standing.state;
    let sessions = state.sessions();
    let finished = |session: &&SessionRecord| state.schedules_of(session.id()).len() - session.live_count();
    let live = sessions.iter().map(|session| session.live_count()).max().unwrap_or(0);
    let kept = sessions.iter().map(finished).max().unwrap_or(0);
    let session_live_max = standing.session_live_max.map_or(u64::MAX, u64::from);
    let bounds = [
        ("schedules", state.live_count(), limits::SCHEDULES.value),
        ("sessions", sessions.len() as u64, limits::SESSIONS.value),
        ("finished schedules kept in one session", kept as u64, limits::FINISHED_KEPT.value),
        ("unfinished schedules in one session", live as u64, session_live_max),
    ];
    let broken = bounds.into_iter().find(|(_, count, bound)| count > bound);
    hold(broken.is_none(), || format!("{broken:?}"))
}

/// A schedule names a session as created by it only if it is of the kind that creates one, and one was created.
fn created_sessions_are_real(books: &Books, standing: &Standing<'_>) -> Verdict {
    for record in standing.state.schedules() {
        let Some(session) = record.created_session() else { continue };
        let schedule = record.schedule();
        let kind = schedule.payload.kind() == Kind::Session;
        hold(kind, || format!("{} creates no sessions, but names {session}", schedule.id))?;
        let asked = books.lives.get(&schedule.id).and_then(|life| life.dispatched.as_ref());
        let same = asked.is_some_and(|(_, asked)| asked == session);
        hold(same, || format!("{} names {session}, but dispatched was {asked:?}", schedule.id))?;
    }
    Ok(())
}

/// Once the engine has stopped, every schedule has ended and nothing has a deadline.
fn nothing_lives_after_shutdown(books: &Books, standing: &Standing<'_>) -> Verdict {
    let live = standing.state.live_count();
    hold(!books.stopped || live == 0, || format!("{live} schedules live after the shutdown"))
}

/// The state is the fold of the facts: both print alike and wake alike.
fn fold_is_state(books: &Books, standing: &Standing<'_>) -> Verdict {
    let (fold, state) = (&books.fold, standing.state);
    if let Some(difference) = first_difference(&fold.to_string(), &state.to_string()) {
        return Err(difference);
    }
    let (one, two) = (fold.next_wake(), state.next_wake());
    hold(one == two, || format!("the fold wakes at {one:?}, the state at {two:?}"))
}

/// The first line in which two texts differ.
pub(super) fn first_difference(one: &str, two: &str) -> Option<String> {
    if one == two {
        return None;
    }
    let lines =
        one.lines().chain(std::iter::repeat("(end)")).zip(two.lines().chain(std::iter::repeat("(end)")));
    let longest = one.lines().count().max(two.lines().count()) + 1;
    let different = lines.take(longest).find(|(one, two)| one != two);
    different.map(|(one, two)| format!("`{one}` against `{two}`"))
}

fn hold(holds: bool, detail: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(detail()) }
}
