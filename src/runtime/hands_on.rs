//! The mutations of one schedule, and of everything at once: create, reschedule, cancel and its kin, hold and release.

use std::sync::Arc;

use super::hands::{CallerHands, denied, refused, session_config, wrong};
use crate::domain::{
    About, Code, Durability, Kind, Moment, Notice, Payload, Route, Schedule, ScheduleId, Scope,
    SessionConfig, Span, Target, Terms, Trigger, When,
};
use crate::edn::{Map, Value};
use crate::engine::{Command, Input, NewSchedule, State, Which};
use crate::graph::mutation::{CreateSchedule, NewScheduleParams, Reschedule, WhichParams};
use crate::graph::registry::ResolverError;
use crate::graph::shown;

impl CallerHands<'_> {
    /// Creates a schedule of any trigger and policy.
    pub(super) fn create(&self, params: CreateSchedule) -> Result<Value, ResolverError> {
        let CreateSchedule { new, when, conditions } = params;
        let owner = self.session(new.owner.clone(), "origin-session-id")?;
        self.handle.admit_creation(self.caller).map_err(denied)?;
        let key = new.idempotency_key.clone();
        let dialect = NewSchedule::message(owner.clone(), When::After(Span::ZERO), "").dialect;
        let earlier = |key: &str| {
            self.handle
                .view(|state| state.asked_as(&owner, dialect, key).map(|known| asked_at(known.schedule())))
        };
        // A repeat means what was meant at first: what has passed since had not passed then.
        let now = key.as_deref().and_then(earlier).unwrap_or_else(|| self.handle.now().wall);
        let meant = when.meaning(now, self.handle.zones())?;
        let meant = meant
            .ok_or_else(|| wrong("when", "given, or one of delay-ms, at, trigger, cron, every-ms", None))?;
        let payload = payload(&new)?;
        let terms = Terms {
            description: new.description.clone(),
            key: key.clone(),
            target: self.target(&new, &payload)?,
            policy: conditions.policy.unwrap_or(Terms::PLAIN.policy),
            lifetime: conditions.lifetime.unwrap_or(Terms::PLAIN.lifetime),
            ..Terms::PLAIN
        };
        let durability = new.durability.unwrap_or(Durability::Volatile);
        let id = ScheduleId::fresh(durability, || self.handle.now().wall, self.handle.draw());
        let schedule = NewSchedule {
            id: Some(id.clone()),
            durability,
            label: new.label,
            made_by: self.caller.maker(&owner, self.tool),
            payload,
            terms: Some(Box::new(terms)),
            ..NewSchedule::message(owner.clone(), meant.when, "")
        };
        let known = move |state: &State| {
            let same = || state.asked_as(&owner, dialect, key.as_deref()?);
            let is_new = state.schedule(&id).is_some();
            if is_new { Some((id, true)) } else { same().map(|same| (same.schedule().id.clone(), false)) }
        };
        let create = Input::Command(Command::CreateSchedule(schedule));
        let found = self.handle.submit_with(create, known).map_err(|refusal| refused(&refusal))?;
        let (id, created) =
            found.ok_or_else(|| ResolverError::new("the schedule has ended already", Value::Nil))?;
        let answer = Map::new().with("psi.scheduler/schedule-id", id.to_string());
        Ok(answer.with("psi.scheduler/created?", created).with("psi.scheduler/understood", meant.echo).into())
    }

    /// Where it goes: into the session, into a fresh one, or out by a channel.
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
        self.handle.admit_target(self.caller, Some(&target)).map_err(|refusal| refused(&refusal))?;
        Ok(target)
    }

    /// Gives a schedule another definition.
    pub(super) fn reschedule(&self, params: Reschedule) -> Result<Value, ResolverError> {
        let which = self.which(&params.which)?;
        let meant = params.change.meaning(self.handle.now().wall, self.handle.zones())?;
        let answer = Map::new().with("psi.scheduler/schedule-id", which.schedule.to_string());
        let command = Command::ChangeSchedule { which, change: meant.change };
        self.handle.submit(Input::Command(command)).map_err(|refusal| refused(&refusal))?;
        Ok(answer.with("psi.scheduler/understood", meant.echo.unwrap_or(Value::Nil)).into())
    }

    /// Carries out a command on one schedule.
    pub(super) fn command(
        &self,
        which: &WhichParams,
        command: impl FnOnce(Which) -> Command,
    ) -> Result<Value, ResolverError> {
        let which = self.which(which)?;
        let answer = Map::new().with("psi.scheduler/schedule-id", which.schedule.to_string());
        self.handle.submit(Input::Command(command(which))).map_err(|refusal| refused(&refusal))?;
        Ok(answer.into())
    }

    /// Holds everything, with a reason, or releases it.
    pub(super) fn hold(&self, reason: Option<Option<Box<str>>>) -> Result<Value, ResolverError> {
        let by = self.actor();
        if by.scope != Scope::Operator {
            let message = "only an operator may hold or release everything";
            return Err(ResolverError::new(message, Map::new()).coded(Code::Forbidden));
        }
        let command = match reason {
            Some(reason) => Command::HoldAll { by, reason },
            None => Command::ReleaseAll { by },
        };
        let held = |state: &State| state.held().cloned();
        let held =
            self.handle.submit_with(Input::Command(command), held).map_err(|refusal| refused(&refusal))?;
        let held = held.map(|pause| {
            Map::new()
                .with("by", "operator")
                .with("reason", pause.reason.as_deref())
                .with("since", shown::instant(pause.since))
        });
        Ok(Map::new().with("reveille.engine/held", held.map_or(Value::Nil, Value::from)).into())
    }

    fn which(&self, params: &WhichParams) -> Result<Which, ResolverError> {
        let text = &*params.schedule.0;
        let Ok(schedule) = ScheduleId::new(text) else {
            let data = Map::new().with("schedule-id", text).with("status", Value::Nil);
            return Err(ResolverError::new("schedule not found", data).coded(Code::NotFound));
        };
        Ok(Which { by: self.actor(), schedule, base: params.base_revision })
    }
}

/// What a run of the schedule puts into its session.
fn payload(new: &NewScheduleParams) -> Result<Payload, ResolverError> {
    let text = new.message.clone();
    if text.trim().is_empty() {
        return Err(wrong("message", "a string that is not blank", Some(&(&*text).into())));
    }
    if let (Kind::Message | Kind::Notice, Some(config)) = (new.kind, &new.session_config) {
        return Err(wrong("session-config", "left out unless kind is session", Some(&config.clone().into())));
    }
    Ok(match new.kind {
        Kind::Message => Payload::Turn { text },
        Kind::Session => {
            let config = new.session_config.clone();
            let config = config.map_or_else(|| Ok(SessionConfig::default()), session_config)?;
            Payload::new_session(text, Arc::new(config))
        }
        Kind::Notice => Payload::Say(Box::new(Notice { about: About::Reminder, text, file: None })),
    })
}

/// The moment at which a creation was read, as far as its repeat can tell: an instant that lay ahead when it was read may have
/// passed when it was decided on.
fn asked_at(schedule: &Schedule) -> Moment {
    match schedule.trigger {
        Trigger::At(at) => at.min(schedule.created_at),
        Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..) | Trigger::Event(_) => {
            schedule.created_at
        }
    }
}
