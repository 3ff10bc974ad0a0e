//! The mutations of one schedule (create, reschedule, cancel and so on), and of everything (hold, release).

use std::sync::Arc;

use super::super::{admission, creation};
use super::{CallerMutator, refused, session_config, wrong};
use crate::dialect::unreachable;
use crate::domain::{
    About, Code, Dialect, Moment, Notice, Payload, PayloadKind, Refusal, Route, RunState, ScheduleId,
    SessionConfig, Settings, Span, Target, When,
};
use crate::edn::{Map, Value};
use crate::engine::{Command, Input, NewSchedule, RunRecord, ScheduleChange, ScheduleRecord, State, Which};
use crate::graph::mutation::{
    CreateSchedule, NewScheduleParams, ParsedChange, Reschedule, RunRequest, SlotParams, WhichParams,
};
use crate::graph::psi_terms;
use crate::graph::registry::ResolverError;

impl CallerMutator<'_> {
    /// Creates a schedule of any trigger and policy.
    pub(super) fn create(&self, params: CreateSchedule) -> Result<Value, ResolverError> {
        let CreateSchedule { new, when, conditions } = params;
        let owner = self.session(new.owner.clone(), "origin-session-id")?;
        let payload = payload(&new)?;
        // A model that gives a number means that many times. A program may give all settings at once, with or without need.
        let is_of_model = self.tool == Some(Dialect::Native);
        let most = conditions.lifetime.as_ref().and_then(|lifetime| lifetime.max_runs);
        let settings = Settings {
            description: new.description.clone(),
            key: new.idempotency_key.clone(),
            target: self.target(&new, &payload)?,
            policy: conditions.policy.unwrap_or(Settings::PLAIN.policy),
            lifetime: conditions.lifetime.unwrap_or(Settings::PLAIN.lifetime),
            ..Settings::PLAIN
        };
        // Time and text are placeholders: the time is resolved by `read` below, and the payload replaces the text.
        let plain = NewSchedule::message(owner.clone(), When::After(Span::ZERO), "");
        let schedule = NewSchedule {
            durability: new.durability.unwrap_or_else(|| creation::durability(self.handle())),
            label: new.label,
            made_by: self.caller().maker(&owner, self.tool, Some(&settings.target)),
            payload,
            settings: Some(Box::new(settings)),
            ..plain
        };
        let own = self.handle().view(|state| state.zone_of(Some(&schedule.owner)).cloned());
        // For a repeat, `now` is the moment of the first call, so the clock must not be read here.
        let read = |now| {
            let zones = self.handle().zones();
            let meant = when.clone().parse(now, zones, zones.usual(own.as_ref()))?;
            let meant = meant.ok_or_else(|| {
                wrong("when", "given, or one of delay-ms, at, trigger, cron, every-ms", None)
            })?;
            let is_once = matches!(meant.when, When::After(_) | When::At(_));
            if is_of_model && is_once && most.is_some_and(|most| most.get() > 1) {
                let data = Map::new()
                    .with("parameter", Value::keyword("max-runs"))
                    .with("hint", "say how often, such as every 5 minutes, or leave the number out");
                let error =
                    ResolverError::new("a number of runs is for what recurs, and this is due once", data);
                return Err(error.coded(Code::Validation));
            }
            Ok((meant.when.clone(), meant))
        };
        let next = |record: &ScheduleRecord| self.upcoming(record);
        let (created, meant) = creation::create(self.handle(), schedule, read, next)?;
        let creation::Created { id, is_new, read } = created.map_err(|refusal| refused(&refusal))?;
        // A repeat is warned as well: what matters is whether somebody would get it from here on.
        let warning = self.handle().view(|state| unreachable(state, state.schedule(&id)?));
        let understood = warned(meant.echo(read.unwrap_or_default()), warning);
        let answer = Map::new().with("psi.scheduler/schedule-id", id.to_string());
        Ok(answer.with("psi.scheduler/created?", is_new).with("psi.scheduler/understood", understood).into())
    }

    /// The next slots of a schedule, as an answer lists them. Read with the change, they are those of its attributes.
    fn upcoming(&self, record: &ScheduleRecord) -> Vec<Moment> {
        let now = self.handle().now().wall;
        record.upcoming(self.handle().zones(), now, ScheduleRecord::UPCOMING)
    }

    /// Where a run goes: into the session, into a fresh one, or out through a channel.
    fn target(&self, new: &NewScheduleParams, payload: &Payload) -> Result<Target, ResolverError> {
        let is_fresh = payload.config().is_some();
        let Some(channel) = new.channel.clone() else {
            if let Some(conversation) = new.conversation.as_deref() {
                return Err(wrong("conversation", "given with a channel", Some(&conversation.into())));
            }
            return Ok(if is_fresh { Target::Fresh } else { Target::Owner });
        };
        if is_fresh {
            return Err(wrong("channel", "left out for a fresh session", Some(&(&*channel).into())));
        }
        let conversation = new.conversation.clone().unwrap_or_default();
        let target = Target::Route(Box::new(Route { channel, conversation, thread: None }));
        admission::admit_target(self.handle(), self.caller(), Some(&target))
            .map_err(|refusal| refused(&refusal))?;
        Ok(target)
    }

    /// Changes the definition of a schedule.
    pub(super) fn reschedule(&self, params: Reschedule) -> Result<Value, ResolverError> {
        let mut which = self.which(&params.which)?;
        self.admit_delivery(&which, None)?;
        let zones = self.handle().zones();
        let (present, revision, own) = self.handle().view(|state| {
            let record = state.schedule(&which.schedule);
            let schedule = record.map(ScheduleRecord::schedule);
            let own = state.zone_of(schedule.map(|schedule| &schedule.owner)).cloned();
            let revision = record.map(|record| record.progress().revision);
            (schedule.map(|schedule| schedule.trigger.clone()), revision, own)
        });
        let (of, now) = ((present.as_ref(), own.as_ref()), self.handle().now().wall);
        let ParsedChange { change, meant, is_moved } = params.change.parse(of, now, zones)?;
        // Another change may come before this one. The times that it sets must not be overwritten by those that were read here.
        which.base = which.base.or(revision.filter(|_| is_moved));
        if change == ScheduleChange::default() {
            let data =
                Map::new().with("hint", "name at least one field to change, such as when, message or label");
            let error = ResolverError::new("the call changes nothing", data);
            return Err(error.coded(Code::Validation));
        }
        let schedule = which.schedule.clone();
        let answer = Map::new().with("psi.scheduler/schedule-id", schedule.to_string());
        let next = |state: &State| state.schedule(&schedule).map(|record| self.upcoming(record));
        let command = Command::ChangeSchedule { which, change: Box::new(change) };
        let next = self.handle().submit_with(Input::Command(command), next);
        let next = next.map_err(|refusal| refused(&refusal))?.unwrap_or_default();
        let understood = meant.map_or(Value::Nil, |meant| meant.echo(next));
        Ok(answer.with("psi.scheduler/understood", understood).into())
    }

    /// Starts a run, and answers what is still to come.
    pub(super) fn run_now(&self, request: &RunRequest) -> Result<Value, ResolverError> {
        let which = self.which(&request.which)?;
        self.admit_delivery(&which, None)?;
        let schedule = which.schedule.clone();
        let answer = Map::new().with("psi.scheduler/schedule-id", schedule.to_string());
        let command = Command::RunNow { which, keeps_slot: request.slot.keep_slot.unwrap_or(false) };
        let next = |state: &State| state.schedule(&schedule).and_then(ScheduleRecord::next_run);
        let next = self.handle().submit_with(Input::Command(command), next);
        let next = next.map_err(|refusal| refused(&refusal))?;
        Ok(answer.with("psi.scheduler/next-fire-at", next.map(psi_terms::instant)).into())
    }

    /// Tries again what failed: a new run now, whether the schedule has further slots or not.
    pub(super) fn retry(&self, params: &WhichParams) -> Result<Value, ResolverError> {
        let which = self.which(params)?;
        self.admit_delivery(&which, None)?;
        let standing = self.handle().view(|state| {
            // What the caller may not see is refused like what does not exist, by the change itself.
            let record = state.schedule(&which.schedule).filter(|it| it.is_for(&self.caller().scope))?;
            let newest = state.newest_run(record).map(RunRecord::run);
            // One that waits for its next attempt has failed as well.
            let failed = newest.is_some_and(|run| run.state == RunState::Failed || run.retry_at.is_some());
            Some((record.status(), failed))
        });
        if let Some((status, false)) = standing {
            return Err(refused(&Refusal::WrongStatus { schedule: which.schedule, status }));
        }
        // A schedule that has ended is due again by a slot of its own, one that recurs keeps its slots.
        if standing.is_some_and(|(status, _)| status.is_terminal()) {
            // As of the step: a moment that is read here would lie before it, and the slot would count as missed.
            let change = ScheduleChange { when: Some(AT_ONCE), ..ScheduleChange::default() };
            let schedule = which.schedule.clone();
            let command = Command::ChangeSchedule { which, change: Box::new(change) };
            let answer = Map::new().with("psi.scheduler/schedule-id", schedule.to_string());
            self.handle().submit(Input::Command(command)).map_err(|refusal| refused(&refusal))?;
            return Ok(answer.with("psi.scheduler/next-fire-at", Value::Nil).into());
        }
        self.run_now(&RunRequest { which: params.clone(), slot: SlotParams { keep_slot: None } })
    }

    fn admit_delivery(&self, which: &Which, target: Option<&Target>) -> Result<(), ResolverError> {
        let admitted = admission::admit_delivery(self.handle(), self.caller(), &which.schedule, target);
        admitted.map_err(|refusal| refused(&refusal))
    }

    /// Pauses or resumes a schedule that has not ended. The engine also pauses one that has and that a change can revive, because
    /// a job that has run can be disabled (SEED-004).
    pub(super) fn toggle(
        &self,
        which: &WhichParams,
        command: impl FnOnce(Which) -> Command,
    ) -> Result<Value, ResolverError> {
        let meant = self.which(which)?;
        let status = self.handle().view(|state| {
            // What the caller may not see is refused like what does not exist, by the change itself.
            let record = state.schedule(&meant.schedule).filter(|it| it.is_for(&self.caller().scope))?;
            Some(record.status())
        });
        if let Some(status) = status.filter(|status| status.is_terminal()) {
            return Err(refused(&Refusal::WrongStatus { schedule: meant.schedule, status }));
        }
        self.command(which, command)
    }

    /// Carries out a command on one schedule.
    pub(super) fn command(
        &self,
        which: &WhichParams,
        command: impl FnOnce(Which) -> Command,
    ) -> Result<Value, ResolverError> {
        let which = self.which(which)?;
        let answer = Map::new().with("psi.scheduler/schedule-id", which.schedule.to_string());
        self.handle().submit(Input::Command(command(which))).map_err(|refusal| refused(&refusal))?;
        Ok(answer.into())
    }

    /// Holds everything, with an optional reason; `None` releases it.
    pub(super) fn hold(&self, reason: Option<Option<Box<str>>>) -> Result<Value, ResolverError> {
        let by = self.actor();
        let command = match reason {
            Some(reason) => Command::HoldAll { by, reason },
            None => Command::ReleaseAll { by },
        };
        let held = |state: &State| state.held().cloned();
        let held =
            self.handle().submit_with(Input::Command(command), held).map_err(|refusal| refused(&refusal))?;
        let held = held.map(|pause| {
            Map::new()
                // Only operators may hold everything.
                .with("by", "operator")
                .with("reason", pause.reason.as_deref())
                .with("since", psi_terms::instant(pause.since))
        });
        Ok(Map::new().with("reveille.engine/held", held.map_or(Value::Nil, Value::from)).into())
    }

    /// The schedule that the parameters name. A text that cannot be an id is an unknown schedule.
    fn which(&self, params: &WhichParams) -> Result<Which, ResolverError> {
        let text = &*params.schedule.0;
        let Ok(schedule) = ScheduleId::new(text) else {
            let data = Map::new().with("schedule-id", text).with("status", Value::Nil);
            return Err(ResolverError::new("schedule not found", data).coded(Code::NotFound));
        };
        admission::admit_change(self.handle(), self.caller(), &schedule)
            .map_err(|refusal| refused(&refusal))?;
        Ok(Which { by: self.actor(), schedule, base: params.base_revision })
    }
}

