//! Makes room for a fresh session: the oldest one of its family in which nothing is left to do is closed.
//!
//! A fresh session stays after its run, so that its transcript can be read, until its family needs the place. That bounds
//! what one session can open, and still shows the latest runs.

use crate::domain::SessionFact;
use crate::engine::effect::Effect;
use crate::engine::record::SessionRecord;
use crate::engine::step_builder::StepBuilder;
use crate::limits::{self, Limit};

/// Makes room for one more fresh session that a schedule of `origin` opens.
///
/// # Errors
/// The limit that is reached; nothing has changed then.
pub(in crate::engine::step) fn make_room(
    step: &mut StepBuilder<'_>,
    origin: &SessionRecord,
) -> Result<(), Limit> {
    let (state, root) = (step.state, origin.root());
    if !state.has_room(step.creating.len()) {
        return Err(limits::SESSIONS);
    }
    // Sessions that this step has begun to create are not in the state yet.
    let begun = step.creating.iter().filter(|other| *other == root).count();
    if ((state.fresh_count(root) + begun) as u64) < limits::FRESH_SESSIONS.value {
        return Ok(());
    }
    // The origin itself stays open, because the fresh session inherits from it.
    let spent =
        state.spent_sessions(root).filter(|session| session.id != origin.id && !step.closes(&session.id));
    // A message in an inbox can be taken only while its session is open, so those sessions go last.
    let spent = spent.min_by_key(|session| !session.left.is_empty());
    let spent = spent.ok_or(limits::FRESH_SESSIONS)?;
    step.session_fact(&spent.id, SessionFact::Closed);
    step.effect(Effect::ForgetSession { host: spent.host, session: spent.id.clone() });
    Ok(())
}
