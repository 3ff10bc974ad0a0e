//! Transition: a session is pinged. The ping is retained until the next one of its name.

use crate::domain::{Actor, PingName, Refusal, SessionFact, SessionId};
use crate::engine::step_builder::StepBuilder;
use crate::limits;

pub(in crate::engine) fn ping(
    step: &mut StepBuilder<'_>,
    session: &SessionId,
    name: PingName,
    by: Option<Actor>,
) -> Result<(), Refusal> {
    let record = step.state.session_at_work(session)?;
    let names = u64::try_from(record.pings().all().len()).unwrap_or(u64::MAX);
    // A known name takes no further room.
    if record.pings().at(&name).is_none() && names >= limits::SESSION_PINGS.value {
        return Err(Refusal::LimitReached { limit: limits::SESSION_PINGS });
    }
    // A ping says that a job ran, so the time that counts is that of people, which a restart does not change.
    let at = step.now.wall;
    step.session_fact_by(session, SessionFact::Pinged { name, at }, by);
    Ok(())
}
