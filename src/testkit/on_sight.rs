//! Laws about the next thing seen, judged against everything seen before it.

use super::books::{Books, Life};
use super::history::{Observation, Reception, Seen};
use super::laws::SightLaw;
use crate::dialect::REQUEST_CAPS;
use crate::domain::{Fact, HandOver, Phase, RunFact, ScheduleId, SessionFact, SessionId, Status};
use crate::edn::{Caps, Value, read};
use crate::runtime::facts;

macro_rules! named {
    ($($law:ident),+ $(,)?) => { &[$((stringify!($law), $law as SightLaw)),+] };
}

/// All of them.
pub(super) const ALL: &[(&str, SightLaw)] = named![
    a_session_opens_once,
    a_schedule_is_created_once,
    terminal_is_final,
    a_slot_is_claimed_once,
    never_early,
    cancel_holds,
    a_session_cancels_its_own,
    at_most_once,
    nothing_unasked,
    delivered_means_received,
    first_due_first_served,
    one_in_flight,
    one_delivery_per_idle_transition,
    delivered_where_it_lives,
    a_lost_host_holds_nothing,
    stopping_starts_nothing,
    nothing_after_shutdown,
    a_fact_can_be_kept,
];

type Verdict = Result<(), String>;

/// A fact printed for a log reads back as itself, from the text.
fn a_fact_can_be_kept(_: &Books, seen: &Observation) -> Verdict {
    let Seen::Fact(fact) = &seen.seen else { return Ok(()) };
    let text = Value::Map(facts::print(fact)).to_string();
    let form = read(text.as_bytes(), &LOG_CAPS).map_err(|error| format!("{error}: {text}"))?;
    let again = form.as_map().ok_or("a fact is a map")?;
    let again = facts::parse(again).map_err(|error| format!("{error}: {text}"))?;
    hold(again == *fact, || format!("{fact:?} came back as {again:?}"))
}

/// A fact may hold a whole configuration, and is longer than a request.
const LOG_CAPS: Caps = Caps { bytes_max: 1 << 28, forms_max: u32::MAX, ..REQUEST_CAPS };

/// No session is opened while one of that id is open.
fn a_session_opens_once(books: &Books, seen: &Observation) -> Verdict {
    let Seen::Fact(Fact::Session(session, SessionFact::Opened { .. })) = &seen.seen else { return Ok(()) };
    hold(!books.lanes.contains_key(session), || format!("{session} is open already"))
}

/// No schedule is created while one of that id has not ended.
fn a_schedule_is_created_once(books: &Books, seen: &Observation) -> Verdict {
    let Seen::Fact(Fact::Created { schedule, .. }) = &seen.seen else { return Ok(()) };
    let former = books.lives.get(&schedule.id);
    hold(former.is_none_or(|life| life.end.is_some()), || format!("{} lives already", schedule.id))
}

/// A schedule ends once; nothing happens to it after that, or before its creation.
fn terminal_is_final(books: &Books, seen: &Observation) -> Verdict {
    let Some((id, fact)) = run_fact(seen) else { return Ok(()) };
    let life = books.lives.get(id).ok_or_else(|| format!("{id} was never created, and then {fact:?}"))?;
    hold(life.end.is_none(), || format!("{id} had ended as {:?}, and then {fact:?}", life.end))
}

/// A slot is claimed once, as itself, and before anything else comes of it; only a cancel needs no claim.
fn a_slot_is_claimed_once(books: &Books, seen: &Observation) -> Verdict {
    let Some((id, fact)) = run_fact(seen) else { return Ok(()) };
    let Some(life) = books.lives.get(id) else { return Ok(()) };
    let right = match fact {
        RunFact::Claimed { slot, .. } => !life.claimed && *slot == life.slot,
        RunFact::Cancelled { .. } => true,
        RunFact::Queued { .. } | RunFact::Dispatched(_) | RunFact::Delivered | RunFact::Failed(_) => {
            life.claimed
        }
    };
    hold(right, || format!("{id} with slot {} and claimed {}, and then {fact:?}", life.slot, life.claimed))
}

