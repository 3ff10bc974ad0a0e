//! Takes messages out of the inbox of a session in which nobody listens.

use std::sync::Arc;

use super::{CallerMutator, refused};
use crate::domain::{Message, Refusal, RunId, SessionId};
use crate::edn::{Map, Value};
use crate::engine::{Command, Input, RunRecord, State};
use crate::graph::attr::taken_message;
use crate::graph::mutation::TakeRequest;
use crate::graph::registry::ResolverError;
use crate::limits;

impl CallerMutator<'_> {
    /// Takes the first messages of an inbox, which count as delivered from then on, and answers with their texts.
    pub(super) fn take_messages(&self, request: TakeRequest) -> Result<Value, ResolverError> {
        let session = self.session(request.of.session, "session-id")?;
        let most = usize::try_from(request.count.first.unwrap_or(FIRST)).unwrap_or(usize::MAX);
        let missing = || refused(&Refusal::UnknownSession { session: session.clone() });
        let mut conflict = None;
        // Of two callers who take at once one is refused; it reads again, what the other has not taken.
        for _ in 0..ATTEMPTS {
            let messages = self.left(&session, most).ok_or_else(missing)?;
            let runs = messages.iter().map(|(run, _)| run.clone()).collect();
            let command = Command::TakeLeft { session: session.clone(), runs, by: Some(self.actor()) };
            let left = |state: &State| state.session(&session).map_or(0, |record| state.inbox(record).len());
            match self.handle().submit_with(Input::Command(command), left) {
                Ok(left) => return Ok(answer(&session, &messages, left)),
                Err(refusal @ Refusal::NotLeft { .. }) => conflict = Some(refusal),
                Err(refusal) => return Err(refused(&refusal)),
            }
        }
        Err(conflict.map_or_else(missing, |refusal| refused(&refusal)))
    }

    /// The first messages of an inbox whose texts are there, oldest first; `None` if the session is not open.
    fn left(&self, session: &SessionId, most: usize) -> Option<Vec<(RunId, Arc<Message>)>> {
        let runs = self.handle().view(|state| {
            let id = |run: &RunRecord| state.run_id(run);
            Some(state.inbox(state.session(session)?).into_iter().filter_map(id).collect::<Vec<RunId>>())
        })?;
        let transcript = self.handle().sessions().transcript(session).unwrap_or_default();
        let message = |run: RunId| {
            let of_run = |it: &&Arc<Message>| it.provenance.as_ref().is_some_and(|said| said.run == run);
            let message = transcript.messages.iter().rev().find(of_run).cloned()?;
            Some((run, message))
        };
        let mut bytes = 0;
        let fits = |(_, message): &(RunId, Arc<Message>)| {
            // The first one is taken however long it is: otherwise it would stay in front for ever.
            let is_first = bytes == 0;
            bytes += message.bytes();
            is_first || bytes as u64 <= limits::TAKEN_BYTES.value
        };
        Some(runs.into_iter().filter_map(message).take(most).take_while(fits).collect())
    }
}

fn answer(session: &SessionId, messages: &[(RunId, Arc<Message>)], left: usize) -> Value {
    let taken = messages.iter().map(|(run, message)| taken_message(run, message).into());
    Map::new()
        .with("psi.agent-session/session-id", session.as_str())
        .with("psi.agent-session/taken", taken.collect::<Vec<Value>>())
        .with("psi.agent-session/inbox-count", i64::try_from(left).unwrap_or(i64::MAX))
        .into()
}

/// Messages that are taken at once unless the caller says how many.
const FIRST: u32 = 20;
/// How often the inbox is read again because another caller was faster.
const ATTEMPTS: usize = 8;
