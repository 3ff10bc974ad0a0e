//! A person speaks in a session.

use super::create_schedule::within;
use crate::domain::{Message, Refusal, SessionFact, SessionId};
use crate::engine::draft::Draft;
use crate::engine::effect::Effect;
use crate::limits;

pub(in crate::engine) fn user_message(
    draft: &mut Draft<'_>,
    session: SessionId,
    text: Box<str>,
) -> Result<(), Refusal> {
    let Some(record) = draft.state.session(&session) else {
        return Err(Refusal::UnknownSession { session });
    };
    within(limits::TEXT_BYTES, text.len())?;
    draft.session_fact(&session, SessionFact::UserSpoke);
    let message = Message::user(text, draft.now.wall);
    draft.effect(Effect::RecordMessage { host: record.host, session, message });
    Ok(())
}