/// No slot is claimed and no host is reached before the slot has come on the boot clock.
fn never_early(books: &Books, seen: &Observation) -> Verdict {
    let id = match &seen.seen {
        Seen::Fact(Fact::Run(id, RunFact::Claimed { .. } | RunFact::Dispatched(_))) => id,
        Seen::Received(reception) => &reception.run.schedule,
        Seen::Fact(_) | Seen::CancelAcknowledged { .. } | Seen::HostLost(_) | Seen::ShutDown => return Ok(()),
    };
    let Some(life) = books.lives.get(id) else { return Ok(()) };
    let early = life.earliest.since(seen.now.boot);
    hold(life.earliest <= seen.now.boot, || format!("{id} is {} ns early", early.nanos()))
}

/// Once a caller was told that a schedule is cancelled, it is, and no host hears of it.
fn cancel_holds(books: &Books, seen: &Observation) -> Verdict {
    match &seen.seen {
        Seen::CancelAcknowledged { schedule, .. } => {
            let end = books.lives.get(schedule).and_then(|life| life.end);
            hold(end == Some(Status::Cancelled), || {
                format!("{schedule} was acknowledged as cancelled, but is {end:?}")
            })
        }
        Seen::Received(Reception { run, .. }) => {
            let cancelled = books.lives.get(&run.schedule).is_some_and(|life| life.cancel_acknowledged);
            hold(!cancelled, || format!("{run} reached a host after its cancel was acknowledged"))
        }
        Seen::Fact(_) | Seen::HostLost(_) | Seen::ShutDown => Ok(()),
    }
}

/// A session's scope reaches that session's schedules and no others.
fn a_session_cancels_its_own(books: &Books, seen: &Observation) -> Verdict {
    let Seen::CancelAcknowledged { scope, schedule } = &seen.seen else { return Ok(()) };
    let covered = books.lives.get(schedule).is_none_or(|life| scope.covers(&life.owner));
    hold(covered, || format!("{scope:?} cancelled {schedule}"))
}

/// A host hears of a run at most once in each phase.
fn at_most_once(books: &Books, seen: &Observation) -> Verdict {
    let Some((reception, life)) = received(books, seen) else { return Ok(()) };
    let first = !life.received.contains(&reception.phase);
    hold(first, || format!("{} came twice to {}", reception.run, reception.phase.name()))
}

/// A host hears only of what the engine decided: that run, that phase, that session.
fn nothing_unasked(books: &Books, seen: &Observation) -> Verdict {
    let Seen::Received(reception) = &seen.seen else { return Ok(()) };
    let asked = books.lives.get(&reception.run.schedule).and_then(|life| {
        let same_run = reception.run.slot == life.slot && reception.run.incarnation == 1;
        life.dispatched.as_ref().filter(|_| same_run)
    });
    let right =
        asked.is_some_and(|(phase, session)| *phase == reception.phase && *session == reception.session);
    hold(right, || format!("a host received {reception:?}, dispatched was {asked:?}"))
}

/// What counts as delivered has reached a host, as a prompt.
fn delivered_means_received(books: &Books, seen: &Observation) -> Verdict {
    let Some((id, RunFact::Delivered)) = run_fact(seen) else { return Ok(()) };
    let received = books.lives.get(id).is_some_and(|life| life.received.contains(&Phase::PromptSubmit));
    hold(received, || format!("{id} counts as delivered, but no host received its prompt"))
}

/// Of the runs that wait for a lane, the first by (slot, created-at, id) gets it.
fn first_due_first_served(books: &Books, seen: &Observation) -> Verdict {
    let Some((id, session)) = submitted(seen) else { return Ok(()) };
    let (Some(life), Some(lane)) = (books.lives.get(id), books.lanes.get(session)) else { return Ok(()) };
    let first = lane.waiting.first().filter(|first| **first < life.order);
    hold(first.is_none(), || format!("{id} went into {session} although {first:?} waited before it"))
}