/// A time as understood, with one more warning.
fn warned(echo: Value, warning: Option<String>) -> Value {
    let Some((warning, map)) = warning.zip(echo.as_map()) else { return echo };
    let known = map.keyword("warnings").and_then(Value::as_items).unwrap_or_default();
    let warnings: Vec<Value> = known.iter().cloned().chain([warning.into()]).collect();
    map.clone().with("warnings", warnings).into()
}

/// What a run of the schedule delivers.
fn payload(new: &NewScheduleParams) -> Result<Payload, ResolverError> {
    let (text, kind) = (new.message.clone(), new.kind.unwrap_or(PayloadKind::Message));
    if text.trim().is_empty() {
        return Err(wrong("message", "a string that is not blank", Some(&(&*text).into())));
    }
    if let (PayloadKind::Message | PayloadKind::Notice, Some(config)) = (kind, &new.session_config) {
        return Err(wrong(
            "session-config",
            "left out unless kind is session",
            Some(&config.0.clone().into()),
        ));
    }
    Ok(match kind {
        PayloadKind::Message => Payload::Turn { text },
        PayloadKind::Session => {
            let config = new.session_config.clone();
            let config = config.map_or_else(|| Ok(SessionConfig::default()), session_config)?;
            Payload::new_session(text, Arc::new(config))
        }
        PayloadKind::Notice => Payload::Notice(Box::new(Notice { about: About::Reminder, text, file: None })),
        PayloadKind::Call => {
            let kinds = "message, session or notice: calls are made by the tools of their own";
            return Err(wrong("kind", kinds, Some(&Value::keyword(kind.name()))));
        }
    })
}

/// Due at the moment of the step.
const AT_ONCE: When = When::After(Span::ZERO);
