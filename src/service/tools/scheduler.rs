//! One call of a tool of the scheduler: arguments in, the tool's own answer out.
//!
//! What lives elsewhere: words and shapes (`dialect::scheduler`), rules (`engine`). Invariant: an answer shows a job as the
//! change left it, read before anything else could happen.

use super::super::Service;
use super::super::admission::{Admitted, admit_change};
use super::called::CallLater;
use crate::dialect::scheduler::{self, Call, JobDraft, RemindDraft, Tool, job_id};
use crate::dialect::{Answer, Notation, unreachable};
use crate::domain::{Caller, CallerRole, Dialect, Refusal, ScheduleId, SessionId, Status};
use crate::edn::Value;
use crate::engine::{Command, Input, NewSchedule, ScheduleRecord, State, Which};
use crate::runtime::Handle;

/// A call of a tool of the scheduler.
pub(super) struct SchedulerCall<'a> {
    pub(super) service: &'a Service,
    pub(super) admitted: Admitted<'a>,
}

impl<'a> SchedulerCall<'a> {
    fn handle(&self) -> &'a Handle {
        self.service.handle()
    }

    fn caller(&self) -> &'a Caller {
        self.admitted.caller()
    }

    pub(super) fn call(&self, tool: Tool, args: &Value, notation: Notation) -> Answer {
        let asked = (self.handle().now().wall, &**self.handle().zones());
        let call = match scheduler::parse(tool, args, notation, asked) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        let Some(session) = self.caller().scope.session() else { return scheduler::no_session() };
        match call {
            Call::Schedule(draft) => self.schedule(*draft, session),
            Call::Remind(draft) => self.remind(*draft, session),
            Call::Cancel(id) => self.cancel(&id),
        }
    }

    fn schedule(&self, draft: JobDraft, session: &SessionId) -> Answer {
        let (tool, args) = (("action", &draft.action), ("args", &draft.args));
        let later =
            match CallLater::find(self.handle(), (session, self.caller()), Dialect::Scheduler, tool, args) {
                Ok(later) => later,
                Err(answer) => return answer,
            };
        if let Some(answer) = draft.output_channel.as_deref().and_then(|channel| self.closed(channel)) {
            return answer;
        }
        let (timed, warnings) = (draft.timed.clone(), draft.warnings.clone());
        let new = |id| later.of(draft.into_new(id, session.clone()));
        self.put(timed.name.as_deref(), session, new, |state, record| {
            // Without a time to wait for operators nothing waits for an approval.
            let waits = later.spec.approval && state.guard().is_some_and(|policy| policy.approval.is_some());
            let approval = waits.then(|| scheduler::needs_approval(&later.spec.name));
            let of_clock = timed.warnings.iter().map(ToString::to_string);
            let warnings = of_clock.chain(warnings.iter().copied().map(str::to_owned)).chain(approval);
            let warnings = warnings.chain(unreachable(state, record));
            scheduler::scheduled(record, &timed.zone, warnings.collect())
        })
    }

    fn remind(&self, draft: RemindDraft, session: &SessionId) -> Answer {
        let timed = draft.timed.clone();
        let new = |id| draft.into_new(id, session.clone());
        self.put(timed.name.as_deref(), session, new, |state, record| {
            let warnings = timed.warnings.iter().map(ToString::to_string).chain(unreachable(state, record));
            scheduler::reminded(record, &timed.zone, session, warnings.collect())
        })
    }

    /// Creates a job, or defines the one of its name anew.
    fn put(
        &self,
        name: Option<&str>,
        session: &SessionId,
        new: impl FnOnce(ScheduleId) -> NewSchedule,
        answer: impl FnOnce(&State, &ScheduleRecord) -> Answer,
    ) -> Answer {
        let app = self.handle().view(|state| state.primitives().app.clone());
        // The name of a job is part of its id, so a second job of the name has the id of the first.
        let Some(id) = job_id(&app, name, self.handle().random_bits()) else {
            return scheduler::taken(name.unwrap_or_default());
        };
        // The step decides whether the job that has the name may be replaced: until then somebody else may take the name.
        let is_bound = self.caller().is_bound()
            && !self.handle().view(|state| state.effective_grant(session).cron_others);
        let of = is_bound.then(|| session.clone());
        let made_by = self.caller().maker(session, Some(Dialect::Scheduler), None);
        let new = NewSchedule { made_by, ..new(id.clone()) };
        // The answer is read in the step of the change, before anything else can change the job.
        let done = self.handle().submit_with(Input::Command(Command::Supersede { new, of }), |state| {
            state.schedule(&id).map(|record| answer(state, record))
        });
        match done {
            Ok(answer) => answer.expect("a job that was just created is there"),
            Err(Refusal::ScheduleExists { .. } | Refusal::WrongStatus { .. }) => {
                scheduler::taken(&id.to_string())
            }
            Err(refusal) => scheduler::refused(&refusal),
        }
    }

    /// The refusal of a channel that is not there, or not open to the caller.
    fn closed(&self, channel: &str) -> Option<Answer> {
        let is_operator = self.caller().role == CallerRole::Operator;
        self.handle().view(|state| {
            let open =
                state.channels().filter(|it| it.disabled_at.is_none() && (is_operator || it.channel.agents));
            let open: Vec<&str> = open.map(|it| &*it.channel.name).collect();
            (!open.contains(&channel)).then(|| scheduler::no_channel(channel, &open))
        })
    }

    fn cancel(&self, id: &str) -> Answer {
        let not_found = || scheduler::not_found(id);
        let Ok(schedule) = ScheduleId::new(id) else { return not_found() };
        let ran = self.handle().view(|state| {
            let record = state.schedule(&schedule)?;
            let is_job = record.schedule().dialect == Dialect::Scheduler && !record.status().is_terminal();
            is_job.then(|| record.progress().runs.max(u64::from(record.status() == Status::InFlight)))
        });
        let Some(ran) = ran.filter(|_| admit_change(self.handle(), self.caller(), &schedule).is_ok()) else {
            return not_found();
        };
        let which = Which::any(self.caller().actor_with(Dialect::Scheduler), schedule.clone());
        // What a host has already is delivered all the same, so that a cancel would not hold.
        match self.handle().submit(Input::Command(Command::CancelSchedule(which))) {
            Ok(()) => scheduler::cancelled(&schedule, ran),
            Err(refusal @ Refusal::NotCancellable { status: Status::InFlight, .. }) => {
                scheduler::refused(&refusal)
            }
            Err(Refusal::UnknownSchedule { .. } | Refusal::NotCancellable { .. }) => not_found(),
            Err(refusal) => scheduler::refused(&refusal),
        }
    }
}
