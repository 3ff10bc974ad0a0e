//! Transition: a connected host takes over sessions of the built-in host, or sessions without a
//! host. All or none. What was left in an inbox goes to the host as well, in delivery order. A harness that lost its connection
//! in the middle of a turn comes back as busy, and gets the next prompt when that turn ends. While the store fails, durable runs
//! are left out, so that nobody is refused for them; the restart on the loaded rows goes on with them (`whole/restart.rs`).

use std::collections::BTreeSet;

use crate::domain::{Actor, HostId, Reason, Refusal, RunFact, SessionFact, SessionId};
use crate::engine::effect::Effect;
use crate::engine::record::SessionRecord;
use crate::engine::state::State;
use crate::engine::step::run::cut_off::failure_in_flight;
use crate::engine::step::run::dispatch::dispatch_runs;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::session::busy::finish_turn;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn host_sessions(
    step: &mut StepBuilder<'_>,
    host: HostId,
    (sessions, busy): (&[SessionId], Option<bool>),
    by: Option<&Actor>,
) -> Result<(), Refusal> {
    let state = step.state;
    state.check_host(host)?;
    let mut named = BTreeSet::new();
    for id in sessions {
        let record = state.session(id).ok_or_else(|| Refusal::UnknownSession { session: id.clone() })?;
        // Naming a session twice, or one that the host has, is harmless.
        let theirs_already = record.host == host && record.hosted;
        if !named.insert(id) || theirs_already {
            continue;
        }
        if record.hosted && record.host.is_attached() && !record.is_given_up() {
            return Err(Refusal::HostedElsewhere { session: id.clone(), host: record.host });
        }
        let busy = busy.unwrap_or(record.busy);
        if record.hosted {
            // The new host does not know the turn of the built-in one.
            if !has_frozen_turn(state, record) {
                finish_turn(step, record, None);
            }
        }
        // The host of agents finds out from the conversation itself.
        if !record.hosted && !busy && host != HostId::AGENTS && !has_frozen_turn(state, record) {
            lose_turn(step, record);
        }
        if record.host == HostId::AGENTS && host != HostId::AGENTS {
            // It may still have a process in the conversation, which two must not be in.
            step.effect(Effect::ForgetSession { host: HostId::AGENTS, session: id.clone() });
        }
        step.session_fact_by(id, SessionFact::HostAttached { host }, by.cloned());
        if busy {
            // After the host: a session that changes its host is idle.
            step.session_fact_by(id, SessionFact::Busy, by.cloned());
        }
        let reason = if busy { Reason::SessionBusy } else { Reason::DeliveryInFlight };
        let inbox = state.inbox(record).into_iter().filter(|run| !state.stands_still(run));
        for run in inbox.filter_map(|run| state.run_id(run)) {
            step.run_fact(&run, RunFact::Queued { reason });
        }
        // Runs for fresh sessions lacked only a host; of the others, the first gets the lane.
        let waiting = state.in_delivery_order(record.left.iter().chain(&record.waiting));
        dispatch_runs(step, record, host, waiting, &mut (busy || record.in_flight.is_some()));
    }
    Ok(())
}

/// Returns whether the run whose turn goes on in a session stands still until the store works again.
fn has_frozen_turn(state: &State, session: &SessionRecord) -> bool {
    let run = session.turn_of.and_then(|key| state.runs.get(key));
    run.is_some_and(|run| state.stands_still(run))
}

/// Ends the run whose turn went on when the session lost its host, because the one that comes knows no such turn: how it ended is
/// unknown, and the end of the next turn is not its end.
pub(in crate::engine::step) fn lose_turn(step: &mut StepBuilder<'_>, session: &SessionRecord) {
    let run = session.turn_of.and_then(|key| step.state.runs.get(key));
    let Some((run, occurrence)) = run.and_then(|run| Some((run, Occurrence::of(step.state, run)?))) else {
        return;
    };
    let failure = failure_in_flight(
        run,
        Reason::HostLost,
        "the host was lost while the turn went on, and came back idle",
    );
    occurrence.finish(step, RunFact::Failed(Box::new(failure)));
}

impl SessionRecord {
    /// Returns whether its host leaves it to a harness that asks for it: the host of agents does while nothing is under way.
    fn is_given_up(&self) -> bool {
        let is_idle = !self.busy && !self.turn_starting && self.in_flight.is_none();
        self.host == HostId::AGENTS && is_idle
    }
}
