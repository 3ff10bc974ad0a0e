//! One call of a tool of Claude Code's family: arguments in, the tool's own answer out.
//!
//! What lives elsewhere: words and shapes (`dialect::claude_cron`), rules (`engine`). Invariant: an answer shows a job as the
//! change left it, read before anything else could happen.

use super::super::admission::Admitted;
use super::super::{Service, creation};
use super::called::CallLater;
use super::watch::{NotStarted, Start, WatchCall};
use crate::calendar::Slots;
use crate::dialect::claude_cron::{self, Call, Job, JobDraft, MonitorDraft, ProgramCall, Tool, WakeupDraft};
use crate::dialect::{Answer, Notation, unreachable};
use crate::domain::{
    Caller, Dialect, Durability, ExecutorKind, Reason, Refusal, Risk, ScheduleId, SessionId, Status,
    ToolName, ToolSpec, Trigger,
};
use crate::edn::Value;
use crate::engine::{Command, Input, NewSchedule, ScheduleRecord, State, Which};
use crate::runtime::Handle;

/// A call of a tool of the family.
pub(super) struct ClaudeCronCall<'a> {
    pub(super) service: &'a Service,
    pub(super) admitted: Admitted<'a>,
}

impl<'a> ClaudeCronCall<'a> {
    fn caller(&self) -> &'a Caller {
        self.admitted.caller()
    }

    fn handle(&self) -> &'a Handle {
        self.service.handle()
    }

    pub(super) fn call(&self, tool: Tool, args: &Value, notation: Notation) -> Answer {
        let call = match claude_cron::parse(tool, args, notation) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        let Some(session) = self.caller().scope.session() else { return claude_cron::no_session() };
        let done = match call {
            Call::Create(draft) => self.create(draft, session, (args, notation)),
            Call::List(page) => self.jobs(session).map(|jobs| claude_cron::listed(&jobs, &page)),
            Call::Delete { id } => self.delete(&id, session),
            Call::Wakeup(draft) => self.wake(&draft, session),
            Call::Stop => self.stop(session),
            Call::Monitor(draft) => self.monitor(&draft, session),
            Call::Program(program) => Ok(self.no_program(&program, session)),
        };
        done.unwrap_or_else(|refusal| claude_cron::refused(&refusal))
    }

    /// The session's jobs, with its watches if the caller has the tool that starts them.
    fn jobs(&self, session: &SessionId) -> Result<Vec<Job>, Refusal> {
        let jobs = self.handle().view(|state| match state.session(session) {
            Some(_) => Ok(claude_cron::jobs(state, session)),
            None => Err(Refusal::UnknownSession { session: session.clone() }),
        });
        let mut jobs = jobs?;
        let has_monitors = self.service.tool(self.caller(), Tool::Monitor.name()).is_some();
        jobs.retain(|job| has_monitors || !job.is_monitor());
        Ok(jobs)
    }

    fn create(
        &self,
        draft: JobDraft,
        session: &SessionId,
        (args, notation): (&Value, Notation),
    ) -> Result<Answer, Refusal> {
        let possible = creation::durability(self.handle());
        let wanted = draft.durable;
        // Without a store nothing is durable, whatever was wanted. The answer says so.
        let durability = if wanted == Some(false) { Durability::Volatile } else { possible };
        let own = self.handle().view(|state| state.zone_of(Some(session)).cloned());
        let zone = self.handle().zones().usual(own.as_ref()).clone();
        let now = self.handle().now().wall;
        let trigger = Trigger::Cron(draft.cron.clone().into(), zone.clone().into());
        let new = draft.into_new((self.fresh(durability), durability), session.clone(), zone, now);
        let made = self.submit(new, session, Command::CreateSchedule, |state, job| {
            let others: Vec<Job> =
                claude_cron::jobs(state, session).into_iter().filter(|other| other.id != job.id).collect();
            claude_cron::created(job, &others, wanted)
        });
        // Nothing but its age ends such a job before its first match.
        let is_late = matches!(made, Err(Refusal::NoSlot { reason: Reason::Expired }));
        let first = Slots::new(&trigger, self.handle().zones()).first_after(now).filter(|_| is_late);
        first.map_or(made, |first| Ok(claude_cron::matches_too_late(args, notation, first)))
    }

    fn wake(&self, draft: &WakeupDraft, session: &SessionId) -> Result<Answer, Refusal> {
        let durability = creation::durability(self.handle());
        let new = draft.clone().into_new((self.fresh(durability), durability), session.clone());
        self.submit(new, session, Command::ReplaceSchedule, |_, job| claude_cron::woken(job, draft))
    }

    fn fresh(&self, durability: Durability) -> ScheduleId {
        ScheduleId::fresh(durability, || self.handle().now().wall, self.handle().random_bits())
    }

    /// Submits a new schedule, and answers with its job.
    fn submit(
        &self,
        new: NewSchedule,
        session: &SessionId,
        command: impl FnOnce(NewSchedule) -> Command,
        answer: impl Fn(&State, &Job) -> Answer,
    ) -> Result<Answer, Refusal> {
        let id = new.id.clone();
        let made_by = self.caller().maker(session, Some(Dialect::ClaudeCron), None);
        let command = command(NewSchedule { made_by, ..new });
        let made = self.handle().submit_with(Input::Command(command), |state| {
            let record = state.schedule(id.as_ref()?)?;
            Some(answer(state, &Job::of(record)?).warned("warnings", unreachable(state, record)))
        });
        made.map(|answer| answer.expect("a job that was just made is there"))
    }

    fn delete(&self, id: &str, session: &SessionId) -> Result<Answer, Refusal> {
        let found = self.jobs(session)?.into_iter().find(|job| job.id.to_string() == id);
        let Some(job) = found else { return Ok(claude_cron::not_found(id)) };
        // A monitor is a watch, which may listen to its tool. Its end stops that as well.
        let was_there = if job.is_monitor() {
            self.watches().end(&job.id, Dialect::ClaudeCron)?
        } else {
            self.cancel(&job.id)?
        };
        Ok(if was_there { claude_cron::deleted(&job) } else { claude_cron::not_found(id) })
    }

    fn watches(&self) -> WatchCall<'a> {
        WatchCall { service: self.service, admitted: self.admitted }
    }

    fn monitor(&self, draft: &MonitorDraft, session: &SessionId) -> Result<Answer, Refusal> {
        let start = Start {
            watch: &draft.watch,
            lasts: draft.lasts,
            fields: ["tool", "arguments"],
            by: Dialect::ClaudeCron,
        };
        let shown = |record: &ScheduleRecord, warnings: &[String]| {
            Some(claude_cron::monitored(&Job::of(record)?, draft, warnings))
        };
        match self.watches().start(&start, session, shown) {
            Ok(answer) | Err(NotStarted::Answered(answer)) => Ok(answer),
            Err(NotStarted::NeedsApproval) => Ok(claude_cron::unwatchable(&draft.watch.tool)),
            Err(NotStarted::Refused(Refusal::SessionFull { max })) => Ok(claude_cron::full(max)),
            Err(NotStarted::Refused(refusal)) => Err(refusal),
        }
    }

    /// The answer to a monitor of a program: it is refused, and the tools that the caller may watch are named.
    fn no_program(&self, program: &ProgramCall, session: &SessionId) -> Answer {
        let kit = self.handle().tools().of(session);
        // A command looks at something outside, which none of the scheduler's own tools does.
        let outside = kit.tools().filter(|(kind, _)| *kind != ExecutorKind::Own).map(|(_, spec)| spec);
        let specs: Vec<&ToolSpec> = outside.filter(|spec| self.may_watch(spec, session)).collect();
        let names: Vec<&ToolName> = specs.iter().map(|spec| &spec.name).collect();
        claude_cron::no_program(program, claude_cron::instead(program, &specs), &names)
    }

    /// Whether a tool only reads, and the caller may have it called for the session without an operator's approval.
    fn may_watch(&self, spec: &ToolSpec, session: &SessionId) -> bool {
        let asker = (session, self.caller());
        let allowed = || CallLater::allowed(self.handle(), asker, Dialect::Watch, ("tool", &spec.name));
        spec.risk == Risk::Read && allowed().is_ok_and(|found| !found.spec.approval)
    }

    fn stop(&self, session: &SessionId) -> Result<Answer, Refusal> {
        let mut count = 0;
        for job in self.jobs(session)?.into_iter().filter(Job::is_wakeup) {
            count += usize::from(self.cancel(&job.id)?);
        }
        Ok(claude_cron::stopped(count))
    }

    /// Cancels a job. Returns whether there was anything left to cancel.
    fn cancel(&self, id: &ScheduleId) -> Result<bool, Refusal> {
        let which = Which::any(self.caller().actor_with(Dialect::ClaudeCron), id.clone());
        match self.handle().submit(Input::Command(Command::CancelSchedule(which.clone()))) {
            // It is being delivered: that turn goes on, and deleting a durable schedule prevents any other.
            Err(Refusal::NotCancellable { status: Status::InFlight, .. }) => {
                self.handle().submit(Input::Command(Command::DeleteSchedule(which))).map(|()| true)
            }
            Err(Refusal::NotCancellable { .. } | Refusal::UnknownSchedule { .. }) => Ok(false),
            outcome => outcome.map(|()| true),
        }
    }
}
