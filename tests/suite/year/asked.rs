//! What is asked of the scheduler in the course of the year, and told once it is acknowledged.

use reveille::domain::{Durability, EndsWith, ScheduleId, Scope, Settings, Span, When};
use reveille::engine::{Command, Input, NewSchedule, ScheduleChange, ScheduleRecord, Which};
use reveille_checker::{Event, Trigger};

use super::plan::{self, Plan};
use super::play::{Doing, HOUR_MS, Year};

/// One schedule, as its maker remembers it.
pub(crate) struct Job {
    id: ScheduleId,
    plan: Plan,
    paused: bool,
    cancelled: bool,
}

impl Year {
    pub(crate) fn pause(&mut self) {
        let Some(job) = self.any_job() else { return };
        let which = self.which(job);
        if self.command(Command::PauseSchedule { which, reason: None }) {
            self.happened.pauses += 1;
            self.jobs[job].paused = true;
            let (at, schedule) = (self.wall(), self.jobs[job].id.to_string());
            self.diary.note(Event::Pause { at, schedule });
            self.plan(Span::from_millis(HOUR_MS + self.below(120 * HOUR_MS)), Doing::Resume(job));
        }
    }

    pub(crate) fn resume(&mut self, job: usize) {
        self.jobs[job].paused = false;
        let which = self.which(job);
        let (at, schedule) = (self.wall(), self.jobs[job].id.to_string());
        if self.command(Command::ResumeSchedule(which)) {
            self.diary.note(Event::Resume { at, schedule });
        }
    }

    pub(crate) fn edit(&mut self) {
        let Some(job) = self.any_job() else { return };
        let (number, at, which) = (self.below(1_000), self.wall(), self.which(job));
        let plan = &self.jobs[job].plan;
        let once = matches!(plan.trigger, Trigger::At { .. });
        let mut new = plan.clone();
        if once || number.is_multiple_of(2) {
            new.policy = plan::policy(&self.stage.entropy);
        } else {
            let number = usize::try_from(number).expect("small");
            new.trigger = plan::trigger(number, &self.zones, at, &self.stage.entropy);
        }
        let change = ScheduleChange {
            when: (new.trigger != plan.trigger).then(|| When::By(plan::ask_trigger(&new.trigger))),
            policy: (new.policy != plan.policy).then(|| plan::ask_policy(&new.policy, new.ends_with)),
            ..ScheduleChange::default()
        };
        if !self.command(Command::ChangeSchedule { which, change: Box::new(change) }) {
            return;
        }
        self.happened.edits += 1;
        let plan = &self.jobs[job].plan;
        let trigger = (new.trigger != plan.trigger).then(|| new.trigger.clone());
        let policy = (new.policy != plan.policy).then(|| new.policy.clone());
        let schedule = self.jobs[job].id.to_string();
        self.diary.note(Event::Change { at, schedule, trigger, policy, lifetime: None });
        self.jobs[job].plan = new;
    }

    /// One schedule ends by hand; another is made, so that there are always as many.
    pub(crate) fn cancel(&mut self) {
        let Some(job) = self.any_job() else { return };
        let which = self.which(job);
        if self.command(Command::CancelSchedule(which)) {
            self.happened.cancels += 1;
            self.jobs[job].cancelled = true;
            let (at, schedule) = (self.wall(), self.jobs[job].id.to_string());
            self.diary.note(Event::Cancel { at, schedule });
            self.create();
        }
    }

    pub(crate) fn create(&mut self) {
        let (number, at) = (self.jobs.len(), self.wall());
        let plan = Plan::draw(number, &self.zones, at, &self.stage.entropy);
        let owner = self.sessions[number % self.sessions.len()].clone();
        let settings = Settings { policy: plan::ask_policy(&plan.policy, plan.ends_with), ..Settings::PLAIN };
        let new = NewSchedule {
            durability: Durability::Durable,
            settings: Some(Box::new(settings)),
            ..NewSchedule::message(owner.clone(), When::By(plan::ask_trigger(&plan.trigger)), "a prompt")
        };
        let id = self.life.handle.schedule(new).expect("there is room");
        let (schedule, session) = (id.to_string(), Some(owner.to_string()));
        let (trigger, policy) = (plan.trigger.clone(), plan.policy.clone());
        let lifetime = Default::default();
        self.diary.note(Event::Create { at, schedule, session, trigger, policy, lifetime });
        self.jobs.push(Job { id, plan, paused: false, cancelled: false });
    }

    fn command(&self, command: Command) -> bool {
        self.life.handle.submit(Input::Command(command)).is_ok()
    }

    fn which(&self, job: usize) -> Which {
        Which::any(Scope::Operator, self.jobs[job].id.clone())
    }

    /// One that goes on and is not paused.
    fn any_job(&self) -> Option<usize> {
        let is_on = |job: &Job| {
            let ended = |record: &ScheduleRecord| record.status().is_terminal();
            let ended = self.life.handle.view(|state| state.schedule(&job.id).is_none_or(ended));
            !job.paused && !job.cancelled && !ended
        };
        let on: Vec<usize> = (0..self.jobs.len()).filter(|job| is_on(&self.jobs[*job])).collect();
        self.stage.entropy.pick(&on).copied()
    }

    pub(crate) fn ends_with(&self, schedule: &ScheduleId) -> EndsWith {
        let job = self.jobs.iter().find(|job| job.id == *schedule).expect("nobody else makes any");
        job.plan.ends_with
    }
}
