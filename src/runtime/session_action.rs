//! One call of a tool of delayed actions: arguments in, the tool's own answer out.
//!
//! What lives elsewhere: words and shapes (`dialect::session_action`), rules (`engine`). Invariant: an answer to a creation
//! shows the action as it was created, read before anything else could happen.

use super::handle::Handle;
use crate::dialect::session_action::{self, Action, ActionStatus, Call, Draft, Refused, Tool};
use crate::dialect::{Answer, Notation};
use crate::domain::{Caller, Dialect, Refusal, ScheduleId, SessionId};
use crate::edn::Value;
use crate::engine::{Command, Input, NewSchedule, SessionRecord, Which};

impl Handle {
    pub(super) fn call_session_action(
        &self,
        tool: Tool,
        caller: &Caller,
        args: &Value,
        notation: Notation,
    ) -> Answer {
        let Some(session) = caller.scope.session() else { return session_action::no_session(tool) };
        let now = self.now().wall;
        let call = match session_action::parse(tool, args, notation, now) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        let done = match call {
            Call::Create(draft) => self.create_action(&draft, session, caller),
            Call::List => self.view(|state| match state.session(session) {
                Some(_) => Ok(session_action::listed(&session_action::listed_of(state, session, now))),
                None => Err(Refusal::UnknownSession { session: session.clone() }),
            }),
            Call::Cancel { action_id } => {
                return self.change_action(Refused::Cancel, &action_id, caller, session);
            }
            Call::RunNow { action_id } => {
                return self.change_action(Refused::Run, &action_id, caller, session);
            }
            Call::JobReady { job } => {
                let ready = Command::JobReady { session: session.clone(), job: job.clone() };
                self.submit(Input::Command(ready)).map(|()| session_action::ready(&job))
            }
        };
        done.unwrap_or_else(|refusal| session_action::refused(&refusal))
    }

    fn create_action(&self, draft: &Draft, session: &SessionId, caller: &Caller) -> Result<Answer, Refusal> {
        let mut created = Err(Refusal::Stopping);
        // The ids are short: one that exists already is drawn anew.
        for _ in 0..DRAWS {
            let id = session_action::action_id(self.draw());
            let made_by = caller.maker(session, Some(Dialect::SessionAction));
            let new = NewSchedule { made_by, ..draft.clone().into_new(id.clone(), session.clone()) };
            let replace = Input::Command(Command::ReplaceSchedule(new));
            created = self.submit_with(replace, |state| {
                let supported = state.session(session).is_some_and(SessionRecord::is_hosted);
                state.schedule(&id).and_then(|record| Action::of(state, record)).map(|it| (it, supported))
            });
            if !matches!(created, Err(Refusal::ScheduleExists { .. })) {
                break;
            }
        }
        let (action, supported) = created?.expect("an action that was just created is there");
        Ok(session_action::created(&action, supported))
    }

    fn change_action(&self, what: Refused, action_id: &str, caller: &Caller, session: &SessionId) -> Answer {
        let not_found = || session_action::not_found(what, action_id);
        let Ok(id) = ScheduleId::new(action_id) else { return not_found() };
        // What other tools have made is none of these.
        if self.view(|state| session_action::find(state, session, &id).is_none()) {
            return not_found();
        }
        let which = Which::any(caller.actor_with(Dialect::SessionAction), id.clone());
        let command = match what {
            Refused::Cancel => Command::CancelSchedule(which),
            Refused::Run => Command::BringForward(which),
        };
        match self.submit(Input::Command(command)) {
            Ok(()) => match what {
                Refused::Cancel => session_action::cancelled(&id),
                Refused::Run => session_action::started(&id),
            },
            Err(Refusal::NotCancellable { .. } | Refusal::WrongStatus { .. }) => {
                session_action::standing(what, action_id, self.action_status(&id))
            }
            Err(Refusal::UnknownSchedule { .. }) => not_found(),
            Err(refusal) => session_action::refused(&refusal),
        }
    }

    fn action_status(&self, id: &ScheduleId) -> ActionStatus {
        let action = self.view(|state| state.schedule(id).and_then(|record| Action::of(state, record)));
        action.map_or(ActionStatus::Cancelled, |action| action.status)
    }
}

const DRAWS: u32 = 8;
