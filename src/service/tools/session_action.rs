//! One call of a tool of delayed actions: arguments in, the tool's own answer out.
//!
//! What lives elsewhere: words and shapes (`dialect::session_action`), rules (`engine`). Invariant: an answer to a creation
//! shows the action as it was created, read before anything else could happen.

use super::super::Service;
use super::super::admission::Admitted;
use crate::dialect::session_action::{self, Action, ActionDraft, ActionStatus, Call, Refused, Tool};
use crate::dialect::{Answer, Notation, unreachable};
use crate::domain::{Caller, Dialect, Refusal, ScheduleId, SessionId, Trigger};
use crate::edn::Value;
use crate::engine::{Command, Input, NewSchedule, ScheduleRecord, SessionRecord, Which};
use crate::runtime::Handle;

/// A call of a tool of delayed actions.
pub(super) struct ActionCall<'a> {
    pub(super) service: &'a Service,
    pub(super) admitted: Admitted<'a>,
}

impl<'a> ActionCall<'a> {
    fn handle(&self) -> &'a Handle {
        self.service.handle()
    }

    fn caller(&self) -> &'a Caller {
        self.admitted.caller()
    }

    pub(super) fn call(&self, tool: Tool, args: &Value, notation: Notation) -> Answer {
        let Some(session) = self.caller().scope.session() else { return session_action::no_session() };
        let now = self.handle().now().wall;
        let call = match session_action::parse(tool, args, notation, now) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        let done = match call {
            Call::Create(draft) => self.create_action(&draft, session),
            Call::List(page) => self.handle().view(|state| match state.session(session) {
                Some(_) => Ok(session_action::listed(&session_action::listed_of(state, session, now), &page)),
                None => Err(Refusal::UnknownSession { session: session.clone() }),
            }),
            Call::Cancel { action_id } => {
                return self.change_action(Refused::Cancel, &action_id, session);
            }
            Call::RunNow { action_id } => {
                return self.change_action(Refused::Run, &action_id, session);
            }
            Call::JobReady { job } => {
                let ready = Command::JobReady {
                    session: session.clone(),
                    job: job.clone(),
                    by: Some(self.caller().actor_with(Dialect::SessionAction)),
                };
                let waits = |record: &ScheduleRecord| match &record.schedule().trigger {
                    Trigger::Event(event) => event.job == job,
                    Trigger::At(_) | Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..) => false,
                };
                // Asked before the report, which makes those due that wait for it.
                let is_awaited =
                    self.handle().view(|state| state.live_schedules_of(session).into_iter().any(waits));
                self.handle().submit(Input::Command(ready)).map(|()| session_action::ready(&job, is_awaited))
            }
        };
        done.unwrap_or_else(|refusal| session_action::refused(&refusal))
    }

    fn create_action(&self, draft: &ActionDraft, session: &SessionId) -> Result<Answer, Refusal> {
        // Never returned, because the loop runs at least once.
        let mut created = Err(Refusal::Stopping);
        // The ids are short, so one may be in use already: draw another.
        for _ in 0..DRAWS {
            let id = session_action::action_id(self.handle().random_bits());
            let made_by = self.caller().maker(session, Some(Dialect::SessionAction), None);
            let new = NewSchedule { made_by, ..draft.clone().into_new(id.clone(), session.clone()) };
            let replace = Input::Command(Command::ReplaceSchedule(new));
            created = self.handle().submit_with(replace, |state| {
                // The answer says whether the session can be reached right now.
                let record = state.schedule(&id)?;
                let warning = unreachable(state, record);
                let is_hosted = state.session(session).is_some_and(SessionRecord::is_hosted);
                let reach = (is_hosted && warning.is_none(), warning);
                let replaced =
                    session_action::replaced_by(state, record).map(|old| old.schedule().id.clone());
                Action::of(state, record).map(|action| (action, reach, replaced))
            });
            if !matches!(created, Err(Refusal::ScheduleExists { .. })) {
                break;
            }
        }
        let (action, reach, replaced) = created?.expect("an action that was just created is there");
        Ok(session_action::created(&action, reach, replaced.as_ref()))
    }

    fn change_action(&self, what: Refused, action_id: &str, session: &SessionId) -> Answer {
        let not_found = || session_action::not_found(what, action_id);
        let Ok(id) = ScheduleId::new(action_id) else { return not_found() };
        // A schedule of another tool is not an action.
        if self.handle().view(|state| session_action::find(state, session, &id).is_none()) {
            return not_found();
        }
        let which = Which::any(self.caller().actor_with(Dialect::SessionAction), id.clone());
        let command = match what {
            Refused::Cancel => Command::CancelSchedule(which),
            Refused::Run => Command::BringForward(which),
        };
        match self.handle().submit(Input::Command(command)) {
            Ok(()) => match what {
                Refused::Cancel => session_action::cancelled(&id),
                Refused::Run => session_action::started(&id),
            },
            // It has ended or is being delivered: answer with its status instead of an error of the engine.
            Err(Refusal::NotCancellable { .. } | Refusal::WrongStatus { .. }) => {
                session_action::standing(what, action_id, self.action_status(&id))
            }
            Err(Refusal::UnknownSchedule { .. }) => not_found(),
            Err(refusal) => session_action::refused(&refusal),
        }
    }

    fn action_status(&self, id: &ScheduleId) -> ActionStatus {
        let action =
            self.handle().view(|state| state.schedule(id).and_then(|record| Action::of(state, record)));
        action.map_or(ActionStatus::Cancelled, |action| action.status)
    }
}

const DRAWS: u32 = 8;
