//! One call of a tool of scheduled tasks: arguments in, the tool's own answer out.
//!
//! What lives elsewhere: words and shapes (`dialect::cron`), rules (`engine`). Invariant: an answer to a change shows the job
//! as that change left it, read before anything else could happen.

use super::super::Service;
use super::super::admission::{self, Admitted};
use crate::dialect::cron::{self, Base, Call, CronContext, JobDraft, JobView, NextRuns, Patch, Tool};
use crate::dialect::{Answer, Notation, unreachable};
use crate::domain::{Caller, Dialect, Refusal, SessionId, Zone};
use crate::edn::Value;
use crate::engine::{Command, Input, NewSchedule, ScheduleRecord, State, Which};
use crate::runtime::Handle;

/// A call of a tool of scheduled tasks.
pub(super) struct CronCall<'a> {
    pub(super) service: &'a Service,
    pub(super) admitted: Admitted<'a>,
    pub(super) args: &'a Value,
}

impl<'a> CronCall<'a> {
    fn handle(&self) -> &'a Handle {
        self.service.handle()
    }

    fn caller(&self) -> &'a Caller {
        self.admitted.caller()
    }

    pub(super) fn call(&self, tool: Tool, notation: Notation) -> Answer {
        let session = self.caller().scope.session().cloned();
        let zone = self.usual_zone(session.as_ref(), notation);
        let context = CronContext { session, now: self.handle().now().wall, zone };
        let call = match cron::parse(tool, self.args, notation, &context) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        match call {
            Call::Create(draft) => self.create_job(*draft, &context),
            Call::List { include_disabled, page } => self.handle().view(|state| {
                let (views, warnings) = cron::views(state, &self.caller().scope);
                let now = (&**self.handle().zones(), self.handle().now().wall);
                cron::listed(views, (include_disabled, &page), now, warnings)
            }),
            Call::Get { job_id } => self.handle().view(|state| {
                let record = cron::find(state, &self.caller().scope, &job_id);
                let view = record.and_then(|record| JobView::of(state, record));
                view.map_or_else(
                    || cron::not_found(tool, &job_id),
                    |view| cron::got(&view, self.handle().zones()),
                )
            }),
            Call::Update { job, patch } => self.update_job(&job, *patch),
            Call::Delete(job) => {
                let deleted = self.change_job(tool, &job, Command::DeleteSchedule);
                deleted.map_or_else(|answer| answer, |_| cron::deleted(&job.job_id))
            }
            Call::Pause(job) => {
                let pause = |which| Command::PauseSchedule { which, reason: None };
                self.change_and_tell(tool, &job, pause)
            }
            Call::Resume(job) => self.change_and_tell(tool, &job, Command::ResumeSchedule),
        }
    }

    /// The zone of a job that names none: of the session that it belongs to, or else the configured one.
    fn usual_zone(&self, session: Option<&SessionId>, notation: Notation) -> Zone {
        let (target, job) = cron::named(self.args, notation);
        let own = self.handle().view(|state| {
            let owner = || Some(&state.schedule(job.as_ref()?)?.schedule().owner);
            state.zone_of(session.or(target.as_ref()).or_else(owner)).cloned()
        });
        // As in the seed, the label and not the name of the machine's zone is stored.
        own.or_else(|| self.handle().zones().configured().cloned()).unwrap_or(Zone::Local)
    }

    fn create_job(&self, draft: JobDraft, context: &CronContext) -> Answer {
        let owner = draft.target.owner(context.session.as_ref()).cloned();
        let owner = owner.expect("a draft without an owner was refused");
        let id = cron::job_id(context.now, self.handle().random_bits());
        // The owner need not be the caller: an operator may create a job for any session.
        let new = draft.into_new(id.clone(), owner, context.now);
        let target = new.settings.as_deref().map(|settings| &settings.target);
        if let Err(refusal) = admission::admit_target(self.handle(), self.caller(), target) {
            return self.refused_by_engine(Tool::Create, &refusal);
        }
        let made_by = self.caller().maker(&new.owner, Some(Dialect::Cron), target);
        let new = NewSchedule { made_by, ..new };
        let created = self.handle().submit_with(Input::Command(Command::CreateSchedule(new)), |state| {
            state.schedule(&id).and_then(|record| self.told(state, record))
        });
        match created {
            Ok(told) => {
                let (view, outlook) = told.expect("a job that was just created is there");
                cron::created(&view.job, &outlook)
            }
            Err(refusal) => self.refused_by_engine(Tool::Create, &refusal),
        }
    }

    fn update_job(&self, job: &Base, patch: Patch) -> Answer {
        let created_at = self.handle().view(|state| {
            let record = cron::find(state, &self.caller().scope, &job.job_id)?;
            Some(record.schedule().created_at)
        });
        let Some(created_at) = created_at else { return cron::not_found(Tool::Update, &job.job_id) };
        if let Some(schedule) = patch.schedule.as_ref().filter(|it| it.is_never_due(created_at)) {
            return cron::never_due(Tool::Update, schedule, created_at);
        }
        // `created_at` never changes, so it does not matter whether another change has come in between.
        let change = patch.into_change(created_at);
        let admitted =
            admission::admit_delivery(self.handle(), self.caller(), &job.job_id, change.target.as_ref());
        if let Err(refusal) = admitted {
            return self.refused(Tool::Update, job, &refusal);
        }
        let command = |which| Command::ChangeSchedule { which, change: Box::new(change) };
        self.change_and_tell(Tool::Update, job, command)
    }

    /// Changes a job and answers with its new state.
    fn change_and_tell(&self, tool: Tool, job: &Base, command: impl FnOnce(Which) -> Command) -> Answer {
        let (view, outlook) = match self.change_job(tool, job, command) {
            Ok(Some(told)) => told,
            Ok(None) => return cron::not_found(tool, &job.job_id),
            Err(answer) => return answer,
        };
        match tool {
            Tool::Pause => cron::paused(&view.job),
            Tool::Resume => cron::resumed(&view.job, &outlook),
            Tool::Create | Tool::List | Tool::Get | Tool::Update | Tool::Delete => {
                cron::updated(&view.job, &outlook)
            }
        }
    }

    /// Changes a job and reads it in the same critical section. The error is the answer that
    /// says why it was not changed.
    fn change_job(
        &self,
        tool: Tool,
        job: &Base,
        command: impl FnOnce(Which) -> Command,
    ) -> Result<Option<(JobView, NextRuns)>, Answer> {
        let id = &job.job_id;
        // A schedule of another tool is not a job.
        if self.handle().view(|state| cron::find(state, &self.caller().scope, id).is_none()) {
            return Err(cron::not_found(tool, id));
        }
        admission::admit_change(self.handle(), self.caller(), id)
            .map_err(|refusal| self.refused(tool, job, &refusal))?;
        // Revisions have 32 bits. A larger number is not the present one either, so it conflicts like any other.
        let base = job.revision.map(|revision| u32::try_from(revision).unwrap_or(u32::MAX));
        let by = self.caller().actor_with(Dialect::Cron);
        let which = Which { by, schedule: id.clone(), base };
        let input = Input::Command(command(which));
        let changed = self.handle().submit_with(input, |state| self.told(state, state.schedule(id)?));
        changed.map_err(|refusal| self.refused(tool, job, &refusal))
    }

    /// A job with its next runs and what would be in their way; `None` if the seed cannot express it.
    fn told(&self, state: &State, record: &ScheduleRecord) -> Option<(JobView, NextRuns)> {
        let view = JobView::of(state, record)?;
        let outlook = NextRuns::of(&view, record, self.handle().now().wall, self.handle().zones());
        Some((view, NextRuns { unreachable: unreachable(state, record), ..outlook }))
    }

    fn refused(&self, tool: Tool, job: &Base, refusal: &Refusal) -> Answer {
        if let Refusal::RevisionConflict { base, revision, .. } = refusal {
            let base = job.revision.unwrap_or(u64::from(*base));
            return cron::conflict(&job.job_id, u64::from(*revision), base, self.args);
        }
        if let Refusal::UnknownSchedule { .. } = refusal {
            return cron::not_found(tool, &job.job_id);
        }
        self.refused_by_engine(tool, refusal)
    }

    fn refused_by_engine(&self, tool: Tool, refusal: &Refusal) -> Answer {
        let own = self.caller().scope.session();
        // Besides its own session a call names its target only.
        if let Refusal::UnknownSession { session } = refusal
            && own != Some(session)
        {
            return cron::unknown_target(tool, session);
        }
        cron::refused(refusal)
    }
}
