//! One call of a tool of scheduled tasks: arguments in, the tool's own answer out.
//!
//! What lives elsewhere: words and shapes (`dialect::cron`), rules (`engine`). Invariant: an answer to a change shows the job
//! as that change left it, read before anything else could happen.

use super::handle::Handle;
use crate::dialect::cron::{self, Base, Call, Context, Draft, Outlook, Patch, Tool, View};
use crate::dialect::{Answer, Notation};
use crate::domain::{Caller, Dialect, Refusal};
use crate::edn::Value;
use crate::engine::{Command, Input, NewSchedule, Which};

impl Handle {
    pub(super) fn call_cron(&self, tool: Tool, caller: &Caller, args: &Value, notation: Notation) -> Answer {
        let context = Context { session: caller.scope.session().cloned(), now: self.now().wall };
        let call = match cron::parse(tool, args, notation, &context) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        match call {
            Call::Create(draft) => self.create_job(*draft, caller, &context),
            Call::List { include_disabled } => self.view(|state| {
                let (views, warnings) = cron::views(state, &caller.scope);
                cron::listed(views, include_disabled, self.zones(), warnings)
            }),
            Call::Get { job_id } => self.view(|state| {
                let record = cron::find(state, &caller.scope, &job_id);
                let view = record.and_then(|record| View::of(state, record));
                view.map_or_else(|| cron::not_found(tool, &job_id), |view| cron::got(&view, self.zones()))
            }),
            Call::Update { job, patch } => self.update_job(&job, *patch, caller),
            Call::Delete(job) => {
                let deleted = self.change_job(tool, &job, caller, Command::DeleteSchedule);
                deleted.map_or_else(|answer| answer, |_| cron::deleted(&job.job_id))
            }
            Call::Pause(job) => {
                let pause = |which| Command::PauseSchedule { which, reason: None };
                self.change_and_tell(tool, &job, caller, pause)
            }
            Call::Resume(job) => self.change_and_tell(tool, &job, caller, Command::ResumeSchedule),
        }
    }

    fn create_job(&self, draft: Draft, caller: &Caller, context: &Context) -> Answer {
        let owner = draft.target.owner(context.session.as_ref()).cloned();
        let owner = owner.expect("a draft without an owner was refused");
        let id = cron::job_id(context.now, self.draw());
        let made_by = caller.maker(&owner, Some(Dialect::Cron));
        let new = NewSchedule { made_by, ..draft.into_new(id.clone(), owner, context.now) };
        if let Err(refusal) = self.admit_target(caller, new.terms.as_deref().map(|terms| &terms.target)) {
            return cron::refused(&refusal);
        }
        let created = self.submit_with(Input::Command(Command::CreateSchedule(new)), |state| {
            state.schedule(&id).and_then(|record| View::of(state, record))
        });
        match created {
            Ok(view) => {
                let view = view.expect("a job that was just created is there");
                cron::created(&view.job, &Outlook::of(&view, context.now, self.zones()))
            }
            Err(refusal) => cron::refused(&refusal),
        }
    }

    fn update_job(&self, job: &Base, patch: Patch, caller: &Caller) -> Answer {
        let created_at = self.view(|state| {
            let record = cron::find(state, &caller.scope, &job.job_id)?;
            Some(record.schedule().created_at)
        });
        let Some(created_at) = created_at else { return cron::not_found(Tool::Update, &job.job_id) };
        if let Some(schedule) = patch.schedule.as_ref().filter(|it| it.is_never_due(created_at)) {
            return cron::never_due(Tool::Update, schedule, created_at);
        }
        // When it was created never changes, so that another change in between does no harm.
        let change = patch.into_change(created_at);
        if let Err(refusal) = self.admit_target(caller, change.target.as_ref()) {
            return cron::refused(&refusal);
        }
        let command = |which| Command::ChangeSchedule { which, change };
        self.change_and_tell(Tool::Update, job, caller, command)
    }

    /// Makes a change to a job, and shows the job as it is then.
    fn change_and_tell(
        &self,
        tool: Tool,
        job: &Base,
        caller: &Caller,
        command: impl FnOnce(Which) -> Command,
    ) -> Answer {
        let view = match self.change_job(tool, job, caller, command) {
            Ok(Some(view)) => view,
            Ok(None) => return cron::not_found(tool, &job.job_id),
            Err(answer) => return answer,
        };
        let outlook = || Outlook::of(&view, self.now().wall, self.zones());
        match tool {
            Tool::Pause => cron::paused(&view.job),
            Tool::Resume => cron::resumed(&view.job, &outlook()),
            Tool::Create | Tool::List | Tool::Get | Tool::Update | Tool::Delete => {
                cron::updated(&view.job, &outlook())
            }
        }
    }

    /// Makes a change to a job, and reads it in the same critical section; or the answer that says why not.
    fn change_job(
        &self,
        tool: Tool,
        job: &Base,
        caller: &Caller,
        command: impl FnOnce(Which) -> Command,
    ) -> Result<Option<View>, Answer> {
        let id = &job.job_id;
        // What other tools have made is none of these.
        if self.view(|state| cron::find(state, &caller.scope, id).is_none()) {
            return Err(cron::not_found(tool, id));
        }
        // Revisions are counted in 32 bits: a larger one is no present one either.
        let base = job.revision.map(|revision| u32::try_from(revision).unwrap_or(u32::MAX));
        let by = caller.actor_with(Dialect::Cron);
        let which = Which { by, schedule: id.clone(), base };
        let input = Input::Command(command(which));
        let changed = self.submit_with(input, |state| View::of(state, state.schedule(id)?));
        changed.map_err(|refusal| refused(tool, job, &refusal))
    }
}

fn refused(tool: Tool, job: &Base, refusal: &Refusal) -> Answer {
    if let Refusal::RevisionConflict { base, revision, .. } = refusal {
        let base = job.revision.unwrap_or(u64::from(*base));
        return cron::conflict(tool, &job.job_id, u64::from(*revision), base);
    }
    if let Refusal::UnknownSchedule { .. } = refusal {
        return cron::not_found(tool, &job.job_id);
    }
    cron::refused(refusal)
}