/// At most one delivery per session waits for its receipt.
fn one_in_flight(books: &Books, seen: &Observation) -> Verdict {
    let Some((id, session)) = submitted(seen) else { return Ok(()) };
    let other = books.lanes.get(session).and_then(|lane| lane.in_flight.as_ref());
    hold(other.is_none(), || format!("{id} went into {session} while {other:?} was out"))
}

/// After a prompt that a connected host took, the next waits for the session to become idle.
fn one_delivery_per_idle_transition(books: &Books, seen: &Observation) -> Verdict {
    let Some((id, session)) = submitted(seen) else { return Ok(()) };
    let owed = books.lanes.get(session).is_some_and(|lane| lane.attached && lane.turn_owed);
    hold(!owed, || format!("{id} went into {session} before the turn of the last delivery ended"))
}

/// A prompt goes to the host where its session is: opened there, created there, or taken over by it.
fn delivered_where_it_lives(books: &Books, seen: &Observation) -> Verdict {
    let Seen::Received(reception) = &seen.seen else { return Ok(()) };
    let home = books.homes.get(&reception.session);
    let right = reception.phase == Phase::CreateSession || home == Some(&reception.host);
    hold(right, || format!("{reception:?}, but the session is at {home:?}"))
}

/// What a lost host was working on has ended: its receipt can no longer come.
fn a_lost_host_holds_nothing(books: &Books, seen: &Observation) -> Verdict {
    let Seen::HostLost(host) = &seen.seen else { return Ok(()) };
    let held = books.lives.iter().find(|(_, life)| life.end.is_none() && life.with == Some(*host));
    hold(held.is_none(), || format!("{host} is lost, but {held:?} is out to it"))
}

/// From the word to stop on, nothing is created and no run goes to a host that had not gone there before.
fn stopping_starts_nothing(books: &Books, seen: &Observation) -> Verdict {
    let starts = match &seen.seen {
        Seen::Fact(Fact::Created { .. }) => true,
        Seen::Fact(Fact::Run(id, RunFact::Claimed { .. } | RunFact::Dispatched(_))) => {
            books.lives.get(id).is_some_and(|life| life.dispatched.is_none())
        }
        Seen::Fact(_)
        | Seen::Received(_)
        | Seen::CancelAcknowledged { .. }
        | Seen::HostLost(_)
        | Seen::ShutDown => false,
    };
    hold(!(books.stopping && starts), || format!("while the engine stops came {:?}", seen.seen))
}

/// Once a caller was told that the engine has stopped, it claims nothing, hands over nothing and takes nothing.
fn nothing_after_shutdown(books: &Books, seen: &Observation) -> Verdict {
    let work = match &seen.seen {
        Seen::Received(_) | Seen::Fact(Fact::Run(..) | Fact::Created { .. }) => true,
        Seen::Fact(Fact::Session(_, fact)) => matches!(fact, SessionFact::Opened { .. }),
        Seen::Fact(Fact::Stopping { .. } | Fact::Host(..))
        | Seen::CancelAcknowledged { .. }
        | Seen::HostLost(_)
        | Seen::ShutDown => false,
    };
    hold(!(books.stopped && work), || format!("after the shutdown came {:?}", seen.seen))
}

fn hold(holds: bool, detail: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(detail()) }
}

fn run_fact(seen: &Observation) -> Option<(&ScheduleId, &RunFact)> {
    if let Seen::Fact(Fact::Run(id, fact)) = &seen.seen { Some((id, fact)) } else { None }
}

fn submitted(seen: &Observation) -> Option<(&ScheduleId, &SessionId)> {
    let (id, fact) = run_fact(seen)?;
    if let RunFact::Dispatched(HandOver { phase: Phase::PromptSubmit, session, .. }) = fact {
        Some((id, session))
    } else {
        None
    }
}

fn received<'a>(books: &'a Books, seen: &'a Observation) -> Option<(&'a Reception, &'a Life)> {
    let Seen::Received(reception) = &seen.seen else { return None };
    Some((reception, books.lives.get(&reception.run.schedule)?))
}
