//! Transition: a connected host goes in good order, after the turn that it was attached for. The run of that turn has ended
//! with it; a prompt that is still without a receipt is lost, as with any host that is gone.

use crate::domain::{HostId, RunState};
use crate::engine::record::SessionRecord;
use crate::engine::step::session::busy::finish_turn;
use crate::engine::step::session::host_lost::{go, sessions_of};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn host_left(step: &mut StepBuilder<'_>, host: HostId) {
    let sessions: Vec<&SessionRecord> = sessions_of(step.state, host);
    let by = step.state.connector_of(host);
    for session in sessions {
        finish_turn(step, session, by.clone());
    }
    go(step, host, |_, run| run.run.state == RunState::InFlight);
}
