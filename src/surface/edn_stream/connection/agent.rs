//! Performs what the hooks of an agent, its waiter and its tool server ask for.
//!
//! What lives elsewhere: parsing it (`agent_request.rs`), and what it does (`service/agents.rs`).

use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use super::{Connection, Outcome};
use crate::domain::SessionId;
use crate::edn::{Map, Value};
use crate::service::Shown;
use crate::surface::edn_stream::agent_request::AgentRequest;
use crate::surface::edn_stream::error::RequestError;
use crate::surface::edn_stream::print;

impl Connection {
    /// Executes a request of an agent's hook.
    pub(super) fn agent(&mut self, request: AgentRequest) -> Result<Outcome, RequestError> {
        let told = |session: Option<SessionId>| {
            let session = session.map(|session| Value::string(session.as_str()));
            Outcome::Done(Map::new().with("session-id", session).into())
        };
        match request {
            AgentRequest::Bind(process, address) => {
                let bound = self.service.bind_agent(&self.caller, &process, *address)?;
                Ok(told(Some(bound)))
            }
            AgentRequest::Whose(process) => Ok(told(self.service.agent_session(&self.caller, &process)?)),
            AgentRequest::Handed(session, run) => {
                self.service.hand_over(&self.caller, &self.own(), &session, run)?;
                Ok(Outcome::Done(Map::new().into()))
            }
            AgentRequest::Shown(session, run) => {
                let shown = self.service.show(&self.caller, &session, run)?;
                Ok(Outcome::Done(Map::new().with("elsewhere?", shown == Shown::Elsewhere).into()))
            }
            AgentRequest::Idle { session, unshown_stays } => {
                let end = self.service.end_turn(&self.caller, &session, unshown_stays)?;
                let told = Map::new().with("coming?", end.is_coming).with("awaited?", end.is_awaited);
                Ok(Outcome::Done(told.into()))
            }
            AgentRequest::Schedules(session, said) => {
                self.service.note_agent_schedules(&self.caller, session, said)?;
                Ok(Outcome::Done(Map::new().into()))
            }
            AgentRequest::Release(session, process) => {
                self.service.release_agent(&self.caller, &session, process.as_ref())?;
                Ok(Outcome::Done(Map::new().into()))
            }
            AgentRequest::Wait { session, busy } => {
                self.begin_take_over(std::slice::from_ref(&session))?;
                // Room for one message, so that the release is not lost if it comes before `close` waits for it.
                let (over, is_over) = sync_channel(1);
                let outgoing = Arc::clone(&self.outgoing);
                let release = Box::new(move || {
                    outgoing.send(&print::released());
                    // Its client may be gone, and its connection closed.
                    let _ = over.try_send(());
                });
                let ways = (|| self.become_host(), release as Box<dyn FnOnce() + Send>);
                let asked = (&session, busy);
                let waits = self.service.await_delivery(&self.caller, &mut self.own(), asked, ways)?;
                if waits {
                    self.taken = Some(vec![session.clone()]);
                    self.awaited = Some((session, is_over));
                }
                Ok(Outcome::Done(Map::new().with("waits?", waits).into()))
            }
        }
    }
}
